"""Recall, precision and F₁ of linked pairs, and B³ and the adjusted Rand index of clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage
from tielink.data.scores import pair_keys
from tielink.evaluation.units import Units
from tielink.posterior.score import Score, share

__all__ = ["ClusterScores", "Rates", "cluster_scores", "rates"]


@dataclass(frozen=True)
class Rates:
    """How many links are right, and how many matches were found."""

    matches: int
    links: int
    correct: int
    recall: Score
    """correct / matches."""
    precision: Score
    """correct / links."""
    f1: Score
    """2·correct / (matches + links)."""


def rates(links: Linkage, truth: Linkage, units: Units, left_out: NDArray[np.int64] | None = None) -> Rates:
    """Count pairs; those of `left_out` (record numbers) count neither as links nor as matches."""
    gone = pair_keys(np.empty((0, 2), dtype=np.int64) if left_out is None else left_out)
    said = links.pair_numbers[~np.isin(pair_keys(links.pair_numbers), gone)]
    true = truth.pair_numbers[~np.isin(pair_keys(truth.pair_numbers), gone)]
    right = said[np.isin(pair_keys(said), pair_keys(true))]
    correct, made, there = (units.total(units.of_pairs(pairs)) for pairs in (right, said, true))
    return Rates(
        matches=len(true),
        links=len(said),
        correct=len(right),
        recall=units.score(share(correct, there)),
        precision=units.score(share(correct, made)),
        f1=units.score(share(2 * correct, made + there)),
    )


@dataclass(frozen=True)
class ClusterScores:
    """Scores that take clusters as a whole; all records count, the anchored ones too.

    B³ asks for every record which share of its cluster belongs there (precision), and which share of its person is in
    the cluster (recall), and takes means. The adjusted Rand index is 0 for a random and 1 for the true partition.
    """

    b3_recall: Score
    b3_precision: Score
    b3_f1: Score
    ari: Score


def cluster_scores(links: Linkage, truth: Linkage, units: Units) -> ClusterScores:
    """Compare two partitions."""
    size = len(truth.records)
    _, place, common = np.unique(
        links.labels * np.int64(truth.persons) + truth.labels, return_inverse=True, return_counts=True
    )
    overlap = common[place.ravel()]
    said, true = np.bincount(links.labels)[links.labels], np.bincount(truth.labels)[truth.labels]
    records = units.total(truth.labels)
    recall = units.total(truth.labels, overlap / true) / records
    precision = units.total(truth.labels, overlap / said) / records
    right = links.pair_numbers[np.isin(pair_keys(links.pair_numbers), pair_keys(truth.pair_numbers))]
    correct, made, there = (
        units.total(units.of_pairs(pairs)) for pairs in (right, links.pair_numbers, truth.pair_numbers)
    )
    chance = made * there / max(size * (size - 1) / 2, 1)
    ceiling = (made + there) / 2
    ari = np.divide(correct - chance, ceiling - chance, out=np.ones_like(made), where=ceiling > chance)
    return ClusterScores(
        b3_recall=units.score(recall),
        b3_precision=units.score(precision),
        b3_f1=units.score(2 * precision * recall / (precision + recall)),
        ari=units.score(ari),
    )
