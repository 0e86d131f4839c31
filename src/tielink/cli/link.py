"""`tielink link`: from files to links and a report."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tielink.cli.inputs import field_options, read_data, takes_data
from tielink.faults import Fault, Faults, InputError, nearest

if TYPE_CHECKING:
    from tielink.model.linkage_priors import LinkagePrior
    from tielink.model.spec import Model
    from tielink.project import Project
    from tielink.report.result import Result

__all__ = ["link", "run_link"]


@takes_data
def link(
    project: Project,
    faults: Faults,
    out: Annotated[Path, typer.Option("--out", help="The folder to write to.")] = Path("result"),
    dimension: Annotated[
        int | None, typer.Option(help="Dimension K of the latent space. [default: the project's, or 2]")
    ] = None,
    prior: Annotated[
        str | None,
        typer.Option(help="Prior of who is whom: match_rate, uniform, match_rate:a=2,b=5. [default: match_rate]"),
    ] = None,
    chains: Annotated[int | None, typer.Option(help="Number of chains. [default: 4; 2 with --quick]")] = None,
    warmup: Annotated[int | None, typer.Option(help="Sweeps thrown away first. [default: 1000; 200]")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws kept of each chain. [default: 1000; 200]")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same tables. [default: 1]")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first, rough answer in seconds.")] = False,
    workers: Annotated[int | None, typer.Option(help="Processes. [default: one for each core]", min=1)] = None,
) -> None:
    """Link files of records: read, check, sample, diagnose, decide, and write a folder with a report.

    Examples: tielink link a.csv b.csv --ties ta.csv tb.csv --string username --anchors known.csv --out result,
    or tielink link project.toml. After Ctrl-C the same command goes on where it stopped.
    """
    given = {"chains": chains, "warmup": warmup, "draws": draws, "seed": seed}
    settings = {name: value for name, value in given.items() if value is not None}
    model = _model(project.model, dimension, prior, faults)
    run_link(replace(project, model=model), faults, out, settings, quick=quick, workers=workers)


def run_link(
    project: Project,
    faults: Faults,
    out: Path,
    settings: dict[str, Any],
    *,
    quick: bool = False,
    workers: int | None = None,
) -> Result:
    """Do the work and say what happens: what was understood, what was found, where it is."""
    from tielink.cli.show import console, show_dataset, show_said
    from tielink.linking import CHECKPOINT, QUICK, link
    from tielink.report.folder import FILES, check_folder

    # Settings are checked and the folder is tried before the data are read: both are quick to mend.
    replace(project.run, **((QUICK if quick else {}) | settings))
    check_folder(out)
    dataset, truth = read_data(project, faults)
    show_said(dataset.said)
    if project.sources.fields is None and dataset.columns:
        console.print(f"  Kinds of columns were guessed. To correct one: {field_options()}.", markup=False, soft_wrap=True)
    show_dataset(dataset)
    console.print(f"\n{project.model.describe(dataset)}\n", markup=False, soft_wrap=True)
    before = (out / CHECKPOINT / "job.pickle").exists()
    if before:
        console.print(f"Going on from {out / CHECKPOINT}.", markup=False, soft_wrap=True)
    try:
        result = link(
            project, truth=truth, out=out, quick=quick, workers=workers, read=dataset, **settings,
            say=lambda text: console.print(text, markup=False, soft_wrap=True),
        )  # fmt: skip
    except KeyboardInterrupt as error:
        raise KeyboardInterrupt(f"{error or 'stopped'}. {_again(out)}") from None
    console.print(f"\nIn {out}:", markup=False)
    width = max(map(len, FILES)) + 2
    for name, words in FILES.items():
        console.print(f"  {name:<{width}}{words}", markup=False, soft_wrap=True)
    if result.interrupted:
        typer.echo(f"tielink: stopped early; what was finished is in {out}. {_again(out)}", err=True)
        sys.exit(130)
    return result


def _again(out: Path) -> str:
    return f"The same command goes on where it stopped (or remove {out / 'checkpoint'} to begin anew)."


def _model(model: Model, dimension: int | None, prior: str | None, faults: Faults) -> Model:
    """Return the model with the options' settings in place of its own."""
    if prior is not None:
        found = _prior(prior, faults)
        model = model if found is None else replace(model, linkage=found)
    if dimension is None:
        return model
    if model.network is None:
        faults.error("--dimension", "the project's model has no network part.", "Leave it out.")
        return model
    try:
        return replace(model, network=replace(model.network, dimension=dimension))
    except InputError as error:
        faults.extend(Fault("--dimension", fault.what, fault.do) for fault in error.faults)
        return model


def _prior(text: str, faults: Faults) -> LinkagePrior | None:
    """Read `match_rate` or `match_rate:a=2,b=5`."""
    from tielink.model.linkage_priors import LINKAGE_PRIORS
    from tielink.specification import read_table

    name, _, rest = text.partition(":")
    kinds = [kind.kind for kind in LINKAGE_PRIORS]
    name = name.replace("-", "_")
    if name not in kinds:
        faults.error("--prior", f"is {text!r}.", nearest(name, kinds))
        return None
    table: dict[str, Any] = {"kind": name}
    for part in filter(None, rest.split(",")):
        key, _, value = (word.strip() for word in part.partition("="))
        try:
            table[key] = {"true": True, "false": False}[value] if value in ("true", "false") else _plain(value)
        except ValueError:
            faults.error("--prior", f"{part!r} is no setting.", "Write, say, match_rate:a=2,b=5.")
            return None
    return read_table(table, LINKAGE_PRIORS, f"--prior {name}", faults)


def _plain(text: str) -> int | float:
    return int(text) if text.isdigit() else float(text)
