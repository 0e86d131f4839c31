"""Data as one would meet them: files of given sizes, overlap and density, drawn from a model."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tielink.channels.categorical import CategoricalChannel
from tielink.data.columns import MISSING, Column
from tielink.data.linkage import Linkage, canonical
from tielink.faults import Faults
from tielink.logp.parameters import Parameters
from tielink.model.network import LatentSpace
from tielink.model.problem import LatentSpaceProblem, Problem
from tielink.model.spec import Model
from tielink.simulate.copied import copy_ties
from tielink.simulate.draw import latent_space, tie_probability
from tielink.simulate.prior import Simulated, Vocabulary, blank, draw_data, fixed_frequencies
from tielink.simulate.vocabulary import PLACES, usernames

__all__ = ["known_matches", "labels_with_overlap", "profile_vocabularies", "scenario"]


def profile_vocabularies(rng: np.random.Generator, persons: int) -> dict[str, Vocabulary]:
    """Make values for a `username` (a string field) and a `place` (a categorical one)."""
    return {"username": usernames(rng, 2 * persons), "place": PLACES}


def scenario(
    rng: np.random.Generator,
    model: Model | None = None,
    sizes: Mapping[str, int] | None = None,
    *,
    overlap: int = 40,
    density: float | Mapping[str, float] = 0.17,
    spread: float | None = None,
    distortion: float | Mapping[str, float] = 0.1,
    missing: float = 0.0,
    anchors: float = 0.0,
    vocabularies: Mapping[str, Vocabulary] | None = None,
    copied: float = 0.0,
) -> Simulated:
    """Draw files from a model at given sizes, overlap and density.

    Parameters
    ----------
    rng
        Source of randomness.
    model
        A model without ties or, the default, with a latent space (for the other kind see `shared_ties`). Its priors of
        what is fixed here are not used.
    sizes
        The number of records of each file; by default 60 in `a` and 60 in `b`.
    overlap
        How many persons have a record in the first and in the second file. Other persons have one record.
    density
        The expected share of tied dyads, for all files or by file; intercepts β_j are set to give it.
    spread
        σ², the variance of positions; by default the mean of its prior.
    distortion
        ψ, for all fields or by field.
    missing
        The share of profile values that are missing.
    anchors
        The share of true matches that are known beforehand.
    vocabularies
        The values of each field, as for `from_prior`; `{}` for no profiles. By default usernames and places.
    copied
        The share of dyads between shared persons that the second file copies from the first; see `copy_ties`.

    Returns
    -------
    Simulated
        `.dataset`, `.truth` and the parameters behind them.

    Examples
    --------
    >>> made = scenario(np.random.default_rng(1), sizes={"a": 30, "b": 40}, overlap=10)
    >>> len(made.dataset.records), len(made.truth.pair_numbers)
    (70, 10)
    """
    model = Model(network=LatentSpace()) if model is None else model
    sizes = dict(sizes or {"a": 60, "b": 60})
    _check(sizes, overlap, density, distortion, missing, anchors, spread)
    _check_copied(model, sizes, copied)
    if vocabularies is None:
        vocabularies = profile_vocabularies(rng, sum(sizes.values()) - overlap)
    dataset = blank(sizes, vocabularies)
    model = replace(model, fields=fixed_frequencies(model, dataset, vocabularies))
    problem = Problem.compile(model, dataset)
    labels = labels_with_overlap(rng, list(sizes.values()), overlap)
    parameters = Parameters(
        labels=labels,
        positions=np.zeros((int(labels.max()) + 1, 0)),
        intercepts=np.zeros(len(sizes)),
        spread=1.0,
        distortion=_rates(problem, distortion),
        fields=tuple(
            rng.dirichlet(np.full(field.levels, 5.0)) if isinstance(field, CategoricalChannel) else field.start()
            for field in problem.fields
        ),
    )
    if problem.careless_share is not None:
        share = problem.careless_share.mean
        parameters = replace(parameters, careless=rng.random(problem.records) < share, careless_share=share)
    network = latent_space(problem)
    if network is not None:
        densities = [_of(density, name) for name in sizes]
        parameters = _place(rng, problem, network, parameters, spread, densities)
    simulated = draw_data(rng, model, dataset, parameters, missing)
    if copied:
        simulated = _copied(rng, simulated, copied)
    declared = {name: _as_read(column) for name, column in simulated.dataset.columns.items()}
    known = known_matches(rng, simulated.truth, anchors)
    return replace(simulated, dataset=replace(simulated.dataset, columns=declared, anchors=known))


def _as_read(column: Column) -> Column:
    """Return the column as if it came from a file: values that nobody has are unknown, and so are frequencies."""
    seen, codes = np.unique(column.codes[column.codes != MISSING], return_inverse=True)
    recoded = np.full(len(column.codes), MISSING)
    recoded[column.codes != MISSING] = codes
    return Column(type(column.field)(), tuple(column.values[code] for code in seen), recoded)


def _rates(problem: Problem, distortion: float | Mapping[str, float]) -> NDArray[np.float64]:
    """Return the given rate of every field, in every file; those of careless records are at their prior mean."""
    rates = np.array([rate.prior.mean for rate in problem.rates])
    for place, field in enumerate(problem.fields):
        rates[problem.rate_of[place]] = _of(distortion, field.name)
    return rates


def _of(value: float | Mapping[str, float], name: str) -> float:
    return value[name] if isinstance(value, Mapping) else value


def _check(
    sizes: Mapping[str, int],
    overlap: int,
    density: float | Mapping[str, float],
    distortion: float | Mapping[str, float],
    missing: float,
    anchors: float,
    spread: float | None,
) -> None:
    faults = Faults()
    if spread is not None and not (math.isfinite(spread) and spread > 0):
        faults.error("scenario", f"spread is {spread!r}.", "Give a number above 0.")
    if isinstance(density, Mapping) and density.keys() != set(sizes):
        faults.error("scenario", f"density names {sorted(density)}.", f"Name each file: {sorted(sizes)}.")
    for name, size in sizes.items():
        if size < 1:
            faults.error("scenario", f"file {name!r} has {size} records.", "Give at least 1.")
    most = min([*sizes.values()][:2]) if len(sizes) > 1 else 0
    if not 0 <= overlap <= most:
        faults.error("scenario", f"overlap is {overlap}.", f"Give a number from 0 to {most}.")
    for what, value, low in (("density", density, 0.0), ("distortion", distortion, -1e-9)):
        values = value.values() if isinstance(value, Mapping) else [value]
        if not all(low < number < 1 for number in values):
            faults.error("scenario", f"{what} is {value!r}.", "Give numbers between 0 and 1.")
    for what, share in (("missing", missing), ("anchors", anchors)):
        if not 0 <= share <= 1:
            faults.error("scenario", f"{what} is {share!r}.", "Give a share from 0 to 1.")
    faults.raise_errors()


def _check_copied(model: Model, sizes: Mapping[str, int], copied: float) -> None:
    """Check that there are two networks to copy ties between."""
    faults = Faults()
    if not 0 <= copied <= 1 or (copied and (model.network is None or len(sizes) < 2)):
        faults.error("scenario", f"copied is {copied!r}.", "Give a share from 0 to 1, for two files with networks.")
    faults.raise_errors()


def _copied(rng: np.random.Generator, simulated: Simulated, share: float) -> Simulated:
    """Let the second file copy ties of the first."""
    dataset = simulated.dataset
    name, other = dataset.files[:2]
    first, second = dataset.ties[name], dataset.ties[other]
    assert first is not None
    assert second is not None
    ties = dict(dataset.ties) | {other: copy_ties(rng, simulated.truth, first, second, share)}
    return replace(simulated, dataset=replace(dataset, ties=ties))


def labels_with_overlap(rng: np.random.Generator, sizes: list[int], overlap: int) -> NDArray[np.int64]:
    """Give `overlap` random records of the first two files the same persons."""
    labels = np.arange(sum(sizes))
    if overlap:
        first = rng.permutation(sizes[0])[:overlap]
        labels[sizes[0] + rng.permutation(sizes[1])[:overlap]] = first
    return canonical(labels)


def _place(
    rng: np.random.Generator,
    problem: Problem,
    network: LatentSpaceProblem,
    parameters: Parameters,
    spread: float | None,
    densities: list[float],
) -> Parameters:
    """Draw positions, and set each file's intercept so that its expected density is the wanted one."""
    from scipy.optimize import brentq  # slow to import, and rarely needed

    variance = network.spread_scale / max(network.spread_shape - 1, 1.0) if spread is None else spread
    positions = rng.normal(0.0, math.sqrt(variance), (parameters.persons, network.dimension))
    intercepts = np.zeros(len(problem.sizes))
    for file, density in enumerate(densities):
        here = positions[parameters.labels[problem.file_of == file]]
        if len(here) < 2:
            continue
        reach = 40.0 + float(np.abs(here).max()) * 4 * math.sqrt(network.dimension)

        def excess(intercept: float, here: NDArray[np.float64] = here, density: float = density) -> float:
            return float(tie_probability(network.link, here, intercept).mean()) - density

        intercepts[file] = brentq(excess, -reach, reach)
    return replace(parameters, positions=positions, intercepts=intercepts, spread=variance)


def known_matches(rng: np.random.Generator, truth: Linkage, share: float) -> Linkage:
    """Make a share of the true matches known."""
    pairs = truth.pair_numbers
    chosen = rng.permutation(len(pairs))[: round(share * len(pairs))]
    known = [(truth.records[a], truth.records[b]) for a, b in pairs[np.sort(chosen)]]
    return Linkage.from_pairs(truth.records, known)
