"""What an estimate starts from: pairs with probabilities, and what is known beforehand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage, LinkageClass
from tielink.data.records import Records
from tielink.data.scores import PairScores
from tielink.faults import refuse
from tielink.posterior.posterior import Posterior

__all__ = ["Candidates", "candidates"]


@dataclass(frozen=True, eq=False)
class Candidates:
    """Pairs with probabilities; pairs that are known to be one person, or not to be."""

    scores: PairScores
    allowed: LinkageClass
    together: NDArray[np.int64]
    apart: NDArray[np.int64]

    @property
    def records(self) -> Records:
        """The records that are linked."""
        return self.scores.records

    def linkage(self, pairs: NDArray[np.int64]) -> Linkage:
        """Make the linkage of these pairs of record numbers."""
        return Linkage.joining(self.records, pairs, self.scores.frame_kind)


def candidates(source: Any, data: Dataset | Records | None, allowed: LinkageClass | None) -> Candidates:
    """Take candidates from a posterior, from pair scores, or from another tool's table and the data it is about."""
    none = np.empty((0, 2), dtype=np.int64)
    if isinstance(source, Posterior):
        found = source.pair_probabilities
        scores = PairScores(source.records, found.pairs, found.probability, frame_kind=source.frame_kind)
        allowed = allowed or source.model.linkage_for(len(source.records.files)).allowed
        return Candidates(scores, allowed, source.anchors.reshape(-1, 2), source.nonmatches)
    if not isinstance(source, PairScores):
        if data is None:
            refuse("estimate", "a table of pairs does not say who the records are.", "Give data=, the data set.")
        source = PairScores.from_table(data, source)
    if not source.are_probabilities:
        refuse("estimate", "scores are not probabilities.", "Give probabilities between 0 and 1.")
    classes: dict[int, LinkageClass] = {1: "free", 2: "pairs"}
    allowed = allowed or classes.get(len(source.records.files), "one_per_file")
    if isinstance(data, Dataset):
        return Candidates(source, allowed, data.anchors.pair_numbers, data.nonmatches)
    return Candidates(source, allowed, none, none)
