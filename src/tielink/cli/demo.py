"""`tielink demo`: the shipped example, end to end."""

from __future__ import annotations

import shutil
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.posterior.posterior import Posterior

__all__ = ["demo"]

WARMUP, DRAWS = 300, 300
"""Enough for a first look at the example; `tielink link` does more by default."""


def demo(
    out: Annotated[Path, typer.Option("--out", help="The folder to write results to.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The same seed gives the same result.", min=0)] = 1,
) -> None:
    """Link the shipped example: accounts on two made-up networks, with usernames, places and ties."""
    from tielink.cli.link import run_link
    from tielink.cli.show import console
    from tielink.project import Project
    from tielink.report.folder import check_folder

    check_folder(out)
    data = _copy_example(out / "data")
    console.print(f"The example, copied to {data}: two made-up networks and a truth that is used for scoring only.\n")
    faults = Faults()
    project = Project.read(data / "project.toml", faults)
    result = run_link(project, faults, out, {"warmup": WARMUP, "draws": DRAWS, "seed": seed})
    assert result.truth is not None
    _show_pairs(result.posterior, result.dataset)
    _show_scores(result.posterior, result.dataset, result.truth)
    console.print(
        f"\nOpen {out / 'report.html'} in a browser. Next:\n"
        "  tielink check a.csv b.csv --ties ta.csv tb.csv                   look at data of your own\n"
        "  tielink link a.csv b.csv --ties ta.csv tb.csv --out result       link them, with a report\n"
        f"  tielink select {out / 'project.toml'} --dimensions 1-3           which latent space suits the ties?",
        markup=False,
        soft_wrap=True,
    )


def _copy_example(folder: Path) -> Path:
    """Copy the example beside its result, so that the project file there can be run again and the data looked at."""
    folder.mkdir(exist_ok=True)
    with as_file(files("tielink") / "example") as example:
        for path in example.iterdir():
            if path.suffix in (".csv", ".toml"):
                shutil.copyfile(path, folder / path.name)
    return folder


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
