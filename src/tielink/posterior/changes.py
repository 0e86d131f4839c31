"""What changed from one posterior to another: links that are new, fell, or are more or less likely than they were."""

from __future__ import annotations

from typing import Any

import numpy as np

from tielink.data.frames import to_frame
from tielink.data.scores import pair_keys
from tielink.posterior.posterior import Posterior

__all__ = ["changes"]

LINKED = 0.5
MOVED = 0.1
"""A change of probability by less than this is none."""


def changes(before: Posterior, after: Posterior, least: float = MOVED) -> Any:
    """Return a frame of changed pairs: `file_a, id_a, file_b, id_b, before, after, change`; see `changes_since`."""
    files, probability = after.records, []
    number: dict[Any, int] = {}
    for posterior in (before, after):
        records, found = posterior.records, posterior.pair_probabilities
        place = np.array([number.setdefault(records[r], len(number)) for r in range(len(records))], dtype=np.int64)
        keys = pair_keys(place[found.pairs]) if len(found.pairs) else np.empty(0, dtype=np.int64)
        probability.append(dict(zip(keys.tolist(), found.probability.tolist(), strict=True)))
    names = list(number)
    old, new = probability
    rows = []
    for key in old.keys() | new.keys():
        a, b = names[key >> 32], names[key & 0xFFFFFFFF]
        was, now = old.get(key, 0.0), new.get(key, 0.0)
        if abs(was - now) >= least:
            gone = a not in files or b not in files
            word = "withdrawn" if gone else _word(was, now)
            rows.append((*a, *b, was, now, word))
    rows.sort(key=lambda row: (-abs(row[5] - row[4]), [str(part) for part in row[:4]]))
    columns = ("file_a", "id_a", "file_b", "id_b", "before", "after", "change")
    return to_frame({name: [row[at] for row in rows] for at, name in enumerate(columns)}, after.frame_kind)


def _word(before: float, after: float) -> str:
    if (before > LINKED) == (after > LINKED):
        return "more likely" if after > before else "less likely"
    return "new link" if after > LINKED else "link fell"
