"""Checked data: records with profiles, ties between them, and what is known of who is whom."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Any, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.columns import Column
from tielink.data.frames import Table, frame_kind, is_frame, to_polars
from tielink.data.guess import are_shared
from tielink.data.known import read_known
from tielink.data.linkage import Linkage
from tielink.data.profile_columns import profile_columns
from tielink.data.records import Records
from tielink.data.shared_columns import rename_same, say_unshared
from tielink.data.statistics import NetworkFigures, network_figures
from tielink.data.ties import Directed, FaultyTies, graph_nodes, is_graph, read_ties
from tielink.faults import Fault, Faults, listed, nearest
from tielink.fields import Field
from tielink.notebook import html_view

__all__ = ["Dataset", "Given"]


@dataclass
class Given:
    """What the user gave, before it is checked: one entry a file in each mapping."""

    records: dict[str, Table]
    ties: dict[str, Any]
    id: str | Mapping[str, str] | None = None
    fields: Mapping[str, Field] | None = None
    anchors: Any = ()
    nonmatches: Any = ()
    answers: Any = ()
    directed: Directed | Mapping[str, Directed] | None = None
    faulty_ties: FaultyTies = "refuse"
    missing: Sequence[str] | None = None
    """Texts that mean a missing value besides the usual ones (`columns.USUALLY_MISSING`); none of either if empty."""
    ignore: Sequence[str] = ()
    same: Mapping[str, str | Sequence[str]] = field(default_factory=dict)
    guess: bool = False
    """Whether columns that `fields` does not name are guessed; without `fields` all are."""
    frame_kind: str = "polars"
    duplicates: bool = False
    unreadable: Sequence[str] = field(default_factory=list)
    """Files whose table could not be read; already reported, so nothing that leans on them is checked."""


@dataclass(frozen=True, eq=False)
class Dataset:
    """Files of records, ready for a model.

    Make one with `from_frames` or `read`.
    """

    records: Records
    ties: Mapping[str, NDArray[np.int64] | None]
    """For each file its ties as pairs i < i' of the file's own record numbers; None without a network."""
    columns: Mapping[str, Column]
    anchors: Linkage
    nonmatches: NDArray[np.int64]
    said: tuple[Fault, ...] = ()
    """How the input was understood, and warnings."""
    frame_kind: str = "polars"
    unused: tuple[str, ...] = ()
    """Columns that are no field: not declared, ignored, or nothing to link by."""
    before_answers: Linkage | None = None
    """The anchors without matches that a person was asked about; None where nobody was asked.

    Anchors are known because they match and say nothing about the match rate. What was asked is like what was drawn:
    it counts.
    """

    @property
    def volunteered(self) -> Linkage:
        """The anchors that nobody was asked about."""
        return self.anchors if self.before_answers is None else self.before_answers

    @classmethod
    def from_frames(
        cls,
        records: Mapping[str, Any],
        ties: Mapping[str, Any] | None = None,
        *,
        id: str | Mapping[str, str] | None = None,  # noqa: A002
        fields: Mapping[str, Field] | None = None,
        anchors: Any = (),
        nonmatches: Any = (),
        answers: Any = (),
        directed: Directed | Mapping[str, Directed] | None = None,
        faulty_ties: FaultyTies = "refuse",
        missing: Sequence[str] | None = None,
        ignore: Sequence[str] = (),
        same: Mapping[str, str | Sequence[str]] | None = None,
        duplicates: bool = False,
    ) -> Self:
        """Make a data set from frames and graphs.

        Parameters
        ----------
        records
            For each file (in order) a pandas, polars or Arrow frame with one row a record; or a networkx or
            igraph graph or a scipy sparse matrix, whose nodes are the records and whose edges are the ties.
        ties
            For each file that has a network: a frame (columns `source, target`, or the first two), a graph, a
            sparse matrix in the order of the records, or a list of id pairs.
        id
            The id column: one name, or one for each file. By default `id`, or else the first column.
        fields
            What columns mean: `{"username": String(), "city": Categorical()}`. Other columns are not used. By
            default every column is guessed; `said` tells how.
        anchors, nonmatches
            Known matches and known non-matches: pairs of (file, id), or a frame; see `Linkage.from_pairs`.
        answers
            What people answered: files that `tielink review` wrote, or as `Posterior.given` takes them.
        directed
            For directed ties: "any" or "mutual", for all files or by file.
        faulty_ties
            "refuse", or "drop" to leave out (and count) self-ties, copies and ties to unknown ids.
        missing
            Texts that mean a missing value, besides empty cells and the usual ones (`NA`, `null`, `-` …). An empty list
            for empty cells only.
        ignore
            Columns not to use, where the others are guessed.
        same
            Columns that mean the same by different names: `{"vorname": "firstname"}`. The first name is used.
        duplicates
            Whether one file may hold several records of a person, so that anchors may lie inside it. A single file may.

        Raises
        ------
        InputError
            With every fault of the input.
        """
        faults = Faults()
        networks = dict(ties or {})
        tables = {}
        kind = "polars"
        anchors, nonmatches = (() if pairs is None else pairs for pairs in (anchors, nonmatches))
        for name in [
            *records,
            *(name for name, graph in networks.items() if is_graph(graph) and name not in records),
        ]:
            source = records.get(name, networks.get(name))
            where = f"records[{name!r}]"
            if is_graph(source):
                networks.setdefault(name, source)
                column = id if isinstance(id, str) else (id or {}).get(name, "id")
                tables[name] = Table(graph_nodes(source, column), where)
            elif is_frame(source):
                try:
                    tables[name] = Table(to_polars(source), where)
                    kind = frame_kind(source) if len(tables) == 1 else kind
                except ValueError as error:
                    faults.error(where, f"{error}.", "Rename or remove the copies.")
            else:
                faults.error(where, f"is a {type(source).__name__}.", "Give a data frame or a graph.")
        given = Given(
            tables, networks, id, fields, anchors, nonmatches, answers, directed, faulty_ties, missing,
            [ignore] if isinstance(ignore, str) else ignore, same or {}, frame_kind=kind, duplicates=duplicates,
            unreadable=[name for name in records if name not in tables],
        )  # fmt: skip
        return cls.checked(given, faults)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read the data that a project file names; see the guide for its form."""
        from tielink.data.sources import Sources

        return cls.checked(*Sources.read(path).load())

    @classmethod
    def checked(cls, given: Given, faults: Faults) -> Self:
        """Check everything that was given; raise one error with all faults, those already found included."""
        dataset = cls.assembled(given, faults)
        faults.raise_errors()
        return dataset

    @classmethod
    def assembled(cls, given: Given, faults: Faults) -> Self:
        """Put everything together as far as it goes; with errors among the faults the result is not to be used."""
        _check_settings(given, faults)
        given = replace(given, records=rename_same(given.records, given.same, faults))
        tables, ids = _ids(given, faults)
        for name in given.ties.keys() - tables.keys() - set(given.unreadable):
            faults.error(f"ties[{name!r}]", "there is no file of that name.", nearest(str(name), tables))
        ties = {name: _ties_of(name, given, ids[name], faults) for name in tables}
        columns = profile_columns(given, tables, faults)
        records = Records({name: _hashable(ids[name]) for name in tables})
        if not faults.errors and len(tables) > 1:
            say_unshared(columns, tables, sum(edges is not None for edges in ties.values()) > 1, faults)
        if given.unreadable:
            given = replace(given, anchors=[], nonmatches=[], answers=())
        known, apart, before = read_known(
            records, given.anchors, given.nonmatches, faults, given.frame_kind, given.duplicates, given.answers
        )
        unused = {name: None for table in tables.values() for name in table.frame.columns if name not in columns}
        asked = before if before != known else None
        return cls(records, ties, columns, known, apart, faults.said, given.frame_kind, tuple(unused), asked)

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files."""
        return self.records.files

    @property
    def fields(self) -> dict[str, Field]:
        """What each column was declared or guessed to be."""
        return {name: column.field for name, column in self.columns.items()}

    def figures(self, file: str) -> NetworkFigures | None:
        """Describe one file's network; None when it has none."""
        ties = self.ties[file]
        size = self.records.sizes[self.files.index(file)]
        return None if ties is None else network_figures(size, ties)

    def __repr__(self) -> str:
        parts = [
            f"{name}: {size:,} records, " + ("no network" if edges is None else f"{len(edges):,} ties")
            for (name, edges), size in zip(self.ties.items(), self.records.sizes, strict=True)
        ]
        fields = ", ".join(f"{name} ({field.kind})" for name, field in self.fields.items()) or "none"
        unused = f"; columns not used: {', '.join(self.unused)}" if self.unused else ""
        anchors = len(self.anchors.pair_numbers)
        return f"Dataset({'; '.join(parts)}; fields: {fields}{unused}; anchors: {anchors:,})"

    def _repr_html_(self) -> str:
        rows = [
            (name, f"{size:,}", "no network" if edges is None else f"{len(edges):,}")
            for (name, edges), size in zip(self.ties.items(), self.records.sizes, strict=True)
        ]
        texts = [f"Fields: {', '.join(f'{name} ({field.kind})' for name, field in self.fields.items()) or 'none'}."]
        if self.unused:
            texts.append(f"Columns not used: {', '.join(self.unused)}.")
        texts.append(f"Known matches (anchors): {len(self.anchors.pair_numbers):,}.")
        texts += [f"Warning: {fault}" for fault in self.said if fault.severity == "warning"]
        return html_view(f"Dataset of {len(self.records):,} records", ("file", "records", "ties"), rows, texts)


def _ids(given: Given, faults: Faults) -> tuple[dict[str, Table], dict[str, pl.Series]]:
    """Find and check the id column of every file."""
    if not given.records and not given.unreadable:
        faults.error("records", "no file is given.", "Give at least one.")
    ids = {}
    for name, table in given.records.items():
        wanted = given.id.get(name) if isinstance(given.id, Mapping) else given.id
        columns = table.frame.columns
        if isinstance(wanted, str) and wanted not in columns:
            faults.error(table.where, f"has no id column {wanted!r}.", nearest(wanted, columns))
        if not columns or not table.frame.height:
            faults.error(table.where, "has no records.", "Give at least one row below the header.")
        column = wanted if wanted in columns else "id" if "id" in columns else next(iter(columns), "id")
        if wanted is None and column != "id":
            faults.note(table.where, f"no column 'id': ids are taken from the first column, {column!r}.")
        ids[name] = table.frame[column] if columns else pl.Series(column, [], dtype=pl.String)
        _check_ids(ids[name], table, faults)
    tables = {
        name: Table(table.frame.drop(_not_declared(ids[name].name, given), strict=False), table.where, table.rows)
        for name, table in given.records.items()
    }
    if not any(ids[name].name in (given.fields or {}) for name in ids) and are_shared(
        [[str(key) for key in column.to_list()] for column in ids.values()]
    ):
        column = next(iter(ids.values())).name
        faults.warning(
            f"ids ({column!r})",
            "are shared between files. Ids name records in their own file and are not compared.",
            f"If the same id means the same person, say {faults.declaration(column, 'string')}.",
        )
    return tables, ids


def _not_declared(column: str, given: Given) -> list[str]:
    """Return the id column, to be left out of the fields unless it is declared to be one."""
    return [] if isinstance(given.fields, Mapping) and column in given.fields else [column]


def _hashable(ids: pl.Series) -> list[Any]:
    return [key if isinstance(key, Hashable) else str(key) for key in ids.to_list()]


def _check_settings(given: Given, faults: Faults) -> None:
    """Check the settings that are not data: names of files, choices, kinds of fields."""
    files = [*given.records, *given.unreadable]
    for name in [*files, *given.ties]:
        if not isinstance(name, str) or "\0" in name:
            faults.error("records", f"a file is named {name!r}.", "Name files with texts.")
    for setting, value, choices in (
        ("id", given.id, None),
        ("directed", given.directed, ("any", "mutual")),
        ("faulty_ties", given.faulty_ties, ("refuse", "drop")),
    ):
        by_file = value if isinstance(value, Mapping) else {}
        for name in by_file.keys() - set(files):
            faults.error(setting, f"names {name!r}, which is no file.", nearest(str(name), map(str, files)))
        for choice in by_file.values() if isinstance(value, Mapping) else [] if value is None else [value]:
            if not isinstance(choice, str) or (choices is not None and choice not in choices):
                wanted = "the name of a column" if choices is None else " or ".join(map(repr, choices))
                faults.error(setting, f"is {choice!r}.", f"Give {wanted}.")


def _check_ids(ids: pl.Series, table: Table, faults: Faults) -> None:
    if any(isinstance(key, list | dict | set | bytes) for key in ids.to_list()[:1000]) or ids.dtype.is_nested():
        faults.error(
            f"{table.where}, column {ids.name!r}", "holds ids that are no single values.", "Give each record one id."
        )
        return
    empty = np.flatnonzero([key is None or key == "" or key != key for key in ids.to_list()])
    if len(empty):
        rows = listed([table.row(int(row)) for row in empty])
        faults.error(f"{table.where}, {rows}", "no id.", "Give every record an id.")
    first: dict[Any, int] = {}
    copies = []
    for row, key in enumerate(ids.to_list()):
        if key is not None and key != "" and key == key and first.setdefault(key, row) != row:
            copies.append((row, key))
    for row, key in copies[:3]:
        faults.error(
            table.at(row),
            f"id {key!r} stands already in {table.row(first[key])}.",
            "Give every record an id of its own.",
        )
    if len(copies) > 3:
        faults.error(table.where, f"{len(copies) - 3:,} more rows repeat an id.")


def _ties_of(name: str, given: Given, ids: pl.Series, faults: Faults) -> NDArray[np.int64] | None:
    source = given.ties.get(name)
    if source is None:
        return None
    directed = given.directed.get(name) if isinstance(given.directed, Mapping) else given.directed
    return read_ties(source, ids, f"ties[{name!r}]", faults, directed=directed, faulty=given.faulty_ties)
