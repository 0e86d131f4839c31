"""How frequent true numbers and dates are: counts where values repeat, and a smooth curve for all others."""

from __future__ import annotations

import numpy as np
from scipy.signal import fftconvolve

from tielink.channels.channel import Floats

__all__ = ["smooth_truth"]

ANYTHING = 0.01
"""The share of the smooth curve that is flat, so that no value is impossible."""


def smooth_truth(counts: Floats, spread: float) -> Floats:
    """Return p(v) = [max(c(v) − D, 0) + D·T·g(v)]/n, with n = Σc and T the number of values counted.

    D = n₁/(n₁ + 2n₂), from the values counted once and twice, is the share of a count that goes to values not seen
    (absolute discounting, as language models do for words); g is the counts smoothed by a normal kernel of Silverman's
    bandwidth, at least a step and the tolerance, with a little of a flat curve.
    """
    once, twice = int((counts == 1).sum()), int((counts == 2).sum())
    discount = once / (once + 2 * twice) if once else 0.5
    total, places = int(counts.sum()), np.arange(len(counts))
    mean = counts @ places / total
    deviation = np.sqrt(counts @ (places - mean) ** 2 / total)
    low, high = np.searchsorted(np.cumsum(counts), [0.25 * total, 0.75 * total])
    width = 0.9 * min(deviation, (high - low) / 1.34 or deviation) * total**-0.2
    bandwidth = max(1.0, spread, width)
    reach = min(int(6 * bandwidth), len(counts))
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) / bandwidth) ** 2)
    curve = np.maximum(fftconvolve(counts, kernel)[reach : reach + len(counts)], 0.0)
    curve = (1 - ANYTHING) * curve / curve.sum() + ANYTHING / len(counts)
    kept = np.maximum(counts - discount, 0.0)
    weight = kept + (total - kept.sum()) * curve
    return np.asarray(weight / weight.sum())
