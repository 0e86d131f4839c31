"""Positions of persons with any number of records: kernel values equal differences of the log joint."""

import numpy as np
import pytest

import tielink as tl
from sampler.chain_replicates import EP, moves_of_persons, put
from tielink.logp import log_joint_terms
from tielink.network.latent_space.scalars import dyad_log_likelihoods
from tielink.network.latent_space.space import log_gamma
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize(
    ("linkage", "sizes"), [(EP, {"a": 9, "b": 5}), (tl.OnePerFile(4, 2), {"a": 6, "b": 7, "c": 5})]
)
def test_kernels_are_differences_of_log_joints(rng, link, linkage, sizes):
    network = tl.LatentSpace(2, link, 1.5, tl.InverseGamma(6.0, 10.0))
    drawn = tl.simulate.from_prior(rng, tl.Model(network=network, linkage=linkage, fields={}), sizes, {})
    chain, parameters = Chain(Job.make(drawn.model, drawn.dataset, Run()), 0), drawn.parameters
    put(chain, parameters)
    layout, space, problem = chain.network.layout, chain.network.space, chain.problem
    ties = sum(value for name, value in log_joint_terms(problem, parameters) if name.startswith("ties"))
    assert chain.log_likelihood() == pytest.approx(ties, abs=1e-9)
    dyads = [np.empty(size * (size - 1) // 2) for size in sizes.values()]
    for file, out in enumerate(dyads):
        dyad_log_likelihoods(file, layout, space, out)
    assert sum(out.sum() for out in dyads) == pytest.approx(ties, abs=1e-9)
    largest, inside = 0, 0
    for members, points, difference in moves_of_persons(rng, problem, parameters):
        largest = max(largest, len(members))
        inside += len(set(problem.file_of[members])) < len(members)
        first, second = (log_gamma(u, members, len(members), layout, space) for u in points)
        assert first - second == pytest.approx(difference, abs=1e-9)
    assert largest == 3, "no person has three records: choose another seed"
    assert bool(inside) == (linkage == EP), "duplicates inside a file where they are allowed: choose another seed"
