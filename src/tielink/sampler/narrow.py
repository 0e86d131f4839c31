"""Which candidates are still worth a look once a chain has settled.

Lists are wide at first, since rates, parameters and ties are not known yet. In warm-up it turns out that most records
have a partner that nobody else comes near, and that most candidates are hopeless. What leaves the lists can still be
linked, by moves off the lists.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit
from tielink.sampler.candidates import DOUBT
from tielink.sampler.data import Data
from tielink.sampler.partition import Clusters, join_gains
from tielink.sampler.ties import pair_gain

__all__ = ["worth_a_look"]


def worth_a_look(state: Clusters, data: Data, pairs: NDArray[np.int64]) -> NDArray[np.bool_]:
    """
    Tell which of the listed pairs to keep, where persons have at most two records.

    Those are the pairs that are linked, and all others but those with log odds below −`DOUBT` even if the partners that
    their records now have would take the best of their other candidates instead. Those known to be matched have no
    other.
    """
    weight, linked = _weights(state, data, pairs), state.label[pairs[:, 0]] == state.label[pairs[:, 1]]
    other, loss = np.zeros((2, len(state.label)))
    for side in (0, 1):
        np.maximum.at(other, pairs[~linked, side], weight[~linked])
    for one, partner in (pairs[linked].T, pairs[linked, ::-1].T):
        loss[one] = np.maximum(weight[linked] - other[partner], 0.0)
    loss[np.diff(data.rules.unit_begin)[data.rules.unit_of] > 1] = np.inf
    return np.asarray(linked | (weight - loss[pairs].sum(axis=1) >= -DOUBT))


@njit
def _weights(state, data, pairs):
    """The log odds of a link of each listed pair against both alone, all others as they are."""
    weight, gains = np.empty(len(pairs)), np.empty(data.rules.file_size.size)
    join_gains(state, data.rules, gains)
    for p in range(len(pairs)):
        weight[p] = gains[0] + data.lists.value[p]
        if data.ties.power[0] > 0.0:
            a, b = pairs[p, 0], pairs[p, 1]
            of_ties = pair_gain(state, data.rules, data.ties, a, b, state.label[a], state.label[b])
            weight[p] += data.ties.power[0] * of_ties
    return weight
