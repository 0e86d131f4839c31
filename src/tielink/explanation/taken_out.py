"""A pair of records taken out of a drawn partition: what prior and shared ties say for joining the two.

What is taken out are units, records with those they are known to be one person with. Everybody else stays.
"""

import math
from typing import NamedTuple

import numpy as np

from tielink.kernels import njit
from tielink.sampler.moves.labels import put_in, take_out
from tielink.sampler.partition import Rules, join_gain, join_gains, permitted
from tielink.sampler.table import Table
from tielink.sampler.ties import TINY, Ties, _mark_neighbours, tie_gain


class Given(NamedTuple):
    """What weighing a pair depends on besides the draw."""

    rules: Rules
    ties: Ties
    table: Table
    """Nothing is looked up in it: what profiles say is weighed elsewhere."""


@njit
def _neighbours(state, given, a, b, own, other, into, begin):
    """
    Go through the neighbours of b that are one person with records in a's file.

    Return the gains of those whom b knows and a does not, summed, and their number. `into` has room for the pairs of
    neighbours that are one person and for their gains: write them from place `begin` on, unless there is no room for
    gains, and return the next place.
    """
    (rules, ties, _), (out, gains) = given, into
    f, near = rules.file_of[a], min(ties.theta[a], ties.theta[b])
    alone, count = 0.0, 0
    _mark_neighbours(ties, a)
    for t in range(ties.begin[b], ties.begin[b + 1]):
        j = ties.neighbour[t]
        slot = state.label[j]
        if near == 0.0 or slot in (own, other):
            continue
        unknown = False
        for m in range(state.size[slot]):
            i = state.member[slot, m]
            if rules.file_of[i] != f:
                continue
            common = math.expm1(ties.rho[0] * near * min(ties.theta[i], ties.theta[j]))
            if ties.mark[i + 1, 0] != ties.mark[0, 0]:
                alone += math.log(max(1.0 - ties.odds[t] * common, TINY))
                unknown = True
            elif gains.size:
                out[begin, 0], out[begin, 1] = i, j
                gains[begin] = math.log(1.0 + ties.odds[ties.mark[i + 1, 1]] * ties.odds[t] * common)
                begin += 1
        count += unknown
    return alone, count, begin


@njit
def weigh_pair(state, given, a, b):
    """
    Take two records out, weigh them, and put them back; S of the ties must be up to date.

    Returns the log prior odds of joining them (-inf if that is not allowed), the tie evidence, of which the pairs
    (i, j) of neighbours that are one person with their shares, and the share and number of neighbours of only one.
    """
    rules, ties, _ = given
    key = np.empty(rules.largest, dtype=np.int64)
    own, old, _ = take_out(state, given, rules.unit_of[a], key)
    other, older, _ = take_out(state, given, rules.unit_of[b], key)
    prior = -np.inf
    if permitted(state, rules, own, other):
        changes = np.empty(rules.file_size.size)
        join_gains(state, rules, changes)
        prior = join_gain(state, rules, changes, own, other)
    total = tie_gain(state, rules, ties, own, other)
    most = 0
    for t in range(state.size[other]):
        record = state.member[other, t]
        most += state.size[own] * (ties.begin[record + 1] - ties.begin[record]) * rules.largest
    who, gains = np.empty((most, 2), dtype=np.int64), np.empty(most)
    found, alone, count = 0, 0.0, 0
    for s in range(state.size[own]):
        for t in range(state.size[other]):
            x, y = state.member[own, s], state.member[other, t]
            hers, number, found = _neighbours(state, given, x, y, own, other, (who, gains), found)
            his, more, _ = _neighbours(state, given, y, x, own, other, (who, np.empty(0)), 0)
            alone += hers + his
            count += number + more
    if older >= 0:
        put_in(state, given, other, older, 0.0)
    if old >= 0:
        put_in(state, given, own, old, 0.0)
    power = ties.power[0]
    return prior, total, who[:found], power * gains[:found], power * alone, count
