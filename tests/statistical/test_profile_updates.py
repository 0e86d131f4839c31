"""The profile part of the sampler: exact posteriors by enumeration, and joint-distribution tests of ψ and ϑ.

False-alarm rate: 1e-5 for each test.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tielink as tl
from partitions import pairings
from statistical_names import exact_linkages, names
from tielink.channels.channel import told
from tielink.data.linkage import canonical
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed, log_evidence
from tielink.model.problem import NOBODY
from tielink.posterior.convergence import effective_draws
from tielink.run import chain
from tielink.sampler.profiles import Profiles, draw_rates
from tielink.simulate import from_prior

FALSE_ALARM = 1e-5


@pytest.mark.parametrize("pairs", [None, [(0, 3), (0, 4), (1, 4)]], ids=["all pairs listed", "a short list"])
def test_linkages_from_strings_alone(pairs, monkeypatch):
    model, data = names(tl.Beta(2, 3))
    problem = tl.Problem.compile(model, data)
    if pairs is not None:
        monkeypatch.setattr(chain, "listed_candidates", lambda _: (np.array(pairs), np.ones(len(pairs), dtype=bool)))
    linkages = [labels for labels in pairings([0, 0, 0, 1, 1, 1]) if log_linkage(problem, labels) > -np.inf]
    expected = exact_linkages(problem, linkages)
    posterior = tl.sample(model, data, chains=2, warmup=50, draws=1000, thin=8, seed=4, workers=0)
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
    left, right = (grid.ravel() for grid in np.meshgrid(np.arange(12), 12 + np.arange(9), indexing="ij"))
    expected = sum(
        log_evidence(field, state.fields[place], state.rates[place], left, right)
        for place, field in enumerate(problem.fields)
    )
    assert profiles.evidence(state, left, right) == pytest.approx(expected, abs=1e-12)


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


@pytest.mark.parametrize("by_file", [False, True])
def test_rates_with_distortions_summed_out_follow_their_density(by_file):
    """Slice draws of the rates of a name against quadrature; with everybody alone it is another density."""
    texts = ["anna", "anna", "ann", "bob", "bobby", "zoe", "zoe"]
    frames = {
        "a": pl.DataFrame({"id": range(7), "name": texts}),
        "b": pl.DataFrame({"id": range(5), "name": ["anna", "hanna", "bob", "zoe", "carl"]}),
    }
    fields = {"name": tl.String(tl.Beta(2, 4), by_file=by_file)}
    problem = tl.Problem.compile(tl.Model(network=None, fields=fields), tl.Dataset.from_frames(frames, fields=fields))
    labels = np.array([0, 1, 2, 3, 4, 5, 6, 0, 1, 3, 5, 11])
    field, parameters, rate_of = problem.fields[0], problem.fields[0].start(), problem.rate_numbers(0, NOBODY)
    priors, rates, rng = (
        [rate.prior for rate in problem.rates],
        np.full(len(problem.rates), 0.3),
        np.random.default_rng(6),
    )
    draws = np.empty((6_000, len(rates)))
    for draw in draws:
        draw_rates(rng, field, parameters, rates, rate_of, priors, told(field.codes, labels))
        draw[:] = rates
    axis = (np.arange(25) + 0.5) / 25
    grids = np.stack(np.meshgrid(*[axis] * len(rates), indexing="ij"), axis=-1).reshape(-1, len(rates))

    def means(of):
        """E[ψ] by quadrature."""
        logs = [log_collapsed(field, parameters, grid[rate_of], of) for grid in grids]
        logs = np.array(logs) + stats.beta(2, 4).logpdf(grids).sum(axis=1)
        weights = np.exp(logs - logs.max())
        return weights @ grids / weights.sum()

    error = np.array([draws[:, i].std() / np.sqrt(effective_draws(draws[None, :, i])) for i in range(len(rates))])
    assert (np.abs(draws.mean(axis=0) - means(labels)) < 4.5 * error + 1e-3).all()
    assert (np.abs(draws.mean(axis=0) - means(np.arange(12))) > 4.5 * error + 1e-3).any()
