"""Moves of pairs that are no candidates, so that the sampler is exact for the whole model.

Call a record *loose* if it is single or if its partner is not on its list. Linking and parting loose records off the
list leaves the same records loose. So a few loose records of each file, drawn without looking at how they are linked
among themselves, may be given new partners off the list by Gibbs draws, with no acceptance ratio: the choice of records
is as likely after the move as before it. The evidence of their pairs is computed when they are drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.matching import Lists, Matching, entry_of, gain_of_link, link, unlink
from tielink.exact.state import Info, choose

__all__ = ["move_off_list"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 32
"""Loose records of each file that are given new partners at a time."""
ROUNDS = 3


def move_off_list(
    rng: np.random.Generator,
    matching: Matching,
    lists: Lists,
    log_prior: Floats,
    first: int,
    evidence: Callable[[Codes, Codes], Floats],
    most: int = MOST,
) -> Info:
    """Redraw who is whom among a few loose records, off the list.

    Parameters
    ----------
    first
        The number of records of the first file.
    evidence
        Returns the log Bayes factor of pairs (left, right) of records.
    most
        Records of each file to draw.
    """
    loose = np.flatnonzero(_loose(matching, lists))
    cut = int(np.searchsorted(loose, first))
    left, right = (_some(rng, side, most) for side in (loose[:cut], loose[cut:]))
    if not len(left) or not len(right):
        return Info(0, 0)
    a, b = (grid.ravel() for grid in np.meshgrid(left, right, indexing="ij"))
    weight = evidence(a, b).reshape(len(left), len(right))
    accepted = _redraw(rng, matching, lists, log_prior, left, right, weight, ROUNDS)
    return Info(ROUNDS * len(left), accepted)


def _some(rng: np.random.Generator, records: Codes, most: int) -> Codes:
    return records if len(records) <= most else np.sort(rng.choice(records, most, replace=False))


@njit(cache=True)
def _loose(matching, lists):
    """Which records are single, or linked off the list; those whose partner is known are neither."""
    found = np.zeros(matching.partner.size, dtype=np.bool_)
    for record in range(found.size):
        if not lists.fixed[record]:
            partner = matching.partner[record]
            found[record] = partner < 0 or entry_of(lists, record, partner) < 0
    return found


@njit(cache=True)
def _redraw(rng, matching, lists, log_prior, left, right, evidence, rounds):
    """Gibbs draws of each left record's partner among the right ones that are single and not on its list."""
    here = np.zeros(matching.partner.size, dtype=np.bool_)
    here[right] = True
    for i in range(left.size):
        for j in range(right.size):
            if entry_of(lists, left[i], right[j]) >= 0:
                evidence[i, j] = -np.inf
    log_weights = np.empty(right.size + 1)
    changed = 0
    for _ in range(rounds):
        for i in range(left.size):
            old = matching.partner[left[i]]
            if old >= 0:
                if not here[old]:
                    continue
                unlink(matching, left[i], old)
            gain = gain_of_link(matching, log_prior)
            for j in range(right.size):
                log_weights[j] = evidence[i, j] + gain if matching.partner[right[j]] < 0 else -np.inf
            log_weights[right.size] = 0.0
            chosen, _ = choose(rng, log_weights)
            new = right[chosen] if chosen < right.size else -1
            if new >= 0:
                link(matching, left[i], new)
            changed += new != old
    return changed
