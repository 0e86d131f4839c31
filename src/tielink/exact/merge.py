"""Moves 1 and 2: merge two single records into a pair, or split a pair."""

import math

from numba import njit

from tielink.exact.evidence import evidence
from tielink.exact.fit import fit
from tielink.exact.partner import partner_log_probabilities
from tielink.exact.state import NOBODY, Info, bayes_factor, by_file, choose, join, part, place, position_of, prior_step


@njit(cache=True)
def merge(rng, state, target, tuning, side, record):
    """
    Propose a partner for a single, free record a of file `side`.

    b ~ s(.|a); forward evidence for {a, b}, conditional for {a} and {b}; accepted with probability
    min(1, omega_ab Z_ab/(Z_a Z_b) (1/2)/s(b|a)). The 1/2 is the chance that the reverse splits (and does not switch).
    """
    here = by_file(side, record, -1)
    fit_here = fit(here, NOBODY, state, target)
    log_choice = partner_log_probabilities(fit_here, side, record, state, target)
    other, _ = choose(rng, log_choice)
    if other < 0:
        return Info(0, 0)
    there, both = by_file(side, -1, other), by_file(side, record, other)
    fit_there = fit(there, NOBODY, state, target)
    fit_both = fit(both, NOBODY, state, target)
    m = tuning.particles
    u_here, u_there = position_of(state, side, record), position_of(state, 1 - side, other)
    log_both, u = evidence(rng, fit_both, both, NOBODY, u_here[:0], m, state, target)
    log_here, _ = evidence(rng, fit_here, here, NOBODY, u_here, m, state, target)
    log_there, _ = evidence(rng, fit_there, there, NOBODY, u_there, m, state, target)
    log_ratio = bayes_factor(target, side, record, other) + prior_step(target, state)
    log_ratio += log_both - log_here - log_there + math.log(0.5) - log_choice[other]
    if math.log(rng.random()) >= log_ratio:
        return Info(1, 0)
    place(state, side, record, u)
    place(state, 1 - side, other, u)
    join(state, side, record, other)
    return Info(1, 1)


@njit(cache=True)
def split(rng, state, target, tuning, side, record):
    """Propose to part a paired, free record a from its partner b: the reverse of `merge`, ratio for ratio."""
    other = (state.partner_a, state.partner_b)[side][record]
    here, there, both = by_file(side, record, -1), by_file(side, -1, other), by_file(side, record, other)
    fit_here = fit(here, NOBODY, state, target)
    fit_there = fit(there, NOBODY, state, target)
    fit_both = fit(both, NOBODY, state, target)
    m = tuning.particles
    u = position_of(state, side, record)
    log_both, _ = evidence(rng, fit_both, both, NOBODY, u, m, state, target)
    log_here, u_here = evidence(rng, fit_here, here, NOBODY, u[:0], m, state, target)
    log_there, u_there = evidence(rng, fit_there, there, NOBODY, u[:0], m, state, target)
    # s(b|a) belongs to the state after the split: b is free and stands where it was newly put.
    part(state, side, record, other)
    place(state, 1 - side, other, u_there)
    log_choice = partner_log_probabilities(fit_here, side, record, state, target)
    log_ratio = log_here + log_there - log_both - bayes_factor(target, side, record, other) - prior_step(target, state)
    log_ratio += log_choice[other] - math.log(0.5)
    if math.log(rng.random()) >= log_ratio:
        place(state, 1 - side, other, u)
        join(state, side, record, other)
        return Info(1, 0)
    place(state, side, record, u_here)
    return Info(1, 1)


@njit(cache=True)
def merge_or_split(rng, state, target, tuning, side, record):
    """Merge if a is single; if it is paired, split with probability 1/2 (the other half belongs to `switch`)."""
    if (state.partner_a, state.partner_b)[side][record] < 0:
        return merge(rng, state, target, tuning, side, record)
    if rng.random() < 0.5:
        return split(rng, state, target, tuning, side, record)
    return Info(0, 0)
