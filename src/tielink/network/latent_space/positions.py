"""Positions of clusters, who is whom held fixed."""

import math

import numpy as np

from tielink.kernels import njit
from tielink.network.latent_space.proposal import particle_evidence
from tielink.network.latent_space.space import log_gamma, place, position_of


@njit
def jump(rng, state, latent, counts):
    """Conditional multiple-candidate jumps of `tuning.jumps` clusters, each that of a record drawn at random."""
    layout, particles = latent.layout, latent.tuning.particles + 1
    # A cluster of two is drawn twice as often as one of one, before a jump and after it.
    for _ in range(latent.tuning.jumps):
        slot = state.label[rng.integers(0, state.label.size)]
        members = state.member[slot, : state.size[slot]]
        u = position_of(layout, members[0])
        _, chosen = particle_evidence(rng, members, members.size, u, particles, latent)
        place(layout, members, chosen)
        counts[0] += 1
        counts[1] += chosen[0] != u[0]


@njit
def walk(rng, state, latent, counts):
    """
    Random-walk Metropolis for every cluster, with its first record's step; accepted with gamma_A(u*)/gamma_A(u).

    Returns what became of each record's proposal (1 accepted, 0 not, -1 none), for the adaptation of steps.
    """
    layout, space = latent.layout, latent.space
    moved = np.full(state.label.size, -1, dtype=np.int8)
    for slot in range(state.size.size):
        if state.size[slot] == 0:
            continue
        members = state.member[slot, : state.size[slot]]
        u = position_of(layout, members[0])
        proposal = np.empty(u.size)
        for k in range(u.size):
            proposal[k] = u[k] + latent.tuning.step[members[0]] * rng.standard_normal()
        log_ratio = log_gamma(proposal, members, members.size, layout, space)
        log_ratio -= log_gamma(u, members, members.size, layout, space)
        accept = math.log(rng.random()) < log_ratio
        if accept:
            place(layout, members, proposal)
        moved[members[0]] = accept
        counts[0] += 1
        counts[1] += accept
    return moved
