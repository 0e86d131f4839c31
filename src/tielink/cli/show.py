"""What the commands print: faults, notes and tables."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tielink.faults import Fault

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset

__all__ = ["console", "show_dataset", "show_faults", "show_said"]

console = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

STYLES = {"error": "[bold red]error[/]", "warning": "[bold yellow]warning[/]", "note": "[cyan]note[/]"}


def _line(fault: Fault) -> str:
    advice = f" [dim]{escape(fault.do)}[/]" if fault.do else ""
    return f"  {STYLES[fault.severity]}  [bold]{escape(fault.where)}[/]: {escape(fault.what)}{advice}"


def show_faults(faults: Iterable[Fault]) -> None:
    """Print every fault of an input that cannot be used, on standard error."""
    faults = tuple(faults)
    count = sum(fault.severity == "error" for fault in faults)
    errors.print(f"[bold red]The input cannot be used: {count} error{'s' if count != 1 else ''}.[/]")
    for fault in faults:
        errors.print(_line(fault), soft_wrap=True)


def show_said(said: Iterable[Fault]) -> None:
    """Print how the input was understood, and warnings."""
    for fault in said:
        console.print(_line(fault), soft_wrap=True)


def _number(value: float, digits: int) -> str:
    return "–" if math.isnan(value) else f"{value:.{digits}f}"


def show_dataset(dataset: Dataset) -> None:
    """Print the data in two tables: networks, and profile fields."""
    table = Table("file", title="Files", title_justify="left", title_style="bold")
    networks = [dataset.figures(name) for name in dataset.files]
    of_networks = ("ties", "isolated", "density", "clustering", "assortativity") if any(networks) else ()
    for heading in ("records", *of_networks):
        table.add_column(heading, justify="right")
    for name, size, figures in zip(dataset.files, dataset.records.sizes, networks, strict=True):
        cells = [name, f"{size:,}"]
        if figures is not None:
            cells += [f"{figures.ties:,}", f"{figures.isolated:,}", _number(figures.density, 4)]
            cells += [_number(figures.clustering, 4), _number(figures.assortativity, 4)]
        table.add_row(*map(escape, cells))
    console.print(table)
    if dataset.columns:
        _show_fields(dataset)
    pairs, apart = len(dataset.anchors.pair_numbers), len(dataset.nonmatches)
    console.print(f"Anchors (known matches): {pairs:,}. Known non-matches: {apart:,}.")


def _show_fields(dataset: Dataset) -> None:
    table = Table("field", "kind", title="Profile fields", title_justify="left", title_style="bold")
    table.add_column("distinct", justify="right")
    for name in dataset.files:
        table.add_column(f"missing in {escape(name)}", justify="right")
    table.add_column("most frequent")
    for name, column in dataset.columns.items():
        missing = []
        for number, size in enumerate(dataset.records.sizes):
            gone = int((column.codes[dataset.records.file_of == number] < 0).sum())
            missing.append(f"{gone:,} ({gone / size:.0%})")
        counts = column.counts()
        top = int(counts.argmax())
        value = column.values[top]
        short = value if len(value) <= 24 else value[:23] + "…"
        cells = [name, column.field.kind, f"{len(counts):,}", *missing, f"{short} ({counts[top]:,}×)"]
        table.add_row(*map(escape, cells))
    console.print(table)
