"""Sociality: the records' s by random walk, their standard deviation tau, and s against the intercept."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import gain_at, total_gain
from tielink.exact.intercept import file_log_likelihood
from tielink.exact.positions import WalkInfo
from tielink.exact.row import dyad, squared_distances, sum_terms
from tielink.exact.state import NOBODY, Info, by_file, position_of


@njit(cache=True)
def _row_at(squared, ties, levels, record, link):
    """The record's row of ties, given squared distances and intercepts."""
    return sum_terms(squared, ties, levels, link) - dyad(squared[record], ties[record], levels[record], link)


@njit(cache=True)
def _walk_one(rng, side, record, base, squared, state, target, tuning):
    """One step of s_i; `base` holds beta_j + s_j. Accepted with the row's likelihood, the pair's gain and the prior."""
    sociality = (state.sociality_a, state.sociality_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side][record]
    old = sociality[record]
    change = (tuning.step_sociality_a, tuning.step_sociality_b)[side][record] * rng.standard_normal()
    new = old + change
    u = position_of(state, side, record)
    squared_distances(u, (state.position_a, state.position_b)[side], squared)
    log_ratio = _row_at(squared, ties, base + new, record, target.link)
    log_ratio -= _row_at(squared, ties, base + old, record, target.link)
    log_ratio = target.temperature * log_ratio + 0.5 * (old * old - new * new) / state.sociality_sd[0] ** 2
    other = (state.partner_a, state.partner_b)[side][record]
    members, shift = by_file(side, record, other), by_file(side, change, 0.0)
    log_ratio += gain_at(state.correlation, u, members, NOBODY, shift[0], shift[1], state, target)
    log_ratio -= gain_at(state.correlation, u, members, NOBODY, 0.0, 0.0, state, target)
    if math.log(rng.random()) >= log_ratio:
        return False
    sociality[record] = new
    base[record] = state.intercept[side] + new
    return True


@njit(cache=True)
def walk_sociality(rng, state, target, tuning):
    """Random-walk Metropolis for the s of every record of every network, with its own step."""
    moved_a = np.full(state.partner_a.size, -1, dtype=np.int8)
    moved_b = np.full(state.partner_b.size, -1, dtype=np.int8)
    proposed, accepted = 0, 0
    for side in range(2):
        sociality = (state.sociality_a, state.sociality_b)[side]
        moved = (moved_a, moved_b)[side]
        base = state.intercept[side] + sociality
        squared = np.empty(sociality.size)
        for record in range(sociality.size):
            moved[record] = _walk_one(rng, side, record, base, squared, state, target, tuning)
            proposed += 1
            accepted += moved[record]
    return WalkInfo(proposed, accepted, moved_a, moved_b)


@njit(cache=True)
def _squares(state):
    """Number of s, and the sum of their squares."""
    total = 0.0
    for s in state.sociality_a:
        total += s * s
    for s in state.sociality_b:
        total += s * s
    return state.sociality_a.size + state.sociality_b.size, total


@njit(cache=True)
def walk_sociality_sd(rng, state, target, tuning):
    """
    Steps of log tau with s held: p(s | tau) and the half-normal prior; the walk on log tau adds one factor tau.

    It reads one sum, so three steps are nearly free.
    """
    count, total = _squares(state)
    accepted = 0
    for _ in range(3):
        old = state.sociality_sd[0]
        log_c = tuning.step_sociality_sd[0] * rng.standard_normal()
        new = old * math.exp(log_c)
        log_ratio = (1.0 - count) * log_c - 0.5 * total * (1.0 / new**2 - 1.0 / old**2)
        log_ratio += 0.5 * (old * old - new * new) / target.sociality_scale**2
        if math.log(rng.random()) < log_ratio:
            state.sociality_sd[0] = new
            accepted += 1
    return Info(3, accepted)


@njit(cache=True)
def _log_likelihood(state, target):
    total = total_gain(state.correlation, state.intercept[0], state.intercept[1], 1.0, state, target)
    for side in range(2):
        total += file_log_likelihood(side, state.intercept[side], 1.0, state, target)
    return total


@njit(cache=True)
def stretch_sociality(rng, state, target, tuning):
    """
    One step of log tau with s/tau held: tau -> c tau, s -> c s.

    Where ties say little about single records this moves tau far; where they say much, the step with s held does. (The
    two together interweave: Yu and Meng 2011.) p(s | tau) ds does not change, so what is left is the likelihood, the
    prior of tau and the factor tau of a walk on log tau.
    """
    old = state.sociality_sd[0]
    c = math.exp(tuning.step_sociality_sd[1] * rng.standard_normal())
    new = old * c
    kept_a, kept_b = state.sociality_a.copy(), state.sociality_b.copy()
    log_ratio = math.log(c) + 0.5 * (old * old - new * new) / target.sociality_scale**2
    log_ratio -= _log_likelihood(state, target)
    state.sociality_a[:] = c * kept_a
    state.sociality_b[:] = c * kept_b
    log_ratio += _log_likelihood(state, target)
    if math.log(rng.random()) >= log_ratio:
        state.sociality_a[:] = kept_a
        state.sociality_b[:] = kept_b
        return Info(1, 0)
    state.sociality_sd[0] = new
    return Info(1, 1)


@njit(cache=True)
def shift_sociality(rng, state, target):
    """
    s_i -> s_i + delta for a whole file and beta_j -> beta_j - 2 delta: no tie's probability changes.

    delta comes from its conditional, normal with precision n/tau^2 + 4/omega^2 and mean
    (2 beta/omega^2 - sum s/tau^2)/precision; a translation has Jacobian 1.
    """
    files = 0
    for side in range(2):
        sociality = (state.sociality_a, state.sociality_b)[side]
        if sociality.size == 0:
            continue
        files += 1
        each, level = 1.0 / state.sociality_sd[0] ** 2, 1.0 / target.intercept_sd[side] ** 2
        precision = sociality.size * each + 4.0 * level
        delta = (2.0 * state.intercept[side] * level - sociality.sum() * each) / precision
        delta += rng.standard_normal() / math.sqrt(precision)
        for i in range(sociality.size):
            sociality[i] += delta
        state.intercept[side] -= 2.0 * delta
    return Info(files, files)
