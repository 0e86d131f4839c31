"""Categories that change: 50 persons seen twice, categories of 5 and 3 values that differ for 44 % and 28 %.

Ties are shared ties (5 a record, of which files share .6). With and without a fifth of the matches known beforehand;
tielink runs with its defaults, 2 chains of 300 + 300 sweeps, and with the paper's prior of few errors. There are 50
persons, so that an interval of N holds the truth if it reaches down to 50.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import polars as pl

import tielink as tl
from tielink.simulate.shared_ties import shared_ties

TITLE = "Categories that change"
COLUMNS = ("known", "seed", "prior", "persons, 95 %", "in truth", "mean rates", "F₁")
SIZE = 50
CATEGORIES = {"alcohol": (5, 0.44), "smoking": (3, 0.28)}
PRIORS = {"default": tl.Categorical(), "Beta(1, 99)": tl.Categorical(tl.Beta(1, 99))}


def made(seed: int, anchors: float) -> tuple[tl.Dataset, tl.Linkage]:
    """Return 50 + 50 records of the same persons, and who they are."""
    rng = np.random.default_rng(seed)
    drawn = shared_ties(rng, {"a": SIZE, "b": SIZE}, overlap=SIZE, ties=5.0, sharing=0.6, fields=(), anchors=anchors)
    columns = {}
    for name, (levels, changing) in CATEGORIES.items():
        share = rng.dirichlet(np.full(levels, 3.0))
        values = rng.choice(levels, size=drawn.truth.persons, p=share)[drawn.truth.labels]
        for record in np.flatnonzero((drawn.dataset.records.file_of == 1) & (rng.random(2 * SIZE) < changing)):
            others = np.where(np.arange(levels) == values[record], 0.0, share)
            values[record] = rng.choice(levels, p=others / others.sum())
        columns[name] = values
    frames = {}
    for file, name in enumerate("ab"):
        here = drawn.dataset.records.file_of == file
        texts = {field: [f"{field} {value}" for value in values[here]] for field, values in columns.items()}
        frames[name] = pl.DataFrame({"id": [f"{name}{place}" for place in range(SIZE)], **texts})
    data = tl.Dataset.from_frames(frames, id="id", fields=dict.fromkeys(CATEGORIES, tl.Categorical()))
    known = tl.Linkage(data.records, drawn.dataset.anchors.labels)
    return replace(data, ties=drawn.dataset.ties, anchors=known), tl.Linkage(data.records, drawn.truth.labels)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each share of known matches, seed and prior."""
    for anchors in (0.0, 0.2):
        for seed in (1, 2, 3):
            data, truth = made(seed, anchors)
            for name, field in PRIORS.items():
                model = tl.Model(fields=dict.fromkeys(CATEGORIES, field))
                posterior = tl.sample(model, data, chains=2, warmup=300, draws=300, workers=0, progress=False)
                low, high = posterior.persons().interval
                rates = ", ".join(f"{rate:.2f}" for rate in posterior.distortion.mean(axis=(0, 1)))
                score = tl.evaluate(tl.estimate(posterior), truth, resamples=0).f1
                mean = posterior.number_of_persons.mean()
                yield (
                    f"{anchors:.0%}", seed, name, f"{mean:.1f} ({low} to {high})", truth.persons, rates,
                    f"{float(score):.2f}",
                )  # fmt: skip
