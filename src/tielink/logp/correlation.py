"""Ties of the same two persons in several files: the joint probability of dyads with odds ratio φ.

With margins θ₁, θ₂ and odds ratio φ (Plackett 1965), S = 1 + (θ₁ + θ₂)(φ − 1),

    p₁₁ = [S − √(S² − 4φ(φ−1)θ₁θ₂)] / (2(φ−1)),        p₁₁ = θ₁θ₂ at φ = 1.

What a pair of dyads gains over independence is P(y₁, y₂)/(P(y₁)P(y₂)). Over three and more files that two persons
share, dyads are a Markov chain in the order of the files, in which neighbours are such pairs.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tielink.logp.network import log_tie
from tielink.logp.parameters import Parameters
from tielink.model.problem import Problem

__all__ = ["log_correlated_ties", "log_correlation", "log_ratio"]

Floats = NDArray[np.float64]


def log_ratio(log_odds_ratio: float, first: Floats, second: Floats, equal: NDArray[np.bool_]) -> Floats:
    """Return log P(y₁, y₂)/(P(y₁)P(y₂)) for probabilities q₁, q₂ of what was observed.

    Turning one dyad's 0 and 1 around turns φ into 1/φ, so with φ' = φ if the two observations are equal, else 1/φ, and
    S = 1 + (q₁ + q₂)(φ' − 1), the ratio is 2φ'/(S + √(S² − 4φ'(φ'−1)q₁q₂)); where S < 0, the same number is
    (√(…) − S)/(2(1−φ')q₁q₂). Neither form takes the difference of two near numbers.
    """
    odds = np.exp(np.where(equal, log_odds_ratio, -log_odds_ratio))
    s = 1 + (first + second) * (odds - 1)
    # S² − 4φ'(φ'−1)q₁q₂, for φ' > 1 as a sum of positive terms.
    above = (1 + (odds - 1) * (first - second)) ** 2 + 4 * (odds - 1) * second * (1 - first)
    root = np.sqrt(np.where(odds > 1, above, s**2 - 4 * odds * (odds - 1) * first * second))
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(s >= 0, 2 * odds / (s + root), (root - s) / (2 * (1 - odds) * first * second))
    return np.asarray(np.log(ratio))


def log_correlated_ties(problem: Problem, parameters: Parameters) -> float:
    """Return Σ of log P(y₁, y₂)/(P(y₁)P(y₂)) over every two persons and neighbouring files that both are in.

    The files without a network are passed over, and egos take no part.
    """
    network, labels = problem.network, parameters.labels
    assert network is not None
    assert network.correlated is not None
    tied = [None if ties is None else {tuple(tie) for tie in ties.tolist()} for ties in network.ties]
    records: dict[int, dict[int, int]] = {}
    for record in np.flatnonzero(network.correlated):
        if tied[problem.file_of[record]] is not None:
            records.setdefault(int(labels[record]), {})[int(problem.file_of[record])] = int(record)
    begins = np.cumsum((0, *problem.sizes))
    total = 0.0
    for person, other in combinations(records, 2):
        distance = float(np.linalg.norm(parameters.positions[person] - parameters.positions[other]))
        q, seen = [], []
        for file in sorted(records[person].keys() & records[other].keys()):
            i, k = sorted((records[person][file], records[other][file]))
            eta = parameters.intercepts[file] - distance
            if parameters.sociality is not None:
                eta += parameters.sociality[i] + parameters.sociality[k]
            ties = tied[file]
            assert ties is not None
            seen.append((i - int(begins[file]), k - int(begins[file])) in ties)
            q.append(float(np.exp(log_tie(network.link, np.array([eta]), np.array([seen[-1]])))[0]))
        equal = np.equal(seen[:-1], seen[1:])
        total += float(log_ratio(parameters.correlation, np.array(q[:-1]), np.array(q[1:]), equal).sum())
    return total


def log_correlation(sd: float, correlation: float) -> float:
    """Return log N(log φ; 0, sd²)."""
    return -0.5 * (correlation / sd) ** 2 - math.log(sd) - 0.5 * math.log(2 * math.pi)
