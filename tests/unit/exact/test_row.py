"""Kernel values equal differences of the plain log joint."""

import numpy as np
import pytest
from scipy.stats import norm

from sampler.naive import log_joint_of, tie_log_likelihood
from sampler.worlds import random_state, random_target
from tielink.exact import fit as fit_module
from tielink.exact.evidence import evidence  # noqa: F401  (compiled elsewhere; imported to catch a broken import early)
from tielink.exact.intercept import file_log_likelihood
from tielink.exact.row import exp_negative, log1p_unit, log_normal_cdf, row, softplus
from tielink.exact.state import NOBODY, copy, log_gamma, place_person, record_log_likelihood


def test_exp_and_log_to_the_last_bits():
    x = -np.linspace(0.0, 690.0, 4001)
    assert np.max(np.abs(np.array([exp_negative(v) for v in x]) / np.exp(x) - 1)) < 1e-15
    assert 0.0 <= exp_negative(-1e9) < 1e-300
    t = np.linspace(0.0, 1.0, 2001)
    assert np.max(np.abs(np.array([log1p_unit(v) for v in t]) - np.log1p(t))) < 5e-16
    x = np.array([-800.0, -40.0, -1.0, 0.0, 1.0, 40.0, 800.0])
    assert np.allclose([softplus(v) for v in x], np.logaddexp(0.0, x), rtol=1e-14, atol=1e-300)


def test_log_normal_cdf_in_both_tails():
    x = np.concatenate([np.linspace(-60, 12, 1001), [-1e4, -300.0, 30.0, 300.0]])
    ours = np.array([log_normal_cdf(v) for v in x])
    assert np.allclose(ours, norm.logcdf(x), rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 5])
def test_row_is_a_difference_of_log_joints(rng, link, dimension):
    target = random_target(rng, 7, 9, dimension, link=link)
    state = random_state(rng, target, 3)
    paired = int(np.flatnonzero(state.partner_a >= 0)[0])
    single = int(np.flatnonzero(state.partner_b < 0)[0])
    for members in ((paired, int(state.partner_a[paired])), (-1, single)):
        members = tuple(np.int64(i) for i in members)
        u, v = rng.normal(size=dimension), rng.normal(size=dimension) * 3
        values = []
        for point in (u, v):
            moved = copy(state)
            place_person(moved, members, point)
            values.append(log_joint_of(moved, target))
            # The row must not depend on where the record stands at the moment.
            here = log_gamma(point, members, NOBODY, state, target)
            assert abs(here - log_gamma(point, members, NOBODY, moved, target)) < 1e-12
        ours = log_gamma(u, members, NOBODY, state, target) - log_gamma(v, members, NOBODY, state, target)
        assert abs(ours - (values[0] - values[1])) < 1e-9


@pytest.mark.parametrize("link", [0, 1])
def test_long_and_extreme_rows(rng, link):
    """More dyads than one block, large intercepts and distances: no overflow, the same sum."""
    n = 1301
    x = rng.normal(size=(2, n)) * 3.0
    ties = (rng.random(n) < 0.3).astype(np.uint8)
    ties[5] = 0
    for intercept, u in ((0.5, np.zeros(2)), (30.0, np.zeros(2)), (-20.0, np.full(2, 20.0)), (800.0, np.zeros(2))):
        eta = intercept - np.linalg.norm(x - u[:, None], axis=0)
        sign = np.where(ties, 1.0, -1.0)
        terms = norm.logcdf(sign * eta) if link else -np.logaddexp(0.0, -sign * eta)
        want = terms.sum() - terms[5] - terms[7]
        assert abs(row(u, x, ties, intercept, link, 5, 7) - want) < 1e-9 + 1e-13 * np.abs(terms).sum()


@pytest.mark.parametrize("link", [0, 1])
def test_file_log_likelihood_and_missing_network(rng, link):
    target = random_target(rng, 7, 9, 2, link=link)
    state = random_state(rng, target, 2)
    want = tie_log_likelihood(state.position_b.T * 1.7, target.adjacency_b, 0.3, link)
    assert abs(file_log_likelihood(1, 0.3, 1.7, state, target) - want) < 1e-9
    blind = target._replace(observed=np.array([True, False]))
    assert file_log_likelihood(1, 0.3, 1.0, state, blind) == 0.0
    assert record_log_likelihood(np.zeros(2), 1, 2, np.int64(-1), state, blind) == 0.0


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_slopes_are_derivatives(rng, link, dimension):
    """The score is the gradient of the row; the information is the mean of the squared score over ties."""
    n = 6
    x = rng.normal(size=(dimension, n))
    ties = (rng.random(n) < 0.5).astype(np.uint8)
    ties[2] = 0
    u = rng.normal(size=dimension)
    gradient, information = np.zeros(dimension), np.zeros((dimension, dimension))
    fit_module.add_slopes(u, x, ties, 0.7, link, 2, -1, 1.0, gradient, information)
    for k in range(dimension):
        step = np.zeros(dimension)
        step[k] = 1e-6
        numeric = (row(u + step, x, ties, 0.7, link, 2, -1) - row(u - step, x, ties, 0.7, link, 2, -1)) / 2e-6
        assert abs(numeric - gradient[k]) < 1e-6
    want = np.zeros((dimension, dimension))
    for j in range(n):
        if j == 2:
            continue
        r = (u - x[:, j]) / np.linalg.norm(u - x[:, j])
        eta = 0.7 - np.linalg.norm(u - x[:, j])
        p = norm.cdf(eta) if link else 1 / (1 + np.exp(-eta))
        slope = norm.pdf(eta) if link else p * (1 - p)
        want += slope**2 / (p * (1 - p)) * np.outer(r, r)
    assert np.allclose(np.tril(want), np.tril(information), atol=1e-9)


@pytest.mark.parametrize("dimension", [1, 2])
def test_proposal_density_integrates_to_one_and_matches_its_draws(rng, dimension):
    target = random_target(rng, 6, 6, dimension)
    state = random_state(rng, target, 2)
    members = (np.int64(0), np.int64(-1))
    proposal = fit_module.fit(members, NOBODY, state, target)
    axis = np.linspace(-40, 40, 801 if dimension == 2 else 20001)
    cell = (axis[1] - axis[0]) ** dimension
    grid = np.array(np.meshgrid(*[axis] * dimension)).reshape(dimension, -1).T.copy()
    density = np.exp([fit_module.log_density(g, proposal, state.spread[0]) for g in grid])
    assert abs(density.sum() * cell - 1.0) < 2e-3
    # Draws: the distribution function of the first coordinate at three points, 5-sigma bands (false alarm < 1e-5).
    draws = np.array([fit_module.draw(rng, proposal, state.spread[0])[0] for _ in range(20000)])
    for cut in (-1.0, 0.0, 1.0):
        p = density[grid[:, 0] <= cut].sum() * cell
        assert abs((draws <= cut).mean() - p) < 5 * np.sqrt(p * (1 - p) / draws.size) + 2e-3
