"""The row of ties at a point, its slopes, and the proposal for a position."""

import numpy as np
import pytest
from scipy.stats import norm

from sampler.naive import tie_log_likelihood
from tielink.model.problem import LatentSpaceProblem
from tielink.network.latent_space.proposal import add_slopes, draw, fit_cluster, log_density
from tielink.network.latent_space.row import exp_negative, log1p_unit, log_normal_cdf, softplus
from tielink.network.latent_space.scalars import file_log_likelihood
from tielink.network.latent_space.space import empty_layout, make_space, record_row


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
def test_long_and_extreme_rows(rng, link):
    """More dyads than one block, large intercepts and distances: no overflow, the same sum."""
    layout, space = world(rng, (1301,), 2, link)
    x, ties = layout.position, space.adjacency[5]
    x *= 3.0
    for intercept, u in ((0.5, np.zeros(2)), (30.0, np.zeros(2)), (-20.0, np.full(2, 20.0)), (800.0, np.zeros(2))):
        eta = intercept - np.linalg.norm(x - u[:, None], axis=0)
        sign = np.where(ties, 1.0, -1.0)
        terms = norm.logcdf(sign * eta) if link else -np.logaddexp(0.0, -sign * eta)
        want = terms.sum() - terms[5] - terms[7]
        layout.intercept[0] = intercept
        assert abs(record_row(u, 5, np.array([5, 7]), layout, space) - want) < 1e-9 + 1e-13 * np.abs(terms).sum()


def world(rng, sizes, dimension, link=0, observed=None):
    """Networks of ties at random, and positions."""
    edges = [np.argwhere(np.triu(rng.random((n, n)) < 0.4, 1)) for n in sizes]
    ties = [e if observed is None or observed[file] else None for file, e in enumerate(edges)]
    network = LatentSpaceProblem(dimension, ("logit", "probit")[link], tuple(ties), np.full(len(sizes), 2.0), 6.0, 10.0)
    space = make_space(sizes, network)
    layout = empty_layout(space)
    layout.position[:] = rng.normal(size=layout.position.shape)
    layout.intercept[:] = 0.7
    return layout, space


@pytest.mark.parametrize("link", [0, 1])
def test_file_log_likelihood_and_missing_network(rng, link):
    layout, space = world(rng, (7, 9), 2, link)
    want = tie_log_likelihood(layout.position[:, 7:].T * 1.7, space.adjacency[7:], 0.3, link)
    assert abs(file_log_likelihood(1, 0.3, 1.7, layout, space) - want) < 1e-9
    blind = space._replace(observed=np.array([True, False]))
    assert file_log_likelihood(1, 0.3, 1.0, layout, blind) == 0.0
    assert record_row(np.zeros(2), 9, np.array([9]), layout, blind) == 0.0


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("dimension", [1, 2, 4])
def test_slopes_are_derivatives(rng, link, dimension):
    """The score is the gradient of the row; the information is the mean of the squared score over ties."""
    layout, space = world(rng, (6,), dimension, link)
    x, members = layout.position, np.array([2, 4])
    u = rng.normal(size=dimension)
    gradient, information = np.zeros(dimension), np.zeros((dimension, dimension))
    add_slopes(u, 2, members, layout, space, gradient, information)
    for k in range(dimension):
        step = np.zeros(dimension)
        step[k] = 1e-6
        above, below = (record_row(u + sign * step, 2, members, layout, space) for sign in (1, -1))
        assert abs((above - below) / 2e-6 - gradient[k]) < 1e-6
    want = np.zeros((dimension, dimension))
    for j in (0, 1, 3, 5):
        r = (u - x[:, j]) / np.linalg.norm(u - x[:, j])
        eta = 0.7 - np.linalg.norm(u - x[:, j])
        p = norm.cdf(eta) if link else 1 / (1 + np.exp(-eta))
        slope = norm.pdf(eta) if link else p * (1 - p)
        want += slope**2 / (p * (1 - p)) * np.outer(r, r)
    assert np.allclose(np.tril(want), np.tril(information), atol=1e-9)


@pytest.mark.parametrize("dimension", [1, 2])
def test_proposal_density_integrates_to_one_and_matches_its_draws(rng, dimension):
    layout, space = world(rng, (6, 6), dimension)
    spread, members = layout.spread[0], np.array([0])
    proposal = fit_cluster(members, 1, layout, space)
    axis = np.linspace(-40, 40, 321 if dimension == 2 else 20001)
    cell = (axis[1] - axis[0]) ** dimension
    grid = np.array(np.meshgrid(*[axis] * dimension)).reshape(dimension, -1).T.copy()
    density = np.exp([log_density(g, proposal, spread) for g in grid])
    assert abs(density.sum() * cell - 1.0) < 2e-3
    # Draws: the distribution function of the first coordinate at three points, 5-sigma bands (false alarm < 1e-5).
    draws = np.array([draw(rng, proposal, spread)[0] for _ in range(20000)])
    for cut in (-1.0, 0.0, 1.0):
        p = density[grid[:, 0] <= cut].sum() * cell
        edge = cut + 0.5 * (axis[1] - axis[0])  # cells reach half a step beyond their middles
        assert abs((draws <= edge).mean() - p) < 5 * np.sqrt(p * (1 - p) / draws.size) + 2e-3
