"""Time and memory of `tielink simulate --engine duckdb` and `tielink link --engine duckdb`, from files to the report.

Made people with names, place and year of birth, ten ties each, half of them shared, two thirds in both files, a tenth
of the matches known. CPU seconds and peak memory are those of the whole command; the exponent is that of CPU seconds
against the row before. A million records a file take about ten times the last row: `TIELINK_LARGE=1000000` adds them.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

TITLE = "Large files: growth"
COLUMNS = ("records", "command", "CPU seconds", "peak memory, MB", "exponent")
SIZES = (1_000, 10_000, 100_000)
MEMORY = "6GB"

MEASURED = """
import json, resource, subprocess, sys
done = subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000]))
"""


def measured(*command: str) -> tuple[float, float]:
    """Run a command of tielink's and return its CPU seconds and peak memory."""
    asked = [sys.executable, "-c", MEASURED, sys.executable, "-m", "tielink", *command]
    code, seconds, memory = json.loads(subprocess.run(asked, check=True, capture_output=True).stdout)
    if code:
        raise RuntimeError(f"tielink {' '.join(command)} ended with {code}")
    return seconds, memory


def measure() -> Iterator[tuple[str, ...]]:
    """Yield two rows for each size."""
    more = [int(os.environ["TIELINK_LARGE"])] if os.environ.get("TIELINK_LARGE") else []
    before: tuple[int, float] | None = None
    for records in [*SIZES, *more]:
        with TemporaryDirectory() as folder:
            data, out = Path(folder) / "big", Path(folder) / "result"
            made = measured("simulate", "--records", str(records), "--engine", "duckdb", "--out", str(data))
            yield f"{records:,} + {records:,}", "simulate", f"{made[0]:.0f}", f"{made[1]:,.0f}", "–"
            how = ("--engine", "duckdb", "--memory", MEMORY, "--out", str(out))
            seconds, memory = measured("link", str(data / "project.toml"), *how)
            grown = "–" if before is None else f"{math.log(seconds / before[1]) / math.log(records / before[0]):.2f}"
            before = records, seconds
            yield f"{records:,} + {records:,}", "link", f"{seconds:.0f}", f"{memory:,.0f}", grown
