"""What is known beforehand: anchors (pairs that are one person) and non-matches (pairs that are not)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage, pair_records
from tielink.data.records import Records
from tielink.faults import Faults, listed

__all__ = ["read_known"]


def read_known(
    records: Records, anchors: Any, nonmatches: Any, faults: Faults, frame_kind: str = "polars"
) -> tuple[Linkage, NDArray[np.int64]]:
    """Return anchors as a linkage and non-matches as pairs of record numbers; contradictions are faults."""
    pairs = pair_records(records, anchors, "anchors", faults)
    apart = pair_records(records, nonmatches, "nonmatches", faults)
    pairs = _across_files(records, pairs, "anchors", faults)
    apart = _across_files(records, apart, "nonmatches", faults)
    known = Linkage.from_pairs(records, [(records[a], records[b]) for a, b in pairs])
    if len(records.files) > 1:
        for group in known.violations("one_per_file"):
            faults.error(
                "anchors",
                f"make one person of {listed([_name(record) for record in group], 8)}, two of them of the same file.",
                "Keep at most one partner in each file.",
            )
    for a, b in apart[known.labels[apart[:, 0]] == known.labels[apart[:, 1]]]:
        faults.error(
            "anchors and nonmatches",
            f"{_name(records[a])} and {_name(records[b])} are said to be one person and not to be.",
            "Remove one of the two.",
        )
    return Linkage(records, known.labels, frame_kind=frame_kind), apart


def _across_files(records: Records, pairs: NDArray[np.int64], what: str, faults: Faults) -> NDArray[np.int64]:
    """Refuse pairs within one file (unless it is the only one) and of a record with itself; return the others."""
    pairs = np.sort(pairs, axis=1)
    itself = pairs[:, 0] == pairs[:, 1]
    same_file = records.file_of[pairs[:, 0]] == records.file_of[pairs[:, 1]]
    inside = ~itself & same_file & (len(records.files) > 1)
    for a, _ in pairs[itself]:
        faults.error(what, f"{_name(records[a])} is paired with itself.", "Remove the pair.")
    for a, b in pairs[inside]:
        faults.error(
            what,
            f"{_name(records[a])} and {_name(records[b])} are in the same file.",
            "Remove the pair: a person has at most one record in a file.",
        )
    kept = pairs[~itself & ~inside]
    distinct = np.unique(kept, axis=0)
    if len(distinct) < len(kept):
        faults.note(what, f"{len(kept) - len(distinct):,} pairs are listed again, counted once.")
    return distinct


def _name(record: tuple[str, object]) -> str:
    return f"{record[0]}/{record[1]}"
