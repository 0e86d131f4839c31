"""A score with its interval."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Score", "share"]

Floats = NDArray[np.float64]


class Score(float):
    """A number that remembers its 95 % interval, `low` to `high`.

    >>> recall = Score(0.5, 0.3, 0.7)
    >>> recall + 1, recall.low, str(recall)
    (1.5, 0.3, '0.50 (0.30 to 0.70)')
    """

    low: float
    high: float

    def __new__(cls, value: float, low: float = math.nan, high: float = math.nan) -> Score:
        """Make a score; the interval may be left out."""
        score = super().__new__(cls, value)
        score.low, score.high = float(low), float(high)
        return score

    def __getnewargs__(self) -> tuple[float, float, float]:  # type: ignore[override]
        return float(self), self.low, self.high

    def __str__(self) -> str:
        if math.isnan(self):
            return "not defined"
        return f"{float(self):.2f}" + ("" if math.isnan(self.low) else f" ({self.low:.2f} to {self.high:.2f})")


def share(part: NDArray[Any], whole: NDArray[Any]) -> Floats:
    """Divide; what has nothing to be a part of is undefined (NaN).

    >>> share(np.array([1.0, 0.0]), np.array([2.0, 0.0]))
    array([0.5, nan])
    """
    return np.asarray(np.divide(part, whole, out=np.full(len(whole), np.nan), where=whole > 0))
