"""Ties and their parameters against SciPy's distributions, dyad by dyad."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import expit

import tielink as tl
from tielink.logp import log_joint_terms
from tielink.logp.network import log_tie
from tielink.simulate import from_prior


def drawn(link, dimension, seed=0):
    model = tl.Model(
        network=tl.LatentSpace(dimension, link, intercept_sd={"a": 1.5, "b": 2.0}, spread=tl.InverseGamma(4, 6)),
        linkage=tl.Uniform(),
    )
    return model, from_prior(np.random.default_rng(seed), model, {"a": 6, "b": 5})


@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_every_term(link, dimension):
    model, sample = drawn(link, dimension)
    problem = tl.Problem.compile(model, sample.dataset)
    p = sample.parameters
    terms = dict(log_joint_terms(problem, p))
    inverse = expit if link == "logit" else stats.norm.cdf
    for file, name in enumerate("ab"):
        mine = p.positions[p.labels[problem.file_of == file]]
        tied = {tuple(pair) for pair in sample.dataset.ties[name].tolist()}
        expected = sum(
            stats.bernoulli(inverse(p.intercepts[file] - np.sqrt(((mine[i] - mine[k]) ** 2).sum()))).logpmf(
                (i, k) in tied
            )
            for i in range(len(mine))
            for k in range(i + 1, len(mine))
        )
        assert terms[f"ties of file {file}"] == pytest.approx(expected)
    assert len(p.positions) == sample.truth.persons
    assert terms["positions"] == pytest.approx(stats.norm(0, np.sqrt(p.spread)).logpdf(p.positions).sum())
    assert terms["intercepts"] == pytest.approx(stats.norm(0, [1.5, 2.0]).logpdf(p.intercepts).sum())
    assert terms["spread"] == pytest.approx(stats.invgamma(4, scale=6).logpdf(p.spread))


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_extreme_ties_stay_finite(link):
    eta = np.array([-800.0, -30.0, 0.0, 30.0, 800.0])
    assert np.isfinite(log_tie(link, eta, np.ones(5, dtype=bool))).all()
    assert np.isfinite(log_tie(link, eta, np.zeros(5, dtype=bool))).all()
    both = np.exp(log_tie(link, eta, np.ones(5, dtype=bool))) + np.exp(log_tie(link, eta, np.zeros(5, dtype=bool)))
    assert both == pytest.approx(1)


def test_a_file_without_network_contributes_nothing_and_one_without_ties_does():
    frame = pl.DataFrame({"id": [0, 1, 2]})
    data = tl.Dataset.from_frames({"a": frame, "b": frame, "c": frame}, {"a": [(0, 1)], "b": []}, fields={})
    problem = tl.Problem.compile(tl.Model(network=tl.LatentSpace(2), linkage=tl.Uniform()), data)
    p = tl.logp.Parameters(np.arange(9), np.ones((9, 2)), np.zeros(3), 2.0, np.zeros(0))
    terms = dict(log_joint_terms(problem, p))
    assert terms["ties of file 0"] == pytest.approx(3 * np.log(0.5))
    assert terms["ties of file 1"] == pytest.approx(3 * np.log(0.5))
    assert terms["ties of file 2"] == 0


def test_the_prior_of_distortion_and_frequencies():
    model = tl.Model(network=None, kinds={"string": tl.String(vocabulary="closed")})
    sample = from_prior(
        np.random.default_rng(2), model, {"a": 3, "b": 3}, {"c": ["x", "y", "z"], "s": {"p": 1.0, "q": 2.0}}
    )
    columns = {
        "c": replace(sample.dataset.columns["c"], field=tl.Categorical(tl.Beta(2, 5), concentration=1.7)),
        "s": sample.dataset.columns["s"],
    }
    problem = tl.Problem.compile(
        tl.Model(network=None, fields={"c": columns["c"].field, "s": sample.model.fields["s"]}),
        replace(sample.dataset, columns=columns),
    )
    p = sample.parameters
    terms = dict(log_joint_terms(problem, p))
    assert terms["distortion of c"] == pytest.approx(stats.beta(2, 5).logpdf(p.distortion[0]))
    assert terms["distortion of s"] == pytest.approx(stats.beta(1, 99).logpdf(p.distortion[1]))
    assert terms["parameters of c"] == pytest.approx(stats.dirichlet([1.7] * 3).logpdf(p.fields[0]))
    assert terms["parameters of s"] == 0
