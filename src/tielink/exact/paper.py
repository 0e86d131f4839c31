"""
The paper's algorithm as the reference: Neal's algorithm 5 with a new person's position drawn from its prior.

Labels are proposed uniformly from the values the record may take, positions and intercepts move by random walk, sigma^2
is conjugate, and pi and w are integrated out (they enter through `log_bf`). The acceptance ratio is the mended one: the
likelihood ratio times the linkage-prior ratio; the prior of the new position cancels against its proposal.

Every record's current log-likelihood is cached, so only proposals are ever evaluated.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.correlation import intercept_gain, pair_gain
from tielink.exact.positions import WalkInfo, persons
from tielink.exact.row import levels, row_levels, row_terms, squared_distances
from tielink.exact.spread import draw_spread
from tielink.exact.state import (
    NOBODY,
    Info,
    State,
    bayes_factor,
    by_file,
    join,
    log_prior_density,
    part,
    place,
    position_of,
    position_of_person,
    prior_step,
    record_log_likelihood,
    row_intercepts,
)
from tielink.exact.target import Target

MOVES = ("label", "position", "intercept", "spread")


class Cache(NamedTuple):
    """
    What a paper sweep remembers besides the state.

    Attributes
    ----------
    row_a, row_b : (n,) float64
        l_i at the current state: the log-likelihood of each record's row of ties.
    single_a, single_b : (n,) int64
        The unmatched records of each file, in no order; the first `singles[j]` entries count.
    slot_a, slot_b : (n,) int64
        Where in `single_*` a record stands.
    singles : (2,) int64
    """

    row_a: NDArray[np.float64]
    row_b: NDArray[np.float64]
    single_a: NDArray[np.int64]
    single_b: NDArray[np.int64]
    slot_a: NDArray[np.int64]
    slot_b: NDArray[np.int64]
    singles: NDArray[np.int64]


class PaperInfo(NamedTuple):
    """Counts (proposed, accepted) per move in the order of MOVES, and the walk's outcome per record."""

    counts: NDArray[np.int64]
    moved_a: NDArray[np.int8]
    moved_b: NDArray[np.int8]


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _scatter(terms, rows, temperature):
    """Add each term to its row; return their sum."""
    total = 0.0
    for j in range(terms.size):
        term = temperature * terms[j]
        total += term
        rows[j] += term
    return total


@njit(cache=True)
def _fill_rows(side, intercept, out, state, target):
    """Every record's row sum at this intercept, each dyad evaluated once; returns the file's log-likelihood."""
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    n = x.shape[1]
    for i in range(n):
        out[i] = 0.0
    total = 0.0
    if not target.observed[side]:
        return total
    u = np.empty(x.shape[0])
    squared, terms = np.empty(n), np.empty(n)
    sociality = (state.sociality_a, state.sociality_b)[side]
    for i in range(n - 1):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        tail, later = terms[i + 1 :], out[i + 1 :]
        beta = levels(row_levels(intercept, sociality, i), i + 1, n)
        row_terms(squared[i + 1 :], ties[i][i + 1 :], beta, target.link, tail)
        sum_here = _scatter(tail, later, target.temperature)
        out[i] += sum_here
        total += sum_here
    return total


@njit(cache=True)
def _list_singles(cache, state):
    for side in range(2):
        partner = (state.partner_a, state.partner_b)[side]
        cache.singles[side] = 0
        for i in range(partner.size):
            if partner[i] < 0:
                _add_single(cache, side, i)


@njit(cache=True)
def _add_single(cache, side, record):
    count = cache.singles[side]
    (cache.single_a, cache.single_b)[side][count] = record
    (cache.slot_a, cache.slot_b)[side][record] = count
    cache.singles[side] = count + 1


@njit(cache=True)
def _drop_single(cache, side, record):
    singles, slots = (cache.single_a, cache.single_b)[side], (cache.slot_a, cache.slot_b)[side]
    last = cache.singles[side] - 1
    singles[slots[record]] = singles[last]
    slots[singles[last]] = slots[record]
    cache.singles[side] = last


def init_cache(state: State, target: Target) -> Cache:
    """The cache of a state; call it again after anything but a paper sweep has changed the state."""
    n1, n2 = state.partner_a.size, state.partner_b.size
    cache = Cache(
        np.empty(n1),
        np.empty(n2),
        np.empty(n1, np.int64),
        np.empty(n2, np.int64),
        np.empty(n1, np.int64),
        np.empty(n2, np.int64),
        np.zeros(2, np.int64),
    )
    refresh(cache, state, target)
    return cache


@njit(cache=True)
def refresh(cache, state, target):
    """Recompute the cache in place."""
    for side in range(2):
        _fill_rows(side, state.intercept[side], (cache.row_a, cache.row_b)[side], state, target)
    _list_singles(cache, state)


@njit(cache=True)
def _move_record(u, side, record, value, cache, state, target):
    """Put the record at u, where its row sums to `value`, and bring the other rows of its file up to date."""
    if target.observed[side]:
        x = (state.position_a, state.position_b)[side]
        ties = (target.adjacency_a, target.adjacency_b)[side][record]
        rows = (cache.row_a, cache.row_b)[side]
        squared, before, after = np.empty(rows.size), np.empty(rows.size), np.empty(rows.size)
        for point, terms in ((position_of(state, side, record), before), (u, after)):
            squared_distances(point, x, squared)
            row_terms(squared, ties, row_intercepts(side, record, state), target.link, terms)
        for j in range(rows.size):
            rows[j] += target.temperature * (after[j] - before[j])
        rows[record] = value
    place(state, side, record, u)


@njit(cache=True)
def label(rng, state, target, cache, side, record):
    """
    Neal's algorithm 5 for one free record: a new label, uniform over 'new person' and the unmatched records.

    The set of values is the one with the record taken out, hence the same for the proposal and its reverse. A new
    person's position comes from N(0, sigma^2 I), whose density cancels. A known non-match has weight zero.
    """
    partner = (state.partner_a, state.partner_b)[side]
    old = partner[record]
    there = 1 - side
    if old >= 0:
        part(state, side, record, old)
        _add_single(cache, there, old)
    pick = rng.integers(0, cache.singles[there] + 1)
    # The last value stands for 'new person'.
    new = NOBODY[0]
    log_ratio = 0.0
    u = np.empty(target.dimension)
    if pick == cache.singles[there]:
        for k in range(u.size):
            u[k] = math.sqrt(state.spread[0]) * rng.standard_normal()
    else:
        new = (cache.single_a, cache.single_b)[there][pick]
        log_ratio += bayes_factor(target, side, record, new) + prior_step(target, state)
        u = position_of(state, there, new)
    if old >= 0:
        log_ratio -= bayes_factor(target, side, record, old) + prior_step(target, state)
    accept = False
    if new != old or new < 0:
        value = record_log_likelihood(u, side, record, NOBODY[0], state, target)
        log_ratio += value - (cache.row_a, cache.row_b)[side][record]
        log_ratio += pair_gain(state.correlation, u, by_file(side, record, new), NOBODY, state, target)
        at = position_of(state, side, record)
        log_ratio -= pair_gain(state.correlation, at, by_file(side, record, old), NOBODY, state, target)
        accept = math.log(rng.random()) < log_ratio
        if accept:
            _move_record(u, side, record, value, cache, state, target)
    # `single_*` of the record's own file lists it while it is single.
    after = new if accept else old
    if after >= 0:
        join(state, side, record, after)
        _drop_single(cache, there, after)
        if old < 0:
            _drop_single(cache, side, record)
    elif old >= 0:
        _add_single(cache, side, record)
    return Info(1, 1 if accept else 0)


@njit(cache=True)
def walk_positions(rng, state, target, tuning, cache):
    """Random-walk Metropolis for every person's position."""
    people = persons(state)
    moved_a = np.full(state.partner_a.size, -1, dtype=np.int8)
    moved_b = np.full(state.partner_b.size, -1, dtype=np.int8)
    accepted = 0
    values = np.zeros(2)
    for n in range(people.shape[0]):
        members = (people[n, 0], people[n, 1])
        step = tuning.step_a[members[0]] if members[0] >= 0 else tuning.step_b[members[1]]
        u = position_of_person(state, members)
        log_ratio = -log_prior_density(u, state.spread[0])
        log_ratio -= pair_gain(state.correlation, u, members, NOBODY, state, target)
        for k in range(u.size):
            u[k] += step * rng.standard_normal()
        log_ratio += log_prior_density(u, state.spread[0])
        log_ratio += pair_gain(state.correlation, u, members, NOBODY, state, target)
        for side in range(2):
            if members[side] >= 0:
                values[side] = record_log_likelihood(u, side, members[side], NOBODY[0], state, target)
                log_ratio += values[side] - (cache.row_a, cache.row_b)[side][members[side]]
        accept = math.log(rng.random()) < log_ratio
        if accept:
            accepted += 1
            for side in range(2):
                if members[side] >= 0:
                    _move_record(u, side, members[side], values[side], cache, state, target)
        if members[0] >= 0:
            moved_a[members[0]] = accept
        else:
            moved_b[members[1]] = accept
    return WalkInfo(people.shape[0], accepted, moved_a, moved_b)


@njit(cache=True)
def walk_cached_intercepts(rng, state, target, tuning, cache):
    """Random walk for each intercept; an accepted one brings fresh row sums, and so ends any drift of the cache."""
    proposed, accepted = 0, 0
    for side in range(2):
        if not target.observed[side]:
            continue
        proposed += 1
        rows = (cache.row_a, cache.row_b)[side]
        fresh = np.empty(rows.size)
        old = state.intercept[side]
        new = old + tuning.step_intercept[side] * rng.standard_normal()
        log_ratio = 0.5 * (old * old - new * new) / target.intercept_sd[side] ** 2
        log_ratio += _fill_rows(side, new, fresh, state, target)
        # Every dyad stands in two rows.
        log_ratio -= 0.5 * rows.sum()
        log_ratio += intercept_gain(side, old, new, state, target)
        if math.log(rng.random()) < log_ratio:
            accepted += 1
            state.intercept[side] = new
            for i in range(rows.size):
                rows[i] = fresh[i]
    return Info(proposed, accepted)


@njit(cache=True)
def paper_sweep(rng, state, target, tuning, cache):
    """One label proposal per free record, one position proposal per person, intercepts, spread."""
    counts = np.zeros((4, 2), dtype=np.int64)
    for side in range(2):
        anchors = (target.anchor_a, target.anchor_b)[side]
        for record in range(anchors.size):
            if anchors[record] < 0:
                info = label(rng, state, target, cache, side, record)
                counts[0, 0] += info.proposed
                counts[0, 1] += info.accepted
    if not (target.observed[0] or target.observed[1]):
        # Without a network positions are never looked at.
        return PaperInfo(counts, np.full(state.partner_a.size, -1, np.int8), np.full(state.partner_b.size, -1, np.int8))
    walk = walk_positions(rng, state, target, tuning, cache)
    counts[1, 0], counts[1, 1] = walk.proposed, walk.accepted
    info = walk_cached_intercepts(rng, state, target, tuning, cache)
    counts[2, 0], counts[2, 1] = info.proposed, info.accepted
    info = draw_spread(rng, state, target)
    counts[3, 0], counts[3, 1] = info.proposed, info.accepted
    return PaperInfo(counts, walk.moved_a, walk.moved_b)
