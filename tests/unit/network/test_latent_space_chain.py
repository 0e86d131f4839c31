"""A latent space in a chain: starts, rates that are held, records that trade places, and the paper's algorithm."""

import numpy as np
import pytest

import tielink as tl
from tielink.network.latent_space.align import find_layout
from tielink.network.latent_space.space import empty_layout
from tielink.network.latent_space.start import heights
from tielink.network.latent_space.trade import Alike
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.simulate import scenario

PLACES = {"place": ["x", "y", "z"], "role": ["p", "q"]}


def chain_of(anchors=0.25, fields=True, **run):
    model = tl.Model(network=tl.LatentSpace(2), fields=None if fields else {})
    vocabularies = PLACES if fields else {}
    rng = np.random.default_rng(4)
    made = scenario(rng, model, {"a": 14, "b": 17}, overlap=10, density=0.3, anchors=anchors, vocabularies=vocabularies)
    return Chain(Job.make(model, made.dataset, Run(**run)), 0)


def test_starts_are_valid_and_higher_than_a_random_one(rng):
    chain = chain_of(anchors=0.2, fields=False)
    space, state = chain.network.space, chain.state
    at_random = empty_layout(space)
    at_random.position[:] = rng.normal(size=at_random.position.shape)
    pairs = state.member[state.size == 2]
    assert len(pairs) == 2
    one, other = (find_layout(rng, state, space, np.zeros((14, 17))) for _ in range(2))
    assert not np.array_equal(one.position, other.position)
    for layout in (one, other):
        assert np.array_equal(layout.position[:, pairs[:, 0]], layout.position[:, pairs[:, 1]])
        assert heights(layout, space).sum() > heights(at_random, space).sum()


def test_rates_are_held_in_the_first_sweeps_of_warm_up():
    chain = chain_of(warmup=12)
    chain.begin()
    held = chain.profile_state.rates.copy()
    for sweep in range(6):
        chain.advance(sweep)
    assert np.array_equal(chain.profile_state.rates, held)
    chain.advance(6)
    assert not np.array_equal(chain.profile_state.rates, held)


def test_pairs_to_trade_are_alike():
    chain = chain_of()
    problem, alike = chain.problem, Alike(chain.problem)
    codes = np.column_stack([field.codes for field in problem.fields])
    plan = alike.draw(np.random.default_rng(1), 4_000)
    assert (plan[:, 0] != plan[:, 1]).all()
    assert (problem.file_of[plan[:, 0]] == problem.file_of[plan[:, 1]]).all()
    same = (codes[plan[:, 0]] == codes[plan[:, 1]]).mean(axis=1)
    assert (same == 1).mean() > 0.25  # one kind of four has all values in common, and others by chance
    assert set(plan[:, 2]) == {0, 1}


@pytest.mark.parametrize("sampler", ["exact", "paper"])
def test_positions_are_those_of_persons_and_what_is_known_stays(sampler):
    chain = chain_of(sampler=sampler, warmup=20)
    anchored = chain.state.member[chain.state.size == 2]
    assert len(anchored) > 0
    chain.begin()
    for sweep in range(30):
        chain.advance(sweep if sweep < 20 else None)
        where, person = chain.network.layouts()["positions"], chain.person()
        assert (where == where[person]).all()
        assert (person[anchored[:, 0]] == person[anchored[:, 1]]).all()
        assert chain.persons == len(np.unique(person))


def test_what_the_papers_algorithm_remembers_does_not_drift():
    chain = chain_of(sampler="paper")
    chain.begin()
    for _ in range(100):
        chain.advance(None)
    before = chain.network.rows.copy()
    chain.network.remember()
    assert np.abs(before - chain.network.rows).max() < 1e-9
