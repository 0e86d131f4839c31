"""Duplicates in one file, from profiles alone: `rldata500` and `rldata10000`.

Names are strings with a closed or an open vocabulary, birth parts categories with the paper's prior of few errors,
since they do not change; the second components of names are left out. Where names are "as guessed", so is all else, and
every column is used, with its default prior. Two chains in one process, nobody linked at the
start. CPU seconds are those of the whole run, start and warm-up included; only compiling is not. Links are those of
`tl.estimate`. Nothing was set by looking at the truth but this prior: with the default one F₁ of `rldata500` is .97.
Needs `TIELINK_DATA`.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

import tielink as tl
from tielink.posterior.convergence import effective_draws

TITLE = "Duplicates: accuracy and effective draws of N per CPU second"
COLUMNS = (
    "data", "names", "prior", "draws", "persons, 95 %", "in truth", "recall", "precision", "F₁", "effective draws of N",
    "CPU seconds", "per CPU second",
)  # fmt: skip
GUESSED = "as guessed"
RUNS = (
    ("rldata500", "closed", tl.EwensPitman(max_size=4), 300, 1000),
    ("rldata500", "closed", tl.NegativeBinomial(max_size=4), 300, 1000),
    ("rldata500", "open", tl.EwensPitman(max_size=4), 300, 1000),
    ("rldata500", "open", tl.NegativeBinomial(max_size=4), 300, 1000),
    ("rldata10000", "closed", tl.EwensPitman(max_size=4), 100, 150),
    ("rldata10000", "open", tl.EwensPitman(max_size=4), 100, 150),
    ("rldata500", GUESSED, tl.EwensPitman(max_size=4), 300, 1000),
    ("rldata10000", GUESSED, tl.EwensPitman(max_size=4), 100, 150),
)
"""Data, vocabulary of names, prior, warm-up and draws of each chain."""


def read(name: str, vocabulary: str) -> tuple[tl.Dataset, tl.Linkage]:
    """Return the records and who they really are."""
    folder = Path(os.environ["TIELINK_DATA"]) / name
    records, truth = (pl.read_csv(folder / f"{part}.csv", infer_schema=False) for part in ("records", "truth_clusters"))
    kind = "closed" if vocabulary == "closed" else "open"
    names = dict.fromkeys(("fname_c1", "lname_c1"), tl.String(vocabulary=kind))
    birth = dict.fromkeys(("by", "bm", "bd"), tl.Categorical(tl.Beta(1, 99)))
    fields = None if vocabulary == GUESSED else {**names, **birth}
    data = tl.Dataset.from_frames({"rl": records}, fields=fields)
    return data, tl.Linkage.from_labels(data, {("rl", key): person for key, person in truth.iter_rows()})


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each data set and prior."""
    if "TIELINK_DATA" not in os.environ:
        return
    for name, vocabulary, prior, warmup, draws in RUNS:
        data, truth = read(name, vocabulary)
        model = tl.Model(network=None, linkage=prior)
        tl.sample(model, data, chains=1, warmup=1, draws=1, workers=0)  # compiles
        begin = time.process_time()
        posterior = tl.sample(model, data, chains=2, warmup=warmup, draws=draws, seed=1, workers=0)
        seconds = time.process_time() - begin
        effective = effective_draws(posterior.number_of_persons.astype(float))
        scores = tl.evaluate(posterior, truth, resamples=0)
        low, high = posterior.persons().interval
        yield (
            name, vocabulary, type(prior).__name__, f"2 × {draws:,}",
            f"{posterior.persons().mean:,.1f} ({low:,} to {high:,})", f"{truth.persons:,}",
            f"{float(scores.recall):.3f}", f"{float(scores.precision):.3f}", f"{float(scores.f1):.3f}",
            f"{effective:,.0f}", f"{seconds:,.0f}", f"{effective / seconds:.1f}",
        )  # fmt: skip
