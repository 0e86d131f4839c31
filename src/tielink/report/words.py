"""A result in plain words: what was found, how sure it is, and whether to believe it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from tielink.model.cluster_priors import SizePrior
from tielink.model.describe import describe
from tielink.posterior.diagnosis import shown_rhat
from tielink.posterior.posterior import OUT_OF_TIME
from tielink.report.differences import rests_on_priors, surprising_fields

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior
    from tielink.report.result import Result

__all__ = ["CITATION", "effective_words", "methods", "rhat_words", "roughness", "trust", "verdict", "versions"]

CITATION = "Sosa, J. and Rodríguez, A. A Record Linkage Model Incorporating Relational Data."
VARIATIONAL = {"duckdb": "DuckDB", "spark": "Spark"}
PACKAGES = ("tielink", "numpy", "scipy", "numba", "polars", "rapidfuzz")


def _at_the_cap(result: Result) -> list[str]:
    """Say so when persons have as many records as the prior allows: they may have more."""
    prior = result.posterior.model.linkage_for(len(result.dataset.files))
    if not isinstance(prior, SizePrior):
        return []
    full = sum(len(group) >= prior.max_size for group, _ in result.clusters)
    if not full:
        return []
    return [
        f"{_count(full, 'person')} {'has' if full == 1 else 'have'} {prior.max_size} records, the most that the prior "
        f"allows; there may be more: set its max_size ({prior.kind}:max_size={2 * prior.max_size})."
    ]


def _ties(result: Result) -> list[str]:
    """Say how much shared ties counted, and how many ties the files share."""
    posterior = result.posterior
    if not posterior.sharing.size:
        return []
    low, high = np.quantile(posterior.sharing, [0.025, 0.975])
    if not posterior.power:
        return ["Ties were not used (power 0): their evidence could not be distinguished from chance."]
    interval = f" (95 % credible interval {low:.0%} to {high:.0%})" if high > low else ""
    whose = "the files have" if len(result.dataset.files) > 1 else "the records of a person have"
    return [
        f"The evidence of ties was weighted with power {posterior.power:.2f} (1 is full weight); {whose} an estimated "
        f"{posterior.sharing.mean():.0%} of ties in common{interval}."
    ]


def _count(number: int, word: str) -> str:
    """Say how many, with the plural where it belongs.

    >>> _count(1, "link"), _count(1200, "match")
    ('1 link', '1,200 matches')
    """
    plural = f"{word}es" if word.endswith("ch") else f"{word}s"
    return f"{number:,} {word if number == 1 else plural}"


def verdict(result: Result) -> list[str]:
    """Say what was found, a sentence a line."""
    decided, dataset = result.decided, result.dataset
    records, persons = dataset.records, result.posterior.persons()
    found = int((decided.linked & ~decided.known).sum())
    known = int(decided.known.sum())
    sizes = " + ".join(f"{size:,} in {name}" for name, size in zip(records.files, records.sizes, strict=True))
    what = "link was" if found == 1 else "links were"
    lines = [f"{found:,} {what} found among {len(records):,} records ({sizes})"]
    lines[0] += f", besides {_count(known, 'known match')}." if known else "."
    if found:
        sure = int((decided.linked & ~decided.known & (decided.probability >= 0.9)).sum())
        expected = float(decided.probability[decided.linked & ~decided.known].sum())
        lines.append(
            f"{sure:,} of the {found:,} {'has' if sure == 1 else 'have'} a probability of at least 0.9; the model "
            f"expects {expected:,.1f} to be correct."
        )
    else:
        lines.append(
            "No pair is more likely to be one person than two. That is an answer, not a failure. If there should be "
            "links, the files write the same in ways that the model does not know: other words, units or order."
        )
    low, high = persons.interval
    lines.append(f"The files hold about {persons.mean:,.0f} persons (95 % credible interval {low:,} to {high:,}).")
    look = int(decided.review.sum())
    if look:
        few = "One pair is" if look == 1 else f"{look:,} pairs are"
        lines.append(f"{few} uncertain (probability between 0.1 and 0.9) and should be checked by a person.")
    lines += [*rests_on_priors(result), *_ties(result), *_at_the_cap(result), *surprising_fields(result)]
    lines += trust(result)
    if result.evaluation is not None:
        rates = result.evaluation.without_anchors
        lines.append(
            f"Against the truth that was given (and not used): recall {rates.recall}, precision {rates.precision}, "
            f"F1 {rates.f1}."
        )
    return lines


def trust(result: Result) -> list[str]:
    """Say whether the draws can be believed."""
    if result.posterior.run.engine in VARIATIONAL:
        return [
            "Probabilities come from variational inference, an approximation for large files: the evidence of ties is "
            "averaged over the probabilities of all other links, and distortion rates were learnt on a sample of the "
            "records. Where it is affordable, the exact sampler (--engine exact) is more accurate."
        ]
    if result.quick:
        return [roughness(result)]
    if result.diagnosis.converged:
        return ["The chains agree and have enough effective draws: the probabilities can be used."]
    return [
        *([_out_of_time(result)] if result.posterior.ended == OUT_OF_TIME else []),
        f"Take the probabilities with care: the sampler has {_count(len(result.diagnosis.warnings), 'warning')} "
        "(see the diagnosis).",
    ]


def _out_of_time(result: Result) -> str:
    """Say that the time was used up, and what may still change."""
    links = len(result.diagnosis.undecided)
    what = "no link is likely to change" if not links else f"{_count(links, 'pair')} may still change (settled is no)"
    return f"The {result.posterior.run.minutes:g} minutes were used up before all had settled: {what} with more time."


def roughness(result: Result) -> str:
    """Say how rough a quick look is, in numbers."""
    decided, posterior = result.decided, result.posterior
    doubtful = decided.error[decided.review]
    error = float(np.nanmax(doubtful)) if np.isfinite(doubtful).any() else 0.0
    chance = (
        f"uncertain probabilities have a Monte Carlo error of up to {error:.2f}"
        if len(doubtful)
        else "no pair is uncertain"
    )
    worth = result.diagnosis.ess["persons N"]
    rests = f"rests on about {worth:,.0f} effective draws" if np.isfinite(worth) else "never changed"
    rhat = max((value for value in result.diagnosis.rhat.values() if not np.isnan(value)), default=float("nan"))
    return (
        f"This is a quick look: {posterior.chains} chains of {posterior.draws_per_chain:,} draws. The number of "
        f"persons {rests}, {chance}, and R-hat is up to {shown_rhat(rhat)} "
        "(at most 1.05 is wanted). Run without --quick before you rely on it."
    )


def rhat_words(value: float) -> str:
    """Say what an R-hat means."""
    if np.isnan(value):
        return "cannot be told"
    if value <= 1.01:
        return "chains agree"
    if value <= 1.05:
        return "chains agree well enough"
    return "chains still differ a little" if value <= 1.2 else "chains disagree"


def effective_words(value: float, chains: int) -> str:
    """Say what a number of effective draws is good for."""
    if not np.isfinite(value):
        return "cannot be told"
    if value >= 100 * chains:
        return "plenty"
    return "enough" if value >= 25 * chains else "few"


def versions() -> str:
    """Name the software that made a result."""
    parts = [f"{name} {version(name)}" for name in PACKAGES]
    return f"{', '.join(parts)}, Python {platform.python_version()}"


def _shared(result: Result) -> str:
    """Say what the records of a person share."""
    values = "true values that their profiles repeat with errors"
    if result.posterior.sharing.size:
        return f"{values}, and some of the person's ties"
    return values if result.posterior.network is None else f"a position that governs their ties, and {values}"


def _averages(result: Result) -> str:
    if result.posterior.run.engine in VARIATIONAL:
        return "marginals of that approximation"
    errors = "; their Monte Carlo errors come from batch means"
    if result.posterior.conditional is None:
        return f"shares of draws{errors}"
    return f"averages of conditional probabilities over draws (Rao–Blackwell){errors}"


def _how(posterior: Posterior) -> str:
    """Say how the posterior was found."""
    run, chains = posterior.run, _count(posterior.chains, "chain")
    if run.engine in VARIATIONAL:
        return (
            f"The posterior was approximated by variational inference with {VARIATIONAL[run.engine]}: rates of fields "
            "learnt by the exact sampler on a sample of records with their candidates, expected evidence of ties, and "
            f"one-to-one normalisation by damped sum-product. {chains} of {posterior.draws_per_chain:,} draws of "
            f"linkages rest on the scores of pairs that resulted, seed {run.seed}."
        )
    sampler = "an exact Markov chain Monte Carlo sampler" if run.sampler == "exact" else "the paper's own sampler"
    thin = f", one in {run.thin} sweeps" if run.thin > 1 else ""
    warmup = (
        f"{run.warmup:,} warm-up sweeps" if run.draws else f"at least {run.warmup:,} warm-up sweeps until they settled"
    )
    return (
        f"The posterior was sampled with {sampler}: {chains}, {warmup} and "
        f"{posterior.draws_per_chain:,} draws each{thin}, seed {run.seed}."
    )


def methods(result: Result) -> list[str]:
    """Write the methods paragraph: model, priors, sampler, decision, citation, versions."""
    posterior, loss = result.posterior, result.loss
    return [
        f"Records of {_count(len(result.dataset.files), 'file')} were linked with tielink {version('tielink')} by the "
        f"Bayesian model, after that of Sosa and Rodríguez, in which all records of a person share {_shared(result)}. "
        f"The model, in full:\n{describe(posterior.model, result.dataset)}",
        *_ties(result),
        _how(posterior),
        f"Links minimise the posterior expectation of Binder's loss with cost {loss.false_link:g} for a false and "
        f"{loss.missed_link:g} for a missed link: alone, a pair is linked where its probability exceeds "
        f"{loss.threshold:g}. Probabilities are {_averages(result)}.",
        f"{CITATION} Software: {versions()}.",
    ]
