"""`explain`: a pair's log-odds, part by part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.data.records import Record
from tielink.data.scores import pair_keys
from tielink.explanation.contributions import MOST_DRAWS, Weights, weigh
from tielink.explanation.neighbours import Row, degrees, neighbours_in_common, tie_rows
from tielink.faults import Fault, Faults, InputError
from tielink.model.problem import Problem
from tielink.posterior.posterior import Posterior

__all__ = ["REST", "TIES", "Contribution", "Explanation", "explain", "explain_pairs"]

Floats = NDArray[np.float64]

TIES = "ties"
REST = "what does not factorise"
TOGETHER = "{} together"
SHARED = "what they say twice"
SHARED_WORDS = "these fields tell each other: what they share counts once, and all may have changed at once"
LEAST = 1e-12
"""Averages of conditional probabilities are told apart from 1 up to this."""


@dataclass(frozen=True)
class Contribution:
    """One part of the log-odds."""

    part: str
    log_odds: float
    detail: str
    field: bool = False
    """Whether the part is a field of this name, which may be `prior` or `ties` as well."""
    source: str = ""
    """What it is a part of, where it is not a part by itself: ties, fields that depend on each other."""

    def __post_init__(self) -> None:
        """By itself, a part is its own source."""
        if not self.source:
            object.__setattr__(self, "source", self.part)


@dataclass(frozen=True, eq=False)
class Explanation:
    """What spoke for (above 0) and against (below 0) two records being one person.

    Prior, fields and ties are means over draws of the terms of the log-odds *given all else*: the two records are taken
    out of a draw, everybody else stays. They add up to those log-odds exactly. The reported probability also knows
    rivals (a record has few partners), further records of the two, what the link would change elsewhere, and the
    uncertainty of everything given; that is the last part, so that all add up to what is reported. It is near 0 where
    the model factorises: a pair without rivals whose parameters are well known.
    """

    records: tuple[Record, Record]
    probability: float
    contributions: tuple[Contribution, ...]
    frame_kind: str = "polars"

    @property
    def log_odds(self) -> float:
        """The reported log-odds, the sum of all contributions."""
        return sum(entry.log_odds for entry in self.contributions)

    @property
    def by_source(self) -> dict[tuple[bool, str], float]:
        """The log-odds of the prior, each field, ties in total, and the rest; a field may be named as one of those."""
        sums: dict[tuple[bool, str], float] = {}
        for entry in self.contributions:
            key = (entry.field, entry.source)
            sums[key] = sums.get(key, 0.0) + entry.log_odds
        return sums

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
        A posterior of any number of files, with shared ties, a latent space or no ties.
    left, right
        Two records as (file, id).
    data
        The data set; needed for a posterior that was loaded from a file.
    seed
        For the importance sampling of the part of ties in a latent space.

    Returns
    -------
    Explanation
        The log-odds of the pair as a sum of parts; `print` it, or `.table()` and `.plot()`.

    Examples
    --------
    >>> import polars as pl, tielink as tl
    >>> left = pl.DataFrame({"id": [1, 2], "name": ["anna", "bob"]})
    >>> right = pl.DataFrame({"id": [7, 8], "name": ["anna", "zoe"]})
    >>> data = tl.Dataset.from_frames({"left": left, "right": right}, fields={"name": tl.String()})
    >>> posterior = tl.sample(tl.Model(), data, chains=2, warmup=50, draws=50, workers=0)
    >>> [part.part for part in tl.explain(posterior, ("left", 1), ("right", 7)).contributions][:2]
    ['prior', 'name']
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
    problem = Problem.compile(posterior.model, data)
    found = weigh(posterior, problem, pairs, draws, seed)
    impossible = [pair for pair, weights in zip(pairs, found, strict=True) if -np.inf in weights.prior]
    if impossible:
        a, b = (posterior.records[record] for record in impossible[0])
        what = f"{a} and {b} cannot be one person, given what is known and the linkage prior."
        raise InputError([Fault("explain", what, "There is nothing to explain.")])
    counts = degrees(data)
    chances = zip(*_probabilities(posterior, pairs), strict=True)
    return [
        _explained(posterior, data, counts, pair, weights, chance)
        for pair, weights, chance in zip(pairs, found, chances, strict=True)
    ]


def _explained(
    posterior: Posterior,
    data: Dataset,
    counts: NDArray[np.int64],
    pair: tuple[int, int],
    weights: Weights,
    chance: tuple[float, float, float],
) -> Explanation:
    said, probability, error = map(float, chance)
    parts = [Contribution("prior", float(np.mean(weights.prior)), "log prior odds of one more link, given the others")]
    for name, values in weights.fields.items():
        left, right = (_value(data, name, record) for record in pair)
        tree = next((TOGETHER.format(", ".join(names)) for names in weights.trees if name in names), "")
        parts.append(Contribution(name, float(np.mean(values)), f"{left} / {right}", field=True, source=tree))
    for names, values in weights.trees.items():
        tree = TOGETHER.format(", ".join(names))
        parts.append(Contribution(SHARED, float(np.mean(values)), SHARED_WORDS, field=True, source=tree))
    parts.sort(key=lambda entry: (entry.field, entry.source if entry.source != entry.part else ""))
    rows: list[Row] = []
    if posterior.network is not None:
        rows = [(TIES, float(np.mean(weights.ties)), neighbours_in_common(posterior, data, pair))]
    elif posterior.sharing.size:
        rows = tie_rows(data, counts, pair, weights)
    parts += [Contribution(*row, source=TIES) for row in rows]
    reported, total = float(np.log(probability) - np.log1p(-probability)), sum(entry.log_odds for entry in parts)
    certain = said != probability
    if certain and abs(total) > abs(reported) and total * reported > 0:
        reported = total  # draws cannot tell odds as large as these from larger ones
    rest, spread = reported - total, weights.totals
    noise = float(np.hypot(error / (probability * (1 - probability)), spread.std() / np.sqrt(len(spread))))
    words = "rivals, other records, and the uncertainty of what was taken as given"
    if certain:
        words = f"{'linked in every draw' if said > 0.5 else 'never linked'}: draws cannot tell odds exactly"
    elif abs(rest) <= 2 * noise:
        words = f"within Monte Carlo error (± {2 * noise:.1f})"
    parts.append(Contribution(REST, rest, words))
    records = (posterior.records[pair[0]], posterior.records[pair[1]])
    return Explanation(records, said, tuple(parts), posterior.frame_kind)


def _probabilities(posterior: Posterior, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Floats, Floats]:
    """Return the probabilities reported, ones strictly between 0 and 1 to take odds of, and Monte Carlo errors.

    A pair that was linked in all draws, or in none, is not certain: half a draw stands for what was not seen. Averages
    of conditional probabilities know more.
    """
    found, keys = posterior.pair_probabilities, pair_keys(np.array(pairs, dtype=np.int64).reshape(-1, 2))
    order = np.argsort(pair_keys(found.pairs))
    known = np.append(pair_keys(found.pairs)[order], -1)
    place = np.searchsorted(known[:-1], keys)
    seen = known[place] == keys
    said, error = np.zeros(len(keys)), np.zeros(len(keys))
    said[seen], error[seen] = found.probability[order[place[seen]]], np.nan_to_num(found.error[order[place[seen]]])
    averaged = np.zeros(len(keys), dtype=bool)
    if posterior.conditional is not None:
        averaged = np.isin(keys, pair_keys(posterior.conditional.pairs))
    least = np.where(averaged, LEAST, 0.5 / (posterior.chains * posterior.draws_per_chain))
    return said, np.clip(said, least, 1 - least), error


def _pair(posterior: Posterior, left: Record, right: Record, data: Dataset | None) -> tuple[int, int]:
    """Check what was asked, and return the two record numbers, the first file's first."""
    faults = Faults()
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
    duplicates = posterior.model.linkage_for(len(posterior.records.files)).allowed == "free"
    if len(numbers) == 2 and not duplicates and len(set(posterior.records.file_of[numbers].tolist())) < 2:
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
