"""Sociality in clusters of any size: kernel values equal differences of the log joint."""

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from sampler.cluster_worlds import EP, moves_of_persons, put
from tielink.exact.clusters.positions import dyad_log_likelihoods
from tielink.exact.clusters.space import log_gamma
from tielink.exact.sociality import step_log_ratio
from tielink.logp import log_joint, log_joint_terms
from tielink.project import Run
from tielink.run.cluster_chain import ClusterChain
from tielink.run.job import Job


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_kernels_are_differences_of_log_joints(rng, link):
    network = tl.LatentSpace(2, link, 1.5, tl.InverseGamma(6.0, 10.0), sociality=True)
    drawn = tl.simulate.from_prior(rng, tl.Model(network=network, linkage=EP, fields={}), {"a": 9, "b": 5}, {})
    chain, parameters = ClusterChain(Job.make(drawn.model, drawn.dataset, Run()), 0), drawn.parameters
    put(chain, parameters)
    layout, space, problem = chain.layout, chain.space, chain.job.problem
    ties = sum(value for name, value in log_joint_terms(problem, parameters) if name.startswith("ties"))
    assert chain.log_likelihood() == pytest.approx(ties, abs=1e-9)
    out = np.empty(36)
    dyad_log_likelihoods(0, layout, space, out)
    assert np.abs(layout.sociality[0]).min() > 0
    assert out.sum() + _of_second(chain) == pytest.approx(ties, abs=1e-9)
    inside = 0
    for members, points, difference in moves_of_persons(rng, problem, parameters):
        inside += len(set(problem.file_of[members])) < len(members)
        first, second = (log_gamma(u, members, len(members), layout, space) for u in points)
        assert first - second == pytest.approx(difference, abs=1e-9)
    assert inside, "no person has two records in one file: choose another seed"
    for record in (0, 3, 8):
        s = parameters.sociality.copy()
        s[record] += 0.7
        u, x = layout.position[0][:, record].copy(), layout.position[0]
        ours = step_log_ratio(
            u, x, space.adjacency[0][record], record, layout.intercept[0] + layout.sociality[0],
            parameters.sociality[record], s[record], np.empty(9), layout.sociality_sd[0], space.link, 1.0,
        )  # fmt: skip
        joint = log_joint(problem, replace(parameters, sociality=s)) - log_joint(problem, parameters)
        assert ours == pytest.approx(joint, abs=1e-9)


def _of_second(chain):
    out = np.empty(10)
    dyad_log_likelihoods(1, chain.layout, chain.space, out)
    return out.sum()
