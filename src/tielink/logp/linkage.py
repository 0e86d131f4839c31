"""Log prior probability of a linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.model.activity import ActivityProblem, log_binomials
from tielink.model.cluster_priors import OnePerFile, SizePrior, log_density_on_line, to_line
from tielink.model.problem import Problem
from tielink.specification import Beta

__all__ = ["log_activity", "log_elementary", "log_hyperparameters", "log_linkage", "log_unevenness"]

Floats = NDArray[np.float64]
NOTHING = np.empty(0)


def log_linkage(
    problem: Problem, labels: NDArray[np.int64], hyperparameters: Floats = NOTHING, activity: float = 0.0
) -> float:
    """Return log p(ξ | hyperparameters, α); −∞ for a linkage outside the prior's class or against what is known.

    Allowed are partitions of the prior's class that keep every anchor together and every known non-match apart. A known
    non-match multiplies p(ξ) by an indicator; nothing is renormalised. Nor is it for anchors where the prior knows
    cluster sizes only: there, an anchor is seen like any other link, and tells of the hyperparameters.
    """
    linkage = problem.linkage
    order = np.argsort(labels, kind="stable")
    sizes = np.bincount(labels)
    sizes = sizes[sizes > 0]
    together = labels[order][1:] == labels[order][:-1]
    pairs = np.column_stack([order[:-1], order[1:]])[together]
    same_file = bool((problem.file_of[pairs[:, 0]] == problem.file_of[pairs[:, 1]]).any())
    if sizes.max(initial=0) > linkage.largest or (linkage.allowed != "free" and same_file):
        return -np.inf
    apart = linkage.nonmatches
    if (labels[apart[:, 0]] == labels[apart[:, 1]]).any():
        return -np.inf
    anchored = np.zeros(len(labels), dtype=np.int64)
    _, first = np.unique(linkage.anchors, return_index=True)
    anchored[:] = labels[first][linkage.anchors]
    if (anchored != labels).any():
        return -np.inf
    if isinstance(linkage.clusters, SizePrior):
        return linkage.clusters.log_probability(hyperparameters, sizes)
    if isinstance(linkage.clusters, OnePerFile):
        # A stable sort by label keeps records in the order of files, so each person's first one is in its first file.
        begins = order[np.concatenate([[True], ~together])]
        first_file = np.bincount(problem.file_of[begins], minlength=len(problem.sizes))
        return linkage.clusters.log_probability(first_file, problem.sizes, linkage.settled)
    matches = len(pairs) - linkage.anchored_pairs
    log = float(linkage.log_by_matches[matches])
    if linkage.activity is None:
        return log
    free = linkage.anchors[pairs[:, 0]] != linkage.anchors[pairs[:, 1]]
    linked = np.concatenate(linkage.activity.scores)[pairs[free]].sum()
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


def log_hyperparameters(problem: Problem, values: NDArray[np.float64]) -> float:
    """Return the log prior density of the linkage prior's hyperparameters."""
    assert isinstance(problem.linkage.clusters, SizePrior)
    total = 0.0
    for value, prior in zip(values, problem.linkage.clusters.hyperparameters.values(), strict=True):
        jacobian = np.log(value) + (np.log1p(-value) if isinstance(prior, Beta) else 0.0)
        total += log_density_on_line(prior, to_line(prior, float(value))) - float(jacobian)
    return total
