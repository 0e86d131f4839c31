"""Candidates by ties: records that linked neighbours lead to."""

import math

import numpy as np

from tielink.kernels import njit
from tielink.sampler.partition import FREE
from tielink.sampler.ties import excess

BUSIEST = 300
"""Neighbours with more ties than this are not walked along: what they say is next to nothing."""
USUAL_SHARING = 0.6
"""The share of common ties at which candidates are compared."""


@njit
def reached_pairs(state, rules, ties, most):
    """For every record the `most` records that share most with it through linked neighbours; pairs of records."""
    records = rules.file_of.size
    score, touched = np.zeros(records), np.empty(records, dtype=np.int64)
    pairs, number = np.empty((records * most, 2), dtype=np.int64), 0
    for a in range(records):
        count = 0
        for t in range(ties.begin[a], ties.begin[a + 1]):
            i = ties.neighbour[t]
            slot = state.label[i]
            for m in range(state.size[slot]):
                j = state.member[slot, m]
                if j == i and rules.mode != FREE:
                    continue
                if ties.begin[j + 1] - ties.begin[j] > BUSIEST:
                    continue
                for u in range(ties.begin[j], ties.begin[j + 1]):
                    b = ties.neighbour[u]
                    if b == a or rules.unit_of[b] == rules.unit_of[a]:
                        continue
                    kappa = USUAL_SHARING * min(ties.theta[a], ties.theta[b]) * min(ties.theta[i], ties.theta[j])
                    if score[b] == 0.0:
                        touched[count] = b
                        count += 1
                    score[b] += math.log1p(ties.odds[t] * ties.odds[u] * excess(kappa))
        few = touched[:count]
        values = np.empty(count)
        for c in range(count):
            values[c] = -score[few[c]]
            score[few[c]] = 0.0
        order = np.argsort(values, kind="mergesort")
        for c in range(min(most, count)):
            b = few[order[c]]
            pairs[number, 0], pairs[number, 1] = min(a, b), max(a, b)
            number += 1
    return pairs[:number]
