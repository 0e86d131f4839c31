"""Link records that know the same anchored persons."""

from __future__ import annotations

import numpy as np
from scipy.sparse import coo_array

from tielink.baselines.answer import answer, check_two_files, free_records, mutual_best, networks
from tielink.baselines.degree_rank import ranks
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage

__all__ = ["anchor_neighbours", "rarity"]

TIE_BREAK = 1e-6
"""What degree ranks add to a similarity, at most: they choose among equal ones and change no other order."""


def rarity(degree: np.ndarray) -> np.ndarray:
    """Return Adamic and Adar's weight 1/log(degree), degrees below 2 taken as 2.

    >>> rarity(np.array([0, 2, 8])).round(2).tolist()
    [1.44, 1.44, 0.48]
    """
    return np.asarray(1 / np.log(np.maximum(degree, 2)))


def anchor_neighbours(data: Dataset) -> ScoredLinkage:
    """Link each other's most similar records by their anchored neighbours.

    With L_a the anchored persons that a is tied to and w(L) = Σ_{z∈L} 1/log(degree of z in both networks),

        similarity(a, b) = 2·w(L_a ∩ L_b) / (w(L_a) + w(L_b)).

    Equal similarities are told apart as `degree_rank` scores them. Without anchors nobody is linked.

    Parameters
    ----------
    data
        Two files, both with a network.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    check_two_files(data, "anchor_neighbours", network=True)
    edge = data.records.offsets[1]
    first, second = networks(data)
    anchors = data.anchors.pair_numbers
    degrees = [np.asarray(network.sum(axis=1)) for network in (first, second)]
    weight = rarity(degrees[0][anchors[:, 0]] + degrees[1][anchors[:, 1] - edge])
    near = first[:, anchors[:, 0]], second[:, anchors[:, 1] - edge]
    total = [np.asarray(side @ weight) for side in near]
    common = coo_array((near[0] * weight) @ near[1].T)
    a, b = common.coords
    pairs = np.column_stack([a, b + edge]).astype(np.int64)
    similarity = 2 * common.data / (total[0][a] + total[1][b])
    free = free_records(data)
    rank = [ranks(network, inside) for network, inside in ((first, free[:edge]), (second, free[edge:]))]
    values = similarity + TIE_BREAK / np.maximum(rank[0][a], rank[1][b])
    kept = free[pairs].all(axis=1)
    pairs, values = pairs[kept], values[kept]
    return answer(data, pairs[mutual_best(pairs, values, len(data.records))], pairs, values)
