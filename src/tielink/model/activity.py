"""The activity prior meets two files: whose degree counts, and the normaliser of the linkages with m matches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tielink.model.linkage_priors import MatchRate

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.model.linkage_priors import LinkagePrior

__all__ = ["ActivityProblem", "compile_activity", "log_binomials", "standardised_degrees"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ActivityProblem:
    """Degrees that weigh on who is matched: α ~ N(0, sd²), w = exp(α·z)."""

    sd: float
    scores: tuple[Floats, Floats]
    """z of each file's records, 0 for those that do not count."""
    counted: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    """Which records the polynomials e_m run over: those not anchored, or all if anchors inform."""
    anchors: int
    """How many anchored pairs count, besides the m free ones."""
    anchor_score: float
    """Σ z_a + z_b over the anchored pairs that count."""


def log_binomials(size: int, most: int) -> Floats:
    """Return log C(size, k) for k = 0 … most, what log e_k(w) is at α = 0."""
    k = np.arange(most + 1)
    return np.asarray(gammaln(size + 1) - gammaln(k + 1) - gammaln(size - k + 1))


def standardised_degrees(size: int, ties: NDArray[np.int64] | None, counted: NDArray[np.bool_]) -> Floats:
    """Return z = log(1 + degree), standardised over the records that count; 0 for others, and where all are alike."""
    scores = np.zeros(size)
    if ties is None or not counted.any():
        return scores
    logs = np.log1p(np.bincount(ties.ravel(), minlength=size))
    deviation = logs[counted].std()
    if deviation > 0:
        scores[counted] = (logs[counted] - logs[counted].mean()) / deviation
    return scores


def compile_activity(prior: LinkagePrior, dataset: Dataset) -> ActivityProblem | None:
    """Return the activity part of a prior for two files, None where it is off."""
    if not isinstance(prior, MatchRate) or isinstance(prior.activity, bool):
        return None
    labels, sizes = dataset.anchors.labels, dataset.records.sizes
    alone = np.bincount(labels)[labels] == 1
    counts = np.ones_like(alone) if prior.anchors_inform else alone
    first = sizes[0]
    counted = (counts[:first], counts[first:])
    scores = tuple(
        standardised_degrees(size, dataset.ties[name], who)
        for name, size, who in zip(dataset.files, sizes, counted, strict=True)
    )
    anchors = len(dataset.anchors.pair_numbers) if prior.anchors_inform else 0
    anchored = np.concatenate(scores)[~alone].sum() if prior.anchors_inform else 0.0
    return ActivityProblem(prior.activity.sd, (scores[0], scores[1]), counted, anchors, float(anchored))
