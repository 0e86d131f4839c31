"""What is sampled: the arrays that define the posterior of two files."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray


class Target(NamedTuple):
    """
    Everything the exact sampler conditions on. Kernels read it and never write to it.

    Attributes
    ----------
    adjacency_a, adjacency_b : (n1, n1) and (n2, n2) uint8
        Ties y of each file: symmetric, zero diagonal.
    observed : (2,) bool
        Whether the file has a network at all; if not, its dyads contribute nothing.
    log_bf : (n1, n2) float64
        Profile log Bayes factor of every cross pair at the current (psi, theta); -inf for a known non-match.
    log_prior : (M + 1,) float64
        log p(xi) of any configuration with m = 0..M free (non-anchor) matches.
    anchor_a, anchor_b : (n1,) and (n2,) int64
        Known partner in the other file, or -1.
    intercept_sd : (2,) float64
        Prior standard deviation omega_j of beta_j.
    spread_shape, spread_scale : float
        sigma^2 ~ InvGamma(shape, scale).
    link : int
        0 logit, 1 probit.
    dimension : int
        K.
    temperature : float
        Power of the tie likelihood: 1 is the posterior, less than 1 an annealed one.
    correlation_sd : float
        Prior standard deviation of log phi; 0 for phi = 1, as without two networks.
    correlated_a, correlated_b : (n1,) and (n2,) bool, or None
        Which records take part in the correlation of ties; None for phi = 1.
    sociality_scale : float
        Scale of tau's half-normal prior; 0 without sociality, as without any network.
    """

    adjacency_a: NDArray[np.uint8]
    adjacency_b: NDArray[np.uint8]
    observed: NDArray[np.bool_]
    log_bf: NDArray[np.float64]
    log_prior: NDArray[np.float64]
    anchor_a: NDArray[np.int64]
    anchor_b: NDArray[np.int64]
    intercept_sd: NDArray[np.float64]
    spread_shape: float
    spread_scale: float
    link: int
    dimension: int
    temperature: float
    correlation_sd: float
    correlated_a: NDArray[np.bool_] | None
    correlated_b: NDArray[np.bool_] | None
    sociality_scale: float


def make_target(
    *,
    adjacency_a: ArrayLike,
    adjacency_b: ArrayLike,
    log_bf: ArrayLike,
    log_prior: ArrayLike,
    dimension: int,
    anchor_a: ArrayLike | None = None,
    observed: ArrayLike = (True, True),
    intercept_sd: ArrayLike = (100.0, 100.0),
    spread_shape: float = 6.0,
    spread_scale: float = 5.0,
    link: int = 0,
    temperature: float = 1.0,
    correlation_sd: float = 0.0,
    correlated: tuple[ArrayLike, ArrayLike] | None = None,
    sociality_scale: float = 0.0,
) -> Target:
    """Bring arrays to the types and memory order the kernels are compiled for, and check that they fit together."""
    ties_a = np.ascontiguousarray(adjacency_a, dtype=np.uint8)
    ties_b = np.ascontiguousarray(adjacency_b, dtype=np.uint8)
    bayes = np.ascontiguousarray(log_bf, dtype=np.float64)
    n1, n2 = bayes.shape
    partner = np.full(n1, -1) if anchor_a is None else np.asarray(anchor_a)
    partner_a = np.ascontiguousarray(partner, dtype=np.int64)
    prior = np.ascontiguousarray(log_prior, dtype=np.float64)
    faults = []
    for name, ties, n in (("adjacency_a", ties_a, n1), ("adjacency_b", ties_b, n2)):
        if ties.shape != (n, n):
            faults.append(f"{name} has shape {ties.shape}, but log_bf asks for ({n}, {n})")
        elif ties.max(initial=0) > 1 or np.any(ties != ties.T) or np.any(np.diagonal(ties)):
            faults.append(f"{name} must be 0/1, symmetric, with a zero diagonal")
    anchored = np.flatnonzero(partner_a >= 0)
    if partner_a.shape != (n1,) or np.any(partner_a >= n2) or np.unique(partner_a[anchored]).size != anchored.size:
        faults.append("anchor_a must give, for every record of the first file, -1 or a partner of its own")
    free = min(n1, n2) - anchored.size
    if prior.shape != (free + 1,):
        faults.append(
            f"log_prior has shape {prior.shape}, expected ({free + 1},): one value per number of free matches"
        )
    if np.any(np.isnan(bayes)) or np.any(bayes == np.inf):
        faults.append("log_bf must be finite or -inf")
    if faults:
        raise ValueError("cannot build a target: " + "; ".join(faults))
    correlation_sd = float(correlation_sd) if np.all(observed) else 0.0
    part_a, part_b = correlated or (np.ones(n1), np.ones(n2))
    partner_b = np.full(n2, -1, dtype=np.int64)
    partner_b[partner_a[anchored]] = anchored
    return Target(
        ties_a,
        ties_b,
        np.ascontiguousarray(observed, dtype=np.bool_),
        bayes,
        prior,
        partner_a,
        partner_b,
        np.ascontiguousarray(intercept_sd, dtype=np.float64),
        float(spread_shape),
        float(spread_scale),
        int(link),
        int(dimension),
        float(temperature),
        correlation_sd,
        np.ascontiguousarray(part_a, dtype=np.bool_) if correlation_sd else None,
        np.ascontiguousarray(part_b, dtype=np.bool_) if correlation_sd else None,
        float(sociality_scale) if np.any(observed) else 0.0,
    )
