"""Baselines against their definitions, written out slowly; anchors stay and non-matches stay apart."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.baselines.answer import networks
from tielink.baselines.bartunov import ALONE, Similarity, _Field
from tielink.baselines.fellegi_sunter import Rates, agreement_rates
from tielink.baselines.profiles import NEUTRAL, close_profiles, profile_distance


def distance(a: str, b: str) -> float:
    """Levenshtein's distance over the longer length, by its recursion."""

    def edits(x: str, y: str) -> int:
        if not x or not y:
            return len(x) + len(y)
        return min(edits(x[1:], y) + 1, edits(x, y[1:]) + 1, edits(x[1:], y[1:]) + (x[0] != y[0]))

    return edits(a, b) / max(len(a), len(b), 1)


def strings(left, right, **known) -> tl.Dataset:
    frames = {
        "l": pl.DataFrame({"id": range(len(left)), "name": left}, schema={"id": pl.Int64, "name": pl.String}),
        "r": pl.DataFrame({"id": range(len(right)), "name": right}, schema={"id": pl.Int64, "name": pl.String}),
    }
    return tl.Dataset.from_frames(frames, fields={"name": tl.String()}, **known)


def random_networks(seed: int, sizes=(9, 11), anchors=3, names: bool = False) -> tl.Dataset:
    rng = np.random.default_rng(seed)
    frames, ties = {}, {}
    for file, size in zip("lr", sizes, strict=True):
        frame = {"id": list(range(size))}
        if names:
            frame["name"] = ["".join(rng.choice(list("ab"), 3)) for _ in range(size)]
        frames[file] = pl.DataFrame(frame)
        ties[file] = [(a, b) for a in range(size) for b in range(a) if rng.random() < 0.4]
    fields = {"name": tl.String()} if names else {}
    return tl.Dataset.from_frames(frames, ties, fields=fields, anchors=[(k, k) for k in range(anchors)])


def neighbours(data: tl.Dataset, file: str) -> list[set[int]]:
    sets: list[set[int]] = [set() for _ in range(data.records.sizes[data.files.index(file)])]
    for a, b in data.ties[file].tolist():
        sets[a].add(b)
        sets[b].add(a)
    return sets


def test_equal_strings_need_a_value_that_is_unique_in_each_file():
    data = strings(["ann", "bob", "bob", "cyd", None, "dan"], ["ann", "bob", "cyd", None, "dan"], nonmatches=[(5, 4)])
    links = tl.baselines.equal_strings(data, "name")
    assert links.pair_numbers.tolist() == [[0, 6], [3, 8]]
    assert links.scores()["score"].to_list() == [1.0, 1.0]
    anchored = strings(["ann", "bob"], ["ann", "bob"], anchors=[(0, 1)])
    assert tl.baselines.equal_strings(anchored, "name") == anchored.anchors


def test_equal_strings_over_three_files():
    frames = {name: pl.DataFrame({"id": [1], "name": ["ann"]}) for name in "xyz"}
    data = tl.Dataset.from_frames(frames, fields={"name": tl.String()})
    assert tl.baselines.equal_strings(data, "name").persons == 1
    assert list(tl.baselines.every(data)) == ["equal name"]


@pytest.mark.parametrize("seed", range(4))
def test_best_string_is_the_strict_mutual_best(seed):
    rng = np.random.default_rng(seed)
    left, right = (["".join(rng.choice(list("abc"), rng.integers(3, 6))) for _ in range(7)] for _ in range(2))
    data = strings(left, right)
    far = np.array([[distance(a, b) for b in right] for a in left])
    expected = [
        [i, 7 + j]
        for i, j in product(range(7), repeat=2)
        if far[i, j] <= 0.5
        and all(far[i, j] < far[i, k] for k in range(7) if k != j)
        and all(far[i, j] < far[k, j] for k in range(7) if k != i)
    ]
    links = tl.baselines.best_string(data, "name", threshold=0.5)
    assert links.pair_numbers.tolist() == expected
    scores = dict(zip(map(tuple, links.pair_scores.pairs.tolist()), links.pair_scores.values, strict=True))
    assert scores == {
        (i, 7 + j): pytest.approx(1 - far[i, j]) for i, j in product(range(7), repeat=2) if far[i, j] <= 0.5
    }


def test_degree_rank_by_hand():
    left = pl.DataFrame({"id": list("abcd")})
    right = pl.DataFrame({"id": list("wxyz")})
    ties = {"l": [("a", "b"), ("a", "c")], "r": [("y", "w"), ("y", "x")]}
    data = tl.Dataset.from_frames({"l": left, "r": right}, ties, fields={})
    links = tl.baselines.degree_rank(data)
    assert links.pairs().rows() == [("l", "a", "r", "y"), ("l", "b", "r", "w"), ("l", "c", "r", "x")]
    scores = {(row[1], row[3]): row[4] for row in links.scores().rows()}
    assert len(scores) == 9, "isolated records are not linked"
    assert (scores["a", "y"], scores["a", "w"], scores["b", "y"]) == (1.0, 0.5, 0.5)
    assert scores["b", "x"] == pytest.approx(1 / 3)


@pytest.mark.parametrize("seed", range(4))
def test_anchor_neighbours_is_its_definition(seed):
    data = random_networks(seed)
    near = neighbours(data, "l"), neighbours(data, "r")
    weight = {z: 1 / math.log(max(2, len(near[0][z]) + len(near[1][z]))) for z in range(3)}
    found = tl.baselines.anchor_neighbours(data)
    said = {}
    for a, b in product(range(3, 9), range(3, 11)):
        known = near[0][a] & set(weight), near[1][b] & set(weight)
        common = sum(weight[z] for z in known[0] & known[1])
        if common:
            said[a, 9 + b] = 2 * common / sum(weight[z] for side in known for z in side)
    values = dict(zip(map(tuple, found.pair_scores.pairs.tolist()), found.pair_scores.values, strict=True))
    assert values == pytest.approx(said, abs=2e-6)
    links = {tuple(pair) for pair in found.pair_numbers.tolist()} - {(k, 9 + k) for k in range(3)}
    expected = {
        (a, b)
        for (a, b), value in values.items()
        if all(value > other for (x, y), other in values.items() if (x == a) != (y == b))
    }
    assert links == expected
    assert len(tl.baselines.anchor_neighbours(random_networks(seed, anchors=0)).pair_numbers) == 0


def energy(data: tl.Dataset, y, neutral: float) -> float:
    """The paper's energy from sets of neighbours, with the neutral costs."""
    near = neighbours(data, "r")
    weight = [1 / math.log(max(2, len(known))) for known in near]

    def omega(b: int, c: int) -> float:
        assert b != c
        common = sum(weight[z] for z in near[b] & near[c])
        total = sum(weight[z] for z in near[b]) + sum(weight[z] for z in near[c])
        return 1 - 2 * common / total if total else 1.0

    ties = sum(1 - neutral if ALONE in (y[v], y[u]) else omega(y[v], y[u]) for v, u in data.ties["l"].tolist())
    edge = data.records.offsets[1]
    profiles = sum(
        NEUTRAL if b == ALONE else profile_distance(data, np.array([[v, edge + b]]))[0] for v, b in enumerate(y)
    )
    return ties + profiles


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_bartunov_energy_and_gains_are_those_of_the_paper(seed, names):
    data = random_networks(seed, names=names)
    first, second = networks(data)
    likeness = Similarity(second)
    field = _Field(data, first, likeness, likeness.halfway(), close_profiles(data))
    y = np.array([0, 1, 2, 7, ALONE, 4, ALONE, ALONE, 9])
    assert field.energy(y) == pytest.approx(energy(data, y, field.neutral))
    pairs, gain = field.gains(y)
    assert len(pairs) > 3
    assert (gain > 0).all()
    found = dict(zip(map(tuple, (pairs - [0, data.records.offsets[1]]).tolist()), gain, strict=True))
    for v, b in product(range(3, 9), range(3, 11)):
        if b in y:
            continue
        alone, linked = y.copy(), y.copy()
        alone[v], linked[v] = ALONE, b
        saved = energy(data, alone, field.neutral) - energy(data, linked, field.neutral)
        if saved > 1e-9:
            assert found[v, b] == pytest.approx(saved), "every link that saves energy is found"
        else:
            assert (v, b) not in found


@pytest.mark.parametrize("seed", range(3))
def test_bartunov_never_ends_above_the_anchors_alone_and_is_one_to_one(seed):
    data = random_networks(seed)
    links = tl.baselines.bartunov(data)
    assert links.is_valid("pairs")
    assert {(k, 9 + k) for k in range(3)} <= {tuple(pair) for pair in links.pair_numbers.tolist()}
    neutral = Similarity(networks(data)[1]).halfway()
    y = np.full(9, ALONE)
    y[links.pair_numbers[:, 0]] = links.pair_numbers[:, 1] - 9
    start = np.where(np.arange(9) < 3, np.arange(9), ALONE)
    assert energy(data, y, neutral) <= energy(data, start, neutral) + 1e-9
    assert len(tl.baselines.bartunov(random_networks(seed, anchors=0)).pair_numbers) == 0


def test_likeness_halfway_is_the_mean_of_two_means():
    data = random_networks(5)
    likeness = Similarity(networks(data)[1])
    matrix = likeness.rows(np.arange(11)).toarray()
    tied = networks(data)[1].toarray() > 0
    other = ~tied & ~np.eye(11, dtype=bool)
    assert likeness.halfway() == pytest.approx((matrix[tied].mean() + matrix[other].mean()) / 2)


def test_em_climbs_to_the_top_of_the_likelihood():
    """At the end no small change of λ or m makes the pairs more likely."""
    rng = np.random.default_rng(0)
    other = [np.array([0.9, 0.1]), np.array([0.7, 0.2, 0.1])]
    match = [np.array([0.2, 0.8]), np.array([0.1, 0.2, 0.7])]
    patterns = np.array(list(product([0, 1], [0, 1, 2])))
    truth = Rates(0.05, match, other)

    def shares(rates: Rates) -> np.ndarray:
        m, u = (np.prod([side[f][patterns[:, f]] for f in range(2)], axis=0) for side in (rates.match, rates.other))
        return rates.share * m + (1 - rates.share) * u

    counts = rng.multinomial(4_000_000, shares(truth))
    found = agreement_rates(patterns, counts, other, most=0.5)
    assert found.share == pytest.approx(0.05, abs=0.003)
    for m, expected in zip(found.match, match, strict=True):
        assert m == pytest.approx(expected, abs=0.02)
    top = counts @ np.log(shares(found))
    for step in (-0.003, 0.003):
        assert counts @ np.log(shares(Rates(found.share + step, found.match, other))) < top
        moved = [found.match[0] + [step, -step], found.match[1]]
        assert counts @ np.log(shares(Rates(found.share, moved, other))) < top


def test_fellegi_sunter_links_one_to_one_and_gives_probabilities():
    rng = np.random.default_rng(1)
    names = ["".join(rng.choice(list("abcdefghij"), 8)) for _ in range(90)]
    typed = [name[:-1] + "x" if place % 3 == 0 else name for place, name in enumerate(names[30:])]
    cities = rng.choice(["Rome", "Oslo", "Bern"], 90).tolist()
    frames = {
        "l": pl.DataFrame({"id": range(60), "name": names[:60], "city": cities[:60]}),
        "r": pl.DataFrame({"id": range(60), "name": typed, "city": [None, *cities[31:]]}),
    }
    data = tl.Dataset.from_frames(frames, fields={"name": tl.String(), "city": tl.Categorical()}, anchors=[(31, 1)])
    truth = [(k + 30, k) for k in range(30)]
    links = tl.baselines.fellegi_sunter(data)
    assert links.is_valid("pairs")
    found = tl.evaluate(links, truth, anchors=data.anchors)
    assert found.recall > 0.9
    assert found.precision > 0.9
    assert found.calibration is not None
    assert (31, 61) in {tuple(pair) for pair in links.pair_numbers.tolist()}


def test_what_a_baseline_is_not_for_is_said():
    data = strings(["ann"], ["ann"])
    with pytest.raises(tl.InputError, match="Did you mean 'name'"):
        tl.baselines.equal_strings(data, "nam")
    with pytest.raises(tl.InputError, match=r"(?s)2 faults.*'l' has no network.*'r' has no network"):
        tl.baselines.bartunov(data)
    with pytest.raises(tl.InputError, match="threshold is 2"):
        tl.baselines.best_string(data, "name", threshold=2)
    with pytest.raises(tl.InputError, match="no field to compare"):
        tl.baselines.fellegi_sunter(random_networks(0))
    three = tl.Dataset.from_frames({name: pl.DataFrame({"id": [1], "name": ["a"]}) for name in "xyz"}, fields={})
    with pytest.raises(tl.InputError, match="here are 3"):
        tl.baselines.degree_rank(three)


def test_every_runs_what_the_data_allow():
    assert set(tl.baselines.every(random_networks(1))) == {"degree rank", "anchor neighbours", "BARTUNOV"}
    assert set(tl.baselines.every(strings(["ann"], ["ann"]))) == {"equal name", "best name", "Fellegi–Sunter"}
    assert len(tl.baselines.every(random_networks(1, names=True))) == 6
