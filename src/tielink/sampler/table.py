"""A table of group evidence that kernels can read: open addressing, by the records of the group."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit


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
    wanted : (room, largest) int64
        Groups that a kernel asked for and did not find.
    missing : (1,) int64
        How many of those there are.
    silent : bool
        There are no fields, so all evidence is 0.
    """

    key: NDArray[np.int64]
    value: NDArray[np.float64]
    used: NDArray[np.uint8]
    bucket: NDArray[np.int64]
    wanted: NDArray[np.int64]
    missing: NDArray[np.int64]
    silent: bool


def empty_table(capacity: int, wanted: NDArray[np.int64], missing: NDArray[np.int64], silent: bool) -> Table:
    """Return a table with room for so many groups."""
    return Table(
        np.full((capacity, wanted.shape[1]), -1, dtype=np.int64),
        np.zeros(capacity),
        np.zeros(capacity, dtype=np.uint8),
        np.full(1 << int(4 * capacity - 1).bit_length(), -1, dtype=np.int64),
        wanted,
        missing,
        silent,
    )


@njit
def find(table, key, count):
    """The place in the index of a group's row, or where it is to be entered."""
    at = np.uint64(14695981039346656037)
    for i in range(count):
        at = (at ^ np.uint64(key[i])) * np.uint64(1099511628211)
        at ^= at >> np.uint64(29)
    mask = np.uint64(table.bucket.size - 1)
    at &= mask
    while True:
        row = table.bucket[at]
        same = row < 0 or count == table.key.shape[1] or table.key[row, count] < 0
        i = 0
        while same and row >= 0 and i < count:
            same = table.key[row, i] == key[i]
            i += 1
        if same:
            return at
        at = (at + np.uint64(1)) & mask


@njit
def enter(table, begin, end):
    """Put rows into the index."""
    for row in range(begin, end):
        count = 0
        while count < table.key.shape[1] and table.key[row, count] >= 0:
            count += 1
        table.bucket[find(table, table.key[row], count)] = row


@njit
def evidence(table, key, count):
    """E of a group; where the table does not have it, the group is asked for and the answer is 0."""
    if table.silent or count < 2:
        return 0.0
    row = table.bucket[find(table, key, count)]
    if row >= 0:
        table.used[row] = 1
        return table.value[row]
    if table.missing[0] < table.wanted.shape[0]:
        for i in range(table.wanted.shape[1]):
            table.wanted[table.missing[0], i] = key[i] if i < count else -1
    table.missing[0] += 1
    return 0.0
