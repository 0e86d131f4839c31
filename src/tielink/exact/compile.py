"""From a compiled problem to what the kernels take."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.exact.activity import Activity
from tielink.exact.profiles import Profiles
from tielink.exact.target import Target, make_target
from tielink.faults import Fault, InputError
from tielink.model.problem import Problem

__all__ = ["adjacency", "anchored_partners", "check_files", "compile_activity", "compile_target"]

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
    known = anchored_partners(problem)[:first]
    target = make_target(
        adjacency_a=adjacency(first, ties[0]),
        adjacency_b=adjacency(second, ties[1]),
        observed=[edges is not None for edges in ties],
        log_bf=np.zeros((first, second)),
        log_prior=problem.linkage.log_by_matches.copy(),
        anchor_a=np.where(known >= 0, known - first, -1),
        dimension=1 if network is None else network.dimension,
        intercept_sd=(1.0, 1.0) if network is None else network.intercept_sd,
        spread_shape=1.0 if network is None else network.spread_shape,
        spread_scale=1.0 if network is None else network.spread_scale,
        link=0 if network is None else LINKS[network.link],
        correlation_sd=0.0 if network is None else network.correlation_sd or 0.0,
        correlated=_taking_part(problem),
        sociality_scale=0.0 if network is None else network.sociality_scale or 0.0,
    )
    return target, Profiles(problem)


def compile_activity(problem: Problem) -> Activity | None:
    """Return the activity part of the linkage prior, None where it is off."""
    linkage = problem.linkage
    return None if linkage.activity is None else Activity(linkage.activity, linkage.log_by_matches)


def _taking_part(problem: Problem) -> tuple[NDArray[np.bool_], NDArray[np.bool_]] | None:
    if problem.network is None or problem.network.correlated is None:
        return None
    first = problem.sizes[0]
    return problem.network.correlated[:first], problem.network.correlated[first:]


def adjacency(size: int, ties: NDArray[np.int64] | None) -> NDArray[np.uint8]:
    """Return ties as a symmetric matrix of zeros and ones."""
    matrix = np.zeros((size, size), dtype=np.uint8)
    if ties is not None:
        matrix[ties[:, 0], ties[:, 1]] = 1
        matrix[ties[:, 1], ties[:, 0]] = 1
    return matrix


def anchored_partners(problem: Problem) -> NDArray[np.int64]:
    """Return the known partner of each record, by record numbers; −1 for none."""
    labels = problem.linkage.anchors
    partner = np.full(problem.records, -1, dtype=np.int64)
    order = np.argsort(labels, kind="stable")
    same = np.flatnonzero(labels[order][1:] == labels[order][:-1])
    first, second = order[same], order[same + 1]
    partner[first], partner[second] = second, first
    return partner
