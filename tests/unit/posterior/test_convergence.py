"""R-hat and effective draws against ArviZ, and on chains whose answer is known."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from tielink.posterior.convergence import effective_draws, rhat


def autoregressive(rng, chains, draws, correlation):
    noise = rng.normal(size=(chains, draws))
    series = np.empty_like(noise)
    series[:, 0] = noise[:, 0]
    for step in range(1, draws):
        series[:, step] = correlation * series[:, step - 1] + np.sqrt(1 - correlation**2) * noise[:, step]
    return series


CASES = {
    "independent": lambda rng: rng.normal(size=(4, 400)),
    "slow": lambda rng: autoregressive(rng, 4, 500, 0.9),
    "antithetic": lambda rng: autoregressive(rng, 2, 300, -0.5),
    "counts": lambda rng: rng.poisson(3, size=(4, 250)),
    "heavy tails": lambda rng: rng.standard_cauchy(size=(3, 501)),
    "apart": lambda rng: rng.normal(size=(4, 300)) + np.array([[0], [0], [0], [4]]),
    "unequal spread": lambda rng: rng.normal(size=(4, 300)) * np.array([[1], [1], [1], [9]]),
    "one chain": lambda rng: autoregressive(rng, 1, 300, 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_agrees_with_arviz(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
    draws = CASES[name](np.random.default_rng(1)).astype(float)
    if len(draws) > 1:
        assert rhat(draws) == pytest.approx(float(arviz.rhat(draws)), rel=1e-6)
    assert effective_draws(draws) == pytest.approx(float(arviz.ess(draws, method="bulk")), rel=0.03)


def test_an_autoregressive_chain_has_its_known_number_of_effective_draws():
    series = autoregressive(np.random.default_rng(2), 4, 20_000, 0.8)
    assert effective_draws(series, rank_normalise=False) == pytest.approx(80_000 / 9, rel=0.1)


def test_edges():
    assert np.isnan(rhat(np.zeros((4, 2))))
    assert rhat(np.zeros((4, 100))) == 1
    assert rhat(np.repeat([[0.0], [1.0]], 50, axis=1)) == np.inf
    assert effective_draws(np.zeros((2, 100))) == 200
    assert np.isnan(effective_draws(np.full((2, 100), np.nan)))
