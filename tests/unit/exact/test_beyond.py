"""Correlated ties, sociality and activity: kernel values equal differences of the log joint."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from numba import njit
from scipy.special import expit
from scipy.stats import norm

import tielink as tl
from sampler.naive import correlated_log_ratio, log_joint_of, plackett_log_ratio
from sampler.worlds import random_state, random_target
from tielink.exact.activity import Activity, log_elementary
from tielink.exact.compile import compile_target
from tielink.exact.correlation import add_partner_gains, cross_gain, gain_at, pair_gain, ratio, total_gain
from tielink.exact.intercept import file_log_likelihood
from tielink.exact.row import row
from tielink.exact.state import NOBODY, State, blank_ties, copy, log_gamma, place_person, record_log_likelihood
from tielink.logp import Parameters, log_joint
from tielink.logp.correlation import log_ratio
from tielink.logp.linkage import log_elementary as plain_elementary

ON = {"correlation_sd": 1.5, "sociality_scale": 0.8}


@pytest.mark.parametrize("log_odds", [-12.0, -3.0, -1e-4, 1e-4, 2.0, 6.0, 12.0])
@pytest.mark.parametrize("equal", [True, False])
def test_ratio_has_all_its_digits(log_odds, equal):
    odds = float(np.exp(log_odds))
    for first in (1e-12, 1e-3, 0.4, 0.97, 1 - 1e-9):
        for second in (1e-9, 0.2, 0.6, 1 - 1e-6):
            want = plackett_log_ratio(first, second, odds, equal)
            plain = log_ratio(log_odds, np.array([first]), np.array([second]), np.array([equal]))[0]
            ours = np.log(ratio(first, 1 - first, second, odds if equal else 1 / odds))
            assert abs(plain - want) < 1e-9 * max(1, abs(want))
            assert abs(ours - want) < 1e-9 * max(1, abs(want))
    assert ratio(0.3, 0.7, 0.4, 1.0) == 1.0


def test_the_four_outcomes_have_the_margins_and_the_odds_ratio():
    first, second, log_odds = 0.3, 0.15, 1.3
    table = np.empty((2, 2))
    for y in (0, 1):
        for z in (0, 1):
            q1, q2 = (first if y else 1 - first), (second if z else 1 - second)
            table[y, z] = q1 * q2 * np.exp(log_ratio(log_odds, np.array([q1]), np.array([q2]), np.array([y == z])))[0]
    assert table.sum(axis=1) == pytest.approx([1 - first, first])
    assert table.sum(axis=0) == pytest.approx([1 - second, second])
    assert np.log(table[1, 1] * table[0, 0] / (table[1, 0] * table[0, 1])) == pytest.approx(log_odds)


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("settings", [{"correlation_sd": 1.5}, {"sociality_scale": 0.8}, ON])
def test_gamma_is_a_difference_of_log_joints(rng, link, settings):
    target = random_target(rng, 40, 45, 2, link=link, **settings)
    if target.correlated_a is not None:
        target.correlated_a[3] = False
    state = random_state(rng, target, 36)
    paired = int(np.flatnonzero(state.partner_a >= 0)[0])
    single = int(np.flatnonzero(state.partner_b < 0)[0])
    for members in ((paired, int(state.partner_a[paired])), (-1, single)):
        members = tuple(np.int64(i) for i in members)
        u, v = rng.normal(size=2), rng.normal(size=2) * 2
        values = []
        for point in (u, v):
            moved = copy(state)
            place_person(moved, members, point)
            values.append(log_joint_of(moved, target))
            here = log_gamma(point, members, NOBODY, state, target)
            assert abs(here - log_gamma(point, members, NOBODY, moved, target)) < 1e-11
        ours = log_gamma(u, members, NOBODY, state, target) - log_gamma(v, members, NOBODY, state, target)
        assert abs(ours - (values[0] - values[1])) < 1e-9


@pytest.mark.parametrize("link", [0, 1])
@pytest.mark.parametrize("settings", [{"correlation_sd": 1.5}, ON])
def test_gains_of_links_are_differences_of_log_joints(rng, link, settings):
    """A new link (as the Gibbs move weighs it), a swap's cross dyads, all pairs at once, and a proposed sociality."""
    target = random_target(rng, 9, 10, 2, link=link, **settings)
    target.correlated_b[2] = False
    state = random_state(rng, target, 5)
    before = correlated_log_ratio(state, target)
    phi, (first, second) = state.correlation, state.intercept
    assert abs(total_gain(phi, first, second, 1.0, state, target) - before) < 1e-9
    a = int(np.flatnonzero(state.partner_a < 0)[0])
    for b in np.flatnonzero(state.partner_b < 0):
        linked = copy(state)
        u = state.position_b[:, b].copy()
        linked.partner_a[a], linked.partner_b[b] = b, a
        linked.position_a[:, a] = u
        gained = pair_gain(phi, u, (np.int64(a), np.int64(b)), NOBODY, state, target)
        assert abs(gained - (correlated_log_ratio(linked, target) - before)) < 1e-9
        skip = int(np.flatnonzero(state.partner_a >= 0)[0])
        other = (np.int64(skip), state.partner_a[skip])
        cross = cross_gain(phi, u, state.position_a[:, skip].copy(), (a, b), other, state, target)
        rest = pair_gain(phi, u, (np.int64(a), np.int64(b)), other, state, target)
        assert abs(gained - rest - cross) < 1e-9
    if state.sociality_a is not None:
        pair = int(np.flatnonzero(state.partner_a >= 0)[1])
        members = (np.int64(pair), state.partner_a[pair])
        u = state.position_a[:, pair].copy()
        lifted = copy(state)
        lifted.sociality_a[pair] += 0.7
        ours = gain_at(phi, u, members, NOBODY, 0.7, 0.0, state, target)
        ours -= gain_at(phi, u, members, NOBODY, 0.0, 0.0, state, target)
        assert abs(ours - (correlated_log_ratio(lifted, target) - before)) < 1e-9


@pytest.mark.parametrize("side", [0, 1])
def test_help_for_proposals_is_the_gain_where_it_can_be(rng, side):
    """Without sociality and for b at u what is added is the pair's gain; it ignores whom the record is linked to."""
    target = random_target(rng, 9, 10, 2, correlation_sd=1.5)
    state = random_state(rng, target, 5)
    partner = (state.partner_a, state.partner_b)
    record = int(np.flatnonzero(partner[side] < 0)[0])
    u = rng.normal(size=2)
    gains, twice = np.zeros(partner[1 - side].size), np.ones(partner[1 - side].size)
    add_partner_gains(state.correlation, u, side, record, 1.0, state, target, gains)
    for b in np.flatnonzero(partner[1 - side] < 0):
        members = (record, b) if side == 0 else (b, record)
        want = pair_gain(state.correlation, u, tuple(np.int64(i) for i in members), NOBODY, state, target)
        assert abs(gains[b] - want) < 1e-9
    linked = copy(state)
    b = int(np.flatnonzero(partner[1 - side] < 0)[0])
    (linked.partner_a, linked.partner_b)[side][record] = b
    (linked.partner_a, linked.partner_b)[1 - side][b] = record
    add_partner_gains(state.correlation, u, side, record, 2.0, linked, target, twice)
    assert np.abs(twice - (1.0 + 2.0 * gains)).max() < 1e-12


def test_rows_with_offsets(rng):
    """A row with an array of intercepts, over more than one block, against SciPy; a file's sum likewise."""
    n = 1301
    x, ties = rng.normal(size=(2, n)) * 3.0, (rng.random(n) < 0.3).astype(np.uint8)
    u, levels = np.zeros(2), rng.normal(size=n)
    eta = levels - np.linalg.norm(x, axis=0)
    sign = np.where(ties, 1.0, -1.0)
    for link, terms in ((0, np.log(expit(sign * eta))), (1, norm.logcdf(sign * eta))):
        assert abs(row(u, x, ties, levels, link, 5, 700) - (terms.sum() - terms[5] - terms[700])) < 1e-9
    target = random_target(rng, 7, 9, 2, **ON)
    state = random_state(rng, target, 2)
    total = sum(file_log_likelihood(side, state.intercept[side], 1.0, state, target) for side in (0, 1))
    flat = state._replace(correlation=np.zeros(1))
    alone = log_joint_of(flat, target)
    shifted = copy(flat)
    shifted.sociality_a[:] += 0.3
    shifted.intercept[0] -= 0.6
    assert file_log_likelihood(0, shifted.intercept[0], 1.0, shifted, target) + file_log_likelihood(
        1, state.intercept[1], 1.0, shifted, target
    ) == pytest.approx(total, abs=1e-9)
    assert log_joint_of(shifted, target) != pytest.approx(alone)
    assert record_log_likelihood(np.zeros(2), 0, 2, np.int64(-1), shifted, target) != 0.0


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_the_kernels_are_the_log_joint_of_the_model(rng, link):
    """The written truth: `logp` of a compiled model and the naive joint of its target differ by a constant."""
    network = tl.LatentSpace(
        2, link, 2.0, tl.InverseGamma(4, 6), tie_correlation=tl.TieCorrelation(egos={"b": ["b0001"]}), sociality=True
    )
    model = tl.Model(network=network, linkage=tl.Uniform())
    made = tl.simulate.from_prior(rng, model, {"a": 6, "b": 7})
    problem = tl.Problem.compile(model, made.dataset)
    target, _ = compile_target(problem)
    assert target.correlated_b.tolist() == [True, False] + [True] * 5
    differences = []
    for matched in (0, 2, 4, 5):
        state = random_state(rng, target, matched)
        state.sociality_sd[0] = rng.random() + 0.3
        labels = np.concatenate([np.arange(6), 6 + np.arange(7)])
        linked = np.flatnonzero(state.partner_a >= 0)
        labels[6 + state.partner_a[linked]] = linked
        _, labels = np.unique(labels, return_inverse=True)
        positions = np.empty((labels.max() + 1, 2))
        positions[labels[6:]], positions[labels[:6]] = state.position_b.T, state.position_a.T
        parameters = Parameters(
            labels, positions, state.intercept, float(state.spread[0]), np.zeros(0),
            correlation=float(state.correlation[0]), sociality=np.concatenate([state.sociality_a, state.sociality_b]),
            sociality_sd=float(state.sociality_sd[0]),
        )  # fmt: skip
        differences.append(log_joint(problem, parameters) - log_joint_of(state, target))
    assert differences == pytest.approx([differences[0]] * 4, abs=1e-9)


def test_polynomials(rng):
    weights = rng.normal(size=30) * 2
    assert np.abs(log_elementary(weights, 20) - plain_elementary(weights, 20)).max() < 1e-11
    assert np.exp(log_elementary(np.log([1.0, 2.0, 3.0]), 3)) == pytest.approx([1, 6, 11, 6])
    long = log_elementary(3.0 * rng.normal(size=900), 800)
    assert np.isfinite(long).all()


def test_activity_reaches_every_move_through_the_target(rng):
    """log_prior[m] + the sum of log_bf over links is the log joint's p(xi | alpha), for any alpha."""
    data = tl.Dataset.from_frames(
        {name: pl.DataFrame({"id": range(size)}) for name, size in (("a", 4), ("b", 5))},
        {"a": [(0, 1), (0, 2)], "b": [(0, 1), (1, 2), (1, 3)]},
        fields={},
        anchors=[(("a", 0), ("b", 0))],
    )
    for inform in (False, True):
        model = tl.Model(linkage=tl.MatchRate(2, 1, anchors_inform=inform, activity=True))
        problem = tl.Problem.compile(model, data)
        target, _ = compile_target(problem)
        activity = Activity(problem.linkage.activity, problem.linkage.log_by_matches)
        own = activity.start()
        own.alpha[0] = 0.9
        target.log_prior[...] = activity.log_prior(0.9)
        activity.weigh(own, target)
        for partner in ((0, -1, -1, -1), (0, 2, -1, 4), (0, 3, 1, 2)):
            labels = np.arange(9)
            for a, b in enumerate(partner):
                if b >= 0:
                    labels[4 + b] = a
            ours = target.log_prior[sum(b >= 0 for b in partner) - 1]
            ours += sum(target.log_bf[a, b] for a, b in enumerate(partner) if a and b >= 0)
            _, labels = np.unique(labels, return_inverse=True)
            assert abs(ours - tl.logp.linkage.log_linkage(problem, labels, activity=0.9)) < 1e-9


def test_what_is_off_is_not_in_the_kernels(rng):
    """Compiled anew, a kernel that everything ends in holds the code of correlated ties only where they are on."""
    for settings, there in (({}, False), ({"correlation_sd": 1.5}, True)):
        target = random_target(rng, 4, 5, 2, **settings)
        kernel = njit(log_gamma.py_func)
        kernel(np.zeros(2), NOBODY, NOBODY, random_state(rng, target, 2), target)
        assert ("_sum_logs" in kernel.inspect_llvm(kernel.signatures[0])) == there


def test_what_is_off_is_none(rng):
    target = random_target(rng, 3, 4, 2)
    assert blank_ties(target) == (None,) * 4
    assert target.correlated_a is None
    half = random_target(rng, 3, 4, 2, observed=(True, False), **ON)
    assert half.correlated_b is None
    correlation, *sociality = blank_ties(half)
    assert correlation is None
    assert [array.size for array in sociality] == [3, 0, 1]
    assert isinstance(random_state(rng, half, 1), State)
    assert replace(tl.LatentSpace(), sociality=True).sociality == tl.Sociality()
