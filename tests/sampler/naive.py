"""Ties and matchings in plain NumPy, written from model.md and from nothing in the package."""

import itertools

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import norm


def tie_log_likelihood(position, adjacency, intercept, link):
    """Sum over i < i' of log p(y | g^-1(beta - |u_i - u_i'|)); position is (n, K)."""
    total = 0.0
    for i in range(len(position)):
        for j in range(i + 1, len(position)):
            eta = intercept - np.linalg.norm(position[i] - position[j])
            sign = 1.0 if adjacency[i, j] else -1.0
            total += norm.logcdf(sign * eta) if link == 1 else -np.logaddexp(0.0, -sign * eta)
    return total


def matchings(n1, n2):
    """All partial matchings as tuples of partners (-1: none)."""
    return [
        p
        for p in itertools.product(range(-1, n2), repeat=n1)
        if len({q for q in p if q >= 0}) == sum(q >= 0 for q in p)
    ]


def exact_matching_probabilities(target, intercept, spread, points=161, width=7.0):
    """
    P(xi | data, beta, sigma^2) for 3 + 3 records and K = 1, positions integrated on a grid.

    Each file's three ties make a tensor T_f[x1, x2, x3]; a matching sums their product over the grid with the variables
    of linked records identified, and one prior weight per person.
    """
    grid = np.linspace(-width, width, points) * np.sqrt(spread)
    weight = np.exp(-0.5 * grid**2 / spread)
    weight /= weight.sum()
    distance = np.abs(grid[:, None] - grid[None, :])
    tensors = []
    for side, adjacency in enumerate((target.adjacency_a, target.adjacency_b)):
        eta = intercept[side] - distance
        yes = norm.cdf(eta) if target.link == 1 else expit(eta)
        f = [yes if adjacency[i, j] else 1.0 - yes for i, j in ((0, 1), (0, 2), (1, 2))]
        if not target.observed[side]:
            f = [np.ones_like(yes)] * 3
        tensors.append(np.einsum("xy,xz,yz->xyz", *f) ** target.temperature)
    letters_b = "uvw"
    all_matchings = matchings(3, 3)
    logs = []
    for partner in all_matchings:
        free = sum(q >= 0 for q in partner)
        log_bf = sum(target.log_bf[i, q] for i, q in enumerate(partner) if q >= 0)
        index_b = list(letters_b)
        for i, q in enumerate(partner):
            if q >= 0:
                index_b[q] = "xyz"[i]
        # Sum the single records of each file first; what is left is a product over the shared variables.
        shared = "".join("xyz"[i] for i, q in enumerate(partner) if q >= 0)
        own = [w for w in "xyz" if w not in shared]
        left = (
            np.einsum("xyz," + "".join(f"{w}," for w in own)[:-1] + "->" + shared, tensors[0], *[weight] * len(own))
            if own
            else tensors[0]
        )
        own_b = [w for w in index_b if w not in shared]
        spec = "".join(index_b) + "".join(f",{w}" for w in own_b) + "->" + shared
        right = np.einsum(spec, tensors[1], *[weight] * len(own_b), optimize=True)
        if not shared:
            value = left * right
        else:
            spec = shared + "".join(f",{w}" for w in shared) + "->"
            value = np.einsum(spec, left * right, *[weight] * len(shared), optimize=True)
        logs.append(np.log(value) + log_bf + target.log_prior[free] if log_bf > -np.inf else -np.inf)
    logs = np.array(logs)
    return all_matchings, np.exp(logs - logsumexp(logs))


def beta_binomial_log_prior(n1, n2, a=1.0, b=1.0):
    """log p(xi) under MatchRate(a, b): m ~ BetaBinomial(min), uniform over the C(n1,m) C(n2,m) m! matchings given m."""
    from scipy.special import gammaln
    from scipy.stats import betabinom

    small = min(n1, n2)
    m = np.arange(small + 1)

    def log_choose(n, k):
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    return betabinom.logpmf(m, small, a, b) - log_choose(n1, m) - log_choose(n2, m) - gammaln(m + 1)
