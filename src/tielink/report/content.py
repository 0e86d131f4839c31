"""Everything the page shows, as plain numbers and texts that JSON can hold."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tielink.data.scores import pair_keys
from tielink.explanation.explain import REST
from tielink.model.describe import persons_prior
from tielink.report.drawings import bipartite, latent, linked_persons, neighbour_ties, networks
from tielink.report.result import Result
from tielink.report.words import effective_words, rhat_words

__all__ = ["diagnosis_rows", "page_content"]

MOST_ROWS = 20_000
"""Pairs in the page's table; links.csv has all."""
LONGEST = 120
"""Characters shown of a value."""
TRACE_POINTS = 400
LEAST = 0.01
"""Pairs of a smaller probability are not in the histogram."""


def page_content(result: Result) -> dict[str, Any]:
    """Gather what the page's scripts draw."""
    dataset, posterior = result.dataset, result.posterior
    persons = linked_persons(result)
    drawn, colours = networks(result, persons)
    links = _links(result)
    asked = result.decided.pairs[:MOST_ROWS]
    ties, tie_note = neighbour_ties(dataset, asked.ravel())
    return {
        "files": list(dataset.files),
        "offsets": list(dataset.records.offsets),
        "ids": [short(str(key)) for keys in dataset.records.ids for key in keys],
        "fields": {name: _values(result, name) for name in dataset.columns},
        "persons": persons.tolist(),
        "colours": colours,
        "links": links,
        "ties": ties,
        "tie_note": tie_note,
        "networks": drawn,
        "latent": latent(result, persons),
        "bipartite": bipartite(result),
        "histogram": _histogram(result),
        "calibration": _calibration(result),
        "traces": [
            _trace("Number of persons", posterior.number_of_persons),
            _trace("Log-likelihood", posterior.log_likelihood),
        ],
        "count": _count_of_persons(result),
    }


def short(text: str) -> str:
    """Cut a long text; tables have it whole.

    >>> short("a" * 500)[-3:], len(short("a" * 500))
    ('aa…', 120)
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _values(result: Result, name: str) -> dict[str, Any]:
    """Return a field's distinct values once, and each record's place among them."""
    column = result.dataset.columns[name]
    return {"values": [short(value) for value in column.values], "codes": column.codes.tolist()}


def _links(result: Result) -> dict[str, Any]:
    decided = result.decided
    rows = slice(0, MOST_ROWS)
    explained = [result.evidence.get((int(a), int(b))) for a, b in decided.pairs[rows]]
    parts = list(dict.fromkeys(entry.part for why in explained if why is not None for entry in why.contributions))
    order = {part: place for place, part in enumerate(parts)}
    why: list[list[float] | None] = []
    for found in explained:
        if found is None:
            why.append(None)
            continue
        values = [0.0] * len(parts)
        for entry in found.contributions:
            values[order[entry.part]] = round(entry.log_odds, 2)
        why.append(values)
    notes = [result.evidence.left_out] if result.evidence.left_out else []
    if len(decided.pairs) > MOST_ROWS:
        notes.append(f"The {MOST_ROWS:,} surest of {len(decided.pairs):,} pairs are here; links.csv has all.")
    truth = None
    if result.truth is not None:
        true = np.isin(pair_keys(decided.pairs[rows]), pair_keys(result.truth.pair_numbers))
        truth = true.astype(int).tolist()
    return {
        "a": decided.pairs[rows, 0].tolist(),
        "b": decided.pairs[rows, 1].tolist(),
        "p": [round(float(value), 4) for value in decided.probability[rows]],
        "error": [None if math.isnan(value) else round(float(value), 4) for value in decided.error[rows]],
        "decision": [("link", "known", "no link").index(word) for word in decided.words[rows]],
        "review": decided.review[rows].astype(int).tolist(),
        "true": truth,
        "parts": ["all else: rivals, uncertainty" if part == REST else part for part in parts],
        "why": why,
        "note": " ".join(notes),
    }


def _histogram(result: Result) -> dict[str, Any]:
    found, anchors = result.posterior.pair_probabilities, result.posterior.anchors
    kept = (found.probability >= LEAST) & ~np.isin(pair_keys(found.pairs), pair_keys(anchors))
    bins = np.minimum((found.probability[kept] * 20).astype(int), 19)
    answer = {"all": np.bincount(bins, minlength=20).tolist(), "least": LEAST, "true": None}
    if result.truth is not None:
        true = np.isin(pair_keys(found.pairs[kept]), pair_keys(result.truth.pair_numbers))
        answer["true"] = np.bincount(bins[true], minlength=20).tolist()
    return answer


def _calibration(result: Result) -> dict[str, Any] | None:
    if result.evaluation is None or result.evaluation.calibration is None:
        return None
    found = result.evaluation.calibration
    kept = found.counts > 0
    return {
        "p": found.mean_probability[kept].round(4).tolist(),
        "share": found.share_true[kept].round(4).tolist(),
        "pairs": found.counts[kept].tolist(),
    }


def _trace(name: str, values: Any) -> dict[str, Any]:
    """Return at most `TRACE_POINTS` draws of each chain, evenly spaced."""
    draws = values.shape[1]
    chosen = np.unique(np.linspace(0, draws - 1, min(draws, TRACE_POINTS)).round().astype(int))
    return {
        "name": name,
        "draws": (chosen + 1).tolist(),
        "chains": [[round(float(value), 2) for value in chain] for chain in values[:, chosen]],
    }


def _count_of_persons(result: Result) -> dict[str, Any]:
    """Return prior and posterior probabilities of the number of persons, where either is not negligible."""
    numbers = result.posterior.number_of_persons.ravel()
    seen, counts = np.unique(numbers, return_counts=True)
    persons, probability = persons_prior(result.posterior.model, result.dataset)
    kept = probability > 1e-6
    return {
        "n": seen.tolist(),
        "posterior": (counts / len(numbers)).round(5).tolist(),
        "prior": {"n": persons[kept].tolist(), "p": probability[kept].round(6).tolist()},
    }


def diagnosis_rows(result: Result) -> list[dict[str, str]]:
    """Return convergence figures with words, a row a quantity."""
    found, chains = result.diagnosis, result.posterior.chains
    return [
        {
            "name": name,
            "rhat": f"{value:.3f}" if math.isfinite(value) else "–",
            "rhat_words": rhat_words(value),
            "ess": f"{found.ess[name]:,.0f}" if math.isfinite(found.ess[name]) else "–",
            "ess_words": effective_words(found.ess[name], chains),
            "good": "yes" if value <= 1.05 and found.ess[name] >= 50 * chains else "no",
        }
        for name, value in found.rhat.items()
    ]
