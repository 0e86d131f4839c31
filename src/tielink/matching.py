"""Maximum-weight matchings: every record in at most one chosen pair, the sum of weights as large as possible."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csgraph, csr_array

__all__ = ["best_matching", "bipartite_matching", "general_matching"]

Pairs = NDArray[np.int64]
Floats = NDArray[np.float64]

STEPS = 2**40
"""Weights of a general matching are whole numbers of this many parts of the largest one."""


def best_matching(pairs: Pairs, weight: Floats, file_of: NDArray[np.integer]) -> NDArray[np.int64]:
    """Choose the rows of `pairs` (record numbers) that form a matching of the largest total weight.

    Pairs of weight 0 or less are never chosen. When the pairs join two files only, the matching is bipartite.

    >>> pairs = np.array([[0, 2], [0, 3], [1, 3]])
    >>> best_matching(pairs, np.array([0.5, 0.8, 0.1]), np.array([0, 0, 1, 1])).tolist()
    [1]
    """
    rows = np.flatnonzero(np.asarray(weight) > 0)
    # Each of these pairs has both its records to itself, so it is chosen whatever the others do.
    degree = np.bincount(pairs[rows].ravel(), minlength=len(file_of))
    alone = (degree[pairs[rows]] == 1).all(axis=1)
    sure, open_rows = rows[alone], rows[~alone]
    if not len(open_rows):
        return np.asarray(sure)
    left, right = pairs[open_rows].T
    files = file_of[left], file_of[right]
    if len(np.unique(np.stack(files), axis=1).T) == 1 and files[0][0] != files[1][0]:
        chosen = bipartite_matching(left, right, weight[open_rows])
    else:
        chosen = general_matching(pairs[open_rows], weight[open_rows])
    return np.sort(np.concatenate([sure, open_rows[chosen]]))


def bipartite_matching(left: Pairs, right: Pairs, weight: Floats) -> NDArray[np.int64]:
    """Choose the edges of a maximum-weight matching between two sides; all weights are above 0.

    A full matching of least cost C − w, in which every left node has a private partner of cost C, meaning "alone": all
    full matchings have as many edges, so the constant C changes nothing.
    """
    names, row = np.unique(left, return_inverse=True)
    others, column = np.unique(right, return_inverse=True)
    ceiling = 2 * float(weight.max())
    alone = np.arange(len(names))
    costs = csr_array(
        (
            np.concatenate([ceiling - weight, np.full(len(names), ceiling)]),
            (np.concatenate([row, alone]), np.concatenate([column, len(others) + alone])),
        ),
        shape=(len(names), len(others) + len(names)),
    )
    rows, columns = csgraph.min_weight_full_bipartite_matching(costs)
    partner = np.empty(len(names), dtype=np.int64)
    partner[rows] = columns
    return np.flatnonzero(partner[row] == column)


def general_matching(pairs: Pairs, weight: Floats) -> NDArray[np.int64]:
    """Choose the edges of a maximum-weight matching in any graph; all weights are above 0.

    rustworkx works with whole numbers: a weight is rounded to 2⁻⁴⁰ of the largest.
    """
    import rustworkx as rx

    names, ends = np.unique(pairs, return_inverse=True)
    ends = ends.reshape(pairs.shape)
    whole = np.rint(weight / weight.max() * STEPS).astype(np.int64)
    graph = rx.PyGraph(multigraph=False)
    graph.add_nodes_from(range(len(names)))
    graph.add_edges_from([(int(a), int(b), int(w)) for (a, b), w in zip(ends, whole, strict=True)])
    chosen = {tuple(sorted(edge)) for edge in rx.max_weight_matching(graph, weight_fn=int)}
    return np.array(
        [row for row, (a, b) in enumerate(np.sort(ends, axis=1).tolist()) if (a, b) in chosen], dtype=np.int64
    )
