"""Positions of clusters in any number of files: rows of ties, and the state that goes with them.

There is one position per record, equal within a cluster, so that those of a file stand side by side. Records of a
cluster that are in the same file stand on the same spot whatever it is: dyads between them say nothing about it.

Kernels take a group of records as `members` and `count`: the first `count` of them stand together, and dyads between
any two members are left out.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.model.problem import LatentSpaceProblem
from tielink.network.latent_space.row import LOGIT, PROBIT, dyad, squared_distances, sum_terms

__all__ = ["LINKS", "Latent", "Layout", "Space", "Tuning", "empty_layout", "make_space", "make_tuning"]

LINKS = {"logit": LOGIT, "probit": PROBIT}


class Space(NamedTuple):
    """
    Ties and the hyperparameters of their model.

    Attributes
    ----------
    adjacency : (I, largest n_j) uint8
        The ties of every record to the records of its file, in their order; symmetric, zero diagonal.
    observed : (J,) bool
        Whether the file has a network at all; if not, its dyads contribute nothing.
    offset : (J + 1,) int64
        Number of the first record of each file.
    file_of : (I,) int64
    intercept_sd : (J,) float64
        Prior standard deviation omega_j of beta_j.
    spread_shape, spread_scale : float
        sigma^2 ~ InvGamma(shape, scale).
    link : int
        0 logit, 1 probit.
    dimension : int
        K.
    temperature : float
        Power of the tie likelihood: 1 is the posterior, less than 1 an annealed one.
    """

    adjacency: NDArray[np.uint8]
    observed: NDArray[np.bool_]
    offset: NDArray[np.int64]
    file_of: NDArray[np.int64]
    intercept_sd: NDArray[np.float64]
    spread_shape: float
    spread_scale: float
    link: int
    dimension: int
    temperature: float


class Layout(NamedTuple):
    """
    Everything that goes with ties.

    Attributes
    ----------
    position : (K, I)
        u of each record's person, by coordinate.
    intercept : (J,) float64
        beta_j.
    spread : (1,) float64
        sigma^2.
    """

    position: NDArray[np.float64]
    intercept: NDArray[np.float64]
    spread: NDArray[np.float64]


class Tuning(NamedTuple):
    """
    What may be tuned without changing the target.

    Attributes
    ----------
    step : (I,) float64
        Random-walk step of each record's position; a cluster uses its first record's.
    step_intercept : (J,) float64
    step_scale : (1,) float64
    particles : int
        M, draws per evidence.
    candidates : int
        C, clusters weighed by the restricted Gibbs move.
    jumps : int
        Clusters that jump in a sweep.
    """

    step: NDArray[np.float64]
    step_intercept: NDArray[np.float64]
    step_scale: NDArray[np.float64]
    particles: int
    candidates: int
    jumps: int


class Latent(NamedTuple):
    """Everything that goes with positions, for kernels."""

    layout: Layout
    space: Space
    tuning: Tuning


def make_space(sizes: tuple[int, ...], network: LatentSpaceProblem) -> Space:
    """Return ties and hyperparameters as kernels take them."""
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    adjacency = np.zeros((sum(sizes), max(sizes)), dtype=np.uint8)
    for begin, ties in zip(offset[:-1], network.ties, strict=True):
        for one, other in () if ties is None else (ties.T, ties.T[::-1]):
            adjacency[begin + one, other] = 1
    return Space(
        adjacency,
        np.array([ties is not None for ties in network.ties]),
        offset,
        np.repeat(np.arange(len(sizes)), sizes),
        np.ascontiguousarray(network.intercept_sd, dtype=float),
        float(network.spread_shape),
        float(network.spread_scale),
        LINKS[network.link],
        network.dimension,
        1.0,
    )


def make_tuning(space: Space) -> Tuning:
    """Return steps of one unit of distance (the link's own scale), to be adapted in warm-up."""
    records = len(space.file_of)
    return Tuning(np.ones(records), np.full(len(space.observed), 0.2), np.full(1, 0.05), 2, 8, max(1, records // 8))


def empty_layout(space: Space) -> Layout:
    """Return everybody at the origin, spread at its prior mean."""
    spread = space.spread_scale / max(space.spread_shape - 1.0, 0.5)
    return Layout(np.zeros((space.dimension, len(space.file_of))), np.zeros(len(space.observed)), np.array([spread]))


@njit
def ties_of(space, record):
    """Return the ties of a record to those of its file."""
    file = space.file_of[record]
    return space.adjacency[record, : space.offset[file + 1] - space.offset[file]]


@njit
def position_of(layout, record):
    """A copy of a record's position."""
    return layout.position[:, record].copy()


@njit
def place(layout, members, u):
    """Write the position of records."""
    for record in members:
        layout.position[:, record] = u


@njit
def record_row(u, record, members, layout, space):
    """l_i(u) of one of the `members`, dyads with the others left out; 0 without a network."""
    file = space.file_of[record]
    if not space.observed[file]:
        return 0.0
    begin, intercept, ties = space.offset[file], layout.intercept[file], ties_of(space, record)
    squared = np.empty(ties.size)
    squared_distances(u, layout.position, begin, squared)
    total = sum_terms(squared, ties, intercept, space.link)
    # Leaving columns out of the loop would break its vectorisation; taking a term off again costs one scalar call.
    total -= dyad(squared[record - begin], ties[record - begin], intercept, space.link)
    for other in members:
        if other != record and space.file_of[other] == file:
            apart = 0.0
            for k in range(u.size):
                apart += (u[k] - layout.position[k, other]) ** 2
            total -= dyad(apart, ties[other - begin], intercept, space.link)
    return space.temperature * total


@njit
def rows(u, members, count, layout, space):
    """The sum of l_i(u) over the first `count` members."""
    total = 0.0
    for t in range(count):
        total += record_row(u, members[t], members, layout, space)
    return total


@njit
def log_prior_density(u, spread):
    """log N(u; 0, sigma^2 I)."""
    total = 0.0
    for k in range(u.size):
        total += u[k] * u[k]
    return -0.5 * total / spread - 0.5 * u.size * math.log(2.0 * math.pi * spread)


@njit
def log_gamma(u, members, count, layout, space):
    """log gamma_A(u) = sum over i in A of l_i(u) + log N(u; 0, sigma^2 I), A the first `count` members."""
    return rows(u, members, count, layout, space) + log_prior_density(u, layout.spread[0])
