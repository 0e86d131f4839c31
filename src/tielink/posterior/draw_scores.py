"""Recall and precision of every draw: what linkage uncertainty makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.posterior.score import Score, share

__all__ = ["DrawScores", "draw_scores"]


@dataclass(frozen=True, eq=False)
class DrawScores:
    """Posterior distributions of recall, precision and F₁, a value a draw; anchors are left out."""

    recall: NDArray[np.float64]
    precision: NDArray[np.float64]
    """NaN for draws that link nobody."""
    f1: NDArray[np.float64]

    def summary(self, name: str) -> Score:
        """Return the posterior mean with the central 95 % of the draws."""
        values = getattr(self, name)
        values = values[np.isfinite(values)]
        return Score(float(values.mean()), *np.quantile(values, [0.025, 0.975])) if len(values) else Score(np.nan)

    def __str__(self) -> str:
        return ", ".join(f"{name} {self.summary(name)}" for name in ("recall", "precision", "f1"))


def draw_scores(person: NDArray[np.integer], truth: Linkage, left_out: NDArray[np.int64]) -> DrawScores:
    """Score each draw (draws × records) as if it were the answer; `left_out` pairs count nowhere."""
    true = truth.pair_numbers[~np.isin(pair_keys(truth.pair_numbers), pair_keys(left_out))]
    correct, known = (_linked(person, pairs) for pairs in (true, left_out))
    made = np.array([_pairs(np.bincount(labels)) for labels in person]) - known
    there = np.full(len(person), float(len(true)))
    return DrawScores(share(correct, there), share(correct, made), share(2 * correct, made + there))


def _pairs(sizes: NDArray[np.int64]) -> float:
    """Count the pairs inside clusters of these sizes."""
    return float((sizes * (sizes - 1) // 2).sum())


def _linked(person: NDArray[np.integer], pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Count for each draw how many of the pairs it links."""
    number = np.zeros(len(person))
    for a, b in pairs:
        number += person[:, a] == person[:, b]
    return number
