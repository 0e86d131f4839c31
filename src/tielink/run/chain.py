"""One chain: a start, warm-up sweeps that tune, and sweeps that draw.

Everything a chain is can be taken out with `snapshot` and put back with `restore`, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.exact import paper, sweep
from tielink.exact.adapt import adapt
from tielink.exact.align import best_start
from tielink.exact.compile import compile_target
from tielink.exact.dyads import dyad_log_likelihoods
from tielink.exact.intercept import file_log_likelihood
from tielink.exact.state import init, init_tuning
from tielink.run.job import Job

__all__ = ["Chain"]

Arrays = dict[str, NDArray[Any]]


class Chain:
    """The state of one chain and how to move it on."""

    def __init__(self, job: Job, index: int) -> None:
        self.job = job
        self.index = index
        self.sampler = job.run.sampler
        # The same stream as SeedSequence(seed).spawn(chains)[index], whatever else runs beside it.
        self.rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(index,)))
        self.target, self.profiles = compile_target(job.problem)
        self.profile_state = self.profiles.start()
        self.profiles.log_bayes_factors(self.profile_state, self.target.log_bf)
        self.tuning = init_tuning(self.target)
        self.sizes = job.problem.sizes
        self.state = init(self.rng, self.target)
        self.cache: paper.Cache | None = None
        self.moves = paper.MOVES if self.sampler == "paper" else sweep.MOVES

    def begin(self) -> None:
        """Find a start: near a mode for the exact sampler, at random for the paper's."""
        if self.sampler == "paper":
            self.cache = paper.init_cache(self.state, self.target)
        elif self.target.observed.any():
            self.state = best_start(self.rng, self.target)

    def advance(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Do one sweep; tune if it is number `warmup_sweep` of warm-up. Return (proposed, accepted) by move."""
        if self.sampler == "paper":
            info = paper.paper_sweep(self.rng, self.state, self.target, self.tuning, self.cache)
        else:
            info = sweep.sweep(self.rng, self.state, self.target, self.tuning)
        if warmup_sweep is not None and self.target.observed.any():
            counts = dict(zip(self.moves, info.counts, strict=True))
            adapt(self.tuning, warmup_sweep, info.moved_a, info.moved_b, counts["intercept"], counts.get("scale"))
        if self.profiles.fields:
            self.profiles.update(self.rng, self.profile_state, self.person())
            self.profiles.log_bayes_factors(self.profile_state, self.target.log_bf)
        return np.asarray(info.counts)

    @property
    def persons(self) -> int:
        """N of the current state."""
        return int(self.state.partner_a.size + (self.state.partner_b < 0).sum())

    def person(self) -> NDArray[np.int64]:
        """Return the smallest record number of each record's person."""
        first, linked = self.state.partner_a.size, np.flatnonzero(self.state.partner_a >= 0)
        labels = np.arange(first + self.state.partner_b.size)
        labels[first + self.state.partner_a[linked]] = linked
        return labels

    def log_likelihood(self) -> float:
        """Return log p(ties, values | all else)."""
        ties = sum(
            file_log_likelihood(side, self.state.intercept[side], 1.0, self.state, self.target) for side in (0, 1)
        )
        value = ties + self.profiles.log_likelihood(self.profile_state, self.person())
        return float(value) if math.isfinite(value) else math.nan

    @property
    def dimension(self) -> int:
        """K; 0 without a network."""
        return self.target.dimension if self.target.observed.any() else 0

    def positions(self) -> NDArray[np.float64]:
        """Return the position of every record's person, one row a record."""
        return np.hstack([self.state.position_a, self.state.position_b]).T

    def scalars(self) -> tuple[NDArray[np.float64], float]:
        """Return β and σ²."""
        return self.state.intercept, float(self.state.spread[0])

    def prior_parameters(self) -> NDArray[np.float64]:
        """Return the hyperparameters of the linkage prior: there are none."""
        return np.empty(0)

    @property
    def dyads(self) -> int:
        """The number of dyads in all networks."""
        return sum(size * (size - 1) // 2 for size, seen in zip(self.sizes, self.target.observed, strict=True) if seen)

    def dyad_log_likelihoods(self, out: NDArray[np.float64]) -> None:
        """Write log p(y_d) of every dyad of every network into `out`."""
        begin = 0
        for side, size in enumerate(self.sizes):
            if self.target.observed[side]:
                end = begin + size * (size - 1) // 2
                dyad_log_likelihoods(side, self.state, self.target, out[begin:end])
                begin = end

    def snapshot(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything that changes, as arrays and as values that JSON holds."""
        arrays: Arrays = {f"state.{name}": array.copy() for name, array in self.state._asdict().items()}
        for name, value in self.tuning._asdict().items():
            if isinstance(value, np.ndarray):
                arrays[f"tuning.{name}"] = value.copy()
        if self.cache is not None:
            # Row sums are kept up to date by differences; summing afresh would change their last digits.
            arrays |= {f"cache.{name}": array.copy() for name, array in self.cache._asdict().items()}
        arrays["rates"] = self.profile_state.rates.copy()
        arrays |= {f"fields.{place}": values.copy() for place, values in enumerate(self.profile_state.fields)}
        return arrays, {"rng": self.rng.bit_generator.state}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Become the chain that `snapshot` was taken of."""
        self.rng.bit_generator.state = values["rng"]
        for name, array in self.state._asdict().items():
            array[...] = arrays[f"state.{name}"]
        for name, value in self.tuning._asdict().items():
            if isinstance(value, np.ndarray):
                value[...] = arrays[f"tuning.{name}"]
        if self.sampler == "paper":
            self.cache = paper.init_cache(self.state, self.target)
            for name, array in self.cache._asdict().items():
                array[...] = arrays[f"cache.{name}"]
        self.profile_state.rates = arrays["rates"]
        self.profile_state.fields = [arrays[f"fields.{place}"] for place in range(len(self.profiles.fields))]
        self.profiles.log_bayes_factors(self.profile_state, self.target.log_bf)
