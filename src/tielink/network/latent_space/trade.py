"""Two records of one file trade places: each goes to the other's cluster. Where nearly everybody is linked, they must.

`Alike` draws the two records independently of the partition: mostly records whose profiles agree in all fields or in
all but one, so that profile evidence hardly changes. The reverse move draws the same two, so the proposal is symmetric.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import entry_of, njit
from tielink.model.problem import Problem
from tielink.network.latent_space.proposal import particle_evidence
from tielink.network.latent_space.row import dyad
from tielink.network.latent_space.space import place, position_of, record_row
from tielink.sampler.moves.labels import MISSING
from tielink.sampler.table import evidence

__all__ = ["Alike", "trade_places"]

NOTHING = -2
STAY, FRESH = 0, 1
"""Whether each of the two takes the other's position, or both clusters get a fresh one."""
FRESH_SHARE = 1 / 8
"""Fresh positions cost six times as much, and are accepted up to twice as often."""


class Alike:
    """Draws pairs of records of one file: equal in all fields, in all but one, or any two."""

    def __init__(self, problem: Problem) -> None:
        codes = np.column_stack([problem.file_of, *(field.codes for field in problem.fields)])
        fields = len(problem.fields)
        kept = [np.arange(fields + 1)]
        if fields > 1:
            kept += [np.delete(np.arange(fields + 1), 1 + field) for field in range(fields)]
        if fields:
            kept.append(np.zeros(1, dtype=np.int64))
        self.groups = []
        for columns in kept:
            _, group, size = np.unique(codes[:, columns], axis=0, return_inverse=True, return_counts=True)
            order = np.argsort(group.ravel(), kind="stable")
            several = order[size[group.ravel()[order]] > 1]
            if len(several):
                number = group.ravel()[several]
                begin = np.searchsorted(number, number)
                self.groups.append((several, begin, size[number]))

    def draw(self, rng: np.random.Generator, number: int) -> NDArray[np.int64]:
        """Return rows (record, record, what becomes of positions)."""
        plan = np.empty((number if self.groups else 0, 3), dtype=np.int64)
        kinds = rng.integers(0, max(len(self.groups), 1), len(plan))
        for kind, (record, begin, size) in enumerate(self.groups):
            rows = np.flatnonzero(kinds == kind)
            first = rng.integers(0, len(record), len(rows))
            second = begin[first] + rng.integers(0, size[first] - 1)
            second += second >= first
            plan[rows, 0], plan[rows, 1] = record[first], record[second]
        plan[:, 2] = np.where(rng.random(len(plan)) < FRESH_SHARE, FRESH, STAY)
        return plan


@njit
def _evidence_with(state, data, slot, out, into, key):
    """Write the members of a cluster with one record replaced by another; return their evidence, -inf if apart."""
    rules, count = data.rules, state.size[slot]
    for t in range(rules.apart_begin[into], rules.apart_begin[into + 1]):
        if rules.apart_record[t] != out and state.label[rules.apart_record[t]] == slot:
            return -np.inf
    place = 0
    for i in range(count):
        if state.member[slot, i] != out:
            key[place] = state.member[slot, i]
            place += 1
    while place > 0 and key[place - 1] > into:
        key[place] = key[place - 1]
        place -= 1
    key[place] = into
    if count == 2:
        entry = entry_of(data.lists.begin, data.lists.record, key[0], key[1])
        if entry >= 0:
            return data.lists.value[data.lists.pair[entry]]
    return evidence(data.table, key, count)


@njit
def _inside(members, count, u, v, layout, space):
    """Log-likelihood of the dyads between members, the first `count` of them at u, the others at v."""
    total, squared = 0.0, 0.0
    for k in range(u.size):
        squared += (u[k] - v[k]) ** 2
    for s in range(members.size):
        file = space.file_of[members[s]]
        for t in range(s):
            if space.file_of[members[t]] == file and space.observed[file]:
                tie = space.adjacency[members[s], members[t] - space.offset[file]]
                apart = squared if (s < count) != (t < count) else 0.0
                total += dyad(apart, tie, layout.intercept[file], space.link)
    return space.temperature * total


@njit
def _fresh(rng, state, latent, a, c, u, v):
    """
    What ties say to records a and c trading places, with fresh positions for both clusters.

    Evidences and fits leave out all dyads between the records of both, whose likelihoods enter by themselves. Returns
    the log ratio and the new positions.
    """
    count, other, particles = state.size[state.label[a]], state.size[state.label[c]], latent.tuning.particles
    here, there = state.member[state.label[a], :count].copy(), state.member[state.label[c], :other].copy()
    for record, members in ((a, here), (c, there)):  # these two first
        members[members == record], members[0] = members[0], record
    both, back = np.concatenate((here, there)), np.concatenate((there, here))
    ratio = -_inside(both, count, u, v, latent.layout, latent.space)
    old_here, _ = particle_evidence(rng, both, count, u, particles, latent)
    old_there, _ = particle_evidence(rng, back, other, v, particles, latent)
    ratio -= old_here + old_there
    both[0], both[count], back[0], back[other] = there[0], here[0], here[0], there[0]
    log_here, new_u = particle_evidence(rng, both, count, u[:0], particles, latent)
    log_there, new_v = particle_evidence(rng, back, other, u[:0], particles, latent)
    ratio += log_here + log_there + _inside(both, count, new_u, new_v, latent.layout, latent.space)
    return ratio, new_u, new_v


@njit
def _trade(rng, state, data, latent, row):
    """Let the two records of a row of the plan trade places; 1 if done, 0 if not, -2 if there is nothing to do."""
    rules, layout, space = data.rules, latent.layout, latent.space
    a, c = row[0], row[1]
    here, there = state.label[a], state.label[c]
    for record in (a, c):
        if rules.unit_begin[rules.unit_of[record] + 1] - rules.unit_begin[rules.unit_of[record]] > 1:
            return NOTHING
    if here == there or (state.size[here] == 1 and state.size[there] == 1):
        return NOTHING
    new_here, new_there = np.empty(state.size[here], dtype=np.int64), np.empty(state.size[there], dtype=np.int64)
    value_here = _evidence_with(state, data, here, a, c, new_here)
    value_there = _evidence_with(state, data, there, c, a, new_there)
    if data.table.missing[0] > 0:
        return MISSING
    # Profiles decide first and ties second. Each ratio inverts on the way back, and so does their product.
    if math.log(rng.random()) >= value_here + value_there - state.value[here] - state.value[there]:
        return 0
    u, v = position_of(layout, a), position_of(layout, c)
    if row[2] == STAY:
        pair = row[:2]
        log_ratio = record_row(v, a, pair, layout, space) + record_row(u, c, pair, layout, space)
        log_ratio -= record_row(u, a, pair, layout, space) + record_row(v, c, pair, layout, space)
    else:
        log_ratio, u, v = _fresh(rng, state, latent, a, c, u, v)
    if math.log(rng.random()) >= log_ratio:
        return 0
    state.member[here, : new_here.size], state.member[there, : new_there.size] = new_here, new_there
    state.value[here], state.value[there] = value_here, value_there
    state.label[a], state.label[c] = there, here
    place(layout, new_here, u)
    place(layout, new_there, v)
    return 1


@njit
def trade_places(rng, state, data, latent, plan, begin, counts):
    """Trade along the plan from row `begin` on; return where evidence was missing, or the number of rows."""
    for row in range(begin, len(plan)):
        result = _trade(rng, state, data, latent, plan[row])
        if result == MISSING:
            return row
        if result != NOTHING:
            counts[0] += 1
            counts[1] += result
    return len(plan)
