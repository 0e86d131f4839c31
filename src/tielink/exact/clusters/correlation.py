"""Correlated ties among clusters of any number of files; see `exact.correlation` for pairs of two.

Two persons who share files j1 < j2 < ... have a dyad in each. Over these the dyads are a Markov chain in the order of
the files, neighbours a bivariate Bernoulli with odds ratio phi: no margin changes, and over independence the chain
gains the product of P(y_t, y_t+1)/(P(y_t) P(y_t+1)). A person has at most one record in a file; records that take no
part (egos) and files without a network are passed over.

`log_phi` is `Layout.correlation` (or a proposal for it), an array of one. Where it is None phi is 1 and every function
here is compiled to the constant 0.
"""

import math

import numpy as np
from numba import njit

from tielink.exact.clusters.space import position_of
from tielink.exact.correlation import dyad_ratio
from tielink.exact.row import sociality_of
from tielink.exact.state import Info

MOVES = ("correlation",)


@njit(cache=True)
def _between(log_phi, distance, first, first_size, second, second_size, intercept, layout, space):
    """Log of what the dyads between two persons gain; records increase, so files do."""
    total, i, j = 0.0, 0, 0
    started, eta, sign = False, 0.0, 0.0
    while i < first_size and j < second_size:
        a, b = first[i], second[j]
        file = space.file_of[a]
        if file < space.file_of[b]:
            i += 1
            continue
        if file > space.file_of[b]:
            j += 1
            continue
        i, j = i + 1, j + 1
        if not (space.observed[file] and space.correlated[a] and space.correlated[b]):
            continue
        a, b = a - space.offset[file], b - space.offset[file]
        sociality, before, before_sign = layout.sociality[file], eta, sign
        sign = 1.0 if space.adjacency[file][a, b] else -1.0
        eta = sign * (intercept[file] + sociality_of(sociality, a) + sociality_of(sociality, b) - distance)
        if started:
            total += math.log(dyad_ratio(before, eta, math.exp(log_phi[0] * before_sign * sign), space.link))
        started = True
    return total


@njit(cache=True)
def group_gain(log_phi, u, members, count, skip, other_skip, state, layout, space):
    """What these records of one person at u gain with every cluster but those in two slots."""
    if log_phi is None:
        return 0.0
    total = 0.0
    if count < 2:
        return total
    for slot in range(state.size.size):
        if state.size[slot] < 2 or slot in (skip, other_skip):
            continue
        v = position_of(layout, space, state.member[slot, 0])
        squared = 0.0
        for k in range(u.size):
            squared += (u[k] - v[k]) ** 2
        total += _between(
            log_phi, math.sqrt(squared), members, count, state.member[slot], state.size[slot], layout.intercept, layout,
            space,
        )  # fmt: skip
    return space.temperature * total


@njit(cache=True)
def cluster_gain(u, slot, state, layout, space):
    """What the cluster in a slot gains at u with every other one."""
    members, count = state.member[slot], state.size[slot]
    return group_gain(layout.correlation, u, members, count, slot, slot, state, layout, space)


@njit(cache=True)
def joined_gain(u, own, slot, both, count, state, layout, space):
    """What the cluster in `slot` gains at u by the records in `own`, so that it holds the `both`."""
    phi, members, size = layout.correlation, state.member[slot], state.size[slot]
    gained = group_gain(phi, u, both, count, own, slot, state, layout, space)
    return gained - group_gain(phi, u, members, size, own, slot, state, layout, space)


@njit(cache=True)
def total_gain(log_phi, intercept, stretch, state, layout, space):
    """What all clusters gain, at any log phi and intercepts, every distance times `stretch`."""
    if log_phi is None:
        return 0.0
    slots = np.flatnonzero(state.size > 1)
    where = np.empty((slots.size, space.dimension))
    total = 0.0
    for p in range(slots.size):
        one = slots[p]
        where[p] = position_of(layout, space, state.member[one, 0])
        for q in range(p):
            other = slots[q]
            squared = 0.0
            for k in range(space.dimension):
                squared += (where[p, k] - where[q, k]) ** 2
            total += _between(
                log_phi, stretch * math.sqrt(squared), state.member[one], state.size[one], state.member[other],
                state.size[other], intercept, layout, space,
            )  # fmt: skip
    return space.temperature * total


@njit(cache=True)
def walk_correlation(rng, state, layout, space, tuning):
    """One random-walk Metropolis step of log phi ~ N(0, sd^2)."""
    proposal = layout.correlation + tuning.step_correlation[0] * rng.standard_normal()
    old, new = layout.correlation[0], proposal[0]
    log_ratio = 0.5 * (old * old - new * new) / space.correlation_sd**2
    log_ratio += total_gain(proposal, layout.intercept, 1.0, state, layout, space)
    log_ratio -= total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    layout.correlation[0] = new
    return Info(1, 1)
