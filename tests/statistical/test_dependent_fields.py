"""Fields that depend on each other: sweeps leave the joint distribution of everything as it is, and planted errors not.

A largest standardised change of seven statistics above 5 has a false-alarm rate below 1e-5.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from dependent_fields import draw_values, few, with_codes
from sampler.partition_worlds import set_labels
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.dependent import Dependent
from tielink.simulate.draw import draw_parameters

LIMIT = 5.0
CAUGHT = 7.0


def problem(sizes) -> tl.Problem:
    edges = tl.Dependence(edges=[("suburb", "postcode"), ("postcode", "state")], change=tl.Beta(2, 30))
    model = tl.Model(network=None, dependence=edges)
    made = few(model, sizes=sizes)
    rates = tuple(replace(rate, prior=tl.Beta(2, 30)) for rate in made.rates[:3])
    # The colour tells nothing and is left out.
    return replace(
        made,
        fields=made.fields[:3],
        rates=(*rates, made.rates[-1]),
        rate_of=np.arange(3)[:, None] + 0 * made.rate_of[:3],
    )


def largest_z(sizes, replicates: int, seed: int = 1, sweeps: int = 2) -> float:
    """Return the largest standardised mean change of statistics of prior draws under sweeps of a chain."""
    rng, base, changes = np.random.default_rng(seed), problem(sizes), []
    for _ in range(replicates):
        drawn = draw_parameters(rng, base)
        codes = draw_values(rng, base, drawn.labels, drawn.distortion)
        codes = np.where(rng.random(codes.shape) < 0.1, -1, codes)
        world = with_codes(base, codes)
        chain = Chain(Job(model=None, dataset=None, run=Run(seed=int(rng.integers(2**31))), problem=world), 0)
        chain.profile_state.rates = drawn.distortion.copy()
        chain.profile_state.fields = [field.code_probability() for field in base.fields]
        set_labels(chain, drawn.labels)
        chain.revalue()
        before = statistics(chain)
        for _ in range(sweeps):
            chain.advance(None)
        changes.append(np.array(statistics(chain)) - before)
    found = np.array(changes)
    return float(np.abs(found.mean(axis=0) / (found.std(axis=0) / np.sqrt(replicates) + 1e-12)).max())


def statistics(chain: Chain) -> list[float]:
    state = chain.profile_state
    return [*state.rates, state.rates[-1] * chain.persons, chain.persons, chain.log_likelihood()]


@pytest.mark.parametrize(("sizes", "replicates"), [((8, 8), 150), ((2, 2, 2), 80)])
def test_sweeps_leave_the_joint_distribution_as_it_is(sizes, replicates):
    assert largest_z(sizes, replicates) < LIMIT


@pytest.mark.long
@pytest.mark.parametrize("sizes", [(3, 3), (2, 2, 2), (4, 5)])
def test_sweeps_leave_the_joint_distribution_as_it_is_long(sizes):
    found = largest_z(sizes, 10_000, seed=5, sweeps=3)
    print(f"replicates, {len(sizes)} files: largest |z| {found:.2f}")
    assert found < LIMIT


def test_linking_as_if_fields_were_independent_is_caught(monkeypatch):
    """p(child) in place of p(child | parent), in the evidence of links alone."""
    monkeypatch.setattr(Dependent, "added", lambda self, number, fields, rates, records: np.zeros(len(records)))
    assert largest_z((12, 12), 200, sweeps=5) > CAUGHT
