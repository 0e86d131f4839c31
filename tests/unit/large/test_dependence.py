"""Fields that depend on each other: the evidence of pairs is that of the exact sampler, and counts about once."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tielink as tl
from dependent_fields import KINDS, dataset
from tielink.data.columns import MISSING
from tielink.large import candidates, learning
from tielink.large.candidates import add_evidence, find_pairs, put_records
from tielink.large.learning import evidence_of_columns, learn, prior_state
from tielink.large.tables import DuckTables, Tables
from tielink.logp.profiles import log_evidence, log_pair, log_single
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.profiles import ProfileState

MODEL = tl.Model(network=None)
PLACES = ("suburb", "postcode", "state")


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Tables]:
    mine = DuckTables(tmp_path / "tables", threads=1)
    yield mine
    mine.close()


def people() -> tl.Dataset:
    """Persons with an address, whose suburb tells the postcode, and that the state; some have moved."""
    made = tl.simulate.people.people(np.random.default_rng(1), (150, 140), 100, nested=True)
    return tl.Dataset.from_frames(made.frames, id="id")


def some_state(problem: tl.Problem) -> ProfileState:
    """Return rates that all differ, so that none can be taken for another."""
    state = prior_state(problem)
    state.rates = np.linspace(0.05, 0.3, len(state.rates))
    return state


def short_learning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learning, "WARMUP", 20)
    monkeypatch.setattr(learning, "DRAWS", 20)


def in_sql(tables: Tables, data: tl.Dataset, problem: tl.Problem, state: ProfileState) -> dict[str, np.ndarray]:
    """Return every pair of records with its evidence."""
    put_records(tables, data, problem)
    tables.write("everybody", "SELECT a.i, b.j FROM records_a a CROSS JOIN records_b b")
    add_evidence(tables, problem, state, "everybody", "found")
    return tables.fetch("SELECT i, j, e FROM found ORDER BY 1, 2")


def by_the_sampler(data: tl.Dataset, problem: tl.Problem, state: ProfileState, left, right) -> np.ndarray:
    chain = Chain(Job(MODEL, data, tl.Run(seed=1, chains=1), problem), 0)
    return chain.profiles.evidence(state, left, right + problem.sizes[0])


@pytest.mark.parametrize(
    ("kinds", "edges", "columns"),
    [
        ("categorical", "learn", {"f3", "t0"}),  # the colour tells nothing, all others tell each other
        ("mixed", "learn", {"f3", "t0"}),
        ("closed", "learn", {"f3", "t0"}),
        ("mixed", [("suburb", "postcode"), ("state", "colour")], {"t0", "t1"}),
    ],
)
def test_evidence_is_that_of_the_exact_sampler(tables, kinds, edges, columns):
    """In all pairs, with gaps, and rates that differ by file."""
    by_file = {name: replace(field, by_file=True) for name, field in KINDS[kinds].items()}
    data = dataset(kinds, missing=0.2)
    problem = tl.Problem.compile(replace(MODEL, fields=by_file, dependence=tl.Dependence(edges=edges)), data)
    state = some_state(problem)
    assert set(evidence_of_columns(problem, state)) == columns
    rows = in_sql(tables, data, problem, state)
    assert len(rows["e"]) == problem.sizes[0] * problem.sizes[1]
    wanted = by_the_sampler(data, problem, state, rows["i"], rows["j"])
    assert np.abs(rows["e"] - wanted).max() < 1e-9
    swapped = replace(state, rates=np.roll(state.rates, 1))
    assert np.abs(rows["e"] - by_the_sampler(data, problem, swapped, rows["i"], rows["j"])).max() > 0.1


def test_candidates_have_the_evidence_of_the_exact_sampler(tables, monkeypatch):
    """Of people with nested places, at the rates that were learnt from some of them."""
    monkeypatch.setattr(candidates, "learn", lambda *given: some_state(given[2]))
    data = people()
    problem = tl.Problem.compile(MODEL, data)
    assert any(set(PLACES) <= set(tree.names) for tree in problem.trees)
    put_records(tables, data, problem)
    state = find_pairs(tables, MODEL, data, problem, tl.Run(seed=1), lambda text: None)
    rows = tables.fetch("SELECT i, j, e FROM pairs")
    assert len(rows["e"]) > 500
    wanted = by_the_sampler(data, problem, state, rows["i"], rows["j"])
    assert np.abs(rows["e"] - wanted).max() < 1e-9


def test_a_suburb_its_postcode_and_its_state_count_about_once(tables):
    data = dataset(sizes=(200, 200), missing=0.0)
    problem = tl.Problem.compile(MODEL, data)
    state = prior_state(problem)
    rows = in_sql(tables, data, problem, state)
    left, right = rows["i"], rows["j"] + problem.sizes[0]
    alike = np.all([data.columns[name].codes[left] == data.columns[name].codes[right] for name in PLACES], axis=0)
    of_field = {
        field.name: log_evidence(field, state.fields[place], state.rates[problem.rate_of[place, 0]], left, right)
        for place, field in enumerate(problem.fields)
    }
    together = (rows["e"] - of_field["colour"])[alike].mean()
    summed, most = sum(of_field[name][alike].mean() for name in PLACES), of_field["suburb"][alike].mean()
    assert together < summed - 1.0
    assert abs(together - most) < 0.5


def test_independent_fields_are_summed_as_ever(tables):
    """To the last bit, where the model says that none depends on another; and no column is written for trees."""
    data = dataset(sizes=(60, 50))
    problem = tl.Problem.compile(replace(MODEL, dependence=None), data)
    state = some_state(problem)
    rows = in_sql(tables, data, problem, state)
    left, right = rows["i"], rows["j"] + problem.sizes[0]
    wanted = np.zeros(len(left))
    for place, field in enumerate(problem.fields):
        parameters, rate = state.fields[place], float(state.rates[problem.rate_of[place, 0]])
        x, y = field.codes[left], field.codes[right]
        single = log_single(field, parameters, rate, np.arange(field.levels))
        evidence = log_pair(field, parameters, rate, x, y) - single[x] - single[y]
        wanted += np.where((x == MISSING) | (y == MISSING), 0.0, evidence)
    assert (rows["e"] == wanted).all()
    assert set(tables.fetch("SELECT * FROM records_a")) == {"i", "theta", "degree", "free", "f0", "f1", "f2", "f3"}


def test_rates_are_learnt_with_trees_from_some_records():
    """The chain on a part of the records says of them what one on all says of the same records."""
    data = people()
    problem = tl.Problem.compile(MODEL, data)
    chosen = np.sort(np.random.default_rng(2).choice(problem.records, 90, replace=False))
    job = learning._part(MODEL, data, problem, chosen, tl.Run(seed=1))
    part, state = job.problem, some_state(problem)
    first = np.flatnonzero(part.file_of == 0)
    left, right = (side.ravel() for side in np.meshgrid(first, np.flatnonzero(part.file_of == 1)))
    mine = Chain(job, 0).profiles.evidence(state, left, right)
    whole = by_the_sampler(data, problem, state, chosen[left], chosen[right] - problem.sizes[0])
    assert np.abs(mine - whole).max() < 1e-9
    assert len(np.unique(mine.round(6))) > 100


def test_how_often_people_move_is_learnt(monkeypatch):
    short_learning(monkeypatch)
    data = people()
    problem = tl.Problem.compile(MODEL, data)
    pairs = np.column_stack([np.arange(90), 150 + np.arange(90)])
    found = learn(MODEL, data, problem, pairs, tl.Run(seed=1), lambda text: None)
    assert len(found.rates) == len(problem.rates)
    assert (found.rates != prior_state(problem).rates).all()
    assert ((found.rates > 0) & (found.rates < 0.5)).all()


def test_the_result_has_the_evidence_of_trees_and_explains_it(tmp_path, monkeypatch):
    short_learning(monkeypatch)
    data = people()
    result = tl.link(data, out=tmp_path / "out", engine=tl.DuckDB(threads=1), model=MODEL, progress=False)
    problem = tl.Problem.compile(MODEL, data)
    (tree,) = problem.trees
    assert result.posterior.rates[-1] == ", ".join(tree.names) + " together"
    links = result.links()
    assert f"evidence_value_{', '.join(tree.names)} together" in links.columns
    pair = result.decided.pairs[0]
    why = tl.explain(result.posterior, *(data.records[record] for record in pair), data)
    assert "what they say twice" in str(why)
    fields = [result.posterior.fields[field.name][0, 0] for field in problem.fields]
    state = ProfileState(result.posterior.distortion[0, 0], fields)
    evidence = by_the_sampler(data, problem, state, *(pair[:, None] - [[0], [problem.sizes[0]]]))
    assert sum(part.log_odds for part in why.contributions if part.field) == pytest.approx(evidence[0], abs=1e-4)
    assert (tmp_path / "out" / "report.html").exists()
