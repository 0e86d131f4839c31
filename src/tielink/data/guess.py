"""The guess of what a column means: a kind of field and why, or no kind and why not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from tielink.data.frames import Table
from tielink.data.measures import read_dates, read_number
from tielink.fields import FIELD_KINDS, Categorical, Date, Field, Number, String

__all__ = ["Guess", "guess_field"]

FEW = 12
"""Numbers with so few different values are labels, not amounts."""
LONG_NUMBER = 7
"""Digits from which whole numbers are ids or telephone numbers rather than amounts."""
ADDRESS = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}", re.IGNORECASE)
ID_NAME = re.compile(r"(.*[_ .-])?(id|ids|uuid|guid|key|index|row|rownum)", re.IGNORECASE)
CODE_NAME = re.compile(r".*(zip|post|plz|code|phone|tel|mobile|fax|ssn).*", re.IGNORECASE)
NAME_PART = re.compile(r"[^\W\d_]+(['’-][^\W\d_]+)*\.?")
PERSON_NAME = next((kind for kind in FIELD_KINDS if kind.kind == "person_name"), None)


class Guess(NamedTuple):
    """A field and why it is taken for one, or no field and why it is not used."""

    field: Field | None
    why: str


class _Cells(NamedTuple):
    """The known cells of a column, as text, by file."""

    name: str
    files: list[list[str]]
    numeric: bool

    @property
    def every(self) -> list[str]:
        return [cell for cells in self.files for cell in cells]

    def share(self, test: Callable[[str], object]) -> float:
        """How many of the different values pass the test."""
        distinct = set(self.every)
        return sum(bool(test(value)) for value in distinct) / len(distinct)

    @property
    def differ(self) -> bool:
        """Whether no file has a value twice (and there are some to tell by)."""
        return all(len(set(cells)) == len(cells) for cells in self.files) and max(map(len, self.files)) > 2

    @property
    def repeats(self) -> bool:
        """Whether a file's values are few and mostly occur more than once (across files a match repeats any value)."""
        return all(
            len(counts) <= 200 and sum(n == 1 for n in counts.values()) <= max(2, 0.05 * counts.total())
            for counts in map(Counter, self.files)
        )


def guess_field(tables: Mapping[str, Table], name: str, missing: Sequence[str] = ()) -> Guess:
    """Guess what a column means, and say why; nothing that looks like an id, a text or an address is used."""
    parts = [table.frame[name].drop_nulls() for table in tables.values() if name in table.frame.columns]
    if any(part.dtype == pl.Object or part.dtype.is_nested() or part.dtype == pl.Binary for part in parts):
        return Guess(None, "holds values that are no text or number")
    files = [[cell for cell in _texts(part) if cell and cell not in missing] for part in parts]
    files = [cells for cells in files if cells]
    if not files:
        return Guess(None, "has no value")
    kinds = {part.dtype == pl.Boolean for part in parts if len(part)}
    cells = _Cells(name, files, any(part.dtype.is_numeric() for part in parts))
    if kinds == {True}:
        return Guess(Categorical(), "true or false")
    if len(set(cells.every)) == 1:
        return Guess(None, f"has one value only, {cells.every[0]!r}, so it tells nobody apart")
    return _unusable(cells) or _date(cells) or _number(cells) or _text(cells)


def _texts(series: pl.Series) -> list[str]:
    if series.dtype.is_float() and (series == series.round()).all():
        series = series.fill_nan(None).drop_nulls().cast(pl.Int64, strict=False)
    return [str(cell).strip() for cell in series.cast(pl.String).drop_nulls().to_list()]


def _unusable(cells: _Cells) -> Guess | None:
    """Look for ids, row numbers, addresses and free text."""
    whole = cells.share(lambda value: re.fullmatch(r"\d+", value)) == 1
    numbered = [*cells.files, cells.every] if whole and cells.differ else []
    if any(_in_a_row([int(cell) for cell in part]) for part in numbered):
        return Guess(None, "numbers the rows of its file")
    if cells.differ and (ID_NAME.fullmatch(cells.name) or cells.share(TOKEN.fullmatch) > 0.9):
        return Guess(None, "looks like an id: all values of a file differ, and it is named or written like one")
    if cells.share(ADDRESS.fullmatch) > 0.5:
        return Guess(None, "holds web addresses")
    lengths = [len(value) for value in set(cells.every)]
    if np.median([len(value.split()) for value in set(cells.every)]) >= 7 or np.median(lengths) > 60:
        return Guess(None, "is free text")
    return None


def _in_a_row(numbers: list[int]) -> bool:
    return len(numbers) > 9 and len(set(numbers)) == len(numbers) >= 0.95 * (max(numbers) - min(numbers) + 1)


def _date(cells: _Cells) -> Guess | None:
    read = [read_dates(part) for part in cells.files]
    days = [day for dates in read for day in dates.values]
    known = [day for day in days if day is not None and "1850" <= day[:4] <= "2100"]
    if len(known) < len(days):
        return None
    if any(dates.order == "both" for dates in read):
        return None
    return Guess(Date(), "a day")


def _number(cells: _Cells) -> Guess | None:
    if cells.share(read_number) < 1:
        return None
    distinct = set(cells.every)
    whole = cells.share(lambda value: re.fullmatch(r"[+-]?\d+", value)) == 1
    if len(distinct) <= FEW:
        return Guess(Categorical(), "a number, but one of few: a label")
    if not whole:
        why = "holds decimal numbers, and how far honest ones differ is not known: declare Number(tolerance=…)"
        return Guess(None, why)
    padded = any(value.startswith("0") and len(value) > 1 for value in distinct)
    long = float(np.median([len(value) for value in distinct])) >= LONG_NUMBER
    if not (padded or long or CODE_NAME.fullmatch(cells.name)):
        return Guess(Number(), "an amount or a year")
    if cells.repeats:
        return Guess(Categorical(), "digits that are a code, and repeat")
    if cells.numeric:
        return Guess(
            None, "holds whole numbers that look like codes or telephone numbers: turn them into text to use it"
        )
    return Guess(String(), "digits that people type")


def _text(cells: _Cells) -> Guess:
    if cells.repeats:
        return Guess(Categorical(), "one of a short list")
    if cells.numeric:
        return Guess(None, "holds numbers in one file and text in another")
    if PERSON_NAME is not None and cells.share(_looks_like_a_name) > 0.7:
        return Guess(PERSON_NAME(), "names of persons")
    return Guess(String(), "people type it")


def _looks_like_a_name(value: str) -> bool:
    """Whether a text has two to four parts as names have them: letters, capitals first, initials, Last, First.

    >>> [_looks_like_a_name(text) for text in ("Meier, Anna", "J. van Dijk", "anna84", "New")]
    [True, True, False, False]
    """
    parts = value.replace(",", " ").split()
    capitals = sum(part[0].isupper() for part in parts)
    return 2 <= len(parts) <= 4 and capitals >= 2 and all(NAME_PART.fullmatch(part) for part in parts)
