"""Profile columns: from cells of any type to integer codes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.frames import Table, holds_single_values
from tielink.data.measures import read_dates, read_numbers
from tielink.data.writing import in_one_writing
from tielink.faults import Faults, listed
from tielink.fields import Categorical, Date, Field, Measured, Number, PersonName, String

__all__ = ["MISSING", "USUALLY_MISSING", "Column", "encode_column"]

MISSING = -1
"""The code of a missing value."""

LONGEST = 10_000
"""Characters of the longest text that people type; a longer one is a mistake in the file."""

COMPARED = 200
"""Characters by which texts are compared: comparing two takes time with the product of their lengths."""

USUALLY_MISSING = ("NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NaT", "NULL", "null", "-", "--", "?", ".")
"""Texts that mean a missing value unless the user names others. (`Null` and `Na` are names, too.)"""

LOOKS_MISSING = (*(text.lower() for text in USUALLY_MISSING), "none", "unknown")


@dataclass(frozen=True, eq=False)
class Column:
    """One field of all records: `codes[r]` is the place of record r's value in `values`, or `MISSING`."""

    field: Field
    values: tuple[str, ...]
    codes: NDArray[np.int64]

    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))

    def longest(self, most: int) -> Column:
        """Return a column with its longest texts alone, the others missing; one of numbers or dates stays whole."""
        if len(self.values) <= most or isinstance(self.field, Measured):
            return self
        kept = np.sort(np.argsort([-len(value) for value in self.values], kind="stable")[:most])
        place = np.full(len(self.values) + 1, MISSING)
        place[kept] = np.arange(most)
        return Column(self.field, tuple(self.values[code] for code in kept), place[self.codes])


def encode_column(
    name: str, field: Field, tables: Mapping[str, Table], missing: Sequence[str], faults: Faults, guessed: bool = False
) -> Column:
    """Encode the field over all files; a file that does not have the column has only missing values there.

    Cells that cannot be read are faults where the field is declared, and missing (said) where it is `guessed`.
    """
    files: list[list[str | None]] = []
    without = []
    if "\0" in name:
        faults.error(
            f"field {name!r}", "has a character of code 0 in its name.", "Rename it: no result could be saved."
        )
    _check_types(name, [table.frame[name] for table in tables.values() if name in table.frame.columns], faults)
    for file, table in tables.items():
        if name in table.frame.columns:
            files.append(_as_text(name, field, table, missing, faults, guessed))
        else:
            without.append(file)
            files.append([None] * table.frame.height)
    if without and len(without) < len(tables):
        faults.note(name, f"no such column in {listed([repr(file) for file in without])}: taken as missing there.")
    if isinstance(field, Categorical) or (
        isinstance(field, String) and field.vocabulary == "open" and isinstance(field.frequencies, str)
    ):
        files, simpler = in_one_writing(files)
        if simpler:
            faults.note(name, f"files write the same values differently: compared without {simpler}.")
    series = pl.Series([cell for cells in files for cell in cells], dtype=pl.String)
    values = series.drop_nulls().unique().sort()
    codes = series.cast(pl.Enum(values)).to_physical().cast(pl.Int64).fill_null(MISSING).to_numpy()
    column = Column(field, tuple(values.to_list()), codes)
    _check_column(name, column, faults)
    return column


def _check_types(name: str, parts: Sequence[pl.Series], faults: Faults) -> None:
    """Refuse truth values in one file and something else in another: `true` would never equal `1`."""
    truths = [part.dtype == pl.Boolean for part in parts if part.null_count() < len(part)]
    if any(truths) and not all(truths):
        faults.error(
            f"field {name!r}", "holds true and false in one file and other values in another.", "Use one form."
        )


TEXT = (pl.String, pl.Categorical, pl.Enum, pl.Null)


def _as_text(
    name: str, field: Field, table: Table, missing: Sequence[str], faults: Faults, guessed: bool
) -> list[str | None]:
    series = table.frame[name]
    where = f"{table.where}, column {name!r}"
    if not holds_single_values(series):
        types = sorted({type(value).__name__ for value in series.to_list() if value is not None})
        faults.error(where, f"holds values that are no text or number ({listed(types)}).", "Turn them into text.")
        return [None] * len(series)
    if isinstance(field, String | PersonName) and series.dtype not in TEXT:
        faults.error(
            where,
            f"holds {str(series.dtype).lower()} values, where {type(field).__name__}() means text.",
            f"Turn them into text as people would type them, or say {faults.declaration(name, 'categorical')}.",
        )
    if series.dtype.is_float() and (series.is_null() | (series == series.round())).all():
        # A column of whole numbers with gaps comes as 1.0, 2.0 from many tools: it means 1 and 2.
        series = series.fill_nan(None).cast(pl.Int64, strict=False)
    texts = series.cast(pl.String).to_list()
    cells = [None if not text or text in missing or text.strip() in missing else text for text in texts]
    gone = Counter(text for text, cell in zip(texts, cells, strict=True) if text and cell is None)
    if gone:
        words = listed([f"{text!r} ({count:,}×)" for text, count in gone.most_common()])
        faults.note(where, f"{words} taken as missing.")
    if isinstance(field, Number | Date):
        return _measured(name, field, table, where, cells, faults, guessed)
    if not isinstance(field, Categorical):
        _check_lengths(cells, table, where, faults)
        return _beginnings(cells, table, where, faults)
    return cells


def _measured(
    name: str,
    field: Number | Date,
    table: Table,
    where: str,
    cells: list[str | None],
    faults: Faults,
    guessed: bool,
) -> list[str | None]:
    """Write numbers and dates in one form; cells that are neither are one fault, or missing in a guessed field."""
    if isinstance(field, Number):
        read, do = read_numbers(cells), "Write numbers as 1234.5 or 1234,5."
    else:
        read, order = read_dates(cells, field.format)
        form = faults.declaration(name, "date", format="%d/%m/%Y")
        do = f"Write dates as 1990-05-17, or say their form: {form}."
        if order == "either":
            said = "days and months cannot be told apart: taken as day/month/year."
            form = faults.declaration(name, "date", format="%m/%d/%Y")
            faults.warning(where, said, f"If it is month/day/year, say so: {form}.")
        elif order in ("day first", "month first"):
            faults.note(where, f"dates are read with the {order}.")
    bad = [row for row, cell in enumerate(cells) if cell is not None and read[row] is None]
    if bad:
        found = listed([f"{cells[row]!r} ({table.row(row)})" for row in bad])
        what = f"{len(bad):,} cell{'s are' if len(bad) > 1 else ' is'} no {field.kind}: {found}"
        meant = faults.setting("missing", [str(cells[bad[0]])])
        if guessed:
            faults.warning(where, f"{what}, taken as missing.", f"{do} If it means missing, say {meant}.")
        else:
            faults.error(where, f"{what}.", f"{do} If it means missing, say {meant}.")
    return read


def _beginnings(cells: list[str | None], table: Table, where: str, faults: Faults) -> list[str | None]:
    """Cut long texts to the part that is compared, and say so."""
    long = [row for row, cell in enumerate(cells) if cell is not None and len(cell) > COMPARED]
    if not long:
        return cells
    what = f"{len(long):,} of its texts {'are' if len(long) > 1 else 'is'} longer than {COMPARED} characters"
    faults.warning(
        where,
        f"{what} ({listed([table.row(row) for row in long])}): compared by the first {COMPARED}.",
        "Split the column, or leave it out, if that is not enough to tell its values apart.",
    )
    return [cell if cell is None else cell[:COMPARED] for cell in cells]


def _check_lengths(cells: Sequence[str | None], table: Table, where: str, faults: Faults) -> None:
    """Refuse texts that nobody types."""
    long = [row for row, cell in enumerate(cells) if cell is not None and len(cell) > LONGEST]
    if long:
        rows = listed([table.row(row) for row in long])
        length = max(len(cells[row] or "") for row in long)
        faults.error(
            f"{where}, {rows}",
            f"holds a text of {length:,} characters, where one that people type is meant (at most {LONGEST:,}).",
            "Shorten it, or leave the column out by declaring the others.",
        )


def _check_column(name: str, column: Column, faults: Faults) -> None:
    where = f"field {name!r}"
    counts = column.counts()
    known = int(counts.sum())
    if not known:
        if not faults.errors:
            faults.error(where, "has no value at all.", "Leave it out.")
        return
    if len(counts) == 1:
        faults.warning(where, f"has one value only, {column.values[0]!r}, so it tells nobody apart.", "Leave it out.")
    if isinstance(column.field, Categorical) and len(counts) == known > 2:
        faults.warning(
            where,
            f"all {known:,} values differ.",
            f"If people type it, say {faults.declaration(name, 'string')}; if it is an id, leave it out.",
        )
    elif len(counts) == known > 2:
        faults.note(where, f"all {known:,} values differ: nobody shares one across or within files.")
    short = [(code, value) for code, value in enumerate(column.values) if len(value) < 8]
    suspects = {value: counts[code] for code, value in short if value.lower() in LOOKS_MISSING}
    if suspects:
        found = listed([f"{value!r} ({count:,}×)" for value, count in suspects.items()])
        meant = faults.setting("missing", list(suspects))
        faults.warning(where, f"holds {found}.", f"If that means missing, say {meant}.")
