"""A chain that links two files by their profiles alone.

Evidence is kept for candidate pairs only, so that neither time nor memory grows with the product of the files' sizes;
moves off the list keep it exact for the whole model.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Terms
from tielink.exact.candidates import Candidates, find_candidates
from tielink.exact.compile import anchored_partners
from tielink.exact.listed import ListedPairs
from tielink.exact.matching import Matching, greedy, listed_pairs, make_lists, sweep_lists
from tielink.exact.offlist import move_off_list
from tielink.exact.profiles import Lookup, Profiles
from tielink.run.job import Job

__all__ = ["ProfileChain"]

Arrays = dict[str, NDArray[Any]]
OFF_LIST = 4
"""One sweep in so many looks off the list."""
REDRAWS = 10
"""One sweep in so many draws parameters that are drawn with distortions summed out: that costs more than the rest."""


class ProfileChain:
    """The state of one chain and how to move it on; see `tielink.run.chain.Chain` for the same with networks."""

    moves = ("gibbs", "exchange", "off-list")
    dimension = dyads = 0

    def __init__(self, job: Job, index: int, candidates: Candidates | None = None) -> None:
        self.job = job
        self.index = index
        # The same stream as SeedSequence(seed).spawn(chains)[index], whatever else runs beside it.
        self.rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(index,)))
        problem = job.problem
        self.profiles = Profiles(problem)
        self.profile_state = self.profiles.start()
        self.log_prior = np.ascontiguousarray(problem.linkage.log_by_matches)
        known = anchored_partners(problem)
        candidates = find_candidates(problem) if candidates is None else candidates
        self.lists, pairs = make_lists(candidates, known >= 0)
        self.pairs = ListedPairs(self.profiles, pairs)
        self.pairs.refresh(self.profile_state)
        self.complete = len(pairs) == math.prod(problem.linkage.free) - len(problem.linkage.nonmatches)
        self.matching = Matching(known, np.zeros(1, dtype=np.int64))

    def begin(self) -> None:
        """Link greedily by evidence, disturbed so that chains start apart, where a pair's odds are above one."""
        free = max(self.job.problem.linkage.free)
        noise = self.rng.gumbel(size=len(self.pairs.pairs))
        weight = self.pairs.evidence + noise - math.log(max(free, 1))
        order = np.argsort(-weight, kind="stable")
        order = order[weight[order] > 0]
        greedy(self.matching, order, self.pairs.pairs, len(self.log_prior) - 1)

    def advance(self, warmup_sweep: int | None) -> NDArray[np.int64]:
        """Do one sweep; nothing needs to be tuned. Return (proposed, accepted) by move."""
        counts = np.zeros((len(self.moves), 2), dtype=np.int64)
        counts[:2] = sweep_lists(self.rng, self.matching, self.lists, self.pairs.evidence, self.log_prior)
        if not self.complete and self.rng.random() < 1 / OFF_LIST:
            counts[2] = move_off_list(
                self.rng, self.matching, self.lists, self.log_prior, self.profiles.size, self._evidence
            )
        if self.profiles.fields:
            redraw = self.complete or self.rng.random() < 1 / REDRAWS
            self.profiles.update(self.rng, self.profile_state, self.person(), self._lookup(), redraw=redraw)
            self.pairs.refresh(self.profile_state)
        return counts

    def _lookup(self) -> Lookup:
        """Return what finds the terms of linked pairs that are on the list."""
        number_of = listed_pairs(self.matching, self.lists)

        def lookup(place: int, parameters: NDArray[np.float64], two: NDArray[np.int64]) -> Terms | None:
            numbers = number_of[two[:, 0]]
            listed = numbers >= 0
            found = self.pairs.terms(place, parameters, numbers[listed])
            if found is None or listed.all():
                return found
            field = self.profiles.fields[place]
            other = field.pair(parameters, *field.codes[two[~listed]].T)
            terms = Terms(*np.empty((4, len(two))))
            for whole, on, off in zip(terms, found, other, strict=True):
                whole[listed], whole[~listed] = on, off
            return terms

        return lookup

    def _evidence(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> NDArray[np.float64]:
        return self.profiles.evidence(self.profile_state, left, right)

    @property
    def persons(self) -> int:
        """N of the current state."""
        return int(self.matching.partner.size - (self.matching.partner >= 0).sum() // 2)

    def person(self) -> NDArray[np.int64]:
        """Return the smallest record number of each record's person."""
        own = np.arange(self.matching.partner.size)
        return np.where(self.matching.partner >= 0, np.minimum(self.matching.partner, own), own)

    def log_likelihood(self) -> float:
        """Return log p(values | all else)."""
        first = np.flatnonzero(self.matching.partner > np.arange(self.matching.partner.size))
        number = listed_pairs(self.matching, self.lists)[first]
        rest = first[number < 0]
        value = self.profiles.log_singles(self.profile_state) + self.pairs.evidence[number[number >= 0]].sum()
        value += self._evidence(rest, self.matching.partner[rest]).sum()
        return float(value) if math.isfinite(value) else math.nan

    def series(self) -> dict[str, Any]:
        """Return what is recorded of every draw, besides persons and profiles: nothing."""
        return {}

    def layouts(self) -> dict[str, NDArray[np.float64]]:
        """Return what is recorded of some draws: nothing, for there are no positions."""
        return {}

    def dyad_log_likelihoods(self, out: NDArray[np.float64]) -> None:
        """Write nothing: there are no dyads."""

    def snapshot(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything that changes, as arrays and as values that JSON holds."""
        arrays: Arrays = {f"state.{name}": array.copy() for name, array in self.matching._asdict().items()}
        return arrays | self.profile_state.arrays(), {"rng": self.rng.bit_generator.state}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Become the chain that `snapshot` was taken of."""
        self.rng.bit_generator.state = values["rng"]
        for name, array in self.matching._asdict().items():
            array[...] = arrays[f"state.{name}"]
        self.profile_state.restore(arrays)
        self.pairs.refresh(self.profile_state)
