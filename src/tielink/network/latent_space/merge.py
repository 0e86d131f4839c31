"""Two clusters become one person, or a unit leaves its cluster, with fresh positions for all of them.

For partitions in which records of one file are never one person: then the two have no dyad with each other.
"""

import math

import numpy as np

from tielink.kernels import njit
from tielink.network.latent_space.gibbs import near_options
from tielink.network.latent_space.proposal import fit_cluster, particle_evidence
from tielink.network.latent_space.space import place, position_of
from tielink.sampler.choice import choose
from tielink.sampler.moves.labels import MISSING, put_in, take_out

NEAR = 0.9


@njit
def _partners(state, data, latent, unit, own):
    """
    The clusters that the unit a in slot `own` may join: slots, evidence, log omega and log s(c|a).

    s(c|a) is proportional to omega_ac (0.9 k_ac + 0.1) with k_ac = (1 + (u_c - m_a)'F_a(u_c - m_a)/8)^-3, over the
    nearest; m_a and F_a come from the fit of a alone.
    """
    members = state.member[own, : state.size[own]]
    proposal = fit_cluster(members, members.size, latent.layout, latent.space)
    slots, values, log_omega, forms = near_options(proposal, state, data, latent, unit, -1, own)
    log_choice = log_omega.copy()
    for i in range(slots.size):
        log_choice[i] += math.log(NEAR / (1.0 + forms[i] / 8.0) ** 3 + (1.0 - NEAR))
    if slots.size > 0:
        top = log_choice.max()
        log_choice -= top + math.log(np.exp(log_choice - top).sum())
    return slots, values, log_omega, log_choice


@njit
def _merge(rng, state, data, latent, unit):
    """
    Propose a cluster c ~ s(.|a) for a unit a that is alone: forward evidence for both, conditional for each.

    Accepted with probability min(1, omega_ac Z_ac/(Z_a Z_c)/s(c|a)).
    """
    layout, particles = latent.layout, latent.tuning.particles
    own = state.label[data.rules.unit_record[data.rules.unit_begin[unit]]]
    slots, values, log_omega, log_choice = _partners(state, data, latent, unit, own)
    if data.table.missing[0] > 0:
        return MISSING
    chosen, _ = choose(rng, log_choice)
    if chosen < 0:
        return 0
    here, there = state.member[own, : state.size[own]], state.member[slots[chosen], : state.size[slots[chosen]]]
    both = np.concatenate((here, there))
    u_here, u_there = position_of(layout, here[0]), position_of(layout, there[0])
    log_both, u = particle_evidence(rng, both, both.size, u_here[:0], particles, latent)
    log_ratio = log_omega[chosen] - log_choice[chosen] + log_both
    log_ratio -= particle_evidence(rng, here, here.size, u_here, particles, latent)[0]
    log_ratio -= particle_evidence(rng, there, there.size, u_there, particles, latent)[0]
    if math.log(rng.random()) >= log_ratio:
        return 0
    put_in(state, data, own, slots[chosen], values[chosen])
    place(layout, both, u)
    return 1


@njit
def _split(rng, state, data, latent, unit):
    """Propose that a unit a leave its cluster c: the reverse of `_merge`, ratio for ratio."""
    layout, particles = latent.layout, latent.tuning.particles
    key = np.empty(data.rules.largest, dtype=np.int64)
    own, rest, before = take_out(state, data, unit, key)
    if own < 0:
        return MISSING
    if data.rules.largest > 2:  # ask for what will be needed before anything is drawn
        _partners(state, data, latent, unit, own)
    if data.table.missing[0] > 0:
        put_in(state, data, own, rest, before)
        return MISSING
    here, there = state.member[own, : state.size[own]].copy(), state.member[rest, : state.size[rest]].copy()
    both = np.concatenate((here, there))
    u = position_of(layout, here[0])
    log_ratio = -particle_evidence(rng, both, both.size, u, particles, latent)[0]
    log_here, u_here = particle_evidence(rng, here, here.size, u[:0], particles, latent)
    log_there, u_there = particle_evidence(rng, there, there.size, u[:0], particles, latent)
    # s(c|a) belongs to the state after the split: c stands where it was newly put.
    place(layout, there, u_there)
    slots, _, log_omega, log_choice = _partners(state, data, latent, unit, own)
    log_ratio += log_here + log_there
    reverse = -np.inf
    for i in range(slots.size):
        if slots[i] == rest:
            reverse = log_choice[i] - log_omega[i]
    if math.log(rng.random()) >= log_ratio + reverse:
        place(layout, there, u)
        put_in(state, data, own, rest, before)
        return 0
    place(layout, here, u_here)
    return 1


@njit
def merge_or_split(rng, state, data, latent, plan, begin, counts):
    """Merge each planned unit that is alone, and split the others off; return where evidence was missing."""
    rules = data.rules
    for row in range(begin, len(plan)):
        unit = plan[row, 0]
        alone = rules.unit_begin[unit + 1] - rules.unit_begin[unit]
        if state.size[state.label[rules.unit_record[rules.unit_begin[unit]]]] == alone:
            result = _merge(rng, state, data, latent, unit)
        else:
            result = _split(rng, state, data, latent, unit)
        if result == MISSING:
            return row
        counts[0] += 1
        counts[1] += result
    return len(plan)
