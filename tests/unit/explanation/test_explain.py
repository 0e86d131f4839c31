"""Explanations: parts that are what they say, and that add up to what is reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats

import tielink as tl
from tielink.explanation.contributions import prior_weight
from tielink.explanation.explain import REST
from tielink.logp.linkage import log_linkage
from tielink.logp.network import log_ties
from tielink.logp.profiles import log_evidence


def parts(explanation):
    return {entry.part: entry.log_odds for entry in explanation.contributions}


@pytest.fixture(scope="module")
def fitted():
    rng = np.random.default_rng(6)
    made = tl.simulate.scenario(rng, sizes={"a": 12, "b": 14}, overlap=8, anchors=0.25, density=0.3, spread=4.0)
    return tl.sample(tl.Model(), made.dataset, chains=2, warmup=60, draws=60, workers=0)


def test_two_records_without_rivals_factorise():
    """One record in each file and a distortion rate that is all but known: reported odds are prior odds × evidence."""
    names = {"a": pl.DataFrame({"id": [1], "name": ["anna"]}), "b": pl.DataFrame({"id": [1], "name": ["ana"]})}
    field = tl.String(tl.Beta(4e6, 6e6), "closed", frequencies={"anna": 2.0, "ana": 1.0, "bob": 3.0})
    data = tl.Dataset.from_frames(names, fields={"name": field})
    posterior = tl.sample(tl.Model(linkage=tl.MatchRate(1, 3)), data, chains=2, warmup=10, draws=4000, workers=0)
    found = tl.explain(posterior, ("a", 1), ("b", 1))
    (compiled,) = tl.Problem.compile(tl.Model(), data).fields
    expected = log_evidence(compiled, None, 0.4, np.array([0]), np.array([1]))[0]
    assert parts(found)["prior"] == pytest.approx(np.log(0.25 / 0.75))
    assert parts(found)["name"] == pytest.approx(expected, abs=1e-2)
    error = 1 / np.sqrt(8000 * found.probability * (1 - found.probability))
    assert abs(parts(found)[REST]) < 5 * error
    assert found.log_odds == pytest.approx(np.log(found.probability / (1 - found.probability)))


def test_the_part_of_ties_is_the_ratio_of_integrals():
    """K = 1, so that Z_a, Z_b and Z_ab can be integrated."""
    rng = np.random.default_rng(2)
    model = tl.Model(network=tl.LatentSpace(1, intercept_sd=1.0, spread=tl.InverseGamma(5, 8)), fields={})
    data = tl.simulate.scenario(
        rng, model, {"a": 5, "b": 6}, overlap=3, density=0.4, spread=2.0, vocabularies={}
    ).dataset
    posterior = tl.sample(model, data, chains=1, warmup=30, draws=1, workers=0)
    problem = tl.Problem.compile(model, data)
    positions = posterior.network.positions[0, 0].astype(float)
    beta, spread = posterior.intercepts[0, 0], posterior.spread[0, 0]

    def likelihood(u, members):
        total = stats.norm(0, np.sqrt(spread)).pdf(u)
        for record in members:
            file, offset = int(record >= 5), 5 * int(record >= 5)
            mine = positions[offset : offset + problem.sizes[file]].copy()
            others = np.delete(mine, record - offset, axis=0)
            mine[record - offset] = u
            rows = tl.Problem.compile(model, data).network
            keep = [tie for tie in rows.ties[file].tolist() if record - offset in tie]
            alone = replace(
                rows, ties=tuple(np.array(keep).reshape(-1, 2) if f == file else rows.ties[f] for f in (0, 1))
            )
            empty = replace(
                rows, ties=tuple(np.empty((0, 2), dtype=int) if f == file else rows.ties[f] for f in (0, 1))
            )
            full = log_ties(alone, file, mine, beta[file]) - log_ties(empty, file, others, beta[file])
            total *= np.exp(full)
        return total

    def log_z(members):
        return np.log(integrate.quad(likelihood, -25, 25, args=(members,), limit=400, points=positions.ravel())[0])

    a, b = 1, 7
    exact = log_z((a, b)) - log_z((a,)) - log_z((b,))
    found = np.mean([parts(tl.explain(posterior, data.records[a], data.records[b], seed=s))["ties"] for s in range(30)])
    assert found == pytest.approx(exact, abs=0.15)


def test_parts_add_up_and_are_shown(fitted):
    uncertain = fitted.pairs().filter(pl.col("probability") < 1)  # anchors have nothing to explain
    pair = uncertain.row(0, named=True)
    left, right = (pair["file_a"], pair["id_a"]), (pair["file_b"], pair["id_b"])
    found = tl.explain(fitted, left, right)
    assert list(parts(found)) == ["prior", "username", "place", "ties", REST]
    share = np.clip(pair["probability"], 0.5 / 120, 1 - 0.5 / 120)
    assert found.log_odds == pytest.approx(np.log(share / (1 - share)))
    assert found.table()["log_odds"].sum() == pytest.approx(found.log_odds)
    assert "one person with probability" in str(found)
    assert "neighbours in common" in str(found)
    assert len(found.plot().patches) == len(found.contributions) + 1
    again = tl.explain(fitted, right, left, data=fitted.dataset)
    assert str(again) == str(found), "the order of the two does not matter"


def test_prior_weights_count_the_other_links(fitted):
    problem = tl.Problem.compile(fitted.model, fitted.dataset)
    alone = np.arange(26)
    for a, b in problem_anchors(fitted):
        alone[b] = a
    log = problem.linkage.log_by_matches
    free = [r for r in range(26) if r not in {int(x) for pair in problem_anchors(fitted) for x in pair}]
    a, b = free[0], next(r for r in free if r >= 12)
    assert prior_weight(problem, alone, (a, b)) == pytest.approx(log[1] - log[0])
    linked = alone.copy()
    linked[b] = a
    assert prior_weight(problem, linked, (a, b)) == pytest.approx(log[1] - log[0])
    c, d = free[1], [r for r in free if r >= 12][1]
    linked[d] = c
    assert prior_weight(problem, linked, (a, b)) == pytest.approx(log[2] - log[1])


def problem_anchors(posterior):
    return posterior.anchors.tolist()


def test_wrong_questions_are_answered_plainly(fitted):
    a, b = fitted.anchors[0]
    anchor = fitted.records[int(a)], fitted.records[int(b)]
    loaded = replace(fitted, dataset=None)
    for asked, said in [
        ((fitted, ("a", "nobody"), ("b", "b0001")), "unknown id"),
        ((fitted, ("a", "a0001"), ("a", "a0002")), "of one file"),
        ((fitted, *anchor), "are an anchor"),
        ((loaded, ("a", "a0001"), ("b", "b0001")), "loaded without its data"),
    ]:
        with pytest.raises(tl.InputError, match=said):
            tl.explain(*asked)


def test_what_goes_beyond_positions_is_told_apart():
    network = tl.LatentSpace(1, intercept_sd=1.0, spread=tl.InverseGamma(5, 8), tie_correlation=True, sociality=True)
    model = tl.Model(network=network, linkage=tl.MatchRate(activity=True), fields={})
    made = tl.simulate.scenario(
        np.random.default_rng(3), model, {"a": 8, "b": 9}, overlap=6, density=0.4, spread=2.0, vocabularies={},
        anchors=0.5, sociality=0.8, correlation=2.0,
    )  # fmt: skip
    posterior = tl.sample(model, made.dataset, chains=1, warmup=40, draws=6, workers=0)
    free = [int(r) for r in range(17) if r not in set(posterior.anchors.ravel().tolist())]
    a, b = free[0], next(r for r in free if r >= 8)
    found = parts(tl.explain(posterior, posterior.records[a], posterior.records[b]))
    assert list(found) == ["prior", "activity", "ties", "sociality", "correlated ties", REST]
    problem = tl.Problem.compile(model, made.dataset)
    weights = []
    for draw in range(6):
        person, alpha = posterior.person[0, draw].astype(int), float(posterior.beyond["activity"][0, draw])
        apart = person.copy()
        for record in (a, b):
            apart[apart == record] = np.flatnonzero(apart == record)
            apart[record] = record
        together = apart.copy()
        together[b] = a
        logs = [
            log_linkage(problem, np.unique(one, return_inverse=True)[1], activity=alpha) for one in (together, apart)
        ]
        weights.append(logs[0] - logs[1])
    assert found["prior"] + found["activity"] == pytest.approx(np.mean(weights))
    silent = replace(posterior, beyond=dict(posterior.beyond) | {"correlation": np.zeros((1, 6))})
    without = parts(tl.explain(silent, posterior.records[a], posterior.records[b]))
    assert without["correlated ties"] == 0
    assert found["correlated ties"] != 0
    assert without["ties"] == found["ties"]
    still = replace(posterior.network, sociality=np.zeros_like(posterior.network.sociality))
    assert parts(tl.explain(replace(posterior, network=still), *(posterior.records[r] for r in (a, b))))[
        "sociality"
    ] == pytest.approx(0, abs=1e-9)
