"""The row kernel against a naive loop and against sqrt + exp alone, side by side in one run."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator

import numpy as np
from numba import njit

from tielink.network.latent_space import row

TITLE = "Row kernel: Σ over a row of log P(y), nanoseconds a dyad"
COLUMNS = ("K", "n", "naive loop", "tielink", "sqrt + exp alone", "naive / tielink", "tielink / (sqrt + exp)", "probit")


@njit
def naive(u, x, ties, intercept, skip):
    """The formula as one would first write it."""
    total = 0.0
    for j in range(x.shape[1]):
        if j == skip:
            continue
        squared = 0.0
        for k in range(u.size):
            squared += (u[k] - x[k, j]) ** 2
        eta = intercept - math.sqrt(squared)
        total += ties[j] * eta - math.log(1.0 + math.exp(eta))
    return total


@njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def exp_of_roots(squared):
    """The least that any such kernel must compute."""
    total = 0.0
    for j in range(squared.size):
        total += row.exp_negative(-math.sqrt(squared[j]))
    return total


@njit
def repeat(which, u, x, ties, intercept, times):
    """Call one of the kernels many times, moving a little so that nothing is hoisted."""
    squared = np.empty(x.shape[1])
    total = 0.0
    for r in range(times):
        u[0] += 1e-9
        mine = ties[r % ties.shape[0]]
        if which == 0:
            total += naive(u, x, mine, intercept, 3)
        else:
            row.squared_distances(u, x, 0, squared)
            if which == 2:
                total += exp_of_roots(squared)
            else:
                total += row.sum_terms(squared, mine, intercept, row.LOGIT if which == 1 else row.PROBIT)
    return total


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row of the table for each K and n; times are the best of seven."""
    rng = np.random.default_rng(0)
    for dimension in (1, 2, 4, 8):
        for size in (184, 512):
            x, u = 3 * rng.normal(size=(dimension, size)), rng.normal(size=dimension)
            ties = (rng.random((size, size)) < 0.1).astype(np.uint8)
            np.fill_diagonal(ties, 0)
            best = []
            for which in range(4):
                repeat(which, u, x, ties, 0.5, 10)
                times = []
                for _ in range(7):
                    begin = time.perf_counter()
                    repeat(which, u, x, ties, 0.5, 2000)
                    times.append(time.perf_counter() - begin)
                best.append(min(times) / 2000 / size * 1e9)
            slow, fast, least, probit = best
            yield (
                dimension, size, f"{slow:.1f}", f"{fast:.2f}", f"{least:.2f}", f"{slow / fast:.1f}×",
                f"{fast / least:.2f}×", f"{probit:.1f}",
            )  # fmt: skip
