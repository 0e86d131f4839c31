"""The seen true values that a value may stand for, as rows of one table: what sums over dependent fields walk along."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_SHARE", "NearTruths", "near_rows", "worth_keeping"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

LEAST_SHARE = 1e-3
"""True values that make up less than this of what a value may stand for are lumped with all others."""


class NearTruths(NamedTuple):
    """Row x holds the true values v that are laid out for x, increasing; all others are lumped."""

    start: Codes
    truth: Codes
    clean: Floats
    """c_v(x)."""
    distorted: Floats
    """ζ_v(x)."""
    far: Floats
    """ζ_v(x) of a seen true value v that is not in the row of x."""
    outside: Floats
    """The mean of ζ_v(x) over all true values that are not in the row of x, seen or not."""


def worth_keeping(clean: Floats, distorted: Floats, prior: Floats, whole: Floats, itself: NDArray[np.bool_]) -> Codes:
    """Return the places of entries (x, v) that make up enough of `whole` = Σ_v p(v)·[c_v(x) + ζ_v(x)]."""
    return np.flatnonzero(itself | (clean > 0) | (prior * (clean + distorted) >= LEAST_SHARE * whole))


def near_rows(
    values: Codes, truth: Codes, clean: Floats, distorted: Floats, prior: Floats, whole: Floats, far: Floats
) -> NearTruths:
    """Put rows together from entries sorted by value and true value.

    `prior` is p(v) of every code, `whole` Σ_v p(v)·ζ_v(x) of every value x over all true values, seen or not.
    """
    levels = len(whole)
    start = np.searchsorted(values, np.arange(levels + 1)).astype(np.int64)
    inside, mass = (
        np.bincount(values, weight, minlength=levels) for weight in (prior[truth] * distorted, prior[truth])
    )
    outside = np.maximum(whole - inside, 0.0) / np.maximum(1.0 - mass, 1e-12)
    return NearTruths(start, truth.astype(np.int64), clean, distorted, far, outside)
