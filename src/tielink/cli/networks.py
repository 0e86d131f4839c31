"""The option by which commands choose a model of ties."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.worded import read_worded
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.model.spec import Model

__all__ = ["Network", "with_network"]

Network = Annotated[
    str | None,
    typer.Option(
        "--network",
        help="Model of ties: shared-ties, latent-space or none, with settings: shared-ties:power=0.5, "
        "latent-space:dimension=3. [default: the project's, or shared-ties]",
    ),
]


def with_network(model: Model, network: str | None, faults: Faults) -> Model:
    """Return the model with the option's network in place of its own; what is wrong goes on the list."""
    from tielink.model.network import LatentSpace, SharedTies
    from tielink.model.spec import NONE

    if network is None:
        return model
    if network == NONE:
        return replace(model, network=None)
    kinds: tuple[type[SharedTies | LatentSpace], ...] = (SharedTies, LatentSpace)
    found = read_worded(network, kinds, "--network", faults, others=(NONE,))
    return model if found is None else replace(model, network=found)
