"""`tielink simulate`: make data with a known truth."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["simulate"]

TYPING_SHARPNESS = 3.0
"""λ at which distorted usernames look like slips of the finger rather than like other usernames."""


def simulate(
    out: Annotated[Path, typer.Option("--out", help="The folder to write the project to.")],
    sizes: Annotated[str, typer.Option(help="Records in each file, by name.")] = "a=60,b=60",
    overlap: Annotated[int, typer.Option(help="Persons in both of the first two files.")] = 40,
    density: Annotated[float, typer.Option(help="Expected share of tied dyads.")] = 0.17,
    dimension: Annotated[int, typer.Option(help="Dimension of the latent space.")] = 2,
    spread: Annotated[float, typer.Option(help="Variance of positions.")] = 100.0,
    distortion: Annotated[float, typer.Option(help="Share of profile values that are distorted.")] = 0.1,
    missing: Annotated[float, typer.Option(help="Share of profile values that are missing.")] = 0.0,
    anchors: Annotated[float, typer.Option(help="Share of matches that are known beforehand.")] = 0.1,
    profiles: Annotated[bool, typer.Option(help="Make usernames and places.")] = True,
    seed: Annotated[int, typer.Option(help="The same seed gives the same data.")] = 1,
) -> None:
    """Draw two or more files of accounts from the model and write them as a project."""
    import numpy as np

    from tielink.cli.show import console
    from tielink.faults import Faults
    from tielink.fields import String
    from tielink.model.network import LatentSpace
    from tielink.model.spec import Model
    from tielink.simulate import scenario, write_project

    faults = Faults()
    wanted = {}
    for part in sizes.split(","):
        name, _, count = part.partition("=")
        if not name.strip() or not count.strip().isdigit():
            faults.error("--sizes", f"{part!r} is no name=number.", "Write, say, youtube=184,twitter=420.")
        elif name.strip() in wanted:
            faults.error("--sizes", f"names {name.strip()!r} twice.", "Give each file a name of its own.")
        else:
            wanted[name.strip()] = int(count)
    if out.exists() and any(out.iterdir()):
        faults.error(str(out), "is not empty.", "Give a new folder: nothing is overwritten.")
    if seed < 0:
        faults.error("--seed", f"is {seed}.", "Give a whole number of at least 0.")
    faults.raise_errors()
    typing = String(vocabulary="closed", sharpness=TYPING_SHARPNESS)
    model = Model(network=LatentSpace(dimension=dimension), kinds={"string": typing} if profiles else {})
    simulated = scenario(
        np.random.default_rng(seed),
        model,
        wanted,
        overlap=overlap,
        density=density,
        spread=spread,
        distortion=distortion,
        missing=missing,
        anchors=anchors,
        vocabularies=None if profiles else {},
    )
    path = write_project(simulated, out, model)
    console.print(f"{simulated.dataset!r}", markup=False, soft_wrap=True)
    console.print(f"Written to {out}. Next: tielink check {path}", markup=False, soft_wrap=True)
