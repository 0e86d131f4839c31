"""Restricted Gibbs draws of who is whom.

A unit is taken out of its cluster and put back: alone, or into one of the clusters that hold a candidate of it. The
lists of candidates are fixed, so the options depend on the other units only. If the cluster that the unit came from is
not among the options, the unit stays where it was: else the move could not be reversed.
"""

import math

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import entry_of, njit
from tielink.sampler.choice import choose
from tielink.sampler.data import Data
from tielink.sampler.partition import PAIRS, join, join_gain, join_gains, part, permitted, with_unit, without_unit
from tielink.sampler.table import evidence
from tielink.sampler.ties import add_cluster, tie_gain

MISSING = -1
LOOK_AHEAD = 256
"""Units whose groups are asked for with those of a unit that misses one: evidence is cheaper by the hundred."""


@njit
def put_in(state, data, own, other, value):
    """Put the cluster of one unit in slot `own` into that in `other`, whose evidence becomes `value`."""
    add_cluster(state, data.rules, data.ties, own, -1.0)
    add_cluster(state, data.rules, data.ties, other, -1.0)
    join(state, data.rules, own, other, value)
    add_cluster(state, data.rules, data.ties, other, 1.0)


@njit
def take_out(state, data, unit, key):
    """
    Part a unit from its cluster.

    Returns its slot, the slot of the rest (-1 if it was alone) and the evidence they had together; (-1, -1, 0) if
    evidence is missing, and then nothing has changed.
    """
    rules = data.rules
    slot = state.label[rules.unit_record[rules.unit_begin[unit]]]
    count = rules.unit_begin[unit + 1] - rules.unit_begin[unit]
    asked = data.table.missing[0]
    for i in range(count):
        key[i] = rules.unit_record[rules.unit_begin[unit] + i]
    # Asked for even if it is alone: once it has joined others, it must be possible to take it out again.
    value = evidence(data.table, key, count)
    if data.table.missing[0] > asked:
        return np.int64(-1), np.int64(-1), 0.0
    if state.size[slot] == count:
        return slot, np.int64(-1), 0.0
    before = state.value[slot]
    left = without_unit(state, rules, slot, unit, key)
    rest = evidence(data.table, key, left)
    if data.table.missing[0] > asked:
        return np.int64(-1), np.int64(-1), 0.0
    add_cluster(state, rules, data.ties, slot, -1.0)
    own = part(state, rules, unit, value, rest)
    add_cluster(state, rules, data.ties, slot, 1.0)
    add_cluster(state, rules, data.ties, own, 1.0)
    return own, slot, before


@njit
def joined_evidence(state, data, own, slot, entry, unit, key):
    """Profile evidence of two clusters as one; `entry` is that of their records on a list, or -1."""
    if entry >= 0 and state.size[own] == 1 and state.size[slot] == 1:
        return data.lists.value[data.lists.pair[entry]]
    return evidence(data.table, key, with_unit(state, data.rules, slot, unit, key))


@njit
def options(state, data, unit, extra, own):
    """
    The clusters that the unit in slot `own` may join, the evidence each then has, and their log weights.

    The weight against staying alone is p(joined)/p(alone) m(c and a)/(m(c) m(a)), times what shared ties say. With
    `extra` >= 0 that record is the only candidate. There is one weight more, that of staying alone.
    """
    rules, lists, seen = data.rules, data.lists, data.seen
    gains, key = np.empty(rules.file_size.size), np.empty(rules.largest, dtype=np.int64)
    join_gains(state, rules, gains)
    most = 2  # a stranger, and being alone; then candidates, several of which may be one person
    for t in range(rules.unit_begin[unit], rules.unit_begin[unit + 1]):
        most += lists.begin[rules.unit_record[t] + 1] - lists.begin[rules.unit_record[t]]
    slots, values, log_weights = np.empty(most, dtype=np.int64), np.empty(most), np.empty(most)
    number = 0
    seen[0] += 1
    for t in range(rules.unit_begin[unit], rules.unit_begin[unit + 1]):
        record = rules.unit_record[t]
        first, last = lists.begin[record], lists.begin[record + 1]
        if extra >= 0:
            first, last = np.int64(0), np.int64(1)
        for c in range(first, last):
            slot = state.label[extra if extra >= 0 else lists.record[c]]
            if slot == own or seen[slot + 1] == seen[0]:
                continue
            # Clusters of several records want a strong candidate: there are so many of them, and few that fit.
            if extra < 0 and not lists.strong[c] and state.size[slot] > 1:
                continue
            seen[slot + 1] = seen[0]
            if rules.mode == PAIRS and extra < 0:  # without a call: candidates may be linked if both are alone
                if state.size[own] + state.size[slot] > 2:
                    continue
                value = lists.value[lists.pair[c]]
                gain = gains[0]
            else:
                if not permitted(state, rules, own, slot):
                    continue
                entry = c if extra < 0 else entry_of(lists.begin, lists.record, record, extra)
                value = joined_evidence(state, data, own, slot, entry, unit, key)
                gain = join_gain(state, rules, gains, own, slot)
            if gain == -np.inf:
                continue
            slots[number], values[number] = slot, value
            log_weights[number] = gain + value - state.value[slot] - state.value[own]
            if data.ties.power[0] > 0.0:
                log_weights[number] += tie_gain(state, rules, data.ties, own, slot)
            number += 1
    log_weights[number] = 0.0
    return slots[:number], values[:number], log_weights[: number + 1]


@njit
def _add_chance(state, data, unit, slot, chance):
    """Add to the sums of the listed pairs between a unit and a cluster."""
    for t in range(data.rules.unit_begin[unit], data.rules.unit_begin[unit + 1]):
        for m in range(state.size[slot]):
            entry = entry_of(data.lists.begin, data.lists.record, data.rules.unit_record[t], state.member[slot, m])
            if entry >= 0:
                data.lists.chance[data.lists.pair[entry]] += chance


@njit
def _tally(state, data, unit, slots, log_weights):
    """Add the conditional probability of each option to the sums of the listed pairs that it would link."""
    number, top = slots.size, 0.0
    for i in range(number):
        top = max(top, log_weights[i])
    total = math.exp(-top)
    for i in range(number):
        total += math.exp(log_weights[i] - top)
    first, lists = data.rules.unit_begin[unit], data.lists
    if data.rules.largest > 2 or data.rules.unit_begin[unit + 1] - first > 1:
        for i in range(number):
            _add_chance(state, data, unit, slots[i], math.exp(log_weights[i] - top) / total)
        return
    i, c = 0, lists.begin[data.rules.unit_record[first]]
    while i < number:  # single records in the order of the list
        if state.label[lists.record[c]] == slots[i]:
            lists.chance[lists.pair[c]] += math.exp(log_weights[i] - top) / total
            i += 1
        c += 1


@njit
def gibbs_label(rng, state, data, unit, extra):
    """Draw the cluster of one unit; 1 if it changed, 0 if not, MISSING if evidence is asked for and nothing drawn."""
    key = np.empty(data.rules.largest, dtype=np.int64)
    own, old, before = take_out(state, data, unit, key)
    if own < 0:
        return MISSING
    slots, values, log_weights = options(state, data, unit, extra, own)
    found = old < 0
    for slot in slots:
        found = found or slot == old
    if data.table.missing[0] > 0 or not found:
        if old >= 0:
            if data.lists.tally[0] and extra < 0 and data.table.missing[0] == 0:
                _add_chance(state, data, unit, old, 1.0)  # it stays where it is
            put_in(state, data, own, old, before)
        return MISSING if data.table.missing[0] > 0 else 0
    if data.lists.tally[0] and extra < 0:
        _tally(state, data, unit, slots, log_weights)
    chosen, _ = choose(rng, log_weights)
    if chosen == slots.size:
        return 1 if old >= 0 else 0
    put_in(state, data, own, slots[chosen], values[chosen])
    return 0 if slots[chosen] == old else 1


@njit
def gibbs_labels(rng, state, data, plan, begin, counts):
    """Draw the clusters of the planned units (unit, extra) from row `begin` on; return where evidence was missing."""
    for row in range(begin, len(plan)):
        result = gibbs_label(rng, state, data, plan[row, 0], plan[row, 1])
        if result == MISSING:
            # Nothing is drawn while evidence is missing: these only ask.
            for later in range(row + 1, min(row + LOOK_AHEAD, len(plan))):
                gibbs_label(rng, state, data, plan[later, 0], plan[later, 1])
            return row
        counts[0] += 1
        counts[1] += result
    return len(plan)


def every_unit(data: Data) -> NDArray[np.int64]:
    """Return a plan for all units, candidates from their lists."""
    units = np.arange(len(data.rules.unit_begin) - 1)
    return np.column_stack([units, np.full(len(units), -1)])


def strangers(rng: np.random.Generator, data: Data, number: int) -> NDArray[np.int64]:
    """Return a plan for units drawn at random, each with one record at random: so every linkage can be reached."""
    most = len(data.rules.unit_begin) - 1, len(data.rules.file_of)
    plan = np.array([[rng.integers(size) for size in most] for _ in range(number)])
    return np.asarray(plan[data.rules.unit_of[plan[:, 1]] != plan[:, 0]])


@njit
def link_greedily(state, data, pairs):
    """Link pairs of records in this order as long as both are alone and may be linked: a start."""
    gains = np.empty(data.rules.file_size.size)
    for row in range(len(pairs)):
        own, other = state.label[pairs[row, 0]], state.label[pairs[row, 1]]
        if state.size[own] == 1 and state.size[other] == 1 and permitted(state, data.rules, own, other):
            join_gains(state, data.rules, gains)
            if join_gain(state, data.rules, gains, own, other) > -np.inf:
                put_in(state, data, own, other, 0.0)
