"""A start for clusters with ties: shortest-path scaling of all networks, joined where records are one person."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from tielink.exact.clusters.positions import file_log_likelihood, jump, walk, walk_intercepts
from tielink.exact.clusters.space import ClusterTuning, Layout, Space
from tielink.exact.clusters.state import Clusters
from tielink.exact.start import disturbed, scaling

__all__ = ["empty_layout", "make_tuning", "start_layout"]

STRETCHES = np.geomspace(0.3, 30.0, 12)
HOTTEST = 0.02
ROUNDS = 100


def make_tuning(space: Space, records: int) -> ClusterTuning:
    """Return steps of one unit of distance, to be adapted in warm-up."""
    files = len(space.adjacency)
    steps = np.ones(records), np.empty(0), np.full(files, 0.2), np.full(1, 0.05)
    social = np.full(records, 0.5), np.empty(0), np.array([0.2, 0.1])
    return ClusterTuning(*steps, 2, 8, max(1, records // 8), *social, np.full(1, 0.5))


def empty_layout(space: Space) -> Layout:
    """Return everybody at the origin, spread at its prior mean, log phi and every s at 0."""
    spread = space.spread_scale / max(space.spread_shape - 1.0, 0.5)
    positions = tuple(np.zeros((space.dimension, len(ties))) for ties in space.adjacency)
    intercept, correlation = np.zeros(len(space.adjacency)), None if space.correlated is None else np.zeros(1)
    if space.sociality_scale == 0.0:
        return Layout(positions, intercept, np.array([spread]), (None,) * len(positions), None, correlation)
    sizes = [len(ties) if seen else 0 for ties, seen in zip(space.adjacency, space.observed, strict=True)]
    sociality = tuple(np.zeros(size) for size in sizes)
    social = sociality, np.full(1, 0.5 * space.sociality_scale)
    return Layout(positions, intercept, np.array([spread]), *social, correlation)


def start_layout(rng: np.random.Generator, state: Clusters, space: Space, restarts: int = 2) -> Layout:
    """Scale, stretch, anneal; return the likeliest of a few layouts."""
    _, person = np.unique(state.label, return_inverse=True)
    merged = np.zeros((int(state.number[0]),) * 2, dtype=np.uint8)
    for file, ties in enumerate(space.adjacency):
        rows, columns = np.nonzero(ties)
        merged[person[rows + space.offset[file]], person[columns + space.offset[file]]] = 1
    np.fill_diagonal(merged, 0)
    scaled = scaling(merged, space.dimension)
    best, best_height = empty_layout(space), -np.inf
    for _ in range(restarts):
        layout = empty_layout(space)
        position = disturbed(rng, scaled)[:, person]
        _stretch(layout, space, position)
        _anneal(rng, state, layout, space)
        height = _height(layout, space)
        if height > best_height:
            best, best_height = layout, height
    return best


def _write(layout: Layout, space: Space, position: NDArray[np.float64]) -> None:
    for file, x in enumerate(layout.position):
        x[:] = position[:, space.offset[file] : space.offset[file + 1]]


def _height(layout: Layout, space: Space) -> float:
    ties = sum(file_log_likelihood(file, b, 1.0, layout, space) for file, b in enumerate(layout.intercept))
    return float(ties - 0.5 * sum((x**2).sum() for x in layout.position) / layout.spread[0])


def _stretch(layout: Layout, space: Space, position: NDArray[np.float64]) -> None:
    """Choose the stretch, and intercepts with it, under which the ties are likeliest."""
    best, best_value = (1.0, layout.intercept.copy()), -np.inf
    for factor in STRETCHES:
        _write(layout, space, factor * position)
        value, intercepts = 0.0, np.zeros_like(layout.intercept)
        for file in np.flatnonzero(space.observed):
            found = minimize_scalar(
                lambda b, file=file: -file_log_likelihood(file, b, 1.0, layout, space),
                bounds=(-20, 60),
                method="bounded",
            )
            intercepts[file], value = found.x, value - found.fun
        if value > best_value:
            best, best_value = (float(factor), intercepts), value
    _write(layout, space, best[0] * position)
    layout.intercept[:] = best[1]
    layout.spread[0] = max(float(np.mean((best[0] * position) ** 2)), 1e-3)


def _anneal(rng: np.random.Generator, state: Clusters, layout: Layout, space: Space) -> None:
    """Cool the tie likelihood: climbing alone ends in folded maps."""
    tuning = make_tuning(space, len(state.label))._replace(jumps=len(state.label))
    for t in range(ROUNDS):
        cooled = space._replace(temperature=HOTTEST ** (1.0 - t / ROUNDS))
        jump(rng, state, layout, cooled, tuning)
        walk(rng, state, layout, cooled, tuning)
        walk_intercepts(rng, state, layout, cooled, tuning)
