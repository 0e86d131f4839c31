"""Positions to start from: shortest-path scaling of all networks, joined where records are one person, then ascent."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from tielink.kernels import njit
from tielink.network.latent_space.positions import jump, walk
from tielink.network.latent_space.proposal import scoring_step
from tielink.network.latent_space.scalars import file_log_likelihood, walk_intercepts
from tielink.network.latent_space.space import (
    Latent,
    Layout,
    Space,
    empty_layout,
    log_gamma,
    make_tuning,
    place,
    position_of,
)
from tielink.sampler.partition import Clusters

__all__ = ["ascend", "heights", "joint_layout", "scaling", "settle"]

STRETCHES = np.geomspace(0.3, 30.0, 24)
LONGEST = 4.0
HOTTEST = 0.02
DISTURBED = 0.1
"""The noise that makes starts differ, and parts equal positions."""


def scaling(adjacency: NDArray[np.uint8], dimension: int) -> NDArray[np.float64]:
    """
    Classical multidimensional scaling of shortest-path distances, (K, n).

    Parts of the graph that no path joins are put a little further apart than the longest path.
    """
    distance = shortest_path(csr_array(adjacency), method="D", unweighted=True, directed=False)
    finite = distance[np.isfinite(distance)]
    distance[~np.isfinite(distance)] = finite.max(initial=0.0) + 1.0
    n = distance.shape[0]
    squared = distance**2
    centered = -0.5 * (squared - squared.mean(axis=0) - squared.mean(axis=1)[:, None] + squared.mean())
    values, vectors = np.linalg.eigh(centered)
    position = np.zeros((dimension, n))
    rank = min(dimension, n)
    position[:rank] = (vectors[:, ::-1] * np.sqrt(np.maximum(values[::-1], 0.0))).T[:rank]
    return position


@njit
def _climb_intercept(file, layout, space, steps):
    """Newton steps for beta_j, slopes by differences; returns the file's log-likelihood before the last."""
    h, value = 0.02, 0.0
    for _ in range(steps):
        beta, precision = layout.intercept[file], 1.0 / space.intercept_sd[file] ** 2
        below = file_log_likelihood(file, beta - h, 1.0, layout, space)
        above = file_log_likelihood(file, beta + h, 1.0, layout, space)
        value = file_log_likelihood(file, beta, 1.0, layout, space)
        gradient = (above - below) / (2.0 * h) - beta * precision
        curvature = (above + below - 2.0 * value) / (h * h) - precision
        layout.intercept[file] += max(-1.0, min(1.0, -gradient / min(curvature, -1e-6)))
    return value


@njit
def ascend(state, latent, rounds):
    """
    Climb to a mode: each round gives every cluster one damped Fisher-scoring step, then beta and sigma^2 their best.

    A start may read the current positions, unlike the proposals of the sampler. Steps that do not climb are shortened.
    """
    layout, space = latent.layout, latent.space
    step, factor = np.empty(space.dimension), np.empty((space.dimension, space.dimension))
    for _ in range(rounds):
        total = 0.0
        for slot in range(state.size.size):
            if state.size[slot] == 0:
                continue
            members = state.member[slot, : state.size[slot]]
            u = position_of(layout, members[0])
            scoring_step(u, members, members.size, layout, space, step, factor)
            shrink = min(1.0, LONGEST / math.sqrt((step**2).sum() + 1e-300))
            before = log_gamma(u, members, members.size, layout, space)
            for _ in range(4):
                point = u + shrink * step
                if log_gamma(point, members, members.size, layout, space) > before:
                    place(layout, members, point)
                    u = point
                    break
                shrink *= 0.4
            total += (u**2).sum()
        for file in range(space.observed.size):
            if space.observed[file]:
                _climb_intercept(file, layout, space, 1)
        shape = space.spread_shape + 0.5 * state.number[0] * space.dimension + 1.0
        layout.spread[0] = (space.spread_scale + 0.5 * total) / shape


def settle(rng: np.random.Generator, state: Clusters, layout: Layout, space: Space, sweeps: int = 60) -> None:
    """
    Bring rough positions to a good mode: choose their scale, climb, anneal, climb.

    Climbing alone ends in a folded map 10-100 nats below the best one, as often as not; cooling the tie likelihood from
    1/50 to 1 over `sweeps` rounds of position moves unfolds it.
    """
    _stretch(layout, space)
    tuning = make_tuning(space)._replace(jumps=len(state.label))
    counts = np.zeros(2, dtype=np.int64)
    ascend(state, Latent(layout, space, tuning), 40)
    for t in range(sweeps):
        cooled = Latent(layout, space._replace(temperature=HOTTEST ** (1.0 - t / sweeps)), tuning)
        jump(rng, state, cooled, counts)
        walk(rng, state, cooled, counts)
        walk_intercepts(rng, cooled, counts)
    ascend(state, Latent(layout, space, tuning), 40)


def _stretch(layout: Layout, space: Space) -> None:
    """Choose the stretch, and intercepts with it, under which the ties are likeliest."""
    position, best, best_value = layout.position.copy(), (1.0, layout.intercept.copy()), -np.inf
    for factor in STRETCHES:
        layout.position[:] = factor * position
        value = sum(_climb_intercept(file, layout, space, 4) for file in np.flatnonzero(space.observed))
        if value > best_value:
            best, best_value = (float(factor), layout.intercept.copy()), value
    layout.position[:], layout.intercept[:] = best[0] * position, best[1]
    layout.spread[0] = max(float((layout.position**2).mean()), 1e-3)


def heights(layout: Layout, space: Space) -> NDArray[np.float64]:
    """Return each file's log-likelihood plus its records' log prior (up to a constant): the height of a mode."""
    ties = [file_log_likelihood(file, b, 1.0, layout, space) for file, b in enumerate(layout.intercept)]
    squares = np.add.reduceat((layout.position**2).sum(axis=0), space.offset[:-1])
    return np.asarray(np.array(ties) - 0.5 * squares / layout.spread[0])


def joint_layout(rng: np.random.Generator, state: Clusters, space: Space, restarts: int = 2) -> Layout:
    """Return the highest of a few layouts of all networks joined where records are one person."""
    _, person = np.unique(state.label, return_inverse=True)
    merged = np.zeros((int(state.number[0]),) * 2, dtype=np.uint8)
    records, columns = np.nonzero(space.adjacency)
    merged[person[records], person[columns + space.offset[space.file_of[records]]]] = 1
    np.fill_diagonal(merged, 0)
    scaled = scaling(merged, space.dimension)
    best, best_height = empty_layout(space), -np.inf
    for _ in range(restarts):
        layout = empty_layout(space)
        layout.position[:] = (scaled + DISTURBED * rng.standard_normal(scaled.shape))[:, person]
        settle(rng, state, layout, space)
        height = heights(layout, space).sum()
        if height > best_height:
            best, best_height = layout, height
    return best
