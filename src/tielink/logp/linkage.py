"""Log prior probability of a linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.model.cluster_priors import OnePerFile, SizePrior, log_density_on_line, to_line
from tielink.model.problem import Problem
from tielink.specification import Beta

__all__ = ["log_hyperparameters", "log_linkage"]

Floats = NDArray[np.float64]
NOTHING = np.empty(0)


def log_linkage(problem: Problem, labels: NDArray[np.int64], hyperparameters: Floats = NOTHING) -> float:
    """Return log p(ξ | hyperparameters); −∞ for a linkage outside the prior's class or against what is known.

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
    return float(linkage.log_by_matches[matches])


def log_hyperparameters(problem: Problem, values: NDArray[np.float64]) -> float:
    """Return the log prior density of the linkage prior's hyperparameters."""
    assert isinstance(problem.linkage.clusters, SizePrior)
    total = 0.0
    for value, prior in zip(values, problem.linkage.clusters.hyperparameters.values(), strict=True):
        jacobian = np.log(value) + (np.log1p(-value) if isinstance(prior, Beta) else 0.0)
        total += log_density_on_line(prior, to_line(prior, float(value))) - float(jacobian)
    return total
