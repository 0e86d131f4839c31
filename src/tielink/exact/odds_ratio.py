"""The odds ratio phi of correlated ties, by random walk on its logarithm."""

import math

from numba import njit

from tielink.exact.correlation import total_gain
from tielink.exact.state import Info


@njit(cache=True)
def walk_correlation(rng, state, target, tuning):
    """One random-walk Metropolis step of log phi ~ N(0, sd^2)."""
    proposal = state.correlation + tuning.step_correlation[0] * rng.standard_normal()
    old, new = state.correlation[0], proposal[0]
    beta = state.intercept
    log_ratio = 0.5 * (old * old - new * new) / target.correlation_sd**2
    log_ratio += total_gain(proposal, beta[0], beta[1], 1.0, state, target)
    log_ratio -= total_gain(state.correlation, beta[0], beta[1], 1.0, state, target)
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    state.correlation[0] = new
    return Info(1, 1)
