"""A start near a mode: shortest-path scaling of the anchor-merged graph, then ascent of the log posterior."""

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import shortest_path

from tielink.exact.fit import scoring_step
from tielink.exact.intercept import file_log_likelihood, walk_intercepts
from tielink.exact.positions import jump, persons, walk
from tielink.exact.row import LOGIT, exp_negative, log_normal_cdf, squared_distances
from tielink.exact.spread import squared_norms
from tielink.exact.state import NOBODY, State, copy, init, init_tuning, log_gamma, place_person, position_of_person
from tielink.exact.target import Target

_STRETCHES = np.geomspace(0.3, 30.0, 24)
_LONGEST = 4.0
_HOTTEST = 0.02


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


def disturbed(rng: np.random.Generator, position: NDArray[np.float64]) -> NDArray[np.float64]:
    """Positions with a small random disturbance, which makes starts differ and parts equal positions."""
    return np.asarray(position + 0.1 * rng.standard_normal(position.shape))


@njit(cache=True)
def _climb_intercept(side, state, target):
    """A few Fisher-scoring steps for beta_j."""
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    squared, u = np.empty(x.shape[1]), np.empty(x.shape[0])
    for _ in range(3):
        beta = state.intercept[side]
        gradient = -beta / target.intercept_sd[side] ** 2
        information = 1.0 / target.intercept_sd[side] ** 2
        for i in range(x.shape[1] - 1):
            for k in range(u.size):
                u[k] = x[k, i]
            squared_distances(u, x, squared)
            for j in range(i + 1, x.shape[1]):
                predictor = beta - math.sqrt(squared[j])
                if target.link == LOGIT:
                    t = exp_negative(-abs(predictor))
                    p = (1.0 if predictor > 0.0 else t) / (1.0 + t)
                    gradient += target.temperature * (ties[i, j] - p)
                    information += target.temperature * t / (1.0 + t) ** 2
                else:
                    log_density = -0.5 * predictor * predictor - 0.9189385332046727
                    up = math.exp(log_density - log_normal_cdf(predictor))
                    down = math.exp(log_density - log_normal_cdf(-predictor))
                    gradient += target.temperature * (up if ties[i, j] else -down)
                    information += target.temperature * up * down
        state.intercept[side] += max(-1.0, min(1.0, gradient / information))


@njit(cache=True)
def ascend(state, target, rounds, move_spread):
    """
    Climb to a mode: each round gives every person one damped Fisher-scoring step, then beta and sigma^2 their best.

    A start may read the current positions, unlike the proposals of the sampler. Steps that do not climb are halved.
    """
    dimension = target.dimension
    gradient, information = np.empty(dimension), np.empty((dimension, dimension))
    people = persons(state)
    point = np.empty(dimension)
    for _ in range(rounds):
        for n in range(people.shape[0]):
            members = (people[n, 0], people[n, 1])
            u = position_of_person(state, members)
            scoring_step(u, members, NOBODY, state, target, gradient, information)
            length = 0.0
            for k in range(dimension):
                length += gradient[k] ** 2
            shrink = min(1.0, _LONGEST / math.sqrt(length + 1e-300))
            before = log_gamma(u, members, NOBODY, state, target)
            for _ in range(4):
                for k in range(dimension):
                    point[k] = u[k] + shrink * gradient[k]
                if log_gamma(point, members, NOBODY, state, target) > before:
                    place_person(state, members, point)
                    break
                shrink *= 0.4
        for side in range(2):
            if target.observed[side]:
                _climb_intercept(side, state, target)
        if move_spread:
            count, total = squared_norms(state)
            shape = target.spread_shape + 0.5 * count * dimension + 1.0
            state.spread[0] = (target.spread_scale + 0.5 * total) / shape


@njit(cache=True)
def _best_stretch(state, target, stretches):
    """Leave the positions at the stretch, and beta_j at the value, under which the ties are likeliest."""
    best, best_value, done = 1.0, -np.inf, 1.0
    for candidate in stretches:
        _stretch(state, candidate / done)
        done = candidate
        value = _value(state, target)
        if value > best_value:
            best, best_value = candidate, value
    _stretch(state, best / done)
    _value(state, target)


@njit(cache=True)
def _stretch(state, factor):
    for k in range(state.position_a.shape[0]):
        for i in range(state.position_a.shape[1]):
            state.position_a[k, i] *= factor
        for j in range(state.position_b.shape[1]):
            state.position_b[k, j] *= factor


@njit(cache=True)
def _value(state, target):
    total = 0.0
    for side in range(2):
        if target.observed[side]:
            for _ in range(4):
                _climb_intercept(side, state, target)
            total += file_log_likelihood(side, state.intercept[side], 1.0, state, target)
    return total


def settle(rng: np.random.Generator, state: State, target: Target, sweeps: int = 60, rounds: int = 40) -> None:
    """
    Bring rough positions to a good mode: choose their scale, anneal, climb.

    Climbing alone ends in a folded map 10-100 nats below the best one, as often as not; cooling the tie likelihood from
    1/50 to 1 over `sweeps` rounds of position moves unfolds it.
    """
    _best_stretch(state, target, _STRETCHES)
    count, total = squared_norms(state)
    shape = target.spread_shape + 0.5 * count * target.dimension + 1.0
    state.spread[0] = (target.spread_scale + 0.5 * total) / shape
    ascend(state, target, rounds, True)
    tuning = init_tuning(target, jumps=sum(target.log_bf.shape))
    for t in range(sweeps):
        cooled = target._replace(temperature=target.temperature * _HOTTEST ** (1.0 - t / sweeps))
        jump(rng, state, cooled, tuning)
        walk(rng, state, cooled, tuning)
        walk_intercepts(rng, state, cooled, tuning)
    ascend(state, target, rounds, True)


def height(state: State, target: Target) -> NDArray[np.float64]:
    """Each file's log-likelihood plus its records' log prior (up to a constant): the height of a mode, by file."""
    squares = np.array([(state.position_a**2).sum(), (state.position_b**2).sum()])
    ties = [file_log_likelihood(side, state.intercept[side], 1.0, state, target) for side in (0, 1)]
    return np.asarray(np.array(ties) - 0.5 * squares / state.spread[0])


def start(rng: np.random.Generator, target: Target, restarts: int = 3) -> State:
    """
    A start for one chain: MDS of both networks joined at the anchors, settled, anchors linked and nothing else.

    The highest of `restarts` modes is kept.

    Different generators give different starts near, as a rule, the same mode; `align` gives starts near several.
    """
    state = init(rng, target)
    if not target.observed.any() or target.dimension == 0:
        return state
    n1 = target.log_bf.shape[0]
    person_b = np.where(target.anchor_b >= 0, target.anchor_b, -1)
    single = np.flatnonzero(person_b < 0)
    person_b[single] = n1 + np.arange(single.size)
    merged = np.zeros((n1 + single.size,) * 2, dtype=np.uint8)
    merged[:n1, :n1] = target.adjacency_a if target.observed[0] else 0
    if target.observed[1]:
        merged[np.ix_(person_b, person_b)] |= target.adjacency_b
    layout = scaling(merged, target.dimension)
    best, best_height = state, -np.inf
    for _ in range(restarts):
        state = copy(state)
        position = disturbed(rng, layout)
        state.position_a[:], state.position_b[:] = position[:, :n1], position[:, person_b]
        settle(rng, state, target)
        total = height(state, target).sum()
        if total > best_height:
            best, best_height = state, total
    return best
