"""Which sampler a problem gets: pairs of two files with ties, pairs by profiles alone, or clusters."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tielink.faults import Fault, InputError
from tielink.model.problem import Problem
from tielink.run.job import Job

if TYPE_CHECKING:
    from tielink.run.chain import Chain
    from tielink.run.cluster_chain import ClusterChain
    from tielink.run.profile_chain import ProfileChain

__all__ = ["AnyChain", "check_engine", "is_pairs", "make_chain"]

AnyChain: TypeAlias = "Chain | ProfileChain | ClusterChain"


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


def make_chain(job: Job, index: int) -> AnyChain:
    """Make chain number `index` of a job. Only what the job needs is imported."""
    problem = job.problem
    if not is_pairs(problem):
        from tielink.run.cluster_chain import ClusterChain

        return ClusterChain(job, index)
    if problem.network is None and problem.linkage.activity is None and job.run.sampler == "exact":
        from tielink.run.profile_chain import ProfileChain

        return ProfileChain(job, index)
    from tielink.run.chain import Chain

    return Chain(job, index)
