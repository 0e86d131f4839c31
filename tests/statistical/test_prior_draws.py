"""Draws from the prior have the prior's distribution. False-alarm rate: 1e-5 for each test."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tielink as tl
from partitions import pairings
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_group
from tielink.simulate import from_prior
from tielink.simulate.draw import draw_labels

FALSE_ALARM = 1e-5


def fits(observed: np.ndarray, probability: np.ndarray) -> bool:
    """Whether counts look like draws from the probabilities (chi-square)."""
    return stats.chisquare(observed, probability * observed.sum()).pvalue > FALSE_ALARM


@pytest.mark.parametrize(
    ("sizes", "prior"),
    [((3, 3), tl.Uniform()), ((3, 4), tl.MatchRate(1, 1)), ((3, 2), tl.MatchRate(0.7, 2)), ((2, 2, 2), tl.Uniform())],
)
def test_linkages(sizes, prior):
    rng = np.random.default_rng(11)
    known = {"anchors": [(0, 0)], "nonmatches": [(1, 1)]} if len(sizes) == 2 else {}
    files = {f"f{j}": pl.DataFrame({"id": range(size)}) for j, size in enumerate(sizes)}
    problem = tl.Problem.compile(tl.Model(linkage=prior), tl.Dataset.from_frames(files, fields={}, **known))
    allowed = [labels for labels in pairings(problem.file_of.tolist()) if log_linkage(problem, labels) > -np.inf]
    probability = np.exp([log_linkage(problem, labels) for labels in allowed])
    probability /= probability.sum()
    counts = Counter(tuple(draw_labels(rng, problem).tolist()) for _ in range(8_000))
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in allowed])
    assert not counts, "a linkage that is not allowed was drawn"
    assert fits(observed, probability)
    assert not fits(observed, np.roll(probability, 1)) or np.ptp(probability) < 1e-9


def test_values_of_a_pair():
    """Pairs of values of one person have the collapsed probabilities m(x, y)."""
    rng = np.random.default_rng(5)
    model = tl.Model(network=None, linkage=tl.Uniform(), kinds={"string": tl.String(tl.Beta(40, 60), "closed")})
    vocabulary = {"ann": 3.0, "anna": 1.0, "bob": 2.0}
    counts, expected = np.zeros((3, 3)), np.zeros((3, 3))
    for _ in range(1_200):
        drawn = from_prior(rng, model, {"a": 1, "b": 1}, {"name": vocabulary})
        if drawn.truth.persons == 2:
            continue
        counts[tuple(drawn.dataset.columns["name"].codes)] += 1
        field = tl.Problem.compile(drawn.model, drawn.dataset).fields[0]
        rate = float(drawn.parameters.distortion[0])
        grid = [[np.exp(log_group(field, None, rate, np.array([x, y]))) for y in range(3)] for x in range(3)]
        expected += grid
    assert fits(counts.ravel(), (expected / expected.sum()).ravel())
    wrong = np.outer(expected.sum(axis=1), expected.sum(axis=0)) / expected.sum() ** 2
    assert not fits(counts.ravel(), wrong.ravel()), "the test cannot tell a pair from two strangers"


def parameter_draws():
    """Draws of every parameter under priors that no slip (a swap, a square, a default) leaves unchanged."""
    rng = np.random.default_rng(17)
    network = tl.LatentSpace(2, intercept_sd=3.0, spread=tl.InverseGamma(5.0, 2.0))
    fields = {"place": tl.Categorical(tl.Beta(2, 7), concentration=4.0)}
    model = tl.Model(network=network, linkage=tl.Uniform(), fields=fields)
    drawn = [from_prior(rng, model, {"a": 2, "b": 2}, {"place": ["x", "y", "z"]}) for _ in range(1_500)]
    return [d.parameters for d in drawn], drawn


def test_marginals_of_drawn_parameters():
    parameters, drawn = parameter_draws()
    expected = {
        "spread": ([p.spread for p in parameters], stats.invgamma(5.0, scale=2.0)),
        "intercept": ([p.intercepts[1] for p in parameters], stats.norm(0, 3.0)),
        "rate": ([p.distortion[0] for p in parameters], stats.beta(2, 7)),
        "frequency": ([p.fields[0][0] for p in parameters], stats.beta(4.0, 8.0)),
        "position": ([p.positions[0, 0] / np.sqrt(p.spread) for p in parameters], stats.norm()),
    }
    for name, (values, law) in expected.items():
        assert stats.kstest(values, law.cdf).pvalue > FALSE_ALARM, name
        wrong = stats.kstest(values, lambda x, law=law: law.cdf(np.asarray(x) * 1.5)).pvalue
        assert wrong < FALSE_ALARM, f"the test cannot see a wrong {name}"
    # Ties given positions: their number against its expectation, standardised over all draws.
    excess = variance = wrong = 0.0
    for d in drawn:
        p = d.parameters
        u = p.positions[p.labels[:2]]
        theta = 1 / (1 + np.exp(np.linalg.norm(u[0] - u[1]) - p.intercepts[0]))
        excess += len(d.dataset.ties["a"]) - theta
        wrong += len(d.dataset.ties["a"]) - 1 / (1 + np.exp(-p.intercepts[0]))
        variance += theta * (1 - theta)
    assert abs(excess) < stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(variance)
    assert abs(wrong) > stats.norm.isf(FALSE_ALARM / 2) * np.sqrt(variance), "the test cannot see forgotten distances"


def test_densities_of_scenarios():
    rng = np.random.default_rng(3)
    wanted = {"a": 0.05, "b": 0.3}
    draws = [
        tl.simulate.scenario(rng, sizes={"a": 40, "b": 50}, overlap=20, density=wanted, vocabularies={})
        for _ in range(30)
    ]
    for name, density in wanted.items():
        found = [draw.dataset.figures(name).density for draw in draws]
        assert abs(np.mean(found) - density) < 5 * np.std(found) / np.sqrt(30)
    assert {draw.truth.persons for draw in draws} == {70}
