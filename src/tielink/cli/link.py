"""`tielink link`: from files to links and a report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tielink.cli.inputs import read_data, takes_data
from tielink.cli.networks import Network, with_network
from tielink.cli.outputs import ExactText, check_apart
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.project import Project
    from tielink.report.result import Result

__all__ = ["dedupe", "link", "run_link"]

MINUTES = "How long sampling may take, unless --draws is given. [default: 10]"
DRAWS = "Draws kept of each chain. [default: until N and the links have settled; 200 with --quick]"


def _link(
    project: Project,
    faults: Faults,
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")] = Path("result"),
    network: Network = None,
    chains: Annotated[int | None, typer.Option(help="Number of chains. [default: 4; 2 with --quick]")] = None,
    minutes: Annotated[float | None, typer.Option(help=MINUTES)] = None,
    warmup: Annotated[
        int | None, typer.Option(help="Sweeps thrown away first. [default: 100; 200 with --quick]")
    ] = None,
    draws: Annotated[int | None, typer.Option(help=DRAWS)] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same tables. [default: 1]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first, rough answer in seconds.")] = False,
    engine: Annotated[
        str | None,
        typer.Option(
            help="exact (the sampler), duckdb or spark (variational inference, for large files), or auto: by what each "
            "would cost. [default: the project's, or auto]"
        ),
    ] = None,
    memory: Annotated[str | None, typer.Option(help="Memory for --engine duckdb: 8GB.")] = None,
    workers: Annotated[int | None, typer.Option(help="Processes. [default: one for each core]", min=1)] = None,
    interval: Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0.0)] = 10.0,
    exact_text: ExactText = False,
) -> None:
    """Do what `link` and `dedupe` share; each says by its number of files which of them it is."""
    given = {"chains": chains, "warmup": warmup, "draws": draws, "seed": seed, "minutes": minutes, "engine": engine}
    settings: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    model = with_network(project.model, network, faults)
    how: dict[str, Any] = {"workers": workers, "interval": interval, "exact_text": exact_text}
    if memory is not None:
        if engine != "duckdb":
            faults.error("--memory", "is for --engine duckdb.", "Add that, or leave it out.")
        from tielink.large.engines import DuckDB

        settings["engine"] = DuckDB(memory=memory)
    run_link(replace(project, model=model), faults, out, settings, quick=quick, **how)


link = takes_data(
    _link,
    "link",
    """Link files of records: read, check, sample, diagnose, decide, and write a folder with a report.

    Examples: tielink link a.csv b.csv --ties ta.csv tb.csv --string username --anchors known.csv --out result,
    or tielink link project.toml. After Ctrl-C the same command goes on where it stopped.
    """,
    files="several",
)
dedupe = takes_data(
    _link,
    "dedupe",
    """Find the duplicates in one file of records; all else is as in `tielink link`.

    Example: tielink dedupe records.csv --string surname --date born --out result.
    """,
    files="one",
)


def run_link(
    project: Project,
    faults: Faults,
    out: Path,
    settings: dict[str, Any],
    *,
    quick: bool = False,
    **how: Any,
) -> Result:
    """Do the work and say what happens: what was understood, what was found, where it is."""
    from tielink.cli.show import console, show_dataset, show_said
    from tielink.linking import CHECKPOINT, link
    from tielink.posterior.posterior import OUT_OF_TIME
    from tielink.report.folder import FILES, check_folder, files_of
    from tielink.run.checkpoint import JOB

    # Settings are checked and the folder is tried before the data are read: both are quick to mend.
    replace(
        project.run, **{name: value for name, value in settings.items() if name != "engine" or isinstance(value, str)}
    )
    check_apart([out / name for name in FILES], project.sources.paths())
    check_folder(out)
    dataset, truth = read_data(project, faults)
    show_said(dataset.said)
    show_dataset(dataset)
    console.print(f"\n{project.model.describe(dataset)}\n", markup=False, soft_wrap=True)
    if (out / CHECKPOINT / JOB).exists():
        console.print(f"Going on from {out / CHECKPOINT}.", markup=False, soft_wrap=True)
    try:
        result = link(
            project, truth=truth, out=out, quick=quick, project_data=dataset, **how, **settings,
            say=lambda text: console.print(text, markup=False, soft_wrap=True),
        )  # fmt: skip
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{str(error) or 'stopped'}. {_again(out)}") from None
    console.print(f"\nIn {out}:", markup=False)
    files = files_of(len(dataset.records))
    width = max(map(len, files)) + 2
    for name, words in files.items():
        console.print(f"  {name:<{width}}{words}", markup=False, soft_wrap=True)
    if result.posterior.ended == OUT_OF_TIME:
        console.print(f"\nTo give it more time: {_again(out)}", markup=False, soft_wrap=True)
    if result.interrupted:
        typer.echo(f"tielink: stopped early; what was finished is in {out}. {_again(out)}", err=True)
        sys.exit(130)
    return result


def _again(out: Path) -> str:
    return f"The same command goes on where it stopped (or remove {out / 'checkpoint'} to begin anew)."
