"""The best partition of a few records, when clusters may be of any size: an integer program."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csgraph, csr_array

__all__ = ["best_partition"]


def best_partition(
    weight: NDArray[np.float64], together: NDArray[np.bool_], apart: NDArray[np.bool_]
) -> NDArray[np.int64]:
    """Return labels that maximise Σ_{i<j} w_ij·x_ij, x_ij = 1 where i and j have the same label.

    The x of a partition are transitive: x_ij + x_jk − x_ik ≤ 1 for all i, j, k. Only those of these constraints that a
    solution violates are added, until none is (HiGHS solves each program to optimality).

    Parameters
    ----------
    weight
        w, symmetric.
    together, apart
        Pairs whose x is 1, and whose x is 0, whatever their weight.

    Examples
    --------
    >>> w = np.array([[0, 2, -3], [2, 0, 1], [-3, 1, 0.0]])
    >>> none = np.zeros((3, 3), dtype=bool)
    >>> best_partition(w, none, none)
    array([0, 0, 1])
    """
    from scipy.optimize import Bounds, LinearConstraint, milp  # slow to import, and rarely needed

    size = len(weight)
    first, second = np.triu_indices(size, 1)
    place = np.zeros((size, size), dtype=np.int64)
    place[first, second] = place[second, first] = np.arange(len(first))
    low, high = together[first, second].astype(float), 1.0 - apart[first, second]
    gain = weight[first, second]
    x = np.where(gain > 0, high, low)
    rows: list[tuple[int, int, int]] = []
    known: set[tuple[int, int, int]] = set()
    while True:
        linked = np.zeros((size, size), dtype=bool)
        linked[first, second] = linked[second, first] = x > 0.5
        new = [row for row in _violated(linked, place) if row not in known]
        if not new:
            break
        known.update(new)
        rows += new
        solution = milp(
            -gain,
            integrality=np.ones(len(gain)),
            bounds=Bounds(low, high),
            constraints=LinearConstraint(_matrix(rows, len(gain)), ub=1.0),
            options={"mip_rel_gap": 0.0},
        )
        if solution.x is None:
            raise RuntimeError(f"the integer program has no solution: {solution.message}")
        x = solution.x
    _, labels = csgraph.connected_components(csr_array(linked), directed=False)
    return np.asarray(labels, dtype=np.int64)


def _violated(linked: NDArray[np.bool_], place: NDArray[np.int64]) -> list[tuple[int, int, int]]:
    """Return (ij, jk, ik) for every i–j–k that is linked at both ends and not across."""
    found = []
    open_across = np.triu((linked.astype(np.int64) @ linked > 0) & ~linked, 1)
    for i, k in np.argwhere(open_across):
        for j in np.flatnonzero(linked[i] & linked[k]):
            a, b = sorted((int(place[i, j]), int(place[j, k])))
            found.append((a, b, int(place[i, k])))
    return found


def _matrix(rows: list[tuple[int, int, int]], width: int) -> csr_array:
    columns = np.array(rows).ravel()
    values = np.tile([1.0, 1.0, -1.0], len(rows))
    return coo_array((values, (np.repeat(np.arange(len(rows)), 3), columns)), shape=(len(rows), width)).tocsr()
