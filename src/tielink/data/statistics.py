"""The figures by which a network is described: density, clustering, assortativity."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

__all__ = ["NetworkFigures", "network_figures"]


@dataclass(frozen=True)
class NetworkFigures:
    """What one network looks like; figures that are not defined for it are NaN."""

    records: int
    ties: int
    isolated: int
    density: float
    clustering: float
    assortativity: float


def network_figures(records: int, ties: NDArray[np.int64]) -> NetworkFigures:
    """Describe a network of `records` nodes and `ties` (pairs of node numbers, each tie once).

    Density is the share of dyads that are tied; clustering is the global transitivity (closed triples over
    connected triples); assortativity is the correlation of the degrees at both ends of a tie.

    >>> network_figures(4, np.array([[0, 1], [1, 2], [0, 2], [2, 3]])).clustering
    0.6
    """
    degree = np.bincount(ties.ravel(), minlength=records)
    dyads = records * (records - 1) / 2
    triples = float((degree * (degree - 1) / 2).sum())
    return NetworkFigures(
        records=records,
        ties=len(ties),
        isolated=int((degree == 0).sum()),
        density=len(ties) / dyads if dyads else np.nan,
        clustering=3 * _triangles(records, ties, degree) / triples if triples else np.nan,
        assortativity=_assortativity(ties, degree),
    )


def _triangles(records: int, ties: NDArray[np.int64], degree: NDArray[np.int64]) -> int:
    """Count triangles, each once, by pointing every tie at its end of higher degree (short rows, few products)."""
    rank = np.empty(records, dtype=np.int64)
    rank[np.argsort(degree, kind="stable")] = np.arange(records)
    ends = np.sort(rank[ties], axis=1)
    towards = sparse.csr_array((np.ones(len(ties), dtype=np.int64), (ends[:, 0], ends[:, 1])), (records, records))
    return int((towards @ towards).multiply(towards).sum())


def _assortativity(ties: NDArray[np.int64], degree: NDArray[np.int64]) -> float:
    """Return Newman's degree correlation over ties, each taken in both directions."""
    if not len(ties):
        return np.nan
    here = degree[ties.ravel()].astype(float)
    there = degree[ties[:, ::-1].ravel()].astype(float)
    variance = here.var()
    return float(((here - here.mean()) * (there - there.mean())).mean() / variance) if variance else np.nan
