"""`tielink estimate`: from a posterior, or any table of pair probabilities, to links."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from tielink.cli.decisions import ProjectFile, is_posterior, project_data, table_file
from tielink.cli.inputs import AllowOutside
from tielink.cli.outputs import TABLE, ExactText, check_out
from tielink.cli.worded import read_worded
from tielink.faults import Faults

__all__ = ["estimate"]


def estimate(
    source: Annotated[Path, typer.Argument(help="A posterior (.nc), or a table of pairs with a column 'probability'.")],
    out: Annotated[Path, typer.Option("--out", help="Where to write the links (CSV or Parquet).")] = Path("links.csv"),
    loss: Annotated[
        str,
        typer.Option(help="binder, mpmms, shared_mpmms or sadinle, with costs: binder:false_link=2,missed_link=1."),
    ] = "binder",
    project: ProjectFile = None,
    review: Annotated[
        Path | None,
        typer.Option("--review", help="With sadinle: where undecided pairs go. [default: review.csv]"),
    ] = None,
    exact_text: ExactText = False,
    allow_outside: AllowOutside = False,
) -> None:
    """Decide who is whom: write the links that minimise an expected loss.

    Examples: tielink estimate posterior.nc --loss binder:false_link=2 --out links.csv, or
    tielink estimate pairs.csv --project project.toml, for probabilities that another tool produced.
    """
    from tielink.estimation.losses import LOSSES, Sadinle

    faults = Faults()
    chosen = read_worded(loss, LOSSES, "--loss", faults)
    decides_all = not isinstance(chosen, Sadinle)
    if not is_posterior(source) and project is None:
        faults.error(str(source), "a table of pairs does not say who the records are.", "Give --project project.toml.")
    if review is not None and decides_all:
        faults.error("--review", f"the loss {loss} leaves nothing undecided.", "Leave it out, or say --loss sadinle.")
    faults.raise_errors()
    review = out.with_name("review.csv") if review is None and not decides_all else review
    for path, other in ((out, review), (review, out)):
        if path is not None:
            check_out(path, TABLE, [source, *([] if other is None else [other])])
    from tielink.cli.show import console
    from tielink.data.frames import to_polars
    from tielink.data.spreadsheet import write_table
    from tielink.estimation.estimate import estimate as decide
    from tielink.estimation.sadinle import Decision
    from tielink.posterior.posterior import Posterior

    if is_posterior(source):
        found = decide(Posterior.load(source), chosen)  # type: ignore[call-overload]
    else:
        assert project is not None
        data, _ = project_data(project, allow_outside)
        found = decide(table_file(source), chosen, data=data)  # type: ignore[call-overload]
    links = found.linkage if isinstance(found, Decision) else found
    write_table(out, to_polars(links.pairs()), exact=exact_text)
    console.print(f"{len(links.pair_numbers):,} links, {links.persons:,} persons. Written to {out}.", markup=False)
    if isinstance(found, Decision):
        assert review is not None
        write_table(review, to_polars(found.undecided), exact=exact_text)
        console.print(f"{len(found.review.pairs):,} pairs for a person to look at: {review}.", markup=False)
