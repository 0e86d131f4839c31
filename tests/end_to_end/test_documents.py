"""The examples in README and docs run and print what they say; project files in them are read."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path

import pytest

from tielink.data.sources import Sources
from tielink.faults import Faults
from tielink.model.spec import Model
from tielink.project import Run

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
BLOCK = re.compile(r"```(\w+)\n(.*?)```", re.DOTALL)


def blocks(path: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_examples_print_what_the_text_block_after_them_says(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(path)
    for place, (language, code) in enumerate(found):
        if language != "python":
            continue
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, path.name, "exec"), {})
        if place + 1 < len(found) and found[place + 1][0] == "text":
            assert printed.getvalue() == found[place + 1][1]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_project_files_have_no_unknown_settings(path):
    for language, text in blocks(path):
        if language != "toml":
            continue
        faults, table = Faults(), tomllib.loads(text)
        Sources.from_table(table, path, faults)
        assert Model.from_table(table.get("model", {}), "model", faults)
        assert Run.from_table(table.get("run", {}), "run", faults)
        assert not faults.found


@pytest.mark.parametrize("path", [*DOCUMENTS, *ROOT.glob("*.md")], ids=lambda path: path.name)
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#:]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / target).exists(), target
