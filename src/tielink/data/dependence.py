"""Fields that say the same thing: the model takes fields for independent, so that what two share counts twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from tielink.data.columns import MISSING, Column
from tielink.faults import Faults

__all__ = ["warn_of_dependence"]

Codes = NDArray[np.int64]

ENOUGH = 100
"""Pairs of records that agree in one field, to say anything about another."""
TOLD, BY_CHANCE = 0.8, 0.4
"""A field is told by another one if pairs that agree there agree here this often, and all pairs less than that."""


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
    """Return how often pairs within a file that agree in `by` agree in `told`; None if that is nothing special."""
    known = (by.codes != MISSING) & (told.codes != MISSING)
    file, one, two = file_of[known], by.codes[known], told.codes[known]
    alike = _pairs(file, one)
    if alike < ENOUGH or _pairs(file, two) > BY_CHANCE * _pairs(file, np.zeros_like(one)):
        return None
    share = _pairs(file, one, two) / alike
    return share if share > TOLD else None


def _pairs(*keys: Codes) -> float:
    """Return the number of pairs of records that agree in all keys."""
    combined = np.zeros_like(keys[0])
    for key in keys:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    counts = np.unique(combined, return_counts=True)[1]
    return float((counts * (counts - 1.0)).sum() / 2)
