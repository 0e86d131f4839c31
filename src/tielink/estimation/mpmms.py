"""Most probable maximal matching sets, from the clusters of the draws."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tielink.posterior.pairs import cluster_counts

__all__ = ["most_probable_sets", "mpmms", "shared_mpmms"]

Set = tuple[int, ...]


def most_probable_sets(person: NDArray[np.integer]) -> dict[int, tuple[Set, int]]:
    """Return for each record the cluster it was in most often, with its number of draws; draws × records.

    Of clusters seen equally often the smaller is taken (link only with reason), then the one of smaller record numbers.

    >>> most_probable_sets(np.array([[0, 0, 2], [0, 0, 2], [0, 1, 1]]))[2]
    ((2,), 2)
    """
    draws, size = person.shape
    alone = np.full(size, draws)
    seen: dict[int, list[tuple[Set, int]]] = {record: [] for record in range(size)}
    for group, count in cluster_counts(person).items():
        for record in group:
            seen[record].append((group, count))
            alone[record] -= count
    best = {}
    for record, sets in seen.items():
        if alone[record]:
            sets.append(((record,), int(alone[record])))
        best[record] = min(sets, key=_rank)
    return best


def _rank(entry: tuple[Set, int]) -> tuple[int, int, Set]:
    group, count = entry
    return -count, len(group), group


def mpmms(person: NDArray[np.integer]) -> Iterator[Set]:
    """Yield the most probable sets, the surest first, as far as their records are still free."""
    taken: set[int] = set()
    for group, _ in sorted(set(most_probable_sets(person).values()), key=_rank):
        if taken.isdisjoint(group):
            taken.update(group)
            yield group


def shared_mpmms(person: NDArray[np.integer]) -> Iterator[Set]:
    """Yield the sets that are the most probable set of all their members."""
    best = most_probable_sets(person)
    for record, (group, _) in best.items():
        if record == group[0] and all(best[member][0] == group for member in group):
            yield group
