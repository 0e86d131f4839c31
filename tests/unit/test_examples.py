"""The notebooks in examples/ are whole: run in order, without errors, and with nothing of the machine that ran them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "examples"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


def code(path: Path) -> list[dict]:
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return [cell for cell in cells if cell["cell_type"] == "code"]


def test_there_are_notebooks():
    assert len(NOTEBOOKS) >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_were_run_in_order_and_without_errors(path):
    cells = code(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))
    assert all(output["output_type"] != "error" for cell in cells for output in cell["outputs"])
    assert any(cell["outputs"] for cell in cells)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_outputs_show_no_paths(path):
    shown = json.dumps([cell["outputs"] for cell in code(path)])
    assert not re.search(r"(?<![\w<.])/(home|tmp|root|work|usr|opt|Users|private)\b|[A-Z]:\\\\", shown)


@pytest.mark.long
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_cells_still_run(path, monkeypatch):
    monkeypatch.chdir(FOLDER)
    names: dict = {}
    for cell in code(path):
        exec(compile("".join(cell["source"]), path.name, "exec"), names)
