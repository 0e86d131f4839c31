"""The log joint in plain NumPy, written from model.md and from nothing in `exact`."""

import itertools
from decimal import Decimal, getcontext

import numpy as np
from scipy.special import expit, logsumexp
from scipy.stats import halfnorm, invgamma, norm


def tie_log_likelihood(position, adjacency, intercept, link, sociality=None):
    """Sum over i < i' of log p(y | g^-1(beta + s_i + s_i' - |u_i - u_i'|)); position is (n, K)."""
    s = np.zeros(len(position)) if sociality is None or not sociality.size else sociality
    total = 0.0
    for i in range(len(position)):
        for j in range(i + 1, len(position)):
            eta = intercept + s[i] + s[j] - np.linalg.norm(position[i] - position[j])
            sign = 1.0 if adjacency[i, j] else -1.0
            total += norm.logcdf(sign * eta) if link == 1 else -np.logaddexp(0.0, -sign * eta)
    return total


def plackett_log_ratio(first, second, odds, equal):
    """log P(y1, y2)/(P(y1) P(y2)) by the formula of p11, with enough digits that nothing cancels."""
    getcontext().prec = 60
    q1, q2 = Decimal(float(first)), Decimal(float(second))
    phi = Decimal(float(odds)) if equal else 1 / Decimal(float(odds))
    if phi == 1:
        return 0.0
    s = 1 + (q1 + q2) * (phi - 1)
    return float(((s - (s * s - 4 * phi * (phi - 1) * q1 * q2).sqrt()) / (2 * (phi - 1) * q1 * q2)).ln())


def correlated_log_ratio(state, target):
    """Sum over pairs of linked pairs of log P(y1, y2)/(P(y1) P(y2))."""
    pairs = [(a, b) for a, b in enumerate(state.partner_a) if b >= 0]
    pairs = [(a, b) for a, b in pairs if target.correlated_a[a] and target.correlated_b[b]]
    total = 0.0
    for place, (a, b) in enumerate(pairs):
        for c, d in pairs[:place]:
            distance = np.linalg.norm(state.position_a[:, a] - state.position_a[:, c])
            eta = state.intercept - distance
            if state.sociality_a is not None:
                eta = eta + np.array([state.sociality_a[[a, c]].sum(), state.sociality_b[[b, d]].sum()])
            y, z = target.adjacency_a[a, c], target.adjacency_b[b, d]
            signed = np.where([y, z], eta, -eta)
            first, second = norm.cdf(signed) if target.link == 1 else expit(signed)
            total += plackett_log_ratio(first, second, np.exp(state.correlation[0]), y == z)
    return target.temperature * total


def log_joint(position_a, position_b, partner_a, intercept, spread, target, sociality=(None, None)):
    """log p(Y, P, u, xi, beta, sigma^2) up to a constant; positions are (n, K) and equal within a pair."""
    n1, n2 = target.log_bf.shape
    people = [position_a[i] for i in range(n1)]
    matched = 0
    total = 0.0
    for i in range(n1):
        if partner_a[i] >= 0:
            assert np.array_equal(position_a[i], position_b[partner_a[i]])
            total += target.log_bf[i, partner_a[i]]
            matched += target.anchor_a[i] < 0
    people += [position_b[j] for j in range(n2) if j not in set(partner_a)]
    total += target.log_prior[matched]
    total += sum(norm.logpdf(u, scale=np.sqrt(spread)).sum() for u in people)
    for side, (position, adjacency) in enumerate(((position_a, target.adjacency_a), (position_b, target.adjacency_b))):
        if target.observed[side]:
            ties = tie_log_likelihood(position, adjacency, intercept[side], target.link, sociality[side])
            total += target.temperature * ties
            total += norm.logpdf(intercept[side], scale=target.intercept_sd[side])
    return total + invgamma.logpdf(spread, target.spread_shape, scale=target.spread_scale)


def log_joint_of(state, target):
    social = (state.sociality_a, state.sociality_b)
    total = log_joint(
        state.position_a.T, state.position_b.T, state.partner_a, state.intercept, state.spread[0], target, social
    )
    if state.correlation is not None:
        total += correlated_log_ratio(state, target) + norm.logpdf(state.correlation[0], scale=target.correlation_sd)
    if state.sociality_sd is not None:
        tau = state.sociality_sd[0]
        total += sum(norm.logpdf(s, scale=tau).sum() for s in social) + halfnorm.logpdf(
            tau, scale=target.sociality_scale
        )
    return total


def matchings(n1, n2):
    """All partial matchings as tuples of partners (-1: none)."""
    return [
        p
        for p in itertools.product(range(-1, n2), repeat=n1)
        if len({q for q in p if q >= 0}) == sum(q >= 0 for q in p)
    ]


def log_odds_nodes(target, nodes=14):
    """Values of log phi and their prior weights; the one value 0 where phi = 1."""
    if target.correlation_sd == 0:
        return np.zeros(1), np.ones(1)
    x, weight = np.polynomial.hermite_e.hermegauss(nodes)
    return x * target.correlation_sd, weight / weight.sum()


def exact_matching_probabilities(target, intercept, spread, points=161, width=7.0):
    """
    P(xi | data, beta, sigma^2) for 3 + 3 records and K = 1, positions integrated on a grid, log phi by Gauss-Hermite.

    Each file's three ties make a tensor T_f[x1, x2, x3]; a matching sums their product over the grid with the variables
    of linked records identified, one prior weight per person, and the ratio of correlated ties for each two persons in
    both files.
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
            linked = [(i, q) for i, q in enumerate(partner) if q >= 0]
            value = _integrate(left * right, shared, linked, weight, distance, intercept, target)
        logs.append(np.log(value) + log_bf + target.log_prior[free] if log_bf > -np.inf else -np.inf)
    logs = np.array(logs)
    return all_matchings, np.exp(logs - logsumexp(logs))


def _integrate(joint, shared, linked, weight, distance, intercept, target):
    """Sum over the positions of linked pairs and over log phi."""
    total = 0.0
    for log_odds, odds_weight in zip(*log_odds_nodes(target), strict=True):
        factors, spec = [], shared
        for place, (i, q) in enumerate(linked):
            for other, (h, r) in enumerate(linked[:place]):
                if log_odds != 0:
                    factors.append(_ratios(distance, intercept, log_odds, (i, h), (q, r), target))
                    spec += f",{shared[other]}{shared[place]}"
        spec += "".join(f",{w}" for w in shared) + "->"
        total += odds_weight * np.einsum(spec, joint, *factors, *[weight] * len(shared), optimize=True)
    return total


def _ratios(distance, intercept, log_odds, dyad_a, dyad_b, target):
    """P(y1, y2)/(P(y1) P(y2)) of two dyads on a grid of distances."""
    eta = [intercept[side] - distance for side in (0, 1)]
    first, second = [norm.cdf(e) if target.link == 1 else expit(e) for e in eta]
    s = 1 + (first + second) * (np.exp(log_odds) - 1)
    odds = np.exp(log_odds)
    both = (s - np.sqrt(s**2 - 4 * odds * (odds - 1) * first * second)) / (2 * (odds - 1))
    y, z = target.adjacency_a[dyad_a], target.adjacency_b[dyad_b]
    joint = both if y and z else first - both if y else second - both if z else 1 - first - second + both
    return (joint / ((first if y else 1 - first) * (second if z else 1 - second))) ** target.temperature


def beta_binomial_log_prior(n1, n2, a=1.0, b=1.0):
    """log p(xi) under MatchRate(a, b): m ~ BetaBinomial(min), uniform over the C(n1,m) C(n2,m) m! matchings given m."""
    from scipy.special import gammaln
    from scipy.stats import betabinom

    small = min(n1, n2)
    m = np.arange(small + 1)

    def log_choose(n, k):
        return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)

    return betabinom.logpmf(m, small, a, b) - log_choose(n1, m) - log_choose(n2, m) - gammaln(m + 1)
