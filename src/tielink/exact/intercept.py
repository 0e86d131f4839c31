"""Intercepts beta_j by random walk."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import intercept_gain
from tielink.exact.row import levels, row_levels, squared_distances, sum_terms
from tielink.exact.state import Info


@njit(cache=True)
def file_log_likelihood(side, intercept, stretch, state, target):
    """Log-likelihood of all dyads of a file by themselves at this intercept, every distance times `stretch`."""
    if not target.observed[side]:
        return 0.0
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    squared = np.empty(x.shape[1])
    u = np.empty(x.shape[0])
    sociality = (state.sociality_a, state.sociality_b)[side]
    factor = stretch * stretch
    total = 0.0
    for i in range(x.shape[1] - 1):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        for j in range(squared.size):
            squared[j] *= factor
        beta = levels(row_levels(intercept, sociality, i), i + 1, squared.size)
        total += sum_terms(squared[i + 1 :], ties[i][i + 1 :], beta, target.link)
    return target.temperature * total


@njit(cache=True)
def walk_intercepts(rng, state, target, tuning):
    """One random-walk Metropolis step for each file that has a network."""
    proposed, accepted = 0, 0
    for side in range(2):
        if not target.observed[side]:
            continue
        proposed += 1
        old = state.intercept[side]
        new = old + tuning.step_intercept[side] * rng.standard_normal()
        log_ratio = 0.5 * (old * old - new * new) / target.intercept_sd[side] ** 2
        log_ratio += file_log_likelihood(side, new, 1.0, state, target)
        log_ratio -= file_log_likelihood(side, old, 1.0, state, target)
        log_ratio += intercept_gain(side, old, new, state, target)
        if math.log(rng.random()) < log_ratio:
            state.intercept[side] = new
            accepted += 1
    return Info(proposed, accepted)
