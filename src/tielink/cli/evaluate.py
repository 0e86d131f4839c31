"""`tielink evaluate`: links or a posterior against a truth, beside the baselines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tielink.cli.decisions import ProjectFile, is_posterior, pairs_file, project_data, table_file
from tielink.cli.inputs import AllowOutside
from tielink.faults import Faults, refuse

if TYPE_CHECKING:
    from tielink.evaluation.evaluate import Evaluation

__all__ = ["evaluate", "show_scores"]


def evaluate(
    source: Annotated[
        Path | None, typer.Argument(help="A posterior (.nc), or a table of links. Not needed with --baselines.")
    ] = None,
    truth: Annotated[
        Path | None,
        typer.Option("--truth", help="The true matches: id_a, id_b; or id, cluster. [default: the project's]"),
    ] = None,
    project: ProjectFile = None,
    probabilities: Annotated[
        Path | None,
        typer.Option("--probabilities", help="Beside links: a posterior, or a table of probabilities."),
    ] = None,
    baselines: Annotated[bool, typer.Option("--baselines", help="Print all baselines too (needs --project).")] = False,
    resamples: Annotated[int, typer.Option(help="Bootstrap resamples for the 95 % intervals.", min=0)] = 500,
    seed: Annotated[int, typer.Option(help="The same seed gives the same intervals.", min=0)] = 0,
    allow_outside: AllowOutside = False,
) -> None:
    """Score links or a posterior against the truth: recall, precision, average precision, calibration, with intervals.

    Examples: tielink evaluate posterior.nc --truth truth.csv, or
    tielink evaluate links.csv --project project.toml --baselines.
    """
    _check(source, truth, project, baselines)
    from tielink.cli.show import console
    from tielink.data.linkage import Linkage
    from tielink.evaluation.evaluate import evaluate as score
    from tielink.posterior.posterior import Posterior

    data, known = (None, None) if project is None else project_data(project, allow_outside)
    links: Posterior | Linkage | None = None
    if source is not None:
        if is_posterior(source):
            links = Posterior.load(source)
        else:
            assert data is not None
            links = pairs_file(source, data.records)
    records = links.records if data is None and links is not None else data.records if data is not None else None
    assert records is not None
    true = known if truth is None else pairs_file(truth, records)
    if true is None:
        refuse(str(project), "names no truth.", "Give --truth truth.csv.")
    chances: Any = None
    if probabilities is not None:
        chances = Posterior.load(probabilities) if is_posterior(probabilities) else table_file(probabilities)
    settings: dict[str, Any] = {"resamples": resamples, "seed": seed, "anchors": None if data is None else data.anchors}
    rows: dict[str, Evaluation] = {}
    if links is not None and source is not None:
        rows[source.name] = score(links, true, probabilities=chances, **settings)
        console.print(str(rows[source.name]), markup=False, soft_wrap=True)
    if baselines:
        from tielink.baselines import every

        assert data is not None
        with console.status("Running the baselines …"):
            rows |= {name: score(answer, true, **settings) for name, answer in every(data).items()}
        show_scores(rows, anchored=len(data.anchors.pair_numbers) > 0)


def _check(source: Path | None, truth: Path | None, project: Path | None, baselines: bool) -> None:
    faults = Faults()
    if source is None and not baselines:
        faults.error("tielink evaluate", "there is nothing to score.", "Name a posterior or links, or say --baselines.")
    if project is None and source is not None and not is_posterior(source):
        faults.error(str(source), "a table of links does not say who the records are.", "Give --project project.toml.")
    if project is None and baselines:
        faults.error("--baselines", "need the data.", "Give --project project.toml.")
    if project is None and truth is None:
        faults.error("--truth", "is not given.", "Give a table of the true matches, or a project that names one.")
    faults.raise_errors()


def show_scores(rows: dict[str, Evaluation], *, anchored: bool) -> None:
    """Print one line a method, the model first."""
    from rich.markup import escape
    from rich.table import Table

    from tielink.cli.show import console

    title = "Scores, anchors left out" if anchored else "Scores"
    table = Table(title=title, title_justify="left", title_style="bold", box=None, padding=(0, 2, 0, 0), pad_edge=False)
    table.add_column("method", no_wrap=True)
    for heading in ("links", "correct", "recall", "precision", "F1 (95 % interval)", "AP"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, found in rows.items():
        counts = found.without_anchors
        plain = ["–" if math.isnan(score) else f"{float(score):.2f}" for score in (found.recall, found.precision)]
        ranked = "–" if math.isnan(found.average_precision) else f"{float(found.average_precision):.2f}"
        table.add_row(escape(name), f"{counts.links:,}", f"{counts.correct:,}", *plain, str(found.f1), ranked)
    console.print()
    console.print(table)
