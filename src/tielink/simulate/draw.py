"""Draw each part of the model: a linkage, parameters, ties and profile values."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtr

from tielink.channels.channel import Drawn
from tielink.data.linkage import canonical
from tielink.faults import Fault, InputError
from tielink.logp.parameters import Parameters
from tielink.model.cluster_priors import SizePrior
from tielink.model.linkage_priors import log_pairings, pairing_tables
from tielink.model.problem import LatentSpaceProblem, Problem, SharedTiesProblem
from tielink.simulate.clusters import draw_clusters

__all__ = ["draw_labels", "draw_parameters", "draw_profiles", "draw_ties", "latent_space", "tie_probability"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
NOTHING = np.empty(0)


def draw_labels(rng: np.random.Generator, problem: Problem, hyperparameters: Floats = NOTHING) -> Codes:
    """Draw a linkage from its prior given hyperparameters, anchors kept and known non-matches apart.

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
        _pair_up(rng, labels, _pairs_by_file(rng, linkage.free, matches), alone, problem.file_of)
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


def latent_space(problem: Problem) -> LatentSpaceProblem | None:
    """Return the latent space, if the model has one; refuse shared ties, of which θ is not drawn from any prior."""
    if isinstance(problem.network, SharedTiesProblem):
        fault = Fault(
            "simulate",
            "the model has shared ties, whose rates are taken from the degrees of networks that are not drawn yet.",
            "Use tl.simulate.shared_ties, or a model with LatentSpace() or without a network.",
        )
        raise InputError([fault])
    return problem.network


def draw_parameters(rng: np.random.Generator, problem: Problem) -> Parameters:
    """Draw all parameters from their priors (true values and distortions come with `draw_profiles`)."""
    prior = problem.linkage.clusters
    hyperparameters = prior.draw(rng) if isinstance(prior, SizePrior) else NOTHING
    labels = draw_labels(rng, problem, hyperparameters)
    persons = int(labels.max()) + 1
    network = latent_space(problem)
    if network is None:
        positions, intercepts, spread = np.zeros((persons, 0)), np.zeros(len(problem.sizes)), 1.0
    else:
        spread = network.spread_scale / rng.gamma(network.spread_shape)
        positions = rng.normal(0.0, math.sqrt(spread), (persons, network.dimension))
        intercepts = rng.normal(0.0, network.intercept_sd)
    fields = tuple(field.draw_prior(rng) for field in problem.fields)
    rates = np.array([rng.beta(rate.prior.a, rate.prior.b) for rate in problem.rates])
    careless, share = draw_careless(rng, problem)
    return Parameters(labels, positions, intercepts, spread, rates, fields, careless, share, hyperparameters)


def draw_careless(rng: np.random.Generator, problem: Problem) -> tuple[NDArray[np.bool_], float]:
    """Draw who is careless, and their share; nobody where the model has one sort of records."""
    if problem.careless_share is None:
        return np.zeros(0, dtype=bool), 0.0
    share = float(rng.beta(problem.careless_share.a, problem.careless_share.b))
    return rng.random(problem.records) < share, share


def tie_probability(link: str, positions: Floats, intercept: float) -> Floats:
    """Return g⁻¹(β − ‖u_i − u_i'‖) for all dyads i < i', row by row."""
    rows, columns = np.triu_indices(len(positions), 1)
    eta = intercept - np.linalg.norm(positions[rows] - positions[columns], axis=1)
    return np.asarray(expit(eta) if link == "logit" else ndtr(eta))


def draw_ties(
    rng: np.random.Generator, problem: Problem, parameters: Parameters
) -> tuple[NDArray[np.int64] | None, ...]:
    """Draw the ties of every file that has a network, given positions and intercepts."""
    network = latent_space(problem)
    if network is None:
        return (None,) * len(problem.sizes)
    drawn: list[NDArray[np.int64] | None] = []
    for file, size in enumerate(problem.sizes):
        if network.ties[file] is None:
            drawn.append(None)
            continue
        positions = parameters.positions[parameters.labels[problem.file_of == file]]
        probability = tie_probability(network.link, positions, float(parameters.intercepts[file]))
        drawn.append(np.column_stack(np.triu_indices(size, 1))[rng.random(len(probability)) < probability])
    return tuple(drawn)


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
