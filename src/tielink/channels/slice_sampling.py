"""Draws from a density on (0, 1) that is known up to a factor."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

__all__ = ["slice_draw"]


def slice_draw(rng: np.random.Generator, now: float, log_density: Callable[[float], float]) -> float:
    """Draw once by slice sampling with shrinkage, from where it stands (Neal 2003)."""
    level = log_density(now) - rng.exponential()
    low, high = 0.0, 1.0
    while True:
        proposed = float(rng.uniform(low, high))
        if log_density(proposed) >= level:
            return proposed
        if proposed < now:
            low = proposed
        else:
            high = proposed
