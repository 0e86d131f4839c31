"""Linking by one text field alone, `MatchRate(1, 1)`, 2 chains; nothing is tuned on the truth.

Links are pairs with probability above one half. Calibration is over pairs with probability of at least .05: the number
of true links among them against its 95 % predictive interval (over draws), and the expected calibration error over ten
equal bins, which says something where there are many such pairs. Of links that are no matches in the truth, if they are
few, the number of characters in a row that the two strings share is given.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import tielink as tl
from tielink.channels.affix_tables import common_parts
from tielink.data.sources import Sources

TITLE = "Strings alone"
COLUMNS = (
    "data", "field", "recall", "precision", "F₁", "persons, 95 %", "in truth", "pairs with p ≥ .05",
    "true among them", "predicted, 95 %", "calibration error", "shared by wrong links", "largest R-hat", "seconds",
)  # fmt: skip
CASES = (
    ("pkdd12", "username", "String()", 3_000),
    ("pkdd12", "username", "String(affixes=False)", 3_000),
    ("pkdd12", "username", 'String(vocabulary="closed")', 3_000),
    ("citeseer", "name", "PersonName()", 20_000),
    ("citeseer", "name", "String()", 15_000),
    ("citeseer", "name", 'String(vocabulary="closed")', 500),
)
KINDS = {
    "String()": tl.String(),
    "String(affixes=False)": tl.String(affixes=False),
    'String(vocabulary="closed")': tl.String(vocabulary="closed"),
    "PersonName()": tl.PersonName(),
}
LEAST = 0.05
FEW = 8


def read(name: str, field: str, kind: tl.Field) -> tuple[tl.Dataset, tl.Linkage]:
    """Read two files and their truth, without ties."""
    sources = Sources(
        Path(os.environ["TIELINK_DATA"]) / name,
        {"a": "nodes_a.csv", "b": "nodes_b.csv"},
        {},
        fields={field: kind},
        truth="truth.csv",
    )
    data = tl.Dataset.checked(*sources.load())
    truth = sources.read_truth(data)
    assert truth is not None
    return data, truth


def score(posterior: tl.Posterior, truth: tl.Linkage) -> dict[str, object]:
    """Score links, the number of persons and calibration."""
    links = tl.estimate(posterior, tl.Binder())
    found = tl.evaluate(links, truth, resamples=0)
    draws = posterior.person.reshape(-1, posterior.person.shape[-1])
    persons = np.array([len(np.unique(draw)) for draw in draws])
    pairs = posterior.pair_probabilities
    likely = pairs.pairs[pairs.probability >= LEAST]
    probability = pairs.probability[pairs.probability >= LEAST]
    known = {tuple(pair) for pair in truth.pair_numbers.tolist()}
    right = np.array([tuple(pair) in known for pair in likely.tolist()], dtype=bool)
    wrong = [pair for pair in links.pair_numbers.tolist() if tuple(pair) not in known]
    linked = (draws[:, likely[:, 0]] == draws[:, likely[:, 1]]).sum(axis=1)
    bins = np.minimum((probability * 10).astype(int), 9)
    error = sum(abs(probability[bins == b].sum() - right[bins == b].sum()) for b in range(10)) / max(len(likely), 1)
    return {
        "recall": float(found.recall),
        "precision": float(found.precision),
        "f1": float(found.f1),
        "persons": np.quantile(persons, [0.025, 0.975]),
        "pairs": len(likely),
        "true": int(right.sum()),
        "predicted": np.quantile(linked, [0.025, 0.975]),
        "error": float(error),
        "wrong": sorted(shared(posterior.dataset, *pair) for pair in wrong) if len(wrong) <= FEW else [],
    }


def shared(data: tl.Dataset, *pair: int) -> int:
    """Return how many characters in a row the strings of two records have in common."""
    (column,) = data.columns.values()
    if (column.codes[list(pair)] < 0).any():
        return 0
    return max(map(len, common_parts([column.values[column.codes[record]] for record in pair])), default=0)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each file pair and kind of field."""
    if not os.environ.get("TIELINK_DATA"):
        return
    for name, field, words, draws in CASES:
        data, truth = read(name, field, KINDS[words])
        begin = time.perf_counter()
        model = tl.Model(network=None, linkage=tl.MatchRate(1, 1))
        posterior = tl.sample(model, data, chains=2, warmup=draws // 2, draws=draws, seed=1)
        seconds = time.perf_counter() - begin
        found = score(posterior, truth)
        ranges = ["{:.0f} to {:.0f}".format(*found[key]) for key in ("persons", "predicted")]
        worst = max(value for value in posterior.diagnose().rhat.values() if np.isfinite(value))
        yield (
            name, f"`{words}`", f"{found['recall']:.2f}", f"{found['precision']:.2f}", f"{found['f1']:.2f}", ranges[0],
            truth.persons, found["pairs"], found["true"], ranges[1], f"{found['error']:.3f}",
            ", ".join(map(str, found["wrong"])) or "–", f"{worst:.2f}", f"{seconds:.0f}",
        )  # fmt: skip
