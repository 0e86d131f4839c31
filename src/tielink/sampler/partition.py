"""A partition of records into clusters, the rules it keeps, and the small acts every move is made of.

What moves is a *unit*: a record, or records that are known to be one person. Records are numbered file after file, and
the members of a cluster are kept in that order.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit

PAIRS, ONE_PER_FILE, FREE = 0, 1, 2


class Clusters(NamedTuple):
    """
    Who is whom, and the hyperparameters of the linkage prior.

    Attributes
    ----------
    label : (I,) int64
        The slot of each record's cluster.
    member : (I, largest) int64
        The records of the cluster in each slot, increasing; -1 beyond its size.
    size : (I,) int64
        0 for an empty slot.
    value : (I,) float64
        Profile evidence E(c) = log m(values of c) - sum of log m(each record's values); 0 for one record.
    spare : (I,) int64
        A stack of empty slots.
    number : (2,) int64
        Number of clusters N, and height of the stack.
    first : (J,) int64
        Number of clusters whose first record is in file j.
    prior : (2,) float64
        theta and d of a prior on cluster sizes.
    log_size : (largest + 1,) float64
        Its log s! c_s, from s = 1 on.
    """

    label: NDArray[np.int64]
    member: NDArray[np.int64]
    size: NDArray[np.int64]
    value: NDArray[np.float64]
    spare: NDArray[np.int64]
    number: NDArray[np.int64]
    first: NDArray[np.int64]
    prior: NDArray[np.float64]
    log_size: NDArray[np.float64]


class Rules(NamedTuple):
    """
    What does not change: which partitions are allowed, and their prior.

    Attributes
    ----------
    mode : int
        PAIRS: log p is known by the number of matches; ONE_PER_FILE; FREE: known by cluster sizes.
    largest : int
        The most records of a cluster.
    file_of : (I,) int64
    unit_of : (I,) int64
    unit_begin, unit_record : (U + 1,) and (I,) int64
        The records of each unit.
    apart_begin, apart_record : (I + 1,) and (2 known,) int64
        The known non-matches of each record, increasing.
    log_by_matches : float64
        PAIRS: log p of any partition with m matches besides the anchors.
    rate : (2,) float64
        ONE_PER_FILE: a and b of the match rates.
    file_size, settled : (J,) int64
        Records of each file; how many of them are anchored to an earlier file.
    """

    mode: int
    largest: int
    file_of: NDArray[np.int64]
    unit_of: NDArray[np.int64]
    unit_begin: NDArray[np.int64]
    unit_record: NDArray[np.int64]
    apart_begin: NDArray[np.int64]
    apart_record: NDArray[np.int64]
    log_by_matches: NDArray[np.float64]
    rate: NDArray[np.float64]
    file_size: NDArray[np.int64]
    settled: NDArray[np.int64]


def clusters_of(labels: NDArray[np.integer], rules: Rules) -> Clusters:
    """Return the partition of records by their labels; evidence is still to be looked up."""
    records = len(labels)
    _, head, label, size = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
    persons, order = len(head), np.argsort(label, kind="stable")
    member = np.full((records, rules.largest), -1, dtype=np.int64)
    member[label[order], np.arange(records) - (np.cumsum(size) - size)[label[order]]] = order
    spare = np.zeros(records, dtype=np.int64)
    spare[: records - persons] = np.arange(persons, records)[::-1]
    return Clusters(
        label.astype(np.int64),
        member,
        np.bincount(label, minlength=records),
        np.zeros(records),
        spare,
        np.array([persons, records - persons]),
        np.bincount(rules.file_of[head], minlength=len(rules.file_size)),
        np.ones(2),
        np.zeros(rules.largest + 1),
    )


@njit
def with_unit(state, rules, slot, unit, out):
    """Write the members of a cluster and of a unit outside of it into `out`, increasing; return their number."""
    count = state.size[slot]
    for i in range(count):
        out[i] = state.member[slot, i]
    for t in range(rules.unit_begin[unit], rules.unit_begin[unit + 1]):
        record = rules.unit_record[t]
        place = count
        while place > 0 and out[place - 1] > record:
            out[place] = out[place - 1]
            place -= 1
        out[place] = record
        count += 1
    return count


@njit
def without_unit(state, rules, slot, unit, out):
    """Write the members of a cluster that are not in the unit into `out`; return their number."""
    count = 0
    for i in range(state.size[slot]):
        if rules.unit_of[state.member[slot, i]] != unit:
            out[count] = state.member[slot, i]
            count += 1
    return count


@njit(forceinline=True)
def permitted(state, rules, own, other):
    """Whether the cluster in slot `own` may join that in `other`: size, files and known non-matches."""
    if state.size[own] + state.size[other] > rules.largest:
        return False
    for i in range(state.size[own]):
        record = state.member[own, i]
        if rules.mode != FREE:
            for h in range(state.size[other]):
                if rules.file_of[state.member[other, h]] == rules.file_of[record]:
                    return False
        for t in range(rules.apart_begin[record], rules.apart_begin[record + 1]):
            if state.label[rules.apart_record[t]] == other:
                return False
    return True


@njit
def log_overlap(first, rules):
    """
    log p of one partition under ONE_PER_FILE, up to a constant; see `OnePerFile.log_probability`.

    The sum over files of log B(m + a, n - m + b) + log (n' - m)!/n'!, with m matches to earlier files, n and n' the
    smaller and the larger of the numbers of records here and of persons before.
    """
    total, before, a, b = 0.0, first[0], rules.rate[0], rules.rate[1]
    for j in range(1, first.size):
        here, known = rules.file_size[j] - rules.settled[j], before - rules.settled[j]
        m, least, most = here - first[j], min(here, known), max(here, known)
        rate = math.lgamma(m + a) + math.lgamma(least - m + b) - math.lgamma(least + a + b)
        total += rate + math.lgamma(most - m + 1.0) - math.lgamma(most + 1.0)
        before += first[j]
    return total


@njit
def join_gains(state, rules, out):
    """
    What a join of two clusters changes in log p, apart from their sizes, by the later of their first files.

    To be asked for in the state before the join.
    """
    if rules.mode == PAIRS:
        m = rules.unit_begin.size - 1 - state.number[0]
        gain = -np.inf
        if m + 1 < rules.log_by_matches.size:
            gain = rules.log_by_matches[m + 1] - rules.log_by_matches[m]
        out[:] = gain
    elif rules.mode == FREE:
        out[:] = -math.log(state.prior[0] + state.prior[1] * (state.number[0] - 1))
    else:
        first = state.first.copy()
        now = log_overlap(first, rules)
        for j in range(out.size):
            out[j] = -np.inf
            if first[j] > 0:
                first[j] -= 1
                out[j] = log_overlap(first, rules) - now
                first[j] += 1


@njit(forceinline=True)
def join_gain(state, rules, gains, own, other):
    """log p gained when the clusters in two slots become one."""
    gain = gains[rules.file_of[max(state.member[own, 0], state.member[other, 0])]]
    if rules.mode == FREE:
        together = state.size[own] + state.size[other]
        gain += state.log_size[together] - state.log_size[state.size[own]] - state.log_size[state.size[other]]
    return gain


@njit
def join(state, rules, own, other, value):
    """Put the cluster of one unit in slot `own` into that in `other`, whose evidence becomes `value`."""
    state.first[rules.file_of[max(state.member[own, 0], state.member[other, 0])]] -= 1
    unit = rules.unit_of[state.member[own, 0]]
    state.size[other] = with_unit(state, rules, other, unit, state.member[other])
    for i in range(state.size[own]):
        state.label[state.member[own, i]] = other
        state.member[own, i] = -1
    state.value[other], state.size[own], state.value[own] = value, 0, 0.0
    state.spare[state.number[1]] = own
    state.number[1] += 1
    state.number[0] -= 1


@njit
def part(state, rules, unit, value, rest):
    """Take a unit out of its cluster into a slot of its own, which is returned; both evidences are given."""
    slot = state.label[rules.unit_record[rules.unit_begin[unit]]]
    before = state.size[slot]
    state.size[slot] = without_unit(state, rules, slot, unit, state.member[slot])
    for i in range(state.size[slot], before):
        state.member[slot, i] = -1
    state.number[1] -= 1
    own = state.spare[state.number[1]]
    state.size[own] = 0
    state.size[own] = with_unit(state, rules, own, unit, state.member[own])
    for i in range(state.size[own]):
        state.label[state.member[own, i]] = own
    state.value[own], state.value[slot] = value, rest
    state.number[0] += 1
    state.first[rules.file_of[max(state.member[own, 0], state.member[slot, 0])]] += 1
    return own
