"""One compiled loop over any subset of moves, so that tests compile once."""

import numpy as np
from numba import njit
from scipy.stats import f as f_distribution

from tielink.exact.gibbs import restricted_gibbs
from tielink.exact.intercept import walk_intercepts
from tielink.exact.merge import merge_or_split
from tielink.exact.odds_ratio import walk_correlation
from tielink.exact.positions import jump, walk
from tielink.exact.scale import scale
from tielink.exact.spread import draw_spread
from tielink.exact.state import is_anchor
from tielink.exact.swap import swap
from tielink.exact.switch import switch

GIBBS, MERGE, SWITCH, SWAP, JUMP, WALK, INTERCEPT, SCALE, SPREAD, ODDS = (1 << i for i in range(10))


@njit(cache=True)
def _walk_correlation(log_phi, rng, state, target, tuning):
    if log_phi is not None:
        walk_correlation(rng, state, target, tuning)


# Not cached and called from one place only: it is compiled into `record_codes`.
@njit(inline="always")
def step(rng, state, target, tuning, moves):
    """One pass: each chosen linkage move on a random free record of a random file, then the chosen others once."""
    side = rng.integers(0, 2)
    record = rng.integers(0, state.partner_a.size if side == 0 else state.partner_b.size)
    if not is_anchor(target, side, record):
        paired = (state.partner_a, state.partner_b)[side][record] >= 0
        if moves & GIBBS:
            restricted_gibbs(rng, state, target, tuning, side, record)
        if moves & MERGE:
            merge_or_split(rng, state, target, tuning, side, record)
        paired = (state.partner_a, state.partner_b)[side][record] >= 0
        if moves & SWITCH and paired:
            switch(rng, state, target, tuning, side, record)
    if moves & SWAP:
        swap(rng, state, target, tuning)
    if moves & JUMP:
        jump(rng, state, target, tuning)
    if moves & WALK:
        walk(rng, state, target, tuning)
    if moves & INTERCEPT:
        walk_intercepts(rng, state, target, tuning)
    if moves & SCALE:
        scale(rng, state, target, tuning)
    if moves & ODDS:
        _walk_correlation(state.correlation, rng, state, target, tuning)
    if moves & SPREAD:
        draw_spread(rng, state, target)


@njit(cache=True)
def code_of(state):
    code = 0
    for i in range(state.partner_a.size):
        code = code * (state.partner_b.size + 1) + state.partner_a[i] + 1
    return code


@njit(cache=True)
def record_codes(rng, state, target, tuning, moves, codes):
    """Run and keep the matching after each step as one integer."""
    for t in range(codes.size):
        step(rng, state, target, tuning, moves)
        codes[t] = code_of(state)


def codes_of(matchings, n2):
    out = []
    for partner in matchings:
        code = 0
        for q in partner:
            code = code * (n2 + 1) + q + 1
        out.append(code)
    return np.array(out)


def batch_test(codes, all_codes, probability, batches=300, rare=0.004):
    """
    Hotelling's test of batch frequencies against the exact probabilities; returns (p value, total variation).

    Batches much longer than the chain's correlation are near-independent, so no effective sample size is guessed.
    Rare matchings are pooled.
    """
    common = all_codes[probability >= rare]
    p = probability[probability >= rare]
    length = codes.size // batches
    frequency = np.stack(
        [(codes[: batches * length].reshape(batches, length) == c).mean(axis=1) for c in common], axis=1
    )
    assert np.isin(codes, all_codes[probability > 0]).all()
    total_variation = 0.5 * np.abs([(codes == c).mean() - q for c, q in zip(all_codes, probability, strict=True)]).sum()
    if 1.0 - p.sum() < 1e-9:
        frequency, p = frequency[:, :-1], p[:-1]
    d = p.size
    difference = frequency.mean(axis=0) - p
    t2 = batches * difference @ np.linalg.solve(np.cov(frequency.T), difference)
    return float(f_distribution.sf(t2 * (batches - d) / (d * (batches - 1)), d, batches - d)), float(total_variation)
