"""Everything the page shows, as plain numbers and texts that JSON can hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.scores import pair_keys
from tielink.explanation.explain import REST, TIES, Explanation
from tielink.model.describe import persons_prior
from tielink.plot.layout import linked_persons
from tielink.posterior.diagnosis import shown_rhat
from tielink.report.drawings import latent, neighbour_ties, networks
from tielink.report.result import Result
from tielink.report.words import effective_words, rhat_words

__all__ = ["diagnosis_rows", "page_content"]

MOST_ROWS = 20_000
"""Pairs in the page's table; links.csv has all."""
LONGEST = 120
"""Characters shown of a value."""
TRACE_POINTS = 400
MOST_CLUSTERS = 200
"""Persons listed with all their records."""
MOST_RECORDS = 50_000
"""Up to this many records, the page knows all of them; of more, those that it shows."""
STEPS = 100
"""Thresholds that the page knows."""
LEAST = 0.01
"""Pairs of a smaller probability are not in the histogram."""


def page_content(result: Result) -> dict[str, Any]:
    """Gather what the page's scripts draw."""
    dataset, posterior = result.dataset, result.posterior
    persons = linked_persons(result.linkage)
    drawn, colours = networks(result, persons)
    links = _links(result)
    asked = result.decided.pairs[:MOST_ROWS]
    ties, tie_note = neighbour_ties(dataset, asked.ravel())
    clusters = _clusters(result)
    shown = None
    if len(dataset.records) > MOST_RECORDS:
        groups = [] if clusters is None else [record for group, _ in clusters["shown"] for record in group]
        parts = [
            asked.ravel(),
            groups,
            *(one["records"] for one in drawn),
            *(part for part in ties if part is not None),
        ]
        shown = np.unique(np.concatenate([np.asarray(part, dtype=np.int64) for part in parts]))
        links["note"] += f" This page knows {len(shown):,} of {len(dataset.records):,} records, those it shows."
    return {
        "files": list(dataset.files),
        "offsets": list(dataset.records.offsets),
        "ids": _by_record(lambda record: short(str(dataset.records[record][1])), len(dataset.records), shown),
        "fields": {name: _values(result, name, shown) for name in dataset.columns},
        "persons": _by_record(lambda record: int(persons[record]), len(persons), shown),
        "colours": colours,
        "links": links,
        "ties": ties,
        "tie_note": tie_note,
        "networks": drawn,
        "latent": latent(result, persons),
        "histogram": _histogram(result),
        "threshold": _threshold(result),
        "clusters": clusters,
        "calibration": _calibration(result),
        "traces": [
            _trace("Number of persons", posterior.number_of_persons),
            _trace("Log-likelihood", posterior.log_likelihood),
            *([_trace("Share of common ties", posterior.sharing)] if posterior.sharing.size else []),
        ],
        "count": _count_of_persons(result),
    }


def short(text: str) -> str:
    """Cut a long text; tables have it whole.

    >>> short("a" * 500)[-3:], len(short("a" * 500))
    ('aa…', 120)
    """
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _by_record(value: Callable[[int], Any], records: int, shown: NDArray[np.int64] | None) -> Any:
    """Return something of every record, as a list; where only some are shown, by their numbers."""
    return (
        [value(record) for record in range(records)] if shown is None else {int(one): value(int(one)) for one in shown}
    )


def _values(result: Result, name: str, shown: NDArray[np.int64] | None) -> dict[str, Any]:
    """Return a field's distinct values once, and each record's place among them."""
    column = result.dataset.columns[name]
    if shown is None:
        return {"values": [short(value) for value in column.values], "codes": column.codes.tolist()}
    used, place = np.unique(column.codes[shown], return_inverse=True)
    lacking = int((used < 0).sum())
    codes = dict(zip(shown.tolist(), (place - lacking).tolist(), strict=True))
    return {"values": [short(column.values[code]) for code in used[lacking:]], "codes": codes}


def _links(result: Result) -> dict[str, Any]:
    decided = result.decided
    rows = slice(0, MOST_ROWS)
    explained = [result.evidence.get((int(a), int(b))) for a, b in decided.pairs[rows]]
    sums = [None if found is None else found.by_source for found in explained]
    parts = list(dict.fromkeys(source for each in sums if each is not None for source in each))
    why = [None if each is None else [round(each.get(part, 0.0), 2) for part in parts] for each in sums]
    who = [
        [
            [short(entry.part), round(entry.log_odds, 2)]
            for entry in (found.contributions if found else ())
            if entry.source == TIES
        ]
        for found in explained
    ]
    inside = [_inside(found) for found in explained]
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
        "parts": ["all else" if part == REST else part for _, part in parts],
        "why": why,
        "who": who,
        "inside": inside,
        "rest": [None if found is None else found.contributions[-1].detail for found in explained],
        "note": " ".join(notes),
    }


def _inside(found: Explanation | None) -> dict[str, list[list[Any]]]:
    """Return what each set of fields that depend on each other is made of."""
    sets: dict[str, list[list[Any]]] = {}
    for entry in found.contributions if found else ():
        if entry.field and entry.source != entry.part:
            sets.setdefault(entry.source, []).append([short(entry.part), round(entry.log_odds, 2)])
    return sets


def _histogram(result: Result) -> dict[str, Any]:
    found, anchors = result.posterior.pair_probabilities, result.posterior.anchors
    kept = (found.probability >= LEAST) & ~np.isin(pair_keys(found.pairs), pair_keys(anchors))
    bins = np.minimum((found.probability[kept] * 20).astype(int), 19)
    answer = {"all": np.bincount(bins, minlength=20).tolist(), "least": LEAST, "true": None}
    if result.truth is not None:
        true = np.isin(pair_keys(found.pairs[kept]), pair_keys(result.truth.pair_numbers))
        answer["true"] = np.bincount(bins[true], minlength=20).tolist()
    return answer


def _threshold(result: Result) -> dict[str, Any]:
    """Return for thresholds 0, .01, … how many pairs are above, how many of them are expected (and known) to match."""
    found, anchors = result.posterior.pair_probabilities, result.posterior.anchors
    free = ~np.isin(pair_keys(found.pairs), pair_keys(anchors))
    chance = found.probability[free]
    above = chance[:, None] > np.linspace(0, 1, STEPS + 1)
    answer: dict[str, Any] = {
        "links": above.sum(axis=0).tolist(),
        "expected": [round(float(value), 3) for value in chance @ above],
        "total": round(float(chance.sum()), 3),
        "right": None,
    }
    if result.truth is not None:
        known = pair_keys(result.truth.pair_numbers)
        answer["right"] = np.isin(pair_keys(found.pairs[free]), known).astype(int).dot(above).tolist()
        answer["matches"] = int((~np.isin(known, pair_keys(anchors))).sum())
    return answer


def _clusters(result: Result) -> dict[str, Any] | None:
    """Return linked persons with all their records, those most in doubt first; None where links say it all."""
    linked = [(group, share) for group, share in result.clusters if len(group) > 1]
    if len(result.dataset.files) == 2 and all(len(group) == 2 for group, _ in linked):
        return None
    shown = sorted(linked, key=lambda entry: entry[1])[:MOST_CLUSTERS]
    note = f"{len(shown):,} of {len(linked):,} persons, those most in doubt first; profiles.csv has all."
    return {
        "shown": [[list(group), round(share, 3)] for group, share in shown],
        "note": note if len(shown) < len(linked) else "",
    }


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
        "chains": [[round(float(value), 3) for value in chain] for chain in values[:, chosen]],
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
            "rhat": shown_rhat(value),
            "rhat_words": rhat_words(value),
            "ess": f"{found.ess[name]:,.0f}" if math.isfinite(found.ess[name]) else "–",
            "ess_words": effective_words(found.ess[name], chains),
            "good": "yes" if value <= 1.05 and found.ess[name] >= 25 * chains else "no",
        }
        for name, value in found.rhat.items()
    ]
