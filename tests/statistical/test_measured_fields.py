"""Numbers and dates in the sampler: joint-distribution tests, tiny files against enumeration, planted errors.

A largest standardised change of about 20 statistics above 5 has a false-alarm rate of 2e-5.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp

import tielink as tl
from partitions import pairings
from profile_replicates import largest_z
from tielink.channels.channel import Terms
from tielink.channels.distorted_mixture import MixtureChannel
from tielink.channels.lattice import DateLattice, NumberLattice
from tielink.channels.measured import MeasuredChannel
from tielink.data.linkage import canonical
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed
from tielink.simulate.prior import blank

LIMIT = 5.0
CAUGHT = 7.0
CARELESS = tl.Careless(tl.Beta(3, 4), tl.Beta(6, 3))


def problem(spread=0.0, careless=None) -> tl.Problem:
    """A number and a date with fixed frequencies over few points."""
    fields = {name: tl.Categorical(tl.Beta(2, 4), by_file=True) for name in ("year", "day")}
    model = tl.Model(network=None, linkage=tl.MatchRate(2, 2), fields=fields, careless=careless)
    compiled = tl.Problem.compile(model, blank({"a": 3, "b": 3}, {"year": ["x"], "day": ["x"]}))
    rng = np.random.default_rng(1)
    silent = np.full(6, -1)
    another = tl.Beta(2, 6)
    year = MeasuredChannel("year", silent, 14, another, NumberLattice(1993, 14), rng.dirichlet(np.ones(14)), spread)
    day = MeasuredChannel("day", silent, 31, another, DateLattice(10_957, 31), rng.dirichlet(np.ones(31)), 0.0)
    return replace(compiled, fields=(year, day))


CASES = {"exact": {}, "with a tolerance": {"spread": 0.8}, "careless": {"spread": 0.8, "careless": CARELESS}}


@pytest.mark.parametrize("case", ["with a tolerance"])
def test_sweeps_leave_the_joint_distribution_as_it_is(case):
    assert largest_z(problem(**CASES[case]), 200) < LIMIT


@pytest.mark.long
@pytest.mark.parametrize("case", CASES)
def test_sweeps_leave_the_joint_distribution_as_it_is_long(case):
    found = largest_z(problem(**CASES[case]), 15_000, sweeps=3, seed=9)
    print(f"replicates, measured, {case}: largest |z| {found:.2f}")
    assert found < LIMIT


class Exchanged(MeasuredChannel):
    """A channel that takes clean values for distorted ones, and the other way round."""

    def single(self, parameters, values):
        return super().single(parameters, values)[::-1]

    def pair(self, parameters, left, right):
        return Terms(*super().pair(parameters, left, right)[::-1])


def test_clean_and_distorted_values_exchanged_are_caught():
    def exchange(profiles):
        profiles.fields = tuple(
            Exchanged(**{entry.name: getattr(field, entry.name) for entry in dataclasses.fields(field)})
            for field in profiles.fields
        )

    assert largest_z(problem(), 300, sweeps=3, break_it=exchange) > CAUGHT


def test_a_share_of_other_values_drawn_without_its_prior_is_caught(monkeypatch):
    monkeypatch.setattr(MixtureChannel, "_log_rho", lambda self, rho: 0.0)
    assert largest_z(problem(), 200) > CAUGHT


@pytest.mark.long
def test_a_forgotten_tolerance_is_caught():
    def forget(profiles):
        year = replace(profiles.fields[0], spread=0.2)
        profiles.problem = replace(profiles.problem, fields=(year, profiles.fields[1]))
        profiles.fields = profiles.problem.fields

    assert largest_z(problem(spread=1.0), 4000, break_it=forget) > CAUGHT


def test_linkages_of_tiny_files_against_enumeration():
    left = pl.DataFrame({"id": range(3), "year": [1984, 1990, 1975], "day": ["1984-05-03", "1990-01-02", None]})
    right = pl.DataFrame(
        {"id": range(3), "year": [1948, 1990, 1976], "day": ["1984-03-05", "1991-01-02", "1975-07-08"]}
    )
    another = tl.Beta(2, 3)
    fields = {
        "year": tl.Number(tl.Beta(3e7, 7e7), tolerance=1, another=another),
        "day": tl.Date(tl.Beta(2e7, 8e7), another=another),
    }
    data = tl.Dataset.from_frames({"a": left, "b": right}, fields=fields)
    model = tl.Model(linkage=tl.MatchRate(1, 2))
    compiled = tl.Problem.compile(model, data)
    linkages = list(pairings([0, 0, 0, 1, 1, 1]))

    points, weights = np.polynomial.legendre.leggauss(6)  # ρ is in polynomials of degree 9

    def exact(rates):
        logs = np.array([log_linkage(compiled, labels) for labels in linkages])
        for field, rate in zip(compiled.fields, rates, strict=True):
            by_share = [
                np.log(weight)
                + field.log_prior(rho)
                + np.array([log_collapsed(field, rho, rate, one) for one in linkages])
                for rho, weight in zip((points[:, None] + 1) / 2, weights, strict=True)
            ]
            logs += logsumexp(by_share, axis=0)
        return np.exp(logs - logsumexp(logs))

    posterior = tl.sample(model, data, chains=2, warmup=20, draws=1000, thin=4, seed=4, workers=0)
    counts = Counter(tuple(canonical(draw).tolist()) for draw in posterior.person.reshape(-1, 6))
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in linkages])
    assert not counts
    assert fits(observed, exact((0.3, 0.2)))
    assert not fits(observed, exact((0.9, 0.9))), "other rates go unnoticed"


def fits(observed: np.ndarray, expected: np.ndarray) -> bool:
    """Chi-square at 1e-5, rare linkages put together."""
    rare = expected * observed.sum() < 8
    pooled = [np.append(values[~rare], values[rare].sum()) for values in (observed, expected * observed.sum())]
    return bool(stats.chisquare(*(values[pooled[1] > 0] for values in pooled)).pvalue > 1e-5)
