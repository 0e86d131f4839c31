"""`evaluate`: links, probabilities and draws against a truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.frames import to_frame
from tielink.data.linkage import Linkage, pair_records
from tielink.data.records import Records
from tielink.data.scores import PairScores, ScoredLinkage, pair_keys
from tielink.estimation.estimate import estimate
from tielink.estimation.sadinle import Decision
from tielink.evaluation.calibration import Calibration, calibration
from tielink.evaluation.ranking import Ranking, ranking
from tielink.evaluation.rates import ClusterScores, Rates, cluster_scores, rates
from tielink.evaluation.units import Units
from tielink.evaluation.words import in_words
from tielink.faults import Faults, refuse
from tielink.posterior.draw_scores import DrawScores, draw_scores
from tielink.posterior.posterior import Persons, Posterior
from tielink.posterior.score import Score
from tielink.specification import is_whole

__all__ = ["Evaluation", "evaluate"]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Scores with 95 % intervals: numbers, `table()`, and `print` for plain words."""

    without_anchors: Rates
    """Anchors, known beforehand, count neither as links nor as matches."""
    with_anchors: Rates
    anchors: int
    clusters: ClusterScores
    persons: int
    """N of the links."""
    true_persons: int
    posterior_persons: Persons | None = None
    """E[N] and its interval, with a posterior."""
    ranking: Ranking | None = None
    calibration: Calibration | None = None
    draws: DrawScores | None = None
    frame_kind: str = "polars"

    @property
    def recall(self) -> Score:
        """Share of the matches that were found, anchors left out."""
        return self.without_anchors.recall

    @property
    def precision(self) -> Score:
        """Share of the links that are matches, anchors left out."""
        return self.without_anchors.precision

    @property
    def f1(self) -> Score:
        """Harmonic mean of recall and precision, anchors left out."""
        return self.without_anchors.f1

    @property
    def average_precision(self) -> Score:
        """Average precision over pairs, anchors left out; undefined without probabilities or scores."""
        return Score(np.nan) if self.ranking is None else self.ranking.average_precision

    def scores(self) -> dict[str, Score]:
        """Return every score by its name."""
        named = {name: getattr(self, name) for name in ("recall", "precision", "f1")}
        if self.anchors:
            named |= {f"{name}, anchors counted": getattr(self.with_anchors, name) for name in named}
        if self.ranking is not None:
            named["average precision"] = self.average_precision
        named |= {
            "B³ recall": self.clusters.b3_recall,
            "B³ precision": self.clusters.b3_precision,
            "B³ f1": self.clusters.b3_f1,
            "adjusted Rand index": self.clusters.ari,
        }
        if self.calibration is not None:
            low, high = self.calibration.interval
            named["calibration error"] = self.calibration.ece
            named["Brier score"] = self.calibration.brier
            named["true links among pairs with p ≥ .05, predicted"] = Score(self.calibration.expected, low, high)
            named["true links among pairs with p ≥ .05, observed"] = Score(self.calibration.observed)
        if self.draws is not None:
            named |= {f"{name} over draws": self.draws.summary(name) for name in ("recall", "precision", "f1")}
        named["persons"] = Score(self.persons)
        if self.posterior_persons is not None:
            named["persons, posterior"] = Score(self.posterior_persons.mean, *self.posterior_persons.interval)
        named["persons, truth"] = Score(self.true_persons)
        return named

    def table(self) -> Any:
        """Return every score as a frame: `score, value, low, high`; null where not defined."""

        def cells(values: list[float]) -> list[float | None]:
            return [None if np.isnan(value) else float(value) for value in values]

        named = self.scores()
        columns = {
            "score": list(named),
            "value": cells(list(named.values())),
            "low": cells([score.low for score in named.values()]),
            "high": cells([score.high for score in named.values()]),
        }
        return to_frame(columns, self.frame_kind)

    def __str__(self) -> str:
        return in_words(self)


def evaluate(
    links: Linkage | Decision | Posterior,
    truth: Linkage | Any,
    *,
    anchors: Linkage | Any = None,
    probabilities: Posterior | PairScores | Any = None,
    resamples: int = 500,
    seed: int = 0,
) -> Evaluation:
    """Score links against a truth.

    Parameters
    ----------
    links
        A linkage: an estimate, a baseline's answer. Or a posterior, whose Binder estimate, probabilities and draws are
        scored; or a decision with undecided pairs, which count as not linked.
    truth
        The true linkage, or its pairs as `Linkage.from_pairs` takes them.
    anchors
        The matches that were known beforehand, `data.anchors`. By default those of the posterior, or none.
    probabilities
        A posterior, or a table of pair probabilities, to score beside the links: average precision, calibration. By
        default what the links bring along: a posterior its probabilities, a baseline its scores.
    resamples, seed
        Bootstrap resamples of true persons for the 95 % intervals; the same seed gives the same intervals.

    Returns
    -------
    Evaluation
        `recall`, `precision`, `f1` without anchors, each with a bootstrap interval; `print` for all in words.

    Examples
    --------
    >>> records = Records({"left": [1, 2, 3], "right": [1, 2, 3]})
    >>> truth = Linkage.from_pairs(records, [(1, 1), (2, 2)])
    >>> result = evaluate(Linkage.from_pairs(records, [(1, 1), (3, 3)]), truth)
    >>> float(result.recall), float(result.precision)
    (0.5, 0.5)
    """
    if probabilities is None:
        probabilities = links if isinstance(links, Posterior) else getattr(links, "pair_scores", None)
    posterior = probabilities if isinstance(probabilities, Posterior) else None
    if anchors is None and posterior is not None:
        anchors = posterior.anchors
    answer = _answer(links)
    truth, known = _checked(answer, truth, anchors, probabilities, resamples)
    units = Units(truth.labels, resamples, seed)
    scores = _scores(probabilities, truth.records, known)
    true = None if scores is None else np.isin(pair_keys(scores.pairs), pair_keys(truth.pair_numbers))
    matches = truth.pair_numbers[~np.isin(pair_keys(truth.pair_numbers), pair_keys(known))]
    return Evaluation(
        without_anchors=rates(answer, truth, units, known),
        with_anchors=rates(answer, truth, units),
        anchors=len(known),
        clusters=cluster_scores(answer, truth, units),
        persons=answer.persons,
        true_persons=truth.persons,
        posterior_persons=None if posterior is None else posterior.persons(),
        ranking=None if scores is None or true is None else ranking(scores, true, matches, units),
        calibration=calibration(scores, true, units, posterior)
        if scores is not None and true is not None and scores.are_probabilities
        else None,
        draws=None
        if posterior is None
        else draw_scores(posterior.person.reshape(-1, len(posterior.records)), truth, known),
        frame_kind=answer._frame_kind,
    )


def _answer(links: Linkage | Decision | Posterior) -> Linkage:
    if isinstance(links, Posterior):
        return estimate(links)
    if isinstance(links, Decision):
        return links.linkage
    if not isinstance(links, Linkage):
        refuse("evaluate", f"links is a {type(links).__name__}.", "Give a Linkage or a Posterior.")
    return links


def _checked(
    answer: Linkage, truth: Any, anchors: Any, probabilities: Any, resamples: int
) -> tuple[Linkage, NDArray[np.int64]]:
    """Check that all is about the same records; return the truth and the anchor pairs."""
    faults = Faults()
    if not is_whole(resamples, least=0, most=1_000_000):
        faults.error("evaluate", f"resamples is {resamples!r}.", "Give a whole number from 0 to 1,000,000.")
    true = truth if isinstance(truth, Linkage) else Linkage.from_pairs(answer.records, truth)
    for name, other in (("truth", true), ("anchors", anchors), ("probabilities", probabilities)):
        records = getattr(other, "records", None)
        if isinstance(records, Records) and records != answer.records:
            faults.error("evaluate", f"the {name} and the links are about different records.", "Use one data set.")
    faults.raise_errors()
    if isinstance(anchors, np.ndarray):
        return true, np.sort(anchors.reshape(-1, 2), axis=1)
    return true, pair_records(answer.records, () if anchors is None else anchors, "anchors")


def _scores(probabilities: Any, records: Records, known: NDArray[np.int64]) -> PairScores | None:
    """Return the scores of all pairs that are not anchors."""
    if probabilities is None:
        return None
    if isinstance(probabilities, Posterior):
        found = probabilities.pair_probabilities
        scores = PairScores(records, found.pairs, found.probability, frame_kind=probabilities.frame_kind)
    elif isinstance(probabilities, ScoredLinkage):
        scores = probabilities.pair_scores
    elif isinstance(probabilities, PairScores):
        scores = probabilities
    else:
        scores = PairScores.from_table(records, probabilities)
    return scores.only(np.flatnonzero(~np.isin(pair_keys(scores.pairs), pair_keys(known))))
