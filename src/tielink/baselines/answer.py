"""What all baselines share: whom they may link, and how they answer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.scores import PairScores, ScoredLinkage, pair_keys
from tielink.faults import Faults

__all__ = ["answer", "barred", "check_two_files", "free_records", "mutual_best", "networks"]

Pairs = NDArray[np.int64]


def check_two_files(data: Dataset, who: str, *, network: bool = False) -> None:
    """Refuse data that the baseline is not for."""
    faults = Faults()
    if len(data.files) != 2:
        faults.error(who, f"is for two files; here are {len(data.files)}.", "Give the files two at a time.")
    if network:
        for name in data.files:
            if data.ties[name] is None:
                faults.error(who, f"file {name!r} has no network.", "Give its ties.")
    faults.raise_errors()


def free_records(data: Dataset) -> NDArray[np.bool_]:
    """Return which records are not anchored: anchors stay as they are, and nobody else gets their records."""
    free = np.ones(len(data.records), dtype=bool)
    free[data.anchors.pair_numbers.ravel()] = False
    return free


def barred(data: Dataset, pairs: Pairs) -> NDArray[np.bool_]:
    """Return which pairs may not be linked: known non-matches, and those of anchored records."""
    settled = np.asarray(~free_records(data)[pairs].all(axis=1))
    if len(data.nonmatches):
        settled |= np.isin(pair_keys(pairs), pair_keys(data.nonmatches))
    return settled


def networks(data: Dataset) -> tuple[csr_array, csr_array]:
    """Return the symmetric 0/1 adjacency matrices of the two files."""
    matrices = []
    for name, size in zip(data.files, data.records.sizes, strict=True):
        ties = data.ties[name]
        assert ties is not None
        ends = np.concatenate([ties, ties[:, ::-1]])
        matrices.append(csr_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(size, size)))
    return matrices[0], matrices[1]


def mutual_best(pairs: Pairs, values: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the rows of pairs that are, for both their records, strictly better than all other pairs.

    >>> mutual_best(np.array([[0, 2], [0, 3], [1, 3]]), np.array([0.9, 0.8, 0.7]), 4).tolist()
    [0]
    """
    best = np.full(size, -np.inf)
    for side in pairs.T:
        np.maximum.at(best, side, values)
    top = values[:, None] == best[pairs]
    times = np.bincount(pairs[top], minlength=size)
    return np.flatnonzero((top & (times[pairs] == 1)).all(axis=1))


def answer(
    data: Dataset, links: Pairs, scored: Pairs, values: NDArray[np.float64], *, probabilities: bool = False
) -> ScoredLinkage:
    """Make the answer: these links and the anchors, with the scores of free pairs."""
    links, scored = np.asarray(links, dtype=np.int64).reshape(-1, 2), np.asarray(scored).reshape(-1, 2)
    links = np.concatenate([data.anchors.pair_numbers, links[~barred(data, links)]])
    kept = ~barred(data, scored)
    scores = PairScores(data.records, scored[kept], values[kept], probabilities, data.frame_kind)
    return ScoredLinkage(data.records, Linkage.joining(data.records, links).labels, scores, frame_kind=data.frame_kind)
