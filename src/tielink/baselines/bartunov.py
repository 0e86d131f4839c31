"""BARTUNOV: project the first network into the second so that who is tied stays near (Bartunov et al. 2012)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from tielink.baselines.anchor_neighbours import rarity
from tielink.baselines.answer import answer, barred, check_two_files, networks
from tielink.baselines.profiles import NEUTRAL, close_profiles, profile_distance
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage
from tielink.matching import best_matching

__all__ = ["Similarity", "bartunov"]

ALONE = -1
ROUNDS = 50
PATIENCE = 3
"""Rounds that may pass without less energy before the solver stops."""
BLOCK = 1000


class Similarity:
    """1 − Ω, the likeness of two records of one network by whom they know.

    Ω(b, b') = 1 − 2·w(L_b ∩ L_b')/(w(L_b) + w(L_b')), L_b the neighbours of b, w(L) = Σ_{z∈L} 1/log(degree of z).
    """

    def __init__(self, network: csr_array) -> None:
        self.network = network
        self.weighted = csr_array(network * rarity(np.asarray(network.sum(axis=1))))
        self.total = np.asarray(self.weighted.sum(axis=1))

    def rows(self, records: NDArray[np.int64]) -> csr_array:
        """Return the likeness of these records to all; that of a record to itself is 0."""
        common = coo_array(self.weighted[records] @ self.network)
        row, column = common.coords
        values = 2 * common.data / (self.total[records][row] + self.total[column])
        values[records[row] == column] = 0.0
        return csr_array((values, (row, column)), shape=common.shape)

    def halfway(self) -> float:
        """Return the mean of two means: the likeness of tied pairs, and of pairs that are not tied."""
        size = self.network.shape[0]
        everything = tied = 0.0
        for start in range(0, size, BLOCK):
            records = np.arange(start, min(start + BLOCK, size))
            rows = self.rows(records)
            everything += rows.sum()
            tied += rows.multiply(self.network[records]).sum()
        ties = self.network.sum()
        others = size * (size - 1) - ties
        return float((tied / max(ties, 1) + (everything - tied) / max(others, 1)) / 2)


@dataclass
class _Field:
    """The energy of a projection y: for each record of the first file a record of the second, or ALONE.

    E(y) = Σ_v Ψ(y_v) + Σ_{(v,u) tied} Ω(y_v, y_u). A record that is ALONE has the neutral cost: `NEUTRAL` for its
    profile and `1 − neutral` for each of its ties.
    """

    data: Dataset
    tied: csr_array
    likeness: Similarity
    neutral: float
    close: csr_array
    """Which pairs have profiles that are near: records of the first × records of the second file."""

    def gains(self, y: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Return the pairs (v, b) that save energy over v ALONE, everybody else staying, and how much."""
        placed = np.flatnonzero(y != ALONE)
        likeness = self.likeness.rows(y[placed]).toarray()
        edge = self.data.records.offsets[1]
        pairs, network = [np.empty((0, 2), dtype=np.int64)], [np.empty(0)]
        for start in range(0, edge, BLOCK):
            around = self.tied[start : start + BLOCK][:, placed]
            support = around @ likeness
            saved = support - self.neutral * np.asarray(around.sum(axis=1))[:, None]
            worth = (support > 0) | self.close[start : start + BLOCK].toarray()
            v, b = np.nonzero(worth & (saved > -NEUTRAL))
            pairs.append(np.column_stack([v + start, b + edge]))
            network.append(saved[v, b])
        every, gain = np.concatenate(pairs), np.concatenate(network)
        kept = ~barred(self.data, every)
        gain = gain[kept] + NEUTRAL - profile_distance(self.data, every[kept])
        return every[kept][gain > 0], gain[gain > 0]

    def energy(self, y: NDArray[np.int64]) -> float:
        """E(y), each tie counted once."""
        placed = np.flatnonzero(y != ALONE)
        inner = self.tied[placed][:, placed]
        rows = self.likeness.rows(y[placed])[:, y[placed]]
        inside = inner.sum() / 2
        outside = self.tied.sum() / 2 - inside
        ties = inside - inner.multiply(rows).sum() / 2 + (1 - self.neutral) * outside
        pairs = np.column_stack([placed, y[placed] + self.data.records.offsets[1]])
        return float(ties + profile_distance(self.data, pairs).sum() + NEUTRAL * (len(y) - len(placed)))


def bartunov(data: Dataset) -> ScoredLinkage:
    """Minimise the energy of a conditional random field by assignments, one after the other.

    Neighbour sets are those of the *projections*, in the second network. Each round finds the one-to-one assignment
    that saves most energy given the last round's; of all rounds the answer with the least energy is taken. Anchors are
    fixed; with neither anchors nor fields nobody is linked.

    The neutral cost is chosen without the truth: a tie to somebody unlinked costs Ω halfway between the mean over tied
    and the mean over other pairs of the second network, and an unlinked profile as much as strings a quarter apart. Ψ
    is the distance of profiles; without fields it is 0. The score of a link is the energy that it saves.

    Parameters
    ----------
    data
        Two files, both with a network.

    Returns
    -------
    ScoredLinkage
        The links; `.scores()` has the score of every pair that was considered.
    """
    check_two_files(data, "bartunov", network=True)
    edge = data.records.offsets[1]
    first, second = networks(data)
    likeness = Similarity(second)
    field = _Field(data, first, likeness, likeness.halfway(), close_profiles(data))
    start = np.full(edge, ALONE, dtype=np.int64)
    start[data.anchors.pair_numbers[:, 0]] = data.anchors.pair_numbers[:, 1] - edge
    best, least = start, field.energy(start)
    seen, y, waited = {start.tobytes()}, start, 0
    for _ in range(ROUNDS):
        pairs, gain = field.gains(y)
        chosen = pairs[best_matching(pairs, gain, data.records.file_of)]
        y = start.copy()
        y[chosen[:, 0]] = chosen[:, 1] - edge
        energy = field.energy(y)
        waited += 1
        if energy < least:
            best, least, waited = y, energy, 0
        if y.tobytes() in seen or waited == PATIENCE:
            break
        seen.add(y.tobytes())
    pairs, gain = field.gains(best)
    placed = np.flatnonzero((best != ALONE) & (start == ALONE))
    return answer(data, np.column_stack([placed, best[placed] + edge]), pairs, gain)
