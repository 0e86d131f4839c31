"""Data that changed since they were linked: new and corrected records and ties, and records that are withdrawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from tielink.data.dataset import Given
from tielink.data.frames import Table
from tielink.data.sources import Sources
from tielink.data.spreadsheet import write_table
from tielink.faults import Faults, listed

__all__ = ["changed_data", "write_changed"]

Tables = Mapping[str, Table]


def changed_data(given: Given, records: Tables, ties: Tables, withdrawn: Table | None, faults: Faults) -> Given:
    """Return the data with new rows added, rows of a known id replaced, and withdrawn records and their ties gone."""
    gone = {} if withdrawn is None else _withdrawn(withdrawn, list(given.records), faults)
    new_records, new_ties = dict(given.records), dict(given.ties)
    for name, old in given.records.items():
        key = _id_column(old, given, name)
        frame = old.frame
        if name in records:
            frame = _joined(frame, records[name], faults).unique(subset=[key], keep="last", maintain_order=True)
        missing = sorted(gone.get(name, set()) - {str(value) for value in frame[key].to_list()})
        if missing:
            faults.error("--withdraw", f"{name} has no record {listed(missing)}.", "Check the ids.")
        frame = frame.filter(
            ~pl.Series([str(value) in gone.get(name, ()) for value in frame[key].to_list()], dtype=pl.Boolean)
        )
        new_records[name] = Table(frame, old.where)
        if name in ties or (name in gone and name in given.ties):
            directed = given.directed.get(name) if isinstance(given.directed, Mapping) else given.directed
            found = _ties(given.ties.get(name), ties.get(name), gone.get(name, set()), faults)
            new_ties[name] = found if directed else _each_once(found)
    return replace(given, records=new_records, ties=new_ties)


def _id_column(table: Table, given: Given, name: str) -> str:
    wanted = given.id.get(name) if isinstance(given.id, Mapping) else given.id
    columns = table.frame.columns
    return wanted if wanted in columns else "id" if "id" in columns else columns[0]


def _joined(old: pl.DataFrame, new: Table, faults: Faults) -> pl.DataFrame:
    unknown = [name for name in new.frame.columns if name not in old.columns]
    if unknown or not set(new.frame.columns) & set(old.columns):
        what = f"has the columns {listed(unknown, 5)}, which the records had not."
        faults.error(new.where, what, f"Name them as before: {listed(old.columns, 9)}.")
        return old
    try:
        return pl.concat([old, new.frame.cast({name: old.schema[name] for name in new.frame.columns})], how="diagonal")
    except pl.exceptions.PolarsError as error:
        faults.error(new.where, f"does not fit the records: {str(error).partition(chr(10))[0]}", "Write values alike.")
        return old


def _ties(old: Table | None, new: Table | None, gone: set[str], faults: Faults) -> Table:
    parts = []
    for table in (old, new):
        if table is not None and len(table.frame.columns) < 2:
            faults.error(table.where, "has fewer than two columns.", "Give source and target.")
        elif table is not None:
            names = (
                ["source", "target"] if {"source", "target"} <= set(table.frame.columns) else table.frame.columns[:2]
            )
            ends = table.frame.select(pl.col(name).cast(pl.String) for name in names)
            parts.append(ends.rename(dict(zip(ends.columns, ("source", "target"), strict=True))))
    every = pl.concat(parts).unique(maintain_order=True) if parts else pl.DataFrame({"source": [], "target": []})
    where = next(table.where for table in (new, old) if table is not None)
    return Table(every.filter(~pl.col("source").is_in(list(gone)) & ~pl.col("target").is_in(list(gone))), where)


def _each_once(ties: Table) -> Table:
    """Leave out ties that are there the other way round."""
    ends = {tuple(sorted(map(str, row))): row for row in ties.frame.iter_rows()}
    return Table(pl.DataFrame(list(ends.values()), schema=["source", "target"], orient="row"), ties.where)


def _withdrawn(table: Table, files: list[str], faults: Faults) -> dict[str, set[str]]:
    columns = table.frame.columns
    if not {"file", "id"} <= set(columns) and not (len(files) == 1 and "id" in columns):
        faults.error(table.where, f"has the columns {listed(columns, 5)}.", "Give columns file and id.")
        return {}
    found: dict[str, set[str]] = {}
    for row in table.frame.iter_rows(named=True):
        file = str(row.get("file", files[0]))
        if file not in files:
            faults.error(table.where, f"names the file {file!r}.", f"The files are {listed(files, 8)}.")
        found.setdefault(file, set()).add(str(row["id"]))
    return found


def write_changed(given: Given, sources: Sources, changed: set[str], folder: Path) -> Sources:
    """Write the files that changed beside a result, and return sources that name them."""
    moved = sources.moved(folder)
    data = folder / "data"
    data.mkdir(parents=True, exist_ok=True)
    for place, (name, table) in enumerate(given.records.items()):
        if name not in changed:
            continue
        write_table(data / f"records_{place + 1}.csv", table.frame, exact=True)
        moved.records[name] = f"data/records_{place + 1}.csv"
        moved.encodings[name] = "utf-8"
        if name in given.ties:
            ties = given.ties[name]
            write_table(data / f"ties_{place + 1}.csv", ties.frame, exact=True)
            moved.ties[name] = f"data/ties_{place + 1}.csv"
    return moved
