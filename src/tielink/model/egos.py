"""Who takes part in the correlation of ties: everybody but egos, declared or detected."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.records import Record
    from tielink.model.network import TieCorrelation

__all__ = ["egos", "taking_part"]

SMALLEST = 4
"""Files with fewer records have no detected egos: in a file of two or three, being tied to all is nothing special."""


def egos(correlation: TieCorrelation, dataset: Dataset) -> list[Record]:
    """Return the records that are left out: those declared, or those tied to everybody in their file."""
    if isinstance(correlation.egos, Mapping):
        return [(name, key) for name, ids in correlation.egos.items() for key in ids]
    found: list[Record] = []
    for name, ids in zip(dataset.files, dataset.records.ids, strict=True):
        ties = dataset.ties[name]
        if ties is None or len(ids) < SMALLEST:
            continue
        degree = np.bincount(ties.ravel(), minlength=len(ids))
        found += [(name, ids[record]) for record in np.flatnonzero(degree == len(ids) - 1)]
    return found


def taking_part(correlation: TieCorrelation, dataset: Dataset, faults: Faults) -> NDArray[np.bool_]:
    """Return for every record whether it takes part; unknown egos go on the list of faults."""
    part = np.ones(len(dataset.records), dtype=bool)
    for record in egos(correlation, dataset):
        try:
            part[dataset.records.number(record, written=True)] = False
        except KeyError as error:
            faults.error("model.network", f"egos: {error.args[0]}.", "Name files and ids as the data do.")
    return part
