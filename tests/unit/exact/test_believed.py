"""Starts that profiles suggest."""

import numpy as np

from sampler.worlds import random_target, random_ties
from tielink.exact.believed import SURE, believed_pairs, start_from_profiles

EVIDENCE = np.full((8, 10), -1.0)
EVIDENCE[[2, 2, 3, 4, 5, 6], [5, 6, 6, 7, 8, 9]] = [20.0, 19.0, 9.0, 8.0, 7.0, np.log(9) + SURE - 0.1]


def world(rng):
    anchors = np.full(8, -1)
    anchors[0] = 0
    ties = {"adjacency_a": random_ties(rng, 8, 0.3), "adjacency_b": random_ties(rng, 10, 0.3)}
    return random_target(rng, 8, 10, 2, log_bf=EVIDENCE, anchor_a=anchors, log_prior=np.zeros(8), **ties)


def test_likely_pairs_are_believed_best_first_and_each_record_once(rng):
    assert believed_pairs(world(rng)).tolist() == [[2, 5], [3, 6], [4, 7], [5, 8]]


def test_a_start_links_anchors_and_some_believed_pairs(rng):
    target = world(rng)
    believed = {tuple(pair) for pair in believed_pairs(target).tolist()}
    numbers = set()
    for _ in range(12):
        state = start_from_profiles(rng, target)
        linked = np.flatnonzero(state.partner_a >= 0)
        found = {(int(a), int(state.partner_a[a])) for a in linked}
        assert found - believed == {(0, 0)}
        assert state.matched[0] == len(found) - 1
        assert np.array_equal(state.position_a[:, linked], state.position_b[:, state.partner_a[linked]])
        assert np.array_equal(state.partner_b[state.partner_a[linked]], linked)
        numbers.add(len(found))
    assert len(numbers) > 1
