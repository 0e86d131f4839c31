"""From draws of linkages to probabilities of pairs and of clusters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.scores import pair_keys

__all__ = ["PairProbabilities", "averaged_pairs", "cluster_counts", "pair_probabilities", "undecided", "with_averages"]

Codes = NDArray[np.int64]

LEAST = 1e-4
"""Averages of conditional probabilities below this are not kept."""


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


TOLERANCE = 0.05
"""The Monte Carlo error that a probability near one half may have."""


def undecided(found: PairProbabilities, threshold: float = 0.5) -> NDArray[np.bool_]:
    """Which pairs may still become links, or cease to be: within two errors of the threshold, errors that are large."""
    error = np.nan_to_num(found.error, nan=1.0)
    return np.asarray((error > TOLERANCE) & (np.abs(found.probability - threshold) < 2 * error))


def _error(sums: Sequence[NDArray[Any]], squares: NDArray[Any], batches: int) -> NDArray[np.float64]:
    """Return the Monte Carlo errors of means over B batches, from the sums of each chain and the sum of all squares.

    sd/√B over batches or over chains, whichever is larger: batches of a chain that stays where it is look alike.
    """
    total, chains = np.sum(sums, axis=0), len(sums)
    if batches < 2:
        return np.full(len(total), np.nan)
    variance = (squares - total**2 / batches) / (batches - 1) / batches
    if chains > 1:
        variance = np.maximum(variance, np.var([one * chains / batches for one in sums], axis=0, ddof=1) / chains)
    return np.asarray(np.sqrt(np.maximum(variance, 0.0)))


def pair_probabilities(person: NDArray[np.integer]) -> PairProbabilities:
    """Count pairs over chains × draws × records; errors by batch means, so that slow mixing shows in them.

    There are about √draws batches a chain. Links are gathered batch by batch: all draws of all links at once need not
    fit in memory.
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
    chain_of = np.repeat(np.arange(number) // (len(edges) - 1), [len(key) for key in keys])
    sums = [
        np.bincount(owner[chain_of == chain], shares[chain_of == chain], minlength=len(pairs))
        for chain in range(chains)
    ]
    error = _error(sums, np.bincount(owner, shares**2, minlength=len(pairs)), number)
    numbers = np.column_stack([pairs >> 32, pairs & 0xFFFFFFFF])
    order = np.lexsort((numbers[:, 1], numbers[:, 0], -probability))
    return PairProbabilities(numbers[order], probability[order], error[order])


def averaged_pairs(means: Sequence[tuple[Codes, NDArray[np.float64]]]) -> PairProbabilities:
    """Average conditional probabilities over chains: for each its pairs, and segments × pairs of means.

    A pair that is on one chain's list and not on another's has probability 0 there. Pairs below `LEAST` are left out.
    """
    keys, owner = np.unique(np.concatenate([pair_keys(pairs) for pairs, _ in means]), return_inverse=True)
    number = sum(len(values) for _, values in means)
    sums, squares, begin = np.zeros((len(means), len(keys))), np.zeros(len(keys)), 0
    for own, (pairs, values) in zip(sums, means, strict=True):
        place = owner[begin : begin + len(pairs)]
        own[place] = values.sum(axis=0)
        squares[place] += (values**2).sum(axis=0)
        begin += len(pairs)
    probability, error = np.minimum(sums.sum(axis=0) / number, 1.0), _error(list(sums), squares, number)
    kept = probability >= LEAST
    numbers = np.column_stack([keys >> 32, keys & 0xFFFFFFFF])[kept]
    return PairProbabilities(numbers, probability[kept], error[kept])


def with_averages(counted: PairProbabilities, averaged: PairProbabilities) -> PairProbabilities:
    """Return the averaged pairs, and of those that were counted the others."""
    other = ~np.isin(pair_keys(counted.pairs), pair_keys(averaged.pairs))
    pairs = np.concatenate([averaged.pairs, counted.pairs[other]])
    probability = np.append(averaged.probability, counted.probability[other])
    error = np.append(averaged.error, counted.error[other])
    order = np.lexsort((pairs[:, 1], pairs[:, 0], -probability))
    return PairProbabilities(pairs[order], probability[order], error[order])


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
