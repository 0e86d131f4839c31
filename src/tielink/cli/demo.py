"""`tielink demo`: the shipped example, end to end."""

from __future__ import annotations

import shutil
import sys
from functools import partial
from importlib.resources import as_file, files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.faults import Faults
from tielink.files import write_whole

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.linkage import Linkage
    from tielink.posterior.posterior import Posterior

__all__ = ["demo"]


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
    result = run_link(project, faults, out, {"seed": seed})
    assert result.truth is not None
    _show_scores(result.posterior, result.dataset, result.truth)
    command = "tielink" if shutil.which("tielink") else sys.argv[0]
    console.print(
        f"\nOpen {out / 'report.html'} in a browser. Next, with files of your own:\n"
        f"  {command} check a.csv b.csv                    look at them first\n"
        f"  {command} link a.csv b.csv --out result        link them, with a report\n"
        f"  {command} dedupe records.csv --out result      find duplicates in one file",
        markup=False,
        soft_wrap=True,
    )


def _copy_example(folder: Path) -> Path:
    """Copy the example beside its result, so that the project file there can be run again and the data looked at."""
    folder.mkdir(exist_ok=True)
    with as_file(files("tielink") / "example") as example:
        for path in example.iterdir():
            if path.suffix in (".csv", ".toml"):
                with path.open("rb") as original:
                    write_whole(folder / path.name, partial(shutil.copyfileobj, original))
    return folder


def _show_scores(posterior: Posterior, dataset: Dataset, truth: Linkage) -> None:
    """Score the links beside every baseline: the example's truth is known, and was not used."""
    from tielink.baselines import every
    from tielink.cli.evaluate import show_scores
    from tielink.evaluation.evaluate import evaluate

    rows = {"tielink": evaluate(posterior, truth)}
    rows |= {name: evaluate(answer, truth, anchors=dataset.anchors) for name, answer in every(dataset).items()}
    show_scores(rows, anchored=True)
