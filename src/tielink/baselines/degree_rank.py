"""Link the best connected record of one network to the best connected of the other, the second to the second, …."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tielink.baselines.answer import answer, check_two_files, free_records, networks
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage

__all__ = ["degree_rank"]


def degree_rank(data: Dataset) -> ScoredLinkage:
    """Link records of equal rank by degree, among those that have ties and no anchor.

    Equal degrees are ordered by the mean degree of the neighbours, then as the records come. The pair of rank r
    scores 1/r.
    """
    check_two_files(data, "degree_rank", network=True)
    free, edge = free_records(data), data.records.offsets[1]
    first, second = networks(data)
    left, right = _ranked(first, free[:edge]), _ranked(second, free[edge:]) + edge
    count = min(len(left), len(right))
    pairs = np.column_stack([left[:count], right[:count]])
    return answer(data, pairs, pairs, 1 / np.arange(1.0, count + 1))


def _ranked(network: csr_array, free: NDArray[np.bool_]) -> NDArray[np.int64]:
    degree = np.asarray(network.sum(axis=1))
    around = np.asarray(network @ degree) / np.maximum(degree, 1)
    order = np.lexsort((-around, -degree))
    return np.asarray(order[free[order] & (degree[order] > 0)])
