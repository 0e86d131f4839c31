"""Where commands write: checked before the work, not after it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tielink.faults import Faults
from tielink.files import try_writing

__all__ = ["ExactText", "check_out"]

ExactText = Annotated[
    bool,
    typer.Option(
        "--exact-text",
        help="Write CSV cells as they are: no apostrophe before those that a spreadsheet would run.",
    ),
]


def check_out(out: Path) -> None:
    """Say before hours of work that their result could not be saved."""
    faults = Faults()
    if out.is_dir():
        faults.error(str(out), "is a folder.", "Name a file: posterior.nc.")
    elif not out.parent.is_dir():
        faults.error(str(out.parent), "there is no such folder.", "Make it, or name another.")
    faults.raise_errors()
    try_writing(out)
