"""Runs of `tielink link` that are stopped at some moment, and the same command again: the tables must be the same."""

from __future__ import annotations

import os
import random
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np

import tielink as tl
from tielink.simulate import scenario, write_project

TABLES = ("links.csv", "persons.csv", "profiles.csv", "pairs.parquet")
WAYS = ("SIGINT", "SIGTERM", "SIGKILL", "disk full")
MARK = "TIELINK_STOPPED_RUN"
"""A variable in the environment of a run, by which its processes are found."""


def make_world(folder: Path) -> None:
    model = tl.Model(network=tl.LatentSpace(2))
    made = scenario(np.random.default_rng(1), model, {"a": 14, "b": 16}, overlap=9, anchors=0.2)
    write_project(made, folder / "p", model)


PYTHON_STARTS = 1.0
"""Seconds in which Python itself starts; a stop then is heard by Python, not by us."""


class LinkRun:
    """`tielink link` in a process of its own, into one folder."""

    def __init__(self, world: Path, out: str, *, largest_file: int | None = None) -> None:
        def before() -> None:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))

        self.mark = f"{world}/{out}/{time.monotonic_ns()}"
        arguments = ["link", "p/project.toml", "--out", out, "--chains", "3", "--workers", "2", "--warmup", "60"]
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "tielink", *arguments, "--minutes", "60", "--interval", "0"],
            cwd=world, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, preexec_fn=before,
            env=os.environ | {MARK: self.mark, "COLUMNS": "200", "NO_COLOR": "1"},
        )  # fmt: skip

    def end(self) -> tuple[int, str]:
        """Wait for its end; return exit code and standard error."""
        _, errors = self.process.communicate(timeout=300)
        return self.process.returncode, errors

    def left(self) -> list[int]:
        """Return its processes that still run, after a moment to end in."""
        for _ in range(100):
            found = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit() and self._is_ours(path)]
            if not found:
                return []
            time.sleep(0.1)
        return found

    def _is_ours(self, process: Path) -> bool:
        try:
            state = (process / "stat").read_text().rpartition(")")[2].split()[0]
            return state != "Z" and f"{MARK}={self.mark}".encode() in (process / "environ").read_bytes()
        except OSError:
            return False


def tables(world: Path, out: str) -> dict[str, bytes]:
    return {name: (world / out / name).read_bytes() for name in TABLES}


def stop_and_go_on(world: Path, out: str, way: str, after: float, rng: random.Random) -> str:
    """Stop a run in this way, run it again to its end, and return the phase in which it was stopped."""
    full = way == "disk full"
    run = LinkRun(world, out, largest_file=rng.randrange(0, 60_000) if full else None)
    if not full:
        time.sleep(after)
        run.process.send_signal(getattr(signal, way))
    code, errors = run.end()
    kept = world / out / "checkpoint"
    chains = len(list(kept.glob("chain-*.npz")))
    finished = (world / out / "report.html").exists() and not kept.exists()
    if finished:
        phase = "after the work"
    elif not (kept / "job.npz").exists():
        phase = "before the work"
    else:
        phase = f"with {chains} of 3 chains begun"
    # Python ends itself by the signal, -2, if it came while a text was executed, as it is in some imports.
    expected = {"SIGINT": (0, 130, -2), "SIGTERM": (0, 130, -2, -15), "SIGKILL": (0, -9), "disk full": (0, 2)}[way]
    assert code in expected, (way, after, code, errors)
    if full or after > PYTHON_STARTS:
        assert "Traceback" not in errors, errors
        heard = len(errors) > 30 or code in (0, -9) or finished
        assert heard, f"a stop is never silent ({way} after {after:.1f} s, code {code})"
    assert not run.left(), "a process was left behind"
    again, errors = LinkRun(world, out).end()
    assert again == 0, errors
    return phase


def stops(world: Path, count: int, seed: int) -> Counter[tuple[str, str]]:
    """Stop runs at random moments; return how many were stopped in which way and phase."""
    rng, phases = random.Random(seed), Counter[tuple[str, str]]()
    begun = time.monotonic()
    assert LinkRun(world, "whole").end()[0] == 0
    length = time.monotonic() - begun
    expected = tables(world, "whole")
    for number in range(count):
        way, out = WAYS[number % len(WAYS)], f"stopped{number}"
        phase = stop_and_go_on(world, out, way, rng.uniform(0, 1.05 * length), rng)
        assert tables(world, out) == expected, f"stop {number} ({way}, {phase}) changed the tables"
        phases[way, phase] += 1
    return phases
