"""Hopeless candidates leave the lists late in warm-up, and nothing else changes."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from sampler.mutants import mutant
from tielink.data.scores import pair_keys
from tielink.project import Run
from tielink.run import chain as chains
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.moves.labels import put_in
from tielink.sampler.narrow import worth_a_look
from tielink.simulate.people import people

FIELDS = ("given_name", "surname", "state")


@pytest.fixture(scope="module")
def job():
    """400 + 400 people, half of them in both files: more pairs than are all listed."""
    made = people(np.random.default_rng(5), (400, 400), 200)
    frames = {name: frame.select("id", *FIELDS) for name, frame in made.frames.items()}
    return Job.make(tl.Model(), tl.Dataset.from_frames(frames, id="id"), Run(seed=1, warmup=40))


def sampled(job, narrow_from):
    """Return a chain after 40 + 80 sweeps, and the probability of every pair that was ever listed."""
    chains.NARROW_FROM, kept = narrow_from, chains.NARROW_FROM
    try:
        chain = Chain(job, 0)
        chain.begin()
        for sweep in range(40):
            chain.advance(sweep)
        for _ in range(80):
            chain.advance(None)
    finally:
        chains.NARROW_FROM = kept
    return chain, chain.conditional_probabilities()


def test_what_leaves_the_lists_was_hopeless(job):
    wide, wide_probability = sampled(job, 2.0)
    narrow, narrow_probability = sampled(job, chains.NARROW_FROM)
    assert len(narrow.listed.pairs) < 0.6 * len(wide.listed.pairs)
    there = np.isin(pair_keys(wide.listed.pairs), pair_keys(narrow.listed.pairs))
    assert wide_probability[~there].max() < 1e-3
    assert wide_probability[~there].sum() < 0.05
    shown = wide_probability[there] >= 0.05
    assert np.abs(wide_probability[there] - narrow_probability)[shown].mean() < 0.03


CASES = [(-40.0, [True, False, False, False]), (35.0, [True, True, True, False])]


def kept(other, worth_a_look=worth_a_look):
    """Record 2 is linked with record 0, by far its best; record 1 would do, if record 0 had record 3 to go to."""
    names = {"a": ["anna", "ann"], "b": ["anna", "zoe"]}
    frames = {file: pl.DataFrame({"id": range(2), "name": values}) for file, values in names.items()}
    chain = Chain(Job.make(tl.Model(), tl.Dataset.from_frames(frames, id="id"), Run(seed=1)), 0)
    assert chain.listed.pairs.tolist() == [[0, 2], [0, 3], [1, 2], [1, 3]]
    chain.data.lists.value[:] = [40.0, other, 12.0, -40.0]
    put_in(chain.state, chain.data, chain.state.label[0], chain.state.label[2], 40.0)
    return worth_a_look(chain.state, chain.data, chain.listed.pairs).tolist()


@pytest.mark.parametrize(("other", "expected"), CASES)
def test_a_candidate_stays_if_the_partner_it_would_take_has_another(other, expected):
    assert kept(other) == expected


@pytest.mark.parametrize(
    "change", [(">= -DOUBT", ">= DOUBT"), (" - other[partner]", ""), ("weight - loss", "-weight - loss")]
)
def test_errors_in_what_is_worth_a_look_are_caught(change, tmp_path):
    broken = mutant(tmp_path, "sampler/narrow", f"narrow_{len(change[0])}", change)
    assert any(kept(other, broken.worth_a_look) != expected for other, expected in CASES)
