"""A result in plain words: what was found, how sure it is, and whether to believe it."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import TYPE_CHECKING

import numpy as np

from tielink.model.describe import describe

if TYPE_CHECKING:
    from tielink.report.result import Result

__all__ = ["CITATION", "effective_words", "methods", "rhat_words", "roughness", "trust", "verdict", "versions"]

CITATION = "Sosa, J. and Rodríguez, A. A Record Linkage Model Incorporating Relational Data."
PACKAGES = ("tielink", "numpy", "scipy", "numba", "polars", "rapidfuzz")


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
    lines[0] += f", besides {known:,} known beforehand." if known else "."
    if found:
        sure = int((decided.linked & ~decided.known & (decided.probability >= 0.9)).sum())
        expected = float(decided.probability[decided.linked & ~decided.known].sum())
        lines.append(
            f"{sure:,} of them are sure (probability at least 0.9). By the model's own account {expected:,.1f} of the "
            f"{found:,} are right."
        )
    else:
        lines.append("No pair is more likely one person than two. That is an answer, not a failure.")
    low, high = persons.interval
    lines.append(f"The files hold about {persons.mean:,.0f} persons (95 % between {low:,} and {high:,}).")
    look = int(decided.review.sum())
    if look:
        few = "One pair is" if look == 1 else f"{look:,} pairs are"
        lines.append(f"{few} in doubt (probability between 0.1 and 0.9) and worth a look by a person.")
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
    lines = [roughness(result)] if result.quick else []
    if result.diagnosis.converged:
        return [*lines, "The chains agree and have enough effective draws: the probabilities can be used."]
    if result.quick:
        return lines
    return [
        *lines,
        f"Take the probabilities with care: the sampler has {_count(len(result.diagnosis.warnings), 'warning')} "
        "(see the diagnosis).",
    ]


def roughness(result: Result) -> str:
    """Say how rough a quick look is, in numbers."""
    decided, posterior = result.decided, result.posterior
    doubtful = decided.error[decided.review]
    error = float(np.nanmax(doubtful)) if np.isfinite(doubtful).any() else 0.0
    chance = (
        f"probabilities in doubt are off by ±{error:.2f} or so from chance alone"
        if len(doubtful)
        else "no pair is in doubt"
    )
    worth = result.diagnosis.ess["persons N"]
    rests = f"rests on about {worth:,.0f} effective draws" if np.isfinite(worth) else "never changed"
    rhat = max((value for value in result.diagnosis.rhat.values() if np.isfinite(value)), default=float("nan"))
    return (
        f"This is a quick look: {posterior.chains} chains of {posterior.draws_per_chain:,} draws. The number of "
        f"persons {rests}, {chance}, and chains differ by R-hat up to {rhat:.2f} "
        "(1.05 is wanted). Run without --quick before you rely on it."
    )


def rhat_words(value: float) -> str:
    """Say what an R-hat means."""
    if not np.isfinite(value):
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
    return "enough" if value >= 50 * chains else "few: run longer"


def versions() -> str:
    """Name the software that made a result."""
    parts = [f"{name} {version(name)}" for name in PACKAGES]
    return f"{', '.join(parts)}, Python {platform.python_version()}"


def methods(result: Result) -> list[str]:
    """Write the methods paragraph: model, priors, sampler, decision, citation, versions."""
    run, posterior = result.posterior.run, result.posterior
    loss = result.loss
    sampler = "an exact Markov chain Monte Carlo sampler" if run.sampler == "exact" else "the paper's own sampler"
    return [
        f"Records of {_count(len(result.dataset.files), 'file')} were linked with tielink {version('tielink')} by the "
        "Bayesian model of Sosa and Rodríguez, in which all records of a person share a position that governs their "
        "ties and true values that their profiles repeat with errors. The model, in full:\n"
        f"{describe(posterior.model, result.dataset)}",
        f"The posterior was sampled with {sampler}: {_count(posterior.chains, 'chain')}, {run.warmup:,} warm-up sweeps "
        f"and {posterior.draws_per_chain:,} draws each"
        + (f", one in {run.thin} sweeps" if run.thin > 1 else "")
        + f", seed {run.seed}.",
        f"Links minimise the posterior expectation of Binder's loss with cost {loss.false_link:g} for a false and "
        f"{loss.missed_link:g} for a missed link: alone, a pair is linked where its probability exceeds "
        f"{loss.threshold:g}. Probabilities are shares of draws; their Monte Carlo errors come from batch means.",
        f"{CITATION} Software: {versions()}.",
    ]
