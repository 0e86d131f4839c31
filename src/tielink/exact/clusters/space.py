"""Positions of clusters in any number of files: rows of ties, and the proposal q_A for a cluster A.

There is one position per record, equal within a cluster, so that ties are read from one file's array. Records of a
cluster that are in the same file stand on the same spot whatever it is: dyads between them say nothing about it.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.fit import (
    _FREEDOM,
    _INFLATION,
    _LONGEST,
    _STEPS,
    Fit,
    add_slopes,
    cholesky,
    solve_lower,
    solve_upper,
)
from tielink.exact.row import dyad, row, row_levels, sociality_of, squared_distance
from tielink.exact.state import log_prior_density


class Space(NamedTuple):
    """
    Ties and the hyperparameters of their model; see `exact.target.Target`.

    Attributes
    ----------
    adjacency : one (n_j, n_j) uint8 array per file
    observed : (J,) bool
    offset : (J + 1,) int64
        Number of the first record of each file.
    correlated : (I,) bool, or None
        Which records take part in the correlation of ties; None for phi = 1.
    """

    adjacency: tuple[NDArray[np.uint8], ...]
    observed: NDArray[np.bool_]
    offset: NDArray[np.int64]
    file_of: NDArray[np.int64]
    intercept_sd: NDArray[np.float64]
    spread_shape: float
    spread_scale: float
    link: int
    dimension: int
    temperature: float
    sociality_scale: float
    correlation_sd: float = 0.0
    correlated: NDArray[np.bool_] | None = None


class Layout(NamedTuple):
    """
    Everything that goes with ties; see `exact.state.State`.

    Attributes
    ----------
    position : one (K, n_j) array per file
    intercept : (J,) float64
    spread : (1,) float64
    sociality : one (n_j,) array per file, empty without a network in it; one None per file without sociality
    sociality_sd : (1,) float64, or None
    correlation : (1,) float64, or None
        log phi.
    """

    position: tuple[NDArray[np.float64], ...]
    intercept: NDArray[np.float64]
    spread: NDArray[np.float64]
    sociality: tuple[NDArray[np.float64] | None, ...]
    sociality_sd: NDArray[np.float64] | None
    correlation: NDArray[np.float64] | None = None


class ClusterTuning(NamedTuple):
    """What may be tuned without changing the target; see `exact.state.Tuning` (one file's steps hold all records)."""

    step_a: NDArray[np.float64]
    step_b: NDArray[np.float64]
    step_intercept: NDArray[np.float64]
    step_scale: NDArray[np.float64]
    particles: int
    candidates: int
    jumps: int
    step_sociality_a: NDArray[np.float64]
    step_sociality_b: NDArray[np.float64]
    step_sociality_sd: NDArray[np.float64]
    step_correlation: NDArray[np.float64]


@njit(cache=True)
def position_of(layout, space, record):
    """A copy of a record's position."""
    file = space.file_of[record]
    x, i = layout.position[file], record - space.offset[file]
    u = np.empty(x.shape[0])
    for k in range(u.size):
        u[k] = x[k, i]
    return u


@njit(cache=True)
def place(layout, space, members, count, u):
    """Write the position of records."""
    for t in range(count):
        file = space.file_of[members[t]]
        x, i = layout.position[file], members[t] - space.offset[file]
        for k in range(u.size):
            x[k, i] = u[k]


@njit(cache=True)
def dyad_intercept(file, i, j, layout):
    """beta_j + s_i + s_j, or beta_j without sociality; records by their numbers within the file."""
    sociality = layout.sociality[file]
    return layout.intercept[file] + sociality_of(sociality, i) + sociality_of(sociality, j)


@njit(cache=True)
def record_row(u, record, members, count, layout, space):
    """l_i(u) of one of the `members`, dyads with the others left out; 0 without a network."""
    file = space.file_of[record]
    if not space.observed[file]:
        return 0.0
    i = record - space.offset[file]
    x, ties = layout.position[file], space.adjacency[file][i]
    total = row(u, x, ties, row_levels(layout.intercept[file], layout.sociality[file], i), space.link, i, -1)
    for t in range(count):
        if members[t] != record and space.file_of[members[t]] == file:
            j = members[t] - space.offset[file]
            total -= dyad(squared_distance(u, x, j), ties[j], dyad_intercept(file, i, j, layout), space.link)
    return space.temperature * total


@njit(cache=True)
def rows(u, members, count, layout, space):
    """The sum of l_i(u) over records that all stand at u."""
    total = 0.0
    for t in range(count):
        total += record_row(u, members[t], members, count, layout, space)
    return total


@njit(cache=True)
def log_gamma(u, members, count, layout, space):
    """log gamma_A(u) = sum over i in A of l_i(u) + log N(u; 0, sigma^2 I)."""
    return rows(u, members, count, layout, space) + log_prior_density(u, layout.spread[0])


@njit(cache=True)
def _neighbours_mean(members, count, layout, space):
    """Sum of the neighbours' positions over (their number + 1/2)."""
    mean = np.zeros(space.dimension)
    number = 0.5
    for t in range(count):
        file = space.file_of[members[t]]
        if not space.observed[file]:
            continue
        x, ties = layout.position[file], space.adjacency[file][members[t] - space.offset[file]]
        for j in range(ties.size):
            inside = False
            for h in range(count):
                inside = inside or members[h] - space.offset[file] == j
            if ties[j] and not inside:
                number += 1.0
                for k in range(mean.size):
                    mean[k] += x[k, j]
    for k in range(mean.size):
        mean[k] /= number
    return mean


@njit(cache=True)
def _scoring_step(u, members, count, layout, space, step, factor):
    """One step of Fisher scoring at u for the position of A = `members`; see `exact.fit.scoring_step`."""
    precision = 1.0 / layout.spread[0]
    for k in range(u.size):
        step[k] = -u[k] * precision
        for h in range(k + 1):
            factor[k, h] = precision if h == k else 0.0
    for t in range(count):
        file = space.file_of[members[t]]
        if not space.observed[file]:
            continue
        i = members[t] - space.offset[file]
        x, ties = layout.position[file], space.adjacency[file][i]
        beta = row_levels(layout.intercept[file], layout.sociality[file], i)
        add_slopes(u, x, ties, beta, space.link, i, -1, space.temperature, step, factor)
        for h in range(count):
            if h != t and space.file_of[members[h]] == file:
                # What a dyad inside the cluster added is taken off again; it is bounded, so nothing is lost.
                j = members[h] - space.offset[file]
                both, tied = np.zeros((u.size, 2)), np.zeros(2, dtype=np.uint8)
                tied[1] = ties[j]
                for k in range(u.size):
                    both[k, 1] = x[k, j]
                level = dyad_intercept(file, i, j, layout)
                add_slopes(u, both, tied, level, space.link, 0, -1, -space.temperature, step, factor)
    cholesky(factor)
    solve_lower(factor, step)
    solve_upper(factor, step)


@njit(cache=True)
def fit_cluster(members, count, layout, space):
    """Fit q_A for A = `members`, from the other records only; see `exact.fit`."""
    mean = _neighbours_mean(members, count, layout, space)
    step, factor = np.empty(mean.size), np.empty((mean.size, mean.size))
    for _ in range(_STEPS):
        _scoring_step(mean, members, count, layout, space, step, factor)
        length = 0.0
        for k in range(mean.size):
            length += step[k] ** 2
        length = math.sqrt(length)
        shrink = _LONGEST / length if length > _LONGEST else 1.0
        for k in range(mean.size):
            mean[k] += shrink * step[k]
    log_constant = (
        math.lgamma(0.5 * (_FREEDOM + mean.size))
        - math.lgamma(0.5 * _FREEDOM)
        - 0.5 * mean.size * math.log(_FREEDOM * math.pi * _INFLATION)
    )
    for k in range(mean.size):
        log_constant += math.log(factor[k, k])
    return Fit(mean, factor, log_constant)
