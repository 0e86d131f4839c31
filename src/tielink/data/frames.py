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

__all__ = ["Table", "exact_series", "frame_kind", "holds_single_values", "is_frame", "to_frame", "to_polars"]


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


def holds_single_values(series: pl.Series) -> bool:
    """Whether the cells are texts, numbers or dates, and not lists, spans of time, bytes or other objects."""
    return not (series.dtype in (pl.Object, pl.Binary, pl.Duration) or series.dtype.is_nested())


def is_frame(value: object) -> bool:
    """Whether narwhals can read the value as an eager data frame."""
    try:
        nw.from_native(value, eager_only=True)  # type: ignore[call-overload]
    except TypeError:
        return False
    except nw.exceptions.NarwhalsError:  # a frame with some fault of its own: `to_polars` says which
        return True
    return True


def frame_kind(value: object) -> str:
    """Return the kind of a data frame, as `to_frame` takes it: "polars", "pandas", "pyarrow", …."""
    return str(nw.from_native(value, eager_only=True).implementation.value)  # type: ignore[call-overload]


def to_polars(value: Any) -> pl.DataFrame:
    """Turn a data frame of any known kind into polars, missing values of any kind into nulls.

    Column names become text. Raises `ValueError` for names that are then the same.
    """
    if isinstance(value, pl.DataFrame):
        return value
    names = [str(name) for name in getattr(value, "column_names", None) or value.columns]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"column {', '.join(map(repr, twice))} appears more than once")
    frame = nw.from_native(value, eager_only=True)
    if frame.implementation.is_pyarrow():
        arrow = pl.from_arrow(value)
        assert isinstance(arrow, pl.DataFrame)
        return arrow
    columns = (nw.from_native(value.iloc[:, place], series_only=True) for place in range(len(names)))
    return pl.DataFrame([_series(column, name) for column, name in zip(columns, names, strict=True)])


def _series(column: Any, name: str) -> pl.Series:
    """Turn one column into polars, without needing pyarrow; NaN, NaT and NA all mean missing."""
    if column.dtype.is_numeric() and not column.is_null().any():
        return pl.Series(name, column.to_numpy())
    missing = column.is_null().to_list()
    return exact_series(name, [None if gone else value for value, gone in zip(column.to_list(), missing, strict=True)])


def exact_series(name: str, values: list[Any]) -> pl.Series:
    """Make a series that holds the very values: where polars would turn some into others, as objects."""
    if not any(isinstance(value, tuple | list | dict | set) for value in values):
        try:
            return pl.Series(name, values, strict=True)
        except Exception:  # polars raises many kinds; objects hold anything
            pass
    return pl.Series(name, values, dtype=pl.Object)


def to_frame(columns: Mapping[str, Any], kind: str = "polars") -> Any:
    """Make a data frame of the given kind from columns."""
    if kind == "polars":
        return pl.DataFrame([exact_series(name, values) for name, values in columns.items()])
    try:
        return nw.from_dict(dict(columns), backend=kind).to_native()  # type: ignore[arg-type]
    except Exception:  # Arrow columns have one type: ids of several become text
        texts = {name: [str(value) for value in values] for name, values in columns.items()}
        return nw.from_dict(texts, backend=kind).to_native()  # type: ignore[arg-type]
