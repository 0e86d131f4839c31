"""Binder estimates have the least expected loss of all linkages, counted over draws."""

from __future__ import annotations

import time
from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import partitions, posterior_of, random_draws
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.data.scores import PairScores

FILES = {
    ("pairs", 2): Records({"x": [1, 2, 3], "y": [1, 2, 3]}),
    ("pairs", 3): Records({"x": [1, 2], "y": [1, 2], "z": [1, 2]}),
    ("one_per_file", 3): Records({"x": [1, 2], "y": [1, 2], "z": [1, 2]}),
    ("free", 1): Records({"x": [1, 2, 3, 4, 5, 6]}),
    ("free", 2): Records({"x": [1, 2, 3], "y": [1, 2, 3]}),
}


def expected_loss(estimate, draws, loss: tl.Binder) -> float:
    """A for every missed, b for every false link, averaged over draws: the definition, pair by pair."""
    total = 0.0
    for draw in draws:
        for r, s in combinations(range(len(draw)), 2):
            linked, match = estimate[r] == estimate[s], draw[r] == draw[s]
            total += loss.missed_link * (match and not linked) + loss.false_link * (linked and not match)
    return total / len(draws)


@pytest.mark.parametrize("case", FILES, ids=str)
@pytest.mark.parametrize("costs", [(1, 1), (1, 3), (4, 1)], ids=str)
def test_no_linkage_has_a_smaller_expected_loss(case, costs):
    allowed, _ = case
    records = FILES[case]
    loss = tl.Binder(false_link=costs[0], missed_link=costs[1])
    every = partitions(records, allowed)
    rng = np.random.default_rng(5)
    for _ in range(4):
        draws = random_draws(rng, records, allowed, count=20)
        links = tl.estimate(posterior_of(records, draws), loss, allowed=allowed)
        assert links.is_valid(allowed)
        least = min(expected_loss(labels, draws, loss) for labels in every)
        assert expected_loss(links.labels, draws, loss) == pytest.approx(least)


@pytest.mark.parametrize("allowed", ["pairs", "one_per_file", "free"])
def test_any_table_of_probabilities_is_decided_exactly(allowed):
    """Another tool's probabilities need not come from any distribution of linkages."""
    records = Records({"x": [1, 2], "y": [1, 2], "z": [1, 2]})
    every = partitions(records, allowed)
    rng = np.random.default_rng(11)
    cross = [(a, b) for a, b in combinations(range(6), 2) if records.file_of[a] != records.file_of[b]]
    for _ in range(10):
        pairs = np.array([pair for pair in cross if rng.random() < 0.7])
        p = rng.random(len(pairs))
        matrix = np.zeros((6, 6))
        matrix[pairs[:, 0], pairs[:, 1]] = p

        def gain(labels, matrix=matrix):
            return sum(matrix[a, b] - 0.4 for a, b in combinations(range(6), 2) if labels[a] == labels[b])

        loss = tl.Binder(false_link=0.4, missed_link=0.6)
        links = tl.estimate(PairScores(records, pairs, p), loss, allowed=allowed)
        assert links.is_valid(allowed)
        assert gain(links.labels) == pytest.approx(max(gain(labels) for labels in every))


def test_equal_costs_link_what_is_likelier_than_not():
    records = FILES["pairs", 2]
    for seed in range(5):
        posterior = posterior_of(records, random_draws(np.random.default_rng(seed), records, "pairs"))
        expected = tl.estimate(posterior, tl.Binder())
        likely = posterior.pair_probabilities
        chosen = likely.pairs[likely.probability > 0.5]
        assert {tuple(pair) for pair in expected.pair_numbers.tolist()} == {tuple(pair) for pair in chosen.tolist()}


def test_costs_matter():
    records = Records({"x": [1], "y": [1]})
    posterior = posterior_of(records, [[0, 0]] * 6 + [[0, 1]] * 4)
    assert tl.estimate(posterior).persons == 1
    assert tl.estimate(posterior, tl.Binder(false_link=2, missed_link=1)).persons == 2


def test_known_pairs_of_the_data_set_are_kept():
    left, right = pl.DataFrame({"id": ["a", "b", "c"]}), pl.DataFrame({"id": ["x", "y", "z"]})
    data = tl.Dataset.from_frames({"l": left, "r": right}, fields={}, anchors=[("a", "x")], nonmatches=[("b", "y")])
    table = pl.DataFrame(
        {"id_a": ["a", "b", "b", "c"], "id_b": ["y", "y", "x", "z"], "probability": [0.99, 0.9, 0.95, 0.6]}
    )
    expected = Linkage.from_pairs(data, [("a", "x"), ("c", "z")])
    assert tl.one_to_one(table, data) == expected
    assert tl.estimate(table, data=data, allowed="free") == expected
    assert tl.one_to_one(table, data, threshold=0.7) == data.anchors
    assert tl.one_to_one(table.to_pandas(), data) == expected


def test_every_fault_of_a_table_at_once():
    records = Records({"x": [1, 2], "y": [1, 2]})
    table = pl.DataFrame({"id_a": [1, 9, 2], "id_b": [1, 1, 2], "probability": [0.5, 0.5, 1.5]})
    with pytest.raises(tl.InputError, match=r"(?s)2 faults.*probability is 1.5.*unknown id 9"):
        tl.estimate(table, data=records)
    twice = pl.DataFrame({"id_a": [1, 1], "id_b": [1, 1], "probability": [0.5, 0.6]})
    with pytest.raises(tl.InputError, match="position 1: a pair is listed before"):
        tl.estimate(twice, data=records)
    with pytest.raises(tl.InputError, match="Did you mean 'probabilty'"):
        tl.estimate(table.rename({"probability": "probabilty"}), data=records)
    with pytest.raises(tl.InputError, match="Give data="):
        tl.estimate(table)
    with pytest.raises(tl.InputError, match="number between 0 and 1"):
        tl.one_to_one(twice, records, threshold=1)
    with pytest.raises(tl.InputError, match="data frame"):
        tl.one_to_one([(1, 2)], records)
    with pytest.raises(tl.InputError, match="false_link is 0"):
        tl.Binder(false_link=0)
    with pytest.raises(tl.InputError, match="Binder"):
        tl.estimate(table.head(1), "binder", data=records)


@pytest.mark.parametrize(("files", "allowed"), [(2, "pairs"), (3, "pairs"), (3, "one_per_file")])
def test_a_hundred_thousand_candidates_are_decided_in_seconds(files, allowed):
    """Half the records have one strong partner; all have a dozen weaker ones that compete."""
    rng = np.random.default_rng(3)
    size = 8_000
    records = Records({name: range(size) for name in "xyz"[:files]})
    a, b = rng.integers(0, size * files, (2, 230_000))
    a, b = np.concatenate([a, np.arange(size // 2)]), np.concatenate([b, np.arange(size // 2) + size])
    pairs = np.unique(np.sort(np.column_stack([a, b]), axis=1), axis=0)
    pairs = pairs[records.file_of[pairs[:, 0]] != records.file_of[pairs[:, 1]]]
    p = rng.beta(0.05, 3, len(pairs))
    p[pairs[:, 1] - pairs[:, 0] == size] = 0.97
    assert len(pairs) > 100_000
    start = time.perf_counter()
    links = tl.estimate(PairScores(records, pairs, p), tl.Binder(false_link=1, missed_link=2), allowed=allowed)
    assert time.perf_counter() - start < 30, "seconds, even on a busy machine"
    assert links.is_valid(allowed)
    assert links.persons < size * files - size // 4
