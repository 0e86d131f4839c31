"""The channel of the paper's string field: the strings of a vocabulary are all there is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tielink.channels.channel import Bound, Codes, FiniteChannel, Fixed, Floats, Terms
from tielink.channels.string_tables import StringTables

__all__ = ["ClosedStringChannel"]


@dataclass(frozen=True, eq=False)
class ClosedStringChannel(FiniteChannel):
    """p(v) = γ(v) and ζ_v(x) ∝ γ(x)·e^{−λ d(x, v)}, both known: nothing is sampled but the rates."""

    tables: StringTables

    def truth(self, parameters: Floats) -> Floats:
        """Return γ."""
        return self.tables.frequencies

    def distorted_to(self, parameters: Floats, value: int) -> Floats:
        """Return ζ_v(x) of one x: near truths more."""
        return self.tables.distorted_to(value)

    def distorted_from(self, parameters: Floats, truth: int) -> Floats:
        """Return ζ_v(x) of one v: near strings more."""
        return self.tables.distorted_from(truth)

    def single(self, parameters: Floats, values: Codes) -> tuple[Floats, Floats]:
        """Return γ(x) and Σ_v γ(v)ζ_v(x)."""
        frequency = self.tables.frequencies[values]
        return frequency, frequency * self.tables.mixed[values]

    def pair(self, parameters: Floats, left: Codes, right: Codes) -> Terms:
        """Return γ(x)·1[x = y], γ(y)ζ_y(x), γ(x)ζ_x(y) and Σ_v γ(v)ζ_v(x)ζ_v(y)."""
        x, y = left.ravel(), right.ravel()
        terms = Terms(
            np.where(x == y, self.tables.frequencies[x], 0.0),
            self.tables.one_distorted(y, x),
            self.tables.one_distorted(x, y),
            self.tables.both_distorted(x, y),
        )
        return Terms(*(term.reshape(left.shape) for term in terms))

    def near(self) -> tuple[Codes, Codes]:
        """Return pairs within the distance cap, or within it of a common string; all pairs without a cap."""
        return self.tables.near()

    def bind(self, left: Codes, right: Codes) -> Bound:
        """Look the pairs up once: their terms never change."""
        return Fixed(self, left, right, self.pair(self.start(), left, right))
