"""Tables from CSV, TSV, Parquet and other files, with every fault of a file named by row.

Cells of text files are kept as text (an id `007` stays `007`); an empty cell is a missing value.
"""

from __future__ import annotations

import csv
import io
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.databases import is_inside, read_inside
from tielink.data.frames import Table
from tielink.faults import Faults, listed
from tielink.files import open_regular

__all__ = ["check_header", "read_table_file"]

DELIMITERS = {".tsv": "\t", ".tab": "\t"}
PARQUET = {".parquet", ".pq"}
MARKS = {
    b"\xff\xfe\0\0": "utf-32",
    b"\0\0\xfe\xff": "utf-32",
    b"\xef\xbb\xbf": "utf-8-sig",
    b"\xff\xfe": "utf-16",
    b"\xfe\xff": "utf-16",
}
"""Byte-order marks, the longer first."""
EMPTY, HEADER = "is empty.", "Expected a header row and at least one row below it."
SEPARATOR_ROW = re.compile(r'"?sep=.?"?', re.IGNORECASE)
"""A first row for Excel alone."""
MISREAD = re.compile("ï»¿|[ÃÂ][\u0080-\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]|\ufffd")
"""What UTF-8 looks like when it is read as Latin-1 or Windows-1252, and the sign for a lost letter."""


def read_table_file(path: Path, faults: Faults, *, encoding: str = "utf-8") -> Table | None:
    """Read one file; whatever is wrong goes on the list of faults, and then there is no result."""
    if is_inside(path):
        return read_inside(path, faults)
    where = path.name
    if path.suffix.lower() == ".toml":
        faults.error(str(path), "is a project file, where a table is meant.", "Give it alone, or give tables alone.")
        return None
    try:
        with open_regular(path) as file:
            raw = file.read() or b""  # some system files have nothing to say, not even that
    except FileNotFoundError:
        faults.error(str(path), "there is no such file.", "Check the path.")
        return None
    except (OSError, ValueError) as error:
        faults.error(str(path), f"cannot be read: {getattr(error, 'strerror', None) or error}.", "Check the path.")
        return None
    if path.suffix.lower() in PARQUET or raw[:4] == b"PAR1":
        return _parquet(raw, where, faults)
    text = _decode(raw, where, encoding, faults)
    if text is None:
        return None
    delimiter = DELIMITERS.get(path.suffix.lower())
    if delimiter is not None and delimiter not in text.lstrip().partition("\n")[0] and _sniff(text) in text:
        faults.note(where, f"has no tabs in its header: read as separated by {_sniff(text)!r}.")
        delimiter = None
    return _delimited(text, where, delimiter, faults)


def _parquet(raw: bytes, where: str, faults: Faults) -> Table | None:
    try:
        frame = pl.read_parquet(io.BytesIO(raw))
    except BaseException as error:  # a broken file can make polars' engine panic, which is no Exception
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        reason = str(error).strip().partition("\n")[0]
        faults.error(where, f"is not a readable Parquet file ({reason}).", "Write it again.")
        return None
    table = Table(frame, where)
    return table if check_header(frame.columns, where, faults) else None


def _decode(raw: bytes, where: str, encoding: str, faults: Faults) -> str | None:
    if not raw.strip():
        faults.error(where, EMPTY, HEADER)
        return None
    marked = next((name for mark, name in MARKS.items() if raw.startswith(mark)), None)
    if marked is not None:
        encoding = marked  # a byte-order mark says how the file is encoded, whatever was said of it
    elif b"\0" in raw and not encoding.lower().startswith(("utf-16", "utf_16", "utf-32", "utf_32")):
        row = raw[: raw.index(b"\0")].count(b"\n") + 1
        faults.error(f"{where}, row {row}", "holds binary data, not text.", "Give a CSV, TSV or Parquet file.")
        return None
    try:
        text = raw.decode(encoding).lstrip("\ufeff")
        text.encode()
        _notice_misread(text, where, encoding, faults)
        if text.strip():
            return text
        faults.error(where, EMPTY, HEADER)
    except UnicodeEncodeError:
        faults.error(where, f"holds halves of characters when read as {encoding}.", "Say the encoding it has.")
        return None
    except (LookupError, ValueError) as error:
        if isinstance(error, UnicodeDecodeError):
            _report_undecodable(raw, error, where, encoding, faults)
            return None
        faults.error(where, f"unknown encoding {encoding!r}.", 'Give one that Python knows, such as "latin-1".')
    return None


def _report_undecodable(raw: bytes, error: UnicodeDecodeError, where: str, encoding: str, faults: Faults) -> None:
    row = raw[: error.start].count(b"\n") + 1
    faults.error(
        f"{where}, row {row}",
        f"byte 0x{raw[error.start]:02x} is not {encoding}.",
        f"Save the file as UTF-8, or say its encoding: {faults.setting('encoding', 'cp1252')} (Excel), or latin-1.",
    )


def _notice_misread(text: str, where: str, encoding: str, faults: Faults) -> None:
    """Warn of letters that were lost or read in another encoding: MÃ¼ller for Müller."""
    found = MISREAD.search(text)
    if found is None:
        return
    row = text[: found.start()].count("\n") + 1
    begin = max(text.rfind("\n", 0, found.start()) + 1, found.start() - 12)
    some = text[begin : found.end() + 12].splitlines()[0]
    what = f"holds {some!r}: letters were read in another encoding than they were written in, or lost."
    utf8 = encoding.lower().replace("-", "").replace("_", "") == "utf8"
    do = "The file was saved so: mend it where it comes from." if utf8 else f"It was read as {encoding}; try utf-8."
    faults.warning(f"{where}, row {row}", what, do)


def _delimited(text: str, where: str, delimiter: str | None, faults: Faults) -> Table | None:
    first = text.partition("\n")[0].strip()
    if not first or SEPARATOR_ROW.fullmatch(first):
        what = f"is {first!r}" if first else "is blank"
        faults.error(f"{where}, row 1", f"{what}, where the names of the columns are meant.", "Remove that row.")
        return None
    delimiter = delimiter or _sniff(text)
    quick = _parse_quickly(text, where, delimiter)
    return quick if quick is not None else _parse_carefully(text, where, delimiter, faults)


def _sniff(text: str) -> str:
    """Take the separator that the header uses most; a comma when it uses none."""
    header = re.sub(r'"[^"]*"', "", text.lstrip().partition("\n")[0])
    return max(",;\t|", key=header.count)


def check_header(header: Sequence[str], where: str, faults: Faults) -> bool:
    """Report columns without a name or with the name of another; say whether all are well."""
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        faults.error(
            f"{where}, header",
            f"column {listed([repr(name) for name in twice])} appears more than once.",
            "Rename or remove the copies.",
        )
    unnamed = [position + 1 for position, name in enumerate(header) if not name.strip()]
    if unnamed:
        faults.error(f"{where}, header", f"column {listed(unnamed)} has no name.", "Name every column.")
    return not twice and not unnamed


def _report_ragged(lengths: NDArray[np.int64], width: int, rows: NDArray[np.int64], where: str, faults: Faults) -> bool:
    """Name the rows that do not have as many cells as the header; blank lines (length 0) are no rows."""
    ragged = np.flatnonzero((lengths != width) & (lengths != 0))
    for row in ragged[:3]:
        faults.error(
            f"{where}, row {rows[row]}",
            f"has {lengths[row]} cells where the header has {width}.",
            "Quote cells that hold the separator, and give every row all its cells.",
        )
    if len(ragged) > 3:
        faults.error(where, f"{len(ragged) - 3:,} more rows have the wrong number of cells.")
    return len(ragged) > 0


def _parse_quickly(text: str, where: str, delimiter: str) -> Table | None:
    """Parse with polars where nothing can be hidden from it; None where the careful parser must look.

    polars fills short rows up with nulls and refuses long ones. So if one row stands on each line, and no row ends in a
    null or the separators are as many as whole rows have, every row has all its cells.
    """
    raw = text.replace("\r\n", "\n").rstrip("\n").encode()
    first, _, body = raw.partition(b"\n")
    if b"\r" in raw or b"\n\n" in raw or not body:  # line ends of other kinds or in cells, blank lines, no rows
        return None
    header = [name.strip() for name in next(csv.reader([first.decode()], delimiter=delimiter))]
    if len(set(header)) < len(header) or not all(header):
        return None
    try:
        frame = pl.read_csv(body, separator=delimiter, has_header=False, schema=dict.fromkeys(header, pl.String))
    except pl.exceptions.PolarsError:
        return None
    separators = -1 if b'"' in body else body.count(delimiter.encode())
    whole = separators == frame.height * (len(header) - 1) or not frame[:, -1].null_count()
    if frame.height != body.count(b"\n") + 1 or not whole:
        return None
    return Table(frame.with_columns(pl.all().replace("", None)), where, np.arange(2, frame.height + 2))


def _parse_carefully(text: str, where: str, delimiter: str, faults: Faults) -> Table | None:
    """Parse row by row: cells may hold separators and line ends, and what is wrong is named by its row."""
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    parsed, rows = [], []
    try:
        start = 1
        for cells in reader:
            parsed.append(cells)
            rows.append(start)
            start = reader.line_num + 1
    except csv.Error as error:
        faults.error(f"{where}, row {start}", f"cannot be parsed: {error}.", "Close and double the quotes in cells.")
        return None
    header = [name.strip() for name in parsed[0]]
    lengths = np.array([len(cells) for cells in parsed[1:]], dtype=np.int64)
    lines = np.array(rows[1:], dtype=np.int64)
    if not check_header(header, where, faults) or _report_ragged(lengths, len(header), lines, where, faults):
        return None
    full = lengths > 0
    columns = zip(*(cells for cells in parsed[1:] if cells), strict=True) if full.any() else [()] * len(header)
    frame = pl.DataFrame(
        {
            name: pl.Series([cell or None for cell in column], dtype=pl.String)
            for name, column in zip(header, columns, strict=True)
        }
    )
    return Table(frame, where, lines[full])
