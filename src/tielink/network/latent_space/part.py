"""A latent space as a part of a chain, for partitions of any class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from tielink.model.problem import LatentSpaceProblem
from tielink.network.latent_space import positions, scalars
from tielink.network.latent_space.align import find_layout
from tielink.network.latent_space.gibbs import gibbs_places
from tielink.network.latent_space.merge import merge_or_split
from tielink.network.latent_space.space import Latent, empty_layout, make_space, make_tuning
from tielink.network.latent_space.trade import Alike, trade_places
from tielink.network.part import Arrays, NetworkPart
from tielink.sampler.partition import FREE

if TYPE_CHECKING:
    from tielink.run.chain import Chain

__all__ = ["LatentSpacePart"]

WALKS = 2
MERGES = 8
"""One merge or split for so many records outside of the largest file: it costs five times a Gibbs draw."""
HELD_SWEEPS = 50
"""Sweeps of warm-up in which rates stay as profiles alone drew them; at most half of it."""
POSITION_GOAL, SCALAR_GOAL = 0.35, 0.44


class LatentSpacePart(NetworkPart):
    """Positions, intercepts and spread."""

    moves: ClassVar[tuple[str, ...]] = ("merge", "trade", "jump", "walk", "intercept", "scale", "spread")
    sweeps_before = 50

    def __init__(self, chain: Chain) -> None:
        super().__init__(chain)
        problem, network = chain.problem, chain.problem.network
        assert isinstance(network, LatentSpaceProblem)
        self.space = make_space(problem.sizes, network)
        self.layout, self.tuning = empty_layout(self.space), make_tuning(self.space)
        self.alike = Alike(problem)
        self.dimension = network.dimension
        self.dyads = sum(
            size * (size - 1) // 2 for size, seen in zip(problem.sizes, self.space.observed, strict=True) if seen
        )

    @property
    def latent(self) -> Latent:
        """What kernels take."""
        return Latent(self.layout, self.space, self.tuning)

    def begin(self) -> None:
        """Put positions where they fit the linkage that profiles drew; without fields, search for layouts."""
        self.layout = find_layout(self.chain.rng, self.chain.state, self.space, self._pair_evidence())

    def _pair_evidence(self) -> NDArray[np.float64] | None:
        """Return the profile evidence of all pairs of two files, if only such pairs may be linked."""
        problem = self.chain.problem
        if len(problem.sizes) != 2 or self.chain.rules.mode == FREE:
            return None
        found = np.zeros(problem.sizes)
        for pairs, value in (
            (self.chain.listed.pairs, self.chain.listed.evidence),
            (problem.linkage.nonmatches, -np.inf),
        ):
            found[pairs[:, 0], pairs[:, 1] - problem.sizes[0]] = value
        return found

    def holds_rates(self, warmup_sweep: int | None) -> bool:
        """Whether rates stay: a chain that begins with all of them free may link everybody and call it distortion."""
        return warmup_sweep is not None and warmup_sweep < min(HELD_SWEEPS, self.chain.job.run.warmup // 2)

    def redraw(self, plan: NDArray[np.int64]) -> NDArray[np.int64]:
        """Redraw the clusters of the planned units, with positions.

        Where links are between files only, each has an end outside of the largest file, whose records can wait.
        """
        rules = self.chain.rules
        if rules.mode != FREE:
            file = rules.file_of[rules.unit_record[rules.unit_begin[plan[:, 0]]]]
            plan = plan[(file != np.argmax(rules.file_size)) | (plan[:, 1] >= 0)]
        return self.run(gibbs_places, plan)

    def run(self, kernel: Callable[..., int], plan: NDArray[np.int64]) -> NDArray[np.int64]:
        """Run a kernel that moves positions, too, along its plan."""
        latent = self.latent
        return self.chain.run(
            lambda rng, state, data, plan, begin, counts: kernel(rng, state, data, latent, plan, begin, counts), plan
        )

    def advance(self, warmup_sweep: int | None) -> Arrays:
        """Move positions, intercepts and spread."""
        rng, state, latent = self.chain.rng, self.chain.state, self.latent
        counts: Arrays = {name: np.zeros(2, dtype=np.int64) for name in self.moves}
        sizes, units = self.chain.rules.file_size, len(self.chain.rules.unit_begin) - 1
        few = int(sizes.sum() - sizes.max()) or units // 2
        if self.chain.rules.mode != FREE:
            counts["merge"] = self.run(merge_or_split, rng.integers(0, units, (max(1, few // MERGES), 1)))
        counts["trade"] = self.run(trade_places, self.alike.draw(rng, few))
        positions.jump(rng, state, latent, counts["jump"])
        for _ in range(WALKS):
            moved = positions.walk(rng, state, latent, counts["walk"])
        scalars.walk_intercepts(rng, latent, counts["intercept"])
        scalars.scale(rng, latent, counts["scale"])
        scalars.draw_spread(rng, state, latent, counts["spread"])
        if warmup_sweep is not None:
            self._adapt(warmup_sweep, moved, counts)
        return counts

    def _adapt(self, warmup_sweep: int, moved: NDArray[np.int8], counts: Arrays) -> None:
        """Robbins-Monro on the log of every step; `moved` are the walk's outcomes per record."""
        rate, seen = (warmup_sweep + 1.0) ** -0.6, moved >= 0
        self.tuning.step[seen] *= np.exp(rate * (moved[seen] - POSITION_GOAL))
        for step, (proposed, accepted) in (
            (self.tuning.step_intercept, counts["intercept"]),
            (self.tuning.step_scale, counts.get("scale", np.zeros(2))),
        ):
            if proposed:
                step *= np.exp(rate * (accepted / proposed - SCALAR_GOAL))
        for step in self.tuning[:3]:
            np.clip(step, 1e-3, 1e3, out=step)

    def log_likelihood(self) -> float:
        """Return log p(ties | positions, intercepts)."""
        return float(
            sum(
                scalars.file_log_likelihood(file, intercept, 1.0, self.layout, self.space)
                for file, intercept in enumerate(self.layout.intercept)
            )
        )

    def dyad_log_likelihoods(self, out: NDArray[np.float64]) -> None:
        """Write log p(y_d) of every dyad of every network into `out`."""
        begin = 0
        for file in np.flatnonzero(self.space.observed):
            size = self.chain.problem.sizes[file]
            end = begin + size * (size - 1) // 2
            scalars.dyad_log_likelihoods(file, self.layout, self.space, out[begin:end])
            begin = end

    def series(self) -> dict[str, Any]:
        """Return intercepts and spread."""
        return {"intercepts": self.layout.intercept, "spread": self.layout.spread[0]}

    def layouts(self) -> Arrays:
        """Return positions."""
        return {"positions": self.layout.position.T}

    def arrays(self) -> Arrays:
        """Return the arrays of positions and steps, themselves and no copies."""
        steps = ("step", "step_intercept", "step_scale")
        return self.layout._asdict() | {f"tuning.{name}": getattr(self.tuning, name) for name in steps}
