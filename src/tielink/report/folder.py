"""A folder with everything that was found, each file written whole or not at all."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tielink.data.frames import to_polars
from tielink.faults import Fault, InputError

if TYPE_CHECKING:
    import polars as pl

    from tielink.report.result import Result

__all__ = ["FILES", "LOG", "check_folder", "write_folder"]

LOG = "run.log"
FILES = {
    "report.html": "the report: open it in a browser",
    "links.csv": "links and near-links, with probability, decision and evidence",
    "persons.csv": "the merged profile of every linked person",
    "pairs.parquet": "every pair ever linked, with its probability",
    "posterior.nc": "all draws, for tl.Posterior.load",
    "project.toml": "everything needed to run this again",
    LOG: "what was said on the way",
}
"""What the folder holds, in the order in which a reader wants it."""


def check_folder(folder: Path) -> None:
    """Make the folder and try to write there, before hours of work and not after them."""
    probe = folder / (LOG + ".part")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe.touch()
        probe.unlink()
    except OSError as error:
        what = f"cannot be written to: {error.strerror}."
        raise InputError([Fault(str(folder), what, "Name another folder with --out.")]) from None


def write_folder(result: Result, folder: Path) -> Path:
    """Write tables, posterior, report and project file; return the folder."""
    check_folder(folder)
    _whole(folder / "links.csv", to_polars(result.links()).write_csv)
    _whole(folder / "persons.csv", to_polars(result.persons()).write_csv)
    _whole(folder / "pairs.parquet", _storable(to_polars(result.posterior.pairs())).write_parquet)
    result.posterior.save(folder / "posterior.nc")
    if result.project is not None:
        result.project.write(folder / "project.toml")
    result.report(folder / "report.html")
    return folder


def _storable(frame: pl.DataFrame) -> pl.DataFrame:
    """Turn columns of mixed Python objects, which no file can hold, into text."""
    import polars as pl

    objects = [name for name, kind in frame.schema.items() if kind == pl.Object]
    return frame.with_columns(
        pl.Series(name, [None if value is None else str(value) for value in frame[name].to_list()], dtype=pl.String)
        for name in objects
    )


def _whole(path: Path, write: Callable[[Path], Any]) -> None:
    draft = path.with_name(path.name + ".part")
    try:
        write(draft)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
