"""Tables inside other files: a sheet of a workbook (`file.xlsx#sheet`), a table of a database (`base.sqlite::table`).

Cells become text as a CSV file would hold them, so that ids and values mean the same whatever they come from.
"""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from contextlib import closing
from datetime import datetime, time
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np
import polars as pl

from tielink.data.frames import Table
from tielink.faults import Faults, nearest

__all__ = ["is_inside", "read_inside", "split_inside"]

EXCEL = (".xlsx", ".xlsm")
SQLITE = (".sqlite", ".sqlite3", ".db")
DUCKDB = (".duckdb", ".ddb")
BESIDE = (".wal", "-wal", "-shm", "-journal")
"""What databases keep in files beside their own."""
LONGEST = 30.0
"""Seconds that reading a table of a database may take: it may be a view that never ends."""
MOST_CELLS = 50_000_000
"""Cells that such a table may have."""

Rows = tuple[list[str], list[tuple[Any, ...]]]
"""Names of columns, and rows."""


def split_inside(path: Path) -> tuple[Path, str]:
    """Part a path into the file and what is named inside it, which may be nothing.

    >>> split_inside(Path("data/people.xlsx#Sheet 1")), split_inside(Path("base.duckdb::people"))
    ((PosixPath('data/people.xlsx'), 'Sheet 1'), (PosixPath('base.duckdb'), 'people'))
    """
    for sign, suffixes in (("::", SQLITE + DUCKDB), ("#", EXCEL)):
        file, found, inside = str(path).partition(sign)
        if found and Path(file).suffix.lower() in suffixes:
            return Path(file), inside
    return path, ""


def is_inside(path: Path) -> bool:
    """Whether the path names a workbook or a database."""
    return split_inside(path)[0].suffix.lower() in EXCEL + SQLITE + DUCKDB


def read_inside(path: Path, faults: Faults) -> Table | None:
    """Read one table of a workbook or database; whatever is wrong goes on the list of faults."""
    file, wanted = split_inside(path)
    where = f"{file.name} ({wanted})" if wanted else file.name
    if not file.is_file():
        faults.error(str(file), "there is no such file.", "Check the path.")
        return None
    for path in (file.with_name(file.name + end) for end in BESIDE):
        if path.exists() and not path.is_file():
            faults.error(str(path), "is no file, where a database keeps one of its own.", "Remove it.")
            return None
    suffix = file.suffix.lower()
    sign, read = ("#", _excel) if suffix in EXCEL else ("::", _sqlite if suffix in SQLITE else _duckdb)
    try:
        found = read(file, wanted)
    except ModuleNotFoundError as error:
        install = (
            f"Install it: pip install 'tielink[{'excel' if suffix in EXCEL else 'duckdb'}]', or export a CSV file."
        )
        faults.error(where, f"needs the package {error.name}, which is not installed.", install)
        return None
    except Exception as error:  # each library has kinds of its own
        faults.error(where, f"cannot be read: {str(error).strip().partition(chr(10))[0]}.", "Check the file.")
        return None
    if isinstance(found, list):
        what = f"has no table {wanted!r}." if wanted else f"holds {len(found)} tables."
        faults.error(
            where, what, f"Name one: {file.name}{sign}{found[0] if found else 'NAME'}. {nearest(wanted, found)}"
        )
        return None
    return _table(*found, where, faults)


def _table(names: Sequence[str], rows: Sequence[tuple[Any, ...]], where: str, faults: Faults) -> Table | None:
    from tielink.data.read import check_header

    if not check_header(names, where, faults):
        return None
    filled = [place for place, row in enumerate(rows) if any(cell is not None for cell in row)]
    columns = {
        name: pl.Series([_text(rows[place][column]) for place in filled], dtype=pl.String)
        for column, name in enumerate(names)
    }
    return Table(pl.DataFrame(columns), where, np.array(filled, dtype=np.int64) + 2)


def _text(cell: Any) -> str | None:
    """Write a cell as a CSV file would: 5 for 5.0, a day without its midnight.

    >>> [_text(cell) for cell in (5.0, 2.5, datetime(1990, 5, 17), None, "")]
    ['5', '2.5', '1990-05-17', None, None]
    """
    if cell is None or cell == "":
        return None
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    if isinstance(cell, datetime) and cell.time() == time():
        return cell.date().isoformat()
    return str(cell)


def _excel(file: Path, wanted: str) -> Rows | list[str]:
    import openpyxl

    with closing(openpyxl.load_workbook(file, read_only=True, data_only=True)) as book:
        if (wanted and wanted not in book.sheetnames) or (not wanted and len(book.sheetnames) > 1):
            return list(book.sheetnames)
        rows = list(book[wanted or book.sheetnames[0]].iter_rows(values_only=True))
    head = ["" if cell is None else str(cell).strip() for cell in (rows[0] if rows else ())]
    while head and not head[-1]:
        head.pop()  # columns that are formatted but empty
    blank = (None,) * len(head)  # rows may be shorter where the workbook does not say its width
    return head, [(*row, *blank)[: len(head)] for row in rows[1:]]


def _sqlite(file: Path, wanted: str) -> Rows | list[str]:
    with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as base:
        listing = "select name from sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
        return _query(base, listing, wanted)


def _duckdb(file: Path, wanted: str) -> Rows | list[str]:
    import duckdb

    # A view could read any file of this machine.
    with duckdb.connect(str(file), read_only=True, config={"enable_external_access": "false"}) as base:
        return _query(base, "select table_name from information_schema.tables", wanted)


def _query(base: Any, listing: str, wanted: str) -> Rows | list[str]:
    """Fetch the table that is wanted, or the only one; else return the names of all."""
    names = sorted(str(row[0]) for row in base.execute(listing).fetchall())
    if (wanted and wanted not in names) or (not wanted and len(names) != 1):
        return names
    quoted = '"' + (wanted or names[0]).replace('"', '""') + '"'
    patience, begun = threading.Timer(LONGEST, base.interrupt), monotonic()
    patience.start()
    try:
        found, rows = base.execute(f"select * from {quoted}"), []
        head = [column[0] for column in found.description]
        while some := found.fetchmany(100_000):
            rows += some
            if len(rows) * len(head) > MOST_CELLS:
                raise ValueError(f"it has more than {MOST_CELLS:,} cells, or never ends")
    except Exception as error:
        if monotonic() - begun >= LONGEST:
            raise TimeoutError(f"it takes longer than {LONGEST:.0f} seconds, or never ends") from error
        raise
    finally:
        patience.cancel()
    return head, rows
