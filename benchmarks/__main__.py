"""Run benchmarks and write their tables: `make benchmark`, or `python -m benchmarks row_kernel sweeps`.

`python -m benchmarks ties` runs every part whose name begins with `ties_`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import platform
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

import tielink

PARTS = (
    "start",
    "row_kernel",
    "sweeps",
    "effective_draws",
    "modes",
    "meet",
    "strings_alone",
    "far_strings",
    "many_strings",
    "profiles",
    "changing_fields",
    "field_kinds",
    "duplicates",
    "duplicate_errors",
    "more_files",
    "ties_and_profiles",
    "ties_egos",
    "ties_alone",
    "ties_made",
    "large_quality",
    "large_growth",
    "large_exact",
    "review",
)
HERE = Path(__file__).parent
KEPT = HERE / "results.json"
HEAD = """# Benchmarks

Written by `make benchmark` (one part: `.venv/bin/python -m benchmarks row_kernel`). With `TIELINK_DATA` set, `pkdd12`
is the paper's YouTube/Twitter data; otherwise a made pair of the same size takes its place. Machines are noisy: read
ratios within one table, not times. Timings are not tests.

"""


def table(columns: Sequence[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [" | ".join(columns), " | ".join("---" for _ in columns), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def git(*asked: str) -> str:
    """Ask git about this repository; an empty answer where there is none."""
    return subprocess.run(["git", "-C", str(HERE), *asked], check=False, capture_output=True, text=True).stdout.strip()


def where() -> str:
    """Return what is measured, and on what: the commit of the package among it."""
    commit = git("log", "-1", "--format=%h", "--", "../src") or "unknown"
    changed = " with changes" if git("diff", "HEAD", "--", "../src") else ""
    return (
        f"tielink {tielink.__version__}, source as of commit {commit}{changed}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, numba {numba.__version__}, {os.cpu_count()} cores."
    )


def kept() -> dict[str, Any]:
    """Return the results of all parts that were ever measured."""
    return dict(json.loads(KEPT.read_text())) if KEPT.exists() else {}


def section(result: dict[str, Any]) -> str:
    """Return one part of the page."""
    parts = [
        f"## {result['title']}",
        result["about"].strip(),
        table(result["columns"], result["rows"]),
        result["where"] + ("" if result.get("finished", True) else " Not run to its end."),
    ]
    return "\n\n".join(parts) + "\n"


def write_page() -> None:
    """Write the page anew from all results that are kept."""
    results = kept()
    sections = [section(results[name]) for name in PARTS if name in results]
    (HERE / "README.md").write_text(HEAD + "\n".join(sections) + "\n" + (HERE / "notes.md").read_text())


def run(name: str) -> None:
    """Measure one part, and keep each row as it comes."""
    part = importlib.import_module(f"benchmarks.{name}")
    sys.stderr.write(f"{part.TITLE}\n")
    result: dict[str, Any] = {
        "title": part.TITLE,
        "about": part.__doc__,
        "columns": part.COLUMNS,
        "rows": [],
        "where": where(),
        "finished": False,
    }

    def keep() -> None:
        KEPT.write_text(json.dumps(kept() | {name: result}, indent=1, ensure_ascii=False) + "\n")
        write_page()

    for row in part.measure():
        result["rows"].append([str(cell) for cell in row])
        sys.stderr.write("  " + " | ".join(result["rows"][-1]) + "\n")
        keep()
    result["finished"] = True
    keep()


def main() -> None:
    """Measure the wanted parts."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks")
    parser.add_argument("parts", nargs="*", help="what to measure; 'ties' is all parts that begin with it")
    parser.add_argument("--data", help="the folder of real data; by default TIELINK_DATA")
    parser.add_argument("--latent", action="store_true", help="in tables of ties, the latent space too (hours)")
    given = parser.parse_args()
    wanted = [part for name in given.parts or PARTS for part in PARTS if part == name or part.startswith(f"{name}_")]
    unknown = [name for name in given.parts if not any(part == name or part.startswith(f"{name}_") for part in PARTS)]
    if unknown:
        parser.error(f"no such part: {', '.join(unknown)}. Choose from {', '.join(PARTS)}.")
    if given.data:
        os.environ["TIELINK_DATA"] = given.data
    if given.latent:
        os.environ["TIELINK_LATENT"] = "1"
    for name in wanted:
        run(name)
    write_page()


if __name__ == "__main__":
    main()
