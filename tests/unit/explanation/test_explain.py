"""Explanations: parts that are what they say, and that add up to what is reported."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import integrate, stats
from scipy.special import logit

import tielink as tl
from posteriors import posterior_of
from tielink.explanation.contributions import weigh
from tielink.explanation.explain import REST, TIES
from tielink.explanation.neighbours import called
from tielink.logp.linkage import log_linkage
from tielink.logp.network import log_ties
from tielink.logp.profiles import log_evidence, log_group
from tielink.network.shared_ties import compile_ties


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
    posterior = tl.sample(tl.Model(linkage=tl.MatchRate(1, 3)), data, chains=2, warmup=10, draws=1000, workers=0)
    found = tl.explain(posterior, ("a", 1), ("b", 1))
    (compiled,) = tl.Problem.compile(tl.Model(), data).fields
    expected = log_evidence(compiled, None, 0.4, np.array([0]), np.array([1]))[0]
    assert parts(found)["prior"] == pytest.approx(np.log(0.25 / 0.75))
    assert parts(found)["name"] == pytest.approx(expected, abs=1e-2)
    error = 1 / np.sqrt(2000 * found.probability * (1 - found.probability))
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
    uncertain = fitted.pairs().filter(pl.col("probability") < 0.99)  # anchors have nothing to explain
    pair = uncertain.row(0, named=True)
    left, right = (pair["file_a"], pair["id_a"]), (pair["file_b"], pair["id_b"])
    found = tl.explain(fitted, left, right)
    sources = dict.fromkeys(entry.source for entry in found.contributions)
    assert list(sources) == ["prior", "username", "place", TIES, REST]
    assert found.log_odds == pytest.approx(logit(pair["probability"]))
    assert found.table()["log_odds"].sum() == pytest.approx(found.log_odds)
    assert "one person with probability" in str(found)
    assert len(found.plot().patches) == len(found.contributions) + 1
    again = tl.explain(fitted, right, left, data=fitted.dataset)
    assert str(again) == str(found), "the order of the two does not matter"


NAMES = ["ann lee", "bo diaz", "cy young", "di moe", "ed poe", "flo ray", "gus may"]


def people(sizes, rng, density=0.5):
    """Files of people with names, and random ties."""
    frames, ties = {}, {}
    for name, size in zip("abc", sizes, strict=False):
        ids = [f"{name}{i}" for i in range(size)]
        frames[name] = pl.DataFrame({"id": ids, "name": [NAMES[i % 7] for i in range(size)]})
        edges = [(ids[i], ids[j]) for i in range(size) for j in range(i) if rng.random() < density]
        ties[name] = pl.DataFrame(edges, schema=["source", "target"], orient="row")
    return frames, ties


def drawn(data, model, draws, anchors=(), power=0.7, sharing=0.6, prior=None):
    """A posterior of given draws."""
    made = posterior_of(data.records, draws, anchors)
    count = len(draws)
    return replace(
        made,
        model=model,
        dataset=data,
        power=power,
        sharing=np.full((1, count), sharing),
        distortion=np.full((1, count, 1), 0.1),
        rates=("name",),
        fields={"name": np.zeros((1, count, 0))},
        prior={} if prior is None else {name: np.full((1, count), value) for name, value in prior.items()},
    )


def log_shared_by_definition(labels, data, rho):
    """The sum over all pairs of dyads of the same two persons."""
    ties = compile_ties(data.records.sizes, tuple(data.ties[name] for name in data.files))
    theta, files = ties.theta, data.records.file_of
    tied = {(r, int(s)) for r in range(len(labels)) for s in ties.neighbour[ties.begin[r] : ties.begin[r + 1]]}
    total = 0.0
    persons = [np.flatnonzero(labels == label) for label in np.unique(labels)]
    for place, p in enumerate(persons):
        for q in persons[:place]:
            dyads = [(i, k) for i in p for k in q if files[i] == files[k]]
            for number, (i, k) in enumerate(dyads):
                for j, m in dyads[:number]:
                    kappa = rho * min(theta[i], theta[j]) * min(theta[k], theta[m])
                    one, two = ((1 / np.expm1(theta[x] * theta[y])) * ((x, y) in tied) for x, y in ((i, k), (j, m)))
                    if not one and not two:
                        total += kappa
                    elif one and two:
                        total += np.log1p(one * two * np.expm1(kappa))
                    else:
                        total += np.log(1 - max(one, two) * np.expm1(kappa))
    return total


SIZES = {"max_size": 4}
KINDS = {
    "two files": ((5, 6), tl.MatchRate(), (), ["01234015367", "01234215678"]),
    "three files": ((4, 4, 3), tl.OnePerFile(), ((2, 6),), ["01230124052", "01234526178"]),
    "duplicates": ((9,), tl.EwensPitman(**SIZES), (), ["001222345", "010023145"]),
    "duplicates in two files": ((5, 4), tl.EwensPitman(**SIZES), ((1, 2),), ["011201233", "011023314"]),
}


@pytest.mark.parametrize("kind", KINDS)
def test_weights_are_differences_of_the_log_joint(kind):
    """Prior, fields and ties of every pair, with the two taken out, against the formulas; whatever the partition."""
    sizes, linkage, anchors, labels_drawn = KINDS[kind]
    draws = [[int(label) for label in text] for text in labels_drawn]
    frames, ties = people(sizes, np.random.default_rng(1))
    ids = [(name, f"{name}{i}") for name, size in zip("abc", sizes, strict=False) for i in range(size)]
    known = {"anchors": [(ids[a], ids[b]) for a, b in anchors]} if anchors else {}
    field = tl.String(vocabulary="closed")
    data = tl.Dataset.from_frames(frames, ties, fields={"name": field}, duplicates=linkage.allowed == "free", **known)
    model = tl.Model(linkage=linkage, network=tl.SharedTies(power=0.7))
    problem = tl.Problem.compile(model, data)
    hyper = dict(zip(linkage.hyperparameters, (1.7, 0.3), strict=False)) if linkage.allowed == "free" else {}
    posterior = drawn(data, model, draws, anchors, prior=hyper)
    unit = problem.linkage.anchors
    pairs = [(a, b) for b in range(len(unit)) for a in range(b) if unit[a] != unit[b]]
    found = weigh(posterior, problem, pairs, 2, 0)
    compared = 0
    (channel,) = problem.fields
    for (a, b), weights in zip(pairs, found, strict=True):
        for place, labels in enumerate(np.array(draws)):
            apart = labels + 100
            apart[unit == unit[a]], apart[unit == unit[b]] = 0, 1
            joined = np.where(apart == 1, 0, apart)
            values = np.array(list(hyper.values()))
            (apart, joined) = (np.unique(one, return_inverse=True)[1] for one in (apart, joined))
            prior = log_linkage(problem, joined, values) - log_linkage(problem, apart, values)
            assert weights.prior[place] == pytest.approx(prior, abs=1e-9)
            if prior == -np.inf:
                continue
            shared = [log_shared_by_definition(one, data, 0.6) for one in (joined, apart)]
            assert weights.ties[place] == pytest.approx(0.7 * (shared[0] - shared[1]), abs=1e-9)
            one, two = np.flatnonzero(unit == unit[a]), np.flatnonzero(unit == unit[b])
            both, first, second = (
                log_group(channel, np.zeros(0), 0.1, channel.codes[group]) for group in (np.append(one, two), one, two)
            )
            assert weights.fields["name"][place] == pytest.approx(both - first - second, abs=1e-9)
            compared += 1
    assert compared > 20


def test_neighbours_are_named():
    """a0 and b0 both know ann lee; a0 alone knows di moe, who is linked too."""
    ids = {name: [f"{name}{i}" for i in range(46)] for name in "ab"}
    people_of = {
        name: pl.DataFrame({"id": ids[name], "name": ["x y", *NAMES[:5], *map(str, range(40))]}) for name in "ab"
    }
    edges = {"a": [(0, 1), (0, 4), (2, 3)], "b": [(0, 1), (2, 3), (4, 5)]}
    ties = {
        name: pl.DataFrame([(f"{name}{i}", f"{name}{j}") for i, j in mine], schema=["source", "target"], orient="row")
        for name, mine in edges.items()
    }
    data = tl.Dataset.from_frames(people_of, ties, fields={"name": tl.String(vocabulary="closed")})
    posterior = drawn(data, tl.Model(), [[*range(46), 46, *range(1, 46)]] * 4, power=1.0)
    found = tl.explain(posterior, ("a", "a0"), ("b", "b0"))
    rows = {entry.part: entry for entry in found.contributions if entry.source == TIES}
    assert list(rows) == [
        "both know ann lee (1 tie)",
        "one knows 1 linked person whom the other does not",
        "neither knows other linked people",
    ]
    assert rows["both know ann lee (1 tie)"].detail == "a/a1 and b/b1, one person in 100% of draws"
    positive, negative, neither = (entry.log_odds for entry in rows.values())
    assert positive > 0.3
    assert negative < -0.05
    assert neither > 0
    total = weigh(posterior, tl.Problem.compile(posterior.model, data), [(0, 46)], 4, 0)[0].ties[0]
    assert positive + negative + neither == pytest.approx(total)
    assert "never linked: draws cannot tell odds exactly" in str(found)
    assert not any(entry.part.startswith("ties") for entry in found.contributions), "no ties without a who"


def test_people_are_called_by_a_name_or_the_most_telling_string_or_an_id():
    frames = {"a": {"id": ["i1", "i2"], "town": ["ulm", "ulm"], "nick": ["zed", None]}, "b": {"id": ["j1"]}}
    frames["b"] |= {"town": ["ulm"], "nick": ["zod"]}
    kinds = {"town": tl.String(), "nick": tl.String()}
    data = tl.Dataset.from_frames({name: pl.DataFrame(rows) for name, rows in frames.items()}, fields=kinds)
    assert [called(data, 0), called(data, 1), called(data, 1, 2)] == ["zed", "ulm", "zod"]
    both = pl.DataFrame({"id": ["i1", "i2"], "nick": ["zed", "zod"], "name": ["Ann Lee", "Ann Lee"]})
    names = {"a": both, "b": both}
    data = tl.Dataset.from_frames(names, fields={"nick": tl.String(), "name": tl.PersonName()})
    assert called(data, 0).lower() == "ann lee"
    assert called(tl.Dataset.from_frames(names, fields={}), 0) == "i1"


def test_at_most_five_neighbours_have_a_row_of_their_own():
    star = pl.DataFrame([("0", str(i)) for i in range(1, 9)], schema=["source", "target"], orient="row")
    people_of = {name: pl.DataFrame({"id": [str(i) for i in range(80)]}) for name in "ab"}
    data = tl.Dataset.from_frames(people_of, {"a": star, "b": star}, fields={})
    model = tl.Model(fields={}, network=tl.SharedTies(power=1.0))
    posterior = replace(drawn(data, model, [[*range(80), 80, *range(1, 80)]] * 2), fields={}, rates=())
    found = tl.explain(posterior, ("a", "0"), ("b", "0"))
    rows = [entry.part for entry in found.contributions if entry.source == TIES]
    assert [row for row in rows if "(1 tie)" in row] == [f"both know {i} (1 tie)" for i in range(1, 6)]
    assert "both know 3 more people" in rows


def test_what_is_left_is_called_monte_carlo_error_where_it_is_one(fitted):
    """A pair whose reported odds are off the parts by less than twice their error has nothing against it."""
    found = fitted.pair_probabilities
    place = int(np.argmin(np.abs(found.probability - 0.5)))
    a, b = (fitted.records[int(r)] for r in found.pairs[place])

    def rest(conditional):
        return tl.explain(replace(fitted, conditional=conditional), a, b).contributions[-1]

    assert rest(replace(found, error=np.full(len(found.pairs), 0.5))).detail.startswith("within Monte Carlo error")
    far = np.full(len(found.pairs), 1 - 1e-9)
    surer = rest(replace(found, probability=far, error=np.zeros(len(far))))
    assert surer.log_odds > 10, "odds are not capped by the number of draws"
    assert surer.detail.startswith("rivals")
    sure = rest(replace(found, probability=np.ones(len(far)), error=np.zeros(len(far))))
    assert sure.detail == "linked in every draw: draws cannot tell odds exactly"


def test_wrong_questions_are_answered_plainly(fitted):
    a, b = fitted.anchors[0]
    anchor = fitted.records[int(a)], fitted.records[int(b)]
    loaded = replace(fitted, dataset=None)
    known = fitted.records.number(("a", "a0001")), fitted.records.number(("b", "b0001"))
    apart = replace(fitted, dataset=replace(fitted.dataset, nonmatches=np.array([known])))
    for asked, said in [
        ((fitted, ("a", "nobody"), ("b", "b0001")), "unknown id"),
        ((fitted, ("a", "a0001"), ("a", "a0002")), "of one file"),
        ((fitted, *anchor), "are an anchor"),
        ((loaded, ("a", "a0001"), ("b", "b0001")), "loaded without its data"),
        ((apart, ("a", "a0001"), ("b", "b0001")), "cannot be one person"),
    ]:
        with pytest.raises(tl.InputError, match=said):
            tl.explain(*asked)
