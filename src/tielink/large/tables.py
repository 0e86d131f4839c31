"""Tables on disk that SQL reads and writes, by DuckDB or by Spark.

A table is one Parquet file (or, by Spark, a folder of them) in a folder of its own, written beside its place and
renamed: whatever stops the machine leaves all of a table or nothing. SQL is written once, in DuckDB's dialect;
`sqlglot` puts it into Spark's. Sums are sums of whole numbers (`total`), so that they are the same in whatever order
rows come, and a run gives the same tables with any number of threads.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tielink.faults import Fault, InputError

__all__ = ["DuckTables", "SparkTables", "Tables", "number", "total"]

UNIT = "1e10"
"""Sums are of whole multiples of 1/UNIT."""


def number(value: float) -> str:
    """Write a number so that every dialect takes it for a double.

    >>> number(0.5), number(1e-30)
    ('0.5e0', '1e-30')
    """
    text = repr(float(value))
    return text if "e" in text else f"{text}e0"


def total(expression: str) -> str:
    """Write a sum that does not depend on the order of rows."""
    return f"COALESCE(CAST(SUM(CAST(ROUND(({expression}) * {UNIT}) AS BIGINT)) AS DOUBLE), 0e0) / {UNIT}"


class Tables(ABC):
    """Named tables in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        for path in folder.iterdir():
            if path.suffix == ".part":
                _remove(path)
            elif path.suffix == ".parquet":
                self._show(path.stem)

    def path(self, name: str) -> Path:
        """Return where a table is."""
        return self.folder / f"{name}.parquet"

    def has(self, name: str) -> bool:
        """Whether a table is there, and so whole."""
        return self.path(name).exists()

    def write(self, name: str, query: str) -> None:
        """Write what a query gives, unless the table is there already."""
        if not self.has(name):
            part = self.folder / f"{name}.part"
            self._write(query, part)
            self._settle(name, part)

    def put(self, name: str, columns: Mapping[str, ArrayLike]) -> None:
        """Write arrays as a table, unless it is there already."""
        if not self.has(name):
            part = self.folder / f"{name}.part"
            pl.DataFrame({key: np.asarray(values) for key, values in columns.items()}).write_parquet(part)
            self._settle(name, part)

    def fetch(self, query: str) -> dict[str, NDArray[Any]]:
        """Return what a query gives, as arrays."""
        part = self.folder / "fetched.part"
        self._write(query, part)
        frame = pl.read_parquet(part / "*.parquet" if part.is_dir() else part)
        _remove(part)
        return {name: frame[name].to_numpy() for name in frame.columns}

    def one(self, query: str) -> dict[str, float]:
        """Return the one row that a query gives."""
        return {name: float(values[0]) for name, values in self.fetch(query).items()}

    def drop(self, *names: str) -> None:
        """Remove tables."""
        for name in names:
            _remove(self.path(name))

    def _settle(self, name: str, part: Path) -> None:
        os.replace(part, self.path(name))
        self._show(name)

    @abstractmethod
    def _write(self, query: str, part: Path) -> None:
        """Write what a query gives to a path."""

    @abstractmethod
    def _show(self, name: str) -> None:
        """Let queries read a table by its name."""

    @abstractmethod
    def close(self) -> None:
        """Let go of everything."""


class DuckTables(Tables):
    """Tables by DuckDB, which spills to disk what does not fit into memory."""

    def __init__(self, folder: Path, memory: str | None = None, threads: int | None = None) -> None:
        duckdb = _needed("duckdb", "duckdb")
        self.connection = duckdb.connect()
        spill = folder / "spill"
        settings: dict[str, Any] = {"temp_directory": str(spill), "preserve_insertion_order": False}
        settings |= {} if memory is None else {"memory_limit": memory}
        settings |= {} if threads is None else {"threads": threads}
        for key, value in settings.items():
            try:
                self.connection.execute(f"SET {key} = {_quoted(value)}")
            except duckdb.Error as error:
                what = f"{key} = {value!r} is refused: {str(error).splitlines()[0]}"
                raise InputError([Fault("DuckDB", what, 'Write memory="8GB".')]) from None
        self.connection.execute("SET enable_progress_bar = false")
        super().__init__(folder)

    def _write(self, query: str, part: Path) -> None:
        try:
            self.connection.execute(f"COPY ({query}) TO {_quoted(str(part))} (FORMAT parquet)")
        except Exception as error:
            if type(error).__name__ == "OutOfMemoryException":
                do = "Give DuckDB more memory (--memory 16GB), a disk with more room, or use Spark."
                raise InputError([Fault("DuckDB", str(error).splitlines()[0], do)]) from None
            raise

    def _show(self, name: str) -> None:
        path = _quoted(str(self.path(name)))
        self.connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM read_parquet({path})')

    def close(self) -> None:
        """Close the connection and remove what was spilt."""
        self.connection.close()
        _remove(self.folder / "spill")


class SparkTables(Tables):
    """Tables by a Spark session; the folder must be one that driver and workers share."""

    def __init__(self, folder: Path, session: Any) -> None:
        self.session, self.sqlglot = session, _needed("sqlglot", "spark")
        super().__init__(folder.resolve())

    def _write(self, query: str, part: Path) -> None:
        spark = self.sqlglot.transpile(query, read="duckdb", write="spark")[0]
        self.session.sql(spark).write.mode("overwrite").parquet(part.as_uri())

    def _show(self, name: str) -> None:
        self.session.read.parquet(self.path(name).as_uri()).createOrReplaceTempView(name)

    def close(self) -> None:
        """Leave the session to whoever made it."""


def _quoted(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value).lower()


def _needed(module: str, extra: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        what = f"this needs the package {module}, which is not installed."
        raise InputError([Fault(f"--engine {extra}", what, f"Install it: pip install 'tielink[{extra}]'.")]) from None


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(FileNotFoundError):
            path.unlink()
