"""Restricted Gibbs draws of who is whom when there are positions, for clusters of any size.

Only the unit that is taken out moves, so the others' positions stay and nothing has to factorise.
"""

import math

import numpy as np

from tielink.kernels import njit
from tielink.network.latent_space.proposal import draw, fit_cluster, log_density
from tielink.network.latent_space.space import log_gamma, place, position_of, rows
from tielink.sampler.choice import choose
from tielink.sampler.moves.labels import LOOK_AHEAD, MISSING, options, put_in, take_out
from tielink.sampler.partition import FREE


@njit(fastmath={"contract"}, error_model="numpy")
def _forms(proposal, own, state, rules, latent):
    """(u_i - m)'F(u_i - m) = |L'(u_i - m)|^2 for the records i that may be with those in slot `own`."""
    space, mean, factor = latent.space, proposal.mean, proposal.factor
    forms = np.zeros(space.file_of.size)
    for file in range(space.observed.size):
        needed = True
        if rules.mode != FREE:
            for i in range(state.size[own]):
                needed = needed and space.file_of[state.member[own, i]] != file
        if not needed:
            continue
        begin, end = space.offset[file], space.offset[file + 1]
        x, out = latent.layout.position, forms[begin:end]
        v = np.empty(out.size)
        for h in range(mean.size):
            v[:] = 0.0
            for k in range(h, mean.size):
                xk = x[k, begin:end]
                for j in range(out.size):
                    v[j] += factor[k, h] * (xk[j] - mean[k])
            for j in range(out.size):
                out[j] += v[j] * v[j]
    return forms


@njit
def near_options(proposal, state, data, latent, unit, extra, own):
    """
    The clusters that the unit in slot `own` may join: those C with the smallest (u_c - m)'F(u_c - m) - 2 log omega.

    With `extra` >= 0 that record is the only candidate. Returns their slots, the evidence that each then has, log omega
    and the quadratic form.
    """
    slots, values, log_omega = options(state, data, unit, extra, own)
    forms = _forms(proposal, own, state, data.rules, latent)
    near, costs, number = np.empty(latent.tuning.candidates, dtype=np.int64), np.empty(latent.tuning.candidates), 0
    for i in range(slots.size):
        cost = forms[state.member[slots[i], 0]] - 2.0 * log_omega[i]
        if cost == np.inf or (number == near.size and cost >= costs[number - 1]):
            continue
        number = min(number + 1, near.size)
        at = number - 1
        while at > 0 and costs[at - 1] > cost:
            costs[at], near[at] = costs[at - 1], near[at - 1]
            at -= 1
        costs[at], near[at] = cost, i
    near = near[:number]
    slots = slots[near]
    return slots, values[near], log_omega[near], forms[state.member[slots, 0]]


@njit
def gibbs_place(rng, state, data, latent, unit, extra):
    """
    Take a unit a out and put it back: into one of its most plausible clusters, or alone.

    Weights: omega_ac e^{l_a(u_c)} for each cluster c, gamma_a(u_r)/(M q_a(u_r)) for each of M positions u_r, of which
    the first is a's own if it was alone. Returns 1 if a's cluster changed, 0 if not, MISSING if evidence is asked for.
    """
    layout, space, tuning = latent.layout, latent.space, latent.tuning
    key = np.empty(data.rules.largest, dtype=np.int64)
    u_own = position_of(layout, data.rules.unit_record[data.rules.unit_begin[unit]])
    own, old, before = take_out(state, data, unit, key)
    if own < 0:
        return MISSING
    members = state.member[own, : state.size[own]].copy()
    proposal = fit_cluster(members, members.size, layout, space)
    slots, values, log_omega, _ = near_options(proposal, state, data, latent, unit, extra, own)
    few, kept = slots.size, old < 0
    for i in range(few):
        kept = kept or slots[i] == old
    if data.table.missing[0] > 0 or not kept:
        if old >= 0:
            put_in(state, data, own, old, before)
        return MISSING if data.table.missing[0] > 0 else 0
    points = np.empty((few + tuning.particles, u_own.size))
    log_weights = np.empty(few + tuning.particles)
    for i in range(few):
        points[i] = position_of(layout, state.member[slots[i], 0])
        log_weights[i] = log_omega[i] + rows(points[i], members, members.size, layout, space)
    for r in range(tuning.particles):
        u = u_own if (r == 0 and old < 0) else draw(rng, proposal, layout.spread[0])
        points[few + r] = u
        log_weights[few + r] = log_gamma(u, members, members.size, layout, space) - math.log(tuning.particles)
        log_weights[few + r] -= log_density(u, proposal, layout.spread[0])
    chosen, _ = choose(rng, log_weights)
    place(layout, members, points[chosen])
    if chosen >= few:
        return 1 if old >= 0 else 0
    put_in(state, data, own, slots[chosen], values[chosen])
    return 0 if slots[chosen] == old else 1


@njit
def gibbs_places(rng, state, data, latent, plan, begin, counts):
    """Draw the clusters of the planned units (unit, extra) from row `begin` on; return where evidence was missing."""
    for row in range(begin, len(plan)):
        result = gibbs_place(rng, state, data, latent, plan[row, 0], plan[row, 1])
        if result == MISSING:
            for later in range(row + 1, min(row + LOOK_AHEAD, len(plan))):
                gibbs_place(rng, state, data, latent, plan[later, 0], plan[later, 1])
            return row
        counts[0] += 1
        counts[1] += result
    return len(plan)
