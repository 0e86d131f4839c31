"""Sociality of records in any number of files, by the moves of `exact.sociality`; not called without it."""

import math

import numpy as np
from numba import njit

from tielink.exact.clusters.correlation import cluster_gain, total_gain
from tielink.exact.clusters.positions import file_log_likelihood
from tielink.exact.clusters.space import position_of
from tielink.exact.positions import WalkInfo
from tielink.exact.sociality import settle_stretch, shift, step_log_ratio, stretch, walk_sd
from tielink.exact.state import Info

MOVES = ("sociality", "sociality sd", "sociality stretch", "sociality shift")


@njit(cache=True)
def walk_sociality(rng, state, layout, space, tuning):
    """Random-walk Metropolis for the s of every record of every network, with its own step."""
    moved = np.full(space.file_of.size, -1, dtype=np.int8)
    proposed, accepted = 0, 0
    for record in range(moved.size):
        file = space.file_of[record]
        if not space.observed[file]:
            continue
        i, sociality, x = record - space.offset[file], layout.sociality[file], layout.position[file]
        old, base = sociality[i], layout.intercept[file] + sociality
        new = old + tuning.step_sociality_a[record] * rng.standard_normal()
        u, slot = position_of(layout, space, record), state.label[record]
        log_ratio = step_log_ratio(
            u, x, space.adjacency[file][i], i, base, old, new, np.empty(x.shape[1]),
            layout.sociality_sd[0], space.link, space.temperature,
        )  # fmt: skip
        log_ratio -= cluster_gain(u, slot, state, layout, space)
        sociality[i] = new
        log_ratio += cluster_gain(u, slot, state, layout, space)
        moved[record] = math.log(rng.random()) < log_ratio
        if not moved[record]:
            sociality[i] = old
        proposed += 1
        accepted += moved[record]
    return WalkInfo(proposed, accepted, moved, np.empty(0, dtype=np.int8))


@njit(cache=True)
def _log_likelihood(state, layout, space):
    total = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    for file in range(space.observed.size):
        total += file_log_likelihood(file, layout.intercept[file], 1.0, layout, space)
    return total


@njit(cache=True)
def stretch_sociality(rng, state, layout, space, tuning):
    """One step of log tau with s/tau held: tau -> c tau, s -> c s."""
    c = math.exp(tuning.step_sociality_sd[1] * rng.standard_normal())
    before = _log_likelihood(state, layout, space)
    kept = stretch(layout.sociality, c)
    gained = _log_likelihood(state, layout, space) - before
    return settle_stretch(rng, c, gained, layout.sociality, kept, layout.sociality_sd, space.sociality_scale)


@njit(cache=True)
def shift_sociality(rng, layout, space):
    """A `shift` for every file that has a network."""
    files, sd = 0, layout.sociality_sd[0]
    for file in range(space.observed.size):
        files += shift(rng, layout.sociality[file], sd, layout.intercept, file, space.intercept_sd[file])
    return Info(files, files)


@njit(cache=True)
def sweep_sociality(rng, state, layout, space, tuning, counts):
    """One step of every s, and tau by both its moves; counts (proposed, accepted) per move in the order of MOVES."""
    walk = walk_sociality(rng, state, layout, space, tuning)
    counts[0, 0], counts[0, 1] = walk.proposed, walk.accepted
    sd, step = layout.sociality_sd, tuning.step_sociality_sd[0]
    held = walk_sd(rng, layout.sociality, sd, space.sociality_scale, step)
    stretched = stretch_sociality(rng, state, layout, space, tuning)
    for place, info in ((1, held), (2, stretched), (3, shift_sociality(rng, layout, space))):
        counts[place, 0], counts[place, 1] = info.proposed, info.accepted
    return walk
