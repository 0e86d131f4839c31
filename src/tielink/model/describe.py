"""A model in words: its priors, and what they imply on these files."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tielink.fields import Categorical, Field, String
from tielink.model.cluster_priors import EwensPitman, NegativeBinomial, OnePerFile, SizePrior
from tielink.model.linkage_priors import LinkagePrior, MatchRate, Uniform
from tielink.model.problem import free_sizes, settled_records
from tielink.specification import Specification

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.model.spec import Model

__all__ = ["describe", "persons_prior"]


def persons_prior(model: Model, dataset: Dataset) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the possible numbers of persons N, increasing, and their prior probabilities after anchors."""
    if isinstance(model.linkage, OnePerFile):
        settled = settled_records(dataset, model.linkage.anchors_inform)
        probability = model.linkage.persons_probability(dataset.records.sizes, settled)
        return np.arange(len(probability)), probability
    if isinstance(model.linkage, SizePrior):
        return _persons_by_size(model.linkage, len(dataset.records))
    assert isinstance(model.linkage, LinkagePrior)
    log = model.linkage.log_matches(free_sizes(dataset), dataset.records.sizes)
    most = len(dataset.records) - len(dataset.anchors.pair_numbers)
    return most - np.arange(len(log))[::-1], np.exp(log)[::-1]


def _persons_by_size(prior: SizePrior, records: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return N and its prior: exact mean and variance given hyperparameters, a normal shape, 500 draws of those."""
    from tielink.model.cluster_sizes import moments

    rng = np.random.default_rng(0)
    persons = np.arange(max(1, -(-records // prior.max_size)), records + 1)
    probability = np.zeros(len(persons))
    for _ in range(500 if prior.hyperparameters else 1):
        mean, variance = moments(*prior.family(prior.draw(rng), records), records)
        # Rounding to whole numbers is what is left of a variance of nothing.
        shape = np.exp(-0.5 * (persons - mean) ** 2 / max(variance, 0.05))
        probability += shape / shape.sum()
    return persons, probability / probability.sum()


def describe(model: Model, dataset: Dataset) -> str:
    """State the model in words for these data."""
    lines = [*_network_lines(model, dataset), *_field_lines(model, dataset), *_linkage_lines(model, dataset)]
    return "\n".join(lines)


def _network_lines(model: Model, dataset: Dataset) -> list[str]:
    with_ties = [name for name, ties in dataset.ties.items() if ties is not None]
    if model.network is None:
        return ["Ties: not used (the model has no network part)."]
    if not with_ties:
        return ["Ties: none are given, so linking rests on profiles alone."]
    network = model.network
    spread = network.spread_prior(len(dataset.records))
    mean = spread.scale / (spread.shape - 1) if spread.shape > 1 else math.inf
    given = network.intercept_sd
    sd = ", ".join(f"{sd:g} in {name}" for name, sd in given.items()) if isinstance(given, Mapping) else f"{given:g}"
    lines = [
        f"Ties: persons have positions in {network.dimension} dimension{'s' if network.dimension > 1 else ''}, shared "
        f"by all their records; near persons are more likely tied ({network.link} link).",
        f"  Intercepts: normal with mean 0 and standard deviation {sd}.",
        f"  Variance of positions: inverse-gamma with shape {spread.shape:.4g} and scale {spread.scale:.4g}"
        f" (mean {mean:.4g}).",
    ]
    without = [name for name in dataset.files if name not in with_ties]
    if without:
        lines.append(f"  No network in: {', '.join(without)}.")
    return lines


def _field_lines(model: Model, dataset: Dataset) -> list[str]:
    fields = model.fields_for(dataset.fields)
    lines = [_field_line(name, field, len(dataset.columns[name].values)) for name, field in fields.items()]
    ignored = [name for name in dataset.fields if name not in fields]
    if ignored:
        lines.append(f"  Not used by this model: {', '.join(ignored)}.")
    if not fields and (model.network is None or all(ties is None for ties in dataset.ties.values())):
        lines.append("  So there is nothing to link by: the posterior is the prior.")
    return ["Profiles:" if fields else "Profiles: not used.", *lines]


def _field_line(name: str, field: Field, distinct: int) -> str:
    prior = f"Beta({field.distortion.a:g}, {field.distortion.b:g}), mean {field.distortion.mean:.3g}"
    start = f"  {name}: {field.kind} with {distinct:,} values; distortion rate ~ {prior}"
    if isinstance(field, String):
        cap = field.cap(distinct)
        how = field.distance if isinstance(field.distance, str) else "a given"
        distance = f"{how} distance" + ("" if math.isinf(cap) else f" capped at {cap:g}")
        known = "seen in the files" if field.frequencies == "empirical" else "given"
        return (
            f"{start}; distorted values are near ones ({distance}, sharpness {field.sharpness:g}), frequencies {known}."
        )
    assert isinstance(field, Categorical)
    return f"{start}; frequencies of true values ~ Dirichlet({field.concentration:g})."


def _linkage_lines(model: Model, dataset: Dataset) -> list[str]:
    prior = model.linkage
    if isinstance(prior, Uniform):
        words = "every way of pairing records of different files is equally likely (the paper's prior)"
    elif isinstance(prior, MatchRate):
        words = f"the share of possible matches that are made is Beta({prior.a:g}, {prior.b:g})"
        words += "; anchors count" if prior.anchors_inform else "; anchors do not count"
    else:
        words = _cluster_words(prior)
    persons, probability = persons_prior(model, dataset)
    mean = float(persons @ probability)
    sd = math.sqrt(max(0.0, float((persons - mean) ** 2 @ probability)))
    low, high = (persons[np.searchsorted(probability.cumsum(), q)] for q in (0.025, 0.975))
    matches = len(dataset.records) - mean
    what = "matches" if isinstance(prior, LinkagePrior) else "records are of a person seen before"
    counted = "not counted" if isinstance(prior, SizePrior) else "among them"
    return [
        f"Linkage: {words}.",
        f"  On these files this prior expects {mean:,.1f} persons (sd {sd:.2f}, 95 % between {low:,} and {high:,}), "
        f"so {matches:,.1f} {what}, {len(dataset.anchors.pair_numbers):,} anchors {counted}.",
    ]


def _cluster_words(prior: object) -> str:
    if isinstance(prior, OnePerFile):
        return (
            "a person has at most one record in each file; file after file, the share of possible matches with "
            f"persons seen before is Beta({prior.a:g}, {prior.b:g})"
        )
    assert isinstance(prior, EwensPitman | NegativeBinomial)
    what = "exchangeable (Ewens–Pitman)" if isinstance(prior, EwensPitman) else "microclustering (negative binomial)"
    return f"a person has at most {prior.max_size} records, {what}; " + ", ".join(
        f"{name} {_distribution(getattr(prior, name))}" for name in prior.sampled
    )


def _distribution(prior: object) -> str:
    if not isinstance(prior, Specification):
        return f"{prior:g}"
    numbers = [f"{value:g}" for name, value in prior.to_table().items() if name != "kind"]
    return f"~ {type(prior).__name__}({', '.join(numbers)})"
