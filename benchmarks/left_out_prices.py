"""Strings priced by all others, or by a distribution that was fitted to them too; distortions are planted and known.

180 + 360 records, 60 shared persons, one username each: those of `pkdd12`, or made ones. A record's username is
distorted with probability ψ: another person's with probability .2, else with an edit at one character in ten.
*By all others* is `String()`; *by all* gives it the counts of the files as frequencies, which are then taken for known.
Two chains of 500 + 500 sweeps, `MatchRate(1, 1)`. Some usernames of `pkdd12` that count as different persons here are
the two accounts of one.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

import tielink as tl
from tielink.channels.typing_tables import draw_typed
from tielink.simulate.people import people

TITLE = "Strings priced by all others"
COLUMNS = (
    "planted ψ", "seed", "prices", "ψ", "links", "right, of 60", "persons, 95 % (480 in truth)",
    "true with p ≥ .05", "predicted, 95 %", "R-hat of N",
)  # fmt: skip
SHARED, FIRST, SECOND = 60, 180, 360


def usernames() -> list[str]:
    """Return different usernames, sorted."""
    folder = os.environ.get("TIELINK_DATA")
    if folder:
        files = [pl.read_csv(Path(folder) / "pkdd12" / name) for name in ("nodes_a.csv", "nodes_b.csv")]
        return sorted({name for file in files for name in file["username"]})
    drawn = people(np.random.default_rng(1), (600, 600), 600).frames
    frame = next(iter(drawn.values())).drop_nulls()
    return sorted({f"{a[:4]}{b}{c[-2:]}".lower() for _, a, b, *_, c in frame.iter_rows()})[:590]


def said(rng: np.random.Generator, names: list[str], others: list[str], rate: float) -> list[str]:
    """Return what records say of these usernames."""
    alphabet = tuple(sorted({letter for name in names for letter in name}))
    out = []
    for name in names:
        if rng.random() >= rate:
            out.append(name)
        elif rng.random() < 0.2:
            out.append(str(rng.choice(others)))
        else:
            out.append(draw_typed(rng, name, 0.1, alphabet) or name)
    return out


def made(seed: int, rate: float, counted: bool) -> tuple[tl.Dataset, tl.Linkage]:
    """Return two files and who is whom; with `counted`, the files' own counts as given frequencies."""
    rng = np.random.default_rng(seed)
    persons = FIRST + SECOND - SHARED
    names = [str(name) for name in rng.permutation(usernames())]
    own = {"a": names[:FIRST], "b": names[:SHARED] + names[FIRST:persons]}
    values = {file: said(rng, some, names[persons:], rate) for file, some in own.items()}
    counts = {name: 1.0 for some in values.values() for name in some}
    field = tl.String(frequencies=counts) if counted else tl.String()
    frames = {file: pl.DataFrame({"id": range(len(some)), "username": some}) for file, some in values.items()}
    data = tl.Dataset.from_frames(frames, id="id", fields={"username": field})
    return data, tl.Linkage.from_pairs(data, [(("a", i), ("b", i)) for i in range(SHARED)])


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each planted rate, seed and way to price."""
    for rate in (0.05, 0.3):
        for seed in range(3):
            for counted in (False, True):
                data, truth = made(seed, rate, counted)
                posterior = tl.sample(
                    tl.Model(network=None), data, chains=2, warmup=500, draws=500, seed=seed, progress=False
                )
                found = tl.evaluate(posterior, truth, resamples=0)
                persons, calibration = posterior.persons(), found.calibration
                assert calibration is not None
                yield (
                    rate, seed, "by all" if counted else "by all others", f"{posterior.distortion.mean():.3f}",
                    found.without_anchors.links, found.without_anchors.correct,
                    f"{persons.interval[0]:.0f} to {persons.interval[1]:.0f}", calibration.observed,
                    f"{calibration.interval[0]} to {calibration.interval[1]}",
                    f"{posterior.diagnose().rhat['persons N']:.2f}",
                )  # fmt: skip
