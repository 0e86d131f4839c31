"""Profile columns: from cells of any type to integer codes, and the guess of what a column means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.frames import Table
from tielink.faults import Faults, listed
from tielink.fields import Categorical, Field, String

__all__ = ["MISSING", "Column", "encode_column", "guess_field"]

MISSING = -1
"""The code of a missing value."""

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


def guess_field(tables: Mapping[str, Table], name: str) -> Field | None:
    """Guess what a column means; None when it is nothing that can be modelled.

    Text that mostly repeats is categorical, text that mostly does not is a string; so are whole numbers and
    booleans that repeat. Other numbers and dates are left to the user.
    """
    parts = [table.frame[name].drop_nulls() for table in tables.values() if name in table.frame.columns]
    parts = [part for part in parts if len(part)]
    if not parts or any(part.dtype == pl.Object for part in parts):
        return None
    if all(_repeats(part.cast(pl.String)) for part in parts):
        simple = all(p.dtype in (pl.String, pl.Boolean, pl.Categorical) or p.dtype.is_integer() for p in parts)
        return Categorical() if simple else None
    return String() if all(part.dtype == pl.String for part in parts) else None


def _repeats(values: pl.Series) -> bool:
    """Whether a file's values are few and mostly occur more than once (across files a match repeats any value)."""
    counts = Counter(values.to_list())
    once = sum(count == 1 for count in counts.values())
    return len(counts) <= 200 and once <= max(2, 0.05 * len(values))


def encode_column(
    name: str, field: Field, tables: Mapping[str, Table], missing: Sequence[str], faults: Faults
) -> Column:
    """Encode the field over all files; a file that does not have the column has only missing values there."""
    cells: list[str | None] = []
    without = []
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


def _as_text(name: str, field: Field, table: Table, missing: Sequence[str], faults: Faults) -> list[str | None]:
    series = table.frame[name]
    if isinstance(field, String) and series.dtype not in (pl.String, pl.Categorical, pl.Null, pl.Object):
        faults.error(
            f"{table.where}, column {name!r}",
            f"holds {str(series.dtype).lower()} values, where String() means text.",
            "Turn them into text as people would type them, or declare Categorical().",
        )
    if series.dtype == pl.Object:
        mixed = sorted({type(value).__name__ for value in series.to_list() if value is not None})
        faults.error(
            f"{table.where}, column {name!r}",
            f"mixes values of the types {listed(mixed)}.",
            "Give all values one type, text if in doubt.",
        )
        return [None] * len(series)
    cells = series.cast(pl.String).to_list()
    return [None if cell is None or cell in missing else cell for cell in cells]


def _check_column(name: str, column: Column, faults: Faults) -> None:
    where = f"field {name!r}"
    counts = column.counts()
    known = int(counts.sum())
    if not known:
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
    suspects = [
        f"{value!r} ({counts[code]:,}×)" for code, value in enumerate(column.values) if value.lower() in LOOKS_MISSING
    ]
    if suspects:
        faults.warning(where, f"holds {listed(suspects)}.", "If that means missing, say so with `missing`.")
