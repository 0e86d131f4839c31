"""What kernels condition on, compiled from a `Problem`: the rules of the linkage, lists of candidates, ties."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.model.cluster_priors import OnePerFile
from tielink.model.problem import Problem
from tielink.sampler.partition import FREE, ONE_PER_FILE, PAIRS, Rules
from tielink.sampler.table import Table
from tielink.sampler.ties import Ties

__all__ = ["Data", "Lists", "compile_rules", "make_lists"]


class Lists(NamedTuple):
    """
    For every record the records it might be one person with: entry e of record r, begin[r] <= e < begin[r + 1].

    Attributes
    ----------
    begin : (I + 1,) int64
    record : (2 P,) int64
        Increasing within each list; the relation is symmetric.
    pair : (2 P,) int64
        The number of the pair.
    strong : (2 P,) bool
        Whether profiles speak for the pair; clusters of several records are options only by such a candidate.
    value : (P,) float64
        Profile evidence of each pair.
    chance : (P,) float64
        The conditional probabilities that each pair is linked, summed up while `tally[0]` is set.
    tally : (1,) bool
    """

    begin: NDArray[np.int64]
    record: NDArray[np.int64]
    pair: NDArray[np.int64]
    strong: NDArray[np.bool_]
    value: NDArray[np.float64]
    chance: NDArray[np.float64]
    tally: NDArray[np.bool_]


class Data(NamedTuple):
    """Everything that a move of the partition reads."""

    rules: Rules
    lists: Lists
    table: Table
    ties: Ties
    seen: NDArray[np.int64]
    """Scratch: `seen[slot + 1] == seen[0]` for the clusters that were looked at."""


def make_lists(pairs: NDArray[np.int64], strong: NDArray[np.bool_], records: int) -> Lists:
    """Return lists of these pairs r < r', which must be sorted and different."""
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    numbers = np.tile(np.arange(len(pairs)), 2)
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    begin = np.concatenate([[0], np.cumsum(np.bincount(ends[:, 0], minlength=records))]).astype(np.int64)
    return Lists(
        begin,
        np.ascontiguousarray(ends[order, 1]),
        np.ascontiguousarray(numbers[order]),
        np.ascontiguousarray(strong[numbers[order]]),
        np.zeros(len(pairs)),
        np.zeros(len(pairs)),
        np.zeros(1, dtype=np.bool_),
    )


def compile_rules(problem: Problem) -> Rules:
    """Return the class of partitions and their prior."""
    linkage = problem.linkage
    _, unit_of = np.unique(linkage.anchors, return_inverse=True)
    unit_of = unit_of.ravel()
    one_per_file = isinstance(linkage.clusters, OnePerFile)
    mode = PAIRS if linkage.clusters is None else ONE_PER_FILE if one_per_file else FREE
    rate = (linkage.clusters.a, linkage.clusters.b) if isinstance(linkage.clusters, OnePerFile) else (1.0, 1.0)
    both = np.concatenate([linkage.nonmatches, linkage.nonmatches[:, ::-1]])
    both = both[np.lexsort((both[:, 1], both[:, 0]))]
    return Rules(
        mode,
        linkage.largest,
        problem.file_of.astype(np.int64),
        unit_of.astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(unit_of))]).astype(np.int64),
        np.argsort(unit_of, kind="stable").astype(np.int64),
        np.searchsorted(both[:, 0], np.arange(problem.records + 1)).astype(np.int64),
        np.ascontiguousarray(both[:, 1], dtype=np.int64),
        linkage.log_by_matches.copy(),
        np.array(rate, dtype=float),
        np.array(problem.sizes, dtype=np.int64),
        np.ascontiguousarray(linkage.settled, dtype=np.int64),
    )
