"""ARCHITECTURE.md speaks of files that exist, and leaves no package out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "tielink"


def named_parts() -> list[tuple[str, str]]:
    """The folder that each name of the table may lie in, and the name."""
    found = []
    for line in (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8").splitlines():
        if not line.startswith("| `"):
            continue
        folder = ""
        for name in re.findall(r"`([^`]+)`", line.split("|")[1]):
            folder = name.rpartition("/")[0] or folder
            found.append((folder, name.rstrip("/")))
    return found


def exists(folder: str, name: str) -> bool:
    places = [SOURCE / name, SOURCE / folder / name]
    return any(place.is_dir() or place.with_suffix(".py").is_file() for place in places)


def test_every_part_that_is_named_exists():
    assert len(named_parts()) > 50
    assert [name for folder, name in named_parts() if not exists(folder, name)] == []


def test_every_package_and_module_at_the_top_is_named():
    top = {name.partition("/")[0] for _, name in named_parts()}
    there = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").is_file()}
    assert there - top - {"__init__", "__main__"} == set()
