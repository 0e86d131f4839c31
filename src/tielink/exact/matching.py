"""The linkage when no file has a network: profiles alone decide, and no position is needed."""

import math

import numpy as np
from numba import njit

from tielink.exact.state import Info, bayes_factor, choose, is_anchor, join, part, prior_step


@njit(cache=True)
def gibbs_label(rng, state, target, side, record):
    """Draw the free record's label from its full conditional: alone (weight 1) or with any unmatched b (omega_ab)."""
    partner = (state.partner_a, state.partner_b)[side]
    others = (state.partner_a, state.partner_b)[1 - side]
    old = partner[record]
    if old >= 0:
        part(state, side, record, old)
    log_weights = np.full(others.size + 1, -np.inf)
    log_weights[others.size] = 0.0
    if state.matched[0] + 1 < target.log_prior.size:
        gain = prior_step(target, state)
        for j in range(others.size):
            if others[j] < 0:
                log_weights[j] = bayes_factor(target, side, record, j) + gain
    new, _ = choose(rng, log_weights)
    if new < others.size:
        join(state, side, record, new)
    else:
        new = -1
    return Info(1, 1 if new != old else 0)


@njit(cache=True)
def exchange(rng, state, target):
    """Two records of the first file, free and paired, exchange partners: accepted with the Bayes factors' ratio."""
    n1 = state.partner_a.size
    a, c = rng.integers(0, n1), rng.integers(0, n1)
    b, d = state.partner_a[a], state.partner_a[c]
    if a == c or b < 0 or d < 0 or is_anchor(target, 0, a) or is_anchor(target, 0, c):
        return Info(0, 0)
    log_bf = target.log_bf
    if math.log(rng.random()) >= log_bf[a, d] + log_bf[c, b] - log_bf[a, b] - log_bf[c, d]:
        return Info(1, 0)
    state.partner_a[a], state.partner_a[c] = d, b
    state.partner_b[d], state.partner_b[b] = a, c
    return Info(1, 1)
