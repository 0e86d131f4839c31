"""A stopped run gives the same answer, wherever the stop falls, and leaves no process behind."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import polars as pl
import pytest

import stops
import tielink as tl
from tielink.project import Run
from tielink.run.job import Job
from tielink.run.worker import ChainRun, Order, work
from tielink.simulate import scenario

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc"), reason="processes are found in /proc")

RUN = Run(chains=1, warmup=4, draws=5, thin=2, seed=3)


def problems():
    space = tl.Model(network=tl.LatentSpace(2))
    made = scenario(np.random.default_rng(2), space, {"a": 8, "b": 9}, overlap=5, anchors=0.2).dataset
    frame = pl.DataFrame(
        {"id": range(5), "city": ["x", "y", "x", None, "y"], "name": ["ann", "bob", "ana", "zoe", "bo"]}
    )
    kinds = {"city": tl.Categorical(), "name": tl.String()}
    several = tl.Dataset.from_frames(dict.fromkeys("abc", frame), {"a": [(0, 1)], "b": [(1, 2)]}, fields=kinds)
    return {
        "ties and profiles": (tl.Model(), made, RUN),
        "a latent space": (space, made, RUN),
        "profiles": (tl.Model(network=None), made, RUN),
        "the paper's algorithm": (tl.Model.paper(2), made, Run(sampler="paper", chains=1, warmup=4, draws=5)),
        "three files": (tl.Model(linkage=tl.OnePerFile()), several, RUN),
    }


def go(order, stopped=lambda _: False, target=0):
    """Run one chain to the end of a round, or until it is stopped."""
    return work([ChainRun(order, lambda _: None)], target, stopped)[0]


@pytest.mark.parametrize("kind", list(problems()))
def test_draws_are_the_same_wherever_the_stop_falls(kind, tmp_path):
    model, dataset, run = problems()[kind]
    job = Job.make(model, dataset, run)
    whole = go(Order(job, 0))
    sweeps = run.warmup + run.draws * run.thin
    for stop in range(sweeps + 1):  # 0: told to stop before or while a start is found, so right after it
        asked = iter(range(stop))
        folder = tmp_path / str(stop)
        folder.mkdir()
        go(Order(job, 0, folder), lambda _, asked=asked: next(asked, None) is None)
        resumed = go(Order(job, 0, folder))
        assert np.array_equal(resumed.counts, whole.counts), stop
        assert all(np.array_equal(resumed.arrays[name], array) for name, array in whole.arrays.items()), stop


def test_draws_are_the_same_after_a_stop_within_the_start(tmp_path, monkeypatch):
    from tielink.run import chain as chains

    model, dataset, run = problems()["ties and profiles"]
    job = Job.make(model, dataset, run)
    whole = go(Order(job, 0))
    real = chains.Chain

    class Killed(BaseException):
        pass

    def make(*arguments):
        chain = real(*arguments)

        def begin():
            chain.rng.random(7)
            raise Killed

        chain.begin = begin
        return chain

    monkeypatch.setattr(chains, "Chain", make)
    with pytest.raises(Killed):
        go(Order(job, 0, tmp_path, 0.0))
    monkeypatch.setattr(chains, "Chain", real)
    resumed = go(Order(job, 0, tmp_path))
    assert all(np.array_equal(resumed.arrays[name], array) for name, array in whole.arrays.items())


def test_four_stopped_runs_go_on_to_the_same_tables(tmp_path):
    stops.make_world(tmp_path)
    assert sum(stops.stops(tmp_path, 4, seed=5).values()) == 4


@pytest.mark.long
def test_sixty_stopped_runs_go_on_to_the_same_tables(tmp_path):
    stops.make_world(tmp_path)
    found = stops.stops(tmp_path, 60, seed=1)
    print("\n".join(f"{way}, {phase}: {count}" for (way, phase), count in sorted(found.items())))
    assert sum(found.values()) == 60


def test_a_stop_that_python_swallows_is_heard_all_the_same():
    program = """
import os, signal, time, ctypes
import tielink.cli, tielink.__main__ as start

def work():
    callback = ctypes.CFUNCTYPE(None)(lambda: (os.kill(os.getpid(), signal.SIGINT), time.sleep(0.01)))
    callback()
    time.sleep(20)
    print("never heard")

tielink.cli.main = work
start.main()
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=False)
    assert "never heard" not in done.stdout
    assert "Traceback" not in done.stderr
    assert "tielink: stopped" in done.stderr
