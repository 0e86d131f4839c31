"""Chains over every partition of a few records against exact enumeration, for each prior and class, J = 1, 2 and 3.

Rates, parameters and hyperparameters are held fixed here; χ² of thinned draws, false-alarm rate 1e-5 for each test.
"""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats
from scipy.special import comb, logsumexp

import tielink as tl
from partitions import partitions
from tielink.data.linkage import canonical
from tielink.exact import candidates as search
from tielink.exact.clusters import offlist
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed
from tielink.project import Run
from tielink.run.cluster_chain import ClusterChain
from tielink.run.job import Job

FALSE_ALARM = 1e-5
NAMES = ["anna", "ana", "bob", "bob", None, "anna"]
PLACES = ["x", "x", "y", None, "y", "y"]

CASES = {
    "one file, Ewens–Pitman": ((5,), tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)),
    "one file, negative binomial": ((5,), tl.NegativeBinomial(max_size=4, shape=1.5, probability=0.6)),
    "two files, duplicates": ((3, 2), tl.EwensPitman(max_size=5, concentration=1.0, discount=0.0)),
    "two files, pairs": ((3, 3), tl.MatchRate(1, 2)),
    "three files, pairs": ((2, 2, 2), tl.Uniform()),
    "three files, rate of pairs": ((1, 3, 2), tl.MatchRate(2, 1)),
    "three files, one a file": ((2, 2, 2), tl.OnePerFile(1, 2)),
    "three files, duplicates": ((1, 2, 2), tl.NegativeBinomial(max_size=3, shape=2.0, probability=0.5)),
}


def world(sizes, prior, **known):
    begins = np.cumsum((0, *sizes))
    frames = {
        f"f{j}": pl.DataFrame(
            {"id": range(size), "name": NAMES[begins[j] :][:size], "place": PLACES[begins[j] :][:size]},
            schema={"id": pl.Int64, "name": pl.String, "place": pl.String},
        )
        for j, size in enumerate(sizes)
    }
    data = tl.Dataset.from_frames(frames, fields={"name": tl.String(), "place": tl.Categorical()}, **known)
    return Job.make(tl.Model(network=None, linkage=prior), data, Run(seed=3))


def fixed_chain(job):
    chain = ClusterChain(job, 0)
    chain.profile_state.rates[:] = 0.15, 0.3
    chain._revalue()
    return chain


def exact(problem, chain):
    """Return every partition with its posterior probability at the chain's rates and parameters."""
    every = list(partitions(problem.file_of.tolist(), problem.linkage.allowed, problem.linkage.largest))
    logs = []
    for labels in every:
        total = log_linkage(problem, labels)
        for place, field in enumerate(problem.fields):
            state = chain.profile_state
            total += log_collapsed(field, state.fields[place], state.rates[place], labels)
        logs.append(total)
    return every, np.exp(np.array(logs) - logsumexp(logs))


def draws(chain, number, step):
    counts = Counter()
    for _ in range(number):
        step(chain)
        counts[tuple(canonical(chain.person()).tolist())] += 1
    return counts


def sweeps(chain):
    for _ in range(3):
        chain._labels(np.zeros(2, dtype=np.int64))


def p_value(chain, number=3_000, step=sweeps):
    every, probability = exact(chain.job.problem, chain)
    counts = draws(chain, number, step)
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in every])
    assert not counts, "a partition outside the class was drawn"
    assert not observed[probability == 0].any()
    order = np.argsort(probability)
    # Rare partitions are pooled, so that expected counts are at least ten.
    rare = order[np.cumsum(probability[order]) * number < 10]
    common = np.setdiff1d(np.flatnonzero(probability > 0), rare)
    seen, expected = observed[common], probability[common] * number
    if probability[rare].sum() > 0:
        seen, expected = np.append(seen, observed[rare].sum()), np.append(expected, probability[rare].sum() * number)
    return float(stats.chisquare(seen, expected * seen.sum() / expected.sum()).pvalue)


@pytest.mark.parametrize("case", CASES)
def test_labels_of_every_prior_and_class(case):
    assert p_value(fixed_chain(world(*CASES[case]))) > FALSE_ALARM


def test_anchors_and_non_matches():
    known = {"anchors": [(("f0", 0), ("f1", 0)), (("f1", 1), ("f2", 0))], "nonmatches": [(("f0", 1), ("f2", 1))]}
    assert p_value(fixed_chain(world((2, 2, 2), tl.OnePerFile(1, 2), **known))) > FALSE_ALARM
    known = {"anchors": [(("f0", 0), ("f0", 1))], "nonmatches": [(("f0", 1), ("f0", 2))]}
    assert (
        p_value(fixed_chain(world((5,), tl.EwensPitman(max_size=4, concentration=1.0, discount=0.2), **known)))
        > FALSE_ALARM
    )


def test_pairs_that_are_no_candidates_are_reached(monkeypatch):
    def few(problem, **_):
        return search.Candidates.from_pairs(np.array([[0, 1], [2, 3]]), problem.records)

    monkeypatch.setattr(search, "find_candidates", few)

    def wandering(chain):
        chain._labels(np.zeros(2, dtype=np.int64))
        for _ in range(40):
            chain._wander(np.zeros(2, dtype=np.int64))

    chain = fixed_chain(world((5,), tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)))
    assert len(chain.candidates.record) == 4
    assert p_value(chain, step=wandering) > FALSE_ALARM


OFF_LIST = {
    "one file, threes": ((6,), tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)),
    "one file, pairs": ((6,), tl.EwensPitman(max_size=2, concentration=0.6, discount=0.3)),
    "three files, pairs": ((2, 2, 2), tl.Uniform()),
    "three files, one a file": ((2, 2, 2), tl.OnePerFile(1, 2)),
}


def off_list_p_value(monkeypatch, case, evidence=None, wanders=4, **known):
    monkeypatch.setattr(search, "find_candidates", lambda problem, **_: listed(problem))
    chain = fixed_chain(world(*OFF_LIST[case], **known))

    def step(chain):
        chain._labels(np.zeros(2, dtype=np.int64))
        for _ in range(6):
            offlist.move_off_list(
                chain.rng, chain.state, chain.rules, chain.candidates, evidence or chain.groups.evidence, most=4
            )
        for _ in range(wanders):
            chain._wander(np.zeros(2, dtype=np.int64))

    return p_value(chain, 1_500, step=step)


def listed(problem):
    return search.Candidates.from_pairs(np.array([[0, 3], [1, 2]]), problem.records)


@pytest.mark.parametrize("case", OFF_LIST)
def test_moves_off_the_list(case, monkeypatch):
    # With clusters of at most two, nothing else is needed to reach every linkage.
    wanders = 0 if "pairs" in case else 10
    assert off_list_p_value(monkeypatch, case, wanders=wanders) > FALSE_ALARM


def test_moves_off_the_list_keep_what_is_known(monkeypatch):
    known = {"anchors": [(("f0", 0), ("f1", 0))], "nonmatches": [(("f0", 1), ("f2", 1))]}
    assert off_list_p_value(monkeypatch, "three files, one a file", wanders=10, **known) > FALSE_ALARM
    known = {"anchors": [(("f0", 0), ("f0", 4))], "nonmatches": [(("f0", 1), ("f0", 5))]}
    assert off_list_p_value(monkeypatch, "one file, threes", wanders=10, **known) > FALSE_ALARM


def test_evidence_forgotten_off_the_list_is_caught(monkeypatch):
    def none(pairs):
        return np.zeros(len(pairs))

    assert off_list_p_value(monkeypatch, "one file, pairs", none) < FALSE_ALARM


@pytest.mark.parametrize(("loose", "most"), [(200, 128), (129, 128), (50, 128), (7, 8), (30, 8)])
def test_what_a_link_more_gains_by_a_gathered_choice(loose, most):
    drawn, cap = min(loose, most), most // 4

    def log_choice(h):
        return h * np.log(0.25) - np.log(float(comb(loose - 2 * h, drawn - 2 * h, exact=True)))

    h = np.arange(min(cap, drawn // 2))
    gain = offlist._bonus(loose, drawn, 0.25, cap)
    assert gain[h] == pytest.approx([log_choice(k + 1) - log_choice(k) for k in h], abs=1e-9)
    assert gain[cap] == -np.inf


def test_a_gathered_choice_taken_for_a_blind_one_is_caught(monkeypatch):
    monkeypatch.setattr(offlist, "_bonus", lambda loose, drawn, share, cap: np.append(np.zeros(cap), -np.inf))
    assert off_list_p_value(monkeypatch, "one file, pairs", wanders=0) < FALSE_ALARM


def test_what_the_table_holds_at_first_does_not_change_the_draws():
    asking, told = (fixed_chain(world((6,), tl.EwensPitman(max_size=4))) for _ in range(2))
    wanted = told.groups.wanted
    for size in (3, 4):
        for group in combinations(range(6), size):
            wanted.key[wanted.number[0]] = [*group, *[-1] * (4 - size)]
            wanted.number[0] += 1
    told.groups.supply()
    assert asking.groups.count < told.groups.count
    for _ in range(50):
        sweeps(asking)
        sweeps(told)
        assert asking.person().tolist() == told.person().tolist()
    assert asking.rng.random() == told.rng.random()


def test_a_wrong_prior_and_dropped_evidence_are_caught():
    chain = fixed_chain(world((5,), tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)))
    chain.state.prior[1] = 0.6
    assert p_value(chain) < FALSE_ALARM, "a wrong discount goes unnoticed"
    chain = fixed_chain(world((2, 2, 2), tl.OnePerFile(1, 2)))
    chain.rules.rate[:] = 1.0, 4.0
    assert p_value(chain) < FALSE_ALARM, "a wrong match rate goes unnoticed"
    chain = fixed_chain(world((5,), tl.EwensPitman(max_size=3, concentration=0.6, discount=0.3)))
    triples = (chain.groups.table.key >= 0).sum(axis=1) == 3
    sweeps(chain)
    triples = (chain.groups.table.key >= 0).sum(axis=1) == 3
    chain.groups.table.value[triples] = 0.0
    assert p_value(chain) < FALSE_ALARM, "evidence of three records taken for none goes unnoticed"
