"""Chains go on in rounds until they can be trusted, and their draws do not depend on what stopped them in between."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import posterior_of
from tielink.posterior.diagnosis import shown_rhat
from tielink.posterior.pairs import PairProbabilities, undecided
from tielink.project import Run
from tielink.run import pool, rounds, sample
from tielink.run.job import Job
from tielink.run.pool import run_here, run_processes
from tielink.run.rounds import nth_round
from tielink.run.worker import ChainRun, Order, work


@pytest.fixture(scope="module")
def job() -> Job:
    names = ["anna", "bob", "carl", "dora", "emil", "fred"]
    frames = {"a": names, "b": [name[:-1] for name in names]}
    data = tl.Dataset.from_frames({
        file: pl.DataFrame({"id": range(6), "name": values}) for file, values in frames.items()
    }, fields={"name": tl.String()})  # fmt: skip
    return Job.make(tl.Model(), data, Run(chains=2, warmup=4, seed=3))


def ignore(_):
    pass


def same(one, other) -> bool:
    return one.number == other.number and all(
        np.array_equal(array, other.arrays[name]) for name, array in one.arrays.items()
    )


def until_round(number):
    return lambda results: results[0].number == number


def test_rounds_follow_each_other_and_keep_a_bounded_number_of_draws():
    run = Run(warmup=10, thin=3)
    for number in range(8):
        assert nth_round(run, number + 1).before == nth_round(run, number).end
        assert nth_round(run, number).draws <= rounds.MOST_DRAWS
    assert nth_round(Run(draws=7, warmup=2), 0) == (2, 7, 1)


def test_a_chain_stopped_in_any_round_goes_on_to_the_same_draws(job, tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "FIRST", 3)
    whole = work([ChainRun(Order(job, 0), ignore)], 2, lambda _: False)[0]
    for stop in range(nth_round(job.run, 2).end + 1):
        asked, folder = iter(range(stop)), tmp_path / str(stop)
        folder.mkdir()
        work([ChainRun(Order(job, 0, folder), ignore)], 2, lambda _, asked=asked: next(asked, None) is None)
        assert same(work([ChainRun(Order(job, 0, folder), ignore)], 2, lambda _: False)[0], whole), stop


def test_chains_in_processes_and_here_agree_even_if_one_is_a_round_behind(job, tmp_path):
    here = run_here([Order(job, chain) for chain in range(2)], ignore, until_round(1), 1e6)
    assert here.how == "finished"
    for chain, target in ((0, 1), (1, 0)):  # as after a crash just when chains had been told to go on
        work([ChainRun(Order(job, chain, tmp_path), ignore)], target, lambda _: False)
    others = [run_processes(job.stored(), 2, 2, tmp_path, 60.0, ignore, until_round(1), 1e6)]
    others.append(run_here([Order(job, chain, tmp_path) for chain in range(2)], ignore, until_round(1), 1e6))
    for other in others:
        assert all(same(*pair) for pair in zip(here.results, other.results, strict=True))


def test_time_that_is_up_leaves_a_few_draws_at_least_and_the_longer_round(job, monkeypatch):
    orders = [Order(job, chain) for chain in range(2)]
    ended = run_here(orders, ignore, until_round(9), 0.0)
    assert ended.how == "out of time"
    assert [result.count for result in ended.results] == [rounds.LEAST_DRAWS] * 2
    ended = run_processes(job.stored(), 2, 2, None, 60.0, ignore, until_round(99), 0.0)
    assert ended.how == "out of time"
    assert min(result.count for result in ended.results) >= rounds.LEAST_DRAWS
    first, second = (run_here(orders, ignore, until_round(number), 1e6).results for number in (0, 1))
    assert pool._longer(first, second, 2) == second
    cut = [replace(result, count=60) for result in second]
    assert pool._longer(first, cut, 2) == first
    assert pool._longer(first, second[:1], 2) == first


def test_a_run_ends_when_it_has_settled_and_says_so_if_it_could_not(job):
    settled = tl.sample(job.model, job.dataset, chains=4, workers=0)
    assert settled.ended == "finished"
    assert settled.diagnose().settled
    hasty = tl.sample(job.model, job.dataset, chains=4, workers=0, minutes=1e-9)
    assert hasty.ended == "out of time"
    assert hasty.draws_per_chain == rounds.LEAST_DRAWS
    fixed = tl.sample(job.model, job.dataset, chains=2, workers=0, draws=5, minutes=1e-9)
    assert (fixed.ended, fixed.draws_per_chain) == ("finished", 5)


def test_pairs_near_one_half_with_large_errors_are_undecided():
    pairs = np.array([[0, 5], [1, 5], [2, 5], [3, 5], [4, 5]])
    found = PairProbabilities(pairs, np.array([0.5, 0.5, 0.9, 0.35, 0.6]), np.array([0.02, 0.08, 0.1, 0.09, np.nan]))
    assert undecided(found).tolist() == [False, True, False, True, True]


def test_chains_that_stay_apart_are_never_settled_and_their_pairs_are_named():
    records = tl.Dataset.from_frames(
        {"a": pl.DataFrame({"id": ["x", "y"]}), "b": pl.DataFrame({"id": ["u"]})}, fields={}
    ).records
    one, other = [0, 1, 0], [0, 1, 2]
    found = posterior_of(records, [one] * 200 + [other] * 200, chains=2).diagnose()
    assert not found.settled
    assert found.undecided == ((0, 2),)
    assert "a/x and b/u" in str(found)
    assert "R-hat > 10" in str(found)
    assert shown_rhat(9804524000802948.0) == "> 10"
    agreed = posterior_of(records, [one, other] * 200, chains=2).diagnose()
    assert agreed.settled
    assert agreed.undecided == ()


def test_small_problems_need_no_other_process(job, monkeypatch):
    monkeypatch.setattr(sample, "run_processes", None)
    assert tl.sample(job.model, job.dataset, chains=2, draws=5).draws_per_chain == 5
