"""Criteria from tallies against the same from all draws at once, and PSIS against ArviZ."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tielink as tl
from made_posteriors import posterior
from tielink.posterior.dyads import DyadTally, tail_size
from tielink.select.criteria import criterion
from tielink.select.psis import fit_pareto, psis_loo


def draws_of_logs(rng, chains=3, draws=130, dyads=40):
    """Log-likelihoods of dyads (chains × draws × dyads) with light and heavy tails of ratios."""
    scale = np.linspace(0.05, 1.5, dyads)
    centre = rng.normal(0, 1.5, dyads)
    eta = centre + scale * rng.standard_t(5, size=(chains, draws, dyads))
    return -np.logaddexp(0, -eta)


def tallied(logs):
    chains, draws, dyads = logs.shape
    tail = tail_size(chains * draws)
    parts = []
    for chain in logs:
        tally = DyadTally(dyads, tail)
        for number, values in enumerate(chain):
            tally.add(values, number)
        parts.append((draws, tally.arrays))
    return DyadTally.merge(parts, tail)


def test_tallies_are_what_all_draws_together_give(rng):
    logs = draws_of_logs(rng)
    scores, flat = tallied(logs), logs.reshape(-1, logs.shape[2])
    assert scores.draws == len(flat)
    assert scores.mean_probability == pytest.approx(np.exp(flat).mean(axis=0))
    assert scores.mean_log == pytest.approx(flat.mean(axis=0))
    assert scores.variance_log == pytest.approx(flat.var(axis=0, ddof=1))
    assert scores.mean_ratio == pytest.approx(np.exp(-flat).mean(axis=0))
    largest = np.sort(-flat, axis=0)[-tail_size(len(flat)) :].T
    assert scores.tail == pytest.approx(largest, rel=1e-6)


def test_the_formulas(rng):
    logs = draws_of_logs(rng)
    flat = logs.reshape(-1, logs.shape[2])
    scores = tallied(logs)
    lppd = np.log(np.exp(flat).mean(axis=0))
    assert criterion(scores, "waic").value == pytest.approx(-2 * (lppd - flat.var(axis=0, ddof=1)).sum())
    assert criterion(scores, "waic").penalty == pytest.approx(flat.var(axis=0, ddof=1).sum())
    penalty = 2 * (lppd.sum() - flat.mean(axis=0).sum())
    assert criterion(scores, "waic1").value == pytest.approx(-2 * (lppd.sum() - penalty))
    # DIC at the posterior mean tie probability of each dyad, written out for ties and absences.
    tied = rng.random(logs.shape[2]) < 0.5
    theta = np.where(tied, np.exp(flat), 1 - np.exp(flat)).mean(axis=0)
    at_mean = np.where(tied, np.log(theta), np.log1p(-theta)).sum()
    dic = -2 * at_mean + 2 * 2 * (at_mean - flat.mean(axis=0).sum())
    assert criterion(scores, "dic").value == pytest.approx(dic)
    by_dyad = criterion(scores, "waic").by_dyad
    assert criterion(scores, "waic").error == pytest.approx(np.sqrt(len(by_dyad)) * by_dyad.std(ddof=1))


def test_loo_agrees_with_arviz(rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        logs = draws_of_logs(rng, chains=2, draws=500)
        data = arviz.from_dict(posterior={"x": np.zeros((2, 500))}, log_likelihood={"y": logs})
        theirs = arviz.loo(data, pointwise=True, reff=1.0)
    elpd, shape = psis_loo(tallied(logs))
    assert elpd == pytest.approx(theirs.loo_i.values, abs=2e-3)
    assert shape == pytest.approx(theirs.pareto_k.values, abs=0.05)


def test_pareto_fits_find_the_truth(rng):
    for shape in (0.1, 0.5, 0.9):
        excess = np.sort(stats.genpareto(shape, scale=2.0).rvs(size=(200, 400), random_state=rng), axis=1)
        shapes, scales = fit_pareto(excess)
        assert shapes.mean() == pytest.approx((shape * 400 + 5) / 410, abs=0.03)
        assert scales.mean() == pytest.approx(2.0, rel=0.05)


def test_comparisons_put_the_better_model_first(rng):
    good = draws_of_logs(rng)
    labels = np.zeros((3, 130, 6), dtype=int)
    posteriors = {
        "good": replace(posterior(labels), dyads=tallied(good)),
        "bad": replace(posterior(labels), dyads=tallied(good - 0.3)),
    }
    for name in ("waic", "waic1", "dic", "loo"):
        found = tl.compare(posteriors, criterion=name)
        assert found.best == "good"
        table = found.table()
        assert isinstance(table, pl.DataFrame)
        assert table["difference"].to_list()[0] == 0
        assert table["difference"].to_list()[1] == pytest.approx(2 * 0.3 * 40, rel=0.05)
        assert "good" in str(found)
    assert len(found.plot().lines) > 1


def test_what_cannot_be_compared_is_said(rng):
    labels = np.zeros((1, 4, 6), dtype=int)
    plain = replace(tallied(draws_of_logs(rng)), tail=None, mean_ratio=None)
    made = {"none": posterior(labels), "plain": replace(posterior(labels), dyads=plain)}
    with pytest.raises(tl.InputError) as error:
        tl.compare(made, criterion="loo")
    assert [fault.where for fault in error.value.faults] == ["model 'none'", "model 'plain'"]
    with pytest.raises(tl.InputError, match="Did you mean 'waic'"):
        tl.compare({"plain": made["plain"]}, criterion="waik")
    with pytest.raises(tl.InputError, match="no posterior is given"):
        tl.compare({})


def test_sampled_criteria_prefer_the_dimension_of_the_data(tmp_path):
    """Data in two dimensions: one dimension must look worse; saved criteria are the same as sampled ones."""
    rng = np.random.default_rng(3)
    model = tl.Model(network=tl.LatentSpace(2), fields={})
    data = tl.simulate.scenario(
        rng, model, {"a": 30, "b": 30}, overlap=20, spread=20.0, anchors=0.5, vocabularies={}
    ).dataset
    fits = {
        k: tl.sample(
            tl.Model(network=tl.LatentSpace(k), fields={}), data, chains=1, warmup=150, draws=150, workers=0, loo=True
        )
        for k in (1, 2)
    }
    assert tl.compare(fits).best == 2
    fits[1].save(tmp_path / "one.nc")
    fits[2].save(tmp_path / "two.nc")
    loaded = {k: tl.Posterior.load(tmp_path / name) for k, name in ((1, "one.nc"), (2, "two.nc"))}
    for name in ("waic", "loo"):
        assert str(tl.compare(loaded, name)) == str(tl.compare(fits, name))
