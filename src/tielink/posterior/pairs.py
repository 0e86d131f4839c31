"""From draws of linkages to probabilities of pairs and of clusters."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

__all__ = ["PairProbabilities", "cluster_counts", "pair_probabilities"]

Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PairProbabilities:
    """Every pair of records that was ever one person, with its share of draws and the Monte Carlo error of that."""

    pairs: Codes
    """Record numbers r < r', one row a pair."""
    probability: NDArray[np.float64]
    error: NDArray[np.float64]


def _linked(person: NDArray[np.integer]) -> Codes:
    """Return the pair key (r << 32 | r') of every link in draws × records of smallest-member labels.

    A record that is not the smallest of its person is linked to the smallest, and to every other such record.
    """
    draw, later = np.nonzero(person != np.arange(person.shape[1]))
    first = person[draw, later].astype(np.int64)
    keys = [(first << 32) | later]
    # Clusters of three and more: the later members are pairs among themselves.
    group = draw.astype(np.int64) * person.shape[1] + first
    repeated = np.bincount(group, minlength=1)[group] > 1
    group, later = group[repeated], later[repeated]
    order = np.argsort(group, kind="stable")
    for gap in range(1, len(order)):
        same = group[order][gap:] == group[order][:-gap]
        if not same.any():
            break
        keys.append((later[order[:-gap][same]].astype(np.int64) << 32) | later[order[gap:][same]])
    return np.concatenate(keys)


def pair_probabilities(person: NDArray[np.integer]) -> PairProbabilities:
    """Count pairs over chains × draws × records; errors by batch means, so that slow mixing shows in them.

    With B batches over all chains (about √draws of them a chain) and a pair's share p_b in each,
    the error is sd(p_b)/√B. Links are gathered batch by batch: all draws of all links at once need not fit in memory.
    """
    chains, draws, _ = person.shape
    edges = np.linspace(0, draws, max(1, int(np.sqrt(draws))) + 1).astype(np.int64)
    number = chains * (len(edges) - 1)
    keys, counts, lengths = [], [], []
    for chain in person:
        for begin, end in pairwise(edges):
            key, count = np.unique(_linked(chain[begin:end]), return_counts=True)
            keys.append(key)
            counts.append(count)
            lengths.append(end - begin)
    pairs, owner = np.unique(np.concatenate(keys), return_inverse=True)
    times = np.concatenate(counts)
    probability = np.bincount(owner, times, minlength=len(pairs)) / (chains * draws)
    shares = times / np.repeat(lengths, [len(key) for key in keys])
    total = np.bincount(owner, shares, minlength=len(pairs))
    squares = np.bincount(owner, shares**2, minlength=len(pairs))
    variance = (squares - total**2 / number) / (number - 1) if number > 1 else np.full(len(pairs), np.nan)
    error = np.sqrt(np.maximum(variance, 0.0) / number)
    numbers = np.column_stack([pairs >> 32, pairs & 0xFFFFFFFF])
    order = np.lexsort((numbers[:, 1], numbers[:, 0], -probability))
    return PairProbabilities(numbers[order], probability[order], error[order])


def cluster_counts(person: NDArray[np.integer]) -> Counter[tuple[int, ...]]:
    """Count in how many draws each set of two or more records was one person; draws × records."""
    counts: Counter[tuple[int, ...]] = Counter()
    pairs: Counter[int] = Counter()
    own = np.arange(person.shape[1])
    for labels in person:
        linked = np.flatnonzero(labels != own)
        first = labels[linked].astype(np.int64)
        others = np.bincount(first, minlength=1)[first]
        pairs.update(((first[others == 1] << 32) | linked[others == 1]).tolist())
        groups: dict[int, list[int]] = {}
        for record in linked[others > 1]:
            groups.setdefault(int(labels[record]), []).append(int(record))
        counts.update((first, *rest) for first, rest in groups.items())
    counts.update({(key >> 32, key & 0xFFFFFFFF): count for key, count in pairs.items()})
    return counts
