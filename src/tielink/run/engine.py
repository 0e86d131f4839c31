"""Which sampler a problem gets: pairs between two files have one of their own, everything else goes to clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tielink.faults import Fault, InputError
from tielink.model.problem import Problem
from tielink.run.job import Job

if TYPE_CHECKING:
    from tielink.run.chain import Chain
    from tielink.run.cluster_chain import ClusterChain

__all__ = ["check_engine", "is_pairs", "make_chain"]


def is_pairs(problem: Problem) -> bool:
    """Whether the problem is one of pairs between two files."""
    return len(problem.sizes) == 2 and problem.linkage.clusters is None


def check_engine(job: Job) -> None:
    """Raise an `InputError` for what the samplers cannot do."""
    if is_pairs(job.problem):
        return
    from tielink.exact.clusters.compile import check_clusters

    if job.run.sampler == "paper":
        fault = Fault("sample", "the paper's algorithm links pairs between two files.", 'Use sampler="exact".')
        raise InputError([fault])
    check_clusters(job.problem)


def make_chain(job: Job, index: int) -> Chain | ClusterChain:
    """Make chain number `index` of a job."""
    if is_pairs(job.problem):
        from tielink.run.chain import Chain

        return Chain(job, index)
    from tielink.run.cluster_chain import ClusterChain

    return ClusterChain(job, index)
