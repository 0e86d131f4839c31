"""Particle evidence: an unbiased estimate of the integral of gamma_A, and a position chosen from its particles."""

import math

import numpy as np
from numba import njit

from tielink.exact.fit import draw, log_density
from tielink.exact.state import choose, log_gamma


@njit(cache=True)
def evidence(rng, proposal, members, skips, current, particles, state, target):
    """
    log Z_A, the mean over M particles of gamma_A(u_r)/q_A(u_r), and one particle chosen by weight.

    *Forward* when `current` is empty: all particles are drawn from q_A. *Conditional* when `current` is a position:
    it takes the first slot and the rest are drawn. A move that goes from one to the other is exact for any M.
    """
    dimension = proposal.mean.size
    spread = state.spread[0]
    points = np.empty((particles, dimension))
    log_weights = np.empty(particles)
    for r in range(particles):
        u = current if (r == 0 and current.size > 0) else draw(rng, proposal, spread)
        points[r] = u
        log_weights[r] = log_gamma(u, members, skips, state, target) - log_density(u, proposal, spread)
    chosen, log_total = choose(rng, log_weights)
    return log_total - math.log(particles), points[chosen].copy()
