"""Records of one file that are likely to be the same person, found without a model.

Duplicates agree in everything, and would make all fields seem to depend on each other. For two records, let the
evidence be the sum of −log(frequency) over the values that they share, less `OBJECTION` for each field in which they
differ; of fields that depend on each other, the rarest shared value alone counts. Pairs with more than `ENOUGH` times
log n nats, n being the number of records, are likely duplicates. So neighbours, who share a suburb, its postcode and
its state, are not.
"""

from __future__ import annotations

from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from tielink.channels.channel import Codes, Floats
from tielink.data.columns import MISSING

__all__ = ["AlikePairs", "alike_pairs", "different_records"]

OBJECTION = 3.0
"""A field in which two records differ counts against them as much: one value in twenty is wrong."""
ENOUGH = 0.5
"""Pairs are likely duplicates from this share of log n on: it is better to count a neighbour too few than a twin."""
MOST_ALIKE = 50
"""Records that agree in two fields are compared with so many of those next to them."""


class AlikePairs(NamedTuple):
    """
    Pairs of records that may be duplicates, if no field depends on another.

    Attributes
    ----------
    pairs : (P, 2)
    surprise : (P, L)
        −log(frequency) of the values that two records share, 0 where they share none.
    different : (P,)
        The number of fields in which they differ.
    least
        The evidence that likely duplicates have.
    """

    pairs: Codes
    surprise: Floats
    different: NDArray[np.int64]
    least: float

    def likely(self, groups: NDArray[np.int64]) -> Codes:
        """Return the likely duplicates, if fields with the same number in `groups` depend on each other."""
        shared = sum(
            (self.surprise[:, groups == group].max(axis=1) for group in np.unique(groups)), np.zeros(len(self.pairs))
        )
        return self.pairs[shared - OBJECTION * self.different > self.least]


def alike_pairs(columns: Codes, file_of: Codes) -> AlikePairs:
    """Compare records that agree in two fields, among them those next to each other in the order of these."""
    records, fields = columns.shape
    surprise = np.empty(columns.shape)
    for field in range(fields):
        _, place, count = np.unique(columns[:, field], return_inverse=True, return_counts=True)
        surprise[:, field] = np.log(records / count)[place]

    def compare(pairs: Codes) -> AlikePairs:
        one, two = columns[pairs[:, 0]], columns[pairs[:, 1]]
        same, known = one == two, (one != MISSING) & (two != MISSING)
        least = ENOUGH * float(np.log(max(records, 2)))
        return AlikePairs(pairs, surprise[pairs[:, 0]] * (same & known), (known & ~same).sum(axis=1), least)

    found = [np.empty((0, 2), dtype=np.int64)]
    for one, two in combinations(range(fields), 2):
        known = np.flatnonzero((columns[:, one] != MISSING) & (columns[:, two] != MISSING))
        order = known[np.lexsort((known, columns[known, two], columns[known, one], file_of[known]))]
        keys = np.column_stack([file_of[order], columns[order, one], columns[order, two]])
        for step in range(1, MOST_ALIKE):
            same = (keys[:-step] == keys[step:]).all(axis=1)
            if not same.any():
                break
            pairs = np.column_stack([order[:-step][same], order[step:][same]])
            found.append(compare(pairs).likely(np.arange(fields)))
    return compare(np.unique(np.sort(np.concatenate(found), axis=1), axis=0))


def different_records(alike: AlikePairs, groups: NDArray[np.int64], records: int) -> Codes:
    """Return the records to count: of likely duplicates the first."""
    twins = alike.likely(groups)
    joined = coo_array((np.ones(len(twins)), tuple(twins.T)), shape=(records, records))
    _, person = connected_components(joined, directed=False)
    return np.sort(np.unique(person, return_index=True)[1])
