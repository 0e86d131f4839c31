"""Links of pairs that are no candidates change one of their two records for another like it.

A record without a name, say, may be any of hundreds: many weak links take turns, and each must not stay for long. Links
that come and go one at a time (see `offlist`) seldom do: a link that profiles speak for is hardly ever parted, and a
new one is proposed blindly.

Every record stays or may leave, by the toss of a coin. Of a linked pair, no candidates of each other, in which one
stays and one may leave, the latter gives way to a record drawn from all that may leave and are like it: equal in a
random choice of fields. It is its equal too, so the proposal is symmetric; the acceptance ratio is that of the links.
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
    alike: Codes,
) -> Codes:
    """Propose a change to about half of the links; records of the same number in `alike` may replace each other.

    `evidence` tells E of pairs, one a row. Return (proposed, accepted).
    """
    linked, k = linked_off_list(state, data)
    pairs = state.member[state.label[linked[:k]], :2]
    stays = rng.random(len(alike)) < 0.5
    pairs = pairs[stays[pairs].sum(axis=1) == 1]
    keeping = np.where(stays[pairs[:, 0]], pairs[:, 0], pairs[:, 1])
    order = np.argsort(keeping)  # so that the order tells nothing of the partition
    keeping, leaving = keeping[order], (pairs.sum(axis=1) - keeping)[order]
    by_class = np.argsort(np.where(stays, -1, alike), kind="stable")
    numbers = np.where(stays, -1, alike)[by_class]
    begin, end = (np.searchsorted(numbers, alike[leaving], side=side) for side in ("left", "right"))
    new = by_class[rng.integers(begin, end)]
    plan = np.column_stack([keeping, new])[new != leaving]
    return np.asarray(_change(rng, state, data, plan, evidence(plan)))


@njit
def _change(rng, state, data, plan, evidence):
    """Propose to link the first record of each row with the second, instead of its partner; return counts."""
    rules, counts = data.rules, np.zeros(2, dtype=np.int64)
    gains, key = np.empty(rules.file_size.size), np.empty(rules.largest, dtype=np.int64)
    for p in range(len(plan)):
        a, new = plan[p, 0], plan[p, 1]
        counts[0] += 1
        if state.size[state.label[new]] > 1 or not off_list(data, a, new):
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
