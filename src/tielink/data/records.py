"""The index of all records: which file and id each one has, and which number."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.spreadsheet import exact_text
from tielink.faults import listed

__all__ = ["Record", "Records", "record_name"]

Record = tuple[str, Hashable]
"""The name of a file and an id in it."""


def record_name(record: Record) -> str:
    """Write a record for a message.

    >>> record_name(("youtube", "a1"))
    'youtube/a1'
    """
    return f"{record[0]}/{record[1]}"


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

    @cached_property
    def written(self) -> dict[str, dict[str, Any]]:
        """For each file its ids by how they are written."""
        return {name: {str(key): key for key in ids} for name, ids in zip(self.files, self.ids, strict=True)}

    def __contains__(self, record: object) -> bool:
        try:
            self.number(record)  # type: ignore[arg-type]
        except KeyError:
            return False
        return True

    def number(self, record: Record, *, written: bool = False) -> int:
        """Return the number of the record, or raise a `KeyError` that says what is unknown about it.

        With `written`, the id comes from a text file and stands for whatever id is written like it.
        """
        if not isinstance(record, tuple | list) or len(record) != 2:
            raise KeyError(f"expected a (file, id) pair, found {record!r}")
        file, key = record
        if written and isinstance(file, str) and file not in self._numbers:
            file = exact_text(file)
        if not isinstance(file, str) or file not in self._numbers:
            raise KeyError(f"unknown file {file!r}; the files are {listed([repr(f) for f in self.files], 8)}")
        if written and isinstance(key, str):
            texts = self.written[file]
            key = texts.get(key, texts.get(exact_text(key), key))
        try:
            return self._numbers[file][key]
        except (KeyError, TypeError):
            raise KeyError(f"unknown id {key!r} in file {file!r}{self._hint(file, key)}") from None

    def _hint(self, file: str, key: object) -> str:
        """Say so when the id would be known with another type (1 against "1") or in another file."""
        known = self.written[file].get(str(key))
        if known is not None:
            return f" (there it is {known!r}, a {type(known).__name__}, not a {type(key).__name__})"
        others = [name for name in self.files if name != file and str(key) in self.written[name]]
        return (
            f" (but known in {listed([repr(name) for name in others])}: are the two columns swapped?)" if others else ""
        )
