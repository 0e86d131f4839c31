"""Cells that a spreadsheet would run as formulas, written so that it shows them as text."""

from __future__ import annotations

import io
import re
from pathlib import Path

import polars as pl

from tielink.files import write_whole

__all__ = ["exact_text", "shown_as_text", "write_table"]

NUMBER = re.compile(r"\s*[+-]?\d+([.,]\d+)*([eE][+-]?\d+)?\s*")
FORMULA = re.compile(r"\s*[=+\-@＝＋－＠]|[\t\r\n]")


def shown_as_text(text: str) -> str:
    """Put an apostrophe before a text that a spreadsheet would run; plain numbers stay as they are.

    >>> shown_as_text("=1+1"), shown_as_text("-5"), shown_as_text("anna")
    ("'=1+1", '-5', 'anna')
    """
    return f"'{text}" if FORMULA.match(text) and not NUMBER.fullmatch(text) else text


def exact_text(text: str) -> str:
    """Take away what `shown_as_text` put before a text.

    >>> exact_text("'=1+1"), exact_text("'n Sync")
    ('=1+1', "'n Sync")
    """
    return text[1:] if text.startswith("'") and shown_as_text(text[1:]) == text else text


def write_table(path: Path, frame: pl.DataFrame, *, exact: bool = False) -> None:
    """Write a table as the name of its file says: Parquet, TSV, or else CSV, where a cell is a formula only if `exact`.

    Columns of mixed Python objects, which no file can hold, become text.
    """
    kind = path.suffix.lower()
    parquet = kind in (".parquet", ".pq")
    turned = []
    for name, dtype in frame.schema.items():
        if dtype == pl.Object or (dtype == pl.String and not (parquet or exact)):
            cells = [None if cell is None else str(cell) for cell in frame[name].to_list()]
            if not (parquet or exact):
                cells = [None if cell is None else shown_as_text(cell) for cell in cells]
            turned.append(pl.Series(name, cells, dtype=pl.String))
    frame, content = frame.with_columns(turned), io.BytesIO()
    if parquet:
        frame.write_parquet(content)
    else:
        frame.write_csv(content, separator="\t" if kind in (".tsv", ".tab") else ",")
    write_whole(path, lambda file: file.write(content.getbuffer()))
