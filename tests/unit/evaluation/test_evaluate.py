"""Scores against cases computed by hand and against their definitions, record by record."""

from __future__ import annotations

import math
import pickle
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import posterior_of
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.data.scores import PairScores
from tielink.evaluation.calibration import independent_count
from tielink.evaluation.units import Units
from tielink.posterior.score import Score

RECORDS = Records({"x": [1, 2, 3, 4], "y": [1, 2, 3, 4]})
TRUTH = Linkage.from_pairs(RECORDS, [(1, 1), (2, 2), (3, 3)])


def test_rates_with_and_without_anchors():
    links = Linkage.from_pairs(RECORDS, [(1, 1), (2, 2), (4, 3), (3, 4)])
    anchors = Linkage.from_pairs(RECORDS, [(1, 1)])
    found = tl.evaluate(links, TRUTH, anchors=anchors)
    assert (found.with_anchors.recall, found.with_anchors.precision) == (2 / 3, 1 / 2)
    assert found.with_anchors.f1 == pytest.approx(4 / 7)
    assert (found.recall, found.precision, found.f1) == (1 / 2, 1 / 3, pytest.approx(2 / 5))
    assert (found.without_anchors.matches, found.without_anchors.links, found.without_anchors.correct) == (2, 3, 1)
    assert (found.persons, found.true_persons) == (4, 5)
    assert "1 of 2 true links were found: recall 0.50" in str(found)
    assert "Leaving out 1 known match (anchors)" in str(found)


def test_nothing_linked_has_no_precision():
    found = tl.evaluate(Linkage(RECORDS, range(8)), TRUTH)
    assert found.recall == 0
    assert math.isnan(found.precision)
    assert "precision not defined" in str(found)
    assert found.table().filter(pl.col("score") == "precision")["value"].to_list() == [None]


@pytest.mark.parametrize("seed", range(5))
def test_cluster_scores_are_their_definitions(seed):
    rng = np.random.default_rng(seed)
    records = Records({"x": range(12)})
    said, true = rng.integers(0, 5, (2, 12))
    found = tl.evaluate(Linkage(records, said), Linkage(records, true), resamples=0).clusters
    precision = np.mean([np.mean(true[said == said[r]] == true[r]) for r in range(12)])
    recall = np.mean([np.mean(said[true == true[r]] == said[r]) for r in range(12)])
    assert found.b3_precision == pytest.approx(precision)
    assert found.b3_recall == pytest.approx(recall)
    assert found.b3_f1 == pytest.approx(2 * precision * recall / (precision + recall))
    pairs = list(combinations(range(12), 2))
    s, t = (np.array([labels[a] == labels[b] for a, b in pairs]) for labels in (said, true))
    # The mean over all relabellings of the records: the expected index of Hubert and Arabie.
    chance = s.mean() * t.mean() * len(pairs)
    assert found.ari == pytest.approx(((s & t).sum() - chance) / ((s.sum() + t.sum()) / 2 - chance))


def brute_average_precision(values, true, missing: int) -> float:
    total, previous = true.sum() + missing, 0.0
    area = 0.0
    for level in sorted(set(values), reverse=True):
        taken = values >= level
        recall, precision = true[taken].sum() / total, true[taken].mean()
        area += (recall - previous) * precision
        previous = recall
    return area


@pytest.mark.parametrize("seed", range(5))
def test_average_precision_is_its_definition(seed):
    rng = np.random.default_rng(seed)
    pairs = np.array([(a, b) for a in range(4) for b in range(4, 8) if (a, b) != (2, 6)])
    values = rng.integers(0, 6, len(pairs)) / 5
    true = np.array([TRUTH.labels[a] == TRUTH.labels[b] for a, b in pairs])
    scores = PairScores(RECORDS, pairs, values)
    found = tl.evaluate(Linkage(RECORDS, range(8)), TRUTH, probabilities=scores, resamples=0)
    assert found.average_precision == pytest.approx(brute_average_precision(values, true, missing=1))
    curve = found.ranking.curve()
    assert curve["recall"].to_list()[-1] == pytest.approx(2 / 3)
    at = values >= curve["threshold"][0]
    assert curve["precision"][0] == pytest.approx(true[at].mean())


def test_calibration_by_hand():
    pairs = np.array([[0, 4], [1, 5], [2, 6], [0, 5], [1, 4], [3, 7]])
    p = np.array([0.95, 0.85, 0.25, 0.05, 0.15, 0.04])
    scores = PairScores(RECORDS, pairs, p)
    found = tl.evaluate(Linkage(RECORDS, range(8)), TRUTH, probabilities=scores).calibration
    assert (found.pairs, found.observed) == (5, 3)
    assert found.expected == pytest.approx(2.25)
    assert found.ece == pytest.approx((0.05 + 0.15 + 0.75 + 0.05 + 0.15) / 5)
    assert found.brier == pytest.approx((0.05**2 + 0.15**2 + 0.75**2 + 0.05**2 + 0.15**2) / 5)
    assert found.bins()["pairs"].to_list() == [1, 1, 1, 0, 0, 0, 0, 0, 1, 1]
    assert found.bins()["share_true"].to_list() == [0, 0, 1, None, None, None, None, None, 1, 1]
    assert found.inside


def test_the_count_of_independent_pairs_is_exact():
    rng = np.random.default_rng(1)
    assert independent_count(np.empty(0)) == (0, 0)
    for size in (1, 3, 7):
        p = rng.random(size)
        outcomes = np.array(np.meshgrid(*[[0, 1]] * size)).reshape(size, -1)
        weight = np.prod(np.where(outcomes == 1, p[:, None], 1 - p[:, None]), axis=0)
        number = outcomes.sum(axis=0)
        below = np.array([weight[number <= k].sum() for k in range(size + 1)])
        expected = tuple(int(np.argmax(below >= level - 1e-12)) for level in (0.025, 0.975))
        assert independent_count(p) == expected


def test_a_posterior_brings_probabilities_draws_and_persons():
    draws = np.array([[0, 1, 2, 3, 0, 1, 4, 5]] * 6 + [[0, 1, 2, 3, 0, 4, 2, 1]] * 4)
    posterior = posterior_of(RECORDS, draws, anchors=[(0, 4)], chains=2)
    found = tl.evaluate(posterior, TRUTH)
    # The Binder estimate links (1, 5), p = .6; the anchor is left out.
    assert (found.recall, found.precision) == (0.5, 1.0)
    assert found.draws.recall.tolist() == [0.5] * 10
    assert found.draws.precision.tolist() == [1.0] * 6 + [0.5] * 4
    assert found.draws.summary("precision") == pytest.approx(0.8)
    assert found.posterior_persons.mean == pytest.approx(6 * 0.6 + 5 * 0.4)
    assert found.true_persons == 5
    # Pairs with p ≥ .05 but for the anchor: (1,5) .6 true, (2,6) .4 true, (1,7) .4 false; a draw links one or two.
    assert (found.calibration.pairs, found.calibration.observed, found.calibration.interval) == (3, 2, (1, 2))
    assert found.average_precision == pytest.approx(0.5 * 1 + 0.5 * (2 / 3))
    assert "inside the interval" in str(found)
    assert {"recall over draws", "persons, posterior"} <= set(found.table()["score"])


def test_bootstrap_intervals_cover_as_often_as_they_say():
    """Recall of matches found independently with probability .6; false-alarm rate about 1 in 10⁴.

    The negative control is a bootstrap that counts each pair from both its ends, and so has half the variance.
    """
    rng = np.random.default_rng(7)
    size, runs, least = 80, 400, 358
    covered = too_narrow = 0
    records = Records({"x": range(size), "y": range(size)})
    truth = Linkage(records, np.tile(np.arange(size), 2))
    for seed in range(runs):
        found = np.flatnonzero(rng.random(size) < 0.6)
        labels = np.arange(2 * size)
        labels[found + size] = found
        recall = tl.evaluate(Linkage(records, labels), truth, resamples=200, seed=seed).recall
        covered += recall.low <= 0.6 <= recall.high
        low, high = (recall + (end - recall) / np.sqrt(2) for end in (recall.low, recall.high))
        too_narrow += low <= 0.6 <= high
    # Binomial(400, .94): fewer than 358 has probability about 1e-4; the control covers about .83.
    assert covered >= least
    assert too_narrow < least


def test_units_keep_the_pairs_of_a_person_together():
    units = Units(np.array([0, 0, 0, 1]), 50, 0)
    pairs = np.array([[0, 1], [0, 2], [1, 2]])
    total = units.total(units.of_pairs(pairs))
    assert total[0] == 3
    assert set(total % 3) == {0}


def test_what_does_not_fit_together_is_refused():
    other = Linkage(Records({"x": [1, 2]}), [0, 1])
    with pytest.raises(tl.InputError, match=r"(?s)truth and the links.*anchors and the links"):
        tl.evaluate(TRUTH, other, anchors=other)
    with pytest.raises(tl.InputError, match="Give a Linkage or a Posterior"):
        tl.evaluate([(1, 2)], TRUTH)
    with pytest.raises(tl.InputError, match="resamples is -1"):
        tl.evaluate(TRUTH, TRUTH, resamples=-1)
    with pytest.raises(tl.InputError, match="unknown id 9"):
        tl.evaluate(TRUTH, [(9, 1)])


def test_a_table_of_another_tool_and_pandas_frames():
    table = pl.DataFrame({"id_a": [1, 2], "id_b": [1, 3], "probability": [0.9, 0.3]}).to_pandas()
    links = tl.one_to_one(table, RECORDS)
    found = tl.evaluate(links, [(1, 1), (2, 2)], probabilities=table)
    assert found.average_precision == pytest.approx(0.5)
    assert found.calibration.observed == 1


def test_scores_survive_pickling():
    again = pickle.loads(pickle.dumps(Score(0.5, 0.1, 0.9)))
    assert (again, again.low, again.high) == (0.5, 0.1, 0.9)
