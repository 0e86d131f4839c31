"""Starts, adaptation, and the promise that a chain goes on draw for draw."""

import numpy as np
import pytest

from sampler.worlds import random_state, random_target, random_ties
from tielink.exact.adapt import adapt
from tielink.exact.align import align, best_start
from tielink.exact.paper import init_cache, paper_sweep, refresh
from tielink.exact.start import height, start
from tielink.exact.state import copy, init, init_tuning
from tielink.exact.sweep import sweep
from tielink.exact.target import make_target


def test_target_reports_all_faults_together(rng):
    with pytest.raises(ValueError, match=r"adjacency_a.*log_prior.*log_bf"):
        make_target(
            adjacency_a=np.eye(3),
            adjacency_b=np.zeros((4, 4)),
            log_bf=np.full((3, 4), np.inf),
            log_prior=np.zeros(3),
            dimension=2,
        )


def test_run_n_then_n_is_run_2n(rng):
    target = random_target(rng, 8, 10, 2)
    whole, halves = random_state(rng, target, 3), None
    halves = copy(whole)
    first, second = np.random.default_rng(4), np.random.default_rng(4)
    tuning = init_tuning(target)
    for _ in range(10):
        sweep(first, whole, target, tuning)
    for _ in range(5):
        sweep(second, halves, target, tuning)
    halves = copy(halves)
    saved = second.bit_generator.state
    third = np.random.default_rng()
    third.bit_generator.state = saved
    for _ in range(5):
        sweep(third, halves, target, tuning)
    assert all(np.array_equal(a, b) for a, b in zip(whole, halves, strict=True))


def test_paper_cache_does_not_drift(rng):
    target = random_target(rng, 30, 40, 2)
    state, tuning = init(rng, target), init_tuning(target)
    cache = init_cache(state, target)
    for _ in range(200):
        paper_sweep(rng, state, target, tuning, cache)
    before = cache.row_b.copy()
    refresh(cache, state, target)
    assert np.abs(before - cache.row_b).max() < 1e-9


def test_adapted_steps_reach_their_goal(rng):
    target = random_target(rng, 20, 25, 2, spread_scale=100.0)
    state, tuning = init(rng, target), init_tuning(target)
    for t in range(400):
        info = sweep(rng, state, target, tuning)
        adapt(tuning, t, info.moved_a, info.moved_b, info.counts[7], info.counts[8])
    counts = sum(sweep(rng, state, target, tuning).counts for _ in range(200))
    assert 0.25 < counts[6, 1] / counts[6, 0] < 0.45


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_starts_are_valid_and_climb(rng, dimension):
    anchors = np.full(25, -1)
    anchors[:4] = [3, 1, 7, 5]
    target = random_target(
        rng,
        25,
        30,
        dimension,
        adjacency_a=random_ties(rng, 25, 0.2),
        adjacency_b=random_ties(rng, 30, 0.2),
        anchor_a=anchors,
        log_prior=np.zeros(22),
    )
    floor = height(init(rng, target), target).sum()
    found = [*align(rng, target, 2), best_start(rng, target)]
    assert not np.array_equal(found[0].position_a, found[1].position_a)
    for state in found:
        assert np.array_equal(state.partner_a, anchors)
        assert state.matched[0] == 0
        assert np.array_equal(state.position_a[:, :4], state.position_b[:, anchors[:4]])
        assert height(state, target).sum() > floor


def test_start_without_networks(rng):
    target = random_target(rng, 6, 5, 2, observed=(False, False))
    assert start(rng, target).matched[0] == 0
    half = random_target(rng, 6, 5, 2, observed=(True, False), link=1)
    state = best_start(rng, half)
    assert np.isfinite(state.position_a).all()
