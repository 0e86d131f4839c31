"""Intercepts, the scale of all positions and their spread; log-likelihoods of whole files."""

import math

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.network.latent_space.row import row_terms, squared_distances, sum_terms
from tielink.network.latent_space.space import Latent, position_of, ties_of


@njit
def file_log_likelihood(file, intercept, stretch, layout, space):
    """Log-likelihood of all dyads of a file at this intercept, every distance multiplied by `stretch`."""
    if not space.observed[file]:
        return 0.0
    begin, end = space.offset[file], space.offset[file + 1]
    squared, factor, total = np.empty(end - begin), stretch * stretch, 0.0
    for i in range(end - begin - 1):
        squared_distances(position_of(layout, begin + i), layout.position, begin, squared)
        for j in range(squared.size):
            squared[j] *= factor
        total += sum_terms(squared[i + 1 :], ties_of(space, begin + i)[i + 1 :], intercept, space.link)
    return space.temperature * total


def walk_intercepts(rng: np.random.Generator, latent: Latent, counts: NDArray[np.int64]) -> None:
    """One random-walk Metropolis step for each file that has a network."""
    layout, space = latent.layout, latent.space
    for file in np.flatnonzero(space.observed):
        old = layout.intercept[file]
        new = old + latent.tuning.step_intercept[file] * rng.standard_normal()
        log_ratio = 0.5 * (old * old - new * new) / space.intercept_sd[file] ** 2
        log_ratio += file_log_likelihood(file, new, 1.0, layout, space)
        log_ratio -= file_log_likelihood(file, old, 1.0, layout, space)
        accept = math.log(rng.random()) < log_ratio
        if accept:
            layout.intercept[file] = new
        counts[0] += 1
        counts[1] += accept


@njit
def _mean_distance(file, layout, space):
    """Mean distance over the dyads of a file."""
    begin, n = space.offset[file], space.offset[file + 1] - space.offset[file]
    squared, total = np.empty(n), 0.0
    for i in range(n):
        squared_distances(position_of(layout, begin + i), layout.position, begin, squared)
        for j in range(n):
            total += math.sqrt(squared[j])
    return total / max(n * (n - 1), 1)


@njit
def scale(rng, latent, counts):
    """
    u -> c u, sigma^2 -> c^2 sigma^2, beta_j -> beta_j + (c - 1) dbar_j, with log c symmetric about 0.

    dbar_j, the mean distance in file j, grows by c as well, so 1/c undoes the move. The map's Jacobian is c^(N K + 2);
    the density of the N positions falls by c^(-N K), and what is left of both is c^2. Taking sigma^2 along frees the
    move from the N K positions' prior, which would hold log c to +-1/sqrt(2 N K).
    """
    layout, space = latent.layout, latent.space
    log_c = latent.tuning.step_scale[0] * rng.standard_normal()
    c = math.exp(log_c)
    old_spread, new_spread = layout.spread[0], layout.spread[0] * c * c
    log_ratio = 2.0 * log_c - (space.spread_shape + 1.0) * 2.0 * log_c
    log_ratio -= space.spread_scale * (1.0 / new_spread - 1.0 / old_spread)
    proposal = layout.intercept.copy()
    for file in range(proposal.size):
        if space.observed[file]:
            old = layout.intercept[file]
            new = old + (c - 1.0) * _mean_distance(file, layout, space)
            proposal[file] = new
            log_ratio += 0.5 * (old * old - new * new) / space.intercept_sd[file] ** 2
            log_ratio += file_log_likelihood(file, new, c, layout, space)
            log_ratio -= file_log_likelihood(file, old, 1.0, layout, space)
    counts[0] += 1
    if math.log(rng.random()) >= log_ratio:
        return
    counts[1] += 1
    layout.spread[0] = new_spread
    layout.intercept[:] = proposal
    layout.position[:] *= c


@njit
def draw_spread(rng, state, latent, counts):
    """sigma^2 | rest ~ InvGamma(shape + N K/2, scale + sum |u_n|^2/2), one position per *person*."""
    layout, space = latent.layout, latent.space
    total = 0.0
    for slot in range(state.size.size):
        if state.size[slot] > 0:
            u = position_of(layout, state.member[slot, 0])
            for k in range(u.size):
                total += u[k] * u[k]
    shape = space.spread_shape + 0.5 * state.number[0] * space.dimension
    layout.spread[0] = (space.spread_scale + 0.5 * total) / rng.standard_gamma(shape)
    counts[:] += 1


@njit
def dyad_log_likelihoods(file, layout, space, out):
    """Write log p(y_d) of all dyads i < i' of a file, row by row, into `out`."""
    first, n = space.offset[file], space.offset[file + 1] - space.offset[file]
    squared, begin = np.empty(n), 0
    for i in range(n - 1):
        squared_distances(position_of(layout, first + i), layout.position, first, squared)
        end = begin + n - 1 - i
        ties = ties_of(space, first + i)[i + 1 :]
        row_terms(squared[i + 1 :], ties, layout.intercept[file], space.link, out[begin:end])
        begin = end
