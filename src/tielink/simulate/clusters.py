"""Draw a linkage in which persons may have more than two records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tielink.data.linkage import canonical
from tielink.faults import Fault, InputError
from tielink.model.cluster_priors import OnePerFile, SizePrior
from tielink.model.problem import Problem

__all__ = ["draw_clusters"]

Codes = NDArray[np.int64]

MOST_TRIES = 100_000


def draw_clusters(rng: np.random.Generator, problem: Problem, hyperparameters: NDArray[np.float64]) -> Codes:
    """Draw a linkage from its prior; draws against what is known are thrown away."""
    from tielink.model.cluster_sizes import draw_sizes  # numba, which opening a posterior must not need

    prior, known = problem.linkage.clusters, problem.linkage
    _, first = np.unique(known.anchors, return_index=True)
    for _ in range(MOST_TRIES):
        if isinstance(prior, SizePrior):
            sizes = draw_sizes(rng, *prior.family(hyperparameters, problem.records), problem.records)
            labels = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
        else:
            assert isinstance(prior, OnePerFile)
            labels = _file_by_file(rng, prior, problem)
        apart = known.nonmatches
        together = (labels == labels[first][known.anchors]).all()
        if together and not (labels[apart[:, 0]] == labels[apart[:, 1]]).any():
            return canonical(labels)
    fault = Fault("simulate", "no linkage of this prior keeps what is known.", "Simulate without anchors.")
    raise InputError([fault])


def _file_by_file(rng: np.random.Generator, prior: OnePerFile, problem: Problem) -> Codes:
    """Match each file in turn to random persons of the files before it; anchored records follow their anchors."""
    labels = np.full(problem.records, -1)
    anchors, persons = problem.linkage.anchors, 0
    for file in range(len(problem.sizes)):
        here = np.flatnonzero(problem.file_of == file)
        taken = []
        for record in here:
            earlier = np.flatnonzero((anchors == anchors[record]) & (problem.file_of < file))
            if len(earlier) and not prior.anchors_inform:
                labels[record] = labels[earlier[0]]
                taken.append(labels[record])
        free = rng.permutation(here[labels[here] < 0])
        known = rng.permutation(np.setdiff1d(np.arange(persons), taken))
        m = np.arange(min(len(free), len(known)) + 1)
        ways = sum(gammaln(n + 1) - gammaln(n - m + 1) for n in (len(free), len(known))) - gammaln(m + 1)
        weight = np.exp(prior.log_file(m, len(free), len(known)) + ways)
        matches = int(rng.choice(m, p=weight / weight.sum()))
        labels[free[:matches]] = known[:matches]
        labels[free[matches:]] = persons + np.arange(len(free) - matches)
        persons += len(free) - matches
    return labels
