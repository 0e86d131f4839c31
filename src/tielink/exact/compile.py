"""From a compiled problem to what the kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.exact.profiles import Profiles
from tielink.exact.target import Target, make_target
from tielink.faults import Fault, InputError
from tielink.model.problem import Problem

__all__ = ["adjacency", "check_files", "compile_target"]

LINKS = {"logit": 0, "probit": 1}


def check_files(problem: Problem) -> None:
    """Raise an `InputError` unless there are two files."""
    if len(problem.sizes) != 2:
        raise InputError(
            [
                Fault(
                    "sample",
                    f"the sampler of pairs links two files; {len(problem.sizes)} are given.",
                    "Other numbers of files are sampled as clusters.",
                )
            ]
        )


def compile_target(problem: Problem) -> tuple[Target, Profiles]:
    """Return the target, its Bayes factors still zero, and the profile part that fills them in."""
    check_files(problem)
    network = problem.network
    first, second = problem.sizes
    ties = (None, None) if network is None else network.ties
    target = make_target(
        adjacency_a=adjacency(first, ties[0]),
        adjacency_b=adjacency(second, ties[1]),
        observed=[edges is not None for edges in ties],
        log_bf=np.zeros((first, second)),
        log_prior=problem.linkage.log_by_matches,
        anchor_a=_anchors(problem),
        dimension=1 if network is None else network.dimension,
        intercept_sd=(1.0, 1.0) if network is None else network.intercept_sd,
        spread_shape=1.0 if network is None else network.spread_shape,
        spread_scale=1.0 if network is None else network.spread_scale,
        link=0 if network is None else LINKS[network.link],
    )
    return target, Profiles(problem)


def adjacency(size: int, ties: NDArray[np.int64] | None) -> NDArray[np.uint8]:
    """Return ties as a symmetric matrix of zeros and ones."""
    matrix = np.zeros((size, size), dtype=np.uint8)
    if ties is not None:
        matrix[ties[:, 0], ties[:, 1]] = 1
        matrix[ties[:, 1], ties[:, 0]] = 1
    return matrix


def _anchors(problem: Problem) -> NDArray[np.int64]:
    """Return the anchored partner in the second file of each record of the first; −1 for none."""
    first = problem.sizes[0]
    labels = problem.linkage.anchors
    partner = np.full(first, -1, dtype=np.int64)
    holder = {int(label): record for record, label in enumerate(labels[first:])}
    for record, label in enumerate(labels[:first]):
        partner[record] = holder.get(int(label), -1)
    return partner
