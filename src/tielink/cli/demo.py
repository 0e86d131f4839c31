"""`tielink demo`: the shipped example, end to end."""

from __future__ import annotations

from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.faults import Fault, Faults, InputError

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.posterior.posterior import Posterior

__all__ = ["demo"]

WARMUP, DRAWS = 300, 300
"""Enough for a first look at the example; `tielink sample` does more by default."""


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder to write results to.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)] = 1,
) -> None:
    """Link the shipped example: accounts on two made-up networks, with usernames, places and ties."""
    from tielink.cli.inputs import read_data
    from tielink.cli.show import console, show_dataset
    from tielink.estimation.estimate import estimate
    from tielink.project import Project
    from tielink.run.sample import sample

    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError([Fault(str(out), f"cannot be made: {error.strerror}.", "Name another with --out.")]) from None
    with as_file(files("tielink") / "example") as folder:
        faults = Faults()
        project = Project.read(folder / "project.toml", faults)
        console.print(f"The example: {folder}\n", markup=False, soft_wrap=True)
        dataset, truth = read_data(project, faults)
        assert truth is not None
    show_dataset(dataset)
    console.print(f"\n{project.model.describe(dataset)}\n", markup=False, soft_wrap=True)
    posterior = sample(project.model, dataset, warmup=WARMUP, draws=DRAWS, seed=seed)
    links = estimate(posterior)
    posterior.save(out / "posterior.nc")
    posterior.pairs().write_csv(out / "pairs.csv")
    links.pairs().write_csv(out / "links.csv")
    _show_pairs(posterior, dataset)
    console.print(f"\n{posterior.diagnose()}", markup=False, soft_wrap=True)
    _show_scores(posterior, dataset, truth)
    console.print(
        f"\nIn {out}: links.csv (the links), pairs.csv (every pair with its probability), posterior.nc (all draws).\n"
        "Next:\n"
        "  tielink check a.csv b.csv --ties ta.csv tb.csv --string name    look at data of your own\n"
        "  tielink sample a.csv b.csv --ties ta.csv tb.csv --string name   sample their posterior\n"
        "  tielink estimate posterior.nc --out links.csv                   decide on links",
        markup=False,
        soft_wrap=True,
    )


def _show_pairs(posterior: Posterior, dataset: Dataset) -> None:
    """Print the pairs that are most in doubt, with what their profiles say."""
    from rich.markup import escape
    from rich.table import Table

    from tielink.cli.show import console

    found = posterior.pair_probabilities
    table = Table("murmur", "clipper", "usernames", "places", title="Pairs most in doubt", title_justify="left")
    table.add_column("probability", justify="right")
    doubt = sorted(range(len(found.pairs)), key=lambda place: abs(found.probability[place] - 0.5))
    for place in sorted(doubt[:8], key=lambda place: -found.probability[place]):
        pair = [int(record) for record in found.pairs[place]]
        cells = [str(dataset.records[record][1]) for record in pair]
        for column in (dataset.columns["username"], dataset.columns["place"]):
            codes = [int(column.codes[record]) for record in pair]
            cells.append(" / ".join("–" if code < 0 else column.values[code] for code in codes))
        table.add_row(*map(escape, cells), f"{found.probability[place]:.2f} ± {found.error[place]:.2f}")
    console.print(table)


def _show_scores(posterior: Posterior, dataset: Dataset, truth: Linkage) -> None:
    """Score the links beside every baseline: the example's truth is known, and was not used."""
    from tielink.baselines import every
    from tielink.cli.evaluate import show_scores
    from tielink.evaluation.evaluate import evaluate

    rows = {"tielink": evaluate(posterior, truth)}
    rows |= {name: evaluate(answer, truth, anchors=dataset.anchors) for name, answer in every(dataset).items()}
    show_scores(rows, anchored=True)
