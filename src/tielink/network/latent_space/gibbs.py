"""Restricted Gibbs draws of who is whom when there are positions, for clusters of any size.

Only the unit that is taken out moves, so the others' positions stay and nothing has to factorise.
"""

import math

import numpy as np

from tielink.kernels import entry_of, njit
from tielink.network.latent_space.proposal import draw, fit_cluster, log_density, quadratic_forms
from tielink.network.latent_space.space import log_gamma, place, position_of, rows
from tielink.sampler.choice import choose
from tielink.sampler.moves.labels import LOOK_AHEAD, MISSING, joined_evidence, put_in, take_out
from tielink.sampler.partition import FREE, ONE_PER_FILE, join_gain, join_gains, permitted


@njit
def _forms(proposal, own, state, data, latent):
    """(u_i - m)' F (u_i - m) for the records i that may be with those in slot `own`."""
    layout, space = latent.layout, latent.space
    out = np.empty(space.file_of.size)
    for file in range(space.observed.size):
        needed = True
        if data.rules.mode != FREE:
            for i in range(state.size[own]):
                needed = needed and space.file_of[state.member[own, i]] != file
        if needed:
            quadratic_forms(proposal, layout.position[file], out[space.offset[file] : space.offset[file + 1]])
    return out


@njit
def _insert(costs, entries, number, cost, entry):
    """Keep the entries with the smallest costs, in that order; return how many there are."""
    most = costs.size
    if cost == np.inf or (number == most and cost >= costs[most - 1]):
        return number
    at = number if number < most else most - 1
    while at > 0 and costs[at - 1] > cost:
        costs[at], entries[at] = costs[at - 1], entries[at - 1]
        at -= 1
    costs[at], entries[at] = cost, entry
    return min(number + 1, most)


@njit
def _near_singles(form, label, size, candidate, value, entries, costs):
    """The entries of a record's list whose records are alone and nearest: no calls, for this visits every pair."""
    number = 0
    for c in range(candidate.size):
        other = candidate[c]
        if size[label[other]] == 1:
            number = _insert(costs, entries, number, form[other] - 2.0 * value[c], c)
    return number


@njit
def _near_clusters(form, state, data, unit, extra, gains, entries, costs):
    """The entries of a unit's lists whose clusters are nearest; with `extra` >= 0 that record is the only candidate."""
    rules, lists, seen = data.rules, data.lists, data.seen
    key, own = np.empty(rules.largest, dtype=np.int64), state.label[rules.unit_record[rules.unit_begin[unit]]]
    number = 0
    seen[0] += 1
    for t in range(rules.unit_begin[unit], rules.unit_begin[unit + 1]):
        record = rules.unit_record[t]
        first, last = lists.begin[record], lists.begin[record + 1]
        if extra >= 0:
            first = entry_of(lists.begin, lists.record, record, extra)
            last = first + 1
        for c in range(first, last):
            other = lists.record[c] if c >= 0 else extra
            slot = state.label[other]
            if slot == own or seen[slot + 1] == seen[0]:
                continue
            # Clusters of several records want a strong candidate: there are so many of them, and few that fit.
            if extra < 0 and not lists.strong[c] and state.size[slot] > 1:
                continue
            seen[slot + 1] = seen[0]
            if permitted(state, rules, own, slot):
                value = joined_evidence(state, data, own, slot, c, unit, key) - state.value[slot] - state.value[own]
                cost = form[other] - 2.0 * (join_gain(state, rules, gains, own, slot) + value)
                number = _insert(costs, entries, number, cost, c)
    return number


@njit
def near_options(proposal, state, data, latent, unit, extra, own):
    """
    The clusters that the unit in slot `own` may join: those C with the smallest (u_c - m)'F(u_c - m) - 2 log omega.

    With `extra` >= 0 that record is the only candidate. Returns their slots, the evidence that each then has, log omega
    and the quadratic form.
    """
    rules, lists, most = data.rules, data.lists, latent.tuning.candidates
    form = _forms(proposal, own, state, data, latent)
    gains, key = np.empty(rules.file_size.size), np.empty(rules.largest, dtype=np.int64)
    join_gains(state, rules, gains)
    # Only entries and costs are sorted in; the few that are left are evaluated once more.
    entries, costs, number = np.empty(most, dtype=np.int64), np.empty(most), 0
    if rules.largest == 2 and rules.mode != ONE_PER_FILE and extra < 0:
        record = state.member[own, 0]
        first, last = lists.begin[record], lists.begin[record + 1]
        if state.size[own] == 1 and gains[0] > -np.inf:  # the prior is the same for all pairs
            values = lists.value[lists.pair[first:last]]
            number = _near_singles(form, state.label, state.size, lists.record[first:last], values, entries, costs)
            entries += first
    else:
        number = _near_clusters(form, state, data, unit, extra, gains, entries, costs)
    slots, values, log_omega = np.empty(number, dtype=np.int64), np.empty(number), np.empty(number)
    forms = np.empty(number)
    for i in range(number):
        slots[i] = slot = state.label[lists.record[entries[i]] if entries[i] >= 0 else extra]
        values[i] = joined_evidence(state, data, own, slot, entries[i], unit, key)
        log_omega[i] = join_gain(state, rules, gains, own, slot) + values[i] - state.value[slot] - state.value[own]
        forms[i] = form[state.member[slot, 0]]
    return slots, values, log_omega, forms


@njit
def gibbs_place(rng, state, data, latent, unit, extra):
    """
    Take a unit a out and put it back: into one of its most plausible clusters, or alone.

    Weights: omega_ac e^{l_a(u_c)} for each cluster c, gamma_a(u_r)/(M q_a(u_r)) for each of M positions u_r, of which
    the first is a's own if it was alone. Returns 1 if a's cluster changed, 0 if not, MISSING if evidence is asked for.
    """
    layout, space, tuning = latent.layout, latent.space, latent.tuning
    key = np.empty(data.rules.largest, dtype=np.int64)
    u_own = position_of(layout, space, data.rules.unit_record[data.rules.unit_begin[unit]])
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
        points[i] = position_of(layout, space, state.member[slots[i], 0])
        log_weights[i] = log_omega[i] + rows(points[i], members, members.size, layout, space)
    for r in range(tuning.particles):
        u = u_own if (r == 0 and old < 0) else draw(rng, proposal, layout.spread[0])
        points[few + r] = u
        log_weights[few + r] = log_gamma(u, members, members.size, layout, space) - math.log(tuning.particles)
        log_weights[few + r] -= log_density(u, proposal, layout.spread[0])
    chosen, _ = choose(rng, log_weights)
    place(layout, space, members, points[chosen])
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
