"""The options by which commands choose a model of ties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.worded import read_worded
from tielink.faults import Fault, Faults, InputError

if TYPE_CHECKING:
    from tielink.model.spec import Model

__all__ = ["Dimension", "Network", "with_network"]

Network = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="Model of ties: shared-ties, latent-space or none, with settings: shared-ties:power=0.5. "
        "[default: the project's, or shared-ties]",
    ),
]
Dimension = Annotated[
    int | None,
    typer.Option("--dimension", help="Dimension K of the latent space; with --network latent-space. [default: 2]"),
]


def with_network(model: Model, network: str | None, dimension: int | None, faults: Faults) -> Model:
    """Return the model with the options' network in place of its own; what is wrong goes on the list."""
    from tielink.model.network import LatentSpace, SharedTies
    from tielink.model.spec import NONE

    if network == NONE:
        model = replace(model, network=None)
    elif network is not None:
        kind, _, settings = network.partition(":")
        kinds: tuple[type[SharedTies | LatentSpace], ...] = (SharedTies, LatentSpace)
        found = read_worded(kind, settings, kinds, "--network", faults, others=(NONE,))
        if found is None:
            return model
        model = replace(model, network=found)
    if dimension is None:
        return model
    if not isinstance(model.network, LatentSpace):
        has = "no ties" if model.network is None else f"{model.network.kind.replace('_', ' ')}, which have no positions"
        faults.error("--dimension", f"the model has {has}.", "Add --network latent-space, or leave it out.")
        return model
    try:
        return replace(model, network=replace(model.network, dimension=dimension))
    except InputError as error:
        faults.extend(Fault("--dimension", fault.what, fault.do) for fault in error.faults)
        return model
