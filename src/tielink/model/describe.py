"""A model in words: its priors, and what they imply on these files."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tielink.faults import Faults
from tielink.fields import Affixes, Categorical, Date, Field, Measured, PersonName, String
from tielink.model.cluster_priors import EwensPitman, NegativeBinomial, OnePerFile, SizePrior
from tielink.model.dependence import find_dependence
from tielink.model.linkage_priors import LinkagePrior, MatchRate, Uniform
from tielink.model.network import LatentSpace, SharedTies
from tielink.model.problem import free_sizes, settled_records
from tielink.specification import Beta, Specification

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.model.spec import Model

__all__ = ["describe", "persons_prior"]


def persons_prior(model: Model, dataset: Dataset) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the possible numbers of persons N, increasing, and their prior probabilities after anchors."""
    prior = model.linkage_for(len(dataset.files))
    if isinstance(prior, OnePerFile):
        settled = settled_records(dataset, prior.anchors_inform)
        probability = prior.persons_probability(dataset.records.sizes, settled)
        return np.arange(len(probability)), probability
    if isinstance(prior, SizePrior):
        return _persons_by_size(prior, len(dataset.records))
    assert isinstance(prior, LinkagePrior)
    log = prior.log_matches(free_sizes(dataset), dataset.records.sizes)
    most = len(dataset.records) - len(dataset.volunteered.pair_numbers)
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
    lines = [*_network_lines(model, dataset), *_field_lines(model, dataset), *_record_lines(model)]
    lines += _linkage_lines(model, dataset)
    return "\n".join(lines)


def _network_lines(model: Model, dataset: Dataset) -> list[str]:
    with_ties = [name for name, ties in dataset.ties.items() if ties is not None]
    if model.network is None:
        return ["Ties: not used (the model has no network part)."]
    if not with_ties:
        return ["Ties: none are given, so linking rests on profiles alone."]
    lines = (
        _shared_lines(model.network) if isinstance(model.network, SharedTies) else _space_lines(model.network, dataset)
    )
    without = [name for name in dataset.files if name not in with_ties]
    if without:
        lines.append(f"  No network in: {', '.join(without)}.")
    return lines


def _shared_lines(network: SharedTies) -> list[str]:
    sharing = network.sharing
    share = f"~ {_beta(sharing)}" if isinstance(sharing, Beta) else f"is {sharing:g}"
    power = "learnt by a pilot run" if network.power == "learn" else f"{network.power:g}"
    return [
        "Ties: shared ties. Two persons who are tied in one file are often tied in another, so common neighbours are "
        "evidence for a link, most of all those with few ties.",
        f"  The share of ties that files have in common {share}.",
        f"  Ties around a person are not independent, so their evidence is weighted with a power from 0 to 1: {power}.",
    ]


def _space_lines(network: LatentSpace, dataset: Dataset) -> list[str]:
    spread = network.spread_prior(len(dataset.records))
    mean = spread.scale / (spread.shape - 1) if spread.shape > 1 else math.inf
    given = network.intercept_sd
    sd = ", ".join(f"{sd:g} in {name}" for name, sd in given.items()) if isinstance(given, Mapping) else f"{given:g}"
    return [
        f"Ties: persons have positions in {network.dimension} dimension{'s' if network.dimension > 1 else ''}, shared "
        f"by all their records; near persons are more likely tied ({network.link} link).",
        f"  Intercepts: normal with mean 0 and standard deviation {sd}.",
        f"  Variance of positions: inverse-gamma with shape {spread.shape:.4g} and scale {spread.scale:.4g}"
        f" (mean {mean:.4g}).",
    ]


def _field_lines(model: Model, dataset: Dataset) -> list[str]:
    fields = model.fields_for(dataset.fields)
    lines = [_field_line(name, field, len(dataset.columns[name].values)) for name, field in fields.items()]
    lines += _dependence_lines(model, dataset, list(fields))
    ignored = [name for name in dataset.fields if name not in fields]
    if ignored:
        lines.append(f"  Not used by this model: {', '.join(ignored)}.")
    if dataset.unused:
        lines.append(f"  Columns that are no field of the data set: {', '.join(dataset.unused)}.")
    if not fields and (model.network is None or all(ties is None for ties in dataset.ties.values())):
        lines.append("  So there is nothing to link by: the posterior is the prior.")
    return ["Profiles:" if fields else "Profiles: not used.", *lines]


def _dependence_lines(model: Model, dataset: Dataset, fields: Sequence[str]) -> list[str]:
    """Say which fields depend on each other."""
    edges = find_dependence(model, dataset, Faults()).edges
    if not edges or model.dependence is None:
        return []
    joined = ", ".join(f"{fields[a]} – {fields[b]}" for a, b in edges)
    return [
        f"  Fields that depend on each other: {joined}. Their common information counts once; errors are independent, "
        f"or a record has outdated values in all of them (with probability ~ {_beta(model.dependence.change)})."
    ]


def _record_lines(model: Model) -> list[str]:
    if model.careless is None:
        return []
    share, distortion = model.careless.share, model.careless.distortion
    return [
        f"Records: a share ~ {_beta(share)} is careless, with distortion rates of their own in every field "
        f"(~ {_beta(distortion)})."
    ]


def _beta(prior: Beta) -> str:
    return f"Beta({prior.a:g}, {prior.b:g}), mean {prior.mean:.3g}"


def _field_line(name: str, field: Field, distinct: int) -> str:
    rate = "distortion rate in each file" if field.by_file else "distortion rate"
    start = f"  {name}: {field.kind} with {distinct:,} values; {rate} ~ {_beta(field.distortion)}"
    if isinstance(field, String) and field.vocabulary == "open":
        return f"{start}; {_open_words(field)}"
    if isinstance(field, String):
        cap = field.cap(distinct)
        how = field.distance if isinstance(field.distance, str) else "a given"
        distance = f"{how} distance" + ("" if math.isinf(cap) else f" capped at {cap:g}")
        known = "seen in the files" if field.frequencies == "empirical" else "given"
        return (
            f"{start}; distorted values are near ones ({distance}, sharpness {field.sharpness:g}), frequencies {known}."
        )
    if isinstance(field, Measured):
        honest = "undistorted values are equal to the true one"
        if field.tolerance:
            unit = " days" if isinstance(field, Date) else ""
            honest = f"undistorted values differ from the true one with standard deviation {field.tolerance:g}{unit}"
        other = _beta(field.another)
        return f"{start}; {honest}, distorted ones are another value with probability ~ {other}, else typing errors."
    if isinstance(field, PersonName):
        return f"{start}; {_name_words(field)}"
    assert isinstance(field, Categorical)
    return f"{start}; frequencies of true values ~ Dirichlet({field.concentration:g})."


def _open_words(field: String) -> str:
    """Say what an open vocabulary means, and what becomes of distorted values."""
    known = "frequencies in the files" if field.frequencies == "empirical" else "given frequencies"
    other, edits = field.another, field.edits
    added = ""
    if isinstance(field.affixes, Affixes):
        share = field.affixes.share
        added = f" or with something added before or after it (share ~ Beta({share.a:g}, {share.b:g}))"
    return (
        f"open vocabulary: how likely a true string is comes from {known} and a language model of characters; "
        f"a distorted value is another string with probability ~ Beta({other.a:g}, {other.b:g}), else mistyped (edit "
        f"rate ~ Beta({edits.a:g}, {edits.b:g}) per character){added}."
    )


def _name_words(field: PersonName) -> str:
    """Say what records show of names."""
    drops, other, edits = field.drops, field.another, field.edits
    return (
        "read into family and given names, which records show in full, as initials, or not at all (with probability "
        f"~ Beta({drops.a:g}, {drops.b:g})); a distorted name is another one with probability "
        f"~ Beta({other.a:g}, {other.b:g}), else mistyped with an edit rate ~ Beta({edits.a:g}, {edits.b:g}) a "
        "character."
    )


def _linkage_lines(model: Model, dataset: Dataset) -> list[str]:
    prior = model.linkage_for(len(dataset.files))
    if isinstance(prior, Uniform):
        words = "every way of pairing records of different files is equally likely (the paper's prior)"
    elif isinstance(prior, MatchRate):
        words = f"match rate, the share of possible matches that exist, ~ Beta({prior.a:g}, {prior.b:g})"
        words += "; anchors inform it" if prior.anchors_inform else "; anchors do not inform it"
    else:
        words = _cluster_words(prior)
    persons, probability = persons_prior(model, dataset)
    mean = float(persons @ probability)
    sd = math.sqrt(max(0.0, float((persons - mean) ** 2 @ probability)))
    low, high = (persons[np.searchsorted(probability.cumsum(), q)] for q in (0.025, 0.975))
    matches = len(dataset.records) - mean
    what = "matches" if isinstance(prior, LinkagePrior) else "records of a person who has an earlier one"
    counted = "not counted" if isinstance(prior, SizePrior) else "among them"
    return [
        f"Linkage: {words}{_chosen(model, dataset)}.",
        f"  On these files this prior expects {mean:,.1f} persons (sd {sd:.2f}, 95 % between {low:,} and {high:,}), "
        f"so {matches:,.1f} {what}, {len(dataset.anchors.pair_numbers):,} anchors {counted}.",
    ]


def _chosen(model: Model, dataset: Dataset) -> str:
    """Say so where the prior was chosen by the number of files and not by the user."""
    if model.linkage is not None:
        return ""
    files = len(dataset.files)
    kind = model.linkage_for(files).kind
    return f" ({kind}, the default for {'one file' if files == 1 else 'two files' if files == 2 else f'{files} files'})"


def _cluster_words(prior: object) -> str:
    if isinstance(prior, OnePerFile):
        return (
            "a person has at most one record in each file; the match rate of each file with the files before it "
            f"~ Beta({prior.a:g}, {prior.b:g})"
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
