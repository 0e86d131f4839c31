"""Priors on larger clusters against enumeration of every partition."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from partitions import partitions
from tielink.faults import Faults
from tielink.logp.linkage import log_hyperparameters, log_linkage
from tielink.model.cluster_sizes import moments
from tielink.model.describe import persons_prior
from tielink.simulate.draw import draw_labels

FREE = [
    tl.EwensPitman(max_size=3),
    tl.EwensPitman(max_size=2, discount=0.0),
    tl.EwensPitman(max_size=6, concentration=0.3, discount=0.4),
    tl.NegativeBinomial(max_size=3),
    tl.NegativeBinomial(max_size=5, shape=2.0, probability=0.3, persons_mean=0.9, persons_sd=0.2),
]


def dataset(sizes, **known):
    return tl.Dataset.from_frames(
        {f"f{j}": pl.DataFrame({"id": range(size)}) for j, size in enumerate(sizes)}, fields={}, **known
    )


def file_of(sizes):
    return np.repeat(range(len(sizes)), sizes).tolist()


@pytest.mark.parametrize("sizes", [(1,), (5,), (2, 3), (2, 1, 3)])
@pytest.mark.parametrize("prior", FREE, ids=str)
def test_free_partitions_sum_to_one_whatever_the_hyperparameters(sizes, prior, rng):
    problem = tl.Problem.compile(tl.Model(linkage=prior), dataset(sizes))
    every = list(partitions(file_of(sizes), "free", prior.max_size))
    for _ in range(3):
        drawn = prior.draw(rng)
        probability = np.exp([log_linkage(problem, labels, drawn) for labels in every])
        assert probability.sum() == pytest.approx(1)
        persons = np.array([labels.max() + 1 for labels in every])
        mean, variance = moments(*prior.family(drawn, sum(sizes)), sum(sizes))
        assert mean == pytest.approx(persons @ probability)
        assert variance == pytest.approx((persons - mean) ** 2 @ probability, abs=1e-9)


def test_the_formulas_of_the_two_families():
    theta, discount = 2.0, 0.25
    prior = tl.EwensPitman(max_size=4, concentration=theta / 4, discount=discount)
    # Pitman's sequential scheme: the untruncated prior, which four records cannot tell from this one.
    expected = (
        (discount + theta) / (theta + 1) * 2 * (1 - discount) / (theta + 2) / 2 * (theta + 2 * discount) / (theta + 3)
    )
    assert np.exp(prior.log_probability(np.empty(0), np.array([1, 2, 1]))) == pytest.approx(expected)
    # Negative binomial: N!·P(N)·Π n_c!·μ(n_c), up to a constant; compare two partitions.
    prior = tl.NegativeBinomial(max_size=2, shape=1.5, probability=0.4, persons_mean=1.0, persons_sd=1.0)
    mu = np.array([2.5 * 0.4 * 1.5 / 2.5, 2.5 * 1.5 / 2 * 0.4**2])
    mu /= mu.sum()
    q, a = 0.75, 4 / 3
    number = {3: 6 * q**3 * a * (a + 1) * (a + 2) / 6, 4: 24 * q**4 * a * (a + 1) * (a + 2) * (a + 3) / 24}
    ratio = number[3] * mu[0] ** 2 * 2 * mu[1] / (number[4] * mu[0] ** 4)
    found = prior.log_probability(np.empty(0), np.array([1, 1, 2])) - prior.log_probability(
        np.empty(0), np.ones(4, int)
    )
    assert np.exp(found) == pytest.approx(ratio)


@pytest.mark.parametrize("sizes", [(3,), (2, 3), (2, 2, 2), (1, 3, 2), (1, 1, 2, 1)])
@pytest.mark.parametrize("prior", [tl.OnePerFile(), tl.OnePerFile(0.5, 3)])
def test_one_per_file_sums_to_one(sizes, prior):
    problem = tl.Problem.compile(tl.Model(linkage=prior), dataset(sizes))
    every = list(partitions(file_of(sizes), "one_per_file", len(sizes)))
    probability = np.exp([log_linkage(problem, labels) for labels in every])
    assert probability.sum() == pytest.approx(1)
    numbers, chance = persons_prior(tl.Model(linkage=prior), dataset(sizes))
    found = np.bincount([labels.max() + 1 for labels in every], probability, minlength=sum(sizes) + 1)
    assert found[numbers] == pytest.approx(chance)
    if len(sizes) == 2:
        same = tl.Problem.compile(tl.Model(linkage=tl.MatchRate(prior.a, prior.b)), dataset(sizes))
        assert [log_linkage(same, labels) for labels in every] == pytest.approx(np.log(probability))


def test_anchors_under_one_per_file():
    anchors = [(("f0", 0), ("f1", 0)), (("f1", 1), ("f2", 0))]
    data = dataset((2, 2, 2), anchors=anchors)
    problem = tl.Problem.compile(tl.Model(linkage=tl.OnePerFile(1, 2)), data)
    every = list(partitions(file_of((2, 2, 2)), "one_per_file", 3))
    kept = [labels for labels in every if labels[0] == labels[2] and labels[3] == labels[4]]
    logs = np.array([log_linkage(problem, labels) for labels in every])
    assert (logs > -np.inf).sum() == len(kept)
    assert np.exp(logs).sum() == pytest.approx(1)


def test_anchors_inform_where_only_sizes_count():
    prior = tl.EwensPitman(max_size=3, concentration=0.5, discount=0.1)
    known = dataset((5,), anchors=[(("f0", 0), ("f0", 1)), (("f0", 1), ("f0", 2))], nonmatches=[(("f0", 3), ("f0", 4))])
    problem, plain = (tl.Problem.compile(tl.Model(linkage=prior), data) for data in (known, dataset((5,))))
    for labels in partitions([0] * 5, "free", 3):
        fits = labels[0] == labels[1] == labels[2] and labels[3] != labels[4]
        assert log_linkage(problem, labels) == (log_linkage(plain, labels) if fits else -np.inf)


def test_hyperparameters_have_proper_densities():
    problem = tl.Problem.compile(
        tl.Model(linkage=tl.NegativeBinomial(max_size=2, shape=tl.Gamma(2.0, 3.0), probability=0.4)), dataset((3,))
    )
    grid = np.linspace(1e-6, 12, 40_001)
    density = np.exp([log_hyperparameters(problem, np.array([x])) for x in grid])
    assert np.trapezoid(density, grid) == pytest.approx(1, abs=1e-6)
    assert np.trapezoid(density * grid, grid) == pytest.approx(2 / 3, abs=1e-6)


@pytest.mark.parametrize(
    "prior", [tl.OnePerFile(1, 2), tl.EwensPitman(max_size=3, concentration=0.7, discount=0.3), FREE[-1]], ids=str
)
def test_draws_of_the_prior(prior, rng):
    problem = tl.Problem.compile(tl.Model(linkage=prior), dataset((2, 2, 1)))
    every = {tuple(labels): log_linkage(problem, labels) for labels in partitions([0, 0, 1, 1, 2], prior.allowed, 5)}
    every = {labels: log for labels, log in every.items() if log > -np.inf}
    count = dict.fromkeys(every, 0)
    number = 4_000
    for _ in range(number):
        count[tuple(draw_labels(rng, problem))] += 1
    expected = number * np.exp(list(every.values()))
    z = (np.array(list(count.values())) - expected) / np.sqrt(expected)
    # A chi-squared statistic within five standard deviations: false alarms of about one in a million.
    assert abs((z**2).sum() - (len(z) - 1)) < 5 * np.sqrt(2 * len(z))


def test_priors_go_through_a_project_file():
    for prior in (tl.OnePerFile(2, 3), *FREE, tl.NegativeBinomial(shape=tl.LogNormal(2, 1))):
        model = tl.Model(network=None, linkage=prior)
        assert tl.Model.from_table(model.to_table(), "model", Faults()) == model
    with pytest.raises(tl.InputError, match="discount is 1"):
        tl.EwensPitman(discount=1)
    with pytest.raises(tl.InputError, match="max_size is 0"):
        tl.NegativeBinomial(max_size=0)
    faults = Faults()
    assert (
        tl.Model.from_table({"linkage": {"kind": "ewens_pitman", "discount": {"kind": "no"}}}, "model", faults) is None
    )
    assert "unknown kind 'no'" in str(faults.errors[0])


def test_what_a_prior_means_is_said():
    text = tl.Model(network=None, linkage=tl.EwensPitman(max_size=4)).describe(dataset((40,)))
    assert "at most 4 records, exchangeable (Ewens–Pitman)" in text
    assert "On these files this prior expects" in text
    assert "match rate of each file with the files before it" in tl.Model(linkage=tl.OnePerFile()).describe(
        dataset((4, 5, 6))
    )


def test_anchors_that_are_too_many_are_refused():
    data = dataset((4,), anchors=[(("f0", 0), ("f0", 1)), (("f0", 1), ("f0", 2))])
    with pytest.raises(tl.InputError, match="allows at most 2 records"):
        tl.Problem.compile(tl.Model(linkage=tl.EwensPitman(max_size=2)), data)
