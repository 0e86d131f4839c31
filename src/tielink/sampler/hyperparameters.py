"""Hyperparameters of a prior on cluster sizes, by random walk on the whole line, the normaliser exact at every step."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from tielink.channels.channel import Floats
from tielink.model.cluster_priors import SizePrior, from_line, log_density_on_line, to_line
from tielink.model.cluster_sizes import log_series
from tielink.sampler.partition import Clusters

__all__ = ["Hyperparameters"]

GOAL = 0.44
WALKS_EACH = 3


class Hyperparameters:
    """The sampled hyperparameters of a chain; their values stand in `values`, their steps in `steps`."""

    def __init__(self, prior: SizePrior, records: int) -> None:
        self.prior = prior
        self.records = records
        self.priors = list(prior.hyperparameters.values())
        self.values = prior.start()
        self.steps = np.ones(len(self.priors))

    def write(self, state: Clusters) -> None:
        """Write what kernels need of the current values into the state."""
        theta, discount, log_coefficient = self.prior.family(self.values, self.records)
        state.prior[:] = theta, discount
        state.log_size[1:] = log_coefficient + gammaln(np.arange(1, len(log_coefficient) + 1) + 1)

    def log_density(self, line: Floats, sizes: NDArray[np.int64]) -> float:
        """Return log p(ξ | values) + log p(values) on the line; `sizes[s − 1]` clusters have s records."""
        values = np.array([from_line(prior, z) for prior, z in zip(self.priors, line, strict=True)])
        total = sum(log_density_on_line(prior, z) for prior, z in zip(self.priors, line, strict=True))
        theta, discount, log_coefficient = self.prior.family(values, self.records)
        if not (math.isfinite(theta) and theta > 0 and np.isfinite(log_coefficient).all()):
            return -math.inf
        normaliser = float(log_series(theta, discount, log_coefficient, self.records))
        steps = float(np.log(theta + discount * np.arange(sizes.sum())).sum())
        return total + steps + float(sizes @ log_coefficient) - normaliser

    def update(self, rng: np.random.Generator, state: Clusters, warmup_sweep: int | None) -> tuple[int, int]:
        """Walk every hyperparameter a few times; steps are adapted in warm-up. Return (proposed, accepted)."""
        if not self.priors:
            return 0, 0
        sizes = np.bincount(state.size, minlength=self.prior.max_size + 1)[1:]
        line = np.array([to_line(prior, value) for prior, value in zip(self.priors, self.values, strict=True)])
        now, accepted = self.log_density(line, sizes), 0
        for _ in range(WALKS_EACH):
            for place in range(len(line)):
                proposal = line.copy()
                proposal[place] += self.steps[place] * rng.standard_normal()
                # Shares of 0 and 1 and infinite numbers are no values, whatever their density on the line.
                there = self.log_density(proposal, sizes) if abs(proposal[place]) < 30 else -math.inf
                taken = math.log(rng.random()) < there - now
                if taken:
                    line, now, accepted = proposal, there, accepted + 1
                if warmup_sweep is not None:
                    self.steps[place] *= math.exp((taken - GOAL) * (warmup_sweep + 1.0) ** -0.6)
        self.steps = np.clip(self.steps, 1e-3, 20.0)
        self.values = np.array([from_line(prior, z) for prior, z in zip(self.priors, line, strict=True)])
        self.write(state)
        return WALKS_EACH * len(line), accepted
