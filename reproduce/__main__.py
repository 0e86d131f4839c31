"""Reproduce the paper: `make reproduce DATA=folder`, `QUICK=1` for five minutes, `FULL=1` for a night."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

from reproduce.folders import make_folders
from reproduce.ledger import Ledger
from reproduce.page import write
from reproduce.plan import LEVELS, plan
from reproduce.pool import run

HERE = Path(__file__).parent


def main() -> None:
    """Fit what is missing, then write every table, picture and the page from what the ledger holds."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", default=os.environ.get("TIELINK_DATA"), help="folder with uir/, pkdd12/, …")
    parser.add_argument("--level", choices=LEVELS, default="default")
    parser.add_argument("--out", type=Path, default=HERE / "results")
    parser.add_argument("--made", action="store_true", help="use small made data instead of a folder")
    parser.add_argument("--only", help="only fits of this part (identity, egos, ceiling, criteria, more)")
    asked = parser.parse_args()
    if asked.made:
        with tempfile.TemporaryDirectory() as folder:
            reproduce(make_folders(Path(folder)), asked.level, asked.out, asked.only)
        return
    if not asked.data or not (Path(asked.data) / "uir").is_dir():
        given = f"{asked.data!r} holds no folder uir" if asked.data else "no data folder is given"
        sys.stderr.write(f"error: {given}. Give one: make reproduce DATA=folder, or set TIELINK_DATA.\n")
        raise SystemExit(2)
    reproduce(Path(asked.data), asked.level, asked.out, asked.only)


def reproduce(root: Path, level: str, out: Path, only: str | None = None) -> None:
    """Do all of it for the data under `root`."""
    out.mkdir(parents=True, exist_ok=True)
    ledger = Ledger(out / "fits.jsonl")
    tasks = [(task, effort) for task, effort in plan(root, LEVELS[level]) if only in (None, task.part)]
    run(tasks, root, ledger)
    ledger.tidy()
    write(root, ledger, out, out.parent / "README.md")


if __name__ == "__main__":
    main()
