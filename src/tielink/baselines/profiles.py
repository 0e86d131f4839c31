"""How far apart two profiles are, over all fields."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from scipy.sparse import csr_array

from tielink.baselines.strings import FAR, close_pairs
from tielink.data.dataset import Dataset
from tielink.fields import PersonName, String

__all__ = ["NEUTRAL", "close_profiles", "profile_distance"]

NEUTRAL = FAR
"""The distance at which profiles speak neither for a link nor against it; that of profiles without values, too."""


def close_profiles(data: Dataset) -> csr_array:
    """Return which free records have near strings in at least one field: first file × second file."""
    text = [name for name, field in data.fields.items() if isinstance(field, String | PersonName)]
    parts = [close_pairs(data, name, FAR)[0] for name in text]
    a, b = np.concatenate([np.empty((0, 2), dtype=np.int64), *parts]).T
    shape = data.records.sizes[0], data.records.sizes[1]
    return csr_array((np.ones(len(a), dtype=bool), (a, b - data.records.offsets[1])), shape=shape)


def profile_distance(data: Dataset, pairs: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the mean distance over the fields that both records of a pair have.

    Strings: Levenshtein's distance over the length of the longer. Other fields: 0 if equal, 1 if not.
    """
    total, count = np.zeros(len(pairs)), np.zeros(len(pairs))
    for column in data.columns.values():
        a, b = column.codes[pairs].T
        both = np.flatnonzero((a >= 0) & (b >= 0))
        if isinstance(column.field, String | PersonName):
            far = [
                Levenshtein.normalized_distance(column.values[x], column.values[y])
                for x, y in zip(a[both], b[both], strict=True)
            ]
            total[both] += far
        else:
            total[both] += a[both] != b[both]
        count[both] += 1
    return np.where(count > 0, total / np.maximum(count, 1), NEUTRAL)
