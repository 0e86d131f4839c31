"""What somebody waits for who begins: CPU seconds of whole commands, worker processes among them.

Files are made people (`simulate.people`), six in ten of them in both files, all columns guessed. The compilation of
kernels is what a run of six records takes more with an empty cache than afterwards. F₁ is against the made truth.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import polars as pl

from tielink.simulate.people import people

TITLE = "The first minutes"
COLUMNS = ("what", "CPU seconds", "wanted at most", "F₁")


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each thing to wait for."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        yield "`tielink --help`", f"{_seconds(folder, '--help'):.2f}", "0.4", "–"
        _write(folder, 3, 2)
        link = ("link", "original.csv", "copy.csv", "--out")
        empty = _seconds(folder, *link, "cold", NUMBA_CACHE_DIR=str(folder / "kernels"))
        six = _seconds(folder, *link, "warm", NUMBA_CACHE_DIR=str(folder / "kernels"))
        yield "kernels compiled, the first time", f"{empty - six:.0f}", "–", "–"
        yield "six records to the report", f"{six:.1f}", "3", "–"
        for size, wanted in ((500, 15), (5_000, 60)):
            truth, out = _write(folder, size, size * 6 // 10), f"r{size}"
            _seconds(folder, *link, "warm", "--draws", "1", "--warmup", "1", "--chains", "1")  # kernels of this size
            seconds = _seconds(folder, *link, out)
            yield f"{size:,} + {size:,} records to the report", f"{seconds:.0f}", wanted, _f1(folder / out, truth)


def _write(folder: Path, size: int, overlap: int) -> set[tuple[str, str]]:
    """Write two files; return the ids of their matches."""
    made = people(np.random.default_rng(7), (size, size), overlap)
    for name, frame in made.frames.items():
        frame.write_csv(folder / f"{name}.csv")
    return set(made.matches)


def _seconds(folder: Path, *arguments: str, **environment: str) -> float:
    """Run a command; return the CPU seconds of it and its processes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-P", "-m", "tielink", *arguments]
    subprocess.run(command, cwd=folder, env=os.environ | environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _f1(result: Path, truth: set[tuple[str, str]]) -> str:
    links = pl.read_csv(result / "links.csv", infer_schema=False).filter(pl.col("decision") == "link")
    right = len(truth & set(links.select("id_a", "id_b").iter_rows()))
    return f"{2 * right / (len(links) + len(truth)):.3f}"
