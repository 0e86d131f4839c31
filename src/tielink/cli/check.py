"""`tielink check`: whether the data are what they should be, and what is in them."""

from __future__ import annotations

import typer

from tielink.cli import inputs as given

__all__ = ["check"]


def check(
    inputs: given.Inputs,
    ties: given.Ties = None,
    string: given.StringFields = None,
    categorical: given.CategoricalFields = None,
    anchors: given.Anchors = None,
    nonmatches: given.Nonmatches = None,
    truth: given.Truth = None,
    id_column: given.IdColumn = None,
    directed: given.DirectedTies = None,
    drop_faulty_ties: given.DropFaultyTies = False,
    missing: given.Missing = None,
    encoding: given.Encoding = None,
) -> None:
    """Check data and summarise them: every fault at once, exit code 2 if there is one.

    Examples: tielink check project.toml, or
    tielink check a.csv b.csv --ties ta.csv --ties tb.csv --string username --categorical city --anchors known.csv
    """
    from tielink.cli.show import console, show_dataset, show_said
    from tielink.data.dataset import Dataset
    from tielink.faults import Faults, InputError
    from tielink.model.problem import Problem

    faults = Faults()
    project = given.project_from(
        inputs, ties=ties, string=string, categorical=categorical, anchors=anchors, nonmatches=nonmatches,
        truth=truth, id_column=id_column, directed=directed, drop_faulty_ties=drop_faulty_ties, missing=missing,
        encoding=encoding, faults=faults,
    )  # fmt: skip
    with console.status("Reading and checking …"):
        dataset = Dataset.assembled(*project.sources.load(faults))
        matches = project.sources.read_truth(dataset, faults)
        if not faults.errors:
            try:
                Problem.compile(project.model, dataset)
            except InputError as error:
                faults.extend(error.faults)
    faults.raise_errors()
    show_said(dataset.said)
    show_dataset(dataset)
    if matches is not None:
        console.print(f"Truth (for scoring only): {len(matches.pair_numbers):,} matches, {matches.persons:,} persons.")
    console.print("\n[bold]The model[/]")
    console.print(project.model.describe(dataset), markup=False, soft_wrap=True)
    warnings = sum(fault.severity == "warning" for fault in dataset.said)
    verdict = f"with {warnings} warning{'s' if warnings != 1 else ''}" if warnings else "no faults"
    console.print(f"\n[bold green]The data can be used: {verdict}.[/]")
    raise typer.Exit
