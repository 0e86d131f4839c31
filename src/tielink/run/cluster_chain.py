"""One chain of the sampler for clusters; to the rest of the program it looks like any other chain."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.exact.adapt import adapt, adapt_correlation, adapt_sociality
from tielink.exact.clusters import correlation, positions, sociality
from tielink.exact.clusters.compile import compile_candidates, compile_rules, compile_space
from tielink.exact.clusters.gibbs import gibbs_place, gibbs_places
from tielink.exact.clusters.groups import Groups
from tielink.exact.clusters.hyperparameters import Hyperparameters
from tielink.exact.clusters.labels import MISSING, gibbs_label, gibbs_labels
from tielink.exact.clusters.offlist import move_off_list
from tielink.exact.clusters.start import empty_layout, make_tuning, start_layout
from tielink.exact.clusters.state import everyone_alone, join
from tielink.exact.profiles import Profiles
from tielink.model.cluster_priors import SizePrior
from tielink.model.problem import Problem
from tielink.run.job import Job

__all__ = ["ClusterChain"]

Arrays = dict[str, NDArray[Any]]

MOVES = ("gibbs", "wander", "off-list", "hyperparameter", "jump", "walk", "intercept", "scale", "spread")
LABEL_SWEEPS = 4
"""Without ties: draws of every unit's cluster for each update of rates and parameters."""
SWEEPS_BEFORE_TIES = 5
"""With ties and profiles: sweeps by profiles alone that a chain begins with."""
OFF_LIST = 4
"""Without ties: one sweep in so many looks at pairs that are no candidates."""
WALKS = 2
WANDERS = 2
"""Units that are offered one record at random, candidate or not: so that every linkage can be reached."""


class ClusterChain:
    """The state of one chain and how to move it on."""

    def __init__(self, job: Job, index: int) -> None:
        problem = job.problem
        self.job, self.index, self.sampler = job, index, job.run.sampler
        self.rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(index,)))
        self.sizes = problem.sizes
        self.profiles = Profiles(problem)
        self.profile_state = self.profiles.start()
        self.rules = compile_rules(problem)
        self.candidates = compile_candidates(problem)
        self.groups = Groups(self.profiles, _always(self.candidates), self.rules.largest, self.profile_state)
        self.complete = len(self.groups.pairs) == _possible_pairs(problem)
        self.state = everyone_alone(self.rules)
        self.seen = np.zeros(problem.records + 1, dtype=np.int64)
        prior = problem.linkage.clusters
        self.hyperparameters = Hyperparameters(prior, problem.records) if isinstance(prior, SizePrior) else None
        if self.hyperparameters is not None:
            self.hyperparameters.write(self.state)
        self.space = compile_space(problem)
        if self.space is not None:
            self.layout, self.tuning = empty_layout(self.space), make_tuning(self.space, problem.records)
        self._revalue()
        self.moves = MOVES + (correlation.MOVES if self._correlated else ()) + (sociality.MOVES if self._social else ())

    @property
    def _correlated(self) -> bool:
        return self.space is not None and self.layout.correlation is not None

    @property
    def _social(self) -> bool:
        return self.space is not None and self.layout.sociality_sd is not None

    def begin(self) -> None:
        """Start with anchors linked; with ties, also what profiles alone link, and with positions near a mode."""
        space = self.space
        if space is None:
            return
        if self.profiles.fields:
            self._link_by_profiles()
        self.layout = start_layout(self.rng, self.state, space)

    def _link_by_profiles(self) -> None:
        """Do a few sweeps without ties, and keep the clusters that profiles speak for.

        Networks are laid over each other by the persons they share: without any, chains begin far from a mode.
        """
        space, self.space = self.space, None
        try:
            for _ in range(SWEEPS_BEFORE_TIES):
                self.advance(None)
        finally:
            self.space = space
        found, self.state = self.state, everyone_alone(self.rules)
        if self.hyperparameters is not None:
            self.hyperparameters.write(self.state)
        least = math.log(self.job.problem.records)
        for slot in np.flatnonzero((found.size > 1) & (found.value > (found.size - 1) * least)):
            first, *others = dict.fromkeys(self.rules.unit_of[found.member[slot, : found.size[slot]]].tolist())
            for unit in others:
                record, other = (self.rules.unit_record[self.rules.unit_begin[one]] for one in (unit, first))
                join(self.state, self.rules, self.state.label[record], self.state.label[other], 0.0)
        self._revalue()

    def advance(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Do one sweep; tune if it is number `warmup_sweep` of warm-up. Return (proposed, accepted) by move."""
        counts = np.zeros((len(self.moves), 2), dtype=np.int64)
        by_move = dict(zip(self.moves, counts, strict=True))
        for _ in range(LABEL_SWEEPS if self.space is None else 1):
            self._labels(by_move["gibbs"])
        for _ in range(WANDERS):
            self._wander(by_move["wander"])
        if self.space is None and not self.complete and self.rng.random() < 1 / OFF_LIST:
            by_move["off-list"][:] = move_off_list(
                self.rng, self.state, self.rules, self.candidates, self.groups.evidence
            )
        if self.hyperparameters is not None:
            by_move["hyperparameter"][:] = self.hyperparameters.update(self.rng, self.state, warmup_sweep)
        if self.space is not None:
            self._positions(by_move, warmup_sweep)
            if self._social:
                self._socialities(counts[-len(sociality.MOVES) :], warmup_sweep)
        if self.profiles.fields:
            self.profiles.update(self.rng, self.profile_state, self.person())
            self._revalue()
        return counts

    def _positions(self, by_move: Arrays, warmup_sweep: int | None) -> None:
        """Move positions, intercepts, spread and phi; `by_move` holds the counts of each move."""
        rng, state, layout, space, tuning = self.rng, self.state, self.layout, self.space, self.tuning
        assert space is not None
        by_move["jump"][:] = positions.jump(rng, state, layout, space, tuning)
        for _ in range(WALKS):
            info = positions.walk(rng, state, layout, space, tuning)
            by_move["walk"] += (info.proposed, info.accepted)
        by_move["intercept"][:] = positions.walk_intercepts(rng, state, layout, space, tuning)
        by_move["scale"][:] = positions.scale(rng, state, layout, space, tuning)
        by_move["spread"][:] = positions.draw_spread(rng, state, layout, space)
        if warmup_sweep is not None:
            adapt(tuning, warmup_sweep, info.moved_a, info.moved_b, by_move["intercept"], by_move["scale"])  # type: ignore[arg-type]
        if self._correlated:
            by_move["correlation"][:] = correlation.walk_correlation(rng, state, layout, space, tuning)
            if warmup_sweep is not None:
                adapt_correlation(tuning, warmup_sweep, by_move["correlation"])

    def _socialities(self, counts: NDArray[np.int64], warmup_sweep: int | None) -> None:
        assert self.space is not None
        info = sociality.sweep_sociality(self.rng, self.state, self.layout, self.space, self.tuning, counts)
        if warmup_sweep is not None:
            adapt_sociality(self.tuning, warmup_sweep, info.moved_a, info.moved_b, counts)

    def _labels(self, counts: NDArray[np.int64]) -> None:
        begin, units = 0, len(self.rules.unit_begin) - 1
        rng, state, rules, candidates, wanted = self.rng, self.state, self.rules, self.candidates, self.groups.wanted
        while begin < units:
            table = self.groups.table
            if self.space is None:
                begin = gibbs_labels(rng, state, rules, table, wanted, candidates, begin, self.seen, counts)
            else:
                begin = gibbs_places(
                    rng, state, rules, table, wanted, candidates, self.layout, self.space, self.tuning, begin,
                    self.seen, counts,
                )  # fmt: skip
            if begin < units:
                self.groups.supply()

    def _wander(self, counts: NDArray[np.int64]) -> None:
        rng, state, rules, candidates, wanted = self.rng, self.state, self.rules, self.candidates, self.groups.wanted
        unit, other = rng.integers(len(rules.unit_begin) - 1), rng.integers(rules.file_of.size)
        if rules.unit_of[other] == unit:
            return
        while True:
            table = self.groups.table
            if self.space is None:
                moved = gibbs_label(rng, state, rules, table, wanted, candidates, unit, other, self.seen)
            else:
                moved = gibbs_place(
                    rng, state, rules, table, wanted, candidates, self.layout, self.space, self.tuning, unit, other,
                    self.seen,
                )  # fmt: skip
            if moved != MISSING:
                counts += (1, moved)
                return
            self.groups.supply()

    def _revalue(self) -> None:
        """Evaluate evidence at the current rates and parameters, that of the current clusters first of all."""
        self.groups.refresh(self.profile_state)
        if not self.profiles.fields:
            return
        for size in range(2, self.rules.largest + 1):
            slots = np.flatnonzero(self.state.size == size)
            if len(slots):
                self.state.value[slots] = self.groups.evidence(self.state.member[slots, :size])

    @property
    def persons(self) -> int:
        """N of the current state."""
        return int(self.state.number[0])

    def person(self) -> NDArray[np.int64]:
        """Return the smallest record number of each record's person."""
        return np.asarray(self.state.member[self.state.label, 0])

    def log_likelihood(self) -> float:
        """Return log p(ties, values | all else)."""
        value = self.profiles.log_likelihood(self.profile_state, self.person())
        if self.space is not None:
            for file, intercept in enumerate(self.layout.intercept):
                value += positions.file_log_likelihood(file, intercept, 1.0, self.layout, self.space)
            phi, intercepts = self.layout.correlation, self.layout.intercept
            value += correlation.total_gain(phi, intercepts, 1.0, self.state, self.layout, self.space)
        return float(value) if math.isfinite(value) else math.nan

    @property
    def dyads(self) -> int:
        """The number of dyads in all networks."""
        observed = [] if self.space is None else self.space.observed.tolist()
        return sum(size * (size - 1) // 2 for size, seen in zip(self.sizes, observed, strict=False) if seen)

    def dyad_log_likelihoods(self, out: NDArray[np.float64]) -> None:
        """Write log p(y_d) of every dyad of every network into `out`."""
        assert self.space is not None
        begin = 0
        for file in np.flatnonzero(self.space.observed):
            end = begin + self.sizes[file] * (self.sizes[file] - 1) // 2
            positions.dyad_log_likelihoods(file, self.layout, self.space, out[begin:end])
            begin = end

    def series(self) -> dict[str, Any]:
        """Return what is recorded of every draw, besides persons and profiles."""
        found: dict[str, Any] = {} if self.hyperparameters is None else {"prior": self.hyperparameters.values}
        if self.space is not None:
            found |= {"intercepts": self.layout.intercept, "spread": self.layout.spread[0]}
            if self.layout.correlation is not None:
                found["correlation"] = self.layout.correlation[0]
            if self.layout.sociality_sd is not None:
                found["sociality_sd"] = self.layout.sociality_sd[0]
        return found

    def layouts(self) -> dict[str, NDArray[np.float64]]:
        """Return what is recorded of some draws: one row or number a record."""
        if self.space is None:
            return {}
        found = {"positions": np.hstack(self.layout.position).T}
        if self._social:
            both = zip(self.layout.sociality, self.sizes, strict=True)
            found["sociality"] = np.concatenate([s if s is not None and s.size else np.zeros(n) for s, n in both])
        return found

    def snapshot(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything that changes, as arrays and as values that JSON holds."""
        arrays: Arrays = {f"state.{name}": array.copy() for name, array in self.state._asdict().items()}
        arrays |= self.profile_state.arrays()
        if self.hyperparameters is not None:
            arrays["hyperparameters"] = self.hyperparameters.values.copy()
            arrays["steps"] = self.hyperparameters.steps.copy()
        if self.space is not None:
            arrays |= {name: array.copy() for name, array in self._network_arrays().items()}
        return arrays, {"rng": self.rng.bit_generator.state}

    def _network_arrays(self) -> Arrays:
        """Return the arrays of positions and steps by name, themselves and no copies."""
        arrays: Arrays = {f"position.{file}": x for file, x in enumerate(self.layout.position)}
        arrays |= {"intercept": self.layout.intercept, "spread": self.layout.spread}
        steps = ["step_a", "step_intercept", "step_scale"]
        if self.layout.correlation is not None:
            arrays["correlation"] = self.layout.correlation
            steps.append("step_correlation")
        if self.layout.sociality_sd is not None:
            arrays |= {f"sociality.{file}": s for file, s in enumerate(self.layout.sociality) if s is not None}
            arrays["sociality_sd"] = self.layout.sociality_sd
            steps += ["step_sociality_a", "step_sociality_sd"]
        return arrays | {f"tuning.{name}": getattr(self.tuning, name) for name in steps}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Become the chain that `snapshot` was taken of."""
        self.rng.bit_generator.state = values["rng"]
        for name, array in self.state._asdict().items():
            array[...] = arrays[f"state.{name}"]
        self.profile_state.restore(arrays)
        if self.hyperparameters is not None:
            self.hyperparameters.values, self.hyperparameters.steps = arrays["hyperparameters"], arrays["steps"]
        if self.space is not None:
            for name, array in self._network_arrays().items():
                array[...] = arrays[name]
        self._revalue()


def _possible_pairs(problem: Problem) -> int:
    """Return the number of pairs that may be one person, whatever their profiles say."""
    inside = 0 if problem.linkage.allowed == "free" else sum(math.comb(size, 2) for size in problem.sizes)
    return math.comb(problem.records, 2) - inside - len(problem.linkage.nonmatches)


def _always(candidates: Any) -> NDArray[np.int64]:
    """Return the candidate pairs whose evidence is always kept, each once."""
    first = np.repeat(np.arange(len(candidates.begin) - 1), np.diff(candidates.begin))
    pairs = np.column_stack([first, candidates.record])
    return np.ascontiguousarray(pairs[pairs[:, 0] < pairs[:, 1]])
