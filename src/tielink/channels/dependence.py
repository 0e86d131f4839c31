"""Fields whose true values depend on each other: which ones, found from the files, and how frequent pairs are.

The true values of two fields that a tree joins have the joint distribution

    p(u, v) = q(u, v) + [p(u) − q(u)]·[p(v) − q(v)] / (1 − w),        q(u, v) = max(o(u, v) − D, 0)/n,

with o(u, v) how often others have both values (see `counts`), D the discount, q(u) and q(v) the sums of q and w its
total: with probability w a pair as it was seen, else each value by itself. So p(u) and p(v) stay what they are in the
fields alone, and p(v | u) is shrunk towards v by itself the more, the less is known of u.

Edges are those of the largest spanning forest (Chow and Liu 1968) by how much likelier a record's two values are under
the joint distribution than under independence, each record set aside from the counts: mutual information, corrected for
chance. Who is whom is not asked. Records of one file are different persons where a file holds none twice; where it may,
records that agree in most fields count once.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Channel, Codes, Floats
from tielink.channels.counts import discount, largest_count, others_count
from tielink.data.columns import MISSING

__all__ = ["Cells", "Edge", "cells", "different_records", "learn_edges"]

LEAST_GAIN = 0.05
"""Fields are joined if that makes a record's two values at least e^this as likely, in the geometric mean."""
STANDARD_ERRORS = 4.0
"""And if this mean is so many standard errors above 0."""
LEAST_RECORDS = 50
"""Fewer records with both values tell nothing."""
MOST_RECORDS = 200_000
"""Records that gains are computed from."""
ALIKE = 2 / 3
"""Records of a file that may hold somebody twice count once if they agree in this share of the fields."""
MOST_ALIKE = 50
"""Records that agree in two fields are compared with so many of those next to them."""
KEPT = 0.999
"""At most this share of a value's probability is that of pairs as they were seen, so that nothing is impossible."""

Edge = tuple[int, int]


class Cells(NamedTuple):
    """q(u, v) of the pairs of values for which it is not 0, sorted by u, then v."""

    first: Codes
    second: Codes
    weight: Floats


def learn_edges(columns: Codes, kept: Codes, file_of: Codes, forbidden: Sequence[Edge] = ()) -> list[Edge]:
    """Return the edges of the forest, the strongest first, from the records `kept` (rows) in each field (columns)."""
    some, fields = kept[:: 1 + len(kept) // MOST_RECORDS], columns.shape[1]
    pairs = combinations(range(fields), 2)
    gains = {(a, b): _gain(columns[some, a], columns[some, b], file_of[some]) for a, b in pairs}
    tree, chosen = list(range(fields)), []
    for edge in sorted(gains, key=lambda pair: -gains[pair]):
        a, b = (tree[end] for end in edge)
        if gains[edge] > 0 and a != b and edge not in forbidden and edge[::-1] not in forbidden:
            tree = [a if one == b else one for one in tree]
            chosen.append(edge)
    return chosen


def _gain(one: Codes, two: Codes, file_of: Codes) -> float:
    """Return the mean log p(u, v)/p(u)p(v) over records, each set aside; 0 if that is too little to tell."""
    logs = []
    for file in np.unique(file_of):
        here = (file_of == file) & (one != MISSING) & (two != MISSING)
        if here.sum() > 1:
            logs.append(_set_aside(one[here], two[here]))
    found = np.concatenate(logs) if logs else np.zeros(0)
    if len(found) < LEAST_RECORDS:
        return 0.0
    mean, error = float(found.mean()), float(found.std() / np.sqrt(len(found)))
    return mean if mean > max(LEAST_GAIN, STANDARD_ERRORS * error) else 0.0


def _set_aside(one: Codes, two: Codes) -> Floats:
    """Return log p(u, v)/p(u)p(v) of each record of a file, by the counts of the others."""
    (_, u, of_u), (_, v, of_v) = (np.unique(codes, return_inverse=True, return_counts=True) for codes in (one, two))
    _, cell, of_cell = np.unique(u * len(of_v) + v, return_inverse=True, return_counts=True)
    off, n = discount(of_cell), float(len(one))
    own = np.maximum(of_cell - off, 0.0)
    q_u, q_v = (np.bincount(place, (own / of_cell)[cell], minlength=len(c)) for place, c in ((u, of_u), (v, of_v)))
    less = np.maximum(of_cell - 1 - off, 0.0)
    change = (own - less)[cell]
    p_u, p_v = np.maximum(of_u[u] - 1.0, 0.5), np.maximum(of_v[v] - 1.0, 0.5)
    rest_u, rest_v = (np.maximum(p - (q - change), (1 - KEPT) * p) for p, q in ((p_u, q_u[u]), (p_v, q_v[v])))
    left = max(n - own.sum(), (1 - KEPT) * n)
    return np.asarray(np.log((less[cell] + rest_u * rest_v / left) * n / (p_u * p_v)))


def cells(one: Channel, two: Channel, kept: Codes, file_of: Codes) -> Cells:
    """Return q of two fields, from the records `kept`."""
    known = kept[(one.codes[kept] != MISSING) & (two.codes[kept] != MISSING)]
    keys, cell = np.unique(one.codes[known] * two.levels + two.codes[known], return_inverse=True)
    by_file = np.array([np.bincount(cell[file_of[known] == file], minlength=len(keys)) for file in np.unique(file_of)])
    counts, others = largest_count(by_file.astype(float)), others_count(by_file.astype(float))
    weight = np.maximum(others - discount(counts), 0.0) / max(counts.sum(), 1.0)
    first, second = np.divmod(keys[weight > 0], two.levels)
    weight = weight[weight > 0]
    limits = np.ones(len(weight))
    for channel, codes in ((one, first), (two, second)):
        prior = channel.code_probability()
        assert prior is not None
        total = np.bincount(codes, weight, minlength=channel.levels)[codes]
        limits = np.minimum(limits, KEPT * prior[codes] / total)
    weight = weight * limits
    return Cells(first, second, weight * min(1.0, KEPT / max(float(weight.sum()), 1e-300)))


def different_records(codes: Codes, within: bool) -> Codes:
    """Return the records (rows) to count; where a file may hold somebody twice, one of those alike in most fields."""
    everyone = np.arange(len(codes))
    if not within:
        return everyone
    twin: NDArray[np.bool_] = np.zeros(len(codes), dtype=bool)
    for one, two in combinations(range(codes.shape[1]), 2):
        known = np.flatnonzero((codes[:, one] != MISSING) & (codes[:, two] != MISSING))
        order = known[np.lexsort((known, codes[known, two], codes[known, one]))]
        for step in range(1, MOST_ALIKE):
            earlier, later = order[:-step], order[step:]
            same = (codes[earlier, one] == codes[later, one]) & (codes[earlier, two] == codes[later, two])
            if not same.any():
                break
            earlier, later = earlier[same], later[same]
            both = (codes[earlier] != MISSING) & (codes[later] != MISSING)
            agree = both & (codes[earlier] == codes[later])
            twin[later[agree.sum(axis=1) >= ALIKE * both.sum(axis=1)]] = True
    return everyone[~twin]
