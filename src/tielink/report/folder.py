"""A folder with everything that was found, each file written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tielink.data.frames import to_polars
from tielink.data.spreadsheet import write_table
from tielink.faults import Fault, InputError, listed, refuse
from tielink.files import try_writing

if TYPE_CHECKING:
    from tielink.report.result import Result

__all__ = ["FILES", "LOG", "check_folder", "files_of", "write_folder"]

LOG, REPORT = "run.log", "report.html"
FILES = {
    REPORT: "the report: open it in a browser",
    "links.csv": "links and near-links, with probability, decision and evidence",
    "persons.csv": "every record with the number of its person",
    "profiles.csv": "the merged profile of every linked person",
    "pairs.parquet": "every pair ever linked, with its probability",
    "posterior.nc": "all draws, for tl.Posterior.load",
    "project.toml": "everything needed to run this again",
    LOG: "what was said on the way",
}
"""What the folder holds, in the order in which a reader wants it."""


LARGE = 100_000
"""With more records than this, tables are written as Parquet: CSV of this size is nobody's reading."""


def files_of(records: int) -> dict[str, str]:
    """Return what the folder of so many records holds."""
    return {name.replace(".csv", ".parquet") if records > LARGE else name: words for name, words in FILES.items()}


def check_folder(folder: Path) -> None:
    """Make the folder and try to write there, before hours of work and not after them."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        what = f"cannot be written to: {error.strerror}."
        raise InputError([Fault(str(folder), what, "Name another folder.")]) from None
    there = [name for name in FILES if (folder / name).exists()]
    if there and not {LOG, REPORT} & set(there):
        what = f"holds {listed(there)}, and no result of tielink's: what is there would be written over."
        refuse(str(folder), what, "Name another folder, or move it away.")
    try_writing(folder / LOG)


def write_folder(result: Result, folder: Path, *, exact_text: bool = False) -> Path:
    """Write tables, posterior, report and project file; return the folder."""
    check_folder(folder)
    suffix = "parquet" if len(result.dataset.records) > LARGE else "csv"
    for name, table in (("links", result.links()), ("persons", result.persons()), ("profiles", result.profiles())):
        write_table(folder / f"{name}.{suffix}", to_polars(table), exact=exact_text)
    write_table(folder / "pairs.parquet", to_polars(result.posterior.pairs()))
    result.posterior.save(folder / "posterior.nc")
    if result.project is not None:
        result.project.write(folder / "project.toml")
    result.report(folder / REPORT)
    return folder
