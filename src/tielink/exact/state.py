"""The state of a chain, its tuning, and the small acts every move is made of."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from tielink.exact.correlation import pair_gain
from tielink.exact.row import row, row_levels, sociality_of
from tielink.exact.target import Target


class State(NamedTuple):
    """
    One position per *record*, equal within a cluster, so that ties are read from one file's array.

    Attributes
    ----------
    position_a, position_b : (K, n1) and (K, n2) float64
        u of the record's person, by coordinate.
    partner_a, partner_b : (n1,) and (n2,) int64
        The record of the other file in the same cluster, or -1.
    intercept : (2,) float64
        beta_j.
    spread : (1,) float64
        sigma^2.
    matched : (1,) int64
        Number m of free (non-anchor) matches. N = n1 + n2 - anchors - m.
    correlation : (1,) float64, or None
        log phi; None if ties of different files are independent given positions.
    sociality_a, sociality_b : (n1,) and (n2,) float64, or None
        s of each record, empty without a network in that file; None without sociality.
    sociality_sd : (1,) float64, or None
        tau; None without sociality.

    Kernels are compiled for the types of what they are given: where the last four are None they are the paper's
    kernels, and what is off costs nothing.
    """

    position_a: NDArray[np.float64]
    position_b: NDArray[np.float64]
    partner_a: NDArray[np.int64]
    partner_b: NDArray[np.int64]
    intercept: NDArray[np.float64]
    spread: NDArray[np.float64]
    matched: NDArray[np.int64]
    correlation: NDArray[np.float64] | None = None
    sociality_a: NDArray[np.float64] | None = None
    sociality_b: NDArray[np.float64] | None = None
    sociality_sd: NDArray[np.float64] | None = None


class Tuning(NamedTuple):
    """
    What may be tuned without changing the target.

    Attributes
    ----------
    step_a, step_b : (n,) float64
        Random-walk step of each record's position; a pair uses the first file's.
    step_intercept : (2,) float64
    step_scale : (1,) float64
    step_correlation : (1,) float64
    step_sociality_a, step_sociality_b : (n,) float64
        Random-walk step of each record's sociality.
    step_sociality_sd : (2,) float64
        Steps of log tau: with s held, and with s/tau held.
    particles : int
        M, draws per evidence.
    candidates : int
        C, partners weighed by the restricted Gibbs move.
    gibbs, merges, swaps, jumps, walks, scalars : int
        Work per sweep: see `sweep`.
    """

    step_a: NDArray[np.float64]
    step_b: NDArray[np.float64]
    step_intercept: NDArray[np.float64]
    step_scale: NDArray[np.float64]
    particles: int
    candidates: int
    gibbs: int
    merges: int
    swaps: int
    jumps: int
    walks: int
    scalars: int
    step_correlation: NDArray[np.float64]
    step_sociality_a: NDArray[np.float64]
    step_sociality_b: NDArray[np.float64]
    step_sociality_sd: NDArray[np.float64]


# "No record of either file". Not a literal (-1, -1): that has a type of its own and compiles everything twice.
NOBODY = (np.int64(-1), np.int64(-1))


class Info(NamedTuple):
    """How often a move was proposed and how often it was accepted."""

    proposed: int
    accepted: int


def init(rng: np.random.Generator, target: Target) -> State:
    """
    Anchors linked and nothing else; spread at its prior mean, positions from their prior, intercepts near zero.

    What goes beyond positions starts where it says nothing: phi at 1, all s at 0.
    """
    n1, n2 = target.log_bf.shape
    spread = target.spread_scale / max(target.spread_shape - 1.0, 0.5)
    position_a = rng.normal(size=(target.dimension, n1)) * math.sqrt(spread)
    position_b = rng.normal(size=(target.dimension, n2)) * math.sqrt(spread)
    anchored = np.flatnonzero(target.anchor_a >= 0)
    position_b[:, target.anchor_a[anchored]] = position_a[:, anchored]
    return State(
        position_a,
        position_b,
        target.anchor_a.copy(),
        target.anchor_b.copy(),
        rng.normal(size=2) * np.minimum(target.intercept_sd, 1.0),
        np.array([spread]),
        np.zeros(1, dtype=np.int64),
        *blank_ties(target),
    )


def blank_ties(target: Target) -> tuple[NDArray[np.float64] | None, ...]:
    """The state of all that goes beyond positions, saying nothing; None for what is off."""
    correlation = np.zeros(1) if target.correlation_sd > 0.0 else None
    if target.sociality_scale == 0.0:
        return correlation, None, None, None
    first, second = np.where(target.observed, target.log_bf.shape, 0)
    return correlation, np.zeros(first), np.zeros(second), np.full(1, 0.5 * target.sociality_scale)


def copy(state: State) -> State:
    """A deep copy."""
    return State(*(None if array is None else array.copy() for array in state))  # type: ignore[arg-type]


def init_tuning(
    target: Target,
    *,
    particles: int = 2,
    candidates: int = 8,
    gibbs: int = 1,
    merges: int | None = None,
    swaps: int = 1,
    jumps: int | None = None,
    walks: int = 2,
    scalars: int = 1,
) -> Tuning:
    """
    Steps of one unit of distance (the link's own scale), to be adapted in warm-up.

    The work per sweep is the best of a few settings tried on the paper's data of 184 + 420 records, by effective draws
    per CPU second; `benchmarks/effective_draws.py` measures what it gives there.
    """
    n1, n2 = target.log_bf.shape
    return Tuning(
        np.ones(n1),
        np.ones(n2),
        np.full(2, 0.2),
        np.full(1, 0.05),
        particles,
        candidates,
        gibbs,
        # A merge costs five times a Gibbs draw of the same record and changes the linkage a fifth as often.
        max(1, min(n1, n2) // 8) if merges is None else merges,
        swaps,
        max(1, (n1 + n2) // 8) if jumps is None else jumps,
        walks,
        scalars,
        np.full(1, 0.5),
        np.full(n1, 0.5),
        np.full(n2, 0.5),
        np.array([0.2, 0.1]),
    )


@njit(cache=True)
def by_file(side, here, there):
    """Order two values as (first file, second file), `here` belonging to file `side`."""
    return (here, there) if side == 0 else (there, here)


@njit(cache=True)
def bayes_factor(target, side, here, there):
    """Profile log Bayes factor of record `here` of file `side` and record `there` of the other."""
    return target.log_bf[here, there] if side == 0 else target.log_bf[there, here]


@njit(cache=True)
def prior_step(target, state):
    """log p(xi) gained by one more free match than the state has."""
    m = state.matched[0]
    return target.log_prior[m + 1] - target.log_prior[m]


@njit(cache=True)
def is_anchor(target, side, record):
    """Whether the record's partner is known."""
    return (target.anchor_a, target.anchor_b)[side][record] >= 0


@njit(cache=True)
def join(state, side, here, there):
    """Link two single records; positions are the caller's business."""
    (state.partner_a, state.partner_b)[side][here] = there
    (state.partner_a, state.partner_b)[1 - side][there] = here
    state.matched[0] += 1


@njit(cache=True)
def part(state, side, here, there):
    """Undo `join`."""
    (state.partner_a, state.partner_b)[side][here] = -1
    (state.partner_a, state.partner_b)[1 - side][there] = -1
    state.matched[0] -= 1


@njit(cache=True)
def place(state, side, record, u):
    """Write a record's position."""
    x = (state.position_a, state.position_b)[side]
    for k in range(u.size):
        x[k, record] = u[k]


@njit(cache=True)
def position_of(state, side, record):
    """A copy of a record's position."""
    x = (state.position_a, state.position_b)[side]
    u = np.empty(x.shape[0])
    for k in range(u.size):
        u[k] = x[k, record]
    return u


@njit(cache=True)
def place_person(state, members, u):
    """Write the position of every record of a person, named by one record per file (-1: none)."""
    for side in range(2):
        if members[side] >= 0:
            place(state, side, members[side], u)


@njit(cache=True)
def position_of_person(state, members):
    """A copy of a person's position."""
    side = 0
    if members[0] < 0:
        side = 1
    return position_of(state, side, members[side])


@njit(cache=True)
def row_intercepts(side, record, state):
    """beta_j + s_i + s_j for every record j of the file; the number beta_j without sociality."""
    return row_levels(state.intercept[side], (state.sociality_a, state.sociality_b)[side], record)


@njit(cache=True)
def dyad_intercept(side, i, j, state):
    """beta_j + s_i + s_j, or beta_j without sociality."""
    sociality = (state.sociality_a, state.sociality_b)[side]
    return state.intercept[side] + sociality_of(sociality, i) + sociality_of(sociality, j)


@njit(cache=True)
def record_log_likelihood(u, side, record, skip, state, target):
    """l_i(u): the record's row of ties when it stands at `u`, dyad (record, skip) left out; 0 without a network."""
    if not target.observed[side]:
        return 0.0
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    return target.temperature * row(u, x, ties[record], row_intercepts(side, record, state), target.link, record, skip)


@njit(cache=True)
def log_prior_density(u, spread):
    """log N(u; 0, sigma^2 I)."""
    total = 0.0
    for k in range(u.size):
        total += u[k] * u[k]
    return -0.5 * total / spread - 0.5 * u.size * math.log(2.0 * math.pi * spread)


@njit(cache=True)
def log_gamma(u, members, skips, state, target):
    """
    log gamma_A(u) = sum over i in A of l_i(u) + log N(u; 0, sigma^2 I) + what A gains at u by phi.

    `members` names one record per file (-1: none of that file); `skips` one record per file whose dyad with the member
    is left out (-1: none).
    """
    total = log_prior_density(u, state.spread[0])
    for side in range(2):
        if members[side] >= 0:
            total += record_log_likelihood(u, side, members[side], skips[side], state, target)
    return total + pair_gain(state.correlation, u, members, skips, state, target)


@njit(cache=True)
def choose(rng, log_weights):
    """An index drawn in proportion to exp(log_weights), and the log of their sum; (-1, -inf) if all are -inf."""
    top = -np.inf
    for i in range(log_weights.size):
        top = max(top, log_weights[i])
    if top == -np.inf:
        return -1, -np.inf
    total = 0.0
    for i in range(log_weights.size):
        total += math.exp(log_weights[i] - top)
    left = rng.random() * total
    chosen = -1
    for i in range(log_weights.size):
        weight = math.exp(log_weights[i] - top)
        if weight > 0.0:
            chosen = i
            left -= weight
            if left < 0.0:
                break
    return chosen, top + math.log(total)
