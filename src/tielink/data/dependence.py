"""Fields that say the same thing: the model takes fields for independent, so that what two share counts twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tielink.data.columns import MISSING, Column
from tielink.faults import Faults

__all__ = ["warn_of_dependence"]

Codes = NDArray[np.int64]

VALUES, RECORDS = 5, 50
"""Values that two records or more have, and records that have them, to say anything about another field."""
TOLD, BY_CHANCE = 0.8, 0.4
"""A field is told by another one if records that agree there agree here this often, and all records less than that."""


def warn_of_dependence(columns: Mapping[str, Column], file_of: Codes, faults: Faults) -> None:
    """Warn of fields that another one tells, by records of one file, which are different persons.

    In a single file records may be duplicates, which agree in everything, so nothing is said there.
    """
    if len(np.unique(file_of)) < 2:
        return
    tellers: dict[str, str] = {}
    for told, column in columns.items():
        shares = {by: _agreement(other, column, file_of) for by, other in columns.items() if by != told}
        found = {by: share for by, share in shares.items() if share is not None}
        if found:
            by = tellers[told] = max(found, key=lambda name: found[name])
            if tellers.get(by) == told:  # said before
                continue
            faults.warning(
                f"field {told!r}",
                f"is told by {by!r}: of records that agree there, {found[by]:.0%} agree here too. The model takes "
                "fields for independent, so that what both say counts twice.",
                "Leave one of the two out, and compare.",
            )


def _agreement(by: Column, told: Column, file_of: Codes) -> float | None:
    """Return how often records of a file that agree in `by` agree in `told`; None if that is nothing special."""
    known = (by.codes != MISSING) & (told.codes != MISSING)
    file, one, two = file_of[known], by.codes[known], told.codes[known]
    sizes, share = _alike(_joined(file, one), two)
    enough = len(sizes) >= VALUES and sizes.sum() >= RECORDS
    return share if enough and share > TOLD and _alike(file, two)[1] < BY_CHANCE else None


def _joined(one: Codes, two: Codes) -> Codes:
    """Return codes of pairs of codes."""
    return one * (int(two.max(initial=0)) + 1) + two


def _alike(group: Codes, codes: Codes) -> tuple[Codes, float]:
    """Return the sizes of groups of two or more, and how often two records of one group have the same code.

    Every group counts by its records: by its pairs, one large group would be all.
    """
    group = np.unique(group, return_inverse=True)[1]
    sizes = np.bincount(group, minlength=1)
    cells, counts = np.unique(_joined(group, codes), return_counts=True)
    owner = cells // (int(codes.max(initial=0)) + 1)
    pairs = np.bincount(owner, counts * (counts - 1.0), minlength=len(sizes))
    pairs, sizes = pairs[sizes > 1], sizes[sizes > 1]
    share = pairs / (sizes * (sizes - 1.0))
    return sizes, float(np.average(share, weights=sizes)) if len(sizes) else 0.0
