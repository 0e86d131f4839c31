"""From a compiled problem to what the kernels of clusters take."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.exact import candidates as search
from tielink.exact.clusters.space import Space
from tielink.exact.clusters.state import FREE, ONE_PER_FILE, PAIRS, Rules
from tielink.exact.compile import LINKS, adjacency
from tielink.faults import Fault, InputError
from tielink.model.cluster_priors import OnePerFile
from tielink.model.problem import Problem

__all__ = ["Candidates", "check_clusters", "compile_candidates", "compile_rules", "compile_space"]

EVERY_PAIR = 1_200_000
"""With ties, up to this many pairs all are candidates: ties may speak for a pair whose profiles do not."""

STRONG = 7.0
"""The doubt (see `exact.candidates`) up to which a candidate is strong."""

FEW_RECORDS = 40
"""Up to this many records all pairs are candidates, and strong ones."""


class Candidates(NamedTuple):
    """For every record the records it might be one person with; see `exact.candidates`."""

    begin: NDArray[np.int64]
    record: NDArray[np.int64]
    strong: NDArray[np.bool_]
    """Whether profiles speak for the pair; clusters of several records are options only by such a candidate."""


def check_clusters(problem: Problem) -> None:
    """Raise an `InputError` for what this sampler cannot do."""
    if len(problem.sizes) == 1 and problem.linkage.allowed != "free":
        fault = Fault(
            "sample",
            "one file is given, and the linkage prior only links records of different files.",
            "To find duplicates, use EwensPitman(max_size=4) or NegativeBinomial(max_size=4).",
        )
        raise InputError([fault])


def compile_rules(problem: Problem) -> Rules:
    """Return the class of partitions and their prior."""
    linkage = problem.linkage
    _, unit_of = np.unique(linkage.anchors, return_inverse=True)
    unit_of = unit_of.ravel()
    one_per_file = isinstance(linkage.clusters, OnePerFile)
    mode = PAIRS if linkage.clusters is None else ONE_PER_FILE if one_per_file else FREE
    rate = (linkage.clusters.a, linkage.clusters.b) if isinstance(linkage.clusters, OnePerFile) else (1.0, 1.0)
    both = np.concatenate([linkage.nonmatches, linkage.nonmatches[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    return Rules(
        mode,
        linkage.largest,
        problem.file_of.astype(np.int64),
        unit_of.astype(np.int64),
        np.concatenate([[0], np.cumsum(np.bincount(unit_of))]).astype(np.int64),
        np.argsort(unit_of, kind="stable").astype(np.int64),
        np.searchsorted(both[:, 0], np.arange(problem.records + 1)).astype(np.int64),
        np.ascontiguousarray(both[:, 1], dtype=np.int64),
        np.ascontiguousarray(linkage.log_by_matches),
        np.array(rate, dtype=float),
        np.array(problem.sizes, dtype=np.int64),
        np.ascontiguousarray(linkage.settled, dtype=np.int64),
        not problem.fields,
    )


def compile_candidates(problem: Problem) -> Candidates:
    """Find the candidates of every record; with ties, profiles alone do not rule a pair out."""
    if not problem.fields or problem.records <= FEW_RECORDS:
        wide = narrow = search.find_candidates(problem, every_pair=EVERY_PAIR)
    else:
        wide = search.find_candidates(problem, every_pair=EVERY_PAIR if problem.network is not None else 0)
        narrow = search.find_candidates(problem, every_pair=0, doubt=STRONG)
    keys = [
        np.repeat(np.arange(problem.records), np.diff(found.indptr)) * problem.records + found.neighbours
        for found in (wide, narrow)
    ]
    return Candidates(wide.indptr, wide.neighbours, np.isin(keys[0], keys[1]))


def compile_space(problem: Problem) -> Space | None:
    """Return ties as kernels take them; None without any network."""
    network = problem.network
    if network is None:
        return None
    return Space(
        tuple(adjacency(size, ties) for size, ties in zip(problem.sizes, network.ties, strict=True)),
        np.array([ties is not None for ties in network.ties]),
        np.concatenate([[0], np.cumsum(problem.sizes)]).astype(np.int64),
        problem.file_of.astype(np.int64),
        np.ascontiguousarray(network.intercept_sd, dtype=float),
        float(network.spread_shape),
        float(network.spread_scale),
        LINKS[network.link],
        network.dimension,
        1.0,
        network.sociality_scale or 0.0,
        network.correlation_sd or 0.0,
        network.correlated if sum(ties is not None for ties in network.ties) > 1 else None,
    )
