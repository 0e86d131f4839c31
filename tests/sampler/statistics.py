"""What is read off a state and its data before and after a move; independent of the kernels under test."""

import math

import numpy as np
from numba import njit

from sampler.replicates import (
    CATEGORIES,
    DISTORTION,
    given_first,
    margins,
    match_probabilities,
    simulate,
    speaks,
    tie_probability,
)

STATISTICS = (
    "matches",
    "squares",
    "intercept",
    "intercept squared",
    "tie log-likelihood",
    "log spread",
    "profile",
    "pair norm",
    "log odds ratio",
    "log odds ratio squared",
    "ties that agree",
    "squared sociality",
    "log sociality sd",
    "sociality of the first",
    "gain of correlated ties",
)


@njit(cache=True)
def _log_likelihood(x, intercept, social, link, ties):
    total = 0.0
    for i in range(x.shape[1]):
        for j in range(i):
            p = tie_probability(x, i, j, intercept, social, link)
            total += math.log(max(p if ties[i, j] else 1.0 - p, 1e-300))
    return total


@njit(cache=True)
def statistics(state, target, out):
    n1, n2 = state.partner_a.size, state.partner_b.size
    squares, count, profile, pair_norm = 0.0, n1, 0.0, 0.0
    matched = 0
    for a in range(n1):
        norm = (state.position_a[:, a] ** 2).sum()
        squares += norm
        b = state.partner_a[a]
        if b >= 0:
            assert state.partner_b[b] == a
            # Without any network positions are not kept up: nobody reads them.
            networks = target.observed[0] or target.observed[1]
            assert not networks or (state.position_a[:, a] == state.position_b[:, b]).all()
            profile += target.log_bf[a, b]
            if target.anchor_a[a] < 0:
                matched += 1
                pair_norm += norm
    for b in range(n2):
        if state.partner_b[b] < 0:
            squares += (state.position_b[:, b] ** 2).sum()
            count += 1
    assert matched == state.matched[0]
    out[0] = matched
    out[1] = squares / (state.spread[0] * count)
    out[2] = state.intercept[0] + state.intercept[1]
    out[3] = state.intercept[0] ** 2 + state.intercept[1] ** 2
    out[4] = 0.0
    if target.observed[0]:
        out[4] += _log_likelihood(
            state.position_a, state.intercept[0], state.sociality_a, target.link, target.adjacency_a
        )
    if target.observed[1]:
        out[4] += _log_likelihood(
            state.position_b, state.intercept[1], state.sociality_b, target.link, target.adjacency_b
        )
    out[5] = math.log(state.spread[0])
    out[6] = profile
    out[7] = pair_norm
    _statistics_beyond(state.correlation, state.sociality_sd, state, target, out)


@njit(cache=True)
def _gain(log_phi, state, target):
    """
    g = sum of log P(y1, y2)/(P(y1) P(y2)) over the dyads of linked pairs.

    The surest witness against a kernel that forgets this factor. Such a kernel draws x from q(x) where it should draw
    from p(x) proportional to q(x) exp(g(x)), so that E_p[g] - E_q[g] = KL(p, q) + KL(q, p): for every data set g falls,
    and nothing cancels between replicates in which the factor pulls different ways.
    """
    odds, total = math.exp(log_phi[0]), 0.0
    for a in range(state.partner_a.size):
        for c in range(a):
            if speaks(state, target, a, c):
                first, second = margins(state, target, a, c)
                given = given_first(first, second, odds, target.adjacency_a[a, c])
                tied = target.adjacency_b[state.partner_a[a], state.partner_a[c]]
                total += math.log(max(given if tied else 1.0 - given, 1e-300))
                total -= math.log(max(second if tied else 1.0 - second, 1e-300))
    return total


@njit(cache=True)
def _statistics_beyond(log_phi, sd, state, target, out):
    out[8:15] = 0.0
    if log_phi is not None:
        out[8], out[9] = log_phi[0], log_phi[0] ** 2
        for a in range(state.partner_a.size):
            for c in range(a):
                b, d = state.partner_a[a], state.partner_a[c]
                if b >= 0 and d >= 0:
                    same = target.adjacency_a[a, c] == target.adjacency_b[b, d]
                    out[10] += log_phi[0] if same else -log_phi[0]
        out[14] = _gain(log_phi, state, target)
    if sd is not None:
        tau = sd[0]
        out[11] = ((state.sociality_a**2).sum() + (state.sociality_b**2).sum()) / tau**2
        out[12] = math.log(tau)
        out[13] = state.sociality_a[0] * (target.adjacency_a[0].sum() - 1.5)


def replicate_z(apply, target, state, replicates, length, seed):
    """
    z of every statistic's mean change after `length` applications, over independent replicates.

    Before and after have the same distribution if the kernel leaves the posterior invariant, whatever its ergodicity;
    the replicates are independent, so the paired differences' mean is normal.
    """
    rng = np.random.default_rng(seed)
    p = match_probabilities(target)
    before, after = np.empty((2, replicates, len(STATISTICS)))
    for r in range(replicates):
        simulate(rng, state, target, p, CATEGORIES, DISTORTION)
        statistics(state, target, before[r])
        apply(rng, state, target, length)
        statistics(state, target, after[r])
    change = after - before
    # Rounding has a bias: a statistic that a move cannot change (ties under a shift of sociality) must not show it.
    change[np.abs(change) < 1e-6] = 0.0
    spread = change.std(axis=0) / math.sqrt(replicates)
    return np.where(spread > 0, change.mean(axis=0) / np.where(spread > 0, spread, 1.0), 0.0)
