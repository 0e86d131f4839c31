"""Pairs to begin with: those that profiles alone make likely stand in for anchors while a start is sought.

A start is no more than a start: the links are free again as soon as the chain moves, and all they are for is that
positions under which they hold are found sooner than one link at a time. Every chain leaves some of them out at random,
so that chains begin apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.exact.align import best_start
from tielink.exact.state import State
from tielink.exact.target import Target

__all__ = ["believed_pairs", "start_from_profiles"]

SURE = 2.0
"""Log odds, over all partners a record might have, above which a pair is believed."""
KEPT = 0.75
"""The share of believed pairs that a chain begins with."""


def believed_pairs(target: Target) -> NDArray[np.int64]:
    """Return pairs (a, b) of free records, best evidence first, each record once."""
    free_a, free_b = np.flatnonzero(target.anchor_a < 0), np.flatnonzero(target.anchor_b < 0)
    evidence = target.log_bf[np.ix_(free_a, free_b)]
    i, j = np.nonzero(evidence > np.log(max(evidence.shape)) + SURE) if evidence.size else np.empty((2, 0), dtype=int)
    order = np.argsort(-evidence[i, j], kind="stable")
    pairs = np.column_stack([free_a[i], free_b[j]])[order]
    taken: set[tuple[int, int]] = set()
    chosen = []
    for a, b in pairs.tolist():
        if (0, a) not in taken and (1, b) not in taken:
            taken |= {(0, a), (1, b)}
            chosen.append((a, b))
    return np.array(chosen, dtype=np.int64).reshape(-1, 2)


def start_from_profiles(rng: np.random.Generator, target: Target) -> State:
    """Return the best start in which anchors and most believed pairs are linked."""
    pairs = believed_pairs(target)
    pairs = pairs[rng.random(len(pairs)) < KEPT]
    anchor_a, anchor_b = target.anchor_a.copy(), target.anchor_b.copy()
    anchor_a[pairs[:, 0]], anchor_b[pairs[:, 1]] = pairs[:, 1], pairs[:, 0]
    state = best_start(rng, target._replace(anchor_a=anchor_a, anchor_b=anchor_b))
    state.matched[0] = len(pairs)
    return state
