"""One chain: a start, warm-up sweeps that tune, and sweeps that draw.

Everything a chain is can be taken out with `snapshot` and put back with `restore`, bit for bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.exact import beyond, paper, sweep
from tielink.exact.adapt import adapt, adapt_activity, adapt_beyond
from tielink.exact.believed import start_from_profiles
from tielink.exact.beyond import goes_beyond
from tielink.exact.compile import compile_activity, compile_target
from tielink.exact.correlation import total_gain
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
        self.activity = compile_activity(job.problem)
        self.activity_state = None if self.activity is None else self.activity.start()
        self._weigh()
        self.tuning = init_tuning(self.target)
        self.sizes = job.problem.sizes
        self.state = init(self.rng, self.target)
        self.cache: paper.Cache | None = None
        self.moves: tuple[str, ...] = paper.MOVES if self.sampler == "paper" else sweep.MOVES
        if goes_beyond(self.state):
            self.moves += beyond.MOVES
        if self.activity is not None:
            self.moves += ("activity",)

    def begin(self) -> None:
        """Find a start: near a mode for the exact sampler, at random for the paper's."""
        if self.sampler == "paper":
            self.cache = paper.init_cache(self.state, self.target)
        elif self.target.observed.any():
            self.state = start_from_profiles(self.rng, self.target)

    def advance(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Do one sweep; tune if it is number `warmup_sweep` of warm-up. Return (proposed, accepted) by move."""
        if self.sampler == "paper":
            info = paper.paper_sweep(self.rng, self.state, self.target, self.tuning, self.cache)
        else:
            info = sweep.sweep(self.rng, self.state, self.target, self.tuning)
        counts = [info.counts]
        if warmup_sweep is not None and self.target.observed.any():
            by_move = dict(zip(self.moves, info.counts, strict=False))
            adapt(self.tuning, warmup_sweep, info.moved_a, info.moved_b, by_move["intercept"], by_move.get("scale"))
        if goes_beyond(self.state):
            counts.append(self._advance_beyond(warmup_sweep))
        if self.activity is not None:
            counts.append(self._advance_activity(warmup_sweep))
        if self.profiles.fields:
            self.profiles.update(self.rng, self.profile_state, self.person())
        if self.profiles.fields or self.activity is not None:
            self._weigh()
        return np.concatenate(counts)

    def _weigh(self) -> None:
        """Compute the log Bayes factor of every pair afresh, from profiles and activity."""
        self.profiles.log_bayes_factors(self.profile_state, self.target.log_bf)
        if self.activity is not None and self.activity_state is not None:
            self.activity.weigh(self.activity_state, self.target)

    def _advance_beyond(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Move log φ, s and τ on."""
        info = beyond.sweep_beyond(self.rng, self.state, self.target, self.tuning)
        if warmup_sweep is not None:
            adapt_beyond(self.tuning, warmup_sweep, info)
        if self.cache is not None:
            paper.refresh(self.cache, self.state, self.target)
        return np.asarray(info.counts)

    def _advance_activity(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Move α on."""
        assert self.activity is not None
        assert self.activity_state is not None
        info = self.activity.update(self.rng, self.activity_state, self.state, self.target)
        if warmup_sweep is not None:
            adapt_activity(self.activity_state, warmup_sweep, info.accepted)
        return np.array([info])

    @property
    def dimension(self) -> int:
        """K; 0 without a network."""
        return self.target.dimension if self.target.observed.any() else 0

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

    def _sociality(self) -> NDArray[np.float64]:
        """Return s of every record, 0 in files without a network."""
        found = np.zeros(sum(self.sizes))
        for values, begin in ((self.state.sociality_a, 0), (self.state.sociality_b, self.sizes[0])):
            assert values is not None
            found[begin : begin + values.size] = values
        return found

    def log_likelihood(self) -> float:
        """Return log p(ties, values | all else)."""
        ties = sum(
            file_log_likelihood(side, self.state.intercept[side], 1.0, self.state, self.target) for side in (0, 1)
        )
        first, second = self.state.intercept
        ties += total_gain(self.state.correlation, first, second, 1.0, self.state, self.target)
        value = ties + self.profiles.log_likelihood(self.profile_state, self.person())
        return float(value) if math.isfinite(value) else math.nan

    def series(self) -> dict[str, Any]:
        """Return what is recorded of every draw, besides persons and profiles."""
        state = self.state
        found: dict[str, Any] = {}
        if self.dimension:
            found |= {"intercepts": state.intercept, "spread": state.spread[0]}
        if state.correlation is not None:
            found["correlation"] = state.correlation[0]
        if state.sociality_sd is not None:
            found["sociality_sd"] = state.sociality_sd[0]
        if self.activity_state is not None:
            found["activity"] = self.activity_state.alpha[0]
        return found

    def layouts(self) -> dict[str, NDArray[np.float64]]:
        """Return what is recorded of some draws: one row or number a record."""
        if not self.dimension:
            return {}
        found = {"positions": np.hstack([self.state.position_a, self.state.position_b]).T}
        if self.state.sociality_sd is not None:
            found["sociality"] = self._sociality()
        return found

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

    def _state_arrays(self) -> Arrays:
        return {name: array for name, array in self.state._asdict().items() if array is not None}

    def snapshot(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything that changes, as arrays and as values that JSON holds."""
        arrays: Arrays = {f"state.{name}": array.copy() for name, array in self._state_arrays().items()}
        for name, value in self.tuning._asdict().items():
            if isinstance(value, np.ndarray):
                arrays[f"tuning.{name}"] = value.copy()
        if self.cache is not None:
            # Row sums are kept up to date by differences; summing afresh would change their last digits.
            arrays |= {f"cache.{name}": array.copy() for name, array in self.cache._asdict().items()}
        if self.activity_state is not None:
            arrays |= {f"activity.{name}": array.copy() for name, array in self.activity_state._asdict().items()}
        return arrays | self.profile_state.arrays(), {"rng": self.rng.bit_generator.state}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Become the chain that `snapshot` was taken of."""
        self.rng.bit_generator.state = values["rng"]
        for name, array in self._state_arrays().items():
            array[...] = arrays[f"state.{name}"]
        for name, value in self.tuning._asdict().items():
            if isinstance(value, np.ndarray):
                value[...] = arrays[f"tuning.{name}"]
        if self.sampler == "paper":
            self.cache = paper.init_cache(self.state, self.target)
            for name, array in self.cache._asdict().items():
                array[...] = arrays[f"cache.{name}"]
        if self.activity is not None and self.activity_state is not None:
            for name, array in self.activity_state._asdict().items():
                array[...] = arrays[f"activity.{name}"]
            self.target.log_prior[...] = self.activity.log_prior(float(self.activity_state.alpha[0]))
        self.profile_state.restore(arrays)
        self._weigh()
