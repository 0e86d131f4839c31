"""Joint-distribution tests of everything that profiles alone determine: linkage, classes, rates, fields' parameters.

Parameters and data are drawn from the prior; sweeps that are right leave the distribution of both as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

import tielink as tl
from sampler.partition_worlds import set_labels
from tielink.channels.channel import Channel, Drawn
from tielink.channels.measured import MeasuredChannel
from tielink.logp.parameters import Parameters
from tielink.logp.profiles import log_collapsed
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.profiles import Profiles
from tielink.simulate.draw import draw_parameters, draw_profiles


def with_data(rng: np.random.Generator, problem: tl.Problem, missing: float = 0.1) -> tuple[Parameters, tl.Problem]:
    """Draw parameters and values; return them and the problem with these values in it."""
    parameters = draw_parameters(rng, problem)
    drawn, _ = draw_profiles(rng, problem, parameters)
    fields = []
    for field, made in zip(problem.fields, drawn, strict=True):
        codes = np.where(rng.random(problem.records) < missing, -1, _codes(field, made))
        fields.append(replace(field, codes=codes))
    return parameters, replace(problem, fields=tuple(fields))


def _codes(field: Channel, made: Drawn) -> np.ndarray:
    """Return the channel's own codes of drawn values."""
    if not isinstance(field, MeasuredChannel):
        return made.values
    place = {text: code for code, text in enumerate(field.lattice.texts(np.arange(field.levels)))}
    return np.array([place[made.texts[value]] for value in made.values])


def one_replicate(
    rng: np.random.Generator, problem: tl.Problem, sweeps: int, break_it: Callable[[Profiles], None] | None
) -> tuple[list[float], list[float]]:
    """Return statistics of a draw from the prior, and of the same after some sweeps with short lists of candidates."""
    parameters, problem = with_data(rng, problem)
    run = Run(seed=int(rng.integers(2**31)))
    chain = Chain(Job(model=None, dataset=None, run=run, problem=problem), 0)
    own = chain.profile_state
    set_labels(chain, parameters.labels)
    own.rates, own.fields = parameters.distortion.copy(), [values.copy() for values in parameters.fields]
    own.careless, own.share = parameters.careless.copy(), parameters.careless_share
    judge = Profiles(problem)
    if break_it is not None:
        break_it(chain.profiles)
    listed = rng.random(len(chain.listed.pairs)) < 0.6
    chain._list(chain.listed.pairs[listed], chain.strong[listed])

    def statistics() -> list[float]:
        chosen = [value for values in own.fields if len(values) for value in (values[0], values[-2:][0])]
        likelihood = sum(
            log_collapsed(field, own.fields[place], judge.record_rates(own, place), chain.person())
            for place, field in enumerate(problem.fields)
        )
        return [*own.rates, own.share, own.careless.sum(), chain.persons, likelihood, *chosen]

    before = statistics()
    for _ in range(sweeps):
        chain.advance(None)
    return before, statistics()


def largest_z(
    problem: tl.Problem,
    replicates: int,
    sweeps: int = 2,
    seed: int = 1,
    break_it: Callable[[Profiles], None] | None = None,
) -> float:
    """Return the largest standardised change of any statistic or of its square."""
    rng = np.random.default_rng(seed)
    pairs = np.array([one_replicate(rng, problem, sweeps, break_it) for _ in range(replicates)], dtype=float)
    before, after = pairs.transpose(1, 2, 0)
    change = np.concatenate([after - before, after**2 - before**2])
    spread = change.std(axis=1)
    return float(np.abs(change.mean(axis=1) / np.where(spread > 0, spread, np.inf)).max() * np.sqrt(replicates))
