"""The index of all records: which file and id each one has, and which number."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.faults import listed

__all__ = ["Record", "Records"]

Record = tuple[str, Hashable]
"""The name of a file and an id in it."""


class Records:
    """All records of all files, numbered 0 … I−1, file after file.

    >>> records = Records({"youtube": ["a1", "a2"], "twitter": ["b1"]})
    >>> len(records), records.number(("twitter", "b1")), records[0]
    (3, 2, ('youtube', 'a1'))
    """

    def __init__(self, ids: Mapping[str, Sequence[Any]]):
        self.files: tuple[str, ...] = tuple(ids)
        self.ids: tuple[tuple[Any, ...], ...] = tuple(tuple(ids[name]) for name in self.files)
        self.sizes: tuple[int, ...] = tuple(len(file_ids) for file_ids in self.ids)
        self.offsets: tuple[int, ...] = tuple(int(n) for n in np.cumsum((0, *self.sizes)))

    def __len__(self) -> int:
        return self.offsets[-1]

    def __getitem__(self, number: int) -> Record:
        file = self.file_of[number]
        return self.files[file], self.ids[file][number - self.offsets[file]]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Records) and (self.files, self.ids) == (other.files, other.ids)

    def __hash__(self) -> int:
        return hash((self.files, self.sizes))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{name}: {size:,}" for name, size in zip(self.files, self.sizes, strict=True))
        return f"Records({sizes})"

    @cached_property
    def file_of(self) -> NDArray[np.int64]:
        """The number of the file of every record."""
        return np.repeat(np.arange(len(self.files)), self.sizes)

    @cached_property
    def _numbers(self) -> dict[str, dict[Any, int]]:
        return {
            name: {key: number for number, key in enumerate(ids, start=offset)}
            for name, ids, offset in zip(self.files, self.ids, self.offsets[:-1], strict=True)
        }

    def number(self, record: Record) -> int:
        """Return the number of the record, or raise a `KeyError` that says what is unknown about it."""
        try:
            file, key = record
        except (TypeError, ValueError):
            raise KeyError(f"expected a (file, id) pair, found {record!r}") from None
        if file not in self._numbers:
            raise KeyError(f"unknown file {file!r}; the files are {listed([repr(f) for f in self.files], 8)}")
        try:
            return self._numbers[file][key]
        except (KeyError, TypeError):
            raise KeyError(f"unknown id {key!r} in file {file!r}{self._other_type(file, key)}") from None

    def _other_type(self, file: str, key: object) -> str:
        """Say so when the id would be known if it had another type (1 against "1")."""
        for known in self._numbers[file]:
            if type(known) is not type(key) and str(known) == str(key):
                return f" (there it is {known!r}, a {type(known).__name__}, not a {type(key).__name__})"
        return ""

    def numbers(self, records: Iterable[Record]) -> NDArray[np.int64]:
        """Return the numbers of many records."""
        return np.fromiter((self.number(record) for record in records), dtype=np.int64)
