"""Log probability of ties, positions, intercepts and spread."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, log_ndtr

from tielink.logp.parameters import Parameters
from tielink.model.problem import LatentSpaceProblem

__all__ = ["log_intercepts", "log_positions", "log_spread", "log_tie", "log_ties"]

Floats = NDArray[np.float64]


def log_tie(link: str, eta: Floats, tied: NDArray[np.bool_]) -> Floats:
    """Return log P(y) for y ~ Bernoulli(g⁻¹(η)).

    logit:  log P(1) = −log(1 + e^{−η}),  log P(0) = −log(1 + e^{η});
    probit: log P(1) = log Φ(η),          log P(0) = log Φ(−η).
    """
    signed = np.where(tied, eta, -eta)
    return np.asarray(-np.logaddexp(0.0, -signed) if link == "logit" else log_ndtr(signed))


def log_ties(network: LatentSpaceProblem, file: int, positions: Floats, intercept: float) -> float:
    """Return Σ_{i<i'} log P(y_{ii'j}) of one file, η = β_j − ‖u_i − u_{i'}‖; 0 for a file without network.

    `positions` has one row a record of the file: its person's position.
    """
    ties = network.ties[file]
    if ties is None:
        return 0.0
    size = len(positions)
    starts = np.searchsorted(ties[:, 0], np.arange(size + 1))
    total = 0.0
    for record in range(size - 1):
        eta = intercept - np.linalg.norm(positions[record + 1 :] - positions[record], axis=1)
        tied = np.zeros(size - record - 1, dtype=bool)
        tied[ties[starts[record] : starts[record + 1], 1] - record - 1] = True
        total += float(log_tie(network.link, eta, tied).sum())
    return total


def log_positions(network: LatentSpaceProblem, parameters: Parameters) -> float:
    """Return Σ_n log N(u_n; 0, σ² I_K): one position a *person*."""
    count = parameters.persons * network.dimension
    squares = float((parameters.positions**2).sum())
    return -0.5 * count * math.log(2 * math.pi * parameters.spread) - 0.5 * squares / parameters.spread


def log_intercepts(network: LatentSpaceProblem, parameters: Parameters) -> float:
    """Return Σ_j log N(β_j; 0, ω_j²)."""
    scaled = parameters.intercepts / network.intercept_sd
    return float((-0.5 * scaled**2 - 0.5 * math.log(2 * math.pi) - np.log(network.intercept_sd)).sum())


def log_spread(network: LatentSpaceProblem, parameters: Parameters) -> float:
    """Return log InvGamma(σ²; a, b) = a·log b − log Γ(a) − (a+1)·log σ² − b/σ²."""
    a, b = network.spread_shape, network.spread_scale
    return float(a * math.log(b) - gammaln(a) - (a + 1) * math.log(parameters.spread) - b / parameters.spread)
