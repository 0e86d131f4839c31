"""`tielink check`: whether the data are what they should be, and what is in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tielink.cli.inputs import read_data, takes_data
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.project import Project

__all__ = ["check"]


@takes_data
def check(project: Project, faults: Faults) -> None:
    """Check data and summarise them: every fault at once, exit code 2 if there is one.

    Examples: tielink check project.toml, or
    tielink check a.csv b.csv --ties ta.csv tb.csv --string username --categorical city --anchors known.csv
    """
    from tielink.cli.show import console, show_dataset, show_said

    dataset, truth = read_data(project, faults)
    show_said(dataset.said)
    show_dataset(dataset)
    if truth is not None:
        console.print(f"Truth (for scoring only): {len(truth.pair_numbers):,} matches, {truth.persons:,} persons.")
    console.print("\n[bold]The model[/]")
    console.print(project.model.describe(dataset), markup=False, soft_wrap=True)
    warnings = sum(fault.severity == "warning" for fault in dataset.said)
    verdict = f"with {warnings} warning{'s' if warnings != 1 else ''}" if warnings else "no faults"
    console.print(f"\n[bold green]The data can be used: {verdict}.[/]")
