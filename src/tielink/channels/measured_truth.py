"""How frequent true numbers and dates are: counts where several records agree, a smooth curve for all else."""

from __future__ import annotations

import numpy as np

from tielink.channels.channel import Floats
from tielink.channels.counts import discount

__all__ = ["smooth_truth"]

ANYTHING = 0.01
"""The share of the smooth curve that is flat, so that no value is impossible."""


def smooth_truth(counts: Floats, others: Floats, spread: float) -> Floats:
    """Return p(v) = max(o(v) − D, 0)/n + b·g(v), with n = Σc and o(v) how often others have v (see `counts`).

    D is the discount, as language models have it for words. g is the counts c smoothed by a normal kernel of
    Silverman's bandwidth, at least a step and the tolerance, with a little of a flat curve; b is what is left.
    """
    total, places = int(counts.sum()), np.arange(len(counts))
    mean = counts @ places / total
    deviation = np.sqrt(counts @ (places - mean) ** 2 / total)
    low, high = np.searchsorted(np.cumsum(counts), [0.25 * total, 0.75 * total])
    width = 0.9 * min(deviation, (high - low) / 1.34 or deviation) * total**-0.2
    bandwidth = max(1.0, spread, width)
    reach = min(int(6 * bandwidth), len(counts))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / bandwidth) ** 2)
    size = len(counts) + 2 * reach
    smoothed = np.fft.irfft(np.fft.rfft(counts, size) * np.fft.rfft(kernel, size), size)
    curve = np.maximum(smoothed[reach : reach + len(counts)], 0.0)
    curve = (1 - ANYTHING) * curve / curve.sum() + ANYTHING / len(counts)
    kept = np.maximum(others - discount(counts), 0.0)
    weight = kept + (total - kept.sum()) * curve
    return np.asarray(weight / weight.sum())
