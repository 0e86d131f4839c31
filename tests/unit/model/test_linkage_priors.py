"""Linkage priors against enumeration of every linkage."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.special import betaln, gammaln
from scipy.stats import betabinom

import tielink as tl
from partitions import matches, pairings
from tielink.logp.linkage import log_linkage
from tielink.model.linkage_priors import log_matchings

SIZES = [(1,), (1, 1), (2, 3), (4, 3), (2, 2, 2), (1, 3, 2), (1, 1, 1, 2)]


def dataset(sizes, **known):
    return tl.Dataset.from_frames(
        {f"f{j}": pl.DataFrame({"id": range(size)}) for j, size in enumerate(sizes)}, fields={}, **known
    )


def file_of(sizes):
    return np.repeat(range(len(sizes)), sizes).tolist()


@pytest.mark.parametrize("sizes", SIZES)
def test_matchings_are_counted(sizes):
    counts = np.bincount([matches(labels) for labels in pairings(file_of(sizes))])
    assert np.exp(log_matchings(sizes)) == pytest.approx(counts)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("prior", [tl.Uniform(), tl.MatchRate(), tl.MatchRate(0.5, 3)])
def test_probabilities_of_all_linkages_sum_to_one(sizes, prior):
    problem = tl.Problem.compile(tl.Model(linkage=prior), dataset(sizes))
    linkages = list(pairings(file_of(sizes)))
    probability = np.exp([log_linkage(problem, labels) for labels in linkages])
    assert probability.sum() == pytest.approx(1)
    by_matches = np.bincount([matches(labels) for labels in linkages], weights=probability)
    assert by_matches == pytest.approx(np.exp(problem.linkage.log_matches))
    if isinstance(prior, tl.Uniform):
        assert probability == pytest.approx(1 / len(linkages))
    else:
        most = len(by_matches) - 1
        assert by_matches == pytest.approx(betabinom(most, prior.a, prior.b).pmf(np.arange(most + 1)))


def test_the_match_rate_formula_of_two_files():
    a, b, small, large = 0.6, 2.5, 5, 8
    m = np.arange(small + 1)
    log = betaln(m + a, small - m + b) - betaln(a, b) + gammaln(large - m + 1) - gammaln(large + 1)
    for sizes in ((small, large), (large, small)):
        assert tl.MatchRate(a, b).log_by_matches(sizes, sizes) == pytest.approx(log)


def test_anchors_say_nothing_about_the_rate_unless_they_should():
    anchors = [(("f0", 0), ("f1", 0)), (("f0", 1), ("f1", 1))]
    data = dataset((4, 5), anchors=anchors)
    silent = tl.Problem.compile(tl.Model(linkage=tl.MatchRate()), data).linkage
    assert np.exp(silent.log_matches) == pytest.approx(np.full(3, 1 / 3))
    telling = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(anchors_inform=True)), data)
    whole = tl.Problem.compile(tl.Model(linkage=tl.MatchRate()), dataset((4, 5)))
    linkages = [labels for labels in pairings(file_of((4, 5))) if labels[4] == 0 and labels[5] == 1]
    assert [log_linkage(telling, labels) for labels in linkages] == pytest.approx(
        [log_linkage(whole, labels) for labels in linkages]
    )
    assert telling.linkage.log_matches[-1] > silent.log_matches[-1]


def test_figures_of_the_design_for_the_papers_sizes():
    uniform = tl.Uniform().log_matches((184, 420), (184, 420))
    counts = np.arange(185)
    mean = counts @ np.exp(uniform)
    assert mean == pytest.approx(183.2, abs=0.05)
    assert np.sqrt((counts - mean) ** 2 @ np.exp(uniform)) == pytest.approx(0.87, abs=0.005)
    inside = tl.MatchRate(anchors_inform=True).log_matches((174, 410), (184, 420))
    outside = tl.MatchRate().log_matches((174, 410), (184, 420))
    assert np.arange(175) @ np.exp(outside) + 10 == pytest.approx(97)
    assert np.arange(175) @ np.exp(inside) + 10 == pytest.approx(170, abs=0.5)


def test_what_is_known_and_the_class_are_respected():
    data = dataset((2, 2), anchors=[(("f0", 0), ("f1", 0))], nonmatches=[(("f0", 1), ("f1", 1))])
    problem = tl.Problem.compile(tl.Model(linkage=tl.MatchRate()), data)
    assert log_linkage(problem, np.array([0, 1, 0, 2])) == pytest.approx(np.log(0.5))
    for labels in ([0, 1, 0, 1], [0, 1, 2, 3], [0, 0, 0, 1], [0, 1, 0, 0]):
        assert log_linkage(problem, np.array(labels)) == -np.inf


def test_anchors_outside_the_class_are_refused():
    data = dataset((1, 1, 1), anchors=[(("f0", 0), ("f1", 0)), (("f1", 0), ("f2", 0))])
    with pytest.raises(tl.InputError, match="allows one record, or two of different files"):
        tl.Problem.compile(tl.Model(linkage=tl.Uniform()), data)
