"""Where commands write: checked before the work, not after it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from tielink.faults import Faults
from tielink.files import try_writing

__all__ = ["POSTERIOR", "TABLE", "ExactText", "check_apart", "check_out"]

ExactText = Annotated[
    bool,
    typer.Option(
        "--exact-text",
        help="Write CSV cells as they are: no apostrophe before those that a spreadsheet would run.",
    ),
]


POSTERIOR = (".nc", ".h5", ".netcdf")
TABLE = (".csv", ".tsv", ".tab", ".txt", ".parquet", ".pq")


def check_out(out: Path, kinds: tuple[str, ...], read: Iterable[Path] = ()) -> None:
    """Say before hours of work that their result could not be saved, or not there: it is no place for what is read."""
    faults = Faults()
    if out.is_dir():
        faults.error(str(out), "is a folder.", f"Name a file in it: {out / 'NAME'}{kinds[0]}.")
    elif not out.parent.is_dir():
        faults.error(str(out.parent), "there is no such folder.", "Make it, or name another.")
    elif out.suffix.lower() not in kinds:
        faults.error(str(out), f"has the ending {out.suffix!r}.", f"What is written ends in {' or '.join(kinds)}.")
    faults.raise_errors()
    check_apart([out], read)
    try_writing(out)


def check_apart(written: Iterable[Path], read: Iterable[Path]) -> None:
    """Refuse to write over what is read."""
    faults, taken = Faults(), {os.path.realpath(path) for path in read}
    for out in written:
        if os.path.realpath(out) in taken:
            faults.error(str(out), "is read, and would be written over.", "Name another place to write to.")
    faults.raise_errors()
