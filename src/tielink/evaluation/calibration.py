"""Calibration: of the pairs with probability p, a share p should be matches."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.frames import to_frame
from tielink.data.scores import PairScores
from tielink.evaluation.units import Units
from tielink.posterior.posterior import Posterior
from tielink.posterior.score import Score, share

__all__ = ["LEAST", "Calibration", "calibration", "independent_count"]

LEAST = 0.05
"""Pairs of a smaller probability are not counted: there are very many, and almost all are no match."""
BINS = 10


@dataclass(frozen=True, eq=False)
class Calibration:
    """Probabilities of at least .05 beside what is true."""

    pairs: int
    expected: float
    """Expected number of true links among these pairs, Σp."""
    observed: int
    interval: tuple[int, int]
    """Predictive interval (95 %) of that number."""
    ece: Score
    """Expected calibration error: Σ (pairs in bin/pairs)·|mean p − share true| over ten bins."""
    brier: Score
    """Mean of (p − true)²."""
    counts: NDArray[np.int64]
    mean_probability: NDArray[np.float64]
    share_true: NDArray[np.float64]
    frame_kind: str = "polars"

    @property
    def inside(self) -> bool:
        """Whether the observed number of true links lies in its predictive interval."""
        return self.interval[0] <= self.observed <= self.interval[1]

    def bins(self) -> Any:
        """Return ten bins as a frame: `low, high, pairs, mean_probability, share_true`."""
        edges = np.linspace(0, 1, BINS + 1)
        columns = {
            "low": np.maximum(edges[:-1], LEAST).tolist(),
            "high": edges[1:].tolist(),
            "pairs": self.counts.tolist(),
            "mean_probability": [None if math.isnan(value) else float(value) for value in self.mean_probability],
            "share_true": [None if math.isnan(value) else float(value) for value in self.share_true],
        }
        return to_frame(columns, self.frame_kind)


def calibration(
    scores: PairScores, true: NDArray[np.bool_], units: Units, posterior: Posterior | None = None
) -> Calibration:
    """Hold probabilities against the truth.

    The predictive interval of the number of true links comes from the draws of a posterior, in which links depend on
    each other; without draws, pairs are taken as independent.
    """
    chosen = scores.values >= LEAST
    p, y, pairs = scores.values[chosen], true[chosen].astype(float), scores.pairs[chosen]
    unit = units.of_pairs(pairs)
    bins = np.minimum((p * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)

    def error(weights: NDArray[np.float64]) -> float:
        w = weights[unit]
        gap = np.bincount(bins, w * (p - y), minlength=BINS)
        return float(np.abs(gap).sum() / w.sum()) if w.sum() > 0 else np.nan

    return Calibration(
        pairs=len(p),
        expected=float(p.sum()),
        observed=int(y.sum()),
        interval=independent_count(p) if posterior is None else _drawn_count(posterior, pairs),
        ece=units.scored(error),
        brier=units.score(share(units.total(unit, (p - y) ** 2), units.total(unit))),
        counts=counts,
        mean_probability=share(np.bincount(bins, p, minlength=BINS), counts),
        share_true=share(np.bincount(bins, y, minlength=BINS), counts),
        frame_kind=scores.frame_kind,
    )


def _drawn_count(posterior: Posterior, pairs: NDArray[np.int64]) -> tuple[int, int]:
    """Return the 95 % interval of the number of these pairs that are linked in a draw."""
    person = posterior.person.reshape(-1, len(posterior.records))
    number = np.zeros(len(person), dtype=np.int64)
    for a, b in pairs:
        number += person[:, a] == person[:, b]
    low, high = np.quantile(number, [0.025, 0.975], method="inverted_cdf")
    return int(low), int(high)


def independent_count(p: NDArray[np.float64]) -> tuple[int, int]:
    """Return the central 95 % interval of a sum of independent indicators, from its exact distribution.

    >>> independent_count(np.full(100, 0.5))
    (40, 60)
    """
    from scipy.signal import fftconvolve  # it imports much that is needed nowhere else

    parts = [np.array([1 - q, q]) for q in p] or [np.ones(1)]
    while len(parts) > 1:
        paired = [fftconvolve(a, b) for a, b in zip(parts[::2], parts[1::2], strict=False)]
        parts = paired + parts[len(parts) - len(parts) % 2 :]
    below = np.cumsum(np.maximum(parts[0], 0.0))
    return int(np.searchsorted(below, 0.025)), int(np.searchsorted(below, 0.975))
