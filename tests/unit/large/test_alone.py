"""Ties alone: statements against plain twins, regressions on made choices, and whole runs."""

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from tielink.large.alone_statements import news, taught
from tielink.large.engines import choose_engine
from tielink.large.statements import adjacent, shared, weighty
from tielink.large.tables import DuckTables
from tielink.large.teaching import conditional_logit, right_among
from unit.large.test_rounds import KilledError, made, run, same_tables
from unit.large.test_statements import RHO, World, by_pair, marginals


@pytest.fixture
def tables(tmp_path):
    with_folder = DuckTables(tmp_path / "tables", threads=2)
    yield with_folder
    with_folder.close()


@pytest.mark.parametrize("side", ["a", "b"])
def test_supporters_who_know_each_other_are_one_piece_of_news(tables, side):
    world, of = World(tables, seed=4), "ab".index(side)
    tables.write("weights", weighty("state"))
    rows = tables.fetch(news(side, "weights", "state", rho=RHO))
    found, common = by_pair(rows, "news"), by_pair(rows, "common")
    fewer = 0
    for i, j in world.pairs:
        told, q = {}, {}
        for pair in world.pairs:
            n, m = pair
            if world.tied[0][i, n] and world.tied[1][j, m] and world.q[n, m] > 0:
                told[pair[of]] = told.get(pair[of], 0.0) + world.q[n, m] * world.term(i, j, n, m)
                q[pair[of]] = q.get(pair[of], 0.0) + world.q[n, m]
        wanted = sum(
            value / (1 + sum(q[other] for other in q if world.tied[of][n, other])) for n, value in told.items()
        )
        assert found.get((i, j), 0.0) == pytest.approx(wanted, abs=1e-8)
        assert common.get((i, j), 0.0) == pytest.approx(sum(told.values()), abs=1e-8)
        fewer += wanted < 0.9 * sum(told.values())
    assert fewer > 2
    tables.write("adjacent", adjacent("weights", "JOIN state k ON k.i = a.i AND k.j = b.j"))
    usual = by_pair(tables.fetch(shared("adjacent", "weights", RHO)), "h")
    assert by_pair(rows, "h") == pytest.approx(usual, abs=1e-8)


def test_scores_are_those_of_linkages_with_these_probabilities(tables):
    """Bethe's approximation is exact on a tree: probabilities by enumeration lead back to the scores."""
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 2)]
    score = np.array([0.5, -1.0, 1.4, -2.0, 0.5, 1.0])
    chance = marginals(score, pairs)
    i, j = np.array(pairs).T
    zeros = np.zeros(len(pairs))
    odds = np.log(chance / (1 - chance))
    tables.put("messages", {"i": i, "j": j, "score": (odds - 0.7) / 2 - 0.3, "la": zeros + 0.1, "lb": zeros + 0.2})
    tables.put("parts", {"i": i, "j": j, "c": zeros + 1})
    tables.put("map", {"slope": [2.0], "level": [0.7]})
    known = {"i": [9], "j": [9], "c": [1.0], "known": [True], "la": [0.0], "lb": [0.0], "q": [1.0], "score": [0.0]}
    tables.put("known", known)
    rows = tables.fetch(taught("messages", "parts", "map", "known"))
    assert by_pair(rows, "q")[9, 9] == 1.0
    assert [by_pair(rows, "q")[pair] for pair in pairs] == pytest.approx(chance, abs=2e-4)
    assert [by_pair(rows, "score")[pair] for pair in pairs] == pytest.approx(score, abs=2e-3)


def test_powers_are_those_by_which_records_chose():
    rng = np.random.default_rng(1)
    choosers, rivals = 3000, 6
    parts = rng.gamma(2.0, 1.0, (choosers, rivals, 3))
    weight = np.exp(parts @ np.array([0.8, 0.3, 0.0]) - 3.0)
    chance = np.cumsum(weight, axis=1) / (1 + weight.sum(axis=1, keepdims=True))
    chosen = (rng.random((choosers, 1)) > chance).sum(axis=1)[:, None] == np.arange(rivals)
    chooser = np.repeat(np.arange(choosers), rivals)
    found = conditional_logit(parts.reshape(-1, 3), chosen.ravel(), chooser)
    assert found == pytest.approx([0.8, 0.3, 0.0, -3.0], abs=0.15)
    held = conditional_logit(parts.reshape(-1, 3), chosen.ravel(), chooser, [0.4, 0.4, 0.0])
    assert held[:3].tolist() == [0.4, 0.4, 0.0]
    assert (conditional_logit(np.empty((0, 3)), np.empty(0, bool), np.empty(0, int))[:3] > 0).all(), "the prior"


@pytest.mark.parametrize("level", [0.5, -1.5])
def test_probabilities_are_right_though_nobody_says_which_pairs_are_wrong(level):
    rng = np.random.default_rng(2)
    odds = np.concatenate([rng.normal(-4, 2, 8000), rng.normal(3, 2, 2000)]).round(1)
    right = rng.random(len(odds)) < 1 / (1 + np.exp(-(0.8 * odds + level)))
    shown = rng.choice(odds[right], 600, replace=False)
    values, count = np.unique(odds, return_counts=True)
    slope, found = right_among(shown, values, count)
    assert slope == pytest.approx(0.8, abs=0.15)
    assert count @ (1 / (1 + np.exp(-(slope * values + found)))) == pytest.approx(right.sum(), rel=0.15)


def alone(anchors, seed=3, **how):
    how = {"fields": (), "sharing": 0.8, "communities": 6, "closure": 0.2} | how
    return made(300, anchors=anchors, seed=seed, **how)


def test_links_grow_from_known_matches_and_probabilities_hold(tmp_path):
    simulated = alone(0.3)
    found = run(simulated.dataset, DuckTables(tmp_path))
    truth = {(int(a), int(b) - 300) for a, b in simulated.truth.pair_numbers}
    right = np.array([tuple(pair) in truth for pair in found.pairs.tolist()])
    known = len(simulated.dataset.anchors.pair_numbers)
    likely = found.probability > 0.5
    assert right[likely].sum() > 0.4 * (len(truth) - known)
    assert right[likely].mean() > 0.8
    assert found.probability.sum() == pytest.approx(right.sum(), rel=0.4)
    partners = np.bincount(found.pairs[:, 0], found.probability)
    assert partners.max() <= 1.0 + 1e-9


def test_known_non_matches_are_never_linked_and_known_matches_not_told(tmp_path):
    simulated = alone(0.3)
    truth = simulated.truth.pair_numbers
    anchors = simulated.dataset.anchors
    free = truth[~np.isin(truth[:, 0], anchors.pair_numbers[:, 0])][:40]
    found = run(replace(simulated.dataset, nonmatches=free), DuckTables(tmp_path))
    pairs = set(map(tuple, found.pairs.tolist()))
    assert not pairs & {(int(a), int(b) - 300) for a, b in free}
    assert not {i for i, _ in pairs} & set(anchors.pair_numbers[:, 0].tolist())


def test_without_known_matches_nothing_is_found(tmp_path):
    said = []
    found = run(alone(0.0).dataset, DuckTables(tmp_path), said.append)
    assert len(found.pairs) == 0
    assert any("nothing to begin with" in text for text in said)


def test_where_networks_have_nothing_in_common_nothing_is_sure(tmp_path):
    found = run(alone(0.2, sharing=0.0, communities=0, closure=0.0).dataset, DuckTables(tmp_path))
    assert (found.probability > 0.8).sum() <= 2


def test_a_killed_run_ends_with_the_same_tables(tmp_path, monkeypatch):
    dataset, wrote, left = alone(0.3).dataset, DuckTables._write, [150]
    whole = DuckTables(tmp_path / "whole", threads=1)
    run(dataset, whole)

    def write(self, query, part):
        left[0] -= 1
        if left[0] < 0:
            part.write_bytes(b"half a table")
            raise KilledError
        wrote(self, query, part)

    with monkeypatch.context() as patch:
        patch.setattr(DuckTables, "_write", write)
        with pytest.raises(KilledError):
            run(dataset, DuckTables(tmp_path / "killed", threads=2))
    said = []
    run(dataset, DuckTables(tmp_path / "killed", threads=2), said.append)
    assert said[1].startswith("Going on after round")
    same_tables(tmp_path / "killed", tmp_path / "whole")


def test_the_engine_is_the_one_that_known_matches_teach():
    many = made(600, fields=(), anchors=0.3).dataset
    engine, why = choose_engine("auto", tl.Model(), many, tl.Run())
    assert isinstance(engine, tl.DuckDB)
    assert "known matches that teach" in why
    pairs = [pair for pair in many.anchors.clusters() if len(pair) == 2]
    few = replace(many, anchors=tl.Linkage.from_pairs(many, pairs[:5]))
    for model, dataset in (
        (tl.Model(), few),
        (tl.Model(), made(600, anchors=0.3).dataset),
        (tl.Model(network=tl.SharedTies(power=0.5)), many),
    ):
        assert choose_engine("auto", model, dataset, tl.Run())[0] is None
