"""The guess of what a column means: a kind of field and why, or no kind and why not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import polars as pl

from tielink.data.frames import Table, holds_single_values
from tielink.data.measures import read_dates, read_numbers
from tielink.data.writing import plainly
from tielink.fields import FIELD_KINDS, Categorical, Date, Field, Number, String

__all__ = ["Guess", "are_shared", "guess_field"]

FEW = 12
"""Numbers with so few different values are labels, not amounts."""
LOOK = 2000
"""Different values that tell how many of all are of a kind."""
CODES = 31
"""Numbers from 0 or 1 up to this without a gap are labels, too: districts, days of a month."""
SHORT_LIST = 30
"""Texts with more different values are typed rather than chosen from a list, unless they are codes of few letters."""
UNREADABLE = 0.05
"""Share of cells (or a single one) that may be no date, or no number, in a column of them."""
LONG_NUMBER = 7
"""Digits from which whole numbers are ids or telephone numbers rather than amounts."""
WHOLE = re.compile(r"\d{1,18}")
"""Whole numbers that count something; longer ones are digits that stand for something."""
ADDRESS = re.compile(r"(https?://|www\.)\S+", re.IGNORECASE)
TOKEN = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{16,}", re.IGNORECASE)
ID_NAME = re.compile(r"(.*[_ .-])?(id|ids|uuid|guid|key|index|row|rownum)", re.IGNORECASE)
AMOUNT_NAME = re.compile(
    r".*(age|alter|year|jahr|yob|count|anzahl|children|kinder|size|height|weight|score).*", re.IGNORECASE
)
CODE_NAME = re.compile(r".*(zip|post|plz|code|phone|tel|mobile|fax|ssn).*", re.IGNORECASE)
NAME_PART = re.compile(r"[^\W\d_]+(['’-][^\W\d_]+)*\.?")
PERSON_NAME = next((kind for kind in FIELD_KINDS if kind.kind == "person_name"), None)


class Guess(NamedTuple):
    """A field and why it is taken for one, or no field and why it is not used."""

    field: Field | None
    why: str
    instead: str = "string"
    """The kind that a column which is not used would be."""


@dataclass(frozen=True)
class _Cells:
    """The known cells of a column, as text, by file."""

    name: str
    files: list[list[str]]
    numeric: bool

    @cached_property
    def every(self) -> list[str]:
        return [cell for cells in self.files for cell in cells]

    @cached_property
    def distinct(self) -> list[str]:
        """The different values, in the order in which they come up."""
        return list(dict.fromkeys(self.every))

    def share(self, test: Callable[[str], object]) -> float:
        """How many of the different values pass the test, by the first ones."""
        looked = self.distinct[:LOOK]
        return sum(bool(test(value)) for value in looked) / len(looked)

    def all_pass(self, test: Callable[[str], object]) -> bool:
        """Whether all values pass the test."""
        return all(test(value) for value in self.distinct)

    @cached_property
    def differ(self) -> bool:
        """Whether no file has a value twice (and there are some to tell by)."""
        return all(len(set(cells)) == len(cells) for cells in self.files) and max(map(len, self.files)) > 2

    @property
    def short_list(self) -> bool:
        """Whether the values repeat and are few, or codes of few letters."""
        short = float(np.median([len(value) for value in self.distinct])) <= 3
        return self.repeats and (len(self.distinct) <= SHORT_LIST or short)

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
    if not all(map(holds_single_values, parts)):
        return Guess(None, "holds values that are no text or number")
    files = [[cell for cell in _texts(part) if cell and cell not in missing] for part in parts]
    files = [cells for cells in files if cells]
    if not files:
        return Guess(None, "has no value")
    kinds = {part.dtype == pl.Boolean for part in parts if len(part)}
    cells = _Cells(name, files, any(part.dtype.is_numeric() for part in parts))
    if kinds == {True}:
        return Guess(Categorical(), "true or false")
    if len(cells.distinct) == 1:
        return Guess(None, f"has one value only, {cells.every[0]!r}, so it tells nobody apart")
    return _unusable(cells) or _date(cells) or _number(cells) or _text(cells)


def are_shared(files: Sequence[Sequence[str]]) -> bool:
    """Whether a third or more of a file's values stand in another file, and twice as many as by chance.

    Whole numbers that fill a range are shared by chance: 1 … 500 of one file and 1 … 400 of another.
    """
    sets = [set(cells) for cells in files]
    for place, one in enumerate(sets):
        for two in sets[place + 1 :]:
            small, large = sorted((one, two), key=len)
            numbers = [int(value) for value in large if WHOLE.fullmatch(value)]
            dense = len(numbers) / (max(numbers) - min(numbers) + 1) if len(numbers) == len(large) > 0 else 0.0
            if len(small) > 2 and len(small & large) >= max(1 / 3, 2 * dense) * len(small):
                return True
    return False


def _texts(series: pl.Series) -> list[str]:
    if series.dtype.is_float() and (series == series.round()).all():
        series = series.fill_nan(None).drop_nulls().cast(pl.Int64, strict=False)
    return series.cast(pl.String).drop_nulls().str.strip_chars().to_list()


def _unusable(cells: _Cells) -> Guess | None:
    """Look for ids, row numbers, addresses and free text."""
    whole = cells.all_pass(WHOLE.fullmatch)
    numbered = [*cells.files, cells.every] if whole and cells.differ else []
    if any(_in_a_row([int(cell) for cell in part]) for part in numbered):
        return Guess(None, "numbers the rows of its file", "categorical")
    if cells.differ and (ID_NAME.fullmatch(cells.name) or cells.share(TOKEN.fullmatch) > 0.9):
        if are_shared(cells.files):
            why = "an id that files share: all values of a file differ, and others have them too"
            return Guess(Categorical() if cells.numeric else String(), why)
        return Guess(None, "looks like an id: all values of a file differ, and it is named or written like one")
    if cells.share(ADDRESS.fullmatch) > 0.5:
        return Guess(None, "holds web addresses")
    lengths = [len(value) for value in cells.distinct[:LOOK]]
    if np.median([len(value.split()) for value in cells.distinct[:LOOK]]) >= 7 or np.median(lengths) > 60:
        if are_shared([[plainly(cell) for cell in part] for part in cells.files]):
            return Guess(String(), "long texts, but files have many of them in common, as titles")
        return Guess(None, "is free text")
    return None


def _in_a_row(numbers: list[int]) -> bool:
    return len(numbers) > 9 and len(set(numbers)) == len(numbers) >= 0.95 * (max(numbers) - min(numbers) + 1)


def _date(cells: _Cells) -> Guess | None:
    if not any(day for part in cells.files for day in read_dates(part[:100]).values):
        return None  # and so that it is quick for the many columns that are none
    read = [read_dates(part) for part in cells.files]
    days = [day for dates in read for day in dates.values]
    if not _mostly([day is not None and "1850" <= day[:4] <= "2100" for day in days]):
        return None
    if any(dates.order == "both" for dates in read):
        return None
    return Guess(Date(), "a day")


def _mostly(readable: list[bool]) -> bool:
    """Whether all cells but a few can be read."""
    return sum(readable) > 1 and len(readable) - sum(readable) <= max(1.0, UNREADABLE * len(readable))


def _number(cells: _Cells) -> Guess | None:
    if not any(number for part in cells.files for number in read_numbers(part[:100])):
        return None  # as for dates: most columns are none
    read = [number for part in cells.files for number in read_numbers(part)]
    if not _mostly([number is not None for number in read]):
        return None
    distinct = {number for number in read if number is not None}
    whole = all(re.fullmatch(r"-?\d+", number) for number in distinct)
    if len(distinct) <= FEW:
        return Guess(Categorical(), "a number, but one of few: a label")
    if not whole:
        why = "holds decimal numbers, and how far honest ones differ (their tolerance) is not known"
        return Guess(None, why, "number")
    values = {float(number) for number in distinct}
    without_gap = min(values) in (0, 1) and max(values) - min(values) + 1 == len(values)
    if without_gap and len(values) <= CODES and cells.repeats and not AMOUNT_NAME.fullmatch(cells.name):
        return Guess(Categorical(), f"whole numbers up to {max(values):.0f} without a gap: codes")
    padded = any(value.startswith("0") and len(value) > 1 for value in cells.distinct)
    long = float(np.median([len(value) for value in cells.distinct])) >= LONG_NUMBER
    if not (padded or long or CODE_NAME.fullmatch(cells.name)):
        return Guess(Number(), "an amount or a year")
    if cells.repeats:
        return Guess(Categorical(), "digits that are a code, and repeat")
    if cells.numeric:
        return Guess(
            None,
            "holds whole numbers that look like codes or telephone numbers, which are compared as text",
            "categorical",
        )
    return Guess(String(), "digits that people type")


def _text(cells: _Cells) -> Guess:
    if cells.short_list:
        return Guess(Categorical(), "one of a short list")
    if cells.numeric:
        return Guess(None, "holds numbers in one file and text in another", "categorical")
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
