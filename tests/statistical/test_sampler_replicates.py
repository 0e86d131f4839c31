"""
Joint-distribution tests: each move alone, and sweeps, leave the joint of parameters and data unchanged.

Declared false-alarm rate: ALPHA per test, Bonferroni over the statistics.
"""

import numpy as np
import pytest

from sampler.moves import BEYOND, LIMIT, MOVES, ON, run
from sampler.naive import beta_binomial_log_prior
from sampler.statistics import STATISTICS


@pytest.mark.parametrize("move", MOVES)
def test_each_move(move):
    z = run(move, 1500, 5, log_prior=beta_binomial_log_prior(3, 4, 2.0, 1.0))
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))


@pytest.mark.parametrize("move", [*MOVES, *BEYOND])
def test_each_move_with_correlated_ties_and_sociality(move):
    z = run(move, 1500, 5, n1=5, n2=6, anchors=2, log_prior=beta_binomial_log_prior(3, 4, 2.0, 1.0), **ON)
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("dimension", "link", "prior"),
    [(1, 0, "rate"), (2, 0, "uniform"), (2, 1, "rate"), (4, 0, "rate"), (4, 1, "uniform")],
)
@pytest.mark.parametrize("move", MOVES)
def test_each_move_long(move, dimension, link, prior):
    log_prior = None if prior == "uniform" else beta_binomial_log_prior(3, 4, 1.0, 1.0)
    z = run(move, 10000, 8, seed=11, dimension=dimension, link=link, log_prior=log_prior)
    print(f"{move}, K = {dimension}, link {link}, {prior}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("settings", "dimension", "link"),
    [("both", 1, 0), ("both", 2, 1), ("correlated ties", 2, 0), ("sociality", 4, 0)],
)
@pytest.mark.parametrize("move", [*MOVES, *BEYOND])
def test_each_move_beyond_positions_long(move, settings, dimension, link):
    on = {"both": ON, "correlated ties": {"correlation_sd": 2.0}, "sociality": {"sociality_scale": 1.0}}[settings]
    prior = beta_binomial_log_prior(5, 6, 2.0, 1.0)
    z = run(move, 6000, 8, n1=6, n2=7, anchors=1, seed=11, dimension=dimension, link=link, log_prior=prior, **on)
    print(f"{move}, {settings}, K = {dimension}, link {link}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, dict(zip(STATISTICS, z.round(1), strict=True))


@pytest.mark.long
@pytest.mark.parametrize(
    ("move", "observed"),
    [
        ("sweep", (True, False)),
        ("sweep", (False, True)),
        ("paper", (True, False)),
        ("paper", (False, True)),
        ("paper", (False, False)),
    ],
)
def test_missing_networks_long(move, observed):
    z = run(move, 10000, 5, seed=12, observed=observed)
    if not any(observed):
        z = z[[0, 6]]
    print(f"{move}, observed {observed}: largest |z| {np.abs(z).max():.2f}")
    assert np.abs(z).max() < LIMIT, z
