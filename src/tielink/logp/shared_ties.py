"""Log probability of ties that two records of a person share, written from its definition.

A dyad of file j is tied with probability 1 − e^{−λ}, λ = θ_i·θ_i': some Poisson count of mean λ is not 0. Two dyads
(i, i') and (j, j') of the same two persons have a part of their counts in common, of mean

    κ = ρ·min(θ_i, θ_j)·min(θ_i', θ_j').

What that adds to the log-likelihood of independent dyads is summed over all pairs of dyads of the same two persons: the
likelihood where every person has at most two records, a composite (pairwise) likelihood beyond that.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

__all__ = ["log_independent_ties", "log_shared_ties", "log_two_dyads"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]


def log_two_dyads(first: float, second: float, common: float, tied: tuple[bool, bool]) -> float:
    """Return log P(y, y') − log P(y) − log P(y') of two dyads with rates λ and λ' that share a rate κ.

    P(0, 0) = e^{−(λ + λ' − κ)}, P(0) = e^{−λ}, and the other cases are what is left:

    >>> round(log_two_dyads(0.5, 0.8, 0.3, (False, False)), 12)
    0.3
    >>> log_two_dyads(0.5, 0.8, 0.0, (True, False))
    0.0
    >>> log_two_dyads(0.5, 0.8, 0.3, (True, True)) > 0 > log_two_dyads(0.5, 0.8, 0.3, (True, False))
    True
    """
    neither, not_first, not_second = math.exp(common - first - second), math.exp(-first), math.exp(-second)
    together = {
        (False, False): neither,
        (True, False): not_second - neither,
        (False, True): not_first - neither,
        (True, True): 1 - not_first - not_second + neither,
    }[tied]
    apart = (1 - not_first if tied[0] else not_first) * (1 - not_second if tied[1] else not_second)
    return math.log(together / apart)


def log_shared_ties(
    ties: Sequence[Codes | None], sizes: Sequence[int], labels: Codes, theta: Floats, sharing: float
) -> float:
    """Return the sum of `log_two_dyads` over all pairs of dyads of the same two persons.

    `ties` are pairs of each file's own record numbers, None for a file without a network; `theta` is θ of every
    record, `labels` its person.
    """
    dyads = defaultdict(list)
    for i, j, tied in _dyads(ties, sizes):
        if labels[i] != labels[j]:
            low, high = (i, j) if labels[i] < labels[j] else (j, i)
            dyads[labels[low], labels[high]].append((low, high, tied))
    total = 0.0
    for of_two_persons in dyads.values():
        for (i, k, one), (j, m, two) in combinations(of_two_persons, 2):
            common = sharing * min(theta[i], theta[j]) * min(theta[k], theta[m])
            total += log_two_dyads(theta[i] * theta[k], theta[j] * theta[m], common, (one, two))
    return total


def log_independent_ties(ties: Sequence[Codes | None], sizes: Sequence[int], theta: Floats) -> float:
    """Return Σ log P(y) over all dyads, as if no two had anything in common."""
    return sum(
        math.log(-math.expm1(-theta[i] * theta[j])) if tied else -float(theta[i] * theta[j])
        for i, j, tied in _dyads(ties, sizes)
    )


def _dyads(ties: Sequence[Codes | None], sizes: Sequence[int]) -> Iterator[tuple[int, int, bool]]:
    """Yield the two records of every dyad of every network, and whether they are tied."""
    begin = 0
    for size, edges in zip(sizes, ties, strict=True):
        if edges is not None:
            tied = {frozenset(edge) for edge in (edges + begin).tolist()}
            for i, j in combinations(range(begin, begin + size), 2):
                yield i, j, frozenset((i, j)) in tied
        begin += size
