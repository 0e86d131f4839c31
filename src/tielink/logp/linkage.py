"""Log prior probability of a linkage."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.model.problem import Problem

__all__ = ["log_linkage"]


def log_linkage(problem: Problem, labels: NDArray[np.int64]) -> float:
    """Return log p(ξ); −∞ for a linkage outside the prior's class or against what is known.

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
    return float(linkage.log_by_matches[len(pairs) - linkage.anchored_pairs])
