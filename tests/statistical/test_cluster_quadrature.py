"""The sampler for clusters on pairs between two files: the exact probabilities of all 34 matchings of 3 + 3 records.

The same quadrature that holds for the two-file sampler (K = 1, intercepts and spread fixed), so both have
one posterior.
Declared false-alarm rate: 1e-4 for each test.
"""

from __future__ import annotations

import numpy as np
import pytest

from sampler import harness as h
from sampler.mutants import mutant
from sampler.naive import exact_matching_probabilities
from sampler.quadrature import ALPHA, INTERCEPT, SPREAD, correlated_world, world
from tielink.exact.clusters.compile import Candidates
from tielink.exact.clusters.correlation import walk_correlation
from tielink.exact.clusters.gibbs import gibbs_places
from tielink.exact.clusters.positions import walk
from tielink.exact.clusters.space import Layout, Space
from tielink.exact.clusters.start import make_tuning
from tielink.exact.clusters.state import PAIRS, Rules, everyone_alone
from tielink.exact.clusters.table import Table, Wanted, enter


def parts(target):
    """Return the target of two files as the sampler for clusters takes it."""
    file_of = np.repeat([0, 1], 3)
    one_each = np.arange(6)
    apart = np.argwhere(target.log_bf == -np.inf) + np.array([0, 3])
    both = np.concatenate([apart, apart[:, ::-1]])
    both = both[np.argsort(both[:, 0], kind="stable")]
    rules = Rules(
        PAIRS, 2, file_of, one_each, np.arange(7), one_each, np.searchsorted(both[:, 0], np.arange(7)),
        np.ascontiguousarray(both[:, 1]), target.log_prior, np.ones(2), np.array([3, 3]), np.zeros(2, dtype=np.int64),
        False,
    )  # fmt: skip
    space = Space(
        (target.adjacency_a, target.adjacency_b), target.observed, np.array([0, 3, 6]), file_of, target.intercept_sd,
        target.spread_shape, target.spread_scale, target.link, 1, target.temperature, 0.0, target.correlation_sd,
        None if target.correlated_a is None else np.concatenate([target.correlated_a, target.correlated_b]),
    )  # fmt: skip
    others = [[3, 4, 5]] * 3 + [[0, 1, 2]] * 3
    candidates = Candidates(np.arange(0, 21, 3), np.concatenate(others), np.ones(18, dtype=bool))
    pairs = np.array([(a, 3 + b) for a in range(3) for b in range(3)])
    table = Table(pairs, np.where(target.log_bf == -np.inf, 0.0, target.log_bf).ravel().copy(),
                  np.zeros(9, dtype=np.uint8), np.full(64, -1))  # fmt: skip
    enter(table, 0, 9)
    return rules, space, candidates, table


def chain_codes(target, number, candidates_kept, seed=1, draw=gibbs_places):
    rng = np.random.default_rng(seed)
    rules, space, candidates, table = parts(target)
    state = everyone_alone(rules)
    positions = (rng.normal(size=(1, 3)), rng.normal(size=(1, 3)))
    phi = np.zeros(1) if target.correlation_sd else None
    layout = Layout(positions, INTERCEPT.copy(), np.array([SPREAD]), (None, None), None, phi)
    tuning = make_tuning(space, 6)._replace(candidates=candidates_kept, step_correlation=np.full(1, 2.0))
    wanted = Wanted(np.empty((8, 2), dtype=np.int64), np.zeros(1, dtype=np.int64))
    seen, counts, codes = np.zeros(7, dtype=np.int64), np.zeros(2, dtype=np.int64), np.empty(number, dtype=np.int64)
    for t in range(number):
        draw(rng, state, rules, table, wanted, candidates, layout, space, tuning, 0, seen, counts)
        walk(rng, state, layout, space, tuning)
        if phi is not None:
            walk_correlation(rng, state, layout, space, tuning)
        code = 0
        for a in range(3):
            members = state.member[state.label[a]]
            code = code * 4 + (members[1] - 3 if members[1] >= 0 else -1) + 1
        codes[t] = code
    assert wanted.number[0] == 0
    return codes


def compare(target, codes):
    matchings, probability = exact_matching_probabilities(target, INTERCEPT, SPREAD)
    return h.batch_test(codes, h.codes_of(matchings, 3), probability)


@pytest.mark.parametrize("kept", [pytest.param(6, marks=pytest.mark.long), 2])
def test_pairs_against_quadrature(kept):
    target = world("rate")
    p, distance = compare(target, chain_codes(target, 12_000, kept))
    assert p > ALPHA, (p, distance)


def test_probit_and_known_non_match():
    target = world("rate", link=1)
    target.log_bf[1, 2] = -np.inf
    p, distance = compare(target, chain_codes(target, 12_000, 6))
    assert p > ALPHA, (p, distance)


@pytest.mark.long
def test_correlated_ties():
    target = correlated_world("rate")
    codes = chain_codes(target, 12_000, 6)
    p, distance = compare(target, codes)
    assert p > ALPHA, (p, distance)
    assert compare(target._replace(correlation_sd=0.0), codes)[0] < ALPHA, "that world does not tell φ from none"


def test_a_wrong_prior_is_caught():
    target = world("rate")
    wrong = target._replace(log_prior=target.log_prior + 0.5 * np.arange(4))
    p, _ = compare(target, chain_codes(wrong, 12_000, 6))
    assert p < 1e-6


@pytest.mark.long
def test_own_position_offered_to_a_linked_record_is_caught_long(tmp_path):
    wrong = mutant(tmp_path, "clusters/gibbs", "cluster_own", ("r == 0 and old < 0", "r == 0"))
    target = world("rate")
    p, distance = compare(target, chain_codes(target, 150_000, 6, draw=wrong.gibbs_places))
    print(f"clusters, pairs of two files, planted error, own position offered: p = {p:.1e}, distance {distance:.4f}")
    assert p < 1e-6


@pytest.mark.long
@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("prior", ["uniform", "rate"])
def test_pairs_against_quadrature_long(prior, link):
    target = world(prior, link=link, seed=11)
    p, distance = compare(target, chain_codes(target, 300_000, 3, seed=5))
    print(f"clusters, pairs of two files, {prior}, link {link}: p = {p:.3f}, total variation {distance:.4f}")
    assert p > ALPHA, (p, distance)
