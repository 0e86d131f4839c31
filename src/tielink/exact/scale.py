"""The scale move: stretch all positions at once and let the intercepts make up for it."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import total_gain
from tielink.exact.intercept import file_log_likelihood
from tielink.exact.row import squared_distances
from tielink.exact.state import Info


@njit(cache=True)
def _mean_distance(x):
    """Mean distance over the dyads of a file."""
    n = x.shape[1]
    squared, u = np.empty(n), np.empty(x.shape[0])
    total = 0.0
    for i in range(n):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        for j in range(n):
            total += math.sqrt(squared[j])
    return total / max(n * (n - 1), 1)


@njit(cache=True)
def scale(rng, state, target, tuning):
    """
    u -> c u, sigma^2 -> c^2 sigma^2, beta_j -> beta_j + (c - 1) dbar_j, with log c symmetric about 0.

    dbar_j, the mean distance in file j, grows by c as well, so 1/c undoes the move. The map's Jacobian is c^(N K + 2);
    the density of the N positions falls by c^(-N K), and what is left of both is c^2. Taking sigma^2 along frees the
    move from the N K positions' prior, which would hold log c to +-1/sqrt(2 N K).
    """
    log_c = tuning.step_scale[0] * rng.standard_normal()
    c = math.exp(log_c)
    log_ratio = 2.0 * log_c
    old_spread, new_spread = state.spread[0], state.spread[0] * c * c
    log_ratio += -(target.spread_shape + 1.0) * 2.0 * log_c - target.spread_scale * (
        1.0 / new_spread - 1.0 / old_spread
    )
    proposal = np.empty(2)
    for side in range(2):
        old = state.intercept[side]
        proposal[side] = old
        if target.observed[side]:
            new = old + (c - 1.0) * _mean_distance((state.position_a, state.position_b)[side])
            proposal[side] = new
            log_ratio += 0.5 * (old * old - new * new) / target.intercept_sd[side] ** 2
            log_ratio += file_log_likelihood(side, new, c, state, target)
            log_ratio -= file_log_likelihood(side, old, 1.0, state, target)
    log_ratio += total_gain(state.correlation, proposal[0], proposal[1], c, state, target)
    log_ratio -= total_gain(state.correlation, state.intercept[0], state.intercept[1], 1.0, state, target)
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    state.spread[0] = new_spread
    for side in range(2):
        state.intercept[side] = proposal[side]
        x = (state.position_a, state.position_b)[side]
        for k in range(x.shape[0]):
            for i in range(x.shape[1]):
                x[k, i] *= c
    return Info(1, 1)
