"""The profile part of the sampler: exact posteriors by enumeration, and joint-distribution tests of ψ and ϑ.

False-alarm rate: 1e-5 for each test.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import tielink as tl
from partitions import pairings
from statistical_names import exact_linkages, names
from tielink.data.linkage import canonical
from tielink.exact.profiles import Profiles
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_evidence
from tielink.simulate import from_prior

FALSE_ALARM = 1e-5


@pytest.mark.parametrize("sampler", ["exact", "paper"])
def test_linkages_from_strings_alone(sampler):
    model, data = names(tl.Beta(2, 3))
    problem = tl.Problem.compile(model, data)
    linkages = [labels for labels in pairings([0, 0, 0, 1, 1, 1]) if log_linkage(problem, labels) > -np.inf]
    expected = exact_linkages(problem, linkages)
    posterior = tl.sample(model, data, sampler=sampler, chains=2, warmup=50, draws=1500, thin=12, seed=4, workers=0)
    counts = Counter(tuple(canonical(draw).tolist()) for draw in posterior.person.reshape(-1, 6))
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in linkages])
    assert not counts
    assert stats.chisquare(observed, expected * observed.sum()).pvalue > FALSE_ALARM
    wrong = exact_linkages(tl.Problem.compile(tl.Model(linkage=tl.MatchRate(1, 4)), data), linkages)
    assert stats.chisquare(observed, wrong * observed.sum()).pvalue < FALSE_ALARM, "a wrong prior goes unnoticed"


def test_evidence_of_all_pairs_is_that_of_logp():
    rng = np.random.default_rng(2)
    drawn = tl.simulate.scenario(rng, sizes={"a": 12, "b": 9}, overlap=5, missing=0.2)
    problem = tl.Problem.compile(tl.Model(), drawn.dataset)
    profiles = Profiles(problem)
    state = profiles.start()
    state.rates[:] = [0.2, 0.05]
    found = np.empty((12, 9))
    profiles.log_bayes_factors(state, found)
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(12), 12 + np.arange(9), indexing="ij"))
    expected = sum(
        log_evidence(field, state.fields[place], state.rates[place], left, right)
        for place, field in enumerate(problem.fields)
    )
    assert found.ravel() == pytest.approx(expected, abs=1e-12)


def moved(rng, sweeps: int, break_it=None):
    """Draw parameters and data from the prior; return (ψ, ϑ₁) of both fields before and after updates given ξ."""
    fields = {"place": tl.Categorical(tl.Beta(2, 4), concentration=2.0), "name": tl.String(tl.Beta(2, 4), "closed")}
    model = tl.Model(network=None, linkage=tl.Uniform(), fields=fields)
    vocabularies = {"place": ["x", "y", "z"], "name": {"ann": 3.0, "anna": 1.0, "bob": 2.0}}
    drawn = from_prior(rng, model, {"a": 4, "b": 4}, vocabularies)
    profiles = Profiles(tl.Problem.compile(drawn.model, drawn.dataset))
    state = profiles.start()
    place, name = (list(drawn.model.fields).index(field) for field in ("place", "name"))
    before = drawn.parameters
    state.rates[:] = before.distortion
    state.fields = [values.copy() for values in before.fields]
    for _ in range(sweeps):
        if break_it is not None:
            break_it(profiles)
        profiles.update(rng, state, before.labels)
    first = (before.distortion[place], before.distortion[name], before.fields[place][0])
    return first, (state.rates[place], state.rates[name], state.fields[place][0])


def p_values(break_it=None) -> list[float]:
    rng = np.random.default_rng(8)
    before, after = np.array([moved(rng, 3, break_it) for _ in range(1_500)]).transpose(1, 2, 0)
    return [float(stats.ks_2samp(x, y).pvalue) for x, y in zip(before, after, strict=True)]


def test_updates_leave_the_joint_distribution_as_it_is():
    assert min(p_values()) > FALSE_ALARM


def test_a_planted_error_is_caught():
    def count_distortions_of_another_prior(profiles):
        rates = tuple(replace(rate, prior=tl.Beta(2, 6)) for rate in profiles.problem.rates)
        profiles.problem = replace(profiles.problem, rates=rates)

    assert min(p_values(count_distortions_of_another_prior)) < FALSE_ALARM
