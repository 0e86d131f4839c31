"""`tielink update`: new records, ties and answers join a finished run."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.inputs import AnswerFiles
from tielink.cli.review import ResultFolder
from tielink.faults import Faults, nearest

if TYPE_CHECKING:
    from tielink.data.frames import Table

__all__ = ["update"]

CHANGES = "changes.csv"


def update(
    folder: ResultFolder,
    records: Annotated[
        list[str] | None,
        typer.Option("--records", help="New or corrected records: new.csv, or FILE=new.csv where there are several."),
    ] = None,
    ties: Annotated[list[str] | None, typer.Option("--ties", help="New ties: ties.csv, or FILE=ties.csv.")] = None,
    withdraw: Annotated[
        Path | None, typer.Option("--withdraw", help="Records that are no longer there: columns file and id.")
    ] = None,
    answers: AnswerFiles = None,
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")] = Path("updated"),
    warmup: Annotated[int | None, typer.Option(help="Sweeps thrown away. [default: a twentieth of before]")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws of each chain. [default: a tenth of before]")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes. [default: one for each core]", min=1)] = None,
) -> None:
    """Take new records, ties or answers into a finished run, and say what changed.

    Example: tielink update result --records clipper=new.csv --ties clipper=new_ties.csv --out updated
    """
    from tielink.cli.inputs import read_data
    from tielink.cli.show import console, show_said
    from tielink.data.changed import changed_data, write_changed
    from tielink.data.dataset import Dataset
    from tielink.data.frames import to_polars
    from tielink.data.read import read_table_file
    from tielink.data.spreadsheet import write_table
    from tielink.posterior.posterior import Posterior
    from tielink.project import Project
    from tielink.report.folder import check_folder
    from tielink.report.result import Result
    from tielink.run.again import update as go_on

    faults = Faults("command line")
    for name in ("posterior.nc", "project.toml"):
        if not (folder / name).is_file():
            faults.error(str(folder / name), "there is no such file.", "Name the folder that tielink link wrote.")
    if os.path.realpath(out) == os.path.realpath(folder):
        faults.error("--out", "is the folder of the run before.", "Name another one: what changed needs both.")
    faults.raise_errors()
    check_folder(out)
    project = Project.read(folder / "project.toml", faults, allow_outside=True)
    sources = project.sources
    sources.answers = list(dict.fromkeys([*sources.answers, *(str(path.absolute()) for path in answers or [])]))
    new = {what: _by_file(given or [], list(sources.records), f"--{what}", faults)
           for what, given in (("records", records), ("ties", ties))}  # fmt: skip
    gone = None if withdraw is None else read_table_file(withdraw, faults)
    before = Posterior.load(folder / "posterior.nc")
    given, _ = sources.load(faults)
    faults.raise_errors()
    given = changed_data(given, new["records"], new["ties"], gone, faults)
    faults.raise_errors()
    changed = set(new["records"]) | set(new["ties"]) | (set(given.records) if gone is not None else set())
    project = replace(project, sources=write_changed(given, sources, changed, out))
    dataset = Dataset.checked(given, faults)
    _, truth = read_data(project, Faults("project file"))
    show_said(dataset.said)
    after = go_on(before, dataset, warmup=warmup, draws=draws, workers=workers)
    result = Result.of(after, dataset, project=replace(project, run=after.run), truth=truth)
    result.save(out)
    found = to_polars(after.changes_since(before))
    write_table(out / CHANGES, found)
    for line in (f"{result}", "", f"{len(found):,} pairs changed (in {out / CHANGES}):"):
        console.print(line, markup=False, soft_wrap=True)
    for (word,), rows in found.group_by("change", maintain_order=True):
        console.print(f"  {word:<14}{rows.height:,}", markup=False)
    for row in found.head(10).iter_rows(named=True):
        pair = f"{row['file_a']}/{row['id_a']} – {row['file_b']}/{row['id_b']}"
        console.print(f"    {pair}: {row['before']:.2f} → {row['after']:.2f}, {row['change']}", markup=False)
    console.print(_how_far(after), markup=False, soft_wrap=True)


def _how_far(after: object) -> str:
    """Say how far from its limit the update may be."""
    from tielink.posterior.posterior import Posterior

    assert isinstance(after, Posterior)
    found = after.diagnose()
    figures = f"R-hat of persons {found.rhat['persons N']:.2f}, {found.ess['persons N']:,.0f} effective draws"
    if after.notes:
        return "\n".join(f"Attention: {note}" for note in after.notes) + f"\n({figures}.)"
    return f"The chains have settled ({figures}); a full run would say the same within Monte Carlo error."


def _by_file(given: list[str], files: list[str], where: str, faults: Faults) -> dict[str, Table]:
    """Read `new.csv` or `FILE=new.csv` for each."""
    from tielink.data.read import read_table_file

    tables = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or name not in files:
            if equals and not Path(text).exists():
                faults.error(where, f"names {name!r}, which is no file.", nearest(name, files))
                continue
            name, path = files[0], text
            if len(files) > 1:
                faults.error(
                    where, f"is {text!r}, for {len(files)} files.", f"Say for which: {where} {files[0]}={text}."
                )
                continue
        table = read_table_file(Path(path), faults)
        if table is not None:
            tables[name] = table
    return tables
