"""Positions of clusters, intercepts and spread, who is whom held fixed: the two-file moves for any number of files."""

import math

import numpy as np
from numba import njit

from tielink.exact.clusters.correlation import cluster_gain, total_gain
from tielink.exact.clusters.space import fit_cluster, log_gamma, place, position_of
from tielink.exact.fit import draw, log_density
from tielink.exact.positions import WalkInfo
from tielink.exact.row import levels, row_levels, row_terms, squared_distances, sum_terms
from tielink.exact.scale import _mean_distance
from tielink.exact.state import Info, choose


@njit(cache=True)
def jump(rng, state, layout, space, tuning):
    """Conditional multiple-candidate jumps of `tuning.jumps` clusters, each that of a record drawn at random."""
    accepted = 0
    # A cluster of two is drawn twice as often as one of one, before a jump and after it.
    for _ in range(tuning.jumps):
        slot = state.label[rng.integers(0, state.label.size)]
        members, count = state.member[slot], state.size[slot]
        u = position_of(layout, space, members[0])
        proposal = fit_cluster(members, count, layout, space)
        points, log_weights = np.empty((tuning.particles + 1, u.size)), np.empty(tuning.particles + 1)
        for r in range(tuning.particles + 1):
            points[r] = u if r == 0 else draw(rng, proposal, layout.spread[0])
            log_weights[r] = log_gamma(points[r], members, count, layout, space)
            log_weights[r] += cluster_gain(points[r], slot, state, layout, space)
            log_weights[r] -= log_density(points[r], proposal, layout.spread[0])
        chosen, _ = choose(rng, log_weights)
        place(layout, space, members, count, points[chosen])
        if chosen > 0:
            accepted += 1
    return Info(tuning.jumps, accepted)


@njit(cache=True)
def walk(rng, state, layout, space, tuning):
    """Random-walk Metropolis for every cluster, with its first record's step; accepted with gamma_A(u*)/gamma_A(u)."""
    moved = np.full(state.label.size, -1, dtype=np.int8)
    proposed, accepted = 0, 0
    for slot in range(state.size.size):
        count = state.size[slot]
        if count == 0:
            continue
        members = state.member[slot]
        u = position_of(layout, space, members[0])
        proposal = np.empty(u.size)
        for k in range(u.size):
            proposal[k] = u[k] + tuning.step_a[members[0]] * rng.standard_normal()
        log_ratio = log_gamma(proposal, members, count, layout, space) - log_gamma(u, members, count, layout, space)
        log_ratio += cluster_gain(proposal, slot, state, layout, space)
        log_ratio -= cluster_gain(u, slot, state, layout, space)
        accept = math.log(rng.random()) < log_ratio
        proposed += 1
        if accept:
            place(layout, space, members, count, proposal)
            accepted += 1
        moved[members[0]] = accept
    return WalkInfo(proposed, accepted, moved, np.empty(0, dtype=np.int8))


@njit(cache=True)
def file_log_likelihood(file, intercept, stretch, layout, space):
    """Log-likelihood of all dyads of a file at this intercept, every distance multiplied by `stretch`."""
    if not space.observed[file]:
        return 0.0
    x, ties = layout.position[file], space.adjacency[file]
    squared, u = np.empty(x.shape[1]), np.empty(x.shape[0])
    total = 0.0
    for i in range(x.shape[1] - 1):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        for j in range(squared.size):
            squared[j] *= stretch * stretch
        beta = levels(row_levels(intercept, layout.sociality[file], i), i + 1, squared.size)
        total += sum_terms(squared[i + 1 :], ties[i][i + 1 :], beta, space.link)
    return space.temperature * total


@njit(cache=True)
def walk_intercepts(rng, state, layout, space, tuning):
    """One random-walk Metropolis step for each file that has a network."""
    proposed, accepted = 0, 0
    for file in range(space.observed.size):
        if not space.observed[file]:
            continue
        proposed += 1
        old = layout.intercept[file]
        new = old + tuning.step_intercept[file] * rng.standard_normal()
        log_ratio = 0.5 * (old * old - new * new) / space.intercept_sd[file] ** 2
        log_ratio += file_log_likelihood(file, new, 1.0, layout, space)
        log_ratio -= file_log_likelihood(file, old, 1.0, layout, space)
        proposal = layout.intercept.copy()
        proposal[file] = new
        log_ratio += total_gain(layout.correlation, proposal, 1.0, state, layout, space)
        log_ratio -= total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
        if math.log(rng.random()) < log_ratio:
            layout.intercept[file] = new
            accepted += 1
    return Info(proposed, accepted)


@njit(cache=True)
def scale(rng, state, layout, space, tuning):
    """u -> c u, sigma^2 -> c^2 sigma^2, beta_j -> beta_j + (c - 1) dbar_j; what is left of the Jacobian is c^2."""
    log_c = tuning.step_scale[0] * rng.standard_normal()
    c = math.exp(log_c)
    old_spread, new_spread = layout.spread[0], layout.spread[0] * c * c
    log_ratio = 2.0 * log_c - (space.spread_shape + 1.0) * 2.0 * log_c
    log_ratio -= space.spread_scale * (1.0 / new_spread - 1.0 / old_spread)
    proposal = layout.intercept.copy()
    for file in range(proposal.size):
        if space.observed[file]:
            old = layout.intercept[file]
            new = old + (c - 1.0) * _mean_distance(layout.position[file])
            proposal[file] = new
            log_ratio += 0.5 * (old * old - new * new) / space.intercept_sd[file] ** 2
            log_ratio += file_log_likelihood(file, new, c, layout, space)
            log_ratio -= file_log_likelihood(file, old, 1.0, layout, space)
    log_ratio += total_gain(layout.correlation, proposal, c, state, layout, space)
    log_ratio -= total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    layout.spread[0] = new_spread
    layout.intercept[:] = proposal
    for file in range(proposal.size):
        x = layout.position[file]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                x[k, i] *= c
    return Info(1, 1)


@njit(cache=True)
def draw_spread(rng, state, layout, space):
    """sigma^2 | rest ~ InvGamma(shape + N K/2, scale + sum |u_n|^2/2), one position per *person*."""
    total = 0.0
    for slot in range(state.size.size):
        if state.size[slot] > 0:
            u = position_of(layout, space, state.member[slot, 0])
            for k in range(u.size):
                total += u[k] * u[k]
    shape = space.spread_shape + 0.5 * state.number[0] * space.dimension
    layout.spread[0] = (space.spread_scale + 0.5 * total) / rng.standard_gamma(shape)
    return Info(1, 1)


@njit(cache=True)
def dyad_log_likelihoods(file, layout, space, out):
    """Write log p(y_d) of all dyads i < i' of a file, row by row, into `out`."""
    x, ties = layout.position[file], space.adjacency[file]
    n = x.shape[1]
    squared, u = np.empty(n), np.empty(x.shape[0])
    begin = 0
    for i in range(n - 1):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        end = begin + n - 1 - i
        beta = levels(row_levels(layout.intercept[file], layout.sociality[file], i), i + 1, n)
        row_terms(squared[i + 1 :], ties[i][i + 1 :], beta, space.link, out[begin:end])
        begin = end
