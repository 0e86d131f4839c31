"""One point of the parameter space."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Parameters"]


@dataclass(frozen=True, eq=False)
class Parameters:
    """Everything unknown in the model; parts that a problem does not have are empty.

    `true_values` and `distorted` are usually integrated out; give both to evaluate the uncollapsed joint.
    """

    labels: NDArray[np.int64]
    """ξ: the person of each record, numbered 0 … N−1."""
    positions: NDArray[np.float64]
    """u: one row of K coordinates a person."""
    intercepts: NDArray[np.float64]
    """β: one a file."""
    spread: float
    """σ²: variance of positions."""
    distortion: NDArray[np.float64]
    """ψ: every distortion rate, in the problem's order; usually one a field."""
    fields: tuple[NDArray[np.float64], ...] = ()
    """What else is unknown of each field: the frequencies ϑ of a categorical one; may be empty if all are."""
    careless: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(0, dtype=bool))
    """Which records are careless; empty where the model has one sort of records."""
    careless_share: float = 0.0
    """κ: the share of careless records."""
    linkage: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """Hyperparameters of the linkage prior, where it has any."""
    sharing: float = 0.0
    """ρ: the share of ties that the files have in common, where the network is one of shared ties."""
    tie_rates: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    """θ: one a record, 0 in a file without a network; fixed beforehand, by degrees."""
    power: float = 1.0
    """The power of the likelihood of shared ties."""
    true_values: NDArray[np.int64] | None = None
    """π: N × L codes."""
    distorted: NDArray[np.bool_] | None = None
    """w: I × L, whether the record's value is a distorted one."""

    def of_field(self, index: int) -> NDArray[np.float64]:
        """Return the parameters of field number `index`."""
        return self.fields[index] if self.fields else np.empty(0)

    @property
    def persons(self) -> int:
        """N, the number of persons."""
        return int(self.labels.max(initial=-1)) + 1
