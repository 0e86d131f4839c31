"""Chains put where a simulation says, and what is compared before and after they have moved."""

import math
from dataclasses import replace

import numpy as np

import tielink as tl
from sampler.partition_worlds import set_labels
from tielink.logp import log_joint
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.simulate import from_prior

VOCABULARIES = {"place": ["x", "y", "z"], "name": {"ann": 3.0, "anna": 1.0, "bob": 2.0, "bo": 1.0}}
STATISTICS = (
    "persons", "pairs inside", "squared norm", "intercepts", "log spread", "log-likelihood", "rates", "first", "second",
)  # fmt: skip


def simulated(rng, model, sizes, seed, sampler="exact"):
    """Draw parameters and data from the prior; return a chain that stands at the drawn parameters."""
    drawn = from_prior(rng, model, sizes, VOCABULARIES if model.fields is None or model.fields else {})
    chain = Chain(Job.make(drawn.model, drawn.dataset, Run(seed=seed, sampler=sampler)), 0)
    put(chain, drawn.parameters)
    return chain


def put(chain, parameters):
    set_labels(chain, parameters.labels)
    chain.profile_state.rates = parameters.distortion.copy()
    chain.profile_state.fields = [values.copy() for values in parameters.fields]
    if chain.hyperparameters is not None:
        chain.hyperparameters.values = parameters.linkage.copy()
        chain.hyperparameters.write(chain.state)
    if chain.network.dimension:
        latent = chain.network
        latent.layout.position[:] = parameters.positions[parameters.labels].T
        latent.layout.intercept[:] = parameters.intercepts
        latent.layout.spread[0] = parameters.spread
        latent.tuning.step_intercept[:], latent.tuning.step_scale[:] = 0.7, 0.3
    chain.revalue()
    if chain.job.run.sampler == "paper":
        chain.network.remember()


def moves_of_persons(rng, problem, parameters):
    """Yield for every person its records, two points, and by how much the log joint differs between them."""
    for label in range(parameters.labels.max() + 1):
        points, joint = rng.normal(size=(2, parameters.positions.shape[1])), []
        for u in points:
            moved = parameters.positions.copy()
            moved[label] = u
            joint.append(log_joint(problem, replace(parameters, positions=moved)))
        yield np.flatnonzero(parameters.labels == label), points, joint[0] - joint[1]


def statistics(chain):
    sizes = chain.state.size[chain.state.size > 0]
    assert len(sizes) == chain.persons
    assert sizes.sum() == chain.state.label.size
    norm = intercepts = log_spread = 0.0
    if chain.network.dimension:
        layout, where, person = chain.network.layout, chain.network.layouts()["positions"], chain.person()
        assert (where == where[person]).all()
        norm = (where[np.unique(person)] ** 2).sum() / layout.spread[0] / chain.persons
        intercepts, log_spread = layout.intercept.sum(), math.log(layout.spread[0])
    hyper = np.zeros(2)
    drawn = chain.series().get("prior", np.empty(0))
    hyper[: len(drawn)] = drawn
    rates = chain.profile_state.rates.sum() if chain.profiles.fields else 0.0
    return np.array([
        chain.persons, (sizes * (sizes - 1) / 2).sum(), norm, intercepts, log_spread, chain.log_likelihood(), rates,
        math.log(hyper[0]) if hyper[0] > 0 else 0.0, hyper[1],
    ])  # fmt: skip


def replicate_z(model, sizes, replicates, sweeps, seed=7, apply=None, sampler="exact"):
    """z of every statistic's mean change after a few sweeps, over independent replicates drawn from the prior."""
    rng = np.random.default_rng(seed)
    change = np.empty((replicates, len(STATISTICS)))
    for r in range(replicates):
        chain = simulated(rng, model, sizes, 1000 + r, sampler)
        before = statistics(chain)
        for _ in range(sweeps):
            chain.advance(None) if apply is None else apply(chain)
        change[r] = statistics(chain) - before
    error = change.std(axis=0) / math.sqrt(replicates)
    return np.where(error > 0, change.mean(axis=0) / np.where(error > 0, error, 1.0), 0.0)


FIELDS = {"place": tl.Categorical(tl.Beta(2, 4), concentration=2.0), "name": tl.String(tl.Beta(2, 4))}
# Of open strings, groups of three lump truths that nobody says; of closed ones nothing is neglected.
CLOSED = {**FIELDS, "name": tl.String(tl.Beta(2, 4), vocabulary="closed")}
SPACE = tl.LatentSpace(1, intercept_sd=1.5, spread=tl.InverseGamma(6.0, 10.0))
EP = tl.EwensPitman(max_size=3, concentration=tl.LogNormal(0.5, 0.7), discount=tl.Beta(2, 2))
NB = tl.NegativeBinomial(max_size=3, shape=tl.Gamma(3.0, 2.0), probability=tl.Beta(2, 2))
