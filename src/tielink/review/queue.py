"""What to ask next: the record whose answer is expected to settle most links.

An answer about record r is one of those shown, or none of them. Over the draws, its entropy H(answer) is what the
answer says about r itself, and the mutual information of the answer and every other pair that is in doubt is what it
says about others: rivals for the same partner, and neighbours whose links lean on this one. A question's value is
their sum, in bits. Mutual information that chance alone would give counts as none.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri

from tielink.data.answers import Settled
from tielink.data.records import Record
from tielink.data.scores import pair_keys
from tielink.posterior.convergence import effective_draws
from tielink.posterior.given import moving_pairs
from tielink.posterior.posterior import Posterior
from tielink.report.result import DOUBT

__all__ = ["OPTIONS", "Question", "askable", "queue", "settled_pairs"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

OPTIONS = 5
"""Records shown beside the one that is asked about."""
LEAST = 0.01
"""Records less likely than this are not shown; what is surer than 1 minus this is not asked."""
MOST_PAIRS, MOST_VALUED = 2000, 200
"""Pairs in doubt that values are about; records whose questions are valued, those least sure of their partner."""
CHANCE = 0.001
"""The share of unrelated pairs that are taken for related."""


@dataclass(frozen=True)
class Question:
    """A relative question: which of these is it, or none."""

    record: Record
    shown: tuple[Record, ...]
    """The likeliest first."""
    numbers: tuple[int, ...]
    """The record numbers of the record and of those shown."""
    probability: tuple[float, ...]
    """Of each that is shown, and of none of them."""
    value: float
    """How much the answer is expected to say, in bits."""
    others: float
    """How much of that is about other pairs."""


def settled_pairs(before: Posterior, after: Posterior) -> Codes:
    """Return the pairs of record numbers that were in doubt before and are not after."""
    first, second = (posterior.pair_probabilities for posterior in (before, after))
    doubted, still = (
        found.pairs[(found.probability > DOUBT[0]) & (found.probability < DOUBT[1])] for found in (first, second)
    )
    return doubted[~np.isin(pair_keys(doubted), pair_keys(still))]


def askable(posterior: Posterior, asked: Codes | None = None, options: int = OPTIONS) -> dict[int, Codes]:
    """Return every record that can be asked about, with the records to show, the likeliest first.

    Pairs in `asked` have been shown before and are not shown again.
    """
    found = posterior.pair_probabilities
    known = [posterior.anchors, posterior.nonmatches, *([] if asked is None else [asked])]
    likely = found.probability >= LEAST
    open_to = likely & ~np.isin(pair_keys(found.pairs), pair_keys(np.concatenate(known)))
    pairs, chance = found.pairs[open_to], found.probability[open_to]
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    chances = np.tile(chance, 2)
    order = np.lexsort((ends[:, 1], -chances, ends[:, 0]))
    ends, chances = ends[order], chances[order]
    records, begin = np.unique(ends[:, 0], return_index=True)
    parts = zip(records, np.split(ends[:, 1], begin[1:]), np.split(chances, begin[1:]), strict=True)
    return {int(record): others[:options] for record, others, p in parts if p[0] <= 1 - LEAST} if len(ends) else {}


def queue(
    posterior: Posterior,
    answers: Any = (),
    *,
    most: int = 20,
    options: int = OPTIONS,
    among: Iterable[int] | None = None,
    asked: Codes | None = None,
) -> list[Question]:
    """Return what to ask a person, the question that is expected to settle most first.

    Parameters
    ----------
    posterior
        What is believed; with earlier `answers`, `posterior.given(answers)` takes its place, and no pair that was shown
        is shown again.
    answers
        As `Posterior.given` takes them.
    most, options
        How many questions at most; how many records are shown with each.
    among
        The record numbers that may be asked about; by default all.
    asked
        Pairs of record numbers that were shown before, besides those in `answers`.

    Returns
    -------
    list of Question

    Examples
    --------
    >>> import polars as pl, tielink as tl
    >>> left = pl.DataFrame({"id": [1, 2], "name": ["anna", "bob"]})
    >>> right = pl.DataFrame({"id": [7, 8], "name": ["anna", "ana"]})
    >>> data = tl.Dataset.from_frames({"left": left, "right": right}, fields={"name": tl.String()})
    >>> posterior = tl.sample(tl.Model(), data, chains=2, warmup=50, draws=50, workers=0)
    >>> len(tl.review.queue(posterior)[0].shown) <= 5
    True
    """
    if not isinstance(answers, tuple) or answers:
        settled = Settled.by(posterior.records, answers, posterior.allowed)
        posterior = posterior.given(settled)
        shown = [(answer.record, other) for answer in settled.answers for other in answer.shown]
        pairs = [[posterior.records.number(record, written=True) for record in pair] for pair in shown]
        asked = np.array(pairs, dtype=np.int64).reshape(-1, 2) if asked is None else asked
    wanted = None if among is None else set(among)
    choices = {
        record: others
        for record, others in askable(posterior, asked, options).items()
        if wanted is None or record in wanted
    }
    return _Values(posterior).ranked(choices)[:most]


class _Values:
    """What answers would say, over the draws."""

    def __init__(self, posterior: Posterior) -> None:
        self.posterior = posterior
        self.person = posterior.person.reshape(-1, len(posterior.records))
        found = posterior.pair_probabilities
        self.pairs, linked = moving_pairs(self.person, found, (LEAST, 1 - LEAST), MOST_PAIRS)
        self.linked = linked.astype(np.float32)
        """Pairs × draws."""
        self.entropy = _entropy(self.linked.mean(axis=1))

    def outcomes(self, record: int, others: Codes) -> NDArray[np.float32]:
        """Return which answer each draw would give: draws × (those shown, and none)."""
        same = self.person[:, others] == self.person[:, [record]]
        first = same & (np.cumsum(same, axis=1) == 1)
        return np.column_stack([first, ~same.any(axis=1)]).astype(np.float32)

    def ranked(self, choices: dict[int, Codes]) -> list[Question]:
        """Return the questions, the most valuable first."""
        outcomes = {record: self.outcomes(record, others) for record, others in choices.items()}
        own = {record: _answer_entropy(given.mean(axis=0)) for record, given in outcomes.items()}
        first = sorted(choices, key=lambda record: -own[record])[:MOST_VALUED]
        questions = []
        for record in first:
            more = self._about_others(record, outcomes[record])
            name = self.posterior.records
            questions.append(
                Question(
                    name[record],
                    tuple(name[int(other)] for other in choices[record]),
                    (record, *map(int, choices[record])),
                    tuple(float(p) for p in outcomes[record].mean(axis=0)),
                    own[record] + more,
                    more,
                )
            )
        return sorted(questions, key=lambda question: -question.value)

    def _about_others(self, record: int, given: NDArray[np.float32]) -> float:
        """Return the mutual information of the answer with all pairs of other records, as far as it is no chance."""
        given = given[:, given.any(axis=0)]
        freedom = given.shape[1] - 1
        if not freedom or not len(self.pairs):
            return 0.0
        total = given.sum(axis=0)
        left = _entropy((self.linked @ given) / total) @ (total / len(given))
        information = np.maximum(self.entropy - left, 0.0)
        series = given[:, 0].reshape(self.posterior.chains, -1)
        effective = effective_draws(series, rank_normalise=False)
        worth = effective if np.isfinite(effective) else float(len(given))
        # 2 n ln 2 times the information between unrelated quantities is chi-squared.
        beyond = information * 2 * worth * np.log(2) > chdtri(freedom, CHANCE)
        beyond &= (self.pairs != record).all(axis=1)
        return float(np.maximum(information - freedom / (2 * worth * np.log(2)), 0.0)[beyond].sum())


def _entropy(chance: NDArray[Any]) -> Floats:
    """Return the entropy of yes and no, in bits."""
    p = np.clip(np.asarray(chance, dtype=float), 1e-12, 1 - 1e-12)
    return np.asarray(-(p * np.log2(p) + (1 - p) * np.log2(1 - p)))


def _answer_entropy(chance: NDArray[Any]) -> float:
    p = np.asarray(chance, dtype=float)
    p = p[p > 0]
    return float(-(p * np.log2(p)).sum())
