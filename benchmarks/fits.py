"""One fit scored against a truth, and the cells of a table that holds several methods side by side."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import tielink as tl

SHARED, LATENT, PROFILES = tl.SharedTies(), tl.LatentSpace(), None
NETWORKS = {"profiles alone": PROFILES, "latent space": LATENT, "shared ties": SHARED}
SCORES = ("average precision", "F₁", "calibration error", "N inside its 95 % interval", "R-hat of N", "CPU seconds")
NOT_RUN = "–"


class Effort(NamedTuple):
    """How long chains are."""

    chains: int
    warmup: int
    draws: int


class Found(NamedTuple):
    """Scores of a fit, anchors left out."""

    average_precision: float
    f1: float
    calibration_error: float
    inside: bool
    """Whether the true number of persons, and with two files that of links, is inside its 95 % interval."""
    rhat: float
    seconds: float
    power: float


def data_folder() -> Path | None:
    """Return the folder of real data, if there is one."""
    return Path(os.environ["TIELINK_DATA"]) if os.environ.get("TIELINK_DATA") else None


def with_latent_space() -> bool:
    """Whether the latent space, which is slow, is wanted too."""
    return bool(os.environ.get("TIELINK_LATENT"))


def fit(model: tl.Model, data: tl.Dataset, truth: tl.Linkage, seed: int, effort: Effort | None = None) -> Found:
    """Fit in this process and score; without `effort`, chains go on until they have settled, as by default."""
    begin = time.process_time()
    length = {} if effort is None else effort._asdict()
    posterior = tl.sample(model, data, **length, seed=seed, workers=0)
    seconds = time.process_time() - begin
    found = tl.evaluate(posterior, truth, resamples=0)
    low, high = posterior.persons().interval
    calibration = found.calibration
    return Found(
        float(found.average_precision),
        float(np.nan_to_num(float(found.f1))),
        np.nan if calibration is None else float(calibration.ece),
        low <= truth.persons <= high,
        rhat(posterior),
        seconds,
        posterior.power,
    )


def rhat(posterior: tl.Posterior) -> float:
    """Return R-hat of the number of persons; 1 where that never changes."""
    return 1.0 if np.ptp(posterior.number_of_persons) == 0 else posterior.diagnose().rhat["persons N"]


def shuffled(rng: np.random.Generator, data: tl.Dataset) -> tl.Dataset:
    """Return the data with the ties of the second file given to other records, at random: they then say nothing."""
    name = data.files[1]
    edges = rng.permutation(data.records.sizes[1])[data.ties[name]]
    return replace(data, ties={**data.ties, name: np.sort(edges, axis=1)})


def side_by_side(methods: Sequence[Sequence[Found]]) -> list[str]:
    """Return one cell for each of `SCORES`: means over fits of every method, with its worst R-hat."""

    def cell(of: str, form: str) -> str:
        return " / ".join(NOT_RUN if not fits else format(_summary(fits, of), form) for fits in methods)

    inside = " / ".join(
        NOT_RUN if not fits else f"{sum(one.inside for one in fits)} of {len(fits)}" for fits in methods
    )
    return [
        cell("average_precision", ".3f"), cell("f1", ".3f"), cell("calibration_error", ".3f"), inside,
        cell("rhat", ".2f"), cell("seconds", ".1f"),
    ]  # fmt: skip


def powers(fits: Sequence[Found]) -> str:
    """Return the powers that were learnt."""
    return ", ".join(f"{one.power:.2f}" for one in fits)


def _summary(fits: Sequence[Found], of: str) -> float:
    values = np.array([getattr(one, of) for one in fits])
    return float(values.max() if of == "rhat" else np.nanmean(values) if np.isfinite(values).any() else np.nan)
