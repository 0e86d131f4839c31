"""Links of pairs that are no candidates change one of their two records for another like it.

A record without a name, say, may be any of hundreds: many weak links take turns, and each must not stay for long. Links
that come and go one at a time (see `offlist`) seldom do: a link that profiles speak for is hardly ever parted, and a
new one is proposed blindly.

Every record stays or may leave, by the toss of a coin. Linked pairs, no candidates of each other, in which one stays
and one may leave, are each given a record of their own to replace the latter: one that may leave, is alone, and is like
it, equal in a random choice of fields. If the two trade places the same can be drawn as before, so the proposal is
symmetric; the acceptance ratio is that of the two links.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.kernels import njit
from tielink.sampler.data import Data
from tielink.sampler.moves.labels import put_in, take_out
from tielink.sampler.moves.offlist import linked_off_list, off_list
from tielink.sampler.partition import Clusters, join_gain, join_gains, permitted
from tielink.sampler.ties import tie_gain

__all__ = ["change_partners"]


def change_partners(
    rng: np.random.Generator,
    state: Clusters,
    data: Data,
    evidence: Callable[[Codes], NDArray[np.float64]],
    alike: Callable[[np.random.Generator], Codes],
) -> Codes:
    """Propose a change to up to half of the links. Return (proposed, accepted).

    `evidence` tells E of pairs, one a row; `alike` numbers all records, and those of the same number may replace each
    other.
    """
    linked, k = linked_off_list(state, data)
    if not k:
        return np.zeros(2, dtype=np.int64)
    number = alike(rng)
    pairs = rng.permutation(state.member[state.label[linked[:k]], :2])
    stays = rng.random(len(number)) < 0.5
    pairs = pairs[stays[pairs].sum(axis=1) == 1]
    keeping = np.where(stays[pairs[:, 0]], pairs[:, 0], pairs[:, 1])
    leaving = pairs.sum(axis=1) - keeping
    single = np.diff(data.rules.unit_begin)[data.rules.unit_of] == 1
    free = rng.permutation(np.flatnonzero((state.size[state.label] == 1) & single & ~stays))
    _, left, right = np.intersect1d(_in_turn(number[leaving]), _in_turn(number[free]), return_indices=True)
    plan = np.column_stack([keeping[left], free[right]])
    return np.asarray(_change(rng, state, data, plan, evidence(plan)))


def _in_turn(kinds: Codes) -> Codes:
    """Return a different number for each place: the first of its kind, the second of its kind, and so on."""
    order = np.argsort(kinds, kind="stable")
    rank = np.empty(len(kinds), dtype=np.int64)
    rank[order] = np.arange(len(kinds)) - np.searchsorted(kinds[order], kinds[order])
    return (kinds << 32) + rank


@njit
def _change(rng, state, data, plan, evidence):
    """Propose to link the first record of each row with the second, instead of its partner; return counts."""
    rules, counts = data.rules, np.zeros(2, dtype=np.int64)
    gains, key = np.empty(rules.file_size.size), np.empty(rules.largest, dtype=np.int64)
    for p in range(len(plan)):
        a, new = plan[p, 0], plan[p, 1]
        counts[0] += 1
        if not off_list(data, a, new):
            continue
        own, to, value = take_out(state, data, rules.unit_of[a], key)
        other = state.label[new]
        if evidence[p] > -np.inf and permitted(state, rules, own, other):
            join_gains(state, rules, gains)
            old = value + join_gain(state, rules, gains, own, to) + tie_gain(state, rules, data.ties, own, to)
            ratio = evidence[p] + join_gain(state, rules, gains, own, other) - old
            if math.log(rng.random()) < ratio + tie_gain(state, rules, data.ties, own, other):
                counts[1] += 1
                to, value = other, evidence[p]
        put_in(state, data, own, to, value)
    return counts
