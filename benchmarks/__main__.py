"""Run benchmarks and write their tables: `make benchmark`, or `python -m benchmarks row_kernel sweeps`."""

from __future__ import annotations

import importlib
import json
import os
import platform
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numba
import numpy as np

import tielink

PARTS = (
    "row_kernel",
    "sweeps",
    "options",
    "effective_draws",
    "modes",
    "ties_beyond_positions",
    "strings_alone",
    "far_strings",
    "many_strings",
    "profiles",
    "field_kinds",
    "duplicates",
    "more_files",
)
HERE = Path(__file__).parent
WHERE = (
    f"tielink {tielink.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
    f"numba {numba.__version__}, {os.cpu_count()} cores."
)
HEAD = """# Benchmarks

Written by `make benchmark` (one part: `.venv/bin/python -m benchmarks row_kernel`). With `TIELINK_DATA` set, `pkdd12`
is the paper's YouTube/Twitter data; otherwise a made pair of the same size takes its place. Machines are noisy: read
ratios within one table, not times. Timings are not tests.

"""


def table(columns: Sequence[str], rows: list[list[str]]) -> str:
    """Return a Markdown table."""
    lines = [" | ".join(columns), " | ".join("---" for _ in columns), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


def section(result: dict[str, Any]) -> str:
    """Return one part of the page."""
    parts = [
        f"## {result['title']}",
        result["about"].strip(),
        table(result["columns"], result["rows"]),
        result["where"],
    ]
    return "\n\n".join(parts) + "\n"


def main() -> None:
    """Measure the wanted parts, keep their results, and write the page anew from all that are kept."""
    wanted = sys.argv[1:] or PARTS
    kept = HERE / "results.json"
    results = json.loads(kept.read_text()) if kept.exists() else {}
    for name in wanted:
        part = importlib.import_module(f"benchmarks.{name}")
        sys.stderr.write(f"{part.TITLE}\n")
        rows = []
        for row in part.measure():
            rows.append([str(cell) for cell in row])
            sys.stderr.write("  " + " | ".join(rows[-1]) + "\n")
        results[name] = {
            "title": part.TITLE,
            "about": part.__doc__,
            "columns": part.COLUMNS,
            "rows": rows,
            "where": WHERE,
        }
        kept.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")
    sections = [section(results[name]) for name in PARTS if name in results]
    notes = HERE / "notes.md"
    (HERE / "README.md").write_text(HEAD + "\n".join(sections) + ("\n" + notes.read_text() if notes.exists() else ""))


if __name__ == "__main__":
    main()
