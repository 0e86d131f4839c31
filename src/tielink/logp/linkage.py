"""Log prior probability of a linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.model.activity import ActivityProblem, log_binomials
from tielink.model.problem import Problem

__all__ = ["log_activity", "log_elementary", "log_linkage", "log_unevenness"]

Floats = NDArray[np.float64]


def log_linkage(problem: Problem, labels: NDArray[np.int64], activity: float = 0.0) -> float:
    """Return log p(ξ | α); −∞ for a linkage outside the prior's class or against what is known.

    Allowed are singletons and pairs of records of different files that keep every anchor together and every
    known non-match apart. A known non-match multiplies p(ξ) by an indicator; nothing is renormalised.
    """
    linkage = problem.linkage
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    together = labels[order][1:] == labels[order][:-1]
    pairs = np.column_stack([order[:-1], order[1:]])[together]
    if sizes.max(initial=0) > 2 or (problem.file_of[pairs[:, 0]] == problem.file_of[pairs[:, 1]]).any():
        return -np.inf
    apart = linkage.nonmatches
    if (labels[apart[:, 0]] == labels[apart[:, 1]]).any():
        return -np.inf
    anchored = linkage.anchors[pairs[:, 0]] == linkage.anchors[pairs[:, 1]]
    if anchored.sum() < linkage.anchored_pairs:
        return -np.inf
    matches = len(pairs) - linkage.anchored_pairs
    log = float(linkage.log_by_matches[matches])
    if linkage.activity is None:
        return log
    linked = np.concatenate(linkage.activity.scores)[pairs[~anchored]].sum()
    return log + activity * float(linked) + float(log_unevenness(linkage.activity, activity)[matches])


def log_unevenness(problem: ActivityProblem, activity: float) -> Floats:
    """Return, for m = 0, 1, … free matches, what α changes in log p(ξ) besides the linked free records' own α·z.

    p(ξ) = BetaBinomial(m)·Π w_a v_b/(m! e_m(w) e_m(v)) against BetaBinomial(m)/(m! C(n₁,m) C(n₂,m)) at α = 0: the
    binomial coefficients over the polynomials. Anchors that count add to m, and their weights are part of it.
    """
    sizes = [int(counted.sum()) for counted in problem.counted]
    most = min(sizes)
    total = np.full(most + 1, activity * problem.anchor_score)
    for size, scores, counted in zip(sizes, problem.scores, problem.counted, strict=True):
        total += log_binomials(size, most) - log_elementary(activity * scores[counted], most)
    return np.asarray(total[problem.anchors :])


def log_elementary(log_weights: Floats, most: int) -> Floats:
    """Return log e_k(w) for k = 0 … most: e_k gains w_i·e_{k−1} with every weight w_i.

    >>> np.exp(log_elementary(np.log([1.0, 2.0, 3.0]), 3)).round(9)
    array([ 1.,  6., 11.,  6.])
    """
    log = np.full(most + 1, -np.inf)
    log[0] = 0.0
    for weight in log_weights:
        log[1:] = np.logaddexp(log[1:], log[:-1] + weight)
    return log


def log_activity(problem: ActivityProblem, activity: float) -> float:
    """Return log N(α; 0, sd²)."""
    return -0.5 * (activity / problem.sd) ** 2 - float(np.log(problem.sd * np.sqrt(2 * np.pi)))
