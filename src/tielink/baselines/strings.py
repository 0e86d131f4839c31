"""Link records by one string field: equal, or nearest within a threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cdist

from tielink.baselines.answer import answer, check_two_files, free_records, mutual_best
from tielink.data.columns import Column
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage
from tielink.faults import nearest, refuse
from tielink.specification import is_number

__all__ = ["FAR", "best_string", "close_pairs", "column_of", "equal_strings"]

FAR = 0.25
"""Strings further apart than this share of the longer one's characters are not taken for the same."""
ROWS = 500
"""Strings that are compared with all others at a time, to bound memory."""


def column_of(data: Dataset, field: str) -> Column:
    """Return the field's column, or say which fields there are."""
    if field not in data.columns:
        refuse(f"field {field!r}", "is not among the fields of the data.", nearest(field, data.columns))
    return data.columns[field]


def equal_strings(data: Dataset, field: str) -> ScoredLinkage:
    """Link records of different files that say the same in a field.

    A value that several records of one file share tells nobody apart and links nobody.

    Parameters
    ----------
    data
        Any number of files.
    field
        The name of a field.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    codes = np.where(free_records(data), column_of(data, field).codes, -1)
    groups: dict[int, list[int]] = {}
    for record in np.flatnonzero(codes >= 0):
        groups.setdefault(int(codes[record]), []).append(int(record))
    links = []
    for group in groups.values():
        files = data.records.file_of[group]
        if len(group) > 1 and len(set(files.tolist())) == len(group):
            links += [(first, other) for place, first in enumerate(group) for other in group[place + 1 :]]
    pairs = np.array(links, dtype=np.int64).reshape(-1, 2)
    return answer(data, pairs, pairs, np.ones(len(pairs)))


def best_string(data: Dataset, field: str, *, threshold: float = FAR) -> ScoredLinkage:
    """Link records that are each other's nearest in a field, within a threshold.

    The distance is Levenshtein's divided by the length of the longer string. Who has two nearest has none. Scores are
    1 − distance of the pairs within the threshold.

    Parameters
    ----------
    data
        Two files.
    field
        The name of a field.
    threshold
        The largest distance of a link, from 0 (equal) to 1.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    check_two_files(data, "best_string")
    if not is_number(threshold) or not 0 <= threshold <= 1:
        refuse("best_string", f"threshold is {threshold!r}.", "Give a number from 0 to 1.")
    pairs, distance = close_pairs(data, field, threshold)
    chosen = mutual_best(pairs, -distance, len(data.records))
    return answer(data, pairs[chosen], pairs, 1 - distance)


def close_pairs(data: Dataset, field: str, threshold: float) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the pairs of free records across two files within the threshold, with their distances."""
    column = column_of(data, field)
    codes = np.where(free_records(data), column.codes, -1)
    edge = data.records.offsets[1]
    left, right = (np.unique(part[part >= 0]) for part in (codes[:edge], codes[edge:]))
    names = [[column.values[code] for code in side] for side in (left, right)]
    if not len(left) or not len(right):
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    pairs, distances = [], []
    holders = [_holders(codes, side, inside) for side, inside in ((left, slice(0, edge)), (right, slice(edge, None)))]
    for start in range(0, len(left), ROWS):
        block = cdist(
            names[0][start : start + ROWS], names[1], scorer=Levenshtein.normalized_distance, dtype=np.float64
        )
        for row, column_number in np.argwhere(block <= threshold):
            a, b = np.meshgrid(holders[0][start + row], holders[1][column_number], indexing="ij")
            pairs.append(np.column_stack([a.ravel(), b.ravel()]))
            distances.append(np.full(a.size, block[row, column_number]))
    if not pairs:
        return np.empty((0, 2), dtype=np.int64), np.empty(0)
    return np.concatenate(pairs), np.concatenate(distances)


def _holders(codes: NDArray[np.int64], values: NDArray[np.int64], inside: slice) -> list[NDArray[np.int64]]:
    """Return for each value the records of one file that have it."""
    numbers = np.arange(len(codes))[inside]
    part = codes[inside]
    order = np.argsort(part, kind="stable")
    starts = np.searchsorted(part[order], values)
    ends = np.searchsorted(part[order], values, side="right")
    return [numbers[order[start:end]] for start, end in zip(starts, ends, strict=True)]
