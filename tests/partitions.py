"""All partitions of a few records: the slow, obvious ground that fast code is held against."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import canonical


def pairings(file_of: list[int]) -> Iterator[NDArray[np.int64]]:
    """Yield the labels of every partition into singletons and pairs of records of different files."""
    cross = [(a, b) for a, b in combinations(range(len(file_of)), 2) if file_of[a] != file_of[b]]

    def extend(labels: list[int], start: int, used: frozenset[int]) -> Iterator[NDArray[np.int64]]:
        yield canonical(labels)
        for place in range(start, len(cross)):
            a, b = cross[place]
            if a not in used and b not in used:
                linked = labels.copy()
                linked[b] = linked[a]
                yield from extend(linked, place + 1, used | {a, b})

    yield from extend(list(range(len(file_of))), 0, frozenset())


def matches(labels: NDArray[np.int64]) -> int:
    """Count the matches of a partition into singletons and pairs."""
    return len(labels) - (int(labels.max()) + 1)


def partitions(file_of: list[int], allowed: str, largest: int) -> Iterator[NDArray[np.int64]]:
    """Yield the labels of every partition of a class ("pairs", "one_per_file" or "free") with clusters up to a size."""
    largest = min(largest, 2) if allowed == "pairs" else largest

    def extend(labels: list[int]) -> Iterator[NDArray[np.int64]]:
        place = len(labels)
        if place == len(file_of):
            yield np.array(labels)
            return
        for label in range(max(labels, default=-1) + 2):
            members = [other for other in range(place) if labels[other] == label]
            same_file = any(file_of[other] == file_of[place] for other in members)
            if len(members) < largest and (allowed == "free" or not same_file):
                yield from extend([*labels, label])

    yield from extend([])
