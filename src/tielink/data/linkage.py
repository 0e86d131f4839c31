"""Who is whom: a partition of all records into persons.

`Linkage` is the one type for a truth, an estimate, a baseline's answer and a posterior draw.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, csgraph

from tielink.data.frames import Table, is_frame, to_frame, to_polars
from tielink.data.records import Record, Records
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset

__all__ = ["Linkage", "LinkageClass", "by_answer", "canonical", "pair_records", "same_pairs"]

LinkageClass = Literal["pairs", "one_per_file", "free"]
"""Which partitions are allowed: singletons and pairs across files; at most one record per file; any."""


def canonical(labels: ArrayLike) -> NDArray[np.int64]:
    """Renumber labels 0, 1, … in the order of their first appearance.

    >>> canonical([7, 3, 7, 5])
    array([0, 1, 0, 2])
    """
    _, first, inverse = np.unique(np.asarray(labels), return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse.ravel()]


class Linkage:
    """A partition of records into persons.

    Make one with `from_pairs`, `from_clusters` or `from_labels`; two are equal when they group the same records
    in the same way, whatever the labels.

    >>> records = Records({"left": [1, 2], "right": [1, 2, 3]})
    >>> linkage = Linkage.from_pairs(records, [(1, 3)])
    >>> linkage.labels, linkage.persons
    (array([0, 1, 2, 3, 0]), 4)
    >>> linkage == Linkage.from_clusters(records, [[("right", 3), ("left", 1)]])
    True
    """

    def __init__(self, records: Records, labels: ArrayLike, *, frame_kind: str = "polars"):
        self.records = records
        self.labels = canonical(labels)
        self.labels.setflags(write=False)
        self._frame_kind = frame_kind
        if self.labels.shape != (len(records),):
            raise ValueError(f"expected {len(records)} labels, one a record, found {self.labels.shape}")

    @classmethod
    def from_pairs(cls, data: Dataset | Records, pairs: Any) -> Self:
        """Make a linkage from pairs of records that are the same person; all others stay alone.

        `pairs` is a list of ((file, id), (file, id)), of (id, id) when there are two files, or a data frame with
        columns `id_a, id_b` (two files) or `file_a, id_a, file_b, id_b`. Pairs chain: a–b and b–c make one person.
        Where a column `answer` or `decision` says that some are no match, these are left out.
        """
        records, kind = _index(data)
        if is_frame(pairs):
            faults = Faults()
            pairs = same_pairs(Table(to_polars(pairs), "pairs"), faults)
            faults.raise_errors()
        return cls.joining(records, pair_records(records, pairs), kind)

    @classmethod
    def joining(cls, records: Records, pairs: NDArray[np.int64], frame_kind: str = "polars") -> Self:
        """Make a linkage from pairs of record numbers; all others stay alone."""
        graph = coo_array((np.ones(len(pairs)), pairs.T), shape=(len(records), len(records)))
        _, labels = csgraph.connected_components(graph, directed=False)
        return cls(records, labels, frame_kind=frame_kind)

    @classmethod
    def from_clusters(cls, data: Dataset | Records, clusters: Iterable[Sequence[Record]]) -> Self:
        """Make a linkage from groups of (file, id) records; records in no group stay alone."""
        records, kind = _index(data)
        faults = Faults()
        labels = np.arange(len(records)) + len(records)
        seen: dict[int, int] = {}
        for label, cluster in enumerate(clusters):
            for record in cluster:
                try:
                    number = records.number(record)
                except KeyError as error:
                    faults.error(f"cluster {label}", f"{error.args[0]}.")
                    continue
                if seen.setdefault(number, label) != label:
                    faults.error(f"cluster {label}", f"record {record!r} is also in cluster {seen[number]}.")
                labels[number] = label
        faults.raise_errors()
        return cls(records, labels, frame_kind=kind)

    @classmethod
    def from_labels(cls, data: Dataset | Records, labels: Mapping[Record, Hashable] | ArrayLike) -> Self:
        """Make a linkage from a person's label for each record: a mapping, or an array in record order.

        Records that a mapping leaves out stay alone.
        """
        records, kind = _index(data)
        if not isinstance(labels, Mapping):
            return cls(records, labels, frame_kind=kind)
        groups: dict[Hashable, list[Record]] = {}
        for record, label in labels.items():
            groups.setdefault(label, []).append(record)
        return cls.from_clusters(data, groups.values())

    @property
    def persons(self) -> int:
        """N, the number of persons."""
        return int(self.labels.max(initial=-1)) + 1

    @cached_property
    def members(self) -> tuple[NDArray[np.int64], ...]:
        """The record numbers of each person, in the order of labels."""
        order = np.argsort(self.labels, kind="stable")
        return tuple(np.split(order, np.cumsum(np.bincount(self.labels))[:-1])) if len(order) else ()

    @cached_property
    def pair_numbers(self) -> NDArray[np.int64]:
        """Every pair of records r < r' that are the same person, as record numbers, sorted."""
        pairs = [
            (int(group[first]), int(other))
            for group in (self.members if self.persons < len(self.records) else ())
            if len(group) > 1
            for first in range(len(group))
            for other in group[first + 1 :]
        ]
        return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)

    def pairs(self) -> Any:
        """Return the linked pairs as a frame with columns `file_a, id_a, file_b, id_b`."""
        sides = [[self.records[int(number)] for number in side] for side in self.pair_numbers.T]
        columns = {
            f"{part}_{name}": [record[place] for record in side]
            for name, side in zip("ab", sides, strict=True)
            for place, part in enumerate(("file", "id"))
        }
        return to_frame(columns, self._frame_kind)

    def clusters(self) -> list[tuple[Record, ...]]:
        """Return the records of each person, singletons included."""
        return [tuple(self.records[int(number)] for number in group) for group in self.members]

    def frame(self) -> Any:
        """Return a frame with one row a record: `file, id, person`."""
        records = [self.records[number] for number in range(len(self.records))]
        columns = {
            "file": [r[0] for r in records],
            "id": [r[1] for r in records],
            "person": self.labels.tolist(),
        }
        return to_frame(columns, self._frame_kind)

    def violations(self, allowed: LinkageClass) -> list[tuple[Record, ...]]:
        """Return the persons whose records the class does not allow together.

        "pairs": one record, or two of different files; "one_per_file": at most one record of each file;
        "free": anything.
        """
        if allowed not in ("pairs", "one_per_file", "free"):
            raise ValueError(f'expected "pairs", "one_per_file" or "free", found {allowed!r}')
        if allowed == "free":
            return []
        wrong = []
        for group in self.members if self.persons < len(self.records) else ():
            files = self.records.file_of[group]
            if len(set(files.tolist())) < len(group) or (allowed == "pairs" and len(group) > 2):
                wrong.append(tuple(self.records[int(number)] for number in group))
        return wrong

    def is_valid(self, allowed: LinkageClass) -> bool:
        """Whether every person's records may stand together in this class."""
        return not self.violations(allowed)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Linkage):
            return NotImplemented
        return self.records == other.records and np.array_equal(self.labels, other.labels)

    def __hash__(self) -> int:
        return hash((self.records, self.labels.tobytes()))

    def __repr__(self) -> str:
        linked = len(self.pair_numbers)
        return f"Linkage({len(self.records):,} records, {self.persons:,} persons, {linked:,} linked pairs)"


def _index(data: Dataset | Records) -> tuple[Records, str]:
    return (data, "polars") if isinstance(data, Records) else (data.records, data.frame_kind)


def pair_records(records: Records, pairs: Any, where: str = "pairs", faults: Faults | None = None) -> NDArray[np.int64]:
    """Turn pairs in any accepted form into record numbers.

    Unknown records go on `faults`; without such a list, one error that names them is raised.
    """
    mine = faults if faults is not None else Faults()
    table = None
    if isinstance(pairs, Linkage):
        if pairs.records == records:
            return pairs.pair_numbers
        pairs = [(pairs.records[a], pairs.records[b]) for a, b in pairs.pair_numbers]
    elif isinstance(pairs, Table):
        table = pairs
    elif is_frame(pairs):
        table = Table(to_polars(pairs), where)
    try:
        rows = _named_pairs(records, list(pairs) if table is None else _cells(records, table, mine))
    except (TypeError, ValueError) as error:
        mine.error(where if table is None else table.where, f"{error}.", PAIRS_HELP)
        rows = []
    numbers, unknown = [], []
    written = table is not None and table.rows is not None
    for place, pair in enumerate(rows):
        try:
            numbers.append([records.number(record, written=written) for record in pair])
        except KeyError as error:
            unknown.append((f"{where}, position {place}" if table is None else table.at(place), error.args[0]))
    for at, what in unknown[:5]:
        mine.error(at, f"{what}.", "Add the record, or remove the pair.")
    if len(unknown) > 5:
        mine.error(where if table is None else table.where, f"{len(unknown) - 5:,} more pairs name unknown records.")
    if faults is None:
        mine.raise_errors()
    return np.array(numbers, dtype=np.int64).reshape(-1, 2)


WORDS = {
    "answer": {"same": "same", "different": "different", "unsure": "unsure"},
    "decision": {"known": "same", "link": "same", "no link": "unsure"},
}
"""What a column says of pairs: a person's answer, or what `links.csv` decided, where `no link` is nobody's answer."""
PAIR_COLUMNS = ("file_a", "id_a", "file_b", "id_b")
NO = {"0", "0.0", "false", "no", "n"}
YES_OR_NO = NO | {"1", "1.0", "true", "yes", "y"}


def by_answer(table: Table, usual: str, faults: Faults) -> dict[str, Table]:
    """Part a table of pairs into same, different and unsure by what a column says; without one, all are the usual."""
    columns = {name.strip().casefold(): name for name in table.frame.columns}
    column = next((name for name in WORDS if name in columns), None)
    if column is None:
        _notice_labels(table, usual, faults)
        return {usual: table}
    said = np.array([str(cell or "").strip().casefold() for cell in table.frame[columns[column]].to_list()], dtype=str)
    for row in np.flatnonzero(~np.isin(said, list(WORDS[column])))[:3]:
        faults.error(table.at(int(row)), f"the {column} is {str(said[row])!r}.", f"Give {' or '.join(WORDS[column])}.")
    rest, meant = table.frame.drop(columns[column]), np.array([WORDS[column].get(word, "") for word in said], dtype=str)
    return {
        answer: Table(rest.filter(mask), table.where, None if table.rows is None else table.rows[mask])
        for answer in ("same", "different", "unsure")
        if (mask := meant == answer).any() or answer == usual
    }


def same_pairs(table: Table, faults: Faults) -> Table:
    """Return the pairs of a table that are matches."""
    return by_answer(table, "same", faults)["same"]


def _notice_labels(table: Table, usual: str, faults: Faults) -> None:
    """Warn of a column that seems to say which pairs are meant, and is not read."""
    for name in [name for name in table.frame.columns[2:] if name not in PAIR_COLUMNS]:
        values = {str(cell).strip().casefold() for cell in table.frame[name].to_list() if cell is not None}
        if values <= YES_OR_NO and values & NO:
            what = f"column {name!r} seems to say no of some pairs, and is not read: all are taken as {usual}."
            faults.warning(table.where, what, "To have it read, call it answer, with same, different or unsure.")


PAIRS_HELP = (
    "Give columns id_a, id_b (two files) or file_a, id_a, file_b, id_b; in Python also ((file, id), (file, id))."
)


def _cells(records: Records, table: Table, faults: Faults) -> list[Any]:
    """Return the pairs in a table: columns by name, by the names of the files, or else the first two."""
    columns, full = table.frame.columns, PAIR_COLUMNS
    if set(columns) >= set(full):
        return [((a, x), (b, y)) for a, x, b, y in table.frame.select(full).iter_rows()]
    if len(columns) < 2 or set(columns) & set(full[::2]):
        raise ValueError(f"has the columns {', '.join(map(repr, columns))}")
    if len(columns) >= 2 and columns[0] != columns[1] and set(columns[:2]) <= set(records.files):
        a, b = columns[:2]
        return [((a, x), (b, y)) for x, y in table.frame.select(a, b).iter_rows()]
    if table.rows is not None and any(name in ids for name in columns[:2] for ids in records.written.values()):
        faults.error(
            f"{table.where}, header", f"the first row {tuple(columns[:2])} is itself a pair.", "Put id_a,id_b above it."
        )
    names = ["id_a", "id_b"] if set(columns) >= {"id_a", "id_b"} else columns[:2]
    return list(table.frame.select(names).iter_rows())


def _named_pairs(records: Records, rows: list[Any]) -> list[tuple[Record, Record]]:
    """Give bare ids the names of the two files; raise `ValueError` where that cannot be done."""
    files = records.files
    if not all(isinstance(pair, tuple | list) and len(pair) == 2 for pair in rows):
        raise ValueError("not every entry is a pair")

    def named(value: object) -> bool:
        return isinstance(value, tuple | list) and len(value) == 2 and value[0] in files

    if any(named(record) for pair in rows for record in pair):
        return [(a, b) for a, b in rows]
    if len(files) > 2 and rows:
        raise ValueError(f"with {len(files)} files, each record of a pair needs its file")
    return [((files[0], a), (files[-1], b)) for a, b in rows]
