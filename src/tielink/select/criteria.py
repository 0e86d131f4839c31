"""Information criteria of one posterior. The units are dyads: ℓ_d = log p(y_d | θ_d).

    DIC   = −2·ℓ(θ̄) + 2p,      p = 2·(ℓ(θ̄) − mean ℓ),  θ̄ the posterior mean tie probability of each dyad;
    WAIC  = −2·(lppd − p),      p = Σ var ℓ_d,            lppd = Σ log mean p(y_d | θ_d);
    WAIC₁ = −2·(lppd − p),      p = 2·(lppd − mean ℓ);
    LOO   = −2·Σ log p(y_d | the other dyads), by Pareto-smoothed importance sampling.

The probability of y_d at θ̄_d *is* the mean of p(y_d | θ_d), so ℓ(θ̄) = lppd and DIC = WAIC₁: with tie probabilities as
parameters the two are one. Positions have no mean to use instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.posterior.dyads import DyadScores
from tielink.select.psis import psis_loo

__all__ = ["CRITERIA", "Criterion", "criterion"]

CRITERIA = ("waic", "waic1", "dic", "loo")

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Criterion:
    """A criterion on the deviance scale (smaller is better), dyad by dyad."""

    name: str
    by_dyad: Floats
    penalty: float
    """The effective number of parameters."""
    warning: str = ""

    @property
    def value(self) -> float:
        """The criterion, Σ over dyads."""
        return float(self.by_dyad.sum())

    @property
    def error(self) -> float:
        """Its standard error over dyads."""
        return float(np.sqrt(len(self.by_dyad) * self.by_dyad.var(ddof=1)))


def criterion(scores: DyadScores, name: str) -> Criterion:
    """Compute one of `CRITERIA`."""
    lppd = np.log(scores.mean_probability)
    if name == "waic":
        penalty = scores.variance_log
        large = int((penalty > 0.4).sum())
        warning = f"{large:,} dyads have a variance above 0.4: prefer loo" if large else ""
        return Criterion(name, -2 * (lppd - penalty), float(penalty.sum()), warning)
    if name in ("waic1", "dic"):
        penalty = 2 * (lppd - scores.mean_log)
        return Criterion(name, -2 * (lppd - penalty), float(penalty.sum()))
    elpd, shape = psis_loo(scores)
    bad = int((shape > 0.7).sum())
    warning = f"{bad:,} of {len(shape):,} dyads have a Pareto shape above 0.7: not reliable for them" if bad else ""
    return Criterion(name, -2 * elpd, float((lppd - elpd).sum()), warning)
