"""Links under Sadinle's loss, and the pairs that a person should look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tielink.data.linkage import Linkage
from tielink.data.records import record_name
from tielink.data.scores import PairScores, pair_keys
from tielink.estimation.candidates import Candidates
from tielink.estimation.losses import Sadinle
from tielink.faults import listed, refuse
from tielink.matching import best_matching

__all__ = ["Decision", "sadinle"]

WORTH_A_LOOK = 0.05
"""Of an undecided record the likeliest pair is listed, and every other one of at least this probability."""


@dataclass(frozen=True, eq=False)
class Decision:
    """The links that are decided, and the pairs that are left to a person."""

    linkage: Linkage
    review: PairScores
    """The pairs of undecided records."""

    @property
    def undecided(self) -> Any:
        """The pairs to look at: `file_a, id_a, file_b, id_b, probability`, the likeliest first."""
        return self.review.frame()

    def __repr__(self) -> str:
        records = len(np.unique(self.review.pairs[:, 1]))
        return f"Decision({self.linkage!r}; undecided: {records:,} records, {len(self.review.pairs):,} pairs)"


def sadinle(found: Candidates, loss: Sadinle) -> Decision:
    """Minimise the expected loss over one-to-one linkages in which records of the second file may be undecided.

    With p₀ = 1 − Σ_i p_ij, record j costs λ₁₀(1 − p₀) alone, λ_R undecided, λ₀₁p₀ + λ₁₁'(1 − p₀ − p_ij) linked to i.
    What the link saves over the better of the first two is the weight of a maximum-weight matching.
    """
    pairs, p = found.scores.pairs, found.scores.values
    total = _match_probability(found)
    second = pairs[:, 1]
    alone = loss.false_nonmatch * total
    without = np.minimum(alone, loss.undecided)
    linked = loss.false_match * (1 - total[second]) + loss.wrong_match * (total[second] - p)
    settled = np.zeros(len(found.records), dtype=bool)
    settled[found.together.ravel()] = True
    barred = settled[pairs].any(axis=1) | np.isin(pair_keys(pairs), pair_keys(found.apart))
    weight = np.where(barred, -1.0, without[second] - linked)
    chosen = best_matching(pairs, weight, found.records.file_of)
    links = np.concatenate([found.together, pairs[chosen]])
    unlinked = np.ones(len(found.records), dtype=bool)
    unlinked[links[:, 1]] = False
    undecided = unlinked & (alone > loss.undecided)
    best = np.zeros(len(found.records))
    np.maximum.at(best, second, np.where(barred, 0.0, p))
    look = undecided[second] & ~barred & ((p >= WORTH_A_LOOK) | (p == best[second]))
    return Decision(found.linkage(links), found.scores.only(np.flatnonzero(look)))


def _match_probability(found: Candidates) -> np.ndarray:
    """Return 1 − p₀ of every record of the second file; refuse what cannot be one-to-one probabilities."""
    records, scores = found.records, found.scores
    if len(records.files) != 2:
        refuse("Sadinle", f"the loss is for two files; here are {len(records.files)}.", "Use Binder(...).")
    total = np.bincount(scores.pairs[:, 1], scores.values, minlength=len(records))
    wrong = np.flatnonzero(total > 1 + 1e-9)
    if len(wrong):
        named = listed([record_name(records[int(number)]) for number in wrong])
        refuse(
            "Sadinle",
            f"the probabilities of {named} add up to more than 1 ({total[wrong[0]]:.3f} for the first).",
            "The loss needs one-to-one probabilities; use Binder(...) or one_to_one(...) for a table without them.",
        )
    return np.minimum(total, 1.0)
