"""Sums over all partitions into clusters of at most S records, for priors that know cluster sizes only.

Both families of `cluster_priors` give a partition ξ of I records into N clusters of sizes n_1, …, n_N the weight

    Π_{k=0}^{N−1} (θ + d·k) · Π_c n_c!·c_{n_c},        sizes 1 … S,

and Σ_ξ weight = I!·f_I with f_n = [xⁿ] (1 − d·Σ_s c_s x^s)^{−θ/d} (exp(θ·Σ_s c_s x^s) for d = 0). From
g·f' = −(θ/d)·g'·f for a power f = g^{−θ/d},

    n·f_n = Σ_s c_s·f_{n−s}·(θ·s + d·(n−s)),

so the exact normaliser costs I·S multiplications of positive numbers, and nothing is lost to rounding.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tielink.kernels import njit

__all__ = ["draw_sizes", "log_ordered_sums", "log_series", "log_weight", "moments"]

Floats = NDArray[np.float64]

_LARGE = 1e120


@njit
def log_series(theta, discount, log_coefficient, records):  # type: ignore[no-untyped-def]
    """Return log f_I; `log_coefficient[s − 1]` is log c_s."""
    largest = log_coefficient.size
    coefficient = np.exp(log_coefficient)
    recent = np.zeros(largest)
    recent[0] = 1.0
    log_scale = 0.0
    for n in range(1, records + 1):
        total = 0.0
        for s in range(1, min(largest, n) + 1):
            total += coefficient[s - 1] * recent[(n - s) % largest] * (theta * s + discount * (n - s))
        total /= n
        if total > _LARGE or total < 1.0 / _LARGE:
            for s in range(largest):
                recent[s] /= total
            log_scale += math.log(total)
            total = 1.0
        recent[n % largest] = total
    return math.log(recent[records % largest]) + log_scale


@njit
def moments(theta, discount, log_coefficient, records):  # type: ignore[no-untyped-def]
    """Return mean and variance of N: factors z on every c_s count clusters, so the recursion is derived at z = 1."""
    largest = log_coefficient.size
    coefficient = np.exp(log_coefficient)
    recent, first, second = np.zeros(largest), np.zeros(largest), np.zeros(largest)
    recent[0] = 1.0
    for n in range(1, records + 1):
        total, slope, bend = 0.0, 0.0, 0.0
        for s in range(1, min(largest, n) + 1):
            at = (n - s) % largest
            weight = coefficient[s - 1] * (theta * s + discount * (n - s))
            total += weight * recent[at]
            slope += weight * (recent[at] + first[at])
            bend += weight * (2.0 * first[at] + second[at])
        total, slope, bend = total / n, slope / n, bend / n
        if total > _LARGE or total < 1.0 / _LARGE:
            for s in range(largest):
                recent[s], first[s], second[s] = recent[s] / total, first[s] / total, second[s] / total
            total, slope, bend = 1.0, slope / total, bend / total
        at = n % largest
        recent[at], first[at], second[at] = total, slope, bend
    at = records % largest
    mean = first[at] / recent[at]
    return mean, max(second[at] / recent[at] + mean - mean * mean, 0.0)


def log_weight(theta: float, discount: float, log_coefficient: Floats, sizes: NDArray[np.int64]) -> float:
    """Return log p(ξ) of a partition with clusters of these sizes; −∞ if one is too large."""
    if sizes.max(initial=0) > len(log_coefficient):
        return -math.inf
    steps = float(np.log(theta + discount * np.arange(len(sizes))).sum())
    each = float((gammaln(sizes + 1) + log_coefficient[sizes - 1]).sum())
    records = int(sizes.sum())
    normaliser = float(gammaln(records + 1)) + float(log_series(theta, discount, log_coefficient, records))
    return steps + each - normaliser


def log_ordered_sums(log_coefficient: Floats, records: int) -> Floats:
    """Return log Σ Π c_{n_k} over ordered sizes n_1 + … + n_N = n, at [N, n]."""
    table = np.full((records + 1, records + 1), -np.inf)
    table[0, 0] = 0.0
    for count in range(1, records + 1):
        for size, log in enumerate(log_coefficient[:records], start=1):
            table[count, size:] = np.logaddexp(table[count, size:], table[count - 1, : records + 1 - size] + log)
    return table


def draw_sizes(
    rng: np.random.Generator, theta: float, discount: float, log_coefficient: Floats, records: int
) -> list[int]:
    """Draw the cluster sizes of a partition from its prior: N first, then one size after the other."""
    sums = log_ordered_sums(log_coefficient, records)
    counts = np.arange(1, records + 1)
    log = np.cumsum(np.log(theta + discount * (counts - 1))) - gammaln(counts + 1) + sums[1:, records]
    number = int(rng.choice(counts, p=_shares(log)))
    sizes: list[int] = []
    left = records
    for others in range(number - 1, -1, -1):
        options = np.arange(1, min(len(log_coefficient), left) + 1)
        size = int(rng.choice(options, p=_shares(log_coefficient[options - 1] + sums[others, left - options])))
        sizes.append(size)
        left -= size
    return sizes


def _shares(log: Floats) -> Floats:
    weight = np.exp(log - log.max())
    return np.asarray(weight / weight.sum())
