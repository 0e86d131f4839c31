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
def step_log_ratio(u, x, ties, record, base, old, new, squared, sd, link, temperature):
    """log p of the record's row and of s_i at s_i = `new` less that at `old`; `base` holds beta_j + s_j."""
    squared_distances(u, x, squared)
    log_ratio = _row_at(squared, ties, base + new, record, link) - _row_at(squared, ties, base + old, record, link)
    return temperature * log_ratio + 0.5 * (old * old - new * new) / sd**2


@njit(cache=True)
def _walk_one(rng, side, record, base, squared, state, target, tuning):
    """One step of s_i, accepted with the row's likelihood, the pair's gain and the prior."""
    sociality = (state.sociality_a, state.sociality_b)[side]
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side][record]
    change = (tuning.step_sociality_a, tuning.step_sociality_b)[side][record] * rng.standard_normal()
    old, new = sociality[record], sociality[record] + change
    u, sd = position_of(state, side, record), state.sociality_sd[0]
    log_ratio = step_log_ratio(u, x, ties, record, base, old, new, squared, sd, target.link, target.temperature)
    other = (state.partner_a, state.partner_b)[side][record]
    members, change_by_file = by_file(side, record, other), by_file(side, change, 0.0)
    log_ratio += gain_at(state.correlation, u, members, NOBODY, change_by_file[0], change_by_file[1], state, target)
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
def walk_sd(rng, sociality, sd, scale, step):
    """
    Steps of log tau with s held: p(s | tau) and the half-normal prior; the walk on log tau adds one factor tau.

    `sociality` holds one array a file. It reads one sum, so three steps are nearly free.
    """
    count, total = 0, 0.0
    for values in sociality:
        count += values.size
        for s in values:
            total += s * s
    accepted = 0
    for _ in range(3):
        old = sd[0]
        log_c = step * rng.standard_normal()
        new = old * math.exp(log_c)
        log_ratio = (1.0 - count) * log_c - 0.5 * total * (1.0 / new**2 - 1.0 / old**2)
        log_ratio += 0.5 * (old * old - new * new) / scale**2
        if math.log(rng.random()) < log_ratio:
            sd[0] = new
            accepted += 1
    return Info(3, accepted)


@njit(cache=True)
def walk_sociality_sd(rng, state, target, tuning):
    """Steps of log tau with s held."""
    both = (state.sociality_a, state.sociality_b)
    return walk_sd(rng, both, state.sociality_sd, target.sociality_scale, tuning.step_sociality_sd[0])


@njit(cache=True)
def _log_likelihood(state, target):
    total = total_gain(state.correlation, state.intercept[0], state.intercept[1], 1.0, state, target)
    for side in range(2):
        total += file_log_likelihood(side, state.intercept[side], 1.0, state, target)
    return total


@njit(cache=True)
def stretch(sociality, c):
    """Multiply every s by c; return what they were, file after file."""
    kept = np.concatenate(sociality)
    for values in sociality:
        for i in range(values.size):
            values[i] *= c
    return kept


@njit(cache=True)
def settle_stretch(rng, c, gained, sociality, kept, sd, scale):
    """
    Keep tau -> c tau with s -> c s, which gained so much log-likelihood, or undo it: a step of log tau with s/tau held.

    Where ties say little about single records this moves tau far; where they say much, the step with s held does. (The
    two together interweave: Yu and Meng 2011.) p(s | tau) ds does not change, so what is left is the likelihood, the
    prior of tau and the factor tau of a walk on log tau.
    """
    old, new = sd[0], sd[0] * c
    log_ratio = math.log(c) + 0.5 * (old * old - new * new) / scale**2 + gained
    if math.log(rng.random()) >= log_ratio:
        begin = 0
        for values in sociality:
            values[:] = kept[begin : begin + values.size]
            begin += values.size
        return Info(1, 0)
    sd[0] = new
    return Info(1, 1)


@njit(cache=True)
def stretch_sociality(rng, state, target, tuning):
    """One step of log tau with s/tau held: tau -> c tau, s -> c s."""
    both = (state.sociality_a, state.sociality_b)
    c = math.exp(tuning.step_sociality_sd[1] * rng.standard_normal())
    before = _log_likelihood(state, target)
    kept = stretch(both, c)
    gained = _log_likelihood(state, target) - before
    return settle_stretch(rng, c, gained, both, kept, state.sociality_sd, target.sociality_scale)


@njit(cache=True)
def shift(rng, sociality, sd, intercept, file, intercept_sd):
    """
    s_i -> s_i + delta for a whole file and beta_j -> beta_j - 2 delta: no tie's probability changes.

    delta comes from its conditional, normal with precision n/tau^2 + 4/omega^2 and mean
    (2 beta/omega^2 - sum s/tau^2)/precision; a translation has Jacobian 1. Returns how often it was done.
    """
    if sociality.size == 0:
        return 0
    each, level = 1.0 / sd**2, 1.0 / intercept_sd**2
    precision = sociality.size * each + 4.0 * level
    delta = (2.0 * intercept[file] * level - sociality.sum() * each) / precision
    delta += rng.standard_normal() / math.sqrt(precision)
    for i in range(sociality.size):
        sociality[i] += delta
    intercept[file] -= 2.0 * delta
    return 1


@njit(cache=True)
def shift_sociality(rng, state, target):
    """A `shift` for every file that has a network."""
    files = 0
    for side in range(2):
        sociality = (state.sociality_a, state.sociality_b)[side]
        files += shift(rng, sociality, state.sociality_sd[0], state.intercept, side, target.intercept_sd[side])
    return Info(files, files)
