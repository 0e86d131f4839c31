"""Pairs of records with a number each: probabilities of a posterior or of another tool, scores of a baseline."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import polars as pl
from numpy.typing import ArrayLike, NDArray

from tielink.data.frames import Table, is_frame, to_frame, to_polars
from tielink.data.linkage import Linkage, pair_records
from tielink.data.records import Records
from tielink.faults import Faults, listed, nearest, refuse

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset

__all__ = ["PairScores", "ScoredLinkage", "pair_keys"]

Pairs = NDArray[np.int64]


def pair_keys(pairs: Pairs) -> NDArray[np.int64]:
    """One number for each pair of record numbers, the same whichever comes first.

    >>> bool(pair_keys(np.array([[3, 8]])) == pair_keys(np.array([[8, 3]])))
    True
    """
    ends = np.sort(np.asarray(pairs, dtype=np.int64).reshape(-1, 2), axis=1)
    return (ends[:, 0] << 32) | ends[:, 1]


@dataclass(frozen=True, eq=False)
class PairScores:
    """Candidate pairs r < r' with a value each; a pair that is not here has the lowest value there is.

    >>> records = Records({"left": [1, 2], "right": [7]})
    >>> table = pl.DataFrame({"id_a": [1, 2], "id_b": [7, 7], "probability": [0.2, 0.7]})
    >>> PairScores.from_table(records, table).values
    array([0.2, 0.7])
    """

    records: Records
    pairs: Pairs
    values: NDArray[np.float64]
    are_probabilities: bool = True
    frame_kind: str = "polars"

    @classmethod
    def from_table(cls, data: Dataset | Records, table: Any, column: str = "probability") -> Self:
        """Read a table of pair probabilities that any tool produced.

        `table` is a frame of any kind with `id_a, id_b` (two files) or `file_a, id_a, file_b, id_b`, and `probability`.
        Every fault of it is reported at once.
        """
        faults = Faults()
        if not isinstance(table, Table):
            if not is_frame(table):
                refuse("pairs", f"is a {type(table).__name__}.", "Give a data frame with a row for each pair.")
            table = Table(to_polars(table), "pairs")
        records = data if isinstance(data, Records) else data.records
        kind = "polars" if isinstance(data, Records) else data.frame_kind
        values = _probabilities(table, column, faults)
        pairs = pair_records(records, table, table.where, faults)
        faults.raise_errors()
        pairs = np.sort(pairs, axis=1)
        _check_pairs(records, pairs, table, faults)
        faults.raise_errors()
        return cls(records, pairs, values, frame_kind=kind)

    def only(self, rows: NDArray[Any]) -> PairScores:
        """Return the scores of some of the pairs."""
        return PairScores(self.records, self.pairs[rows], self.values[rows], self.are_probabilities, self.frame_kind)

    def frame(self) -> Any:
        """Return a frame `file_a, id_a, file_b, id_b` and `probability` or `score`, the highest first."""
        order = np.lexsort((self.pairs[:, 1], self.pairs[:, 0], -self.values))
        columns: dict[str, Any] = {}
        for name, side in zip("ab", self.pairs[order].T, strict=True):
            found = [self.records[int(number)] for number in side]
            columns[f"file_{name}"] = [record[0] for record in found]
            columns[f"id_{name}"] = [record[1] for record in found]
        columns["probability" if self.are_probabilities else "score"] = self.values[order].tolist()
        return to_frame(columns, self.frame_kind)


class ScoredLinkage(Linkage):
    """A linkage together with the scores of the pairs it was decided from."""

    def __init__(
        self, records: Records, labels: ArrayLike, pair_scores: PairScores, *, frame_kind: str = "polars"
    ) -> None:
        super().__init__(records, labels, frame_kind=frame_kind)
        self.pair_scores = pair_scores

    def scores(self) -> Any:
        """Return the scores as a frame, the highest first."""
        return self.pair_scores.frame()


def _probabilities(table: Table, column: str, faults: Faults) -> NDArray[np.float64]:
    if column not in table.frame.columns:
        faults.error(table.where, f"has no column {column!r}.", nearest(column, table.frame.columns))
        return np.zeros(table.frame.height)
    values = table.frame[column].cast(pl.Float64, strict=False).fill_null(float("nan")).to_numpy()
    wrong = np.flatnonzero(~((values >= 0) & (values <= 1)))
    if len(wrong):
        rows = listed([table.row(int(row)) for row in wrong])
        first = table.frame[column][int(wrong[0])]
        faults.error(f"{table.where}, {rows}", f"{column} is {first!r}.", "Give a number between 0 and 1.")
    return np.asarray(values, dtype=np.float64)


def _check_pairs(records: Records, pairs: Pairs, table: Table, faults: Faults) -> None:
    keys = pair_keys(pairs)
    _, first = np.unique(keys, return_index=True)
    copy = np.ones(len(keys), dtype=bool)
    copy[first] = False
    file_of = records.file_of
    itself = pairs[:, 0] == pairs[:, 1]
    inside = ~itself & (file_of[pairs[:, 0]] == file_of[pairs[:, 1]]) & (len(records.files) > 1)
    for wrong, what, do in (
        (itself, "a record is paired with itself.", "Remove the row."),
        (inside, "both records are of the same file.", "Remove the row: pairs join records of different files."),
        (copy & ~itself, "a pair is listed before.", "Give every pair one probability."),
    ):
        if wrong.any():
            rows = listed([table.row(int(row)) for row in np.flatnonzero(wrong)])
            faults.error(f"{table.where}, {rows}", what, do)
