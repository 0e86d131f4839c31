"""Fields that depend on each other: found where they do, their sums held against the definition."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from dependent_fields import dataset, few
from tielink.channels.dependence import learn_edges
from tielink.channels.likely_duplicates import alike_pairs, different_records
from tielink.logp import Parameters, log_joint_terms
from tielink.logp.dependence import joint_ratio, log_dependence, log_tree
from tielink.sampler.dependent import members
from tielink.sampler.group_evidence import group_evidence
from tielink.sampler.groups import Groups
from tielink.sampler.listed import ListedPairs
from tielink.sampler.profiles import Profiles

MODEL = tl.Model(network=None)
LUMPED = 0.06
"""What lumping true values may change in log C."""


def compiled(kinds="categorical", **options):
    problem = tl.Problem.compile(MODEL, dataset(kinds, **options))
    profiles = Profiles(problem)
    state = profiles.start()
    state.rates = np.linspace(0.05, 0.3, len(state.rates))
    return problem, profiles, state


def test_the_tree_is_found_and_what_tells_nothing_is_left_out():
    (tree,) = compiled()[0].trees
    assert {frozenset(edge) for edge in tree.edges} == {
        frozenset(("suburb", "postcode")),
        frozenset(("postcode", "state")),
    }


def test_independent_fields_have_no_trees():
    assert compiled(told=0.0, sizes=(400, 400))[0].trees == ()


def test_edges_can_be_set_and_forbidden():
    data = dataset()
    given = tl.Dependence(edges=[("suburb", "colour")])
    (tree,) = tl.Problem.compile(replace(MODEL, dependence=given), data).trees
    assert tree.edges in ((("suburb", "colour"),), (("colour", "suburb"),))
    not_these = tl.Dependence(forbidden=[("postcode", "suburb"), ("suburb", "state")])
    found = tl.Problem.compile(replace(MODEL, dependence=not_these), data).trees
    assert all("suburb" not in tree.names for tree in found)
    assert tl.Problem.compile(replace(MODEL, dependence=None), data).trees == ()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"edges": [("suburb", "town")]}, "no field 'town'"),
        ({"edges": [("a", "b"), ("b", "c"), ("c", "a")]}, "form no circle"),
        ({"edges": [("a",)]}, "pairs of names"),
    ],
)
def test_what_cannot_be_is_said(given, words):
    with pytest.raises(tl.InputError, match=words):
        tl.Problem.compile(replace(MODEL, dependence=tl.Dependence(**given)), dataset())


def test_joint_distributions_have_the_fields_own_margins():
    (tree,) = compiled("mixed")[0].trees
    for child, parent in enumerate(tree.parents[:-1]):
        own, other = (tree.channels[end].code_probability() for end in (child, parent))
        unseen = [max(1 - p.sum(), 0.0) for p in (own, other)]
        ratio = joint_ratio(tree, child)
        np.testing.assert_allclose(np.append(own, unseen[0]) @ ratio, 1.0, rtol=1e-9)
        np.testing.assert_allclose(ratio @ np.append(other, unseen[1]), 1.0, rtol=1e-9)


@pytest.mark.parametrize("kinds", ["categorical", "mixed", "closed"])
def test_sums_agree_with_the_definition(kinds, rng):
    problem, profiles, state = compiled(kinds)
    persons = members(rng.integers(90, size=problem.records))
    rates = profiles.all_rates(state)
    fast = profiles.dependent.log_sums(0, state.fields, rates, persons)
    slow = [log_dependence(problem.trees[0], state.fields, rates, row[row >= 0]) for row in persons]
    assert np.abs(slow).max() > 1
    np.testing.assert_allclose(fast, slow, atol=LUMPED)


def broken(arrays, how):
    if how == "an edge counted twice":
        return arrays._replace(seen=2 * arrays.seen)
    return arrays._replace(  # p(child) in place of p(child | parent)
        seen=0 * arrays.seen, own=1 + 0 * arrays.own, others=1 + 0 * arrays.others, scale=1 + 0 * arrays.scale
    )


@pytest.mark.parametrize("how", ["an edge counted twice", "no dependence"])
def test_planted_errors_are_caught(how, rng):
    problem, profiles, state = compiled()
    persons, rates = members(rng.integers(90, size=problem.records)), profiles.all_rates(state)
    slow = [log_dependence(problem.trees[0], state.fields, rates, row[row >= 0]) for row in persons]
    profiles.dependent.trees = tuple(replace(tree, arrays=broken(tree.arrays, how)) for tree in problem.trees)
    fast = profiles.dependent.log_sums(0, state.fields, rates, persons)
    assert np.abs(fast - slow).max() > 5 * LUMPED


def test_agreeing_on_a_place_and_its_postcode_counts_about_once():
    problem, profiles, state = compiled(missing=0.0, told=1.0)
    state.rates[:] = 0.02
    suburb = problem.fields[0].codes
    left = np.arange(120)
    right = np.array([120 + np.flatnonzero(suburb[120:] == code)[0] for code in suburb[:120]])
    pairs = np.column_stack([left, right])
    together = profiles.of_tree(state, 0, pairs)
    alone = -np.log(problem.fields[0].code_probability()[suburb[:120]])
    assert np.abs(together - alone).max() < 0.7
    rates = profiles.all_rates(state)
    twice = sum(
        group_evidence(problem.fields[at], state.fields[at], rates[at], pairs) for at in problem.trees[0].places
    )
    assert (twice - together).min() > 1


@pytest.mark.parametrize("kinds", ["categorical", "mixed"])
def test_every_engine_says_the_same_as_the_log_joint(kinds):
    problem = few(MODEL, kinds, (14, 12))
    profiles = Profiles(problem)
    state = profiles.start()
    state.rates = np.linspace(0.05, 0.3, len(state.rates))
    pairs, together, alone = np.array([[3, 14], [5, 15], [7, 16], [9, 17]]), np.arange(26), np.arange(26)
    together[pairs[:, 1]] = pairs[:, 0]

    def log_p(labels):
        numbered = np.unique(labels, return_inverse=True)[1]
        given = Parameters(numbered, np.zeros((26, 0)), np.zeros(2), 1.0, state.rates, tuple(state.fields))
        return sum(value for name, value in log_joint_terms(problem, given) if name.startswith("values"))

    want, near = log_p(together) - log_p(alone), {"abs": 12 * LUMPED}
    listed = ListedPairs(profiles, pairs, np.empty(4))
    listed.refresh(state)
    assert listed.evidence.sum() == pytest.approx(want, **near)
    np.testing.assert_allclose(profiles.evidence(state, *pairs.T), listed.evidence)
    np.testing.assert_allclose(Groups(profiles, 2, state).evidence(pairs), listed.evidence)


def test_groups_of_three_agree_with_the_log_joint():
    problem = few(MODEL, sizes=(3, 3, 3))
    profiles = Profiles(problem)
    state = profiles.start()
    state.rates = np.linspace(0.05, 0.3, len(state.rates))
    trio = np.array([[0, 3, 6]])
    labels = np.arange(9)
    labels[[3, 6]] = 0
    rates, change = profiles.all_rates(state), profiles.change(state, 0)
    log_p = [log_tree(problem.trees[0], state.fields, rates, change, who) for who in (labels, np.arange(9))]
    assert profiles.of_tree(state, 0, trio)[0] == pytest.approx(log_p[0] - log_p[1], abs=4 * LUMPED)


def people_with_duplicates(rng, persons=300, twice=0.6, wrong=0.15):
    """Make people of ten fields, a suburb that tells postcode and state among them, some of them twice with errors."""
    suburb = rng.integers(40, size=persons)
    place = np.column_stack([suburb, suburb // 2, suburb // 8])
    values = np.column_stack(
        [place, *(rng.integers(levels, size=persons) for levels in (200, 300, 250, 400, 30, 500, 2))]
    )
    copies = values[rng.random(persons) < twice]
    errors = rng.random(copies.shape) < wrong
    copies[errors] = rng.integers(500, 1000, size=errors.sum())
    return np.concatenate([values, copies]), persons


def test_duplicates_do_not_make_fields_depend_on_each_other(rng):
    codes, persons = people_with_duplicates(rng)
    file_of = np.zeros(len(codes), dtype=np.int64)
    learnt = learn_edges(codes, file_of, within=True)
    assert len(learnt.edges) == 2
    assert {field for edge in learnt.edges for field in edge} == {0, 1, 2}
    assert np.isin(np.arange(persons, len(codes)), learnt.kept).mean() < 0.05
    assert np.isin(np.arange(persons), learnt.kept).mean() > 0.98
    # A planted error: duplicates are counted as if they were other persons.
    assert len(learn_edges(codes, file_of, within=False).edges) > 4


def test_numbers_that_one_person_has_tell_nothing_of_other_fields(rng, monkeypatch):
    """Half of the records are copies with up to four errors, and two fields hardly repeat but in copies."""
    persons = np.column_stack([rng.integers(levels, size=500) for levels in (20, 30, 40, 60, 160, 190, 10**6, 10**7)])
    copies = persons.copy()
    for copy in copies:
        wrong = rng.choice(len(copy), rng.integers(1, 5), replace=False)
        copy[wrong] = rng.integers(10**7, 10**8, size=len(wrong))
    codes, file_of = np.concatenate([persons, copies]), np.zeros(1000, dtype=np.int64)
    assert learn_edges(codes, file_of, within=True).edges == []
    monkeypatch.setattr("tielink.channels.dependence.FEW", 0)
    assert len(learn_edges(codes, file_of, within=True).edges) > 3, "that copies make fields depend goes unnoticed"


def test_neighbours_are_not_taken_for_duplicates():
    """Of forty records with the same suburb, postcode and state, and nothing else in common, all count."""
    codes = np.column_stack([np.repeat(np.arange(10), 40), np.repeat(np.arange(10), 40), np.arange(400)])
    alike = alike_pairs(codes, np.zeros(400, dtype=np.int64))
    assert len(different_records(alike, np.arange(3), 400)) == 400
    assert len(different_records(alike, np.array([0, 0, 1]), 400)) == 400


def test_an_explanation_has_the_fields_as_one_part_that_opens():
    data = dataset(sizes=(30, 30))
    edges = tl.Dependence(edges=[("suburb", "postcode"), ("postcode", "state")])
    posterior = tl.sample(replace(MODEL, dependence=edges), data, chains=1, warmup=5, draws=20, progress=False)
    found = tl.explain(posterior, ("a", "r0"), ("b", "r0"))
    (name,) = [source for is_field, source in found.by_source if is_field and source.endswith("together")]
    parts = [entry.log_odds for entry in found.contributions if entry.source == name]
    assert len(parts) == 4
    assert found.by_source[True, name] == pytest.approx(sum(parts))
    assert sum(found.by_source.values()) == pytest.approx(found.log_odds)
    assert "depend on each other: suburb – postcode, postcode – state" in posterior.model.describe(data)
