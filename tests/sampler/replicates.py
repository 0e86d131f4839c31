"""Draw parameters and data from the model, in place; independent of the kernels under test."""

import math

import numpy as np
from numba import njit
from scipy.special import gammaln

from tielink.exact.state import State, blank_ties
from tielink.exact.target import make_target

CATEGORIES = np.array([0.5, 0.3, 0.2])
DISTORTION = 0.25


def blank(
    n1=4, n2=5, dimension=2, link=0, observed=(True, True), log_prior=None, anchors=1, spread_scale=10.0, **beyond
):
    """A target and a state to be filled by `simulate`. Tight hyperparameters: ties are neither empty nor full."""
    anchor_a = np.full(n1, -1)
    anchor_a[:anchors] = np.arange(anchors)
    free = min(n1, n2) - anchors
    target = make_target(
        adjacency_a=np.zeros((n1, n1)),
        adjacency_b=np.zeros((n2, n2)),
        log_bf=np.zeros((n1, n2)),
        log_prior=np.zeros(free + 1) if log_prior is None else log_prior,
        dimension=dimension,
        anchor_a=anchor_a,
        observed=observed,
        intercept_sd=(1.0, 1.5),
        spread_shape=6.0,
        spread_scale=spread_scale,
        link=link,
        **beyond,
    )
    state = State(
        np.zeros((dimension, n1)),
        np.zeros((dimension, n2)),
        anchor_a.astype(np.int64),
        np.full(n2, -1, dtype=np.int64),
        np.zeros(2),
        np.ones(1),
        np.zeros(1, dtype=np.int64),
        *blank_ties(target),
    )
    return target, state


def match_probabilities(target):
    """P(m) = exp(log_prior[m]) C(n1', m) C(n2', m) m!, normalised."""
    f1, f2 = (target.anchor_a < 0).sum(), (target.anchor_b < 0).sum()
    m = np.arange(target.log_prior.size)
    logs = target.log_prior - gammaln(f1 - m + 1) - gammaln(f2 - m + 1) - gammaln(m + 1)
    p = np.exp(logs - logs.max())
    return p / p.sum()


@njit(cache=True)
def _category(rng, p):
    x = rng.random()
    for c in range(p.size - 1):
        x -= p[c]
        if x < 0.0:
            return c
    return p.size - 1


@njit(cache=True)
def _shuffle(rng, x):
    for i in range(x.size - 1, 0, -1):
        j = rng.integers(0, i + 1)
        x[i], x[j] = x[j], x[i]


@njit(cache=True)
def tie_probability(x, i, j, intercept, social, link):
    eta = intercept - math.sqrt(((x[:, i] - x[:, j]) ** 2).sum())
    if social is not None:
        eta += social[i] + social[j]
    return 0.5 * math.erfc(-eta / math.sqrt(2.0)) if link == 1 else 1.0 / (1.0 + math.exp(-eta))


@njit(cache=True)
def _ties(rng, x, intercept, social, link, out):
    for i in range(x.shape[1]):
        for j in range(i):
            p = tie_probability(x, i, j, intercept, social, link)
            out[i, j] = out[j, i] = 1 if rng.random() < p else 0


@njit(cache=True)
def given_first(first, second, odds, tied):
    """P(y2 = 1 | y1) of two dyads with these margins and this odds ratio."""
    s = 1.0 + (first + second) * (odds - 1.0)
    both = first * second
    if abs(odds - 1.0) > 1e-9:
        both = (s - math.sqrt(s * s - 4.0 * odds * (odds - 1.0) * first * second)) / (2.0 * (odds - 1.0))
    return both / first if tied else (second - both) / (1.0 - first)


@njit(cache=True)
def speaks(state, target, a, c):
    """Whether a and c are linked to two records of the other file, and all four have ties to correlate."""
    b, d = state.partner_a[a], state.partner_a[c]
    if b < 0 or d < 0:
        return False
    return target.correlated_a[a] and target.correlated_a[c] and target.correlated_b[b] and target.correlated_b[d]


@njit(cache=True)
def margins(state, target, a, c):
    """The probability of a tie between a and c, and of one between the records they are linked to."""
    b, d = state.partner_a[a], state.partner_a[c]
    first = tie_probability(state.position_a, a, c, state.intercept[0], state.sociality_a, target.link)
    return first, tie_probability(state.position_b, b, d, state.intercept[1], state.sociality_b, target.link)


@njit(cache=True)
def _correlate(rng, log_phi, state, target):
    """Draw the second file's ties between persons of both files again, given the first file's."""
    if log_phi is None:
        return
    odds = math.exp(log_phi[0])
    for a in range(state.partner_a.size):
        for c in range(a):
            if speaks(state, target, a, c):
                b, d = state.partner_a[a], state.partner_a[c]
                first, second = margins(state, target, a, c)
                p = given_first(first, second, odds, target.adjacency_a[a, c])
                target.adjacency_b[b, d] = target.adjacency_b[d, b] = 1 if rng.random() < p else 0


@njit(cache=True)
def _draw_beyond(rng, log_phi, tau, state, target):
    """log phi, tau and s from their priors."""
    if log_phi is not None:
        log_phi[0] = target.correlation_sd * rng.standard_normal()
    if tau is not None:
        tau[0] = target.sociality_scale * abs(rng.standard_normal())
        for sociality in (state.sociality_a, state.sociality_b):
            for i in range(sociality.size):
                sociality[i] = tau[0] * rng.standard_normal()


@njit(cache=True)
def draw_matching(rng, state, target, match_probability):
    """m, then which records, uniformly."""
    state.partner_a[:], state.partner_b[:] = target.anchor_a, target.anchor_b
    free_a, free_b = np.flatnonzero(target.anchor_a < 0), np.flatnonzero(target.anchor_b < 0)
    _shuffle(rng, free_a)
    _shuffle(rng, free_b)
    m = _category(rng, match_probability)
    state.matched[0] = m
    for i in range(m):
        state.partner_a[free_a[i]], state.partner_b[free_b[i]] = free_b[i], free_a[i]


@njit(cache=True)
def simulate(rng, state, target, match_probability, theta, psi):
    """xi, sigma^2, beta, u and what goes beyond from the prior; ties and one categorical field from the likelihood."""
    draw_matching(rng, state, target, match_probability)
    simulate_rest(rng, state, target, theta, psi)


@njit(cache=True)
def simulate_rest(rng, state, target, theta, psi):
    """Everything but xi."""
    n1, n2 = state.partner_a.size, state.partner_b.size
    _draw_beyond(rng, state.correlation, state.sociality_sd, state, target)
    state.spread[0] = target.spread_scale / rng.standard_gamma(target.spread_shape)
    for f in range(2):
        state.intercept[f] = target.intercept_sd[f] * rng.standard_normal()
    values_a, values_b = np.empty(n1, np.int64), np.empty(n2, np.int64)
    for b in range(n2):
        for k in range(target.dimension):
            state.position_b[k, b] = math.sqrt(state.spread[0]) * rng.standard_normal()
    for b in range(n2):
        truth = _category(rng, theta)
        values_b[b] = _category(rng, theta) if rng.random() < psi else truth
        a = state.partner_b[b]
        if a >= 0:
            values_a[a] = _category(rng, theta) if rng.random() < psi else truth
    for a in range(n1):
        if state.partner_a[a] >= 0:
            state.position_a[:, a] = state.position_b[:, state.partner_a[a]]
        else:
            values_a[a] = _category(rng, theta)
            for k in range(target.dimension):
                state.position_a[k, a] = math.sqrt(state.spread[0]) * rng.standard_normal()
    for a in range(n1):
        for b in range(n2):
            same = (1.0 - psi) ** 2 / theta[values_a[a]] if values_a[a] == values_b[b] else 0.0
            target.log_bf[a, b] = math.log(same + 2.0 * psi * (1.0 - psi) + psi * psi)
    if target.observed[0]:
        _ties(rng, state.position_a, state.intercept[0], state.sociality_a, target.link, target.adjacency_a)
    if target.observed[1]:
        _ties(rng, state.position_b, state.intercept[1], state.sociality_b, target.link, target.adjacency_b)
    _correlate(rng, state.correlation, state, target)
