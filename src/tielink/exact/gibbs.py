"""Move 5, the workhorse: draw a record's label from its conditional, restricted to the nearest candidates."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import add_partner_gains, pair_gain
from tielink.exact.fit import draw, fit, log_density, quadratic_forms
from tielink.exact.state import (
    NOBODY,
    Info,
    bayes_factor,
    by_file,
    choose,
    join,
    log_gamma,
    part,
    place,
    position_of,
    prior_step,
    record_log_likelihood,
)


@njit(cache=True)
def _nearest(proposal, side, record, gain, number, state, target):
    """
    Unmatched records b with the smallest (u_b - m_a)' F_a (u_b - m_a) - 2 log omega_ab, in that order.

    With phi != 1, omega_ab counts what correlated ties would give the pair at m_a.
    """
    partner = (state.partner_a, state.partner_b)[1 - side]
    cost = np.empty(partner.size)
    quadratic_forms(proposal, (state.position_a, state.position_b)[1 - side], cost)
    add_partner_gains(state.correlation, proposal.mean, side, record, -2.0, state, target, cost)
    best = np.empty(number, dtype=np.int64)
    best_cost = np.empty(number)
    count = 0
    for j in range(partner.size):
        if partner[j] >= 0:
            continue
        value = cost[j] - 2.0 * (bayes_factor(target, side, record, j) + gain)
        if value == np.inf or (count == number and value >= best_cost[count - 1]):
            continue
        slot = count if count < number else number - 1
        while slot > 0 and best_cost[slot - 1] > value:
            best_cost[slot], best[slot] = best_cost[slot - 1], best[slot - 1]
            slot -= 1
        best_cost[slot], best[slot] = value, j
        count = min(count + 1, number)
    return best[:count]


@njit(cache=True)
def restricted_gibbs(rng, state, target, tuning, side, record):
    """
    Take the free record a of file `side` out and put it back: with one of C candidates, or alone.

    Weights: omega_ab e^{l_a(u_b)} for each candidate b, with phi != 1 times the pair's gain; gamma_a(u_r)/(M q_a(u_r))
    for each of M positions u_r, of which the first is a's own if it was single. The old partner is unmatched while we
    choose and competes like any other; the candidates depend on the rest only, so if it is not among them the move must
    do nothing.
    """
    old = (state.partner_a, state.partner_b)[side][record]
    if old >= 0:
        part(state, side, record, old)
    u_own = position_of(state, side, record)
    members = by_file(side, record, -1)
    proposal = fit(members, NOBODY, state, target)
    gain = prior_step(target, state) if state.matched[0] + 1 < target.log_prior.size else -np.inf
    candidates = _nearest(proposal, side, record, gain, tuning.candidates, state, target)
    count = candidates.size
    if old >= 0:
        found = False
        for i in range(count):
            found = found or candidates[i] == old
        if not found:
            join(state, side, record, old)
            return Info(0, 0)
    spread = state.spread[0]
    log_weights = np.empty(count + tuning.particles)
    points = np.empty((count + tuning.particles, u_own.size))
    for i in range(count):
        u = position_of(state, 1 - side, candidates[i])
        points[i] = u
        log_weights[i] = bayes_factor(target, side, record, candidates[i]) + gain
        log_weights[i] += record_log_likelihood(u, side, record, NOBODY[0], state, target)
        log_weights[i] += pair_gain(state.correlation, u, by_file(side, record, candidates[i]), NOBODY, state, target)
    for r in range(tuning.particles):
        u = u_own if (r == 0 and old < 0) else draw(rng, proposal, spread)
        points[count + r] = u
        log_weights[count + r] = log_gamma(u, members, NOBODY, state, target) - log_density(u, proposal, spread)
        log_weights[count + r] -= math.log(tuning.particles)
    chosen, _ = choose(rng, log_weights)
    place(state, side, record, points[chosen])
    if chosen >= count:
        return Info(1, 1 if old >= 0 else 0)
    join(state, side, record, candidates[chosen])
    return Info(1, 0 if candidates[chosen] == old else 1)
