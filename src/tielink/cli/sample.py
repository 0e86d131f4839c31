"""`tielink sample` and `tielink resume`: from data to a posterior on disk."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tielink.cli.inputs import read_data, takes_data
from tielink.cli.networks import Network, with_network
from tielink.cli.outputs import POSTERIOR, check_out
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.posterior.posterior import Posterior
    from tielink.project import Project

__all__ = ["resume", "sample"]

Out = Annotated[Path, typer.Option("--out", help="Where to save the posterior.")]
Minutes = Annotated[float | None, typer.Option(help="How long it may take, unless --draws is given. [default: 10]")]
Workers = Annotated[int | None, typer.Option(help="Processes to use. [default: one for each core]", min=1)]
Interval = Annotated[float, typer.Option(help="Seconds between checkpoints.", min=0.0)]


@takes_data
def sample(
    project: Project,
    faults: Faults,
    out: Out = Path("posterior.nc"),
    network: Network = None,
    sampler: Annotated[str | None, typer.Option(help="'exact', or 'paper' for the paper's algorithm.")] = None,
    chains: Annotated[int | None, typer.Option(help="Number of chains. [default: the project's, or 4]")] = None,
    minutes: Minutes = None,
    warmup: Annotated[int | None, typer.Option(help="Sweeps thrown away first. [default: 100]")] = None,
    draws: Annotated[
        int | None, typer.Option(help="Draws kept of each chain. [default: until N and the links have settled]")
    ] = None,
    thin: Annotated[int | None, typer.Option(help="Sweeps for each draw. [default: 1]")] = None,
    seed: Annotated[int | None, typer.Option(help="The same seed gives the same draws. [default: 1]")] = None,
    workers: Workers = None,
    checkpoint: Annotated[Path | None, typer.Option(help="A folder for checkpoints; see `tielink resume`.")] = None,
    interval: Interval = 10.0,
) -> None:
    """Sample the posterior of who is whom, and save it.

    With --checkpoint FOLDER an interrupted run goes on with `tielink resume FOLDER`.
    """
    from tielink.cli.show import console, show_said
    from tielink.run.sample import sample as run

    check_out(out, POSTERIOR, project.sources.paths())
    given: dict[str, Any] = {
        "sampler": sampler, "chains": chains, "warmup": warmup, "draws": draws, "thin": thin, "seed": seed,
        "minutes": minutes,
    }  # fmt: skip
    settings = replace(project.run, **{name: value for name, value in given.items() if value is not None})
    project = replace(project, model=with_network(project.model, network, faults))
    dataset, _ = read_data(project, faults)
    show_said(dataset.said)
    console.print(project.model.describe(dataset), markup=False, soft_wrap=True)
    how: dict[str, Any] = {name: getattr(settings, name) for name in given}
    _finish(run(project.model, dataset, **how, workers=workers, checkpoint=checkpoint, interval=interval), out)


def resume(
    checkpoint: Annotated[Path, typer.Argument(help="The checkpoint folder of the interrupted run.")],
    out: Out = Path("posterior.nc"),
    workers: Workers = None,
    interval: Interval = 10.0,
    minutes: Annotated[float, typer.Option(help="How long it may take, unless the draws are fixed.")] = 10.0,
) -> None:
    """Continue an interrupted run; the draws are those that an uninterrupted one gives."""
    from tielink.run.sample import resume as run

    check_out(out, POSTERIOR)
    _finish(run(checkpoint, workers=workers, interval=interval, minutes=minutes), out)


def _finish(posterior: Posterior, out: Path) -> None:
    from tielink.cli.show import console

    posterior.save(out)
    console.print(f"\n{posterior.persons()}", markup=False)
    likely = int((posterior.pair_probabilities.probability > 0.5).sum())
    known = len(posterior.anchors)
    console.print(f"{likely:,} pairs are more likely than not one person, {known:,} anchors among them.", markup=False)
    console.print(f"\n{posterior.diagnose()}", markup=False, soft_wrap=True)
    console.print(f"\nSaved to {out}.", markup=False, soft_wrap=True)
