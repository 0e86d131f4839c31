"""The linkage when no file has a network: who is whom, from profiles alone.

The state is one array, each record's partner. Candidates are a fixed list of pairs with their evidence; moves on the
list are done here, moves off it in `tielink.exact.offlist`, so that together every linkage is reached.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.candidates import Candidates
from tielink.exact.state import Info


class Matching(NamedTuple):
    """Who is whom, in two arrays."""

    partner: NDArray[np.int64]
    """The other record of each record's person, or −1."""
    matched: NDArray[np.int64]
    """Number m of free (non-anchor) matches; one entry."""


class Lists(NamedTuple):
    """Candidates of every record: entry e of record r, indptr[r] ≤ e < indptr[r + 1], is pair number pair[e]."""

    indptr: NDArray[np.int64]
    neighbours: NDArray[np.int64]
    pair: NDArray[np.int64]
    fixed: NDArray[np.bool_]
    """Whether the record's partner is known."""


def make_lists(candidates: Candidates, fixed: NDArray[np.bool_]) -> tuple[Lists, NDArray[np.int64]]:
    """Return the lists without pairs of records whose partner is known, and the pairs r < r' they number."""
    pairs = candidates.pairs()
    pairs = pairs[~fixed[pairs].any(axis=1)]
    kept = Candidates.from_pairs(pairs, candidates.records)
    owner = np.repeat(np.arange(kept.records), np.diff(kept.indptr))
    low, high = np.minimum(owner, kept.neighbours), np.maximum(owner, kept.neighbours)
    pairs = kept.pairs()
    keys = pairs[:, 0] * kept.records + pairs[:, 1]
    return Lists(kept.indptr, kept.neighbours, np.searchsorted(keys, low * kept.records + high), fixed), pairs


@njit(cache=True)
def entry_of(lists, record, other):
    """The entry of `other` on the list of `record`, or −1."""
    low, high = lists.indptr[record], lists.indptr[record + 1]
    while low < high:
        middle = (low + high) // 2
        if lists.neighbours[middle] < other:
            low = middle + 1
        else:
            high = middle
    if low < lists.indptr[record + 1] and lists.neighbours[low] == other:
        return low
    return -1


@njit(cache=True)
def link(matching, a, b):
    """Link two single records."""
    matching.partner[a], matching.partner[b] = b, a
    matching.matched[0] += 1


@njit(cache=True)
def unlink(matching, a, b):
    """Undo `link`."""
    matching.partner[a] = matching.partner[b] = -1
    matching.matched[0] -= 1


@njit(cache=True)
def gain_of_link(matching, log_prior):
    """log p(ξ) gained by one more free match than there are; −∞ where there can be no more."""
    m = matching.matched[0]
    return log_prior[m + 1] - log_prior[m] if m + 1 < log_prior.size else -np.inf


@njit(cache=True)
def listed_pairs(matching, lists):
    """The number of the listed pair that each record is in; −1 for records that are single or linked off the list."""
    found = np.full(matching.partner.size, -1, dtype=np.int64)
    for record in range(found.size):
        if matching.partner[record] >= 0:
            entry = entry_of(lists, record, matching.partner[record])
            if entry >= 0:
                found[record] = lists.pair[entry]
    return found


@njit(cache=True)
def gibbs_label(rng, matching, lists, evidence, log_prior, weights, record):
    """
    Draw a record's label from its conditional on the list: alone (weight 1) or with an unmatched candidate b (ω_ab).

    A record whose partner is not on its list stays as it is: the choices must not depend on the choice made.
    """
    old = matching.partner[record]
    if old >= 0:
        if entry_of(lists, record, old) < 0:
            return Info(0, 0)
        unlink(matching, record, old)
    begin, end = lists.indptr[record], lists.indptr[record + 1]
    gain = gain_of_link(matching, log_prior)
    top = 0.0
    for entry in range(begin, end):
        weight = -np.inf
        if matching.partner[lists.neighbours[entry]] < 0:
            weight = evidence[lists.pair[entry]] + gain
        weights[entry - begin] = weight
        top = max(top, weight)
    total = math.exp(-top)
    for entry in range(end - begin):
        weights[entry] = math.exp(weights[entry] - top) if weights[entry] > -np.inf else 0.0
        total += weights[entry]
    left = rng.random() * total
    new = -1
    for entry in range(end - begin):
        left -= weights[entry]
        if left < 0.0:
            new = lists.neighbours[begin + entry]
            link(matching, record, new)
            break
    return Info(1, 1 if new != old else 0)


@njit(cache=True)
def exchange(rng, matching, lists, evidence):
    """
    a–b and c–d become a–d and c–b, where d is drawn from a's list.

    d's chance is one over the length of a's list before and after, so that the ratio is that of the evidence. All four
    pairs must be on the list, else the way back would not be open.
    """
    a = rng.integers(0, matching.partner.size)
    b = matching.partner[a]
    begin, end = lists.indptr[a], lists.indptr[a + 1]
    if b < 0 or begin == end:
        return Info(0, 0)
    entry = rng.integers(begin, end)
    d = lists.neighbours[entry]
    c = matching.partner[d]
    if c < 0 or d == b:
        return Info(0, 0)
    old_ab, old_cd, new_cb = entry_of(lists, a, b), entry_of(lists, c, d), entry_of(lists, c, b)
    if old_ab < 0 or old_cd < 0 or new_cb < 0:
        return Info(0, 0)
    change = evidence[lists.pair[entry]] + evidence[lists.pair[new_cb]]
    change -= evidence[lists.pair[old_ab]] + evidence[lists.pair[old_cd]]
    if math.log(rng.random()) >= change:
        return Info(1, 0)
    matching.partner[a], matching.partner[d] = d, a
    matching.partner[c], matching.partner[b] = b, c
    return Info(1, 1)


@njit(cache=True)
def sweep_lists(rng, matching, lists, evidence, log_prior):
    """One sweep on the list: Gibbs of every free record, and half as many exchanges; (proposed, accepted) of both."""
    counts = np.zeros((2, 2), dtype=np.int64)
    longest = 0
    for record in range(matching.partner.size):
        longest = max(longest, lists.indptr[record + 1] - lists.indptr[record])
    weights = np.empty(longest)
    for record in range(matching.partner.size):
        if not lists.fixed[record]:
            info = gibbs_label(rng, matching, lists, evidence, log_prior, weights, record)
            counts[0, 0] += info.proposed
            counts[0, 1] += info.accepted
    for _ in range(matching.partner.size // 2):
        info = exchange(rng, matching, lists, evidence)
        counts[1, 0] += info.proposed
        counts[1, 1] += info.accepted
    return counts


@njit(cache=True)
def greedy(matching, order, pairs, most):
    """Link pairs in this order as long as both records are single, up to `most` free matches."""
    for number in order:
        a, b = pairs[number]
        if matching.matched[0] < most and matching.partner[a] < 0 and matching.partner[b] < 0:
            link(matching, a, b)
