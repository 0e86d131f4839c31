"""Move 3: a paired record leaves its partner for another one, a-b to a-b'."""

import math

from numba import njit

from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.partner import partner_log_probabilities
from tielink.exact.row import dyad
from tielink.exact.state import (
    NOBODY,
    Info,
    bayes_factor,
    by_file,
    choose,
    dyad_intercept,
    join,
    part,
    place,
    position_of,
)


@njit(cache=True)
def dyad_between(u, v, side, i, j, state, target):
    """Log-likelihood of dyad (i, j) of file `side` when its records stand at u and v."""
    if not target.observed[side]:
        return 0.0
    squared = 0.0
    for k in range(u.size):
        squared += (u[k] - v[k]) ** 2
    tie = (target.adjacency_a, target.adjacency_b)[side][i, j]
    return target.temperature * dyad(squared, tie, dyad_intercept(side, i, j, state), target.link)


@njit(cache=True)
def switch(rng, state, target, tuning, side, record):
    """
    Propose a new partner b' ~ s(.|a) for the paired, free record a of file `side`.

    Accepted with (omega_ab'/omega_ab) Z_ab' Z_b/(Z_ab Z_b') L_bb'(new)/L_bb'(old) s(b|a)/s(b'|a). Both b and b' move,
    so all four evidences and their fits leave out dyad (b, b'), and its likelihood enters by itself.
    """
    old = (state.partner_a, state.partner_b)[side][record]
    there = 1 - side
    fit_here = fit(by_file(side, record, -1), NOBODY, state, target)
    log_choice = partner_log_probabilities(fit_here, side, record, state, target)
    new, _ = choose(rng, log_choice)
    if new < 0:
        return Info(0, 0)
    pair_old, pair_new = by_file(side, record, old), by_file(side, record, new)
    only_old, only_new = by_file(side, -1, old), by_file(side, -1, new)
    skip_old, skip_new = by_file(side, -1, old), by_file(side, -1, new)
    fit_pair_old = fit(pair_old, skip_new, state, target)
    fit_pair_new = fit(pair_new, skip_old, state, target)
    fit_only_old = fit(only_old, skip_new, state, target)
    fit_only_new = fit(only_new, skip_old, state, target)
    m = tuning.particles
    u_pair, u_new = position_of(state, side, record), position_of(state, there, new)
    # Before the move: pair {a, b} and b' alone. After it: pair {a, b'} and b alone.
    log_pair_old, _ = evidence(rng, fit_pair_old, pair_old, skip_new, u_pair, m, state, target)
    log_only_new, _ = evidence(rng, fit_only_new, only_new, skip_old, u_new, m, state, target)
    log_pair_new, v_pair = evidence(rng, fit_pair_new, pair_new, skip_old, u_pair[:0], m, state, target)
    log_only_old, v_old = evidence(rng, fit_only_old, only_old, skip_new, u_pair[:0], m, state, target)
    log_ratio = bayes_factor(target, side, record, new) - bayes_factor(target, side, record, old)
    log_ratio += log_pair_new + log_only_old - log_pair_old - log_only_new
    log_ratio += dyad_between(v_old, v_pair, there, old, new, state, target)
    log_ratio -= dyad_between(u_pair, u_new, there, old, new, state, target)
    # The reverse choice is made in the state after the move: b' taken, b free at its new position.
    part(state, side, record, old)
    join(state, side, record, new)
    place(state, there, old, v_old)
    reverse = partner_log_probabilities(fit_here, side, record, state, target)
    log_ratio += reverse[old] - log_choice[new]
    if math.log(rng.random()) >= log_ratio:
        part(state, side, record, new)
        join(state, side, record, old)
        place(state, there, old, u_pair)
        return Info(1, 0)
    place(state, side, record, v_pair)
    place(state, there, new, v_pair)
    return Info(1, 1)
