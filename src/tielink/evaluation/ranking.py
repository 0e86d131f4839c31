"""Average precision and the precision–recall curve: whether true pairs come first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.frames import to_frame
from tielink.data.scores import PairScores, pair_keys
from tielink.evaluation.units import Units
from tielink.posterior.score import Score, share

__all__ = ["Ranking", "ranking"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """What is found when pairs are taken from the top of a list."""

    average_precision: Score
    hits: Score
    """Hits@1: the share of matches whose partner scores best among the pairs of the first of their two records; k equal
    best ones count 1/k."""
    threshold: Floats
    recall: Floats
    precision: Floats
    frame_kind: str = "polars"

    def curve(self) -> Any:
        """Return the precision–recall curve as a frame: `threshold, recall, precision`."""
        columns = {name: getattr(self, name).tolist() for name in ("threshold", "recall", "precision")}
        return to_frame(columns, self.frame_kind)


def ranking(scores: PairScores, true: NDArray[np.bool_], matches: NDArray[np.int64], units: Units) -> Ranking:
    """Rank pairs by score; pairs of equal score come together.

    Average precision = Σ_g (R_g − R_{g−1})·P_g over groups of equal score, R and P recall and precision down to g. A
    true pair without a score is never found.

    Parameters
    ----------
    scores, true
        The pairs, and which of them are true.
    matches
        Every true pair, with a score or not.
    """
    order = np.argsort(-scores.values, kind="stable")
    values, true = scores.values[order], true[order]
    unit, every = units.of_pairs(scores.pairs[order]), units.of_pairs(matches)
    ends = np.flatnonzero(np.append(values[1:] != values[:-1], len(values) > 0)) if len(values) else np.array([], int)

    def found(weights: Floats) -> tuple[Floats, Floats, float]:
        taken = np.cumsum(weights[unit])[ends]
        right = np.cumsum(weights[unit] * true)[ends]
        return right, np.divide(right, taken, out=np.zeros_like(right), where=taken > 0), float(weights[every].sum())

    def average(weights: Floats) -> float:
        right, precision, there = found(weights)
        return float((np.diff(right, prepend=0.0) * precision).sum() / there) if there > 0 else np.nan

    right, precision, there = found(units.weights[0])
    recall = right / there if there > 0 else np.full(len(ends), np.nan)
    return Ranking(
        units.scored(average), _hits(scores, matches, units), values[ends], recall, precision, scores.frame_kind
    )


def _hits(scores: PairScores, matches: NDArray[np.int64], units: Units) -> Score:
    """Return hits@1; a match without a score is a miss."""
    size = len(scores.records)
    first, best, times = scores.pairs[:, 0], np.full(size, -np.inf), np.zeros(size)
    np.maximum.at(best, first, scores.values)
    top = scores.values == best[first]
    np.add.at(times, first[top], 1.0)
    won = np.isin(pair_keys(matches), pair_keys(scores.pairs[top])) / np.maximum(times[matches[:, 0]], 1.0)
    unit = units.of_pairs(matches)
    return units.score(share(units.total(unit, won), units.total(unit)))
