"""The part of a sweep that goes beyond positions: correlation of ties and sociality. Not called when both are off."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.odds_ratio import walk_correlation
from tielink.exact.sociality import shift_sociality, stretch_sociality, walk_sociality, walk_sociality_sd
from tielink.exact.state import State

MOVES = ("correlation", "sociality", "sociality sd", "sociality stretch", "sociality shift")


class BeyondInfo(NamedTuple):
    """Counts (proposed, accepted) per move in the order of MOVES, and the outcome of each record's walk of s."""

    counts: NDArray[np.int64]
    moved_a: NDArray[np.int8]
    moved_b: NDArray[np.int8]


def goes_beyond(state: State) -> bool:
    """Whether there is anything to do here."""
    return state.correlation.size + state.sociality_sd.size > 0


@njit(cache=True)
def sweep_beyond(rng, state, target, tuning):
    """One step of log phi, one of every s, and tau by both its moves."""
    counts = np.zeros((5, 2), dtype=np.int64)
    info = walk_correlation(rng, state, target, tuning)
    counts[0, 0], counts[0, 1] = info.proposed, info.accepted
    moved_a, moved_b = np.full(state.partner_a.size, -1, np.int8), np.full(state.partner_b.size, -1, np.int8)
    if state.sociality_sd.size > 0:
        walk = walk_sociality(rng, state, target, tuning)
        counts[1, 0], counts[1, 1] = walk.proposed, walk.accepted
        moved_a, moved_b = walk.moved_a, walk.moved_b
        info = walk_sociality_sd(rng, state, target, tuning)
        counts[2, 0], counts[2, 1] = info.proposed, info.accepted
        info = stretch_sociality(rng, state, target, tuning)
        counts[3, 0], counts[3, 1] = info.proposed, info.accepted
        info = shift_sociality(rng, state, target)
        counts[4, 0], counts[4, 1] = info.proposed, info.accepted
    return BeyondInfo(counts, moved_a, moved_b)
