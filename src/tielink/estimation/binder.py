"""The linkage of least expected Binder loss, exactly."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csgraph

from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.estimation.candidates import Candidates
from tielink.estimation.partition import best_partition
from tielink.matching import best_matching

__all__ = ["binder"]

Pairs = NDArray[np.int64]


def binder(found: Candidates, threshold: float) -> Linkage:
    """Maximise Σ x·(p − k) over the valid linkages, k the threshold.

    Singletons and pairs: a maximum-weight matching. Larger clusters: an integer program with transitivity for each
    connected component of the pairs with p > k. (To cut a cluster along those components only takes pairs with p ≤ k
    out of it, so no better linkage reaches across them.)
    """
    if found.allowed == "pairs" or (found.allowed == "one_per_file" and len(found.records.files) == 2):
        return _pairs(found, threshold)
    return _clusters(found, threshold)


def _pairs(found: Candidates, threshold: float) -> Linkage:
    pairs, weight = found.scores.pairs, found.scores.values - threshold
    settled = np.zeros(len(found.records), dtype=bool)
    settled[found.together.ravel()] = True
    file_of = found.records.file_of
    free = ~settled[pairs].any(axis=1) & ~np.isin(pair_keys(pairs), pair_keys(found.apart))
    if len(found.records.files) > 1:
        free &= file_of[pairs[:, 0]] != file_of[pairs[:, 1]]
    pairs, weight = pairs[free], weight[free]
    chosen = best_matching(pairs, weight, file_of)
    return found.linkage(np.concatenate([found.together, pairs[chosen]]))


def _clusters(found: Candidates, threshold: float) -> Linkage:
    size = len(found.records)
    pairs, p = found.scores.pairs, found.scores.values
    forbidden = np.isin(pair_keys(pairs), pair_keys(found.apart))
    worth = pairs[(p > threshold) & ~forbidden]
    edges = np.concatenate([worth, found.together])
    graph = coo_array((np.ones(len(edges)), edges.T), shape=(size, size))
    _, component = csgraph.connected_components(graph, directed=False)
    links = [found.together]
    members = np.argsort(component, kind="stable")
    starts = np.searchsorted(component[members], np.arange(component.max(initial=-1) + 2))
    inside = np.argsort(component[pairs[:, 0]], kind="stable")
    bounds = np.searchsorted(component[pairs[inside, 0]], np.arange(len(starts)))
    for number in np.flatnonzero(np.diff(starts) > 1):
        group = np.sort(members[starts[number] : starts[number + 1]])
        rows = inside[bounds[number] : bounds[number + 1]]
        rows = rows[component[pairs[rows, 1]] == number]
        links.append(_component(found, group, pairs[rows], p[rows] - threshold, -threshold))
    return found.linkage(np.concatenate(links))


def _component(
    found: Candidates, group: NDArray[np.int64], pairs: Pairs, weight: NDArray[np.float64], other: float
) -> Pairs:
    """Link the records of one component; a pair without a probability has weight `other`."""
    matrix = np.full((len(group), len(group)), other)
    a, b = np.searchsorted(group, pairs).T
    matrix[a, b] = matrix[b, a] = weight
    apart = _mask(group, found.apart)
    if found.allowed == "one_per_file":
        file_of = found.records.file_of[group]
        apart |= file_of[:, None] == file_of[None, :]
    labels = best_partition(matrix, _mask(group, found.together), apart)
    first, second = np.triu_indices(len(group), 1)
    same = labels[first] == labels[second]
    return np.column_stack([group[first[same]], group[second[same]]])


def _mask(group: NDArray[np.int64], pairs: Pairs) -> NDArray[np.bool_]:
    mask = np.zeros((len(group), len(group)), dtype=bool)
    a, b = np.searchsorted(group, pairs[np.isin(pairs, group).all(axis=1)]).T
    mask[a, b] = mask[b, a] = True
    return mask
