"""The channel of a small categorical field whose errors depend on the true value: a confusion matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from tielink.channels.channel import Codes, FiniteChannel, Floats, Terms, Told
from tielink.data.columns import MISSING

__all__ = ["MOST_CONFUSED", "ConfusionChannel"]

MOST_CONFUSED = 32
"""Levels beyond which a confusion matrix has more entries than files usually have errors."""


@dataclass(frozen=True, eq=False)
class ConfusionChannel(FiniteChannel):
    """p(v) = ϑ_v and ζ_v = R_v, row v of a matrix without a diagonal: a distorted value is another one.

    ϑ ~ Dirichlet(concentration, …) and every R_v ~ Dirichlet(confusion, …) over the values other than v. The
    parameters are ϑ and then R, row by row, its diagonal zero.
    """

    concentration: float
    confusion: float

    def parts(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Return ϑ and R."""
        return parameters[: self.levels], parameters[self.levels :].reshape(self.levels, self.levels)

    def start(self) -> Floats:
        """Return the frequencies as observed, smoothed by the prior, and errors that are equally likely."""
        counts = np.bincount(self.codes[self.codes != MISSING], minlength=self.levels) + self.concentration
        matrix = (1 - np.eye(self.levels)) / (self.levels - 1)
        return np.concatenate([counts / counts.sum(), matrix.ravel()])

    def draw_prior(self, rng: np.random.Generator) -> Floats:
        """Draw ϑ and R."""
        return self._draw(rng, np.zeros(self.levels), np.zeros((self.levels, self.levels)))

    def _draw(self, rng: np.random.Generator, truths: Floats, errors: Floats) -> Floats:
        """Draw ϑ and R given counts of true values, and of true values (rows) written as others (columns)."""
        other = ~np.eye(self.levels, dtype=bool)
        matrix = np.zeros((self.levels, self.levels))
        for row in range(self.levels):
            matrix[row, other[row]] = rng.dirichlet(self.confusion + errors[row, other[row]])
        return np.concatenate([rng.dirichlet(self.concentration + truths), matrix.ravel()])

    def log_prior(self, parameters: Floats) -> float:
        """Return log Dirichlet(ϑ) + Σ_v log Dirichlet(R_v)."""
        frequencies, matrix = self.parts(parameters)
        rows = matrix[~np.eye(self.levels, dtype=bool)].reshape(self.levels, -1)
        return _log_dirichlet(frequencies[None, :], self.concentration) + _log_dirichlet(rows, self.confusion)

    def truth(self, parameters: Floats) -> Floats:
        """Return ϑ."""
        return parameters[: self.levels]

    def distorted_to(self, parameters: Floats, value: int) -> Floats:
        """Return column x of R."""
        return np.asarray(self.parts(parameters)[1][:, value])

    def distorted_from(self, parameters: Floats, truth: int) -> Floats:
        """Return row v of R."""
        return np.asarray(self.parts(parameters)[1][truth])

    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return ϑ_x and (ϑᵀR)_x."""
        frequencies, matrix = self.parts(parameters)
        return frequencies[values], (frequencies @ matrix)[values]

    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return ϑ_x·1[x = y], ϑ_y·R_y(x), ϑ_x·R_x(y) and (Rᵀ diag(ϑ) R)_{xy}."""
        frequencies, matrix = self.parts(parameters)
        one = frequencies[:, None] * matrix
        both = matrix.T @ one
        clean = np.where(left == right, frequencies[left], 0.0)
        return Terms(clean, one[right, left], one[left, right], both[left, right])

    def near(self) -> tuple[Codes, Codes]:
        """Return all pairs of different values: none is like another here."""
        x, y = (grid.ravel() for grid in np.indices((self.levels, self.levels)))
        return x[x != y], y[x != y]

    def refresh(
        self, rng: np.random.Generator, parameters: Floats, values: Told, distorted: NDArray[np.bool_]
    ) -> Floats:
        """Draw the true value of every person, and given those ϑ and R."""
        frequencies, matrix = self.parts(parameters)
        truths, errors = np.zeros(self.levels), np.zeros((self.levels, self.levels))
        groups = [values.one[:, None], values.two]
        groups += [records[None, :] for records in values.more]
        for records in groups:
            true = self._draw_truths(rng, frequencies, matrix, records, distorted)
            truths += np.bincount(true, minlength=self.levels)
            wrong = distorted[records]
            person = np.repeat(true[:, None], records.shape[1], axis=1)
            np.add.at(errors, (person[wrong], self.codes[records][wrong]), 1)
        return self._draw(rng, truths, errors)

    def _draw_truths(
        self,
        rng: np.random.Generator,
        frequencies: Floats,
        matrix: Floats,
        records: Codes,
        distorted: NDArray[np.bool_],
    ) -> Codes:
        """Draw π of persons (one row of records each): a clean value is the true one, else ∝ ϑ_v·Π R_v(x)."""
        weight = np.repeat(frequencies[None, :], len(records), axis=0)
        for place in range(records.shape[1]):
            codes, wrong = self.codes[records[:, place]], distorted[records[:, place]]
            weight *= np.where(wrong[:, None], matrix[:, codes].T, codes[:, None] == np.arange(self.levels))
        bounds = weight.cumsum(axis=1)
        return np.asarray((rng.random(len(records))[:, None] * bounds[:, -1:] >= bounds[:, :-1]).sum(axis=1))


def _log_dirichlet(rows: Floats, alpha: float) -> float:
    """Return Σ log Dirichlet(row; α, …, α)."""
    levels = rows.shape[1]
    normaliser = gammaln(levels * alpha) - levels * gammaln(alpha)
    return float(len(rows) * normaliser + xlogy(alpha - 1, rows).sum())
