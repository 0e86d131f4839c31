"""Simulated data as a project on disk that `tielink check` and `tielink link` take."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl

from tielink.data.columns import MISSING
from tielink.data.dataset import Dataset
from tielink.data.sources import Sources
from tielink.faults import Faults, listed
from tielink.model.spec import Model
from tielink.project import Project
from tielink.simulate.prior import Simulated

__all__ = ["write_project"]


def write_project(simulated: Simulated, folder: str | Path, model: Model | None = None) -> Path:
    """Write records, ties, anchors, truth and a project file.

    Parameters
    ----------
    simulated
        The data and their truth.
    folder
        Where to write; it is made if it does not exist.
    model
        The model that the project file names; by default `Model()`.

    Returns
    -------
    Path
        The path of the project file.
    """
    folder, dataset = Path(folder), simulated.dataset
    _check_names(dataset.files)
    folder.mkdir(parents=True, exist_ok=True)
    sources = Sources(folder, {}, fields=dataset.fields, truth="truth.csv")
    for number, name in enumerate(dataset.files):
        sources.records[name] = f"{name}.csv"
        _records(dataset, number).write_csv(folder / f"{name}.csv")
        edges = dataset.ties[name]
        if edges is not None:
            ids = pl.Series(dataset.records.ids[number])
            sources.ties[name] = f"{name}_ties.csv"
            pl.DataFrame({"source": ids[edges[:, 0]], "target": ids[edges[:, 1]]}).write_csv(
                folder / f"{name}_ties.csv"
            )
    simulated.truth.pairs().write_csv(folder / "truth.csv")
    if len(dataset.anchors.pair_numbers):
        sources.anchors = ["anchors.csv"]
        dataset.anchors.pairs().write_csv(folder / "anchors.csv")
    path = folder / "project.toml"
    Project(sources, model if model is not None else Model()).write(path)
    return path


def _check_names(files: tuple[str, ...]) -> None:
    """Refuse names that are no plain file names, or that would make two files the same."""
    faults = Faults()
    for name in files:
        if not re.fullmatch(r"[\w-]+", name):
            faults.error("files", f"{name!r} cannot name a file.", "Use letters, digits, _ and -.")
    made = [*files, *(f"{name}_ties" for name in files), "truth", "anchors"]
    twice = sorted({name for name in made if made.count(name) > 1})
    if twice:
        faults.error("files", f"{listed(twice)}.csv would be written twice.", "Choose other names.")
    faults.raise_errors()


def _records(dataset: Dataset, number: int) -> pl.DataFrame:
    mine = dataset.records.file_of == number
    columns = {
        name: [None if code == MISSING else column.values[code] for code in column.codes[mine]]
        for name, column in dataset.columns.items()
    }
    return pl.DataFrame({"id": dataset.records.ids[number], **columns})
