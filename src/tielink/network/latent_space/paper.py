"""
The paper's algorithm for pairs between two files: Neal's algorithm 5, a new person's position drawn from its prior.

Labels are proposed uniformly from the values the record may take, positions and intercepts move by random walk, sigma^2
is conjugate, and pi and w are integrated out (they enter through the profile evidence). The acceptance ratio is the
mended one: the likelihood ratio times the linkage-prior ratio; the prior of the new position cancels against its
proposal.

Every record's current log-likelihood is cached, so only proposals are ever evaluated.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import entry_of, njit
from tielink.network.latent_space.part import LatentSpacePart
from tielink.network.latent_space.row import row_terms, squared_distances
from tielink.network.latent_space.scalars import draw_spread
from tielink.network.latent_space.space import Latent, log_prior_density, place, position_of, record_row, ties_of
from tielink.network.part import Arrays
from tielink.sampler.moves.labels import MISSING, put_in, take_out
from tielink.sampler.table import evidence

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["PaperPart"]

NEW = -2
"""The label of a new person; -1 is none yet."""


class PaperPart(LatentSpacePart):
    """The latent space, moved by the paper's algorithm and nothing else."""

    moves: ClassVar[tuple[str, ...]] = ("label", "position", "intercept", "spread")
    partition_moves = False

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        self.rows = np.zeros(chain.problem.records)
        """l_i at the current state: the log-likelihood of each record's row of ties."""

    def begin(self) -> None:
        """Put everybody at random; anchors are linked and nobody else."""
        rng, space, state = self.chain.rng, self.space, self.chain.state
        deviation = math.sqrt(self.layout.spread[0])
        for slot in np.flatnonzero(state.size):
            place(self.layout, state.member[slot, : state.size[slot]], deviation * rng.normal(size=self.dimension))
        self.layout.intercept[:] = rng.normal(size=2) * np.minimum(space.intercept_sd, 1.0)
        self.remember()

    def remember(self) -> None:
        """Sum up every record's row of ties afresh."""
        fill_rows(self.rows, self.latent)

    def holds_rates(self, warmup_sweep: int | None) -> bool:
        """Never: the paper's algorithm moves everything from the beginning."""
        return False

    def advance(self, warmup_sweep: int | None) -> Arrays:
        """Propose one label for each free record, one position for each person, intercepts and spread."""
        chain, rules, known, latent = self.chain, self.chain.rules, self.rows, self.latent
        counts: Arrays = {name: np.zeros(2, dtype=np.int64) for name in self.moves}
        free = np.flatnonzero(np.diff(rules.unit_begin)[rules.unit_of] == 1)
        plan = np.column_stack([free, np.full(len(free), -1)])
        counts["label"] = chain.run(
            lambda rng, state, data, plan, begin, counts: labels(rng, state, data, latent, known, plan, begin, counts),
            plan,
        )
        if self.space.observed.any():  # otherwise positions are never looked at
            moved = walk_positions(chain.rng, chain.state, latent, known, counts["position"])
            walk_cached_intercepts(chain.rng, latent, known, counts["intercept"])
            draw_spread(chain.rng, chain.state, latent, counts["spread"])
            if warmup_sweep is not None:
                self._adapt(warmup_sweep, moved, counts)
        return counts

    def arrays(self) -> Arrays:
        """Return the arrays that change; row sums are kept up by differences, so summing afresh would change them."""
        return super().arrays() | {"rows": self.rows}


def fill_rows(known: NDArray[np.float64], latent: Latent) -> None:
    """Sum up every record's row of ties."""
    layout, space = latent.layout, latent.space
    for file, intercept in enumerate(layout.intercept):
        _fill_rows(file, intercept, known[space.offset[file] : space.offset[file + 1]], layout, space)


@njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _scatter(terms, rows, temperature):
    """Add each term to its row; return their sum."""
    total = 0.0
    for j in range(terms.size):
        term = temperature * terms[j]
        total += term
        rows[j] += term
    return total


@njit
def _fill_rows(file, intercept, out, layout, space):
    """Every record's row sum at this intercept, each dyad evaluated once; returns the file's log-likelihood."""
    out[:] = 0.0
    total, begin = 0.0, space.offset[file]
    if not space.observed[file]:
        return total
    squared, terms = np.empty(out.size), np.empty(out.size)
    for i in range(out.size - 1):
        squared_distances(position_of(layout, begin + i), layout.position, begin, squared)
        tail, later = terms[i + 1 :], out[i + 1 :]
        row_terms(squared[i + 1 :], ties_of(space, begin + i)[i + 1 :], intercept, space.link, tail)
        sum_here = _scatter(tail, later, space.temperature)
        out[i] += sum_here
        total += sum_here
    return total


@njit
def _move_record(u, record, value, known, layout, space):
    """Bring the other rows of a file up to date with a record's move to u, where its own row sums to `value`."""
    file = space.file_of[record]
    if not space.observed[file]:
        return
    begin, ties = space.offset[file], ties_of(space, record)
    rows = known[begin : space.offset[file + 1]]
    squared, before, after = np.empty(rows.size), np.empty(rows.size), np.empty(rows.size)
    for point, terms in ((position_of(layout, record), before), (u, after)):
        squared_distances(point, layout.position, begin, squared)
        row_terms(squared, ties, layout.intercept[file], space.link, terms)
    for j in range(rows.size):
        rows[j] += space.temperature * (after[j] - before[j])
    known[record] = value


@njit
def _label(rng, state, data, latent, known, row):
    """
    Neal's algorithm 5 for the free record row[0]: a new label, uniform over 'new person' and the unmatched records.

    The set of values is the one with the record taken out, hence the same for the proposal and its reverse. A new
    person's position comes from N(0, sigma^2 I), whose density cancels. A known non-match has weight zero. The value
    that was picked is kept in row[1], for the case that its evidence is missing and has to be asked for.
    """
    rules, lists, layout, space, record = data.rules, data.lists, latent.layout, latent.space, row[0]
    own, there = state.label[record], 1 - space.file_of[record]
    linked = state.size[own] == 2
    partner = state.member[own, 0] + state.member[own, 1] - record if linked else np.int64(-1)
    # Once the record is taken out, its partner is unmatched, too.
    values = rules.file_size[there] - (rules.file_of.size - state.number[0]) + linked
    if row[1] < 0:
        row[1] = NEW
        if rng.integers(0, values + 1) < values:
            row[1] = rng.integers(space.offset[there], space.offset[there + 1])
            while row[1] != partner and state.size[state.label[row[1]]] == 2:
                row[1] = rng.integers(space.offset[there], space.offset[there + 1])
    if linked and row[1] == partner:
        return 0
    matches = rules.unit_begin.size - 1 - state.number[0] - linked
    gain = rules.log_by_matches[matches + 1] - rules.log_by_matches[matches]
    log_ratio, value, new = -(state.value[own] + gain) if linked else 0.0, 0.0, np.int64(-1)
    u, alone = np.empty(space.dimension), row[:1]
    if row[1] != NEW:
        new = row[1]
        entry = entry_of(lists.begin, lists.record, record, new)
        if entry >= 0:
            value = lists.value[lists.pair[entry]]
        elif entry_of(rules.apart_begin, rules.apart_record, record, new) >= 0:
            value = -np.inf
        else:
            value = evidence(data.table, np.array([min(record, new), max(record, new)]), 2)
            if data.table.missing[0] > 0:
                return MISSING
        log_ratio += value + gain
        u = position_of(layout, new)
    else:
        for k in range(u.size):
            u[k] = math.sqrt(layout.spread[0]) * rng.standard_normal()
    proposed = record_row(u, record, alone, layout, space)
    if math.log(rng.random()) >= log_ratio + proposed - known[record]:
        return 0
    _move_record(u, record, proposed, known, layout, space)
    place(layout, alone, u)
    if linked:
        own, _, _ = take_out(state, data, rules.unit_of[record], np.empty(2, dtype=np.int64))
    if new >= 0:
        put_in(state, data, own, state.label[new], value)
    return 1


@njit
def labels(rng, state, data, latent, known, plan, begin, counts):
    """Propose a label for each planned record from row `begin` on; return where evidence was missing."""
    for row in range(begin, len(plan)):
        result = _label(rng, state, data, latent, known, plan[row])
        if result == MISSING:
            return row
        counts[0] += 1
        counts[1] += result
    return len(plan)


@njit
def walk_positions(rng, state, latent, known, counts):
    """Random-walk Metropolis for every person's position; returns what became of each, as `positions.walk` does."""
    layout, space = latent.layout, latent.space
    moved = np.full(state.label.size, -1, dtype=np.int8)
    values = np.zeros(2)
    for slot in range(state.size.size):
        if state.size[slot] == 0:
            continue
        members = state.member[slot, : state.size[slot]]
        u = position_of(layout, members[0])
        log_ratio = -log_prior_density(u, layout.spread[0])
        for k in range(u.size):
            u[k] += latent.tuning.step[members[0]] * rng.standard_normal()
        log_ratio += log_prior_density(u, layout.spread[0])
        for t in range(members.size):
            values[t] = record_row(u, members[t], members, layout, space)
            log_ratio += values[t] - known[members[t]]
        accept = math.log(rng.random()) < log_ratio
        if accept:
            for t in range(members.size):
                _move_record(u, members[t], values[t], known, layout, space)
            place(layout, members, u)
        moved[members[0]] = accept
        counts[0] += 1
        counts[1] += accept
    return moved


@njit
def walk_cached_intercepts(rng, latent, known, counts):
    """Random walk for each intercept; an accepted one brings fresh row sums, and so ends any drift of those known."""
    layout, space = latent.layout, latent.space
    for file in range(2):
        if not space.observed[file]:
            continue
        rows = known[space.offset[file] : space.offset[file + 1]]
        fresh, old = np.empty(rows.size), layout.intercept[file]
        new = old + latent.tuning.step_intercept[file] * rng.standard_normal()
        log_ratio = 0.5 * (old * old - new * new) / space.intercept_sd[file] ** 2
        log_ratio += _fill_rows(file, new, fresh, layout, space)
        # Every dyad stands in two rows.
        log_ratio -= 0.5 * rows.sum()
        accept = math.log(rng.random()) < log_ratio
        if accept:
            layout.intercept[file] = new
            rows[:] = fresh
        counts[0] += 1
        counts[1] += accept
