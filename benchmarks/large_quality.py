"""Variational inference against the exact sampler on the same data: exact / variational in every cell.

Everything at its default but the length of the exact sampler's chains (2 of 150 + 250 sweeps; on made people of 10,000
records 2 of 150 + 150), one draw of the known matches. |Δp| is the mean difference of probabilities
over pairs that either gives at least .05. F₁, average precision and calibration error (pairs with p ≥ .05) leave
anchors out. Rows of ties alone leave fields out, too, with three draws of the known matches, a row each: small networks
(`copied` as in `ties_alone`, 1,000 a side of `acm_dblp`) by both, all of `acm_dblp` and `foursquare_twitter` by
variational inference only. Seconds are those of this process, DuckDB with one thread. Rows of real data need
`TIELINK_DATA` (or `--data folder`). Beyond 10,000 records made people are linked by both with `TIELINK_EXACT=100000`
(several sizes with commas); the sampler then takes hours.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from reproduce.fits import FIELDS
from reproduce.folders import anchored, read

import tielink as tl
from benchmarks.fits import data_folder
from benchmarks.ties_alone import DRAWS, PART, SMALL, Made, copied, part_of, real
from tielink.data.scores import pair_keys

TITLE = "Large files: exact / variational"
COLUMNS = (
    "data",
    "anchors",
    "average precision",
    "F₁",
    "calibration error",
    "mean of |Δp|",
    "matches expected (true)",
    "seconds on the clock",
    "CPU seconds",
    "power",
)
FOLDERS = ("aucs_work_lunch", "aucs_facebook_lunch", "highschool", "citeseer")
SHARES = (0.0, 0.1, 0.3)
MADE = ((10_000, 1), (10_000, 2))
"""Numbers of made people, and seeds."""
ALONE, ALONE_SHARES = {"acm_dblp": (0.05, 0.1, 0.2), "foursquare_twitter": (0.1, 0.2)}, (0.1, 0.3)


def variational(data: tl.Dataset, seed: int) -> tl.Posterior:
    """Link by DuckDB with one thread."""
    return tl.link(data, engine=tl.DuckDB(threads=1), progress=False, seed=seed).posterior


def exact(data: tl.Dataset, seed: int) -> tl.Posterior:
    """Sample in this process."""
    draws = 250 if len(data.records) < 5_000 else 150
    return tl.sample(tl.Model(), data, chains=2, warmup=150, draws=draws, workers=0, progress=False, seed=seed)


def difference(one: tl.Posterior, two: tl.Posterior, least: float = 0.05) -> float:
    """Return the mean difference of probabilities over pairs that either gives at least so much."""
    found = [one.pair_probabilities, two.pair_probabilities]
    free = [~np.isin(pair_keys(part.pairs), pair_keys(one.anchors)) for part in found]
    keys = [pair_keys(part.pairs[kept]) for part, kept in zip(found, free, strict=True)]
    every, place = np.unique(np.concatenate(keys), return_inverse=True)
    chance = np.zeros((2, len(every)))
    chance[0, place[: len(keys[0])]] = found[0].probability[free[0]]
    chance[1, place[len(keys[0]) :]] = found[1].probability[free[1]]
    asked = chance.max(axis=0) >= least
    return float(np.abs(chance[0] - chance[1])[asked].mean()) if asked.any() else 0.0


def compared(label: str, share: float, data: tl.Dataset, truth: tl.Linkage, *, sampled: bool = True) -> tuple[str, ...]:
    """Return a row."""
    scores, clock, seconds, fits = [], [], [], []
    for fit in (exact, variational) if sampled else (variational,):
        begin, begun = time.process_time(), time.monotonic()
        fits.append(fit(data, 1))
        seconds.append(time.process_time() - begin)
        clock.append(time.monotonic() - begun)
        found = tl.evaluate(fits[-1], truth, resamples=0)
        error = np.nan if found.calibration is None else float(found.calibration.ece)
        scores.append((float(found.average_precision), float(np.nan_to_num(float(found.f1))), error))
    cells = [" / ".join(f"{score[of]:.3f}" for score in scores) for of in range(3)]
    apart = f"{difference(*fits):.3f}" if sampled else "–"
    powers = " / ".join(f"{one.power:.2f}" for one in fits)
    times = [" / ".join(f"{one:.0f}" for one in each) for each in (clock, seconds)]
    true = len(truth.pair_numbers) - len(data.anchors.pair_numbers)
    expected = " / ".join(f"{matches_expected(one):,.1f}" for one in fits)
    return label, f"{share:.0%}", *cells, apart, f"{expected} ({true:,})", *times, powers


def matches_expected(posterior: tl.Posterior) -> float:
    """Return the sum of probabilities of all pairs that were not known."""
    found = posterior.pair_probabilities
    return float(found.probability[~np.isin(pair_keys(found.pairs), pair_keys(posterior.anchors))].sum())


def made(records: int, seed: int) -> tuple[tl.Dataset, tl.Linkage]:
    """Make people with names, places, years of birth and ten ties each, half of them shared."""
    with TemporaryDirectory() as folder:
        rng = np.random.default_rng(seed)
        path = tl.simulate.write_large(rng, Path(folder), records, 2 * records // 3, anchors=0.0)
        project = tl.Project.read(path)
        data = project.dataset()
        truth = project.sources.read_truth(data)
    assert truth is not None
    return data, truth


def measure() -> Iterator[tuple[str, ...]]:
    """Yield a row for each folder and share of anchors, made people, and ties alone."""
    root = data_folder()
    for folder in FOLDERS if root is not None else ():
        assert root is not None
        found = read(root / folder, FIELDS[folder])
        for share in SHARES:
            yield compared(folder, share, anchored(found, share, 0), found.truth)
    more = [(int(size), 1) for size in os.environ.get("TIELINK_EXACT", "").split(",") if size]
    for records, seed in (*MADE, *more):
        yield compared(f"made people, {records:,} + {records:,} (seed {seed})", 0.0, *made(records, seed))
    for share in ALONE_SHARES:
        yield from alone("copied, 60 + 60", share, copied(share))
    if root is None:
        return
    for folder in SMALL:
        for share in ALONE_SHARES:
            yield from alone(folder, share, real(read(root / folder), share))
    for share in ALONE_SHARES:
        yield from alone(f"acm_dblp, {PART:,} a side", share, real(part_of(read(root / "acm_dblp"), PART), share))
    for folder, shares in ALONE.items():
        for share in shares:
            yield from alone(folder, share, real(read(root / folder), share), sampled=False)


def alone(label: str, share: float, make: Made, *, sampled: bool = True) -> Iterator[tuple[str, ...]]:
    """Yield a row without fields for each draw of the known matches."""
    for draw in range(DRAWS):
        data, truth = make(draw)
        yield compared(f"{label}, ties alone", share, replace(data, columns={}), truth, sampled=sampled)
