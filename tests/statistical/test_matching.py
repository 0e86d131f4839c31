"""Linking by profiles alone: candidate lists, however short, must not change what is sampled.

Chains over all 34 matchings of 3 + 3 records against enumeration, with lists that hold all, some or none of the pairs;
joint-distribution tests of whole sweeps; planted errors that must be caught. False-alarm rate: ALPHA for each test.
"""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from scipy.special import logsumexp

import tielink as tl
from partitions import pairings
from sampler.harness import batch_test
from sampler.mutants import mutant
from sampler.naive import beta_binomial_log_prior, matchings
from statistical_names import exact_linkages, names
from tielink.data.linkage import canonical
from tielink.exact import matching as listed_moves
from tielink.exact import offlist
from tielink.exact.candidates import Candidates
from tielink.exact.matching import Matching, make_lists
from tielink.logp.linkage import log_linkage
from tielink.project import Run
from tielink.run.job import Job
from tielink.run.profile_chain import ProfileChain
from tielink.simulate import from_prior

ALPHA, CAUGHT = 1e-5, 1e-6
LISTS = {
    "all": [(a, b) for a in range(3) for b in range(3, 6)],
    "some": [(0, 3), (0, 4), (1, 3), (1, 4), (2, 5)],
    "one": [(1, 4)],
    "none": [],
}


def world() -> np.ndarray:
    evidence = 1.5 * np.random.default_rng(3).normal(size=(3, 3)) + 0.5
    evidence[2, 0] = -np.inf  # known not to match
    return evidence


def code(partner) -> int:
    return int(sum((q + 1) * 10**place for place, q in enumerate(partner)))


def chain_test(pairs, steps=12_000, moves=listed_moves, off=offlist, most=2, seed=1, evidence=None):
    """Run sweeps on a list; return the p value of the matchings' frequencies."""
    rng, evidence = np.random.default_rng(seed), world() if evidence is None else evidence
    first, second = evidence.shape
    records, prior = first + second, beta_binomial_log_prior(first, second, 1.0, 2.0)
    allowed = np.array([(a, b) for a, b in pairs if (a, b) != (2, 3)], dtype=np.int64).reshape(-1, 2)
    lists, numbered = make_lists(Candidates.from_pairs(allowed, records), np.zeros(records, dtype=bool))
    listed = np.array([evidence[a, b - first] for a, b in numbered])
    state = Matching(np.full(records, -1), np.zeros(1, dtype=np.int64))
    codes = np.empty(steps, dtype=np.int64)
    for step in range(steps):
        moves.sweep_lists(rng, state, lists, listed, prior)
        off.move_off_list(rng, state, lists, prior, first, lambda a, b: evidence[a, b - first], most)
        codes[step] = code(np.where(state.partner[:first] >= 0, state.partner[:first] - first, -1))
    every = matchings(first, second)
    logs = np.array(
        [
            prior[sum(q >= 0 for q in partner)] + sum(evidence[a, q] for a, q in enumerate(partner) if q >= 0)
            for partner in every
        ]
    )
    probability = np.exp(logs - logsumexp(logs))
    return batch_test(codes, np.array([code(partner) for partner in every]), probability)[0]


@pytest.mark.parametrize(("lists", "most"), [("all", 2), ("some", 1), ("some", 2), ("none", 2)])
def test_the_list_does_not_change_what_is_sampled(lists, most):
    assert chain_test(LISTS[lists], most=most) > ALPHA


@pytest.mark.long
@pytest.mark.parametrize("most", [1, 2, 32])
@pytest.mark.parametrize("lists", LISTS)
def test_the_list_does_not_change_what_is_sampled_long(lists, most):
    p = chain_test(LISTS[lists], steps=300_000, most=most, seed=5)
    print(f"list of {lists}, {most} at a time: p = {p:.3f}")
    assert p > ALPHA


ERRORS = {
    "off-list draws of listed pairs": (
        "offlist",
        ("if entry_of(lists, left[i], right[j]) >= 0:", "if entry_of(lists, left[i], right[j]) >= 99:"),
    ),
    "partners beyond the records drawn": ("offlist", ("if not here[old]:", "if False:")),
    "a gathered choice taken for a blind one": ("offlist", ("log_prior) + bonus[linked]", "log_prior)")),
    "the prior left out": ("offlist", ("evidence[i, j] + gain if", "evidence[i, j] if")),
    "list draws of records linked off it": ("matching", ("if entry_of(lists, record, old) < 0:", "if False:")),
    "an exchange that counts one pair": (
        "matching",
        ("evidence[lists.pair[old_ab]] + evidence[lists.pair[old_cd]]", "evidence[lists.pair[old_ab]]"),
    ),
    "a label without its prior": ("matching", ("evidence[lists.pair[entry]] + gain", "evidence[lists.pair[entry]]")),
}  # fmt: skip


@pytest.mark.parametrize("error", ERRORS)
def test_planted_errors_are_caught(tmp_path, error):
    module, change = ERRORS[error]
    broken = mutant(tmp_path, module, f"{module}_{abs(hash(error))}", change, ("@njit(cache=True)", "@njit"))
    found = {"moves": broken} if module == "matching" else {"off": broken}
    most = 1 if "beyond" in error else 2
    assert chain_test(LISTS["all" if "exchange" in error else "some"], most=most, **found) < CAUGHT


def test_the_order_of_draws_does_not_depend_on_who_is_linked(tmp_path):
    prior = beta_binomial_log_prior(2, 1, 1.0, 2.0)
    alike = {"evidence": np.full((2, 1), prior[0] - prior[1]), "most": 2, "steps": 20_000}
    mutate = [("ROUNDS = 3", "ROUNDS = 1"), ("(1.0, 1 / 4, 1 / 16, 1 / 64)", "(1.0,)"), ("@njit(cache=True)", "@njit")]
    assert chain_test([], off=mutant(tmp_path, "offlist", "in_order", *mutate), **alike) > ALPHA
    gathered = "np.append(mine, draw_some(rng, np.setdiff1d(side, mine), most - linked))"
    mutate.append((f"np.sort({gathered})", gathered))
    assert chain_test([], off=mutant(tmp_path, "offlist", "linked_first", *mutate), **alike) < CAUGHT


@pytest.mark.parametrize("pairs", [[(0, 3), (1, 4), (0, 4)]])
def test_linkages_from_strings_with_short_lists(pairs):
    """The whole chain, distortion rates included, against enumeration and quadrature."""
    model, data = names(tl.Beta(2, 3))
    job = Job.make(model, data, Run(seed=4))
    linkages = [labels for labels in pairings([0, 0, 0, 1, 1, 1]) if log_linkage(job.problem, labels) > -np.inf]
    chain = ProfileChain(job, 0, Candidates.from_pairs(np.array(pairs), 6))
    chain.begin()
    counts: Counter[tuple[int, ...]] = Counter()
    for sweep in range(20_000):
        chain.advance(None)
        if sweep % 10 == 0:
            counts[tuple(canonical(chain.person()).tolist())] += 1
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in linkages])
    assert not counts
    expected = exact_linkages(job.problem, linkages)
    assert stats.chisquare(observed, expected * observed.sum()).pvalue > ALPHA


def moved(rng, sweeps):
    """Draw from the prior, move on; return (matches, ψ of the first field, ϑ₁) before and after."""
    fields = {"place": tl.Categorical(tl.Beta(2, 4), concentration=2.0), "name": tl.String(tl.Beta(2, 4), "closed")}
    model = tl.Model(network=None, linkage=tl.MatchRate(2, 1), fields=fields)
    vocabularies = {"place": ["x", "y", "z"], "name": {"ann": 3.0, "anna": 1.0, "bob": 2.0}}
    drawn = from_prior(rng, model, {"a": 4, "b": 3}, vocabularies)
    job = Job.make(drawn.model, drawn.dataset, Run(seed=int(rng.integers(2**31))))
    pairs = np.argwhere(rng.random((4, 3)) < 0.4) + np.array([0, 4])
    chain = ProfileChain(job, 0, Candidates.from_pairs(pairs, 7))
    before = drawn.parameters
    chain.profile_state.rates[:] = before.distortion
    chain.profile_state.fields = [values.copy() for values in before.fields]
    for a in range(4):
        for b in np.flatnonzero(before.labels[4:] == before.labels[a]):
            listed_moves.link(chain.matching, a, 4 + b)
    chain.pairs.refresh(chain.profile_state)
    place = list(drawn.model.fields).index("place")

    def figures():
        state = chain.profile_state
        return chain.matching.matched[0], state.rates[0], state.rates[1], state.fields[place][0]

    first = figures()
    for _ in range(sweeps):
        chain.advance(None)
    return first, figures()


def test_sweeps_leave_the_joint_distribution_as_it_is():
    rng = np.random.default_rng(8)
    before, after = np.array([moved(rng, 8) for _ in range(300)], dtype=float).transpose(1, 2, 0)
    change = after - before
    z = change.mean(axis=1) / (change.std(axis=1) / np.sqrt(change.shape[1]))
    assert (2 * stats.norm.sf(np.abs(z)) > ALPHA / 4).all(), z
    assert all(stats.ks_2samp(x, y).pvalue > ALPHA / 3 for x, y in zip(before[1:], after[1:], strict=True))
