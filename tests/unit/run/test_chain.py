"""A chain: its evidence, its likelihood, what is known, and that it goes on from a snapshot draw for draw."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from tielink.logp.profiles import log_collapsed, log_evidence
from tielink.logp.shared_ties import log_shared_ties
from tielink.project import Run
from tielink.run import chain as chains
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.candidates import find_candidates
from tielink.simulate.people import people

FIELDS = {
    "given_name": tl.String(vocabulary="closed", by_file=True),
    "surname": tl.String(vocabulary="closed"),
    "postcode": tl.Categorical(),
    "state": tl.Categorical(by_file=True),
}
CARELESS = tl.Model(network=None, careless=tl.Careless())
TIES = tl.Model(network=tl.SharedTies(power=0.5))


def ring(ids: list[str]) -> list[tuple[str, str]]:
    """Ties of each record to the next but one."""
    return [(one, other) for one, other in zip(ids, ids[2:], strict=False)]


def job(model: tl.Model | None = None, size: int = 60, **run) -> Job:
    made = people(np.random.default_rng(3), (size, size - 10), size // 2)
    anchors, apart = made.matches[:4], [made.matches[5], (made.matches[6][0], made.matches[7][1])]
    ties = {name: ring(made.frames[name]["id"].to_list()) for name in made.frames}
    data = tl.Dataset.from_frames(made.frames, ties, id="id", fields=FIELDS, anchors=anchors, nonmatches=apart)
    return Job.make(model or tl.Model(network=None), data, Run(**run))


def chain_of(work: Job, *, short_list: bool = False, sweeps: int = 0) -> Chain:
    chain = Chain(work, 0)
    if short_list:
        pairs = find_candidates(work.problem, most=2, every_pair=0)
        chain._list(pairs, np.ones(len(pairs), dtype=bool))
    chain.begin()
    for _ in range(sweeps):
        chain.advance(None)
    return chain


@pytest.mark.parametrize("model", [tl.Model(network=None), CARELESS, TIES], ids=["one sort", "careless", "ties"])
def test_evidence_and_likelihood_are_those_of_logp(model):
    chain = chain_of(job(model), short_list=True, sweeps=30)
    state, (left, right) = chain.profile_state, chain.listed.pairs.T
    expected = sum(
        log_evidence(field, state.fields[place], chain.profiles.record_rates(state, place), left, right)
        for place, field in enumerate(chain.profiles.fields)
    )
    assert chain.listed.evidence == pytest.approx(expected, abs=1e-9)
    likelihood = sum(
        log_collapsed(field, state.fields[place], chain.profiles.record_rates(state, place), chain.person())
        for place, field in enumerate(chain.profiles.fields)
    )
    if model is TIES:
        ties, problem = chain.network.ties, chain.problem
        shared = log_shared_ties(problem.network.ties, problem.sizes, chain.state.label, ties.theta, ties.rho[0])
        likelihood += 0.5 * shared
    assert chain.log_likelihood() == pytest.approx(likelihood, abs=1e-7)


@pytest.mark.parametrize("model", [tl.Model(network=None), TIES], ids=["no ties", "ties"])
@pytest.mark.parametrize("short_list", [False, True])
def test_what_is_known_stays(short_list, model):
    work = job(model)
    chain = chain_of(work, short_list=short_list)
    labels = work.problem.linkage.anchors
    anchored = [(a, b) for a in range(60) for b in range(60, 110) if labels[a] == labels[b]]
    assert len(anchored) == 4
    left, right = work.problem.linkage.nonmatches.T
    for _ in range(40):
        chain.advance(None)
        person = chain.person()
        assert all(person[a] == person[b] for a, b in anchored)
        assert not (person[left] == person[right]).any()
        assert np.bincount(person).max() <= 2
        assert chain.persons == len(np.unique(person))
    assert chain.persons < 95


@pytest.mark.parametrize("model", [CARELESS, TIES], ids=["careless", "ties"])
@pytest.mark.parametrize("warmup_sweeps", [4, 12])
def test_it_goes_on_from_a_snapshot_draw_for_draw(model, warmup_sweeps):
    """From the midst of warm-up, where ties still bring in candidates, and from its end."""
    work = job(model, warmup=12)
    chain, other = Chain(work, 0), Chain(work, 0)
    chain.begin()
    for sweep in range(warmup_sweeps):
        chain.advance(sweep)
    other.restore(*chain.snapshot())
    for sweep in (*range(warmup_sweeps, 12), *[None] * 6):
        assert (chain.advance(sweep) == other.advance(sweep)).all()
    first, second = chain.snapshot(), other.snapshot()
    assert first[1] == second[1]
    assert first[0].keys() == second[0].keys()
    for name, array in first[0].items():
        assert np.array_equal(array, second[0][name]), name
    assert chain.log_likelihood() == other.log_likelihood()


def test_chains_of_one_job_do_not_share_a_prior():
    """In warm-up, ties alone set the prior aside for a while; other chains must not see that."""
    work = job(tl.Model(network=tl.SharedTies(power=0.5), fields={}), warmup=12)
    chain, before = Chain(work, 0), work.problem.linkage.log_by_matches.copy()
    chain.begin()
    chain.advance(0)
    assert not np.array_equal(chain.rules.log_by_matches, before)
    assert np.array_equal(work.problem.linkage.log_by_matches, before)


def test_a_checkpointed_run_is_the_same_run(tmp_path):
    made = people(np.random.default_rng(5), (30, 30), 20)
    data = tl.Dataset.from_frames(made.frames, id="id", fields=FIELDS)
    settings = {"chains": 2, "warmup": 5, "draws": 10, "workers": 0}
    plain = tl.sample(tl.Model(), data, **settings)
    kept = tl.sample(tl.Model(), data, checkpoint=tmp_path / "run", interval=0.0, **settings)
    again = tl.resume(tmp_path / "run", workers=0)
    assert (plain.person == kept.person).all()
    assert (plain.person == again.person).all()
    assert plain.person.dtype == np.int16


@pytest.mark.parametrize(("accepted", "share"), [(0, 1 / 8), (0.25, 1 / 4), (50, 1)])
def test_exchanges_that_warm_up_hardly_accepts_become_fewer(accepted, share):
    chain = chain_of(job())
    chain.exchanged = np.array([1000.0, accepted])
    most = np.ceil(share * chain.problem.records / 2)
    proposed = [chains._exchange(chain)[0] for _ in range(20)]
    assert 0.5 * most < np.mean(proposed) <= most


def test_what_warm_up_accepts_is_counted_and_then_left():
    chain = chain_of(job(warmup=5))
    for sweep in range(5):
        chain.advance(sweep)
    counted = chain.exchanged.copy()
    assert counted[0] > 0
    chain.advance(None)
    assert np.array_equal(chain.exchanged, counted)
