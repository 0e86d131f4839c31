"""Chains over clusters put where a simulation says, and what is compared before and after they have moved."""

import math
from dataclasses import replace

import numpy as np

import tielink as tl
from tielink.exact.clusters.correlation import total_gain
from tielink.exact.clusters.state import join
from tielink.logp import log_joint
from tielink.project import Run
from tielink.run.cluster_chain import ClusterChain
from tielink.run.job import Job
from tielink.simulate import from_prior

VOCABULARIES = {"place": ["x", "y", "z"], "name": {"ann": 3.0, "anna": 1.0, "bob": 2.0, "bo": 1.0}}
STATISTICS = (
    "persons", "pairs inside", "squared norm", "intercepts", "log spread", "log-likelihood", "rates", "first", "second",
    "squared sociality", "log sociality sd", "sociality of the first", "log phi", "squared log phi", "gain of phi",
)  # fmt: skip


def set_labels(chain, labels):
    """Link the records of an `everyone_alone` chain as `labels` say."""
    for label in np.unique(labels):
        records = np.flatnonzero(labels == label)
        for record in records[1:]:
            own, other = chain.state.label[record], chain.state.label[records[0]]
            if own != other:
                join(chain.state, chain.rules, own, other, 0.0)


def simulated(rng, model, sizes, seed):
    """Draw parameters and data from the prior; return a chain that stands at the drawn parameters."""
    drawn = from_prior(rng, model, sizes, VOCABULARIES if model.fields is None or model.fields else {})
    chain = ClusterChain(Job.make(drawn.model, drawn.dataset, Run(seed=seed)), 0)
    put(chain, drawn.parameters)
    return chain


def put(chain, parameters):
    set_labels(chain, parameters.labels)
    chain.profile_state.rates = parameters.distortion.copy()
    chain.profile_state.fields = [values.copy() for values in parameters.fields]
    if chain.hyperparameters is not None:
        chain.hyperparameters.values = parameters.linkage.copy()
        chain.hyperparameters.write(chain.state)
    if chain.space is not None:
        where = parameters.positions[parameters.labels].T
        for file, x in enumerate(chain.layout.position):
            x[:] = where[:, chain.space.offset[file] : chain.space.offset[file + 1]]
        chain.layout.intercept[:] = parameters.intercepts
        chain.layout.spread[0] = parameters.spread
        chain.tuning.step_intercept[:], chain.tuning.step_scale[:] = 0.7, 0.3
        if chain.layout.sociality_sd is not None:
            for file, s in enumerate(chain.layout.sociality):
                s[:] = parameters.sociality[chain.space.offset[file] : chain.space.offset[file + 1]]
            chain.layout.sociality_sd[0] = parameters.sociality_sd
            chain.tuning.step_sociality_sd[:] = 0.7
        if chain.layout.correlation is not None:
            chain.layout.correlation[0] = parameters.correlation
            chain.tuning.step_correlation[:] = 1.5
    chain._revalue()


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
    if chain.space is not None:
        where, person = chain.layouts()["positions"], chain.person()
        assert (where == where[person]).all()
        norm = (where[np.unique(person)] ** 2).sum() / chain.layout.spread[0] / chain.persons
        intercepts, log_spread = chain.layout.intercept.sum(), math.log(chain.layout.spread[0])
    hyper = np.zeros(2)
    drawn = chain.series().get("prior", np.empty(0))
    hyper[: len(drawn)] = drawn
    rates = chain.profile_state.rates.sum() if chain.profiles.fields else 0.0
    social = np.zeros(3)
    if chain.space is not None and chain.layout.sociality_sd is not None:
        s, sd, degree = chain.layouts()["sociality"], chain.layout.sociality_sd[0], chain.space.adjacency[0][0].sum()
        social[:] = (s**2).sum() / sd**2, math.log(sd), s[0] * (degree - 1.5)
    correlated = np.zeros(3)
    if chain.space is not None and chain.layout.correlation is not None:
        phi = chain.layout.correlation
        gain = total_gain(phi, chain.layout.intercept, 1.0, chain.state, chain.layout, chain.space)
        correlated[:] = phi[0], phi[0] ** 2, gain
    return np.array([
        chain.persons, (sizes * (sizes - 1) / 2).sum(), norm, intercepts, log_spread, chain.log_likelihood(), rates,
        math.log(hyper[0]) if hyper[0] > 0 else 0.0, hyper[1], *social,
        *correlated,
    ])  # fmt: skip


def replicate_z(model, sizes, replicates, sweeps, seed=7, apply=None):
    """z of every statistic's mean change after a few sweeps, over independent replicates drawn from the prior."""
    rng = np.random.default_rng(seed)
    change = np.empty((replicates, len(STATISTICS)))
    for r in range(replicates):
        chain = simulated(rng, model, sizes, seed=1000 + r)
        before = statistics(chain)
        for _ in range(sweeps):
            chain.advance(None) if apply is None else apply(chain)
        change[r] = statistics(chain) - before
    error = change.std(axis=0) / math.sqrt(replicates)
    return np.where(error > 0, change.mean(axis=0) / np.where(error > 0, error, 1.0), 0.0)


def alone(kernel):
    """A move that is nothing but this kernel."""
    return lambda chain: kernel(chain.rng, chain.state, chain.layout, chain.space, chain.tuning)


FIELDS = {"place": tl.Categorical(tl.Beta(2, 4), concentration=2.0), "name": tl.String(tl.Beta(2, 4))}
# Of open strings, groups of three lump truths that nobody says; of closed ones nothing is neglected.
CLOSED = {**FIELDS, "name": tl.String(tl.Beta(2, 4), vocabulary="closed")}
SPACE = tl.LatentSpace(1, intercept_sd=1.5, spread=tl.InverseGamma(6.0, 10.0))
SOCIAL = replace(SPACE, sociality=True)
EP = tl.EwensPitman(max_size=3, concentration=tl.LogNormal(0.5, 0.7), discount=tl.Beta(2, 2))
NB = tl.NegativeBinomial(max_size=3, shape=tl.Gamma(3.0, 2.0), probability=tl.Beta(2, 2))
