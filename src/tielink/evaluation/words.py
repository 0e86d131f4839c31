"""An evaluation in plain words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tielink.evaluation.calibration import Calibration
    from tielink.evaluation.evaluate import Evaluation
    from tielink.evaluation.rates import Rates

__all__ = ["in_words"]


def in_words(found: Evaluation) -> str:
    """Say what the scores mean; brackets hold 95 % intervals."""
    lines = []
    if found.anchors:
        lines.append(f"Leaving out {found.anchors:,} known match{'' if found.anchors == 1 else 'es'} (anchors):")
    lines += _rates(found.without_anchors)
    if found.anchors:
        counted = found.with_anchors
        lines.append(
            f"With anchors counted as found: recall {counted.recall}, precision {counted.precision}, F1 {counted.f1}."
        )
    if found.ranking is not None:
        lines.append(f"Average precision of the ranked pairs: {found.average_precision}.")
    if found.calibration is not None:
        lines += _calibration(found.calibration)
    lines += _persons(found)
    clusters = found.clusters
    lines.append(
        f"Clusters: B³ recall {clusters.b3_recall}, precision {clusters.b3_precision}, F1 {clusters.b3_f1}; "
        f"adjusted Rand index {clusters.ari}."
    )
    if found.draws is not None:
        recall, precision = found.draws.summary("recall"), found.draws.summary("precision")
        lines.append(f"Over the draws of the posterior: recall {recall}, precision {precision}.")
    return "\n".join(lines)


def _rates(rates: Rates) -> list[str]:
    return [
        f"{rates.correct:,} of {rates.matches:,} true links were found: recall {rates.recall}.",
        f"{rates.correct:,} of the {rates.links:,} links made are true: precision {rates.precision}.",
        f"F1 {rates.f1}.",
    ]


def _calibration(found: Calibration) -> list[str]:
    low, high = found.interval
    place = "inside" if found.inside else "outside"
    return [
        f"{found.pairs:,} pairs have a probability of at least .05. Expected are {found.expected:,.1f} true links "
        f"among them (95 % interval {low:,} to {high:,}); {found.observed:,} are true, {place} the interval.",
        f"Calibration error {found.ece}, Brier score {found.brier}.",
    ]


def _persons(found: Evaluation) -> list[str]:
    if found.posterior_persons is None:
        return [f"{found.persons:,} persons; in truth {found.true_persons:,}."]
    low, high = found.posterior_persons.interval
    place = "inside" if low <= found.true_persons <= high else "outside"
    return [
        f"The links make {found.persons:,} persons, the posterior {found.posterior_persons}; "
        f"in truth {found.true_persons:,}, {place} the interval."
    ]
