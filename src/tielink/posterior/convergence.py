"""Whether chains have converged, and how many independent draws they are worth.

Rank-normalised split R-hat and bulk effective sample size (Vehtari, Gelman, Simpson, Carpenter and Bürkner 2021,
*Rank-Normalization, Folding, and Localization: An Improved R-hat*).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

__all__ = ["effective_draws", "rhat"]

Floats = NDArray[np.float64]


def _split(draws: ArrayLike) -> Floats:
    """Cut every chain in two halves, dropping the middle draw of an odd number."""
    chains = np.atleast_2d(np.asarray(draws, dtype=float))
    half = chains.shape[1] // 2
    return np.concatenate([chains[:, :half], chains[:, chains.shape[1] - half :]])


def _normal_scores(chains: Floats) -> Floats:
    """Replace draws by the normal quantiles of their ranks, so that heavy tails cannot hide anything."""
    _, place, count = np.unique(chains, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(count) - (count - 1) / 2)[place].reshape(chains.shape)  # of equal draws, the mean
    return np.asarray(ndtri((ranks - 0.375) / (chains.size + 0.25)))


def _plain_rhat(chains: Floats) -> float:
    count = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = count * chains.mean(axis=1).var(ddof=1)
    if within <= 1e-9 * between:  # chains that hardly move, each at a place of its own
        return np.inf if between > 0 else 1.0
    return float(np.sqrt((between / within + count - 1) / count))


def rhat(draws: ArrayLike) -> float:
    """Return the rank-normalised split R-hat of `draws` (chains × draws): near 1 when chains agree.

    The larger of two: of the draws (do chains agree on the centre?) and of their distance from the median (on the
    spread?). Infinite for chains that stand still apart; NaN for fewer than four draws a chain; 1 for a quantity that
    never changes.

    >>> rng = np.random.default_rng(0)
    >>> bool(rhat(rng.normal(size=(4, 500))) < 1.02), bool(rhat(rng.normal(size=(4, 500)) + [[0], [0], [0], [3]]) > 1.3)
    (True, True)
    """
    chains = _split(draws)
    if chains.shape[1] < 2 or not np.isfinite(chains).all():
        return np.nan
    folded = np.abs(chains - np.median(chains))
    return max(_plain_rhat(_normal_scores(chains)), _plain_rhat(_normal_scores(folded)))


def _autocovariance(chains: Floats) -> Floats:
    """Return the autocovariance of every chain at every lag, by FFT."""
    count = chains.shape[1]
    centred = chains - chains.mean(axis=1, keepdims=True)
    size = 1 << (2 * count - 1).bit_length()
    spectrum = np.fft.rfft(centred, size)
    return np.asarray(np.fft.irfft(spectrum * np.conj(spectrum), size)[:, :count] / count)


def effective_draws(draws: ArrayLike, *, rank_normalise: bool = True) -> float:
    """Return the effective number of draws of `draws` (chains × draws), split chains and Geyer's monotone sequence.

    NaN for fewer than four draws a chain; the number of draws for a quantity that never changes.
    """
    chains = _split(draws)
    parts, count = chains.shape
    if count < 2 or not np.isfinite(chains).all():
        return np.nan
    if np.ptp(chains) == 0:
        return float(chains.size)
    if rank_normalise:
        chains = _normal_scores(chains)
    covariance = _autocovariance(chains)
    within = covariance[:, 0].mean() * count / (count - 1)
    total = within * (count - 1) / count
    if parts > 1:
        total += chains.mean(axis=1).var(ddof=1)
    correlation = 1 - (within - covariance.mean(axis=0) * count / (count - 1)) / total
    correlation[0] = 1
    pairs = correlation[: count - count % 2].reshape(-1, 2).sum(axis=1)
    positive = pairs[: int(np.argmax(pairs <= 0)) if (pairs <= 0).any() else len(pairs)]
    time = 2 * np.minimum.accumulate(positive).sum() - 1
    if 2 * len(positive) < count:
        time += max(correlation[2 * len(positive)], 0.0)  # half of the first pair that is left out
    return float(min(parts * count / max(time, 1e-12), parts * count * np.log10(parts * count)))
