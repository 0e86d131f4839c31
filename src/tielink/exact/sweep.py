"""One sweep of the default sampler: assembly only, every move is exact on its own."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.gibbs import restricted_gibbs
from tielink.exact.intercept import walk_intercepts
from tielink.exact.merge import merge, split
from tielink.exact.positions import jump, walk
from tielink.exact.scale import scale
from tielink.exact.spread import draw_spread
from tielink.exact.state import is_anchor
from tielink.exact.swap import swap
from tielink.exact.switch import switch

MOVES = ("gibbs", "merge", "split", "switch", "swap", "jump", "walk", "intercept", "scale", "spread")


class SweepInfo(NamedTuple):
    """Counts (proposed, accepted) per move in the order of MOVES, and the walk's outcome per record (see WalkInfo)."""

    counts: NDArray[np.int64]
    moved_a: NDArray[np.int8]
    moved_b: NDArray[np.int8]


@njit(cache=True)
def _count(tally, info):
    tally[0] += info.proposed
    tally[1] += info.accepted


@njit(cache=True)
def sweep(rng, state, target, tuning):
    """
    One sweep. It changes `state` and returns `SweepInfo`.

    `tuning` says how much of each: rounds of restricted Gibbs over the smaller file's records (`gibbs`), records of
    either file drawn for merge/split/switch (`merges`), swaps, persons drawn for a jump, rounds of walks over all, and
    rounds of intercepts, scale and spread (`scalars`).
    """
    counts = np.zeros((10, 2), dtype=np.int64)
    n1, n2 = state.partner_a.size, state.partner_b.size
    side = 0 if n1 <= n2 else 1
    n = min(n1, n2)
    for _ in range(tuning.gibbs):
        for record in range(n):
            if not is_anchor(target, side, record):
                _count(counts[0], restricted_gibbs(rng, state, target, tuning, side, record))
    for _ in range(tuning.merges):
        either = rng.integers(0, 2)
        record = rng.integers(0, n1 if either == 0 else n2)
        if not is_anchor(target, either, record):
            # A single record may merge; a paired one splits or switches, with equal chances.
            if (state.partner_a, state.partner_b)[either][record] < 0:
                _count(counts[1], merge(rng, state, target, tuning, either, record))
            elif rng.random() < 0.5:
                _count(counts[2], split(rng, state, target, tuning, either, record))
            else:
                _count(counts[3], switch(rng, state, target, tuning, either, record))
    for _ in range(tuning.swaps):
        _count(counts[4], swap(rng, state, target, tuning))
    _count(counts[5], jump(rng, state, target, tuning))
    moved_a, moved_b = np.full(n1, -1, np.int8), np.full(n2, -1, np.int8)
    for _ in range(tuning.walks):
        info = walk(rng, state, target, tuning)
        counts[6, 0] += info.proposed
        counts[6, 1] += info.accepted
        moved_a, moved_b = info.moved_a, info.moved_b
    for _ in range(tuning.scalars):
        _count(counts[7], walk_intercepts(rng, state, target, tuning))
        _count(counts[8], scale(rng, state, target, tuning))
        _count(counts[9], draw_spread(rng, state, target))
    return SweepInfo(counts, moved_a, moved_b)
