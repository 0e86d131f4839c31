"""Profile columns: from cells of any type to integer codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.frames import Table
from tielink.data.measures import read_dates, read_number
from tielink.faults import Faults, listed
from tielink.fields import Categorical, Date, Field, Number, PersonName, String

__all__ = ["MISSING", "Column", "encode_column"]

MISSING = -1
"""The code of a missing value."""

LONGEST = 10_000
"""Characters of the longest text that is compared letter by letter."""

LOOKS_MISSING = ("na", "n/a", "nan", "null", "none", "?", "-", ".", "unknown")


@dataclass(frozen=True, eq=False)
class Column:
    """One field of all records: `codes[r]` is the place of record r's value in `values`, or `MISSING`."""

    field: Field
    values: tuple[str, ...]
    codes: NDArray[np.int64]

    def counts(self) -> NDArray[np.int64]:
        """How often each value occurs."""
        return np.bincount(self.codes[self.codes >= 0], minlength=len(self.values))


def encode_column(
    name: str, field: Field, tables: Mapping[str, Table], missing: Sequence[str], faults: Faults
) -> Column:
    """Encode the field over all files; a file that does not have the column has only missing values there."""
    cells: list[str | None] = []
    without = []
    _check_types(name, [table.frame[name] for table in tables.values() if name in table.frame.columns], faults)
    for file, table in tables.items():
        if name in table.frame.columns:
            cells += _as_text(name, field, table, missing, faults)
        else:
            without.append(file)
            cells += [None] * table.frame.height
    if without and len(without) < len(tables):
        faults.note(name, f"no such column in {listed([repr(file) for file in without])}: taken as missing there.")
    values = sorted({cell for cell in cells if cell is not None})
    place = {value: code for code, value in enumerate(values)}
    codes = np.array([MISSING if cell is None else place[cell] for cell in cells], dtype=np.int64)
    column = Column(field, tuple(values), codes)
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


def _as_text(name: str, field: Field, table: Table, missing: Sequence[str], faults: Faults) -> list[str | None]:
    series = table.frame[name]
    where = f"{table.where}, column {name!r}"
    if series.dtype == pl.Object or series.dtype.is_nested() or series.dtype == pl.Binary:
        types = sorted({type(value).__name__ for value in series.to_list() if value is not None})
        faults.error(where, f"holds values that are no text or number ({listed(types)}).", "Turn them into text.")
        return [None] * len(series)
    if isinstance(field, String | PersonName) and series.dtype not in TEXT:
        faults.error(
            where,
            f"holds {str(series.dtype).lower()} values, where {type(field).__name__}() means text.",
            "Turn them into text as people would type them, or declare Categorical().",
        )
    if series.dtype.is_float() and (series.is_null() | (series == series.round())).all():
        # A column of whole numbers with gaps comes as 1.0, 2.0 from many tools: it means 1 and 2.
        series = series.fill_nan(None).cast(pl.Int64, strict=False)
    cells = [None if not cell or cell in missing else cell for cell in series.cast(pl.String).to_list()]
    if isinstance(field, Number | Date):
        return _measured(field, table, where, cells, faults)
    if not isinstance(field, Categorical):
        _check_lengths(cells, table, where, faults)
    return cells


def _measured(
    field: Number | Date, table: Table, where: str, cells: list[str | None], faults: Faults
) -> list[str | None]:
    """Write numbers and dates in one form; cells that are none of these are faults, all of them in one."""
    if isinstance(field, Number):
        read, do = [None if cell is None else read_number(cell) for cell in cells], "Write numbers as 1234.5."
    else:
        read, order = read_dates(cells, field.format)
        do = 'Write dates as 1990-05-17, or say their form: Date(format="%d/%m/%Y").'
        if order == "either":
            said = "days and months cannot be told apart: taken as day/month/year."
            faults.warning(where, said, 'If it is month/day/year, say so: Date(format="%m/%d/%Y").')
        elif order in ("day first", "month first"):
            faults.note(where, f"dates are read with the {order}.")
    bad = [row for row, cell in enumerate(cells) if cell is not None and read[row] is None]
    if bad:
        found = listed([f"{cells[row]!r} ({table.row(row)})" for row in bad])
        faults.error(where, f"{len(bad):,} cells are no {field.kind}: {found}.", f"{do} Name what means missing.")
    return read


def _check_lengths(cells: Sequence[str | None], table: Table, where: str, faults: Faults) -> None:
    """Refuse texts that nobody types: comparing two takes time with the product of their lengths."""
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
            "If people type it, declare String(); if it is an id, leave it out.",
        )
    elif len(counts) == known > 2:
        faults.note(where, f"all {known:,} values differ: nobody shares one across or within files.")
    suspects = [
        f"{value!r} ({counts[code]:,}×)" for code, value in enumerate(column.values) if value.lower() in LOOKS_MISSING
    ]
    if suspects:
        faults.warning(where, f"holds {listed(suspects)}.", "If that means missing, say so with `missing`.")
