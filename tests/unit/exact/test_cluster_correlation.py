"""Correlated ties among clusters over three files: kernel values equal differences of the log joint."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tielink as tl
from sampler.cluster_worlds import moves_of_persons, put
from tielink.exact.clusters.correlation import cluster_gain, joined_gain, total_gain
from tielink.exact.clusters.space import log_gamma
from tielink.exact.clusters.state import join, part
from tielink.logp import log_joint_terms
from tielink.project import Run
from tielink.run.cluster_chain import ClusterChain
from tielink.run.job import Job


def drawn_chain(rng, link="logit", sizes=None, **options):
    """A chain at parameters drawn from the prior in which many persons are in two and three files."""
    network = tl.LatentSpace(2, link, 1.5, tl.InverseGamma(6.0, 10.0), sociality=True, tie_correlation=True)
    model = tl.Model(network=network, linkage=tl.OnePerFile(4, 2), fields={}, **options)
    drawn = tl.simulate.from_prior(rng, model, sizes or {"a": 6, "b": 7, "c": 5}, {})
    return chain_at(drawn, drawn.dataset), drawn


def chain_at(drawn, dataset):
    chain = ClusterChain(Job.make(drawn.model, dataset, Run()), 0)
    put(chain, drawn.parameters)
    return chain


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_kernels_are_differences_of_log_joints(rng, link):
    chain, drawn = drawn_chain(rng, link)
    parameters = drawn.parameters
    layout, space, state, problem = chain.layout, chain.space, chain.state, chain.job.problem
    assert set(state.size[state.size > 0]) == {1, 2, 3}, "clusters of every size: choose another seed"
    terms = dict(log_joint_terms(problem, parameters))
    ties = sum(value for name, value in terms.items() if "ties" in name)
    assert abs(terms["correlated ties"]) > 0.1
    gained = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    assert gained == pytest.approx(terms["correlated ties"], abs=1e-9)
    assert chain.log_likelihood() == pytest.approx(ties, abs=1e-9)
    for members, points, difference in moves_of_persons(rng, problem, parameters):
        slot = state.label[members[0]]
        first, second = (
            log_gamma(u, members, len(members), layout, space) + cluster_gain(u, slot, state, layout, space)
            for u in points
        )
        assert first - second == pytest.approx(difference, abs=1e-9)


def test_what_a_record_adds_to_a_cluster_is_the_difference_of_totals(rng):
    chain, _ = drawn_chain(rng)
    layout, space, state, rules = chain.layout, chain.space, chain.state, chain.rules
    checked = 0
    for record in range(len(state.label)):
        slot = state.label[record]
        if state.size[slot] < 2:
            continue
        whole = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
        both, count = state.member[slot].copy(), state.size[slot]
        u = chain.layouts()["positions"][record]
        own = part(state, rules, record, 0.0, 0.0)
        apart = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
        added = joined_gain(u, own, slot, both, count, state, layout, space)
        assert added == pytest.approx(whole - apart, abs=1e-9)
        join(state, rules, own, slot, 0.0)
        checked += 1
    assert checked > 8


def test_anchored_records_gain_together(rng):
    """What a known pair gains wherever it is put is the difference of totals, as for a record alone."""
    _, drawn = drawn_chain(rng)
    person = int(np.flatnonzero(np.bincount(drawn.parameters.labels) == 3)[0])
    pair = np.flatnonzero(drawn.parameters.labels == person)[:2]
    known = tl.Linkage.from_pairs(drawn.dataset, [tuple(drawn.dataset.records[int(record)] for record in pair)])
    chain = chain_at(drawn, replace(drawn.dataset, anchors=known))
    layout, space, state, rules = chain.layout, chain.space, chain.state, chain.rules
    unit, slot = rules.unit_of[pair[0]], state.label[pair[0]]
    both, count, u = state.member[slot].copy(), state.size[slot], chain.layouts()["positions"][pair[0]]
    whole = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    own = part(state, rules, unit, 0.0, 0.0)
    apart = total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)
    alone = cluster_gain(u, own, state, layout, space)
    assert abs(alone) > 1e-6
    joined = joined_gain(u, own, slot, both, count, state, layout, space)
    assert joined - alone == pytest.approx(whole - apart, abs=1e-9)


def test_the_chain_of_dyads_is_a_distribution_with_the_same_margins():
    """All ties of two persons in three files: probabilities sum to one, and every file's margin is what it was."""
    frames = {name: pl.DataFrame({"id": [0, 1]}) for name in "abc"}
    network = tl.LatentSpace(1, tie_correlation=tl.TieCorrelation(egos={}))
    model = tl.Model(network=network, linkage=tl.OnePerFile(), fields={})
    labels, positions = np.array([0, 1] * 3), np.array([[0.2], [0.9]])
    total, margin = 0.0, np.zeros(3)
    for tied in np.ndindex(2, 2, 2):
        ties = {name: [(0, 1)] if seen else [] for name, seen in zip("abc", tied, strict=True)}
        problem = tl.Problem.compile(model, tl.Dataset.from_frames(frames, ties, fields={}))
        parameters = replace(_parameters(problem), labels=labels, positions=positions, correlation=1.7)
        terms = dict(log_joint_terms(problem, parameters))
        p = np.exp(sum(value for name, value in terms.items() if "ties" in name))
        total += p
        margin += p * np.array(tied)
    assert total == pytest.approx(1.0)
    assert margin == pytest.approx(1 / (1 + np.exp(0.7 - np.array([0.3, -0.4, 1.1]))))


def _parameters(problem):
    drawn = tl.simulate.draw.draw_parameters(np.random.default_rng(1), problem)
    return replace(drawn, intercepts=np.array([0.3, -0.4, 1.1]))


def test_egos_and_files_without_a_network_are_passed_over(rng):
    chain, _ = drawn_chain(rng, sizes={"a": 6, "b": 6, "c": 6})
    layout, space, state = chain.layout, chain.space, chain.state

    def gained(space):
        return total_gain(layout.correlation, layout.intercept, 1.0, state, layout, space)

    assert gained(space) != 0.0
    assert gained(space._replace(correlated=np.zeros(18, dtype=bool))) == 0.0
    assert gained(space._replace(observed=np.array([True, False, False]))) == 0.0
    outer = gained(space._replace(observed=np.array([True, False, True])))
    assert outer not in (0.0, gained(space))
