"""Networks that are partly copies of each other: friends follow each other again on the next site."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage

__all__ = ["copy_ties"]

Ties = NDArray[np.int64]


def copy_ties(rng: np.random.Generator, truth: Linkage, first: Ties, second: Ties, share: float) -> Ties:
    """Return the second file's ties with a share of those between persons of both files taken from the first.

    Every dyad of two such persons is a copy with probability `share`, tie or no tie, whatever their positions say.
    """
    sizes = truth.records.sizes
    pairs = truth.pair_numbers - np.array([0, sizes[0]])
    matrices = []
    for size, ties in zip(sizes, (first, second), strict=False):
        matrix = np.zeros((size, size), dtype=bool)
        matrix[ties[:, 0], ties[:, 1]] = matrix[ties[:, 1], ties[:, 0]] = True
        matrices.append(matrix)
    rows, columns = (pairs[index] for index in np.triu_indices(len(pairs), 1))
    chosen = rng.random(len(rows)) < share
    rows, columns = rows[chosen], columns[chosen]
    copied = matrices[0][rows[:, 0], columns[:, 0]]
    matrices[1][rows[:, 1], columns[:, 1]] = matrices[1][columns[:, 1], rows[:, 1]] = copied
    return np.argwhere(np.triu(matrices[1], 1))
