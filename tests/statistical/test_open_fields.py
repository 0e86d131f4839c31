"""Open strings and names in the sampler: exact posteriors by enumeration, and joint-distribution tests, p fixed.

False-alarm rate: 1e-5 for each test.
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
from tielink.channels.channel import told
from tielink.channels.distorted_mixture import MixtureChannel
from tielink.data.linkage import canonical
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed, log_distortion
from tielink.model.problem import NOBODY
from tielink.sampler.profiles import Profiles, draw_together
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


def together(rng, steps: int, volume: float) -> tuple[np.ndarray, np.ndarray]:
    """Like `moved`, by steps in which rates and parameters go together; `volume` is what is added to its logarithm."""
    field, vocabulary = FIELDS["string"]
    model = tl.Model(network=None, linkage=tl.Uniform(), fields={"name": replace(field, by_file=True)})
    drawn = from_prior(rng, model, {"a": 2, "b": 2}, {"name": vocabulary})
    problem, before = tl.Problem.compile(drawn.model, drawn.dataset), drawn.parameters
    channel, priors, rates = problem.fields[0], [rate.prior for rate in problem.rates], before.distortion.copy()
    carried = channel.carried

    class Changed:
        """The channel, with another volume."""

        def __getattr__(self, name):
            return getattr(channel, name)

        def carried(self, rng, parameters):
            found = carried(rng, parameters)
            return found and found._replace(log_volume=found.log_volume + volume * np.log(found.factor))

    parameters, values = before.fields[0], told(channel.codes, before.labels)
    of = Changed() if volume else channel
    for _ in range(steps):
        parameters = draw_together(rng, of, parameters, rates, problem.rate_numbers(0, NOBODY), priors, values)
    return np.append(before.distortion, before.fields[0]), np.append(rates, parameters)


def largest_z(volume: float, replicates: int) -> float:
    """Return the largest standardised change of rates and parameters that were drawn from their prior."""
    rng = np.random.default_rng(12)
    change = np.array([np.subtract(*together(rng, 30, volume)) for _ in range(replicates)])
    return float(np.abs(change.mean(axis=0) / change.std(axis=0)).max() * np.sqrt(replicates))


def test_rates_and_parameters_that_move_together_keep_their_prior():
    assert largest_z(0.0, 300) < 5
    assert largest_z(6.0, 300) > 7, "a wrong Jacobian goes unnoticed"


@pytest.mark.long
def test_rates_and_parameters_that_move_together_keep_their_prior_long():
    """A Jacobian that leaves out the two rates, or counts them twice, is caught."""
    found = {volume: largest_z(volume, 2000) for volume in (0.0, -2.0, 2.0)}
    print(
        f"rates and parameters together: |z| {found[0.0]:.2f}; with wrong Jacobians {found[-2.0]:.1f}, {found[2.0]:.1f}"
    )
    assert found[0.0] < 5
    assert min(found[-2.0], found[2.0]) > 7


@pytest.mark.parametrize("kind", FIELDS)
def test_what_moves_together_comes_back_and_its_jacobian_is_that_of_differences(kind):
    rng = np.random.default_rng(3)
    field, vocabulary = FIELDS[kind]
    model = tl.Model(network=None, linkage=tl.Uniform(), fields={"name": field})
    drawn = from_prior(rng, model, {"a": 4, "b": 4}, {"name": vocabulary})
    channel, checked = tl.Problem.compile(drawn.model, drawn.dataset).fields[0], 0
    for _ in range(60):
        now, psi = channel.draw_prior(rng), 0.1
        seed, shift = int(rng.integers(2**31)), 1e-6
        there = channel.carried(np.random.default_rng(seed), now)
        if there is None:
            continue
        back = [channel.carried(np.random.default_rng(other), there.parameters) for other in range(40)]
        found = [one for one in back if one is not None and np.allclose(one.parameters[1:], now[1:])]
        assert found
        assert found[0].parameters[0] == pytest.approx(now[0])
        assert found[0].factor == pytest.approx(1 / there.factor)
        # ψ·factor(ρ) and ρ': the derivative by ψ is the factor, and ρ' does not depend on ψ.
        near = channel.carried(np.random.default_rng(seed), np.append(now[0] + shift, now[1:]))
        slope = (near.parameters[0] - there.parameters[0]) / shift
        assert np.log(slope * there.factor) == pytest.approx(there.log_volume + np.log(there.factor), abs=1e-4)
        assert psi * there.factor * there.parameters[0] == pytest.approx(psi * now[0])
        checked += 1
    assert checked > 20
