"""A table of group evidence that kernels can read: open addressing, by the records of the group."""

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Table(NamedTuple):
    """
    Evidence of groups of two or more records.

    Attributes
    ----------
    key : (capacity, largest) int64
        Records of each group, increasing, -1 beyond its size.
    value : (capacity,) float64
    used : (capacity,) uint8
        Set when a kernel reads the value.
    bucket : (a power of two,) int64
        Rows by hash; -1 where there is none.
    """

    key: NDArray[np.int64]
    value: NDArray[np.float64]
    used: NDArray[np.uint8]
    bucket: NDArray[np.int64]


class Wanted(NamedTuple):
    """Groups that a kernel asked for and did not find."""

    key: NDArray[np.int64]
    number: NDArray[np.int64]


@njit(cache=True)
def _hash(key, count):
    h = np.uint64(14695981039346656037)
    for i in range(count):
        h = (h ^ np.uint64(key[i])) * np.uint64(1099511628211)
        h ^= h >> np.uint64(29)
    return h


@njit(cache=True)
def find(table, key, count):
    """The row of a group, or -1."""
    mask = np.uint64(table.bucket.size - 1)
    at = _hash(key, count) & mask
    while True:
        row = table.bucket[at]
        if row < 0:
            return -1
        same = count == table.key.shape[1] or table.key[row, count] < 0
        i = 0
        while same and i < count:
            same = table.key[row, i] == key[i]
            i += 1
        if same:
            return row
        at = (at + np.uint64(1)) & mask


@njit(cache=True)
def enter(table, begin, end):
    """Put rows into the index."""
    mask = np.uint64(table.bucket.size - 1)
    for row in range(begin, end):
        count = 0
        while count < table.key.shape[1] and table.key[row, count] >= 0:
            count += 1
        at = _hash(table.key[row], count) & mask
        while table.bucket[at] >= 0:
            at = (at + np.uint64(1)) & mask
        table.bucket[at] = row


@njit(cache=True)
def evidence(table, wanted, silent, key, count):
    """E of a group; where the table does not have it, the group is asked for and the answer is 0."""
    if silent or count < 2:
        return 0.0
    row = find(table, key, count)
    if row >= 0:
        table.used[row] = 1
        return table.value[row]
    if wanted.number[0] < wanted.key.shape[0]:
        for i in range(wanted.key.shape[1]):
            wanted.key[wanted.number[0], i] = key[i] if i < count else -1
    wanted.number[0] += 1
    return 0.0
