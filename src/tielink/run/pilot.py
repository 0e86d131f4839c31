"""A pilot run that finds the power of shared ties before the chains start, so that all of them have one target.

The power rises from a small one for as long as it passes the tests of calibration (`network.power`). Then comes a
permutation test. Short chains begin alike, one with the ties as they are, the others with the ties of each file given
to records at random. Unless the first finds clearly more evidence of ties than all others, ties say nothing about who
is whom, and the power is 0: what chance and groups alone can do is not worth a link.

Last is a test of stress: with somewhat more power, do links appear that profiles object to? For true links the mean of
e^{-E}, E being the profile evidence of a link, is 1. Wrong links that support each other by their ties, as in groups
where everybody knows everybody, have profiles that do not agree, and the mean is far above it; then the power is cut.

Without fields links rest on ties alone, and only known matches can teach: some of them are hidden from the pilot run,
and the power is the one at which their records would choose their partners with the highest probability.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.data.linkage import Linkage
from tielink.model.problem import SharedTiesProblem
from tielink.network.power import Choice, calibrated_power, draw_choices, known_choices, taught_power
from tielink.network.shared_ties import SharedTiesPart
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.run.worker import Progress
from tielink.sampler.candidates import listed_candidates

__all__ = ["learn_power", "pilot_sweeps"]

PHASE = "learning how much ties weigh"

SWEEPS, EVERY = 80, 0.1
"""Sweeps of the search for a power, and the share of them between estimates, once a quarter of them is done."""
FIRST_GUESS = 0.2
GROWTH = 1.3
"""The factor by which the power may rise from one estimate to the next."""
LEAST = 0.05
"""With no power at all no link would ever rest on ties, and nothing could be learnt."""
KEPT = 600
"""Choices that an estimate rests on."""
STRESS, STRESS_SWEEPS = 1.4, 120
"""The test of stress: how many times the power, for how many sweeps."""
OBJECTION = 3.0
"""Profiles object where the mean of e^{-E} is this many times what it was by profiles alone, or 1 if that is more."""
WORST = 3.0
"""Evidence below minus this counts as this, so that a few links do not decide."""
CUT = 0.5
"""What is left of the power where profiles object."""
PERMUTATIONS, TEST_SWEEPS = 3, 60
"""Chains with permuted ties, and sweeps of each chain of that test; evidence is that of the second half, when all power
is there."""
CLEARLY, RATIO = 5.0, 1.5
"""Evidence of ties has to be more than that of permuted ties by so many nats, and so many times as much."""
OBVIOUS = 5.0
"""Evidence of so many times what one permutation found, and of so many times `CLEARLY`, needs no others."""
HIDDEN = 0.25
"""The share of known matches that are hidden from the pilot run where there are no fields."""
FEW_RECORDS, LEAST_SHARE, LEAST_SEARCH = 5_000, 0.2, 0.5
"""With more records than this, tests take fewer sweeps, down to this share: what they add up grows with the records. So
does the search, down to another share."""


def pilot_sweeps(records: int) -> int:
    """Return the number of sweeps of a pilot run, at most.

    >>> pilot_sweeps(100), pilot_sweeps(20_000), pilot_sweeps(1_000_000)
    (440, 130, 112)
    """
    return _search_sweeps(records) + _fewer(STRESS_SWEEPS, records) + (1 + PERMUTATIONS) * _fewer(TEST_SWEEPS, records)


def _search_sweeps(records: int) -> int:
    return _fewer(SWEEPS, records, LEAST_SEARCH)


def _fewer(sweeps: int, records: int, least: float = LEAST_SHARE) -> int:
    return round(sweeps * min(1.0, max(least, FEW_RECORDS / records)))


def learn_power(job: Job, report: Callable[[Progress], None]) -> float:
    """Run one chain for a while and return the largest power that is calibrated, from below."""
    report(Progress(0, "loading"))
    if not job.problem.fields:
        return _taught_power(job, report)
    records, sweeps = job.problem.records, _search_sweeps(job.problem.records)
    listed = listed_candidates(job.problem)
    # The next stream after those of the chains.
    chain = Chain(replace(job, run=replace(job.run, warmup=sweeps), power=FIRST_GUESS), job.run.chains, listed)
    chain.begin()
    ties = chain.network
    assert isinstance(ties, SharedTiesPart)
    choices: list[Choice] = []
    estimates: list[float] = []
    objections, total = _Objections(chain), pilot_sweeps(records)
    for sweep in range(sweeps):
        chain.advance(sweep)
        report(Progress(0, PHASE, sweep + 1, total, chain.persons))
        if sweep < sweeps // 4:
            continue
        choices = [*choices, *draw_choices(chain.rng, chain.state, chain.data)][-KEPT:]
        if _estimates_after(sweep, sweeps):
            estimates.append(calibrated_power(choices))
            # From below: with too much power wrong links support each other, and ties alone see nothing wrong.
            ties.power = min(max(estimates[-1], LEAST), GROWTH * ties.power)
    power = float(np.mean(np.minimum(estimates, ties.power)[len(estimates) // 2 :]))
    if not power or not _beyond_chance(replace(job, power=power), listed, report):
        return 0.0
    ties.power = min(STRESS * power, 1.0)
    chain.add_candidates(listed[0])  # what was hopeless with less power
    stress = _fewer(STRESS_SWEEPS, records)
    for sweep in range(stress):
        chain.advance(sweeps - 1)
        report(Progress(0, PHASE, total - stress + sweep + 1, total, chain.persons))
        objections.hear()
    return CUT * power if objections.raised() else power


def _estimates_after(sweep: int, sweeps: int) -> bool:
    every = round(EVERY * sweeps)
    return sweep % every == every - 1


def _beyond_chance(job: Job, listed: tuple[Codes, NDArray[np.bool_]], report: Callable[[Progress], None]) -> bool:
    """Whether ties say more about who is whom than ties given to records at random: a permutation test."""
    network = job.problem.network
    assert isinstance(network, SharedTiesProblem)
    rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(job.run.chains, 0)))
    sweeps, total = _fewer(TEST_SWEEPS, job.problem.records), pilot_sweeps(job.problem.records)
    done, found, chance = _search_sweeps(job.problem.records), 0.0, 0.0
    for permuted in (False, *(PERMUTATIONS * [True])):
        ties = tuple(
            np.sort(rng.permutation(size)[edges], axis=1) if permuted and edges is not None else edges
            for size, edges in zip(job.problem.sizes, network.ties, strict=True)
        )
        problem = replace(job.problem, network=replace(network, ties=ties))
        run = replace(job.run, warmup=sweeps)
        chain, heard = Chain(replace(job, problem=problem, run=run), job.run.chains + 1, listed), []
        chain.begin()
        for sweep in range(sweeps):
            chain.advance(sweep)
            done += 1
            report(Progress(0, PHASE, done, total, chain.persons))
            heard.append(chain.network.log_likelihood())
        evidence = float(np.mean(heard[sweeps // 2 :]))
        if not permuted:
            found = evidence
        else:
            chance = max(chance, evidence)
            if found <= max(chance + CLEARLY, RATIO * chance):
                return False
            if found > OBVIOUS * max(chance, CLEARLY):
                return True
    return True


def _taught_power(job: Job, report: Callable[[Progress], None]) -> float:
    """Without fields: hide some known matches, and return the power at which ties find their partners best."""
    rng = np.random.default_rng(np.random.SeedSequence(job.run.seed, spawn_key=(job.run.chains,)))
    anchors = job.dataset.anchors
    hidden = anchors.pair_numbers[rng.random(len(anchors.pair_numbers)) < HIDDEN]
    if not len(hidden):
        return taught_power([], 0)
    labels = anchors.labels.copy()
    labels[hidden[:, 1]] = labels.max() + 1 + np.arange(len(hidden))
    dataset = replace(job.dataset, anchors=Linkage(job.records, labels))
    without = Job.make(job.model, dataset, replace(job.run, warmup=SWEEPS))
    chain = Chain(replace(without, power=1.0), job.run.chains)
    chain.begin()
    ties = chain.network
    assert isinstance(ties, SharedTiesPart)
    hidden = hidden[(ties.ties.theta[hidden] > 0).all(axis=1)]
    choices: list[Choice] = []
    estimates: list[float] = []
    for sweep in range(SWEEPS):
        chain.advance(sweep)
        report(Progress(0, PHASE, sweep + 1, SWEEPS, chain.persons))
        if sweep < SWEEPS // 4:
            continue
        choices = [*choices, *known_choices(chain.rng, chain.state, chain.data, hidden)][-KEPT:]
        if _estimates_after(sweep, SWEEPS):
            estimates.append(taught_power(choices, len(hidden)))
            ties.power = max(estimates[-1], LEAST)
    return float(np.mean(estimates[len(estimates) // 2 :]))


class _Objections:
    """What profiles say of links, at the rates and parameters that a chain had before ties came in.

    Not at its present ones: wrong links teach a chain that values are often wrong, and then nothing is objectionable.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self.before = copy.deepcopy(chain.profile_state)
        self.usual = max(self._mean(), 1.0)
        self.heard: list[float] = []

    def _mean(self) -> float:
        """Return the mean of e^{-E} over the links of every record to the first of its person."""
        person = self.chain.person()
        later = np.flatnonzero(person != np.arange(len(person)))
        evidence = self.chain.profiles.evidence(self.before, person[later], later)
        return float(np.exp(-np.clip(evidence, -WORST, 30.0)).mean()) if len(later) else 0.0

    def hear(self) -> None:
        """Note what profiles say now."""
        self.heard.append(self._mean())

    def raised(self) -> bool:
        """Whether links were lately far more at odds with profiles than they were by profiles alone."""
        return float(np.mean(self.heard[-len(self.heard) // 4 :])) > OBJECTION * self.usual
