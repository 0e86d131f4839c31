"""Time and memory of `tielink simulate --engine duckdb` and `tielink link`, from files to the report.

Made people with name, place and year of birth, ten ties each, half of them shared, two thirds in both files, a tenth
of the matches known. Seconds on the clock (on whatever else the machine did besides), CPU seconds and peak memory are
those of the whole command, with kernels compiled before; the exponent is that of CPU seconds against the row before.
`TIELINK_LARGE=1000000` adds files of that size, which take about ten times the last row.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import polars as pl

import tielink as tl
from tielink.data.scores import pair_keys

TITLE = "Large files: growth"
COLUMNS = (
    "records",
    "command",
    "seconds on the clock",
    "CPU seconds",
    "peak memory, MB",
    "exponent",
    "matches expected / true",
    "R-hat of N",
)
SIZES = (1_000, 10_000, 100_000)
DUCKDB = ("--engine", "duckdb", "--memory", "6GB")

MEASURED = """
import json, resource, subprocess, sys, time
begun = time.monotonic()
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, time.monotonic() - begun, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000]))
"""
"""Peak memory is that of the largest process."""


def measured(*command: str) -> tuple[float, float, float]:
    """Run a command of tielink's and return its seconds on the clock, CPU seconds and peak memory."""
    asked = [sys.executable, "-c", MEASURED, sys.executable, "-m", "tielink", *command]
    code, clock, seconds, memory = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    if code:
        raise RuntimeError(f"tielink {' '.join(command)} ended with {code}")
    return clock, seconds, memory


def found(out: Path, data: Path) -> tuple[str, str]:
    """Return matches expected and true, known ones left out, and the R-hat of the number of persons."""
    posterior = tl.Posterior.load(out / "posterior.nc")
    known = len(posterior.anchors)
    true = pl.scan_parquet(data / "truth.parquet").select(pl.len()).collect().item() - known
    free = ~np.isin(pair_keys(posterior.pair_probabilities.pairs), pair_keys(posterior.anchors))
    expected = posterior.pair_probabilities.probability[free].sum()
    return f"{expected:,.0f} / {true:,}", f"{posterior.diagnose().rhat['persons N']:.3f}"


def run(records: int, how: tuple[str, ...]) -> tuple[tuple[float, ...], tuple[float, ...], tuple[str, str]]:
    """Make data and link them; return what each took, and what was found."""
    with TemporaryDirectory() as folder:
        data, out = Path(folder) / "big", Path(folder) / "result"
        made = measured("simulate", "--records", str(records), "--engine", "duckdb", "--out", str(data))
        linked = measured("link", str(data / "project.toml"), *how, "--out", str(out))
        return made, linked, found(out, data)


def growth(sizes: Iterable[int], engine: str, how: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield two rows for each size: making the data and linking them."""
    before: tuple[int, float] | None = None
    for records in sizes:
        size = f"{records:,} + {records:,}"
        made, linked, result = run(records, how)
        yield size, "simulate", *(f"{value:,.0f}" for value in made), "–", "–", "–"
        grown = f"{math.log(linked[1] / before[1]) / math.log(records / before[0]):.2f}" if before else "–"
        before = records, linked[1]
        yield size, f"link, {engine}", *(f"{value:,.0f}" for value in linked), grown, *result


def measure() -> Iterator[tuple[str, ...]]:
    """Yield two rows for each size."""
    run(SIZES[0], DUCKDB)  # compiles
    asked = [int(size) for size in os.environ.get("TIELINK_LARGE", "").split(",") if size]
    yield from growth((*SIZES, *asked), "duckdb", DUCKDB)
