"""One chain: a start, warm-up sweeps that tune, and sweeps that draw, for any number of files and any model of ties.

Everything a chain is can be taken out with `snapshot` and put back with `restore`, bit for bit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes, Terms
from tielink.data.scores import pair_keys
from tielink.model.cluster_priors import SizePrior
from tielink.model.problem import Problem, SharedTiesProblem
from tielink.network.part import Arrays, NetworkPart
from tielink.network.shared_ties import SharedTiesPart
from tielink.run.job import Job
from tielink.run.start import go_on
from tielink.sampler.candidates import listed_candidates
from tielink.sampler.data import Data, compile_rules, make_lists
from tielink.sampler.groups import Groups
from tielink.sampler.hyperparameters import Hyperparameters
from tielink.sampler.listed import ListedPairs
from tielink.sampler.moves.exchange import exchange_units, rivals
from tielink.sampler.moves.labels import every_unit, link_greedily, strangers
from tielink.sampler.moves.offlist import move_off_list
from tielink.sampler.moves.partners import change_partners
from tielink.sampler.narrow import worth_a_look
from tielink.sampler.partition import FREE, PAIRS, clusters_of
from tielink.sampler.profiles import Lookup, Profiles
from tielink.sampler.ties import sum_up

__all__ = ["MOVES", "Chain", "Move"]

STRANGERS = 2
"""Units that are offered one record at random in each sweep."""
WORTHWHILE, FEWEST = 1e-3, 1 / 8
"""Exchanges of which in warm-up fewer than this share are accepted become fewer in proportion, down to this share."""
NARROW_FROM, NARROW_EVERY = 0.6, 0.1
"""The share of warm-up after which hopeless candidates leave the lists, and how often that is seen to."""
CHANGES = 4
"""How often in a sweep half of the links off the lists may change one of their records."""
GROUP_SWEEPS = 4
"""Draws of every unit's cluster for each update of rates, where persons may have three records and more."""


class Move(NamedTuple):
    """A move of the partition: its name, and what does it; returns (proposed, accepted)."""

    name: str
    run: Callable[[Chain], Any]


def _gibbs(chain: Chain) -> Any:
    times = GROUP_SWEEPS if chain.rules.largest > 2 and not chain.network.dimension else 1
    chain.rounds += times
    return sum(chain.network.redraw(every_unit(chain.data)) for _ in range(times))


def _strangers(chain: Chain) -> Any:
    return chain.network.redraw(strangers(chain.rng, chain.data, STRANGERS))


def _exchange(chain: Chain) -> Any:
    if chain.network.dimension:
        return 0, 0
    proposed, accepted = chain.exchanged
    share = min(1.0, max(FEWEST, accepted / (WORTHWHILE * proposed))) if proposed else 1.0
    return chain.run(exchange_units, rivals(chain.rng, chain.data, math.ceil(share * chain.problem.records / 2)))


def _off_list(chain: Chain) -> Any:
    if chain.complete or chain.network.dimension:
        return 0, 0
    return move_off_list(chain.rng, chain.state, chain.data, chain.groups.evidence, chain.problem.records)


def _partners(chain: Chain) -> Any:
    if chain.complete or chain.network.dimension:
        return 0, 0
    evidence, alike = chain.groups.evidence, chain.profiles.alike
    return sum(change_partners(chain.rng, chain.state, chain.data, evidence, alike) for _ in range(CHANGES))


MOVES = (
    Move("gibbs", _gibbs),
    Move("stranger", _strangers),
    Move("exchange", _exchange),
    Move("off-list", _off_list),
    Move("partner", _partners),
)
"""Every move of the partition, in the order of a sweep."""


class Chain:
    """The state of one chain and how to move it on."""

    def __init__(self, job: Job, index: int, listed: tuple[Codes, NDArray[np.bool_]] | None = None) -> None:
        """Make a chain of a job; `listed` are its candidates, where they are known (see `listed_candidates`)."""
        self.job, self.index = job, index
        # The same stream as SeedSequence(seed).spawn(chains)[index], whatever else runs beside it.
        self.rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(index,)))
        problem = self.problem = job.problem
        self.profiles = Profiles(problem)
        self.profile_state = self.profiles.start()
        self.rules = compile_rules(problem)
        self.groups = Groups(self.profiles, self.rules.largest, self.profile_state)
        self.state = clusters_of(self.rules.unit_of, self.rules)
        prior = problem.linkage.clusters
        self.hyperparameters = Hyperparameters(prior, problem.records) if isinstance(prior, SizePrior) else None
        if self.hyperparameters is not None:
            self.hyperparameters.write(self.state)
        self.network = self._network_part()
        self.rounds = 0
        """Rounds of Gibbs draws that the sums of conditional probabilities are over."""
        self.exchanged = np.zeros(2)
        """Exchanges proposed and accepted in warm-up, the latest counting most."""
        shared = (*(move.name for move in MOVES), "hyperparameter") if self.network.partition_moves else ()
        self.moves = (*shared, *self.network.moves)
        self._list(*(listed_candidates(problem) if listed is None else listed))

    def _network_part(self) -> NetworkPart:
        network = self.problem.network
        if isinstance(network, SharedTiesProblem):
            return SharedTiesPart(self, self.job.power)
        if network is None:
            return NetworkPart(self)
        from tielink.network.latent_space.paper import PaperPart  # only what the job needs is imported
        from tielink.network.latent_space.part import LatentSpacePart

        return PaperPart(self) if self.job.run.sampler == "paper" else LatentSpacePart(self)

    def _list(self, pairs: Codes, strong: NDArray[np.bool_]) -> None:
        """Make these pairs the candidates."""
        lists = make_lists(pairs, strong, self.problem.records)
        self.listed = ListedPairs(self.profiles, pairs, lists.value)
        self.strong = strong
        self.complete = len(pairs) == _possible_pairs(self.problem)
        seen = np.zeros(self.problem.records + 1, dtype=np.int64)
        self._data = Data(self.rules, lists, self.groups.table, self.network.ties, seen)
        self.revalue()

    @property
    def data(self) -> Data:
        """What kernels read."""
        return self._data._replace(table=self.groups.table)

    def add_candidates(self, pairs: Codes) -> None:
        """Add pairs of records to the lists, but those that can be no candidates."""
        old = self.listed.pairs
        if self.rules.mode != FREE:
            pairs = pairs[self.rules.file_of[pairs[:, 0]] != self.rules.file_of[pairs[:, 1]]]
        known = pair_keys(np.concatenate([old, self.problem.linkage.nonmatches]))
        new = np.setdiff1d(pair_keys(pairs), known)
        if len(new):
            every = np.concatenate([old, np.column_stack(np.divmod(new, 1 << 32))])
            order = np.lexsort((every[:, 1], every[:, 0]))
            self._list(every[order], np.append(self.strong, np.ones(len(new), dtype=bool))[order])

    def _narrow(self, warmup_sweep: int) -> None:
        """Late in warm-up, take hopeless pairs off lists that do not hold all pairs anyway."""
        warmup = self.job.run.warmup
        now = warmup_sweep >= NARROW_FROM * warmup and warmup_sweep % max(1, round(NARROW_EVERY * warmup)) == 0
        if now and self.rules.mode == PAIRS and not self.complete and not self.network.dimension:
            kept = worth_a_look(self.state, self.data, self.listed.pairs)
            if not kept.all():
                self._list(self.listed.pairs[kept], self.strong[kept])

    def run(self, kernel: Callable[..., int], plan: Codes) -> Codes:
        """Run a kernel along its plan; where it misses evidence of a group, supply it and go on."""
        counts, begin = np.zeros(2, dtype=np.int64), 0
        while begin < len(plan):
            begin = kernel(self.rng, self.state, self.data, plan, begin, counts)
            if begin < len(plan):
                self.groups.supply()
        return counts

    def revalue(self) -> None:
        """Evaluate evidence at the current rates and parameters, that of the current clusters too."""
        if self.profiles.fields:
            self.listed.refresh(self.profile_state)
            self.groups.refresh(self.profile_state)
            for size in range(2, self.rules.largest + 1):
                slots = np.flatnonzero(self.state.size == size)
                if size == 2:  # mostly candidates, whose evidence is at hand
                    number = self.listed.numbers(self.state.member[slots, :2])
                    self.state.value[slots[number >= 0]] = self.listed.evidence[number[number >= 0]]
                    slots = slots[number < 0]
                if len(slots):
                    self.state.value[slots] = self.groups.evidence(self.state.member[slots, :size])
        sum_up(self.state, self.rules, self.network.ties)

    def begin(self) -> None:
        """Find a start: link what profiles speak for, disturbed so that chains start apart, then what ties need.

        Where an earlier run's draws are given, go on from there.
        """
        if self.job.start is not None and not self.network.dimension:
            go_on(self, self.job.start)
            return
        if self.profiles.fields and self.network.partition_moves:
            noise = self.rng.gumbel(size=len(self.listed.pairs))
            weight = self.listed.evidence + noise - math.log(self.problem.records)
            order = np.argsort(-weight, kind="stable")
            link_greedily(self.state, self.data, self.listed.pairs[order[weight[order] > 0]])
            if self.problem.network is not None:
                self._sweep_by_profiles()
        self.network.begin()
        self.revalue()

    def _sweep_by_profiles(self) -> None:
        """Do a few sweeps as if there were no ties."""
        network, data = self.network, self._data
        self.network = NetworkPart(self)
        self._data = data._replace(ties=self.network.ties)
        for _ in range(network.sweeps_before):
            self._sweep(None)
        self.network, self._data = network, data

    def conditional_probabilities(self) -> NDArray[np.float64] | None:
        """Return the Rao-Blackwell estimate of the probability of every listed pair; None with positions.

        The mean, since last asked, of the link's full conditional probabilities in the Gibbs draws of both records.
        """
        if self.network.dimension:
            return None
        chance, rounds = self.data.lists.chance, self.rounds
        mean = chance / max(2 * rounds, 1)
        chance[:], self.rounds = 0.0, 0
        return mean

    def advance(self, warmup_sweep: int | None) -> Codes:
        """Do one sweep; tune if it is number `warmup_sweep` of warm-up. Return (proposed, accepted) by move."""
        self.network.prepare(warmup_sweep)
        if warmup_sweep is not None:
            self._narrow(warmup_sweep)
        elif not self.data.lists.tally[0]:
            self.data.lists.tally[0], self.rounds = True, 0
        counts = self._sweep(warmup_sweep)
        if warmup_sweep is not None and "exchange" in counts:
            self.exchanged = 0.9 * self.exchanged + counts["exchange"]
        return np.array([counts[name] for name in self.moves], dtype=np.int64)

    def _sweep(self, warmup_sweep: int | None) -> dict[str, Any]:
        counts = {move.name: move.run(self) for move in MOVES} if self.network.partition_moves else {}
        counts["hyperparameter"] = (0, 0)
        if self.hyperparameters is not None:
            counts["hyperparameter"] = self.hyperparameters.update(self.rng, self.state, warmup_sweep)
        counts |= self.network.advance(warmup_sweep)
        if self.profiles.fields and not self.network.holds_rates(warmup_sweep):
            self.profiles.update(self.rng, self.profile_state, self.person(), self._lookup())
        self.revalue()
        return counts

    def _lookup(self) -> Lookup:
        """Return what finds the terms of linked pairs that are on the list."""

        def lookup(place: int, parameters: NDArray[np.float64], two: Codes) -> Terms | None:
            numbers = self.listed.numbers(two)
            listed = numbers >= 0
            found = self.listed.terms(place, parameters, numbers[listed])
            if found is None or listed.all():
                return found
            field = self.profiles.fields[place]
            other = field.pair(parameters, *field.codes[two[~listed]].T)
            terms = Terms(*np.empty((4, len(two))))
            for whole, on, off in zip(terms, found, other, strict=True):
                whole[listed], whole[~listed] = on, off
            return terms

        return lookup

    @property
    def persons(self) -> int:
        """N of the current state."""
        return int(self.state.number[0])

    def person(self) -> Codes:
        """Return the smallest record number of each record's person."""
        return np.asarray(self.state.member[self.state.label, 0])

    def log_likelihood(self) -> float:
        """Return log p(ties, values | all else)."""
        value = self.profiles.log_singles(self.profile_state) + self.state.value[self.state.size > 0].sum()
        value += self.network.log_likelihood()
        return float(value) if math.isfinite(value) else math.nan

    def series(self) -> dict[str, Any]:
        """Return what is recorded of every draw, besides persons and profiles."""
        found: dict[str, Any] = {} if self.hyperparameters is None else {"prior": self.hyperparameters.values}
        return found | self.network.series()

    def snapshot(self) -> tuple[Arrays, dict[str, Any]]:
        """Return everything that changes, as arrays and as values that JSON holds."""
        arrays: Arrays = {f"state.{name}": array.copy() for name, array in self.state._asdict().items()}
        arrays |= self.profile_state.arrays()
        arrays |= {f"network.{name}": array.copy() for name, array in self.network.arrays().items()}
        arrays |= {"pairs": self.listed.pairs.copy(), "strong": self.strong.copy()}
        arrays |= {"chance": self.data.lists.chance.copy(), "tally": self.data.lists.tally.copy()}
        arrays["exchanged"] = self.exchanged.copy()
        if self.hyperparameters is not None:
            arrays["hyperparameters"] = self.hyperparameters.values.copy()
            arrays["steps"] = self.hyperparameters.steps.copy()
        return arrays, {"rng": self.rng.bit_generator.state, "rounds": self.rounds}

    def restore(self, arrays: Arrays, values: dict[str, Any]) -> None:
        """Become the chain that `snapshot` was taken of."""
        self.rng.bit_generator.state = values["rng"]
        for name, array in self.state._asdict().items():
            array[...] = arrays[f"state.{name}"]
        for name, array in self.network.arrays().items():
            array[...] = arrays[f"network.{name}"]
        self.profile_state.restore(arrays)
        if self.hyperparameters is not None:
            self.hyperparameters.values, self.hyperparameters.steps = arrays["hyperparameters"], arrays["steps"]
        self._list(arrays["pairs"], arrays["strong"])
        self.exchanged = arrays["exchanged"]
        self.data.lists.chance[:], self.data.lists.tally[:] = arrays["chance"], arrays["tally"]
        self.rounds = int(values["rounds"])


def _possible_pairs(problem: Problem) -> int:
    """Return the number of pairs that may be one person, whatever their profiles say."""
    inside = 0 if problem.linkage.allowed == "free" else sum(math.comb(size, 2) for size in problem.sizes)
    return math.comb(problem.records, 2) - inside - len(problem.linkage.nonmatches)
