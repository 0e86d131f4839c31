"""What the bootstrap of a score draws again."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tielink.posterior.score import Score

__all__ = ["Units"]

Floats = NDArray[np.float64]


class Units:
    """What the bootstrap draws again: the true persons, each with all its records.

    A pair counts as often as the true person of its earlier record was drawn. So all true pairs of a person come and go
    together, and in two files the records of the first one are drawn, each with every pair that it is in.
    """

    def __init__(self, persons: NDArray[np.int64], resamples: int, seed: int) -> None:
        self.persons = persons
        self.count = int(persons.max(initial=-1)) + 1
        rng = np.random.default_rng(seed)
        again = rng.multinomial(self.count, np.full(self.count, 1 / self.count), size=resamples)
        self.weights = np.vstack([np.ones((1, self.count)), again])
        """How often each person counts: once in the first row, the data; as drawn again in the others."""

    def of_pairs(self, pairs: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the unit of every pair r < r'."""
        return self.persons[pairs[:, 0]]

    def total(self, unit: NDArray[np.int64], value: ArrayLike = 1.0) -> Floats:
        """Sum a value over things that belong to units: one sum for the data and for each resample."""
        values = np.broadcast_to(np.asarray(value, dtype=float), unit.shape)
        return np.asarray(self.weights @ np.bincount(unit, values, minlength=self.count))

    def score(self, values: Floats) -> Score:
        """Make a score of the value in the data and those in the resamples; undefined ones are left out."""
        again = values[1:][np.isfinite(values[1:])]
        low, high = np.quantile(again, [0.025, 0.975]) if len(again) else (math.nan, math.nan)
        return Score(float(values[0]), low, high)

    def scored(self, statistic: Callable[[Floats], float]) -> Score:
        """Make a score of a statistic that takes the weight of each unit."""
        return self.score(np.array([statistic(weights) for weights in self.weights]))
