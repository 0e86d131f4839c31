"""`explain`: a pair's log-odds, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.data.records import Record
from tielink.exact.compile import compile_target
from tielink.exact.target import Target
from tielink.explanation.contributions import (
    MOST_DRAWS,
    activity_weight,
    explained_draws,
    field_weights,
    prior_weight,
    tie_weights,
)
from tielink.faults import Fault, Faults, InputError
from tielink.model.problem import Problem
from tielink.posterior.posterior import Posterior

__all__ = ["REST", "Contribution", "Explanation", "explain", "explain_pairs"]

REST = "what does not factorise"
DETAILS = {
    "activity": "how well connected the two records are",
    "sociality": "records that have many or few ties wherever they stand",
    "correlated ties": "ties to other linked persons that both files have, or only one",
}


@dataclass(frozen=True)
class Contribution:
    """One part of the log-odds."""

    part: str
    log_odds: float
    detail: str


@dataclass(frozen=True, eq=False)
class Explanation:
    """What spoke for (above 0) and against (below 0) two records being one person.

    Prior, fields and ties are means over draws of the terms of the log-odds *given all else*. They add up to those log-
    odds exactly. The reported probability also knows rivals (a record has at most one partner), what the link would
    change elsewhere, and the uncertainty of everything given; that is the last part, so that all add up to what is
    reported. It is near 0 where the model factorises: a pair without rivals whose parameters are well known.
    """

    records: tuple[Record, Record]
    probability: float
    contributions: tuple[Contribution, ...]
    frame_kind: str = "polars"

    @property
    def log_odds(self) -> float:
        """The reported log-odds, the sum of all contributions."""
        return sum(entry.log_odds for entry in self.contributions)

    def table(self) -> Any:
        """Return a frame: `part, log_odds, detail`."""
        columns = {
            "part": [entry.part for entry in self.contributions],
            "log_odds": [entry.log_odds for entry in self.contributions],
            "detail": [entry.detail for entry in self.contributions],
        }
        return to_frame(columns, self.frame_kind)

    def __str__(self) -> str:
        (file_a, a), (file_b, b) = self.records
        width = max(len(entry.part) for entry in self.contributions) + 2
        lines = [f"{file_a}/{a} and {file_b}/{b}: one person with probability {self.probability:.3f}"]
        lines += [f"  {e.part:<{width}}{e.log_odds:>+8.2f}  {e.detail}" for e in self.contributions]
        lines.append(f"  {'log-odds':<{width}}{self.log_odds:>+8.2f}")
        return "\n".join(lines)

    def plot(self, axes: Any = None) -> Any:
        """Draw the contributions as a waterfall; return matplotlib axes."""
        import matplotlib.pyplot as plt

        parts = self.contributions
        height = 0.45 * (len(parts) + 2)
        axes = plt.subplots(figsize=(7, height), layout="constrained")[1] if axes is None else axes
        ends = np.cumsum([entry.log_odds for entry in parts])
        begins = np.concatenate([[0.0], ends[:-1]])
        for row, (entry, begin, end) in enumerate(zip(parts, begins, ends, strict=True)):
            colour = "tab:gray" if entry.part == REST else "tab:blue" if entry.log_odds >= 0 else "tab:red"
            axes.barh(row, end - begin, left=begin, color=colour, height=0.6)
            axes.annotate(
                f"{entry.log_odds:+.1f}", (max(begin, end), row), xytext=(4, 0), textcoords="offset points", va="center"
            )
            axes.plot([end, end], [row, row + 1], color="0.6", linewidth=0.8)
        axes.barh(len(parts), ends[-1], color="black", height=0.6)
        axes.annotate(
            f"{ends[-1]:+.1f}", (max(0.0, ends[-1]), len(parts)), xytext=(4, 0), textcoords="offset points", va="center"
        )
        axes.set_yticks(range(len(parts) + 1), [*(entry.part for entry in parts), "log-odds"])
        axes.invert_yaxis()
        axes.axvline(0, color="0.3", linewidth=0.8)
        axes.use_sticky_edges = False
        axes.margins(x=0.12)
        axes.set_xlabel("log-odds of being one person")
        axes.set_title(str(self).partition("\n")[0].replace(": ", ":\n", 1), fontsize=10)
        return axes


def explain(
    posterior: Posterior, left: Record, right: Record, data: Dataset | None = None, *, seed: int = 0
) -> Explanation:
    """Explain why two records are, or are not, said to be one person.

    Parameters
    ----------
    posterior
        A posterior of two files.
    left, right
        Two records as (file, id), of different files.
    data
        The data set; needed for a posterior that was loaded from a file.
    seed
        For the importance sampling of the part of the ties.
    """
    data = posterior.dataset if data is None else data
    pair = _pair(posterior, left, right, data)
    assert data is not None
    return explain_pairs(posterior, [pair], data, seed=seed)[0]


def explain_pairs(
    posterior: Posterior,
    pairs: Sequence[tuple[int, int]],
    data: Dataset,
    *,
    draws: int = MOST_DRAWS,
    seed: int = 0,
) -> list[Explanation]:
    """Explain many pairs of record numbers, each from about this many draws; what they share is computed once.

    Each pair has its own random numbers, so its explanation does not depend on which others are asked for.
    """
    if len(data.files) != 2:
        fault = Fault("explain", "evidence is taken apart for two files only.", "Link two at a time to see it.")
        raise InputError([fault])
    problem = Problem.compile(posterior.model, data)
    chosen = explained_draws(posterior, draws)
    target = None if posterior.network is None else compile_target(problem)[0]
    return [_explained(posterior, data, problem, target, chosen, pair, seed) for pair in pairs]


def _explained(
    posterior: Posterior,
    data: Dataset,
    problem: Problem,
    target: Target | None,
    draws: list[tuple[int, int]],
    pair: tuple[int, int],
    seed: int,
) -> Explanation:
    a, b = pair
    together = posterior.person[:, :, a] == posterior.person[:, :, b]
    share = float(together.mean())
    # A pair that was linked in all draws, or in none, is not certain: half a draw stands for what was not seen.
    least = 0.5 / together.size
    probability = float(np.clip(share, least, 1 - least))
    prior = float(np.mean([prior_weight(problem, posterior.person[chain, draw], pair) for chain, draw in draws]))
    parts = [Contribution("prior", prior, "log prior odds of one more link, given the others")]
    alphas = posterior.beyond.get("activity")
    if alphas is not None:
        active = [activity_weight(problem, posterior.person[at], pair, float(alphas[at])) for at in draws]
        parts.append(Contribution("activity", float(np.mean(active)), DETAILS["activity"]))
    weights = [dict(field_weights(problem, posterior, chain, draw, pair)) for chain, draw in draws]
    for name in posterior.fields:
        values = [_value(data, name, record) for record in pair]
        parts.append(Contribution(name, float(np.mean([w[name] for w in weights])), f"{values[0]} / {values[1]}"))
    for name, found in tie_weights(seed, problem, posterior, draws, pair, target).items():
        detail = _tie_detail(posterior, data, pair) if name == "ties" else DETAILS[name]
        parts.append(Contribution(name, float(found.mean()), detail))
    reported = float(np.log(probability) - np.log1p(-probability))
    rest = reported - sum(entry.log_odds for entry in parts)
    parts.append(Contribution(REST, rest, "rivals, and the uncertainty of all that was taken as given"))
    records = (posterior.records[a], posterior.records[b])
    return Explanation(records, share, tuple(parts), posterior.frame_kind)


def _pair(posterior: Posterior, left: Record, right: Record, data: Dataset | None) -> tuple[int, int]:
    """Check what was asked, and return the two record numbers, the first file's first."""
    faults = Faults()
    if len(posterior.records.files) != 2 or posterior.model.linkage.allowed == "free":
        faults.error("explain", "explanations are of pairs between two files.", "See posterior.clusters() instead.")
    if data is None:
        faults.error("explain", "the posterior was loaded without its data.", "Give them: explain(…, data=dataset).")
    elif data.records != posterior.records:
        faults.error("explain", "the data are not those of the posterior.", "Give the data set that was sampled.")
    numbers = []
    for record in (left, right):
        try:
            numbers.append(posterior.records.number(record))
        except KeyError as error:
            faults.error("explain", f"{error.args[0]}.")
    if len(numbers) == 2 and len(set(posterior.records.file_of[numbers].tolist())) < 2:
        faults.error("explain", "the two records are of one file.", "Give records of different files.")
    if len(numbers) == 2 and sorted(numbers) in posterior.anchors.tolist():
        faults.error("explain", "the two records are an anchor.", "It is given, so there is nothing to explain.")
    if faults.errors:
        raise InputError([Fault(fault.where, fault.what, fault.do) for fault in faults.errors])
    return min(numbers), max(numbers)


def _value(data: Dataset, name: str, record: int) -> str:
    column = data.columns[name]
    code = int(column.codes[record])
    return "missing" if code < 0 else column.values[code]


def _tie_detail(posterior: Posterior, data: Dataset, pair: tuple[int, int]) -> str:
    """Say how many neighbours of the two are probably one person with each other, and of how many."""
    edge = data.records.offsets[1]
    around = []
    for record, name, offset in zip(pair, data.files, (0, edge), strict=True):
        ties = data.ties[name]
        if ties is None:
            return "one file has no network"
        mine = ties[(ties == record - offset).any(axis=1)]
        around.append({int(end) + offset for tie in mine for end in tie if end != record - offset})
    found = posterior.pair_probabilities
    likely = found.pairs[found.probability > 0.5]
    shared = sum(int(a) in around[0] and int(b) in around[1] for a, b in likely)
    return f"{shared} neighbours in common (linked with p > ½), of {len(around[0])} and {len(around[1])} ties"
