"""Small regressions on records whose partners are known: choices, probabilities, and the share that has a partner."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["conditional_logit", "right_among"]

Floats = NDArray[np.float64]

USUAL, SPREAD = 0.3, 0.3
"""Powers are normal around one of these with the other as standard deviation, and not negative."""
USUAL_LEVEL, SPREAD_LEVEL = -3.0, 3.0
CENTRE, WIDTH = np.array([1.0, 0.0]), np.array([0.3, 1.0])


def conditional_logit(
    parts: Floats, chosen: NDArray[np.bool_], chooser: NDArray[np.int64], given: Sequence[float] | None = None
) -> Floats:
    """Return powers of the parts, and a level, at which choosers most probably choose as they did.

    A chooser takes one of its rows with weight e^{level + Σ power·part}, or nobody with weight 1.

    Parameters
    ----------
    parts
        A row for each pair that can be chosen.
    chosen
        Whether it was; of a chooser one at most.
    chooser
        Whose row it is.
    given
        Powers that are not to be learnt.

    Returns
    -------
    array
        The powers, then the level.
    """
    x = np.column_stack([parts, np.ones(len(parts))])
    count = x.shape[1] - 1
    usual = np.append(np.full(count, USUAL), USUAL_LEVEL)
    spread = np.append(np.full(count, SPREAD), SPREAD_LEVEL)
    _, group = np.unique(chooser, return_inverse=True)
    groups = int(group.max()) + 1 if len(group) else 0

    def loss(b: Floats) -> tuple[float, Floats]:
        score = x @ b
        top = np.zeros(groups)
        np.maximum.at(top, group, score)
        weight = np.exp(score - top[group])
        every = np.exp(-top) + np.bincount(group, weight, groups)
        apart = (b - usual) / spread
        value = np.sum(np.log(every) + top) - score[chosen].sum() + 0.5 * apart @ apart
        return float(value), x.T @ (weight / every[group] - chosen) + apart / spread

    bounds = [(0.0, 2.0)] * count if given is None else [(power, power) for power in given]
    bounds += [(-30.0, 10.0)]
    return np.asarray(minimize(loss, usual, jac=True, method="L-BFGS-B", bounds=bounds).x)


def right_among(right: Floats, odds: Floats, count: Floats) -> tuple[float, float]:
    """Return slope and level of the probability of being right, σ(slope·odds + level).

    So many pairs (`count`) have these `odds`, and nobody says which of them are right; `right` are the odds of pairs
    drawn at random from all that are right. A pair is drawn with probability proportional to its probability of being
    right, and that is the likelihood (presence-only data; Lancaster and Imbens, 1996).
    """

    def loss(b: Floats) -> tuple[float, Floats]:
        mine, all_ = b[0] * right + b[1], b[0] * odds + b[1]
        p, each = 1 / (1 + np.exp(-np.clip(mine, -500, 500))), 1 / (1 + np.exp(-np.clip(all_, -500, 500)))
        whole, slope = max(float(count @ each), 1e-300), count * each * (1 - each)
        apart = (b - CENTRE) / WIDTH
        value = np.logaddexp(0.0, -mine).sum() + len(right) * np.log(whole) + 0.5 * apart @ apart
        gradient = len(right) / whole * np.array([slope @ odds, slope.sum()]) - np.array(
            [(1 - p) @ right, (1 - p).sum()]
        )
        return float(value), gradient + apart / WIDTH

    slope, level = minimize(loss, CENTRE, jac=True, method="L-BFGS-B", bounds=[(0.05, 3.0), (-20.0, 20.0)]).x
    return float(slope), float(level)
