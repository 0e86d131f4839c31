"""What is known beforehand: anchors (pairs that are one person) and non-matches (pairs that are not)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.answers import Settled
from tielink.data.frames import Table, is_frame, to_polars
from tielink.data.linkage import Linkage, by_answer, pair_records
from tielink.data.records import Records, record_name
from tielink.faults import Faults, listed

__all__ = ["read_known"]


def read_known(
    records: Records,
    anchors: Any,
    nonmatches: Any,
    faults: Faults,
    frame_kind: str = "polars",
    duplicates: bool = False,
    answers: Any = (),
) -> tuple[Linkage, NDArray[np.int64], Linkage]:
    """Return anchors as a linkage, non-matches as pairs of record numbers, and anchors without what `answers` add.

    Contradictions are faults. Both may be several tables, and a table with a column `answer` may hold pairs of either
    sort. Pairs inside one file are faults too, unless files may hold `duplicates` or there is only one.
    """
    duplicates = duplicates or len(records.files) == 1
    found: dict[str, list[NDArray[np.int64]]] = {"same": [], "different": [], "unsure": []}
    for usual, where, given in (("same", "anchors", anchors), ("different", "nonmatches", nonmatches)):
        several = isinstance(given, list) and all(isinstance(part, Table) for part in given)
        for source in given if several else [given]:
            table = Table(to_polars(source), where) if is_frame(source) else source
            parts = by_answer(table, usual, faults) if isinstance(table, Table) else {usual: source}
            for answer, part in parts.items():
                found[answer].append(pair_records(records, part, where, faults))
    if unsure := sum(map(len, found["unsure"])):
        faults.note("anchors", f"{unsure:,} pairs are marked as unsure: they stay open.")
    pairs, apart = (np.concatenate([*found[answer], np.empty((0, 2), np.int64)]) for answer in ("same", "different"))
    pairs = _distinct(records, pairs, "anchors", faults, duplicates)
    before = Linkage.joining(records, pairs, frame_kind)
    said = Settled.by(records, answers, "free" if duplicates else "one_per_file", faults)
    if said.answers:
        counts = {"answers": said.answers, "matches": said.same, "non-matches": said.different}
        faults.note("answers", "; ".join(f"{name}: {len(found):,}" for name, found in counts.items()) + ".")
    pairs, apart = np.concatenate([pairs, said.same]), np.concatenate([apart, said.different])
    apart = _distinct(records, apart, "nonmatches", faults, duplicates)
    known = Linkage.joining(records, pairs, frame_kind)
    if not duplicates:
        for group in known.violations("one_per_file"):
            names = listed([record_name(record) for record in group], 8)
            what = f"make one person of {names}, two of them of the same file."
            faults.error("anchors", what, "Keep at most one partner in each file.")
    for a, b in apart[known.labels[apart[:, 0]] == known.labels[apart[:, 1]]]:
        faults.error(
            "anchors and nonmatches",
            f"{record_name(records[a])} and {record_name(records[b])} are said to be one person and not to be.",
            "Remove one of the two.",
        )
    return known, apart, before


def _distinct(
    records: Records, pairs: NDArray[np.int64], what: str, faults: Faults, duplicates: bool
) -> NDArray[np.int64]:
    """Refuse pairs of a record with itself and, unless there may be duplicates, within one file; return the others."""
    pairs = np.sort(pairs, axis=1)
    itself = pairs[:, 0] == pairs[:, 1]
    same_file = records.file_of[pairs[:, 0]] == records.file_of[pairs[:, 1]]
    inside = ~itself & same_file & (not duplicates)
    for a, _ in pairs[itself]:
        faults.error(what, f"{record_name(records[a])} is paired with itself.", "Remove the pair.")
    for a, b in pairs[inside]:
        faults.error(
            what,
            f"{record_name(records[a])} and {record_name(records[b])} are in the same file.",
            "Remove the pair; if a person may have several records in a file, say "
            + {"command line": "--prior ewens_pitman.", "python": "duplicates=True."}.get(
                faults.caller, "duplicates = true in [data]."
            ),
        )
    kept = pairs[~itself & ~inside]
    distinct = np.unique(kept, axis=0)
    if len(distinct) < len(kept):
        faults.note(what, f"{len(kept) - len(distinct):,} pairs are listed again, counted once.")
    return distinct
