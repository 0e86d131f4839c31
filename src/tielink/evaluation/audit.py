"""How good is this linkage? A stratified random sample of records, asked about blindly, and what follows from it.

A unit is a record: of the first file where there are two files and each person has at most one record in each, so that
every link and every match is counted once; else any record. Strata are made by what the model says of it: linked, by
the probability of its likeliest link, or not linked, by the probability of the likeliest link that was not made. Within
a stratum units are drawn at random, and strata take turns, so that the first n units are such a sample for every n.

With c_r = 1 if r is linked rightly, l_r = 1 if it is linked and t_r = 1 if it has a partner at all, precision is
Σc/Σl and recall Σc/Σt, sums weighted by N_h/n_h. Intervals: shares of each stratum have Jeffreys' beta distribution,
and where a stratum shows no fault (or nothing but faults) the share may be 0 (or 1), so that little seen is no
certainty and no certainty is excluded; what was not drawn of a stratum is binomial.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.linkage import Linkage
from tielink.posterior.posterior import Posterior

__all__ = ["Audit", "Plan", "audit_plan"]

Codes = NDArray[np.int64]
Floats = NDArray[np.float64]

SURE, LIKELY, POSSIBLE = 0.99, 0.9, 0.05
"""Linked records are parted by the first two, others by the third."""
STRATA = ("linked, surest", "linked, likely", "linked, in doubt", "alone, surest", "alone, in doubt")
SIMULATIONS = 2000
RIGHT, OTHER, NOBODY = 0, 1, 2
"""What is found out: linked rightly; the partner is another one (or, of a record that is alone, there is one); none."""


@dataclass(frozen=True, eq=False)
class Plan:
    """Which records to ask about, in this order."""

    units: Codes
    """Record numbers."""
    stratum: Codes
    """Of every record; −1 for those that are not asked about."""
    sizes: Codes
    """Records in each stratum."""

    def estimate(self, found: Mapping[int, int], *, seed: int = 0) -> Audit:
        """Return precision and recall from what was found out about records (`RIGHT`, `OTHER` or `NOBODY`)."""
        counts = np.zeros((len(STRATA), 3), dtype=np.int64)
        for record, what in found.items():
            counts[self.stratum[record], what] += 1
        return _estimate(np.random.default_rng(seed), counts, self.sizes)


@dataclass(frozen=True)
class Audit:
    """Precision and recall with 95 % intervals; NaN where nothing is known yet."""

    precision: float
    recall: float
    precision_interval: tuple[float, float]
    recall_interval: tuple[float, float]
    questions: int
    complete: bool
    """Whether every stratum that has records was looked at."""

    def __str__(self) -> str:
        if not self.questions:
            return "Nothing was asked yet."
        parts = [
            f"{name} {value:.2f} (95 % between {low:.2f} and {high:.2f})" if value == value else f"{name} not defined"
            for name, value, (low, high) in (
                ("precision", self.precision, self.precision_interval),
                ("recall", self.recall, self.recall_interval),
            )
        ]
        rough = "" if self.complete else " Some strata have no answers yet."
        return f"By {self.questions:,} questions: {', '.join(parts)}.{rough}"


def audit_plan(posterior: Posterior, linkage: Linkage, *, questions: int = 200, seed: int = 0) -> Plan:
    """Draw the records to ask about; the same seed gives the same plan.

    Known matches are not asked about. Strata get questions by their size and by how unsure the model is of them, a
    tenth of all going to each at least.
    """
    rng = np.random.default_rng(seed)
    best = np.zeros(len(posterior.records))
    made = np.zeros(len(posterior.records))
    found = posterior.pair_probabilities
    size = np.bincount(linkage.labels)[linkage.labels]
    same = linkage.labels[found.pairs[:, 0]] == linkage.labels[found.pairs[:, 1]]
    for side in (0, 1):
        np.maximum.at(best, found.pairs[:, side], found.probability)
        np.maximum.at(made, found.pairs[same, side], found.probability[same])
    linked = size > 1
    alone = np.where(best < POSSIBLE, 3, 4)
    stratum = np.where(linked, np.where(made >= SURE, 0, np.where(made >= LIKELY, 1, 2)), alone)
    if len(posterior.records.files) == 2 and posterior.allowed != "free":
        stratum[posterior.records.sizes[0] :] = -1
    stratum[posterior.anchors.ravel()] = -1
    sizes = np.bincount(stratum[stratum >= 0], minlength=len(STRATA))
    chance = np.where(linked, made, best)
    doubt = np.array([np.sqrt(np.mean(chance[stratum == h] * (1 - chance[stratum == h])) + 0.01) if n else 0.0
                      for h, n in enumerate(sizes)])  # fmt: skip
    share = sizes * doubt / max((sizes * doubt).sum(), 1e-300)
    share = np.where(sizes > 0, np.maximum(share, 0.1), 0.0)
    wanted = np.minimum(np.ceil(share / max(share.sum(), 1e-300) * questions), sizes).astype(np.int64)
    drawn, turn = [], []
    for h, count in enumerate(wanted):
        drawn.append(rng.permutation(np.flatnonzero(stratum == h))[:count])
        turn.append((np.arange(count) + rng.random()) / max(count, 1))
    order = np.argsort(np.concatenate(turn), kind="stable")
    return Plan(np.concatenate(drawn)[order], stratum, sizes)


def _estimate(rng: np.random.Generator, counts: Codes, sizes: Codes) -> Audit:
    asked = counts.sum(axis=1)
    linked = np.array([name.startswith("linked") for name in STRATA])
    seen = (asked > 0) & (sizes > 0)
    weight = np.divide(sizes, asked, out=np.zeros(len(sizes)), where=asked > 0)
    total = counts * weight[:, None]
    right, partners = total[linked, RIGHT].sum(), total[:, [RIGHT, OTHER]].sum()
    found = float(sizes[linked & seen].sum())
    sides = [_simulated(rng, counts[seen], sizes[seen], linked[seen], hopeful) for hopeful in (False, True)]
    with np.errstate(invalid="ignore", divide="ignore"):
        low, high = ([np.nanquantile(each, q) if seen.any() and not np.isnan(each).all() else np.nan for each in side]
                     for side, q in zip(sides, (0.025, 0.975), strict=True))  # fmt: skip
        precision, recall = np.float64(right) / found, np.float64(right) / partners
    return Audit(
        float(precision), float(recall), (float(low[0]), float(high[0])), (float(low[1]), float(high[1])),
        int(asked.sum()), bool((seen | (sizes == 0)).all()),
    )  # fmt: skip


def _simulated(
    rng: np.random.Generator, counts: Codes, sizes: Codes, linked: NDArray[np.bool_], hopeful: bool
) -> tuple[Floats, Floats]:
    """Draw precision and recall; `hopeful` for upper limits, where a stratum without a fault may have none."""
    right, partners, found = np.zeros((3, SIMULATIONS))
    for (good, other, nobody), size, is_linked in zip(counts, sizes, linked, strict=True):
        rest = size - (good + other + nobody)
        if is_linked:
            wrong = _share(rng, other + nobody, good, hopeful)
            more = rng.binomial(rest, 1 - wrong)
            right += good + more
            partners += good + more + other + rng.binomial(rest - more, _share(rng, other, nobody, hopeful))
            found += size
        else:
            partners += other + rng.binomial(rest, _share(rng, other, nobody, hopeful))
    with np.errstate(invalid="ignore", divide="ignore"):
        return right / found, right / partners


def _share(rng: np.random.Generator, bad: int, good: int, hopeful: bool) -> Floats:
    """Draw the share of what is bad: none where none was seen and one hopes, all where nothing else was seen."""
    if (hopeful and bad == 0) or (not hopeful and good == 0 and bad > 0):
        return np.full(SIMULATIONS, 0.0 if hopeful else 1.0)
    return rng.beta(bad + 0.5, good + 0.5, size=SIMULATIONS)
