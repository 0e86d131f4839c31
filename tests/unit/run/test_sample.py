"""Runs: the same draws whatever the workers, whatever stopped them; nothing finished is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.files import append_lines, write_whole
from tielink.model.problem import LatentSpaceProblem
from tielink.project import Run
from tielink.run import pilot, worker
from tielink.run.bundle import same as same_bundle
from tielink.run.chain import Chain
from tielink.run.checkpoint import load_job
from tielink.run.job import Job
from tielink.simulate import scenario, write_project

SETTINGS = {"chains": 2, "warmup": 12, "draws": 18, "seed": 5}
MODEL = tl.Model(network=tl.LatentSpace(dimension=2))
RUNS = {
    "exact": {"model": MODEL, "sampler": "exact"},
    "paper": {"model": MODEL, "sampler": "paper"},
    "shared ties": {"model": tl.Model()},
}


@pytest.fixture(scope="module")
def data():
    return scenario(np.random.default_rng(2), sizes={"a": 14, "b": 16}, overlap=9, anchors=0.2, missing=0.1).dataset


def same(one: tl.Posterior, other: tl.Posterior) -> bool:
    arrays = ("person", "log_likelihood", "intercepts", "spread", "distortion", "sharing", "proposed", "accepted")
    return (
        all(np.array_equal(getattr(one, name), getattr(other, name)) for name in arrays)
        and one.power == other.power
        and np.array_equal(one.pair_probabilities.probability, other.pair_probabilities.probability)
    )


@pytest.fixture(scope="module")
def here(data):
    return {kind: tl.sample(dataset=data, workers=0, **run, **SETTINGS) for kind, run in RUNS.items()}


@pytest.mark.parametrize("kind", RUNS)
def test_the_draws_do_not_depend_on_the_workers(data, here, kind):
    for workers in (1, 2):
        assert same(here[kind], tl.sample(dataset=data, workers=workers, **RUNS[kind], **SETTINGS))
    other = tl.sample(dataset=data, workers=0, **RUNS[kind], **(SETTINGS | {"seed": 6}))
    assert not same(here[kind], other)
    assert not np.array_equal(*here[kind].log_likelihood), "chains have streams of their own"


@pytest.mark.parametrize("kind", RUNS)
@pytest.mark.parametrize("after", [1, 7, 12, 20])
def test_a_resumed_run_gives_the_draws_of_an_uninterrupted_one(data, here, kind, after, tmp_path, monkeypatch):
    class Killed(BaseException):
        pass

    saves = []
    real = worker.save_chain

    def save(*arguments):
        real(*arguments)
        saves.append(1)
        if len(saves) == after:
            raise Killed

    monkeypatch.setattr(worker, "save_chain", save)
    with pytest.raises(Killed):
        tl.sample(dataset=data, workers=0, checkpoint=tmp_path, interval=0.0, **RUNS[kind], **SETTINGS)
    monkeypatch.setattr(worker, "save_chain", real)
    assert same(here[kind], tl.resume(tmp_path, workers=0))
    assert same(here[kind], tl.sample(dataset=data, workers=0, checkpoint=tmp_path, **RUNS[kind], **SETTINGS))


def test_the_power_of_ties_is_learnt_once_and_checked_when_read(data, here, tmp_path, monkeypatch):
    tl.sample(tl.Model(), data, workers=0, checkpoint=tmp_path, **SETTINGS)
    with monkeypatch.context() as patched:
        patched.setattr(pilot, "learn_power", None)
        assert same(here["shared ties"], tl.resume(tmp_path, workers=0))
    for content in ("broken", "[]", '{"power": 2.0}', '{"power": NaN}', '{"power": "1"}', "{}"):
        (tmp_path / "power.json").write_text(content)
        with pytest.raises(tl.InputError, match=r"power\.json: holds no power of ties"):
            tl.resume(tmp_path, workers=0)
    (tmp_path / "power.json").unlink()
    assert same(here["shared ties"], tl.resume(tmp_path, workers=0))


def test_a_folder_with_another_run_is_refused(data, tmp_path):
    tl.sample(MODEL, data, workers=0, checkpoint=tmp_path, **SETTINGS)
    with pytest.raises(tl.InputError, match="checkpoint of another run"):
        tl.sample(MODEL, data, workers=0, checkpoint=tmp_path, **(SETTINGS | {"seed": 9}))
    with pytest.raises(tl.InputError, match="is no checkpoint folder"):
        tl.resume(tmp_path / "nowhere")
    with np.load(tmp_path / "chain-0.npz") as stored:
        arrays = dict(stored)
    renamed = np.frombuffer(arrays["values"].tobytes().replace(b'"walk"', b'"step"'), dtype=np.uint8)
    for older in ({"counts": arrays["counts"][1:]}, {"values": renamed}, {"draws.person": np.zeros(3)}):
        np.savez(tmp_path / "chain-0.npz", **(arrays | older))
        with pytest.raises(tl.InputError, match="does not fit this version of tielink"):
            tl.resume(tmp_path, workers=0)
    (tmp_path / "chain-0.npz").write_bytes(b"broken")
    with pytest.raises(tl.InputError, match="Remove it to run that chain again"):
        tl.resume(tmp_path, workers=1)
    (tmp_path / "job.npz").write_bytes(b"broken")
    with pytest.raises(tl.InputError, match="Start the run again"):
        load_job(tmp_path)


def test_stored_jobs_tell_data_models_and_settings_apart(data):
    def stored(model=MODEL, dataset=data, run=tl.Run(chains=2)):  # noqa: B008
        return Job.make(model, dataset, run).stored()

    other = scenario(np.random.default_rng(3), sizes={"a": 14, "b": 16}, overlap=9, anchors=0.2, missing=0.1).dataset
    assert same_bundle(stored(), stored())
    assert not same_bundle(stored(), stored(run=tl.Run(chains=3)))
    assert not same_bundle(stored(), stored(model=tl.Model.paper(2)))
    assert not same_bundle(stored(), stored(dataset=other))


def test_what_cannot_be_written_is_said(data, tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(tl.InputError, match="cannot be made"):
        tl.sample(MODEL, data, workers=0, checkpoint=tmp_path / "file", **SETTINGS)
    with pytest.raises(tl.InputError, match="cannot be written"):
        write_whole(tmp_path / "nowhere" / "x", lambda file: file.write(b"x"))

    def full_disk(file):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    (tmp_path / "old").write_text("old")
    with pytest.raises(tl.InputError, match="No space left on device"):
        write_whole(tmp_path / "old", full_disk)
    assert (tmp_path / "old").read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "old"]
    with pytest.raises(tl.InputError, match="full: cannot be written: No space left on device"):
        append_lines(Path("/dev/full"), ["a line"])


def test_one_file_needs_a_prior_of_duplicates():
    data = tl.Dataset.from_frames({"a": pl.DataFrame({"id": [1, 2]})}, fields={})
    with pytest.raises(tl.InputError, match="the linkage prior only links records of different files"):
        tl.sample(tl.Model(linkage=tl.Uniform()), data)


def test_three_files_of_the_papers_algorithm_are_a_clear_error():
    frame = pl.DataFrame({"id": [1, 2]})
    data = tl.Dataset.from_frames(dict.fromkeys("abc", frame), fields={})
    with pytest.raises(tl.InputError, match="links pairs between two files"):
        tl.sample(tl.Model(), data, sampler="paper")


@pytest.mark.parametrize(
    "bad", [{"chains": 0}, {"draws": -1}, {"minutes": 0}, {"sampler": "gibbs"}, {"thin": -1}, {"seed": -1}]
)
def test_wrong_settings_are_refused(data, bad):
    with pytest.raises(tl.InputError):
        tl.sample(MODEL, data, **bad)


@pytest.fixture
def command():
    """Start the `tielink` command in a process that hears Ctrl-C whoever started us, and that ends with the test."""
    started = []

    def start(*arguments, cwd: Path) -> subprocess.Popen:
        program = [sys.executable, "-c", "from tielink.cli import main; main()", *map(str, arguments)]
        process = subprocess.Popen(
            program,
            cwd=cwd,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


def wait_for(condition, seconds=400.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.fixture
def project(tmp_path) -> Path:
    write_project(scenario(np.random.default_rng(2), sizes={"a": 14, "b": 16}, overlap=9, anchors=0.2), tmp_path / "p")
    return tmp_path


LONG = ("--chains", "2", "--warmup", "20", "--draws", "3000", "--seed", "3")


def test_control_c_keeps_finished_draws(project, command):
    run = command(
        "sample", "p/project.toml", *LONG, "--draws", "2000000", "--workers", "2", "--checkpoint", "c",
        "--interval", "0.2", cwd=project,
    )  # fmt: skip
    wait_for(lambda: len(list((project / "c").glob("chain-*.npz"))) == 2)
    time.sleep(1)
    run.send_signal(signal.SIGINT)
    out, errors = run.communicate(timeout=200)
    assert run.returncode == 0, errors
    assert "the run was interrupted" in out
    assert tl.Posterior.load(project / "posterior.nc").draws_per_chain > 0


def test_a_killed_run_is_resumed(project, command):
    run = command("sample", "p/project.toml", *LONG, "--checkpoint", "c", "--interval", "0", cwd=project)
    wait_for(lambda: len(list((project / "c").glob("chain-*.npz"))) == 2)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    done = command("resume", "c", "--out", "resumed.nc", "--interval", "60", cwd=project)
    _, errors = done.communicate(timeout=400)
    assert done.returncode == 0, errors
    whole = command("sample", "p/project.toml", *LONG, "--out", "whole.nc", cwd=project)
    _, errors = whole.communicate(timeout=400)
    assert whole.returncode == 0, errors
    assert same(tl.Posterior.load(project / "resumed.nc"), tl.Posterior.load(project / "whole.nc"))


def test_a_place_that_cannot_hold_the_result_is_said_before_the_work(project, command):
    for out, said in (("nowhere/p.nc", "there is no such folder"), (".", "is a folder")):
        run = command("sample", "p/project.toml", *LONG, "--out", out, cwd=project)
        _, errors = run.communicate(timeout=200)
        assert run.returncode == 2
        assert said in errors
        assert "Traceback" not in errors


@pytest.mark.parametrize("sampler", ["exact", "paper"])
def test_a_chain_goes_on_from_a_snapshot_bit_for_bit(data, sampler):
    job = Job.make(MODEL, data, Run(sampler=sampler, **SETTINGS))
    first, second = Chain(job, 0), Chain(job, 0)
    first.begin()
    for sweep in range(10):
        first.advance(sweep)
    second.restore(*first.snapshot())
    for sweep in (*range(10, 15), None, None):
        assert np.array_equal(first.advance(sweep), second.advance(sweep))
    for one, other in zip(first.state, second.state, strict=True):
        assert np.array_equal(one, other)


def kinds_of_problems():
    """Models and data of every kind that the sampler takes."""
    rng = np.random.default_rng(9)
    made = scenario(rng, sizes={"a": 9, "b": 11}, overlap=5, anchors=0.2, missing=0.2).dataset
    frame = pl.DataFrame({"id": range(4), "city": ["x", "y", "x", None]})
    lonely = pl.DataFrame({"id": [0]})
    return {
        "ties alone": (tl.Model(fields={}), made),
        "positions alone": (tl.Model(network=tl.LatentSpace(), fields={}), made),
        "ties of a given power": (tl.Model(network=tl.SharedTies(0.5, 0.7)), made),
        "profiles alone": (tl.Model(network=None), made),
        "both, the paper's": (tl.Model.paper(3), made),
        "probit, one dimension": (tl.Model(network=tl.LatentSpace(1, "probit")), made),
        "five dimensions": (tl.Model(network=tl.LatentSpace(5), linkage=tl.Uniform()), made),
        "anchors inform": (tl.Model(linkage=tl.MatchRate(1, 2, anchors_inform=True)), made),
        "all anchored, with ties": (
            tl.Model(),
            tl.Dataset.from_frames(
                {"a": frame, "b": frame}, {"a": [(0, 1)], "b": [(1, 2)]}, anchors=[(i, i) for i in range(4)]
            ),
        ),
        "nothing to go by": (tl.Model(network=None, fields={}), made),
        "one network, isolated records": (
            tl.Model(),
            tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(0, 1)]}),
        ),
        "a network without ties": (
            tl.Model(),
            tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(0, 1)], "b": []}),
        ),
        "a non-match": (
            tl.Model(),
            tl.Dataset.from_frames({"a": frame, "b": frame}, {"a": [(0, 1)]}, nonmatches=[(0, 0)]),
        ),
        "all anchored": (
            tl.Model(),
            tl.Dataset.from_frames({"a": frame, "b": frame}, anchors=[(i, i) for i in range(4)]),
        ),
        "one record each": (
            tl.Model(),
            tl.Dataset.from_frames({"a": lonely, "b": lonely}, {"a": [], "b": []}, fields={}),
        ),
    }


def kinds_and_samplers():
    for kind, (model, dataset) in kinds_of_problems().items():
        yield kind, "exact"
        if isinstance(tl.Problem.compile(model, dataset).network, LatentSpaceProblem):
            yield kind, "paper"


@pytest.mark.parametrize(("kind", "sampler"), list(kinds_and_samplers()))
def test_every_kind_of_problem_is_sampled(kind, sampler):
    model, dataset = kinds_of_problems()[kind]
    posterior = tl.sample(model, dataset, sampler=sampler, chains=1, warmup=8, draws=12, workers=0)
    assert np.isfinite(posterior.log_likelihood).all()
    known = dataset.anchors.pair_numbers
    for linkage in posterior.draws():
        assert linkage.is_valid("pairs")
        assert all(linkage.labels[a] == linkage.labels[b] for a, b in known)
        assert all(linkage.labels[a] != linkage.labels[b] for a, b in dataset.nonmatches)
    assert str(posterior.diagnose())
