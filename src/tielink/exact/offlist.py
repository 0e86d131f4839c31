"""Moves of pairs that are no candidates, so that the sampler is exact for the whole model.

Call a record *loose* if it is single or if its partner is not on its list. Linking and parting loose records off the
list leaves the same records loose. A few of each file are given new partners off the list by Gibbs draws; the evidence
of their pairs is computed when they are drawn. Which ones is a matter of chance:

- Blindly: without looking at how they are linked. The choice is as likely after the move as before it, so there is no
  acceptance ratio.
- Gathered: pairs that are linked off the list, each with probability κ, filled up with l − h and r − h single ones at
  random if h were taken. All others that are linked off the list stand aside. The choice has a probability in
  proportion to κ^h / [C(M − h, l − h)·C(M′ − h, r − h)] for M and M′ loose records in the two files that do not stand
  aside, so linking a pair more gains κ·(M − h)/(l − h)·(M′ − h)/(r − h). Without it, a pair that was linked for no
  reason would stay for as long as it takes to draw both its records. Should h be more than half of the places, nothing
  is done; κ is drawn anew each time, so that there is room for a thousand such pairs.

Records are drawn in an order that their set alone decides. Were those linked first in turn, the way back would have
another order, and the posterior would not be kept.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.matching import Lists, Matching, entry_of, gain_of_link, link, unlink
from tielink.exact.state import Info, choose

__all__ = ["SHARES", "draw_some", "move_off_list"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]
MOST = 32
"""Loose records of each file that are given new partners at a time."""
ROUNDS = 3
SHARES = (1.0, 1 / 4, 1 / 16, 1 / 64)
"""κ to draw from."""


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
    sides: tuple[Codes, ...] = loose[:cut], loose[cut:]
    if rng.random() < 0.5:
        left, right = (draw_some(rng, side, most) for side in sides)
        bonus, linked = np.zeros(len(loose) + 1), 0
    else:
        share, cap = rng.choice(SHARES), most // 2
        pairs = sides[0][matching.partner[sides[0]] >= 0]
        taken = rng.random(len(pairs)) < share
        aside = np.append(pairs[~taken], matching.partner[pairs[~taken]])
        own = pairs[taken], matching.partner[pairs[taken]]
        linked = len(own[0])
        if linked > cap:
            return Info(0, 0)
        sides = tuple(np.setdiff1d(side, aside) for side in sides)
        left, right = (
            np.sort(np.append(mine, draw_some(rng, np.setdiff1d(side, mine), most - linked)))
            for mine, side in zip(own, sides, strict=True)
        )
        bonus = _bonus(np.array([len(side) for side in sides]), np.array([len(left), len(right)]), share, cap)
    if not len(left) or not len(right):
        return Info(0, 0)
    a, b = (grid.ravel() for grid in np.meshgrid(left, right, indexing="ij"))
    weight = evidence(a, b).reshape(len(left), len(right))
    accepted = _redraw(rng, matching, lists, log_prior, left, right, weight, bonus, linked, ROUNDS)
    return Info(ROUNDS * len(left), accepted)


def _bonus(loose: Codes, drawn: Codes, share: float, cap: int) -> Floats:
    """Return what linking one pair more gains because the choice of records depends on h, for h = 0, 1, …."""
    h = np.arange(cap + 1)[:, None]
    gain = np.log(share) + np.log(np.maximum(loose - h, 1) / np.maximum(drawn - h, 1)).sum(axis=1)
    return np.where(h[:, 0] < cap, gain, -np.inf)


def draw_some(rng: np.random.Generator, records: Codes, most: int) -> Codes:
    """Return so many of these records at most, drawn at random, in order."""
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
def _redraw(rng, matching, lists, log_prior, left, right, evidence, bonus, linked, rounds):
    """Gibbs draws of each left record's partner among the right ones that are single and not on its list.

    `linked` is h, the number of pairs linked among them, and `bonus` what a link gains by it.
    """
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
                linked -= 1
            gain = gain_of_link(matching, log_prior) + bonus[linked]
            for j in range(right.size):
                log_weights[j] = evidence[i, j] + gain if matching.partner[right[j]] < 0 else -np.inf
            log_weights[right.size] = 0.0
            chosen, _ = choose(rng, log_weights)
            new = right[chosen] if chosen < right.size else -1
            if new >= 0:
                link(matching, left[i], new)
                linked += 1
            changed += new != old
    return changed
