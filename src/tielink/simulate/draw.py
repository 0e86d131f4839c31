"""Draw each part of the model: a linkage, parameters, ties and profile values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from tielink.channels.channel import Drawn
from tielink.data.linkage import canonical
from tielink.logp.correlation import log_ratio
from tielink.logp.linkage import log_elementary
from tielink.logp.parameters import Parameters
from tielink.model.cluster_priors import SizePrior
from tielink.model.linkage_priors import log_pairings, pairing_tables
from tielink.model.problem import Problem
from tielink.simulate.clusters import draw_clusters

__all__ = ["draw_labels", "draw_parameters", "draw_profiles", "draw_ties", "tie_probability", "weighted_subset"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NOTHING = np.empty(0)


def draw_labels(
    rng: np.random.Generator, problem: Problem, hyperparameters: Floats = NOTHING, activity: float = 0.0
) -> Codes:
    """Draw a linkage from its prior given hyperparameters and α, anchors kept and known non-matches apart.

    The number of matches first, then how many of them each further file brings (by the counts of
    `pairing_tables`, backwards), then which records they are, uniformly.
    """
    linkage = problem.linkage
    if linkage.clusters is not None:
        return draw_clusters(rng, problem, hyperparameters)
    alone = np.bincount(linkage.anchors)[linkage.anchors] == 1
    while True:
        matches = int(rng.choice(len(linkage.log_matches), p=np.exp(linkage.log_matches)))
        labels = linkage.anchors.copy()
        if linkage.activity is None:
            _pair_up(rng, labels, _pairs_by_file(rng, linkage.free, matches), alone, problem.file_of)
        else:
            _pair_active(
                rng, labels, matches, alone, problem.sizes[0], activity * np.concatenate(linkage.activity.scores)
            )
        apart = linkage.nonmatches
        if not (labels[apart[:, 0]] == labels[apart[:, 1]]).any():
            return canonical(labels)


def _pairs_by_file(rng: np.random.Generator, free: tuple[int, ...], matches: int) -> list[int]:
    """Draw how many pairs each file makes with the files before it, `matches` in all."""
    tables = pairing_tables(free)
    left = sum(free) - 2 * matches
    pairs = [0] * len(free)
    for file in range(len(free) - 1, 0, -1):
        count = np.arange(free[file] + 1)
        before = left + 2 * count - free[file]
        possible = (before >= count) & (before < len(tables[file - 1]))
        count, before = count[possible], before[possible]
        log = tables[file - 1][before] + log_pairings(free[file], before, count)
        weight = np.exp(log - log.max())
        chosen = rng.choice(len(count), p=weight / weight.sum())
        pairs[file], left = int(count[chosen]), int(before[chosen])
    return pairs


def _pair_up(
    rng: np.random.Generator, labels: Codes, pairs: list[int], alone: NDArray[np.bool_], file_of: Codes
) -> None:
    """Give random records of each file the labels of random unpaired records of the files before it."""
    waiting = np.empty(0, dtype=np.int64)
    for file, count in enumerate(pairs):
        here = rng.permutation(np.flatnonzero(alone & (file_of == file)))
        waiting = rng.permutation(waiting)
        labels[here[:count]] = labels[waiting[:count]]
        waiting = np.concatenate([waiting[count:], here[count:]])


def _pair_active(
    rng: np.random.Generator, labels: Codes, matches: int, alone: NDArray[np.bool_], first: int, log_weights: Floats
) -> None:
    """Link `matches` records of each of two files, drawn in proportion to the product of their weights."""
    free = np.flatnonzero(alone)
    sides = [free[free < first], free[free >= first]]
    chosen = [rng.permutation(side[weighted_subset(rng, log_weights[side], matches)]) for side in sides]
    labels[chosen[1]] = labels[chosen[0]]


def weighted_subset(rng: np.random.Generator, log_weights: Floats, size: int) -> Codes:
    """Draw a subset of given size with probability ∝ the product of its weights, one element after the other.

    The last of n elements is in with probability w_n·e_{k−1}(w_1 … w_{n−1})/e_k(w_1 … w_n).
    """
    tables = [log_elementary(log_weights[:count], size) for count in range(len(log_weights) + 1)]
    chosen: list[int] = []
    for place in range(len(log_weights) - 1, -1, -1):
        left = size - len(chosen)
        if left and rng.random() < np.exp(log_weights[place] + tables[place][left - 1] - tables[place + 1][left]):
            chosen.append(place)
    return np.array(chosen, dtype=np.int64)


def draw_parameters(rng: np.random.Generator, problem: Problem) -> Parameters:
    """Draw all parameters from their priors (true values and distortions come with `draw_profiles`)."""
    prior, weight = problem.linkage.clusters, problem.linkage.activity
    hyperparameters = prior.draw(rng) if isinstance(prior, SizePrior) else NOTHING
    activity = 0.0 if weight is None else float(rng.normal(0.0, weight.sd))
    labels = draw_labels(rng, problem, hyperparameters, activity)
    persons = int(labels.max()) + 1
    network = problem.network
    if network is None:
        positions, intercepts, spread = np.zeros((persons, 0)), np.zeros(len(problem.sizes)), 1.0
    else:
        spread = network.spread_scale / rng.gamma(network.spread_shape)
        positions = rng.normal(0.0, math.sqrt(spread), (persons, network.dimension))
        intercepts = rng.normal(0.0, network.intercept_sd)
    fields = tuple(field.draw_prior(rng) for field in problem.fields)
    rates = np.array([rng.beta(rate.prior.a, rate.prior.b) for rate in problem.rates])
    correlation, sociality, sd = draw_beyond(rng, problem)
    careless, share = draw_careless(rng, problem)
    return Parameters(
        labels, positions, intercepts, spread, rates, fields, careless, share, hyperparameters,
        correlation=correlation, sociality=sociality, sociality_sd=sd, activity=activity,
    )  # fmt: skip


def draw_careless(rng: np.random.Generator, problem: Problem) -> tuple[NDArray[np.bool_], float]:
    """Draw who is careless, and their share; nobody where the model has one sort of records."""
    if problem.careless_share is None:
        return np.zeros(0, dtype=bool), 0.0
    share = float(rng.beta(problem.careless_share.a, problem.careless_share.b))
    return rng.random(problem.records) < share, share


def draw_beyond(rng: np.random.Generator, problem: Problem) -> tuple[float, Floats | None, float]:
    """Draw log φ, s and τ from their priors: 0, None and 1 for what is off."""
    network = problem.network
    if network is None:
        return 0.0, None, 1.0
    correlation = 0.0 if network.correlation_sd is None else float(rng.normal(0.0, network.correlation_sd))
    if network.sociality_scale is None:
        return correlation, None, 1.0
    sd = abs(float(rng.normal(0.0, network.sociality_scale)))
    has_network = np.array([ties is not None for ties in network.ties])
    return correlation, np.where(has_network[problem.file_of], rng.normal(0.0, sd, problem.records), 0.0), sd


def tie_probability(link: str, positions: Floats, intercept: float, sociality: Floats | None = None) -> Floats:
    """Return g⁻¹(β + s_i + s_i' − ‖u_i − u_i'‖) for all dyads i < i', row by row; s = 0 unless given."""
    rows, columns = np.triu_indices(len(positions), 1)
    eta = intercept - np.linalg.norm(positions[rows] - positions[columns], axis=1)
    if sociality is not None:
        eta = eta + sociality[rows] + sociality[columns]
    return np.asarray(expit(eta) if link == "logit" else ndtr(eta))


def draw_ties(
    rng: np.random.Generator, problem: Problem, parameters: Parameters
) -> tuple[NDArray[np.int64] | None, ...]:
    """Draw the ties of every file that has a network, given positions and intercepts."""
    network = problem.network
    if network is None:
        return (None,) * len(problem.sizes)
    drawn: list[_DrawnFile | None] = []
    for file, size in enumerate(problem.sizes):
        if network.ties[file] is None:
            drawn.append(None)
            continue
        margin = _margins(problem, parameters, file)
        given = margin if network.correlated is None else _given_earlier(problem, parameters, margin, drawn)
        drawn.append(_DrawnFile(size, margin, rng.random(len(given)) < given))
    return tuple(None if one is None else np.column_stack(np.triu_indices(one.size, 1))[one.tied] for one in drawn)


class _DrawnFile(NamedTuple):
    """The dyads i < i' of a file, row by row: their tie probabilities, and whether they are tied."""

    size: int
    margin: Floats
    tied: NDArray[np.bool_]


def _margins(problem: Problem, parameters: Parameters, file: int) -> Floats:
    """Return the tie probability of every dyad of a file."""
    assert problem.network is not None
    mine = problem.file_of == file
    sociality = None if parameters.sociality is None else parameters.sociality[mine]
    positions = parameters.positions[parameters.labels[mine]]
    return tie_probability(problem.network.link, positions, float(parameters.intercepts[file]), sociality)


def _given_earlier(
    problem: Problem, parameters: Parameters, margin: Floats, drawn: Sequence[_DrawnFile | None]
) -> Floats:
    """Return the tie probabilities of the next file, P(1 | y) = q·ratio(y, 1), given the ties of earlier ones.

    y is the tie of the same two persons in the last earlier network that both are in.
    """
    assert problem.network is not None
    correlated = problem.network.correlated
    assert correlated is not None
    given, free = margin.copy(), np.ones(len(margin), dtype=bool)
    here = np.flatnonzero(problem.file_of == len(drawn))
    for file, earlier in reversed(list(enumerate(drawn))):
        if earlier is None:
            continue
        there = np.flatnonzero(problem.file_of == file)
        holder = {int(parameters.labels[record]): at for at, record in enumerate(there) if correlated[record]}
        partner = np.array([holder.get(int(parameters.labels[r]), -1) if correlated[r] else -1 for r in here])
        rows, columns = (partner[index] for index in np.triu_indices(len(here), 1))
        both = free & (rows >= 0) & (columns >= 0)
        low, high = np.minimum(rows, columns)[both], np.maximum(rows, columns)[both]
        place = low * earlier.size - low * (low + 1) // 2 + high - low - 1
        seen = earlier.tied[place]
        observed = np.where(seen, earlier.margin[place], 1 - earlier.margin[place])
        given[both] *= np.exp(log_ratio(parameters.correlation, observed, margin[both], seen))
        free &= ~both
    return given


def draw_profiles(
    rng: np.random.Generator, problem: Problem, parameters: Parameters
) -> tuple[list[Drawn], NDArray[np.bool_]]:
    """Draw true values π and the records' values of every field, none missing, and distortions w (I × L)."""
    rates = np.empty((problem.records, len(problem.fields)))
    for index in range(len(problem.fields)):
        rates[:, index] = problem.record_rates(index, parameters.distortion, parameters.careless)
    is_distorted = rng.random(rates.shape) < rates
    drawn = [
        field.simulate(rng, parameters.of_field(index), parameters.labels, is_distorted[:, index])
        for index, field in enumerate(problem.fields)
    ]
    return drawn, is_distorted
