"""Data frames of any kind in, the same kind out; polars in between.

narwhals knows the kinds (pandas, polars, Arrow, …); what it does not know is refused with a clear word.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl
from numpy.typing import NDArray

__all__ = ["Table", "exact_series", "frame_kind", "is_frame", "to_frame", "to_polars"]


@dataclass(frozen=True)
class Table:
    """A polars frame that remembers where it came from, so that faults can name file and row."""

    frame: pl.DataFrame
    where: str
    rows: NDArray[np.int64] | None = None
    """The line of the file that each row stands on; None for frames, whose rows count from 0."""

    def at(self, row: int) -> str:
        """Name one row for a message."""
        return f"{self.where}, {self.row(row)}"

    def row(self, row: int) -> str:
        """Name one row without its file."""
        return f"position {row}" if self.rows is None else f"row {self.rows[row]}"


def is_frame(value: object) -> bool:
    """Whether narwhals can read the value as an eager data frame."""
    try:
        nw.from_native(value, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        return False
    return True


def frame_kind(value: object) -> str:
    """Return the kind of a data frame, as `to_frame` takes it: "polars", "pandas", "pyarrow", …."""
    return str(nw.from_native(value, eager_only=True).implementation.value)  # type: ignore[call-overload]


def to_polars(value: Any) -> pl.DataFrame:
    """Turn a data frame of any known kind into polars, missing values of any kind into nulls."""
    if isinstance(value, pl.DataFrame):
        return value
    frame = nw.from_native(value, eager_only=True)
    if frame.implementation.is_pyarrow():
        arrow = pl.from_arrow(value)
        assert isinstance(arrow, pl.DataFrame)
        return arrow
    return pl.DataFrame([_series(frame[name], str(name)) for name in frame.columns])


def _series(column: Any, name: str) -> pl.Series:
    """Turn one column into polars, without needing pyarrow; NaN, NaT and NA all mean missing."""
    if column.dtype.is_numeric() and not column.is_null().any():
        return pl.Series(name, column.to_numpy())
    missing = column.is_null().to_list()
    return exact_series(name, [None if gone else value for value, gone in zip(column.to_list(), missing, strict=True)])


def exact_series(name: str, values: Any) -> pl.Series:
    """Make a series that holds the very values: where polars would turn some into others, as objects."""
    try:
        return pl.Series(name, values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        return pl.Series(name, values, dtype=pl.Object)


def to_frame(columns: Mapping[str, Any], kind: str = "polars") -> Any:
    """Make a data frame of the given kind from columns."""
    if kind == "polars":
        return pl.DataFrame([exact_series(name, values) for name, values in columns.items()])
    return nw.from_dict(dict(columns), backend=kind).to_native()  # type: ignore[arg-type]
