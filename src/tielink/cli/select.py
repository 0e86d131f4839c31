"""`tielink select`: which dimension of the latent space the data prefer."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.inputs import read_data, takes_data
from tielink.cli.networks import Network, with_network
from tielink.faults import Faults, refuse
from tielink.files import try_writing, write_whole

if TYPE_CHECKING:
    from tielink.project import Project

__all__ = ["select"]

SWEEPS = 500
"""Warm-up and draws: criteria are compared between runs of the same length."""


@takes_data
def select(
    project: Project,
    faults: Faults,
    network: Network = None,
    dimensions: Annotated[str, typer.Option(help="Dimensions K to compare: 2-8, or 2,4,6.")] = "1-4",
    criterion: Annotated[str, typer.Option(help="'waic', 'waic1', 'dic' or 'loo'.")] = "waic",
    out: Annotated[Path, typer.Option("--out", help="A folder for the table and the picture.")] = Path("select"),
    chains: Annotated[int | None, typer.Option(help="Number of chains. [default: the project's, or 4]")] = None,
    warmup: Annotated[int | None, typer.Option(help="Sweeps thrown away first. [default: 500]")] = None,
    draws: Annotated[int | None, typer.Option(help="Draws kept of each chain. [default: 500]")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same draws. [default: 1]")] = None,
) -> None:
    """Fit the model with latent spaces of several dimensions and compare them by an information criterion over ties.

    Example: tielink select project.toml --network latent-space --dimensions 2-8.
    """
    wanted = _dimensions(dimensions)
    from tielink.cli.show import console
    from tielink.data.spreadsheet import write_table
    from tielink.model.network import LatentSpace
    from tielink.run.sample import sample
    from tielink.select.compare import compare
    from tielink.select.criteria import CRITERIA

    if criterion not in CRITERIA:
        faults.error("--criterion", f"is {criterion!r}.", f"Give one of {', '.join(CRITERIA)}.")
    model = with_network(project.model, network, faults)
    if not isinstance(model.network, LatentSpace):
        has = "no model of ties" if model.network is None else model.network.kind.replace("_", " ")
        what = (
            f"latent spaces of several dimensions are compared by how well they predict ties, and the model has {has}."
        )
        faults.error(
            "select", what, "Add --network latent-space. Other models are compared by their links: `evaluate`."
        )
    dataset, _ = read_data(replace(project, model=model), faults)
    if all(ties is None for ties in dataset.ties.values()):
        refuse("select", "there is no network, so there is no dimension to choose.", "Give ties.")
    assert isinstance(model.network, LatentSpace)
    out.mkdir(parents=True, exist_ok=True)
    try_writing(out / "criteria.csv")
    run = project.run
    posteriors = {}
    for dimension in wanted:
        console.print(f"K = {dimension}")
        posteriors[dimension] = sample(
            replace(model, network=replace(model.network, dimension=dimension)),
            dataset,
            sampler=run.sampler,
            chains=run.chains if chains is None else chains,
            warmup=SWEEPS if warmup is None else warmup,
            draws=(run.draws or SWEEPS) if draws is None else draws,
            thin=run.thin,
            seed=run.seed if seed is None else seed,
            loo=criterion == "loo",
        )
        for warning in posteriors[dimension].diagnose().warnings:
            console.print(f"  [bold yellow]warning[/] {warning}", soft_wrap=True)
    found = compare(posteriors, criterion)
    console.print(f"\n{found}", markup=False)
    write_table(out / "criteria.csv", found.table())
    write_whole(out / f"{criterion}.png", lambda file: found.plot().figure.savefig(file, dpi=150))
    console.print(f"\nThe data prefer K = {found.best}. Table and picture are in {out}.", markup=False, soft_wrap=True)


def _dimensions(text: str) -> list[int]:
    """Read `2-8` or `2,4,6`."""
    try:
        low, dash, high = text.partition("-")
        wanted = list(range(int(low), min(int(high), 1000) + 1)) if dash else [int(part) for part in text.split(",")]
    except ValueError:
        wanted = []
    if not wanted or min(wanted) < 1:
        refuse("--dimensions", f"is {text!r}.", "Write 2-8, or 2,4,6.")
    return wanted
