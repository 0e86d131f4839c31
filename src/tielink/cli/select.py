"""`tielink select`: which dimension of the latent space the data prefer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.inputs import read_data, takes_data
from tielink.faults import Fault, Faults, InputError

if TYPE_CHECKING:
    from tielink.project import Project

__all__ = ["select"]


@takes_data
def select(
    project: Project,
    faults: Faults,
    dimensions: Annotated[str, typer.Option(help="Dimensions K to compare: 2-8, or 2,4,6.")] = "1-4",
    criterion: Annotated[str, typer.Option(help="'waic', 'waic1', 'dic' or 'loo'.")] = "waic",
    out: Annotated[Path, typer.Option("--out", help="A folder for the table and the picture.")] = Path("select"),
    chains: Annotated[int | None, typer.Option(help="Number of chains. [default: the project's, or 4]")] = None,
    warmup: Annotated[int | None, typer.Option(help="Sweeps thrown away first. [default: 1000]")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws kept of each chain. [default: 1000]")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same draws. [default: 1]")] = None,
) -> None:
    """Fit the model with latent spaces of several dimensions and compare them by an information criterion."""
    wanted = _dimensions(dimensions)
    from tielink.cli.show import console
    from tielink.run.sample import sample
    from tielink.select.compare import compare
    from tielink.select.criteria import CRITERIA

    if criterion not in CRITERIA:
        faults.error("--criterion", f"is {criterion!r}.", f"Give one of {', '.join(CRITERIA)}.")
    dataset, _ = read_data(project, faults)
    network = project.model.network
    if network is None or all(ties is None for ties in dataset.ties.values()):
        raise InputError([Fault("select", "there is no network, so there is no dimension to choose.", "Give ties.")])
    out.mkdir(parents=True, exist_ok=True)
    run = project.run
    posteriors = {}
    for dimension in wanted:
        console.print(f"K = {dimension}")
        posteriors[dimension] = sample(
            replace(project.model, network=replace(network, dimension=dimension)),
            dataset,
            sampler=run.sampler,
            chains=run.chains if chains is None else chains,
            warmup=run.warmup if warmup is None else warmup,
            draws=run.draws if draws is None else draws,
            thin=run.thin,
            seed=run.seed if seed is None else seed,
            loo=criterion == "loo",
        )
        for warning in posteriors[dimension].diagnose().warnings:
            console.print(f"  [bold yellow]warning[/] {warning}", soft_wrap=True)
    found = compare(posteriors, criterion)
    console.print(f"\n{found}", markup=False)
    found.table().write_csv(out / "criteria.csv")
    found.plot().figure.savefig(out / f"{criterion}.png", dpi=150)
    console.print(f"\nThe data prefer K = {found.best}. Table and picture are in {out}.", markup=False, soft_wrap=True)


def _dimensions(text: str) -> list[int]:
    """Read `2-8` or `2,4,6`."""
    try:
        low, dash, high = text.partition("-")
        wanted = list(range(int(low), int(high) + 1)) if dash else [int(part) for part in text.split(",")]
    except ValueError:
        wanted = []
    if not wanted or min(wanted) < 1:
        raise InputError([Fault("--dimensions", f"is {text!r}.", "Write 2-8, or 2,4,6.")])
    return wanted
