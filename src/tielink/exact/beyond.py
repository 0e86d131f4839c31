"""The part of a sweep that goes beyond positions: correlation of ties and sociality. Not called when both are off."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.odds_ratio import walk_correlation
from tielink.exact.sociality import shift_sociality, stretch_sociality, walk_sociality, walk_sociality_sd
from tielink.exact.state import State, Tuning
from tielink.exact.target import Target

MOVES = ("correlation", "sociality", "sociality sd", "sociality stretch", "sociality shift")


class BeyondInfo(NamedTuple):
    """Counts (proposed, accepted) per move in the order of MOVES, and the outcome of each record's walk of s."""

    counts: NDArray[np.int64]
    moved_a: NDArray[np.int8]
    moved_b: NDArray[np.int8]


def goes_beyond(state: State) -> bool:
    """Whether there is anything to do here."""
    return state.correlation is not None or state.sociality_sd is not None


@njit(cache=True)
def _sweep_sociality(rng, state, target, tuning, counts):
    """One step of every s, and tau by both its moves; counts (proposed, accepted) per move."""
    walk = walk_sociality(rng, state, target, tuning)
    counts[0, 0], counts[0, 1] = walk.proposed, walk.accepted
    held = walk_sociality_sd(rng, state, target, tuning)
    stretched = stretch_sociality(rng, state, target, tuning)
    for place, info in ((1, held), (2, stretched), (3, shift_sociality(rng, state, target))):
        counts[place, 0], counts[place, 1] = info.proposed, info.accepted
    return walk


def sweep_beyond(rng: np.random.Generator, state: State, target: Target, tuning: Tuning) -> BeyondInfo:
    """One step of log phi, one of every s, and tau by both its moves, of those that are on."""
    counts = np.zeros((len(MOVES), 2), dtype=np.int64)
    moved_a, moved_b = np.full(state.partner_a.size, -1, np.int8), np.full(state.partner_b.size, -1, np.int8)
    if state.correlation is not None:
        counts[0] = walk_correlation(rng, state, target, tuning)
    if state.sociality_sd is not None:
        walk = _sweep_sociality(rng, state, target, tuning, counts[1:])
        moved_a, moved_b = walk.moved_a, walk.moved_b
    return BeyondInfo(counts, moved_a, moved_b)
