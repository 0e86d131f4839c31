"""Move 4: two pairs exchange partners, a-b and a'-b' to a-b' and a'-b."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import cross_gain
from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.state import Info, place_person, position_of_person
from tielink.exact.switch import dyad_between


@njit(cache=True)
def swap(rng, state, target, tuning):
    """
    Pick two free pairs uniformly and exchange their partners, with fresh positions for both.

    Evidences and fits leave out the cross dyads (a, a') and (b, b'), whose likelihoods enter by themselves. m does not
    change and the choice of pairs is symmetric, so neither the linkage prior nor a proposal ratio appears.
    """
    m = state.matched[0]
    if m < 2:
        return Info(0, 0)
    pairs = np.empty(m, dtype=np.int64)
    count = 0
    for i in range(state.partner_a.size):
        if state.partner_a[i] >= 0 and target.anchor_a[i] < 0:
            pairs[count] = i
            count += 1
    first = rng.integers(0, m)
    second = rng.integers(0, m - 1)
    if second >= first:
        second += 1
    a, c = pairs[first], pairs[second]
    b, d = state.partner_a[a], state.partner_a[c]
    log_bf = target.log_bf
    log_ratio = log_bf[a, d] + log_bf[c, b] - log_bf[a, b] - log_bf[c, d]
    if log_ratio == -np.inf:
        return Info(1, 0)
    particles = tuning.particles
    u, v = position_of_person(state, (a, b)), position_of_person(state, (c, d))
    z_ab, _ = evidence(rng, fit((a, b), (c, d), state, target), (a, b), (c, d), u, particles, state, target)
    z_cd, _ = evidence(rng, fit((c, d), (a, b), state, target), (c, d), (a, b), v, particles, state, target)
    z_ad, new_u = evidence(rng, fit((a, d), (c, b), state, target), (a, d), (c, b), u[:0], particles, state, target)
    z_cb, new_v = evidence(rng, fit((c, b), (a, d), state, target), (c, b), (a, d), u[:0], particles, state, target)
    log_ratio += z_ad + z_cb - z_ab - z_cd
    for side, i, j in ((0, a, c), (1, b, d)):
        log_ratio += dyad_between(new_u, new_v, side, i, j, state, target)
        log_ratio -= dyad_between(u, v, side, i, j, state, target)
    # The same two dyads, between the same four records; only where they stand has changed.
    log_ratio += cross_gain(state.correlation, new_u, new_v, (a, d), (c, b), state, target)
    log_ratio -= cross_gain(state.correlation, u, v, (a, b), (c, d), state, target)
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    state.partner_a[a], state.partner_a[c] = d, b
    state.partner_b[d], state.partner_b[b] = a, c
    place_person(state, (a, d), new_u)
    place_person(state, (c, b), new_v)
    return Info(1, 1)
