"""Restricted Gibbs draws of who is whom, profiles alone: no position is needed.

A unit is taken out and put back: alone, or into one of the clusters that hold a candidate of it. Candidates are given
beforehand, so the options depend on the rest only; if the unit's own cluster is not among them, nothing may happen.
"""

import numpy as np
from numba import njit

from tielink.exact.clusters.state import join, join_gain, join_gains, part, permitted, with_unit, without_unit
from tielink.exact.clusters.table import evidence
from tielink.exact.state import choose

MISSING = -1
LOOK_AHEAD = 256
"""Units whose groups are asked for with those of a unit that misses one: evidence is cheaper by the hundred."""


@njit(cache=True)
def take_out(state, rules, table, wanted, unit, key):
    """
    Part a unit from its cluster.

    Returns its slot, the slot of the rest (-1 if it was alone) and the evidence they had together; (-1, -1, 0) if
    evidence is missing, and then nothing has changed.
    """
    slot = state.label[rules.unit_record[rules.unit_begin[unit]]]
    count = rules.unit_begin[unit + 1] - rules.unit_begin[unit]
    if state.size[slot] == count:
        return slot, np.int64(-1), 0.0
    before, asked = state.value[slot], wanted.number[0]
    left = without_unit(state, rules, slot, unit, key)
    rest = evidence(table, wanted, rules.silent, key, left)
    for i in range(count):
        key[i] = rules.unit_record[rules.unit_begin[unit] + i]
    value = evidence(table, wanted, rules.silent, key, count)
    if wanted.number[0] > asked:
        return np.int64(-1), np.int64(-1), 0.0
    return part(state, rules, unit, value, rest), slot, before


@njit(cache=True)
def options(state, rules, table, wanted, candidates, unit, extra, own, seen, key, slots, values, log_weights):
    """
    Write the clusters that the unit in slot `own` may join, the evidence each then has, and their log weights.

    The weight against staying alone is p(joined)/p(alone) · m(c and a)/(m(c)·m(a)). With `extra` >= 0 that record is
    the only candidate. Returns the number of options.
    """
    gains = np.empty(rules.file_size.size)
    join_gains(state, rules, gains)
    number = 0
    stamp = seen[0] + 1
    seen[0] = stamp
    begin, end = rules.unit_begin[unit], rules.unit_begin[unit + 1]
    for t in range(begin, end):
        record = rules.unit_record[t]
        first, last = candidates.begin[record], candidates.begin[record + 1]
        if extra >= 0:
            first, last = np.int64(0), np.int64(1)
        for c in range(first, last):
            slot = state.label[extra if extra >= 0 else candidates.record[c]]
            if slot == own or seen[slot + 1] == stamp:
                continue
            # Clusters of several records want a strong candidate: there are so many of them, and few that fit.
            if extra < 0 and not candidates.strong[c] and state.size[slot] > 1:
                continue
            seen[slot + 1] = stamp
            if not permitted(state, rules, own, slot):
                continue
            gain = join_gain(state, rules, gains, own, slot)
            if gain == -np.inf:
                continue
            count = with_unit(state, rules, slot, unit, key)
            value = evidence(table, wanted, rules.silent, key, count)
            slots[number], values[number] = slot, value
            log_weights[number] = gain + value - state.value[slot] - state.value[own]
            number += 1
    return number


@njit(cache=True)
def most_options(rules, candidates, unit):
    """An upper bound of the number of options: candidates, one record more, and being alone."""
    total = 2
    for t in range(rules.unit_begin[unit], rules.unit_begin[unit + 1]):
        record = rules.unit_record[t]
        total += candidates.begin[record + 1] - candidates.begin[record]
    return total


@njit(cache=True)
def gibbs_label(rng, state, rules, table, wanted, candidates, unit, extra, seen):
    """Draw the cluster of one unit; 1 if it changed, 0 if not, MISSING if evidence is asked for and nothing drawn."""
    key = np.empty(rules.largest, dtype=np.int64)
    own, old, before = take_out(state, rules, table, wanted, unit, key)
    if own < 0:
        return MISSING
    most = most_options(rules, candidates, unit)
    slots, values, log_weights = np.empty(most, dtype=np.int64), np.empty(most), np.empty(most)
    number = options(state, rules, table, wanted, candidates, unit, extra, own, seen, key, slots, values, log_weights)
    found = old < 0
    for i in range(number):
        found = found or slots[i] == old
    if wanted.number[0] > 0 or not found:
        if old >= 0:
            join(state, rules, own, old, before)
        return MISSING if wanted.number[0] > 0 else 0
    log_weights[number] = 0.0
    chosen, _ = choose(rng, log_weights[: number + 1])
    if chosen == number:
        return 1 if old >= 0 else 0
    join(state, rules, own, slots[chosen], values[chosen])
    return 0 if slots[chosen] == old else 1


@njit(cache=True)
def gibbs_labels(rng, state, rules, table, wanted, candidates, begin, seen, counts):
    """Draw the clusters of all units from number `begin` on; return where evidence was missing, or their number."""
    units = rules.unit_begin.size - 1
    for unit in range(begin, units):
        result = gibbs_label(rng, state, rules, table, wanted, candidates, unit, np.int64(-1), seen)
        if result == MISSING:
            # Nothing is drawn while evidence is missing: these only ask.
            for later in range(unit + 1, min(unit + LOOK_AHEAD, units)):
                gibbs_label(rng, state, rules, table, wanted, candidates, later, np.int64(-1), seen)
            return unit
        counts[0] += 1
        counts[1] += result
    return units
