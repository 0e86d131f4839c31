"""A chain of profiles alone: its evidence, its likelihood, what is known, and that it goes on draw for draw."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from tielink.data.scores import pair_keys
from tielink.exact.candidates import find_candidates
from tielink.logp.profiles import log_evidence
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.engine import make_chain
from tielink.run.job import Job
from tielink.run.profile_chain import ProfileChain
from tielink.simulate.people import people

FIELDS = {
    "given_name": tl.String(vocabulary="closed", by_file=True),
    "surname": tl.String(vocabulary="closed"),
    "postcode": tl.Categorical(),
    "state": tl.Categorical(by_file=True),
}
CARELESS = tl.Model(records=tl.Careless())


def job(model: tl.Model | None = None, size: int = 60, **run) -> Job:
    made = people(np.random.default_rng(3), (size, size - 10), size // 2)
    data = tl.Dataset.from_frames(made.frames, id="id", fields=FIELDS)
    anchors, apart = made.matches[:4], [made.matches[5], (made.matches[6][0], made.matches[7][1])]
    data = tl.Dataset.from_frames(made.frames, id="id", fields=FIELDS, anchors=anchors, nonmatches=apart)
    return Job.make(model or tl.Model(), data, Run(**run))


def chain_of(work: Job, *, short_list: bool = False, sweeps: int = 0) -> ProfileChain:
    candidates = find_candidates(work.problem, most=2, every_pair=0) if short_list else None
    chain = ProfileChain(work, 0, candidates)
    chain.begin()
    for _ in range(sweeps):
        chain.advance(None)
    return chain


@pytest.mark.parametrize("model", [tl.Model(), CARELESS], ids=["one sort", "careless"])
def test_evidence_and_likelihood_are_those_of_logp(model):
    chain = chain_of(job(model), short_list=True, sweeps=30)
    state, (left, right) = chain.profile_state, chain.pairs.pairs.T
    expected = sum(
        log_evidence(field, state.fields[place], chain.profiles.record_rates(state, place), left, right)
        for place, field in enumerate(chain.profiles.fields)
    )
    assert chain.pairs.evidence == pytest.approx(expected, abs=1e-9)
    assert chain.log_likelihood() == pytest.approx(chain.profiles.log_likelihood(state, chain.person()), abs=1e-7)


@pytest.mark.parametrize("short_list", [False, True])
def test_what_is_known_stays(short_list):
    work = job()
    chain = chain_of(work, short_list=short_list)
    labels = work.problem.linkage.anchors
    anchored = [(a, b) for a in range(60) for b in range(60, 110) if labels[a] == labels[b]]
    assert len(anchored) == 4
    apart = pair_keys(work.problem.linkage.nonmatches)
    for _ in range(60):
        chain.advance(None)
        partner = chain.matching.partner
        linked = np.flatnonzero(partner > np.arange(len(partner)))
        assert all(partner[a] == b for a, b in anchored)
        assert not np.isin(apart, pair_keys(np.column_stack([linked, partner[linked]]))).any()
        assert (partner[partner[linked]] == linked).all()
        assert chain.matching.matched[0] == len(linked) - 4
    assert len(linked) > 15


def test_it_goes_on_from_a_snapshot_draw_for_draw():
    work = job(CARELESS)
    chain, other = chain_of(work, short_list=True, sweeps=10), chain_of(work, short_list=True)
    other.restore(*chain.snapshot())
    for _ in range(10):
        assert (chain.advance(None) == other.advance(None)).all()
    assert (chain.person() == other.person()).all()
    assert (chain.profile_state.rates == other.profile_state.rates).all()


def test_profiles_alone_have_a_chain_of_their_own():
    assert isinstance(make_chain(job(), 0), ProfileChain)
    assert isinstance(make_chain(job(sampler="paper"), 0), Chain)


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
