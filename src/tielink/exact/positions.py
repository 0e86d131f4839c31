"""Move 6: positions of persons, the linkage held fixed. Anchored pairs move here like any other person."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.state import NOBODY, Info, log_gamma, place_person, position_of_person


class WalkInfo(NamedTuple):
    """Counts, and what became of each record's proposal (1 accepted, 0 not, -1 none), for the adaptation of steps."""

    proposed: int
    accepted: int
    moved_a: NDArray[np.int8]
    moved_b: NDArray[np.int8]


@njit(cache=True)
def persons(state):
    """One row (a, b) per person, -1 where it has no record in that file."""
    n1, n2 = state.partner_a.size, state.partner_b.size
    out = np.empty((n1 + n2, 2), dtype=np.int64)
    count = 0
    for a in range(n1):
        out[count, 0], out[count, 1] = a, state.partner_a[a]
        count += 1
    for b in range(n2):
        if state.partner_b[b] < 0:
            out[count, 0], out[count, 1] = -1, b
            count += 1
    return out[:count]


@njit(cache=True)
def jump(rng, state, target, tuning):
    """
    Conditional multiple-candidate jumps of `tuning.jumps` persons drawn at random.

    Slot 1 is where the person stands, M fresh points come from q_A, and one of them is chosen by weight.
    """
    accepted = 0
    people = persons(state)
    for _ in range(tuning.jumps):
        n = rng.integers(0, people.shape[0])
        members = (people[n, 0], people[n, 1])
        u = position_of_person(state, members)
        proposal = fit(members, NOBODY, state, target)
        _, chosen = evidence(rng, proposal, members, NOBODY, u, tuning.particles + 1, state, target)
        place_person(state, members, chosen)
        if chosen[0] != u[0]:
            accepted += 1
    return Info(tuning.jumps, accepted)


@njit(cache=True)
def walk(rng, state, target, tuning):
    """Random-walk Metropolis for every person, with its own record's step; accepted with gamma_A(u*)/gamma_A(u)."""
    moved_a = np.full(state.partner_a.size, -1, dtype=np.int8)
    moved_b = np.full(state.partner_b.size, -1, dtype=np.int8)
    people = persons(state)
    accepted = 0
    for n in range(people.shape[0]):
        members = (people[n, 0], people[n, 1])
        step = tuning.step_a[members[0]] if members[0] >= 0 else tuning.step_b[members[1]]
        u = position_of_person(state, members)
        proposal = np.empty(u.size)
        for k in range(u.size):
            proposal[k] = u[k] + step * rng.standard_normal()
        log_ratio = log_gamma(proposal, members, NOBODY, state, target) - log_gamma(u, members, NOBODY, state, target)
        accept = math.log(rng.random()) < log_ratio
        if accept:
            place_person(state, members, proposal)
            accepted += 1
        if members[0] >= 0:
            moved_a[members[0]] = accept
        else:
            moved_b[members[1]] = accept
    return WalkInfo(people.shape[0], accepted, moved_a, moved_b)
