"""Going on from stored draws: starts are what was stored, what is known is kept, results are those of a full run."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.data.scores import pair_keys
from tielink.review import Answer
from tielink.run.again import drift, with_answers
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.run.start import Start

NAMES = ["anna berg", "bob lund", "carl holm", "dora dahl", "erik vik", "finn moe", "gina lie", "hugo aas"]
OTHERS = ["anna berg", "bob lundh", "karl holm", "dora dal", "zoe zahl", "finn moen", "gina li", "ivar ek", "hugo as"]
MODEL = tl.Model()
TIES = {"a": [(0, 1), (1, 2), (2, 3), (5, 6)], "b": [(0, 1), (1, 2), (2, 3), (5, 6)]}


def data(size: int = len(OTHERS), others: list[str] = OTHERS) -> tl.Dataset:
    frames = {"a": pl.DataFrame({"id": range(8), "name": NAMES})}
    frames["b"] = pl.DataFrame({"id": range(size), "name": others[:size]})
    ties = {name: [pair for pair in pairs if max(pair) < frames[name].height] for name, pairs in TIES.items()}
    return tl.Dataset.from_frames(frames, ties, fields={"name": tl.String()})


@pytest.fixture(scope="module")
def before() -> tl.Posterior:
    return tl.sample(MODEL, data(6), chains=2, warmup=150, draws=250, workers=0, seed=3, progress=False)


def probabilities(posterior: tl.Posterior) -> dict[tuple[object, ...], float]:
    found = posterior.pair_probabilities
    return {
        tuple(posterior.records[int(r)] for r in pair): p
        for pair, p in zip(found.pairs, found.probability, strict=True)
    }


def test_chains_begin_where_others_ended(before):
    full = data(6)
    job = replace(Job.make(MODEL, full, before.run), start=Start.of(before, full), power=before.power)
    for index in range(2):
        chain = Chain(job, index)
        chain.begin()
        assert (chain.person() == before.person[index, -1]).all()
        assert chain.profile_state.rates == pytest.approx(before.distortion[index, -1])
        assert chain.series()["sharing"] == pytest.approx(before.sharing[index, -1])
        assert np.isfinite(chain.log_likelihood())


def test_a_start_is_sent_and_read_as_data(before):
    full = data()
    job = replace(Job.make(MODEL, full, before.run), start=Start.of(before, full), power=before.power)
    again = Job.read(job.stored())
    assert again.power == before.power
    assert (again.start.person == job.start.person).all()
    assert (again.start.person[:, -3:] == -1).all(), "new records have no place yet"
    arrays, values = job.stored()
    with pytest.raises(ValueError, match=r"start\.person"):
        Job.read((arrays | {"start.person": arrays["start.person"][:, :-1]}, values))
    with pytest.raises(ValueError, match=r"start\.rates"):
        Job.read((arrays | {"start.rates": arrays["start.rates"] * np.nan}, values))


def test_an_update_says_what_a_full_run_says(before):
    after = tl.update(before, data(), warmup=30, draws=250, workers=0, progress=False)
    model = tl.Model(network=tl.SharedTies(power=before.power))
    full = tl.sample(model, data(), chains=2, warmup=150, draws=250, workers=0, seed=8, progress=False)
    one, two = probabilities(after), probabilities(full)
    assert max(abs(one.get(pair, 0.0) - two.get(pair, 0.0)) for pair in one | two) < 0.12
    changes = after.changes_since(before)
    assert {"b"} == set(changes.filter(pl.col("change") == "new link")["file_b"])
    assert set(changes["id_b"]) >= {6, 8}
    assert not after.notes


def test_withdrawn_records_are_gone_and_their_partners_free(before):
    after = tl.update(before, data(5), draws=100, workers=0, progress=False)
    assert len(after.records) == 13
    changes = after.changes_since(before)
    assert "withdrawn" in changes.filter(pl.col("id_b") == 5)["change"].to_list()


def test_answers_hold_in_every_draw(before):
    answers = [Answer(("a", 0), ("b", 1), (("b", 0), ("b", 1))), Answer(("a", 2), "none", (("b", 2),))]
    after = tl.update(before, data(6), answers=answers, draws=100, workers=0, progress=False)
    number = after.records.number
    assert (after.person[:, :, number(("a", 0))] == after.person[:, :, number(("b", 1))]).all()
    assert (after.person[:, :, number(("a", 2))] != after.person[:, :, number(("b", 2))]).all()


def test_conditioning_stored_draws_says_what_sampling_again_says(before):
    answers = [Answer(("a", 2), "none", (("b", 2),)), Answer(("a", 3), ("b", 3), (("b", 3),))]
    known = with_answers(data(6), answers, "pairs")
    model = tl.Model(network=tl.SharedTies(power=before.power))
    full = tl.sample(model, known, chains=2, warmup=150, draws=400, workers=0, seed=5, progress=False)
    given = before.given(answers)
    one, two = probabilities(given), probabilities(full)
    error = 0.05 + 4 * 0.5 / np.sqrt(max(given.agreement.effective, 1))
    assert max(abs(one.get(pair, 0.0) - two.get(pair, 0.0)) for pair in one | two) < min(error, 0.3)


def test_data_that_contradict_the_old_ask_for_a_full_run(before):
    far = replace(before, distortion=before.distortion + 3.0)
    assert any("full run" in note for note in drift(before, far))
    person = before.person.copy()
    person[:] = np.arange(person.shape[2])
    nobody = replace(before, person=person, conditional=None)
    sure = (before.pair_probabilities.probability > 0.9).sum()
    assert any("fell" in note for note in drift(before, nobody)) == (sure > 3)
    moving = before.person.copy()
    moving[:, :125] = np.arange(person.shape[2])
    moving[:, 125:] = before.person[:, -1:]
    assert any("still moves" in note or "agree yet" in note for note in drift(before, replace(before, person=moving)))
    assert not drift(before, before)


def test_other_files_and_contradictions_are_refused(before):
    other = tl.Dataset.from_frames({"a": pl.DataFrame({"id": [1]}), "c": pl.DataFrame({"id": [1]})}, fields={})
    with pytest.raises(tl.InputError, match="the files are"):
        tl.update(before, other)
    known = tl.Dataset.from_frames(
        {"a": pl.DataFrame({"id": [1]}), "b": pl.DataFrame({"id": [1]})}, fields={}, nonmatches=[(("a", 1), ("b", 1))]
    )
    with pytest.raises(tl.InputError, match="one person and not to be"):
        with_answers(known, [Answer(("a", 1), ("b", 1), (("b", 1),))], "pairs")


def test_the_same_seed_gives_the_same_update_in_processes_too(before):
    one, two = (tl.update(before, data(), draws=20, workers=workers, progress=False) for workers in (0, 2))
    assert (one.person == two.person).all()
    assert (pair_keys(one.pair_probabilities.pairs) == pair_keys(two.pair_probabilities.pairs)).all()
