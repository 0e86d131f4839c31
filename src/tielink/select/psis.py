"""Leave-one-out by Pareto-smoothed importance sampling (Vehtari, Simpson, Gelman, Yao and Gabry 2024).

For one dyad with ratios r_s = 1/p(y | θ_s), the largest M are replaced by the expected order statistics of a
generalised Pareto distribution fitted to them; then

    log p(y | the others) = log Σ_s w_s·p(y | θ_s) − log Σ_s w_s.

Outside the tail w_s·p = 1, so only the tail and the sum of all ratios are needed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tielink.posterior.dyads import DyadScores

__all__ = ["fit_pareto", "psis_loo"]

Floats = NDArray[np.float64]

CHUNK = 500
FEWEST = 5
"""A tail of fewer ratios is left as it is."""


def psis_loo(scores: DyadScores) -> tuple[Floats, Floats]:
    """Return the expected log predictive density of every dyad, and the fitted Pareto shapes."""
    assert scores.tail is not None
    assert scores.mean_ratio is not None
    elpd, shapes = np.empty(len(scores.mean_ratio)), np.empty(len(scores.mean_ratio))
    for begin in range(0, len(elpd), CHUNK):
        part = slice(begin, begin + CHUNK)
        tail, total = scores.tail[part].astype(float), scores.mean_ratio[part] * scores.draws
        elpd[part], shapes[part] = _smooth(tail, total, scores.draws)
    return elpd, shapes


def _smooth(tail: Floats, total: Floats, draws: int) -> tuple[Floats, Floats]:
    """Smooth tails of some dyads: log ratios, increasing, the first just below the tail; `total` sums all ratios."""
    threshold, ratios = np.exp(tail[:, :1]), np.exp(tail[:, 1:])
    size = ratios.shape[1]
    body = np.maximum(total - ratios.sum(axis=1), 0.0)
    shapes = np.full(len(tail), -np.inf)
    weights = ratios.copy()
    varied = ratios[:, 0] - threshold[:, 0] > 1e-12 * ratios[:, -1]
    if size >= FEWEST and varied.any():
        shape, scale = fit_pareto(ratios[varied] - threshold[varied])
        places = (np.arange(size) + 0.5) / size
        smooth = threshold[varied] + _quantile(places, shape[:, None], scale[:, None])
        weights[varied] = np.minimum(smooth, ratios[varied, -1:])
        shapes[varied] = shape
    predictive = draws - size + (weights / ratios).sum(axis=1)
    return np.log(predictive) - np.log(body + weights.sum(axis=1)), shapes


def _quantile(places: Floats, shape: Floats, scale: Floats) -> Floats:
    flat = np.abs(shape) < 1e-8
    safe = np.where(flat, 1.0, shape)
    curved = np.expm1(-safe * np.log1p(-places)) / safe
    return np.asarray(scale * np.where(flat, -np.log1p(-places), curved))


def fit_pareto(excess: Floats) -> tuple[Floats, Floats]:
    """Fit generalised Pareto distributions to rows of increasing excesses (Zhang and Stephens 2009).

    Returns shapes and scales, the shapes drawn a little towards 1/2 as in PSIS.
    """
    size = excess.shape[1]
    points = 30 + int(np.sqrt(size))
    quarter = excess[:, int(size / 4 + 0.5) - 1]
    grid = 1 - np.sqrt(points / (np.arange(1, points + 1) - 0.5))
    theta = grid / (3 * np.maximum(quarter, 1e-300))[:, None] + 1 / excess[:, -1:]
    shape = np.log1p(-theta[:, :, None] * excess[:, None, :]).mean(axis=2)
    profile = size * (np.log(-theta / shape) - shape - 1)
    weight = np.exp(profile - profile.max(axis=1, keepdims=True))
    best = (theta * weight).sum(axis=1) / weight.sum(axis=1)
    shapes = np.log1p(-best[:, None] * excess).mean(axis=1)
    scales = -shapes / best
    return (shapes * size + 5) / (size + 10), scales
