"""The proposal q_A(u) for the position of a cluster A, built from the *other* records only, and particle evidence.

Three Fisher-scoring steps from the neighbours' mean give a centre m and an information F; then
q = 0.85 t_5(m, 1.3 F^-1) + 0.15 N(0, sigma^2 I). The defensive part keeps the weights gamma/q bounded.
Nothing here reads the position of a member of A: that is what makes q usable on both sides of an acceptance ratio.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.network.latent_space.row import HALF_LOG_2PI, LOGIT, exp_negative, log_normal_cdf, squared_distances
from tielink.network.latent_space.space import log_gamma, log_prior_density, ties_of
from tielink.sampler.choice import choose

_FREEDOM = 5.0
_INFLATION = 1.3
_DEFENSIVE = 0.15
_STEPS = 3
_LONGEST = 2.0


class Fit(NamedTuple):
    """Centre m, lower Cholesky factor L of F = L L', and the log normalising constant of the t density."""

    mean: NDArray[np.float64]
    factor: NDArray[np.float64]
    log_constant: float


@njit(fastmath={"contract"}, error_model="numpy")
def _logit_slopes(squared, ties, intercept, score, weight):
    """Per dyad: (p - y)/d and p(1 - p)/d^2. The small constant guards two records on one spot."""
    for j in range(squared.size):
        d2 = squared[j] + 1e-12
        inverse = 1.0 / math.sqrt(d2)
        predictor = intercept - d2 * inverse
        t = exp_negative(-abs(predictor))
        q = 1.0 / (1.0 + t)
        p = q if predictor > 0.0 else t * q
        score[j] = (p - ties[j]) * inverse
        weight[j] = t * q * q * inverse * inverse


@njit
def _probit_slopes(squared, ties, intercept, score, weight):
    """The same for the probit: minus the derivative of log Phi(+-eta) over d, and phi^2/(Phi(1 - Phi))/d^2."""
    for j in range(squared.size):
        d2 = squared[j] + 1e-12
        inverse = 1.0 / math.sqrt(d2)
        predictor = intercept - d2 * inverse
        log_density = -0.5 * predictor * predictor - HALF_LOG_2PI
        up = log_density - log_normal_cdf(predictor)
        down = log_density - log_normal_cdf(-predictor)
        score[j] = (-math.exp(up) if ties[j] else math.exp(down)) * inverse
        weight[j] = math.exp(up + down) * inverse * inverse


@njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _dot(weight, x, center):
    total = 0.0
    for j in range(weight.size):
        total += weight[j] * (center - x[j])
    return total


@njit
def add_slopes(u, record, members, layout, space, gradient, information):
    """Add a record's gradient and Fisher information at `u` (lower triangle), dyads with members left out."""
    file = space.file_of[record]
    if not space.observed[file]:
        return
    begin, end = space.offset[file], space.offset[file + 1]
    x, ties = layout.position, ties_of(space, record)
    squared, score, weight = np.empty(ties.size), np.empty(ties.size), np.empty(ties.size)
    squared_distances(u, x, begin, squared)
    if space.link == LOGIT:
        _logit_slopes(squared, ties, layout.intercept[file], score, weight)
    else:
        _probit_slopes(squared, ties, layout.intercept[file], score, weight)
    for member in members:
        if space.file_of[member] == file:
            score[member - begin] = weight[member - begin] = 0.0
    for k in range(u.size):
        gradient[k] += space.temperature * _dot(score, x[k, begin:end], u[k])
        moment = weight * (u[k] - x[k, begin:end])
        for h in range(k + 1):
            information[k, h] += space.temperature * _dot(moment, x[h, begin:end], u[h])


@njit
def factorise(matrix, v):
    """Turn the lower triangle of a small positive definite matrix into its Cholesky factor L, and v into L^-1 v."""
    for k in range(v.size):
        for h in range(k + 1):
            total = matrix[k, h]
            for i in range(h):
                total -= matrix[k, i] * matrix[h, i]
            matrix[k, h] = math.sqrt(total) if k == h else total / matrix[h, h]
        for h in range(k):
            v[k] -= matrix[k, h] * v[h]
        v[k] /= matrix[k, k]


@njit
def solve_upper(factor, v):
    """Solve L' x = v in place."""
    for k in range(v.size - 1, -1, -1):
        for h in range(k + 1, v.size):
            v[k] -= factor[h, k] * v[h]
        v[k] /= factor[k, k]


@njit
def _neighbours_mean(members, count, layout, space):
    """Sum of the neighbours' positions over (their number + 1/2)."""
    mean = np.zeros(space.dimension)
    number = 0.5
    for t in range(count):
        file = space.file_of[members[t]]
        if not space.observed[file]:
            continue
        for j in range(space.offset[file], space.offset[file + 1]):
            if space.adjacency[members[t], j - space.offset[file]]:
                outside = True
                for member in members:
                    outside = outside and member != j
                if outside:
                    number += 1.0
                    for k in range(mean.size):
                        mean[k] += layout.position[k, j]
    for k in range(mean.size):
        mean[k] /= number
    return mean


@njit
def scoring_step(u, members, count, layout, space, step, factor):
    """
    One step of Fisher scoring at u for the position of A, the first `count` members.

    Writes F^-1 g into `step` and the lower Cholesky factor of F into `factor`, with gradient
    g = sum (p - y)(u - x)/d - u/sigma^2 and information F = sum p(1 - p) r r' + I/sigma^2 (logit; probit likewise).
    """
    precision = 1.0 / layout.spread[0]
    for k in range(u.size):
        step[k] = -u[k] * precision
        for h in range(k + 1):
            factor[k, h] = precision if h == k else 0.0
    for t in range(count):
        add_slopes(u, members[t], members, layout, space, step, factor)
    factorise(factor, step)
    solve_upper(factor, step)


@njit
def fit_cluster(members, count, layout, space):
    """Fit q_A for A, the first `count` members, from the records that are no members."""
    mean = _neighbours_mean(members, count, layout, space)
    step, factor = np.empty(mean.size), np.empty((mean.size, mean.size))
    for _ in range(_STEPS):
        scoring_step(mean, members, count, layout, space, step, factor)
        length = 0.0
        for k in range(mean.size):
            length += step[k] ** 2
        length = math.sqrt(length)
        shrink = _LONGEST / length if length > _LONGEST else 1.0
        for k in range(mean.size):
            mean[k] += shrink * step[k]
    log_constant = (
        math.lgamma(0.5 * (_FREEDOM + mean.size))
        - math.lgamma(0.5 * _FREEDOM)
        - 0.5 * mean.size * math.log(_FREEDOM * math.pi * _INFLATION)
    )
    for k in range(mean.size):
        log_constant += math.log(factor[k, k])
    return Fit(mean, factor, log_constant)


@njit
def draw(rng, proposal, spread):
    """A draw from q_A."""
    u = np.empty(proposal.mean.size)
    for k in range(u.size):
        u[k] = rng.standard_normal()
    if rng.random() < _DEFENSIVE:
        for k in range(u.size):
            u[k] *= math.sqrt(spread)
        return u
    scale = math.sqrt(_INFLATION * _FREEDOM / (2.0 * rng.standard_gamma(0.5 * _FREEDOM)))
    solve_upper(proposal.factor, u)
    for k in range(u.size):
        u[k] = proposal.mean[k] + scale * u[k]
    return u


@njit
def log_density(u, proposal, spread):
    """log q_A(u)."""
    form = 0.0
    for h in range(u.size):
        v = 0.0
        for k in range(h, u.size):
            v += proposal.factor[k, h] * (u[k] - proposal.mean[k])
        form += v * v
    student = proposal.log_constant - 0.5 * (_FREEDOM + u.size) * math.log1p(form / (_INFLATION * _FREEDOM))
    student += math.log(1.0 - _DEFENSIVE)
    prior = log_prior_density(u, spread) + math.log(_DEFENSIVE)
    return max(student, prior) + math.log1p(math.exp(-abs(student - prior)))


@njit
def particle_evidence(rng, members, count, current, particles, latent):
    """
    log Z_A of A, the first `count` members, the mean of gamma_A(u_r)/q_A(u_r), and one particle chosen by weight.

    *Forward* when `current` is empty: all particles are drawn from q_A. *Conditional* when `current` is a position:
    it takes the first slot and the rest are drawn. A move that goes from one to the other is exact for any number.
    """
    layout, space = latent.layout, latent.space
    proposal, spread = fit_cluster(members, count, layout, space), layout.spread[0]
    points, log_weights = np.empty((particles, proposal.mean.size)), np.empty(particles)
    for r in range(particles):
        u = current if (r == 0 and current.size > 0) else draw(rng, proposal, spread)
        points[r] = u
        log_weights[r] = log_gamma(u, members, count, layout, space) - log_density(u, proposal, spread)
    chosen, log_total = choose(rng, log_weights)
    return log_total - math.log(particles), points[chosen].copy()
