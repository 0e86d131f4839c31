"""Compiled kernels are looked up by all that they depend on."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

CALLED = """
from typing import NamedTuple
from tielink.kernels import njit

STEP = 1

class Pair(NamedTuple):
    first: int
    second: int

@njit
def called(pair):
    return pair.first + STEP
"""
CALLER = """
from called import called
from tielink.kernels import njit

@njit
def caller(pair):
    return called(pair)
"""


def load(name: str, text: str, folder: Path) -> ModuleType:
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        ("pair.first + STEP", "pair.first * 10", 20),
        ("STEP = 1", "STEP = 5", 7),
        ("first: int\n    second: int", "second: int\n    first: int", 4),
    ],
    ids=["a called kernel", "a constant of a called kernel", "the fields of an argument"],
)
def test_an_edit_elsewhere_compiles_again(
    old: str, new: str, answer: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    for text, expected in ((CALLED, 3), (CALLED.replace(old, new), answer), (CALLED, 3)):
        folder = tmp_path / str(expected)
        folder.mkdir(exist_ok=True)
        called = load("called", text, folder)
        caller = load("caller", CALLER, folder)
        assert caller.caller(called.Pair(2, 3)) == expected
    for name in ("called", "caller"):
        del sys.modules[name]
    kept = sorted(path.name for path in (tmp_path / "cache").glob("caller.*.nbi"))
    assert len(kept) == 2, "two versions were compiled, the third run found the first one's"


def test_processes_do_not_compile_the_same_kernel_at_once(tmp_path: Path) -> None:
    """Of three processes that need it at once, one compiles and says so before; the others load."""
    (tmp_path / "slow.py").write_text(CALLED)
    program = """
import sys, time
sys.path.insert(0, sys.argv[1])
import slow
from tielink import kernels
kernels.tell_of_compiling(lambda: print("compiling", flush=True))
sys.stdin.readline()
slow.called(slow.Pair(2, 3))
print("misses", slow.called.stats.cache_misses)
"""
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    running = [
        subprocess.Popen(
            [sys.executable, "-P", "-c", program, str(tmp_path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment,
        )
        for _ in range(3)
    ]  # fmt: skip
    said = [process.communicate("go\n", timeout=120)[0] for process in running]
    assert sum("misses {(" in text or "misses Counter({(" in text for text in said) == 1, said
    assert any(text.startswith("compiling") for text in said)
