"""What model choice needs to know of every dyad, gathered draw by draw without keeping draws × dyads numbers.

With ℓ = log p(y_d | θ_d) of one dyad over draws: the mean of e^ℓ, the mean and variance of ℓ, and, for PSIS-LOO, the
sum of the ratios e^{−ℓ} and the logarithms of the largest of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["DyadScores", "DyadTally", "tail_size"]

Floats = NDArray[np.float64]


def tail_size(draws: int) -> int:
    """Return how many of the largest ratios to keep: the min(S/5, 3√S) that PSIS smooths, and one below them."""
    return int(np.ceil(min(0.2 * draws, 3 * np.sqrt(draws)))) + 1


@dataclass(frozen=True, eq=False)
class DyadScores:
    """Sufficient statistics of every dyad over all draws of all chains."""

    draws: int
    mean_probability: Floats
    """Mean of p(y_d | θ_d): the probability of the tie, or of its absence, at the posterior mean θ̄_d."""
    mean_log: Floats
    variance_log: Floats
    mean_ratio: Floats | None = None
    """Mean of 1/p(y_d | θ_d), where LOO was asked for."""
    tail: NDArray[np.float32] | None = None
    """Logarithms of the largest ratios of each dyad, increasing: dyads × `tail_size`."""


class DyadTally:
    """Gathers a chain's dyads; plain arrays inside, so that a checkpoint can hold them."""

    def __init__(self, dyads: int, tail: int) -> None:
        self.arrays: dict[str, NDArray[np.floating]] = {
            "probability": np.zeros(dyads),
            "log": np.zeros(dyads),
            "square": np.zeros(dyads),
        }
        self.tail = tail
        if tail:
            self.arrays["ratio"] = np.zeros(dyads)
            # The upper half holds the largest ratios so far, the lower half those of the latest draws.
            self.arrays["tail"] = np.full((dyads, 2 * tail), -np.inf, dtype=np.float32)

    def add(self, logs: Floats, draw: int) -> None:
        """Add draw number `draw`."""
        arrays = self.arrays
        arrays["probability"] += np.exp(logs)
        change = logs - arrays["log"]
        arrays["log"] += change / (draw + 1)
        arrays["square"] += change * (logs - arrays["log"])
        if self.tail:
            arrays["ratio"] += np.exp(-logs)
            slot = draw % self.tail
            arrays["tail"][:, slot] = -logs
            if slot == self.tail - 1:
                self._keep_largest()

    def _keep_largest(self) -> None:
        both = self.arrays["tail"]
        both.partition(self.tail, axis=1)
        both[:, : self.tail] = -np.inf

    @staticmethod
    def merge(tallies: list[tuple[int, dict[str, NDArray[np.floating]]]], tail: int) -> DyadScores:
        """Put chains together: (number of draws, arrays) of each."""
        total = sum(count for count, _ in tallies)
        mean = sum(count * arrays["log"] for count, arrays in tallies) / total
        square = sum(arrays["square"] + count * (arrays["log"] - mean) ** 2 for count, arrays in tallies)
        probability = sum(arrays["probability"] for _, arrays in tallies) / total
        ratio = largest = None
        if tail:
            ratio = sum(arrays["ratio"] for _, arrays in tallies) / total
            everything = np.concatenate([arrays["tail"] for _, arrays in tallies], axis=1)
            largest = np.sort(np.partition(everything, -tail, axis=1)[:, -tail:], axis=1)
        return DyadScores(
            draws=total,
            mean_probability=np.asarray(probability),
            mean_log=np.asarray(mean),
            variance_log=np.asarray(square / max(total - 1, 1)),
            mean_ratio=None if ratio is None else np.asarray(ratio),
            tail=largest,
        )
