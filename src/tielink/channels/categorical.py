"""The channel of a categorical field: a distorted value is a draw from the frequencies of the true ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from tielink.channels.channel import Codes, FiniteChannel, Floats, Terms, Told
from tielink.channels.near_truths import NearTruths, near_rows
from tielink.data.columns import MISSING

__all__ = ["CategoricalChannel"]


@dataclass(frozen=True, eq=False)
class CategoricalChannel(FiniteChannel):
    """p(v) = ϑ_v, ζ_v = ϑ whatever v, ϑ ~ Dirichlet(concentration, …). The parameters are ϑ."""

    concentration: float

    def start(self) -> Floats:
        """Return the frequencies as observed, smoothed by the prior."""
        counts = np.bincount(self.codes[self.codes != MISSING], minlength=self.levels) + self.concentration
        return np.asarray(counts / counts.sum())

    def draw_prior(self, rng: np.random.Generator) -> Floats:
        """Draw ϑ."""
        return rng.dirichlet(np.full(self.levels, self.concentration))

    def log_prior(self, parameters: Floats) -> float:
        """Return log Dirichlet(ϑ; α, …, α)."""
        alpha, levels = self.concentration, self.levels
        normaliser = gammaln(levels * alpha) - levels * gammaln(alpha)
        return float(normaliser + xlogy(alpha - 1, parameters).sum())

    def truth(self, parameters: Floats) -> Floats:
        """Return ϑ."""
        return parameters

    def distorted_to(self, parameters: Floats, value: int) -> Floats:
        """Return ϑ_x for every v."""
        return np.full(self.levels, parameters[value])

    def distorted_from(self, parameters: Floats, truth: int) -> Floats:
        """Return ϑ, whatever the truth."""
        return parameters

    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return ϑ_x twice: a distorted value is as likely as a clean one."""
        frequency = parameters[values]
        return frequency, frequency

    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return ϑ_x·1[x = y], and ϑ_xϑ_y for all that is distorted."""
        product = parameters[left] * parameters[right]
        return Terms(np.where(left == right, parameters[left], 0.0), product, product, product)

    def near_truths(self, parameters: Floats) -> NearTruths:
        """Lay out x alone: of all other true values it is as likely a distortion as of any."""
        codes = np.arange(self.levels)
        return near_rows(codes, codes, np.ones(self.levels), parameters, parameters, parameters, parameters)

    def group(self, parameters: Floats, values: Codes) -> Floats:
        """Return ϑ_v·Π ϑ_x over the distorted where all clean values are one v, 0 where they are not."""
        size, frequency = values.shape[1], parameters[values]
        terms = np.empty((2**size, len(values)))
        for row in range(2**size):
            distorted = (row >> np.arange(size)) & 1 == 1
            terms[row] = frequency[:, distorted].prod(axis=1)
            clean = values[:, ~distorted]
            if clean.shape[1]:
                terms[row] *= np.where((clean == clean[:, :1]).all(axis=1), parameters[clean[:, 0]], 0.0)
        return terms

    def refresh(
        self, rng: np.random.Generator, parameters: Floats, values: Told, distorted: NDArray[np.bool_]
    ) -> Floats:
        """Draw ϑ: distorted values are one draw each, all clean values of a person are one draw together.

        The true value of a person without a clean one is summed out, so it tells nothing.
        """
        # Of two clean values the second is no draw of its own.
        echo = ~distorted[values.two].any(axis=1)
        counted = [values.one, values.two[:, 0], values.two[~echo, 1]]
        for records in values.more:
            counted += [records[distorted[records]], records[~distorted[records]][:1]]
        counts = np.bincount(self.codes[np.concatenate(counted)], minlength=self.levels)
        return rng.dirichlet(self.concentration + counts)
