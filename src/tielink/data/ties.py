"""Ties from edge lists and graphs, as pairs of record numbers.

A tie is undirected, binary and joins two different records of one file. Whatever is not that (self-ties,
copies, ties listed in both directions, unknown ids) is refused or, when asked for, dropped and counted aloud.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy import sparse

from tielink.data.frames import Table, exact_series, is_frame, to_polars
from tielink.faults import Faults, listed

__all__ = ["Directed", "FaultyTies", "graph_nodes", "is_graph", "look_up", "read_ties"]

Directed = Literal["any", "mutual"]
FaultyTies = Literal["refuse", "drop"]
Edges = NDArray[np.int64]


@dataclass(frozen=True)
class _Listed:
    """Ties as their source lists them: an ordered pair of record numbers each, −1 where unknown."""

    pairs: Edges
    where: str
    row: Callable[[int], str]
    unknown: Callable[[int], str]
    """Describes what is unknown about the ends of a listed tie."""
    is_directed: bool | None
    """What the source says of itself; None when it does not say."""


def is_graph(value: object) -> bool:
    """Whether the value is a networkx or igraph graph, or a scipy sparse matrix."""
    return _library(value) in ("networkx", "igraph") or sparse.issparse(value)


def _library(value: object) -> str:
    return type(value).__module__.partition(".")[0]


def graph_nodes(graph: Any, id_column: str) -> pl.DataFrame:
    """Return the nodes of a graph with their attributes, one row a node, ids in column `id_column`."""
    if sparse.issparse(graph):
        return pl.DataFrame({id_column: np.arange(graph.shape[0])})
    if _library(graph) == "networkx":
        nodes = list(graph.nodes)
        names = dict.fromkeys(name for _, attributes in graph.nodes(data=True) for name in attributes)
        columns = {str(name): [graph.nodes[node].get(name) for node in nodes] for name in names}
    else:
        columns = {str(name): list(graph.vs[name]) for name in graph.vs.attributes()}
        nodes = columns.pop(id_column, []) or columns.pop("name", []) or list(range(graph.vcount()))
    columns.pop(id_column, [])
    return pl.DataFrame([exact_series(id_column, nodes), *(exact_series(*column) for column in columns.items())])


def look_up(values: pl.Series, ids: pl.Series) -> NDArray[np.int64]:
    """Return the position in `ids` of each value; −1 where it is not there.

    Integers of all widths are one type; otherwise 1 and "1" are different ids.
    """
    if values.dtype.is_integer() and ids.dtype.is_integer():
        with contextlib.suppress(pl.exceptions.PolarsError):  # too large for 64 bits: compared one by one below
            values, ids = values.cast(pl.Int64), ids.cast(pl.Int64)
    if values.dtype == ids.dtype and values.dtype != pl.Object:
        index = pl.DataFrame({"id": ids}).with_row_index("position").unique("id", keep="first")
        found = pl.DataFrame({"id": values}).join(index, on="id", how="left", maintain_order="left")
        return found["position"].cast(pl.Int64).fill_null(-1).to_numpy()
    positions = {key: position for position, key in enumerate(ids.to_list()) if isinstance(key, Hashable)}
    return np.array([_find(value, positions) for value in values.to_list()], dtype=np.int64)


def _find(value: Any, positions: dict[Any, int]) -> int:
    try:
        return positions.get(value, -1)
    except TypeError:  # a list or the like is nobody's id
        return -1


def read_ties(
    source: Any,
    ids: pl.Series,
    where: str,
    faults: Faults,
    *,
    directed: Directed | None = None,
    faulty: FaultyTies = "refuse",
) -> Edges | None:
    """Return the ties of one file as sorted pairs i < i' of its record numbers, each once.

    Parameters
    ----------
    source
        A `Table` or frame (columns `source,target`, or the first two), a graph, or an iterable of id pairs.
    ids
        The ids of the file's records, in order.
    where
        How messages call the source.
    faults
        Collects whatever is wrong; errors there make the result unusable.
    directed
        What to do with directed ties: "any" keeps a tie that is listed either way, "mutual" one that is
        listed both ways. Without it, a list that has some ties both ways is refused.
    faulty
        "refuse" reports self-ties, copies and unknown ids as errors; "drop" leaves them out and counts them.
    """
    given = _listed_ties(source, ids, where, faults)
    if given is None:
        return None
    keep = _leave_out(given, faulty, faults)
    return _undirect(given.pairs[keep], given, directed, faults)


def _listed_ties(source: Any, ids: pl.Series, where: str, faults: Faults) -> _Listed | None:
    if isinstance(source, Table):
        return _from_table(source, ids, faults)
    if sparse.issparse(source):
        return _from_matrix(source, ids, where, faults)
    if _library(source) == "networkx":
        return _from_pairs(source.edges(), ids, where, faults, is_directed=source.is_directed())
    if _library(source) == "igraph":
        names = _igraph_names(source, ids)
        pairs = [(names[a], names[b]) for a, b in source.get_edgelist()]
        return _from_pairs(pairs, ids, where, faults, is_directed=source.is_directed())
    if is_frame(source):
        try:
            return _from_table(Table(to_polars(source), where), ids, faults)
        except ValueError as error:
            faults.error(where, f"{error}.", "Rename or remove the copies.")
            return None
    return _from_pairs(source, ids, where, faults, is_directed=None)


def _igraph_names(graph: Any, ids: pl.Series) -> list[Any]:
    """Return the ids of a graph's vertices: an attribute that holds ids, or else the records in order."""
    attributes = [name for name in ("id", "name") if name in graph.vs.attributes()]
    for attribute in attributes:
        if (look_up(exact_series("id", graph.vs[attribute]), ids) >= 0).all():
            return list(graph.vs[attribute])
    if not attributes and graph.vcount() == len(ids):
        return ids.to_list()
    return list(graph.vs[attributes[-1]]) if attributes else list(range(graph.vcount()))


def _from_table(table: Table, ids: pl.Series, faults: Faults) -> _Listed | None:
    frame = table.frame
    if frame.width < 2:
        faults.error(table.where, f"has {frame.width} column.", "Give two: the ids that each tie joins.")
        return None
    named = {"source", "target"} <= set(frame.columns)
    columns = ["source", "target"] if named else frame.columns[:2]
    if table.rows is not None:
        # What a text file writes stands for whatever id is written like it.
        ids = ids.cast(pl.String) if ids.dtype.is_integer() else ids
    if table.rows is not None and not named and (look_up(pl.Series(columns), ids) >= 0).any():
        faults.error(
            f"{table.where}, header",
            f"the first row ({columns[0]!r}, {columns[1]!r}) is itself a tie.",
            "Put a header above it: source,target.",
        )
    return _from_columns(frame[columns[0]], frame[columns[1]], ids, table.where, table.row)


def _from_columns(
    source: pl.Series,
    target: pl.Series,
    ids: pl.Series,
    where: str,
    row: Callable[[int], str],
    is_directed: bool | None = None,
) -> _Listed:
    pairs = np.column_stack([look_up(source, ids), look_up(target, ids)])

    def unknown(tie: int) -> str:
        ends = [end[tie] for end, number in zip((source, target), pairs[tie], strict=True) if number < 0]
        return " and ".join("an empty id" if end is None else repr(end) for end in ends)

    return _Listed(pairs, where, row, unknown, is_directed)


def _from_pairs(
    pairs: Iterable[Sequence[Any]], ids: pl.Series, where: str, faults: Faults, *, is_directed: bool | None
) -> _Listed | None:
    try:
        ends = [(pair[0], pair[1]) for pair in pairs]
    except (TypeError, IndexError, KeyError):
        faults.error(
            where,
            f"cannot be read as ties ({type(pairs).__name__}).",
            "Give a data frame, a networkx or igraph graph, a scipy sparse matrix or a list of id pairs.",
        )
        return None
    source, target = (_like(ids, exact_series("end", [pair[end] for pair in ends])) for end in (0, 1))
    return _from_columns(source, target, ids, where, lambda tie: f"tie {tie}", is_directed)


def _like(ids: pl.Series, values: pl.Series) -> pl.Series:
    """Give a column without any value the type of the ids."""
    return values.cast(ids.dtype) if values.dtype == pl.Null and ids.dtype != pl.Object else values


def _from_matrix(matrix: Any, ids: pl.Series, where: str, faults: Faults) -> _Listed | None:
    if matrix.shape != (len(ids), len(ids)):
        faults.error(
            where,
            f"the matrix is {' × '.join(map(str, matrix.shape))} where the file has {len(ids)} records.",
            "Give one row and one column a record, in the order of the records.",
        )
        return None
    entries = matrix.tocoo()
    if np.isnan(entries.data).any():
        faults.error(where, "the matrix holds NaN.", "Put 1 for a tie and 0 for none.")
    elif not np.isin(entries.data, (0, 1)).all():
        faults.note(where, "weights are not used: every entry but 0 is a tie.")
    pairs = np.column_stack(entries.coords)[entries.data != 0].astype(np.int64)
    return _Listed(pairs, where, lambda tie: f"entry {tuple(pairs[tie].tolist())}", lambda tie: "", None)


def _leave_out(given: _Listed, faulty: FaultyTies, faults: Faults) -> NDArray[np.bool_]:
    """Find the listed ties that are none, report them, and return which to keep."""
    pairs = given.pairs
    unknown = (pairs < 0).any(axis=1)
    loops = ~unknown & (pairs[:, 0] == pairs[:, 1])
    copies = np.zeros(len(pairs), dtype=bool)
    usable = np.flatnonzero(~unknown & ~loops)
    _, first = np.unique(_keys(pairs[usable]), return_index=True)
    copies[usable] = True
    copies[usable[first]] = False
    drop = "--drop-faulty-ties" if faults.caller == "command line" else faults.setting("faulty_ties", "drop")
    for kind, mask, do in (
        ("has an id that no record has", unknown, "Add the record, or remove the tie"),
        ("joins a record to itself", loops, "Remove it"),
        ("is listed before", copies, "Remove the copy"),
    ):
        ties = np.flatnonzero(mask)
        if not len(ties):
            continue
        if faulty == "drop":
            faults.note(given.where, f"{len(ties):,} of {len(pairs):,} listed ties dropped: each {kind}.")
            continue
        rows = listed([given.row(int(tie)) for tie in ties[:3]] + [""] * (len(ties) - 3))
        example = f": {given.unknown(int(ties[0]))}" if mask is unknown else ""
        count = "a tie" if len(ties) == 1 else f"{len(ties):,} ties, each"
        faults.error(f"{given.where}, {rows}", f"{count} {kind}{example}.", f"{do}, or say {drop}.")
    return np.asarray(~(unknown | loops | copies))


def _keys(pairs: Edges) -> NDArray[np.int64]:
    """One number for each ordered pair."""
    return (pairs[:, 0] << 32) | pairs[:, 1]


def _undirect(pairs: Edges, given: _Listed, directed: Directed | None, faults: Faults) -> Edges | None:
    """Make ties undirected, each listed once, and say what happened to those listed one way only."""
    ends = np.sort(pairs, axis=1)
    keys, counts = np.unique(_keys(ends), return_counts=True)
    ties = np.column_stack([keys >> 32, keys & 0xFFFFFFFF])
    both, one = int((counts == 2).sum()), int((counts == 1).sum())
    if given.is_directed is False or not len(ties):
        return ties
    if directed == "mutual":
        faults.note(
            given.where,
            f"{both:,} mutual ties kept, {one:,} listed one way only left out (directed = mutual).",
        )
        if not both:
            faults.warning(
                given.where, "no tie is listed both ways, so none is left.", f"Say {faults.setting('directed', 'any')}?"
            )
        return np.asarray(ties[counts == 2])
    if directed == "any":
        faults.note(given.where, f"{both:,} mutual ties and {one:,} listed one way, all kept (directed = any).")
        return ties
    if one and (both or given.is_directed):
        keep = {choice: faults.setting("directed", choice) for choice in ("mutual", "any")}
        faults.error(
            given.where,
            f"{both:,} ties are listed both ways and {one:,} one way, so the list seems directed.",
            f"Say {keep['mutual']} (keep the first) or {keep['any']} (keep all).",
        )
        return None
    if both:
        faults.note(given.where, f"every tie is listed in both directions: {both:,} ties.")
    return ties
