"""Open strings and names in the sampler: exact posteriors by enumeration, and joint-distribution tests, p fixed.

False-alarm rate: 1e-5 for each test.
"""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import logsumexp

import tielink as tl
from partitions import pairings
from tielink.channels.distorted_mixture import MixtureChannel
from tielink.data.linkage import canonical
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed, log_distortion
from tielink.sampler.profiles import Profiles
from tielink.simulate import from_prior

FALSE_ALARM = 1e-5


def usernames() -> tuple[tl.Model, tl.Dataset]:
    left = pl.DataFrame({"id": range(3), "name": ["annab", "bob", "cadda"]})
    right = pl.DataFrame({"id": range(3), "name": ["anab", "bob", None]})
    field = tl.String(
        tl.Beta(2, 3),
        another=tl.Beta(2, 3),
        frequencies={"annab": 2, "bob": 3, "cadda": 1, "bab": 1, "dacc": 1, "bobb": 1},
    )
    data = tl.Dataset.from_frames({"a": left, "b": right}, fields={"name": field}, nonmatches=[(2, 0)])
    return tl.Model(linkage=tl.MatchRate(1, 2)), data


def log_values(problem: tl.Problem, linkages: list[np.ndarray]) -> np.ndarray:
    """Log p(values | ξ) of all linkages: ψ and ρ integrated out by quadrature, the rates on grids summed out."""
    (field,), prior = problem.fields, problem.rates[0].prior
    grids = []
    for nodes in (5, 6):  # ψ and ρ are in polynomials of degree 9
        points, weights = np.polynomial.legendre.leggauss(nodes)
        grids.append(list(zip((points + 1) / 2, weights / 2, strict=True)))
    inside = []
    for psi, w in grids[0]:
        for rho, u in grids[1]:
            for rates in product(*(values for values, _ in field.grids)):
                parameters = np.array([rho, *rates])
                known = np.log(w * u) + log_distortion(prior, psi) + field.log_prior(parameters)
                inside.append([known + log_collapsed(field, parameters, psi, labels) for labels in linkages])
    return np.asarray(logsumexp(inside, axis=0))


def check_linkages(draws: int, thin: int) -> None:
    model, data = usernames()
    problem = tl.Problem.compile(model, data)
    linkages = [labels for labels in pairings([0, 0, 0, 1, 1, 1]) if log_linkage(problem, labels) > -np.inf]
    values = log_values(problem, linkages)
    posterior = tl.sample(model, data, chains=2, warmup=50, draws=draws, thin=thin, seed=4, workers=0)
    counts = Counter(tuple(canonical(draw).tolist()) for draw in posterior.person.reshape(-1, 6))
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in linkages])
    assert not counts
    p = []
    for prior in (model.linkage, tl.MatchRate(1, 8)):
        belief = tl.Problem.compile(tl.Model(linkage=prior), data)
        logs = values + [log_linkage(belief, labels) for labels in linkages]
        expected = np.exp(logs - logsumexp(logs)) * observed.sum()
        rare = expected < 2
        groups = [np.append(x[~rare], x[rare].sum()) for x in (observed, expected)]
        p.append(float(stats.chisquare(*groups).pvalue))
    print(f"linkages from open strings: p-value {p[0]:.3f}, with a wrong prior {p[1]:.1e}")
    assert p[0] > FALSE_ALARM
    assert p[1] < FALSE_ALARM, "a wrong prior goes unnoticed"


def test_linkages_from_open_strings_alone():
    check_linkages(300, 4)


@pytest.mark.long
def test_linkages_from_open_strings_alone_long():
    check_linkages(1500, 12)


FIELDS = {
    "string": (
        tl.String(tl.Beta(2, 4), another=tl.Beta(2, 3), edits=tl.Beta(2, 12)),
        {"abab": 3.0, "aab": 2.0, "bba": 1.0, "abba": 1.0, "bb": 1.0},
    ),
    "person_name": (
        tl.PersonName(tl.Beta(2, 4), another=tl.Beta(2, 3), edits=tl.Beta(2, 12), drops=tl.Beta(2, 6)),
        {"ab, bab a": 2.0, "aab, b": 2.0, "bba, aab": 1.0, "abb": 1.0, "bb, bab": 1.0},
    ),
}


def moved(rng, kind: str, sweeps: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw parameters and data from the prior; return ψ and the field's parameters before and after updates given ξ."""
    field, vocabulary = FIELDS[kind]
    model = tl.Model(network=None, linkage=tl.Uniform(), fields={"name": field})
    drawn = from_prior(rng, model, {"a": 4, "b": 4}, {"name": vocabulary})
    profiles = Profiles(tl.Problem.compile(drawn.model, drawn.dataset))
    state, before = profiles.start(), drawn.parameters
    state.rates[:] = before.distortion
    state.fields = [values.copy() for values in before.fields]
    for _ in range(sweeps):
        profiles.update(rng, state, before.labels)
    return np.append(before.distortion, before.fields[0]), np.append(state.rates, state.fields[0])


def p_values(kind: str, replicates: int) -> list[float]:
    rng = np.random.default_rng(8)
    before, after = np.array([moved(rng, kind, 3) for _ in range(replicates)]).transpose(1, 2, 0)
    return [float(stats.ks_2samp(x, y).pvalue) for x, y in zip(before, after, strict=True)]


@pytest.mark.parametrize("kind", FIELDS)
def test_rates_and_parameters_have_their_prior_after_updates(kind):
    found = p_values(kind, 120)
    assert min(found) > FALSE_ALARM / len(found), found


@pytest.mark.long
@pytest.mark.parametrize("kind", FIELDS)
def test_rates_and_parameters_have_their_prior_after_updates_long(kind):
    found = p_values(kind, 4_000)
    print(f"{kind}: p-values of ψ and the field's parameters {np.round(found, 3)}")
    assert min(found) > FALSE_ALARM / len(found), found


def test_a_forgotten_prior_is_noticed(monkeypatch):
    monkeypatch.setattr(MixtureChannel, "_log_rho", lambda self, rho: 0.0)
    monkeypatch.setattr("tielink.channels.distorted_mixture._Given.log_likelihood", lambda self, rho, place: 40.0 * rho)
    assert min(p_values("string", 100)) < FALSE_ALARM


@pytest.mark.long
@pytest.mark.parametrize("wrong", ["no prior", "p in the place of m"])
def test_planted_errors_are_noticed_long(monkeypatch, wrong):
    if wrong == "no prior":
        monkeypatch.setattr(MixtureChannel, "_log_rho", lambda self, rho: 0.0)
    else:
        monkeypatch.setattr(
            "tielink.channels.open_string.OpenStringChannel.mistyped",
            lambda self, place, values: self.plain(place, values),
        )
    found = p_values("string", 4_000)
    print(f"{wrong}: smallest p-value {min(found):.1e}")
    assert min(found) < FALSE_ALARM
