"""Exchange two units: each goes to the other's cluster, or one of them is alone afterwards.

The two are drawn independently of the partition: a unit, a candidate of it, a candidate of that candidate. The reverse
move draws the same two, so the proposal is symmetric and the acceptance ratio is that of the posterior. Where nearly
every record is linked, other moves are hardly ever accepted.
"""

import math

import numpy as np

from tielink.kernels import entry_of, njit
from tielink.sampler.moves.labels import MISSING, joined_evidence, put_in, take_out
from tielink.sampler.partition import join_gain, join_gains, permitted
from tielink.sampler.ties import tie_gain


@njit
def rivals(rng, data, number):
    """A plan: rows of two units that share a candidate."""
    rules, lists = data.rules, data.lists
    plan, count = np.empty((number, 2), dtype=np.int64), 0
    for _ in range(number):
        record = rng.integers(0, rules.file_of.size)
        other = record
        for _ in range(2):
            if lists.begin[other] == lists.begin[other + 1]:
                break
            other = lists.record[rng.integers(lists.begin[other], lists.begin[other + 1])]
        if rules.unit_of[other] != rules.unit_of[record]:
            plan[count, 0], plan[count, 1] = rules.unit_of[record], rules.unit_of[other]
            count += 1
    return plan[:count]


@njit
def _weight(state, data, own, slot, key):
    """The log weight of the unit in slot `own` joining a cluster, and their evidence; 0 for slot -1, being alone."""
    if slot < 0:
        return 0.0, 0.0
    if not permitted(state, data.rules, own, slot):
        return -np.inf, 0.0
    entry = np.int64(-1)
    if state.size[own] == 1 and state.size[slot] == 1:
        entry = entry_of(data.lists.begin, data.lists.record, state.member[own, 0], state.member[slot, 0])
        if entry < 0:  # a pair off the list: neither made nor unmade here
            return -np.inf, 0.0
    gains = np.empty(data.rules.file_size.size)
    join_gains(state, data.rules, gains)
    value = joined_evidence(state, data, own, slot, entry, data.rules.unit_of[state.member[own, 0]], key)
    weight = join_gain(state, data.rules, gains, own, slot) + value - state.value[slot] - state.value[own]
    return weight + tie_gain(state, data.rules, data.ties, own, slot), value


@njit
def _both(state, data, first, to_first, second, to_second, key):
    """
    Put the units in two slots into two clusters (-1 for none), one after the other.

    Returns the log weight of that and whether it was done; it is not done, and nothing changed, if it may not be.
    """
    weight, value = _weight(state, data, first, to_first, key)
    if weight == -np.inf or data.table.missing[0] > 0:
        return -np.inf, False
    unit = data.rules.unit_of[state.member[first, 0]]
    if to_first >= 0:
        put_in(state, data, first, to_first, value)
    more, value = _weight(state, data, second, to_second, key)
    if more == -np.inf or data.table.missing[0] > 0:
        if to_first >= 0:
            take_out(state, data, unit, key)
        return -np.inf, False
    if to_second >= 0:
        put_in(state, data, second, to_second, value)
    return weight + more, True


@njit
def _exchange_two(rng, state, data, a, c):
    """Exchange units a and c; 1 if done, 0 if not, MISSING if evidence is asked for and nothing drawn."""
    rules = data.rules
    if state.label[rules.unit_record[rules.unit_begin[a]]] == state.label[rules.unit_record[rules.unit_begin[c]]]:
        return 0
    key = np.empty(rules.largest, dtype=np.int64)
    own_a, of_a, value_a = take_out(state, data, a, key)
    if own_a < 0:
        return MISSING
    own_c, of_c, value_c = take_out(state, data, c, key)
    if own_c < 0 or (of_a < 0 and of_c < 0):
        if of_a >= 0:
            put_in(state, data, own_a, of_a, value_a)
        return MISSING if own_c < 0 else 0
    old, _ = _both(state, data, own_a, of_a, own_c, of_c, key)
    possible = old > -np.inf
    if possible:
        if of_a >= 0:
            own_a, _, _ = take_out(state, data, a, key)
        if of_c >= 0:
            own_c, _, _ = take_out(state, data, c, key)
        new, done = _both(state, data, own_c, of_a, own_a, of_c, key)
        if done:
            if math.log(rng.random()) < new - old:
                return 1
            if of_a >= 0:
                own_c, _, _ = take_out(state, data, c, key)
            if of_c >= 0:
                own_a, _, _ = take_out(state, data, a, key)
    if of_a >= 0:
        put_in(state, data, state.label[rules.unit_record[rules.unit_begin[a]]], of_a, value_a)
    if of_c >= 0:
        put_in(state, data, state.label[rules.unit_record[rules.unit_begin[c]]], of_c, value_c)
    return MISSING if data.table.missing[0] > 0 else 0


@njit
def exchange_units(rng, state, data, plan, begin, counts):
    """Exchange the planned units from row `begin` on; return where evidence was missing, or the number of rows."""
    for row in range(begin, len(plan)):
        result = _exchange_two(rng, state, data, plan[row, 0], plan[row, 1])
        if result == MISSING:
            return row
        counts[0] += 1
        counts[1] += result
    return len(plan)
