"""Link the best connected record of one network to the best connected of the other, the second to the second, …."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tielink.baselines.answer import answer, check_two_files, free_records, networks
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage

__all__ = ["degree_rank", "ranks"]

SCORED = 1000
"""Pairs of records up to this rank get a score: beyond it there are too many."""


def degree_rank(data: Dataset) -> ScoredLinkage:
    """Link records of equal rank by degree, among those that have ties and no anchor.

    Equal degrees are ordered by the mean degree of the neighbours, then as the records come. A pair of ranks r and r'
    scores 1/max(r, r').

    Parameters
    ----------
    data
        Two files, both with a network.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    check_two_files(data, "degree_rank", network=True)
    free, edge = free_records(data), data.records.offsets[1]
    first, second = networks(data)
    order = []
    for network, inside in ((first, free[:edge]), (second, free[edge:])):
        rank = ranks(network, inside)
        order.append(np.argsort(rank, kind="stable")[: int(np.isfinite(rank).sum())])
    left, right = order[0], order[1] + edge
    count = min(len(left), len(right))
    a, b = np.meshgrid(np.arange(min(len(left), SCORED)), np.arange(min(len(right), SCORED)), indexing="ij")
    scored = np.column_stack([left[a.ravel()], right[b.ravel()]])
    return answer(data, np.column_stack([left[:count], right[:count]]), scored, 1 / (1.0 + np.maximum(a, b).ravel()))


def ranks(network: csr_array, free: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the rank of each record by degree, from 1; infinity for those without ties, and for those not free."""
    degree = np.asarray(network.sum(axis=1))
    around = np.asarray(network @ degree) / np.maximum(degree, 1)
    order = np.lexsort((-around, -degree))
    order = order[free[order] & (degree[order] > 0)]
    rank = np.full(len(degree), np.inf)
    rank[order] = np.arange(1, len(order) + 1)
    return rank
