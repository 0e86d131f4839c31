"""Links of pairs that are no candidates come and go one at a time, so that the sampler is exact for the whole model.

Call a record *loose* if nobody is known to be the same person and it is alone, or linked to one record that is no
candidate of it. Making and parting such links leaves the same records loose. Two of them that may be one person are
chosen without looking at how they are linked. If both are alone and no candidates of each other, a link between them is
proposed. As often, one of the k linked pairs of this sort is chosen, to be parted. With A pairs to choose from, and w
the posterior odds of a link against none, a link is made with probability min(1, w·A / (k + 1)), and parted with
probability min(1, k / (w·A)).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.kernels import entry_of, njit
from tielink.sampler.data import Data
from tielink.sampler.moves.labels import put_in, take_out
from tielink.sampler.partition import FREE, Clusters, join_gain, join_gains, permitted
from tielink.sampler.ties import tie_gain

__all__ = ["linked_off_list", "move_off_list", "off_list"]
EACH = 4
"""How often each pair is chosen at most, on average."""


def move_off_list(
    rng: np.random.Generator,
    state: Clusters,
    data: Data,
    evidence: Callable[[Codes], NDArray[np.float64]],
    times: int,
) -> Codes:
    """Propose about so many links and partings; `evidence` tells E of pairs, one a row. Return (proposed, accepted).

    There are fewer where few records are loose.
    """
    rules = data.rules
    linked, k = linked_off_list(state, data)
    alone = (state.size[state.label] == 1) & (np.diff(rules.unit_begin)[rules.unit_of] == 1)
    loose = np.append(np.flatnonzero(alone), state.member[state.label[linked[:k]], :2].ravel())
    by_file = np.bincount(rules.file_of[loose])
    possible = len(loose) ** 2 - int(by_file @ (by_file if rules.mode != FREE else np.ones_like(by_file)))
    if not possible:
        return np.zeros(2, dtype=np.int64)
    # As many again fall on pairs that cannot be one person, and are left out.
    pairs = rng.choice(loose, (min(times, EACH * possible), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    if rules.mode != FREE:
        pairs = pairs[rules.file_of[pairs[:, 0]] != rules.file_of[pairs[:, 1]]]
    return np.asarray(_come_and_go(rng, state, data, pairs, evidence(pairs), math.log(possible / 2), linked, k))


@njit
def off_list(data, a, b):
    """Whether two records are no candidates of each other."""
    return entry_of(data.lists.begin, data.lists.record, a, b) < 0


@njit
def linked_off_list(state, data):
    """One record of each linked pair that is no candidate and not known beforehand, and their number."""
    rules, found, number = data.rules, np.empty(state.label.size, dtype=np.int64), 0
    for slot in range(state.size.size):
        if state.size[slot] == 2 and off_list(data, state.member[slot, 0], state.member[slot, 1]):
            unit = rules.unit_of[state.member[slot, 0]]
            if rules.unit_begin[unit + 1] - rules.unit_begin[unit] == 1:
                found[number] = state.member[slot, 0]
                number += 1
    return found, number


@njit
def _come_and_go(rng, state, data, pairs, evidence, log_possible, linked, k):
    """Propose a link of each of these pairs, or else to part one of the k that are linked; return counts."""
    rules, counts = data.rules, np.zeros(2, dtype=np.int64)
    gains, key = np.empty(rules.file_size.size), np.empty(rules.largest, dtype=np.int64)
    for p in range(len(pairs)):
        a, b, value, place = pairs[p, 0], pairs[p, 1], evidence[p], -1
        if rng.random() < 0.5:
            if k == 0:
                continue
            place = int(rng.random() * k)
            a = linked[place]
            slot = state.label[a]
            b, value = state.member[slot, 0] + state.member[slot, 1] - a, state.value[slot]
            take_out(state, data, rules.unit_of[a], key)
            k -= 1
        own, other = state.label[a], state.label[b]
        if place < 0 and (state.size[own] > 1 or state.size[other] > 1 or not off_list(data, a, b)):
            continue
        log_odds = -np.inf
        if value > -np.inf and permitted(state, rules, own, other):
            join_gains(state, rules, gains)
            log_odds = log_possible - math.log(k + 1.0) + value + join_gain(state, rules, gains, own, other)
            log_odds += tie_gain(state, rules, data.ties, own, other)
        counts[0] += 1
        together = math.log(rng.random()) < log_odds if place < 0 else math.log(rng.random()) >= -log_odds
        counts[1] += together == (place < 0)
        if together:
            put_in(state, data, own, other, value)
            k += 1
            if place < 0:
                linked[k - 1] = a
        elif place >= 0:
            linked[place] = linked[k]
    return counts
