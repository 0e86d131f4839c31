"""What was fitted so far: one line a fit, so that a stopped run goes on where it stopped."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

__all__ = ["Ledger"]

Row = dict[str, Any]


class Ledger:
    """Rows by key, on disk as JSON lines. A line is written whole or, after a crash, ignored."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.rows: dict[str, Row] = {}
        if path.exists():
            text = path.read_text()
            if text and not text.endswith("\n"):
                with path.open("a") as file:  # or a line that a crash cut short would swallow the next
                    file.write("\n")
            for line in text.splitlines():
                try:
                    row = json.loads(line)
                except json.JSONDecodeError:  # the last line of a run that was killed while writing it
                    continue
                self.rows[row["key"]] = row

    def __contains__(self, key: str) -> bool:
        return key in self.rows

    def add(self, row: Row) -> None:
        """Keep a row, on disk first."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
        self.rows[row["key"]] = row

    def part(self, name: str) -> Iterator[Row]:
        """Yield the rows of one part."""
        return (row for row in self.rows.values() if row["part"] == name)

    def tidy(self) -> None:
        """Write all rows anew in the order of their keys, so that two runs give the same file."""
        lines = [json.dumps(self.rows[key], ensure_ascii=False) for key in sorted(self.rows)]
        self.path.write_text("\n".join(lines) + "\n")
