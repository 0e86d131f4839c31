"""Rates by file and careless records: joint-distribution tests, enumeration, planted errors.

A largest standardised change of about 30 statistics above 5 has a false-alarm rate of 2e-5.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp

import tielink as tl
from partitions import pairings
from profile_replicates import largest_z
from tielink.data.linkage import canonical
from tielink.logp import Parameters, log_joint, log_joint_terms
from tielink.logp.profiles import log_evidence
from tielink.sampler import profiles as profiles_module
from tielink.sampler.profiles import Profiles
from tielink.simulate.prior import blank, fixed_frequencies

LIMIT = 5.0
CAUGHT = 7.0
VOCABULARIES = {"place": ["x", "y", "z"], "name": {"ann": 3.0, "anna": 1.0, "bob": 2.0}}


def problem(careless=None, by_file=False, sizes=(3, 3)) -> tl.Problem:
    fields = {
        "place": tl.Categorical(tl.Beta(2, 4), 2.0, by_file=by_file),
        "name": tl.String(tl.Beta(2, 6), "closed", by_file=by_file),
    }
    model = tl.Model(network=None, linkage=tl.MatchRate(2, 2), fields=fields, careless=careless)
    data = blank(dict(zip("ab", sizes, strict=True)), VOCABULARIES)
    return tl.Problem.compile(replace(model, fields=fixed_frequencies(model, data, VOCABULARIES)), data)


CARELESS = tl.Careless(tl.Beta(3, 4), tl.Beta(6, 3))
CASES = {
    "rates by file": {"by_file": True},
    "careless": {"careless": CARELESS},
    "both": {"careless": CARELESS, "by_file": True},
}


@pytest.mark.parametrize("case", CASES)
def test_sweeps_leave_the_joint_distribution_as_it_is(case):
    found = largest_z(problem(**CASES[case]), 600)
    assert found < LIMIT


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_sweeps_leave_the_joint_distribution_as_it_is_long(case):
    found = largest_z(problem(**CASES[case], sizes=(4, 5)), 20_000, sweeps=3, seed=5)
    print(f"replicates, {case}: largest |z| {found:.2f}")
    assert found < LIMIT


def another_prior_of_the_share(profiles: Profiles) -> None:
    profiles.problem = replace(profiles.problem, careless_share=tl.Beta(1, 9))


def one_rate_for_both_sorts(profiles: Profiles) -> None:
    rates = tuple(replace(rate, prior=tl.Beta(2, 6)) for rate in profiles.problem.rates)
    profiles.problem = replace(profiles.problem, rates=rates)


@pytest.mark.parametrize("break_it", [another_prior_of_the_share, one_rate_for_both_sorts])
def test_planted_errors_are_caught(break_it):
    assert largest_z(problem(careless=CARELESS), 1500, break_it=break_it) > CAUGHT


def test_distortions_count_for_the_rate_of_their_file_and_class(monkeypatch):
    """All values of file b's careless records are distorted and no other: so say the rates, and no other."""
    compiled = problem(careless=CARELESS, by_file=True, sizes=(200, 300))
    rng = np.random.default_rng(3)
    fields = tuple(replace(field, codes=rng.integers(0, 3, 500)) for field in compiled.fields)
    profiles = Profiles(replace(compiled, fields=fields))
    state = profiles.start()
    careless = rng.random(500) < 0.5
    distorted = careless & (compiled.file_of == 1)
    monkeypatch.setattr(profiles_module, "draw_careless", lambda *_: careless)
    monkeypatch.setattr(profiles_module, "draw_distorted", lambda *_: distorted)
    profiles.update(rng, state, np.arange(500))
    rate = dict(zip((rate.name for rate in compiled.rates), state.rates, strict=True))
    wrong = {"place in b, careless", "name in b, careless"}
    assert all(rate[name] > 0.85 if name in wrong else rate[name] < 0.15 for name in rate), rate


def test_a_class_drawn_without_its_share_is_caught(monkeypatch):
    """The class of a record must weigh its share κ against what its values say."""
    real = profiles_module.draw_careless

    def forgetful(rng, problem, rates, fields, share, careless, labels):
        return real(rng, problem, rates, fields, 0.5, careless, labels)

    monkeypatch.setattr(profiles_module, "draw_careless", forgetful)
    assert largest_z(problem(careless=tl.Careless(tl.Beta(2, 9), tl.Beta(6, 3))), 600) > CAUGHT


def small_files(careless=None, by_file=False):
    """Two files of a few records whose rates are all but known, so that nothing but linkage and class is open."""
    left = pl.DataFrame({"id": range(2), "name": ["anna", "bob"], "place": ["x", "y"]})
    right = pl.DataFrame({"id": range(2), "name": ["ana", "bob"], "place": ["x", None]})
    sure = tl.Beta(3e7, 7e7)
    fields = {
        "name": tl.String(sure, "closed", by_file=by_file),
        "place": tl.Categorical(sure, concentration=1e8, by_file=by_file),
    }
    data = tl.Dataset.from_frames({"a": left, "b": right}, fields=fields)
    return tl.Model(linkage=tl.MatchRate(1, 1), careless=careless), data


def test_linkages_and_classes_of_tiny_files_against_enumeration():
    """All 7 linkages × 16 classes, with log_joint as the judge."""
    model, data = small_files(tl.Careless(tl.Beta(4e7, 6e7), tl.Beta(8e7, 2e7)), by_file=True)
    compiled = tl.Problem.compile(model, data)
    rates = np.array([rate.prior.mean for rate in compiled.rates])
    states, logs = [], []
    for labels in pairings([0, 0, 1, 1]):
        for careless in product([False, True], repeat=4):
            parameters = Parameters(
                labels, np.zeros((4, 0)), np.zeros(2), 1.0, rates, (np.empty(0), np.array([0.5, 0.5])),
                np.array(careless), 0.4,
            )  # fmt: skip
            logs.append(log_joint(compiled, parameters))
            states.append((tuple(labels.tolist()), careless))
    expected = np.exp(logs - logsumexp(logs))
    posterior = tl.sample(model, data, chains=2, warmup=20, draws=1200, thin=2, seed=2, workers=0)
    drawn = zip(posterior.person.reshape(-1, 4), posterior.careless.reshape(-1, 4), strict=True)
    counts = Counter((tuple(canonical(who).tolist()), tuple(map(bool, sort))) for who, sort in drawn)
    observed = np.array([counts.pop(state, 0) for state in states])
    assert not counts
    assert fits(observed, expected)
    assert not fits(observed, np.full(len(states), 1 / len(states)))


def fits(observed: np.ndarray, expected: np.ndarray) -> bool:
    """Chi-square at 1e-5, rare states put together; draws are a little correlated, so two count as one."""
    rare = expected * observed.sum() < 12
    pooled = [np.append(values[~rare], values[rare].sum()) for values in (observed / 2, expected * observed.sum() / 2)]
    return bool(stats.chisquare(*(values[pooled[1] > 0] for values in pooled)).pvalue > 1e-5)


def test_evidence_at_rates_by_file_and_by_class_is_that_of_logp():
    rng = np.random.default_rng(2)
    drawn = tl.simulate.scenario(rng, sizes={"a": 12, "b": 9}, overlap=5, missing=0.2)
    fields = {"username": tl.String(by_file=True), "place": tl.Categorical()}
    compiled = tl.Problem.compile(tl.Model(careless=tl.Careless(), fields=fields), drawn.dataset)
    assert [rate.name for rate in compiled.rates] == [
        "username in a", "username in b", "place", "username in a, careless", "username in b, careless",
        "place, careless",
    ]  # fmt: skip
    profiles = Profiles(compiled)
    state = profiles.start()
    state.rates[:] = [0.2, 0.05, 0.1, 0.6, 0.5, 0.4]
    state.careless[:] = rng.random(21) < 0.4
    for a, b in product(range(12), range(9)):
        pair = np.array([a]), np.array([12 + b])
        expected = 0.0
        for place, field in enumerate(compiled.fields):
            rates = np.empty(21)
            for record in range(21):
                number = place + 1 if place else int(record >= 12)
                rates[record] = state.rates[number + 3 * state.careless[record]]
            expected += log_evidence(field, state.fields[place], rates, *pair)[0]
        assert profiles.evidence(state, *pair)[0] == pytest.approx(expected, abs=1e-12)


def test_the_joint_has_a_term_for_classes_and_their_share():
    compiled = problem(careless=CARELESS, by_file=True)
    careless = np.array([True, False, False, True, False, False])
    parameters = Parameters(
        np.arange(6), np.zeros((6, 0)), np.zeros(2), 1.0, np.full(8, 0.2),
        (np.array([0.5, 0.3, 0.2]), np.empty(0)), careless, 0.3,
    )  # fmt: skip
    terms = dict(log_joint_terms(compiled, parameters))
    assert terms["careless records"] == pytest.approx(2 * np.log(0.3) + 4 * np.log(0.7))
    assert terms["share of careless records"] == pytest.approx(stats.beta(3, 4).logpdf(0.3))
    assert terms["distortion of name in b, careless"] == pytest.approx(stats.beta(6, 3).logpdf(0.2))
    assert terms["distortion of place in a"] == pytest.approx(stats.beta(2, 4).logpdf(0.2))
