"""The power of shared ties: near 1 for ties drawn from the model, small where groups of people cannot be told apart."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import tielink as tl
from sampler.tied_worlds import draw_shared_ties, linked_chain
from tielink.network.power import USUAL, calibrated_power, draw_choices, known_choices, taught_power
from tielink.network.shared_ties import fit_rates
from tielink.sampler.reached import reached_pairs
from tielink.sampler.ties import log_shared, pair_gain

SIZE, SHARED = 90, 60
LABELS = np.concatenate([np.arange(SIZE), np.arange(SHARED), np.arange(SIZE, 2 * SIZE - SHARED)])


def found_power(ties, sharing=0.6, seed=1):
    """Return the power by the choices of all records, the true links given."""
    chain, rng = linked_chain((SIZE, SIZE), ties, LABELS, sharing), np.random.default_rng(seed)
    return calibrated_power([choice for _ in range(6) for choice in draw_choices(rng, chain.state, chain.data)])


def test_ties_of_the_model_are_believed():
    rng = np.random.default_rng(4)
    theta = rng.uniform(0.1, 0.35, 2 * SIZE)
    ties = draw_shared_ties(rng, (SIZE, SIZE), LABELS, theta, 0.6)
    assert found_power(ties) > 0.75


def cliques(size):
    return np.array([(i, j) for i in range(SIZE) for j in range(i + 1, min(SIZE, (i // size + 1) * size))])


def test_groups_in_which_everybody_knows_everybody_are_not():
    assert found_power((cliques(6), cliques(6))) < 0.5


def test_without_links_there_is_nothing_to_learn_from():
    chain = linked_chain((SIZE, SIZE), (cliques(6), cliques(6)), np.arange(2 * SIZE), 0.6)
    assert calibrated_power(draw_choices(np.random.default_rng(1), chain.state, chain.data)) == 0.0


def test_hidden_matches_teach_the_power():
    rng = np.random.default_rng(4)
    ties = draw_shared_ties(rng, (SIZE, SIZE), LABELS, rng.uniform(0.1, 0.35, 2 * SIZE), 0.6)
    hidden, labels = np.column_stack([np.arange(20), SIZE + np.arange(20)]), LABELS.copy()
    labels[hidden[:, 1]] = 2 * SIZE + np.arange(20)
    chain = linked_chain((SIZE, SIZE), ties, labels, 0.6)
    wrong = np.column_stack([hidden[:, 0], np.roll(hidden[:, 1], 1)])
    powers = [taught_power(known_choices(rng, chain.state, chain.data, pairs), 20) for pairs in (hidden, wrong)]
    assert powers[0] > 0.7, "ties of the model"
    assert powers[1] < USUAL, "matches that ties do not speak for"
    assert taught_power([], 0) == USUAL


def test_rates_give_the_degrees():
    rng = np.random.default_rng(2)
    degrees = rng.poisson(6, 80)
    theta = fit_rates(degrees)
    tied = -np.expm1(-np.outer(theta, theta))
    assert tied.sum(axis=1) - tied.diagonal() == pytest.approx(np.maximum(degrees, 0.5), rel=1e-3)


def test_somebody_tied_to_everybody_says_next_to_nothing():
    """Record 0 of either file is tied to all others, record 1 to three; both are known in both files."""
    rng, few = np.random.default_rng(3), [(1, 2), (1, 3), (1, 4)]
    others = {(i, j) for i in range(5, 40) for j in rng.choice(np.arange(5, 40), 2).tolist() if i < j}
    ties = np.array(sorted({*((0, i) for i in range(1, 40)), *few, *others}))
    labels = np.concatenate([np.arange(40), [0, 1], np.arange(40, 78)])
    chain = linked_chain((40, 40), (ties, ties), labels, 0.6)

    def gain(a, b):
        state = chain.state
        return pair_gain(state, chain.rules, chain.network.ties, a, b, state.label[a], state.label[b])

    assert gain(2, 42) > 1.0
    assert abs(gain(10, 50)) < 0.1


def test_two_people_tied_to_everybody_do_no_harm():
    """Their rates are so large that e^kappa is beyond all numbers."""
    ties = np.array([(hub, i) for hub in (0, 1) for i in range(hub + 1, 40)])
    chain = linked_chain((40, 40), (ties, ties), np.tile(np.arange(40), 2), 0.6)
    assert chain.network.ties.theta.max() ** 2 > 1_000
    assert np.isfinite(log_shared(chain.state, chain.rules, chain.network.ties))
    pairs = reached_pairs(chain.state, chain.rules, chain.network.ties, 5)
    assert ((pairs >= 0) & (pairs < 80)).all()


def test_the_pilot_finds_a_power_that_is_recorded():
    rng = np.random.default_rng(4)
    ties = draw_shared_ties(rng, (40, 40), np.tile(np.arange(40), 2), rng.uniform(0.2, 0.5, 80), 0.7)
    frames = {name: pl.DataFrame({"id": range(40)}) for name in "ab"}
    networks = dict(zip("ab", (edges.tolist() for edges in ties), strict=True))
    data = tl.Dataset.from_frames(frames, networks, fields={}, anchors=[(i, i) for i in range(20)])
    posterior = tl.sample(tl.Model(fields={}), data, chains=1, warmup=10, draws=5, seed=2, workers=0)
    assert 0.0 < posterior.power <= 1.0
    assert posterior.sharing.shape == (1, 5)
