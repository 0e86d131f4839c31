"""Made data with correlated ties, sociality, activity and copies have what was asked for."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

import tielink as tl
from tielink.logp import Parameters
from tielink.logp.linkage import log_linkage
from tielink.simulate import from_prior, scenario
from tielink.simulate.draw import draw_labels, draw_ties, weighted_subset

ON = tl.Model(network=tl.LatentSpace(2, tie_correlation=True, sociality=True), fields={})


def test_correlated_ties_have_their_margins_and_odds_ratio(rng):
    """Two persons in both files, many times: the four outcomes against Plackett's table (5-sigma bounds)."""
    model = tl.Model(network=tl.LatentSpace(1, tie_correlation=True), linkage=tl.Uniform(), fields={})
    data = tl.Dataset.from_frames(
        {name: pl.DataFrame({"id": range(3)}) for name in "ab"}, {"a": [], "b": []}, fields={}
    )
    problem = tl.Problem.compile(model, data)
    labels = np.array([0, 1, 2, 3, 1, 0])  # a1 = b1, a0 = b2
    parameters = Parameters(
        labels, np.array([[0.0], [0.7], [3.0], [1.0]]), np.array([0.6, -0.2]), 1.0, np.zeros(0), correlation=1.5
    )
    counts, number = np.zeros((2, 2)), 6000
    for _ in range(number):
        first, second = draw_ties(rng, problem, parameters)
        counts[int([0, 1] in first.tolist()), int([1, 2] in second.tolist())] += 1
    table, (p, q) = counts / number, expit(np.array([0.6, -0.2]) - 0.7)
    assert abs(table[1].sum() - p) < 5 * np.sqrt(p * (1 - p) / number)
    assert abs(table[:, 1].sum() - q) < 5 * np.sqrt(q * (1 - q) / number)
    log_odds = np.log(table[1, 1] * table[0, 0] / (table[1, 0] * table[0, 1]))
    assert abs(log_odds - 1.5) < 5 * np.sqrt((1 / counts).sum())


def test_subsets_come_with_the_product_of_their_weights(rng):
    log_weights = np.array([0.5, -1.0, 0.0, 1.2])
    subsets = list(itertools.combinations(range(4), 2))
    probability = np.exp([log_weights[list(s)].sum() for s in subsets])
    probability /= probability.sum()
    drawn = [tuple(sorted(weighted_subset(rng, log_weights, 2).tolist())) for _ in range(4000)]
    for subset, p in zip(subsets, probability, strict=True):
        assert abs(drawn.count(subset) / 4000 - p) < 5 * np.sqrt(p * (1 - p) / 4000)


def test_linkages_are_drawn_from_the_activity_prior(rng):
    data = tl.Dataset.from_frames(
        {"a": pl.DataFrame({"id": range(3)}), "b": pl.DataFrame({"id": range(2)})},
        {"a": [(0, 1), (0, 2)], "b": [(0, 1)]},
        fields={},
    )
    problem = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(1, 2, activity=True)), data)
    drawn = [tuple(draw_labels(rng, problem, activity=1.2).tolist()) for _ in range(4000)]
    for labels in set(drawn):
        p = np.exp(log_linkage(problem, np.array(labels), activity=1.2))
        assert abs(drawn.count(labels) / 4000 - p) < 5 * np.sqrt(p * (1 - p) / 4000)


def test_priors_of_what_goes_beyond(rng):
    drawn = [from_prior(rng, ON, {"a": 3, "b": 4}).parameters for _ in range(400)]
    assert abs(np.mean([p.correlation for p in drawn])) < 5 * 2 / 20
    assert np.std([p.correlation for p in drawn]) == pytest.approx(2.0, rel=0.2)
    assert np.mean([p.sociality_sd**2 for p in drawn]) == pytest.approx(1.0, rel=0.4)
    assert np.mean([(p.sociality / p.sociality_sd) ** 2 for p in drawn]) == pytest.approx(1.0, rel=0.15)


def test_copies_and_busy_people():
    seed = np.random.default_rng(2)
    made = scenario(seed, ON, overlap=40, vocabularies={}, spread=50.0, sociality=1.0, activity=2.0, copied=1.0)
    pairs = made.truth.pair_numbers - np.array([0, 60])
    ties = [{tuple(tie) for tie in made.dataset.ties[name].tolist()} for name in "ab"]
    for (a, b), (c, d) in itertools.combinations(pairs.tolist(), 2):
        assert ((min(a, c), max(a, c)) in ties[0]) == ((min(b, d), max(b, d)) in ties[1])
    shared = np.isin(np.arange(120), made.truth.pair_numbers)
    social = made.parameters.sociality
    assert social[shared].mean() > social[~shared].mean() + 0.3
    assert made.dataset.ties["b"].dtype == np.int64


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"sociality": 1.0}, "sociality is 1.0, but the model has none"),
        ({"correlation": 1.0}, "correlation is 1.0, but the model has none"),
        ({"activity": 1.0}, "activity needs records that differ"),
        ({"copied": 1.5}, "copied is 1.5"),
    ],
)
def test_wrong_settings(rng, options, said):
    with pytest.raises(tl.InputError, match=said):
        scenario(rng, **options)
