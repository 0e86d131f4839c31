"""`tielink simulate`: make data with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from tielink.faults import Faults

__all__ = ["simulate"]

LARGEST = {"latent-space": 20_000, "shared-ties": 2_000_000, "duckdb": 20_000_000}
"""Records of a file that still fit into memory; in a latent space all dyads are drawn."""
ONLY = {
    "latent-space": ("density", "dimension", "spread", "distortion", "copied"),
    "shared-ties": ("ties", "sharing", "communities", "closure"),
}
"""Options that one model of ties has."""


def simulate(
    context: typer.Context,
    out: Annotated[Path, typer.Option("--out", help="The folder to write the project to.")],
    network: Annotated[str, typer.Option(help="The model of ties: latent-space or shared-ties.")] = "latent-space",
    sizes: Annotated[str, typer.Option(help="Records in each file, by name.")] = "a=60,b=60",
    records: Annotated[int | None, typer.Option(help="Records in each of two files; for --sizes a=N,b=N.")] = None,
    overlap: Annotated[
        int | None, typer.Option(help="Persons in both of the first two files. [default: two thirds of the smaller]")
    ] = None,
    density: Annotated[float, typer.Option(help="Latent space: expected share of tied dyads.")] = 0.17,
    dimension: Annotated[int, typer.Option(help="Latent space: its dimension.")] = 2,
    spread: Annotated[float, typer.Option(help="Latent space: variance of positions.")] = 100.0,
    distortion: Annotated[float, typer.Option(help="Latent space: share of profile values that are distorted.")] = 0.1,
    copied: Annotated[
        float,
        typer.Option(
            help="Latent space: share of dyads of persons in both files that the second copies from the first."
        ),
    ] = 0.0,
    ties: Annotated[float, typer.Option(help="Shared ties: expected number of ties of a record.")] = 10.0,
    sharing: Annotated[float, typer.Option(help="Shared ties: share of ties that both files have.")] = 0.5,
    communities: Annotated[int, typer.Option(help="Shared ties: number of communities; 0 for none.")] = 0,
    closure: Annotated[float, typer.Option(help="Shared ties: share of ties that close a triangle.")] = 0.0,
    missing: Annotated[float, typer.Option(help="Share of profile values that are missing.")] = 0.0,
    anchors: Annotated[float, typer.Option(help="Share of matches that are known beforehand.")] = 0.1,
    profiles: Annotated[
        bool, typer.Option(help="Make profiles: usernames and places, or names, addresses and birthdays (shared ties).")
    ] = True,
    engine: Annotated[
        str | None,
        typer.Option(
            help="duckdb (or spark): large files, as Parquet, of people with a name, place and year of birth."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 1,
) -> None:
    """Draw two or more files of accounts from a model and write them as a project."""
    import numpy as np

    from tielink.cli.show import console
    from tielink.faults import Faults
    from tielink.model.network import LatentSpace
    from tielink.model.spec import Model
    from tielink.simulate import scenario, shared_ties, write_large, write_project
    from tielink.simulate.people import FIELDS

    faults = Faults()
    given = {
        name
        for name in context.params
        if getattr(context.get_parameter_source(name), "name", "") not in ("DEFAULT", "DEFAULT_MAP")
    }
    if engine not in (None, "duckdb", "spark"):
        faults.error("--engine", f"is {engine!r}.", "Write duckdb or spark, or leave it out.")
    if engine is not None:
        if network != "shared-ties" and "network" in given:
            faults.error("--engine", "makes shared ties.", "Leave --network out.")
        if records is None:
            faults.error("--engine", "is for two files of one size.", "Give --records 100000.")
        network = "shared-ties"
    if network not in ONLY:
        faults.error("--network", f"is {network!r}.", f"Write {' or '.join(ONLY)}.")
    for other in ONLY.keys() - {network} if network in ONLY else ():
        for name in sorted(given & set(ONLY[other])):
            faults.error(f"--{name}", f"is for --network {other}.", f"Leave it out, or choose --network {other}.")
    if records is not None and "sizes" in given:
        faults.error("--records", "and --sizes both say how many records there are.", "Give one of them.")
    most = LARGEST.get("duckdb" if engine else network, max(LARGEST.values()))
    wanted = _sizes(sizes if records is None else f"a={records},b={records}", most, faults)
    if out.exists() and any(out.iterdir()):
        faults.error(str(out), "is not empty.", "Give a new folder: nothing is overwritten.")
    if seed < 0:
        faults.error("--seed", f"is {seed}.", "Give a whole number of at least 0.")
    faults.raise_errors()
    rng = np.random.default_rng(seed)
    if overlap is None:
        overlap = 2 * min([*wanted.values()][:2]) // 3 if len(wanted) > 1 else 0
    if engine is not None:
        with console.status(f"Making {2 * min(wanted.values()):,} records and their ties …"):
            path = write_large(
                rng, out, min(wanted.values()), overlap, ties=ties, sharing=sharing, communities=communities,
                closure=closure, missing=missing, anchors=anchors, profiles=profiles,
            )  # fmt: skip
        console.print(f"Written to {out}. Next: tielink link {path} --engine {engine}", markup=False, soft_wrap=True)
        return
    if network == "shared-ties":
        model = Model()
        simulated = shared_ties(
            rng,
            wanted,
            overlap,
            ties=ties,
            sharing=sharing,
            communities=communities,
            closure=closure,
            anchors=anchors,
            fields=FIELDS if profiles else (),
            missing=missing,
        )
    else:
        model = Model(network=LatentSpace(dimension=dimension))
        simulated = scenario(
            rng,
            model,
            wanted,
            overlap=overlap,
            density=density,
            spread=spread,
            distortion=distortion,
            missing=missing,
            anchors=anchors,
            copied=copied,
            vocabularies=None if profiles else {},
        )
    path = write_project(simulated, out, model)
    console.print(f"{simulated.dataset!r}", markup=False, soft_wrap=True)
    console.print(f"Written to {out}. Next: tielink check {path}", markup=False, soft_wrap=True)


def _sizes(text: str, most: int, faults: Faults) -> dict[str, int]:
    """Read name=number,name=number."""
    wanted: dict[str, int] = {}
    for part in text.split(","):
        name, _, count = part.partition("=")
        if not name.strip() or not count.strip().isdigit():
            faults.error("--sizes", f"{part!r} is no name=number.", "Write, say, youtube=184,twitter=420.")
        elif name.strip() in wanted:
            faults.error("--sizes", f"names {name.strip()!r} twice.", "Give each file a name of its own.")
        elif len(count) > 9 or int(count) > most:
            faults.error("--sizes", f"{part!r} is too large.", f"Give at most {most:,} records a file.")
        else:
            wanted[name.strip()] = int(count)
    return wanted
