"""Restricted Gibbs draws of who is whom when there are ties: move 5 of the two-file sampler, for clusters of any size.

Only the unit that is taken out moves, so the others' positions stay and nothing has to factorise.
"""

import math

import numpy as np
from numba import njit

from tielink.exact.clusters.correlation import cluster_gain, joined_gain
from tielink.exact.clusters.labels import LOOK_AHEAD, MISSING, most_options, options, take_out
from tielink.exact.clusters.space import fit_cluster, log_gamma, place, position_of, rows
from tielink.exact.clusters.state import join, with_unit
from tielink.exact.fit import draw, log_density
from tielink.exact.state import choose


@njit(cache=True)
def _nearest(proposal, layout, space, state, slots, log_weights, number, most):
    """Of the options, the `most` with the smallest (u_c - m)'F(u_c - m) - 2 log omega."""
    best, best_cost = np.empty(most, dtype=np.int64), np.empty(most)
    count = 0
    for option in range(number):
        u = position_of(layout, space, state.member[slots[option], 0])
        cost = -2.0 * log_weights[option]
        for h in range(u.size):
            v = 0.0
            for k in range(h, u.size):
                v += proposal.factor[k, h] * (u[k] - proposal.mean[k])
            cost += v * v
        if count == most and cost >= best_cost[count - 1]:
            continue
        slot = count if count < most else most - 1
        while slot > 0 and best_cost[slot - 1] > cost:
            best_cost[slot], best[slot] = best_cost[slot - 1], best[slot - 1]
            slot -= 1
        best_cost[slot], best[slot] = cost, option
        count = min(count + 1, most)
    return best[:count]


@njit(cache=True)
def gibbs_place(rng, state, rules, table, wanted, candidates, layout, space, tuning, unit, extra, seen):
    """
    Take a unit a out and put it back: into one of its most plausible clusters, or alone.

    Weights: omega_ac e^{l_a(u_c)} for each cluster c, gamma_a(u_r)/(M q_a(u_r)) for each of M positions u_r, of which
    the first is a's own if it was alone; with phi != 1 each has what correlated ties give. Returns 1 if a's cluster
    changed, 0 if not, MISSING if evidence is asked for.
    """
    key = np.empty(rules.largest, dtype=np.int64)
    first = rules.unit_record[rules.unit_begin[unit]]
    u_own = position_of(layout, space, first)
    own, old, before = take_out(state, rules, table, wanted, unit, key)
    if own < 0:
        return MISSING
    most = most_options(rules, candidates, unit)
    slots, values, log_omega = np.empty(most, dtype=np.int64), np.empty(most), np.empty(most)
    number = options(state, rules, table, wanted, candidates, unit, extra, own, seen, key, slots, values, log_omega)
    if wanted.number[0] > 0:
        if old >= 0:
            join(state, rules, own, old, before)
        return MISSING
    members, count = state.member[own].copy(), state.size[own]
    proposal = fit_cluster(members, count, layout, space)
    chosen_options = _nearest(proposal, layout, space, state, slots, log_omega, number, tuning.candidates)
    found = old < 0
    for i in range(chosen_options.size):
        found = found or slots[chosen_options[i]] == old
    if not found:
        join(state, rules, own, old, before)
        return 0
    few = chosen_options.size
    points = np.empty((few + tuning.particles, u_own.size))
    log_weights = np.empty(few + tuning.particles)
    for i in range(few):
        points[i] = position_of(layout, space, state.member[slots[chosen_options[i]], 0])
        log_weights[i] = log_omega[chosen_options[i]] + rows(points[i], members, count, layout, space)
        slot = slots[chosen_options[i]]
        both = with_unit(state, rules, slot, unit, key)
        log_weights[i] += joined_gain(points[i], own, slot, key, both, state, layout, space)
    for r in range(tuning.particles):
        u = u_own if (r == 0 and old < 0) else draw(rng, proposal, layout.spread[0])
        points[few + r] = u
        log_weights[few + r] = log_gamma(u, members, count, layout, space) - math.log(tuning.particles)
        log_weights[few + r] += cluster_gain(u, own, state, layout, space)
        log_weights[few + r] -= log_density(u, proposal, layout.spread[0])
    chosen, _ = choose(rng, log_weights)
    place(layout, space, members, count, points[chosen])
    if chosen >= few:
        return 1 if old >= 0 else 0
    option = chosen_options[chosen]
    join(state, rules, own, slots[option], values[option])
    return 0 if slots[option] == old else 1


@njit(cache=True)
def gibbs_places(rng, state, rules, table, wanted, candidates, layout, space, tuning, begin, seen, counts):
    """Draw the clusters of all units from number `begin` on; return where evidence was missing, or their number."""
    units, nobody = rules.unit_begin.size - 1, np.int64(-1)
    for unit in range(begin, units):
        result = gibbs_place(rng, state, rules, table, wanted, candidates, layout, space, tuning, unit, nobody, seen)
        if result == MISSING:
            for later in range(unit + 1, min(unit + LOOK_AHEAD, units)):
                gibbs_place(rng, state, rules, table, wanted, candidates, layout, space, tuning, later, nobody, seen)
            return unit
        counts[0] += 1
        counts[1] += result
    return units
