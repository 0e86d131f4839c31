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
    records: Records,
    anchors: Any,
    nonmatches: Any,
    faults: Faults,
    frame_kind: str = "polars",
    duplicates: bool = False,
) -> tuple[Linkage, NDArray[np.int64]]:
    """Return anchors as a linkage and non-matches as pairs of record numbers; contradictions are faults.

    Pairs inside one file are faults too, unless files may hold `duplicates` or there is only one.
    """
    duplicates = duplicates or len(records.files) == 1
    pairs = pair_records(records, anchors, "anchors", faults)
    apart = pair_records(records, nonmatches, "nonmatches", faults)
    pairs = _distinct(records, pairs, "anchors", faults, duplicates)
    apart = _distinct(records, apart, "nonmatches", faults, duplicates)
    known = Linkage.from_pairs(records, [(records[a], records[b]) for a, b in pairs])
    if not duplicates:
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


def _distinct(
    records: Records, pairs: NDArray[np.int64], what: str, faults: Faults, duplicates: bool
) -> NDArray[np.int64]:
    """Refuse pairs of a record with itself and, unless there may be duplicates, within one file; return the others."""
    pairs = np.sort(pairs, axis=1)
    itself = pairs[:, 0] == pairs[:, 1]
    same_file = records.file_of[pairs[:, 0]] == records.file_of[pairs[:, 1]]
    inside = ~itself & same_file & (not duplicates)
    for a, _ in pairs[itself]:
        faults.error(what, f"{_name(records[a])} is paired with itself.", "Remove the pair.")
    for a, b in pairs[inside]:
        faults.error(
            what,
            f"{_name(records[a])} and {_name(records[b])} are in the same file.",
            "Remove the pair, or say duplicates=True: a person may then have several records in a file.",
        )
    kept = pairs[~itself & ~inside]
    distinct = np.unique(kept, axis=0)
    if len(distinct) < len(kept):
        faults.note(what, f"{len(kept) - len(distinct):,} pairs are listed again, counted once.")
    return distinct


def _name(record: tuple[str, object]) -> str:
    return f"{record[0]}/{record[1]}"
