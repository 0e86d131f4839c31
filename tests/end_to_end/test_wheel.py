"""The wheel holds all that is needed: built, put into an empty environment, and used from an empty folder."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import polars as pl
import pytest

ROOT = Path(__file__).parents[2]


def run(*command: object, cwd: Path) -> str:
    """Run a command with nothing of this process's Python settings in its environment."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "NUMBA_CACHE_DIR", "LANG") if name in os.environ}
    done = subprocess.run([str(word) for word in command], cwd=cwd, env=kept, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory) -> Path:
    """An environment with the wheel alone; libraries that it depends on are borrowed, so that nothing is fetched."""
    pytest.importorskip("hatchling", reason="the wheel is built by hatchling (pip install '.[dev]')")
    folder = tmp_path_factory.mktemp("wheel")
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=ROOT)
    (wheel,) = folder.glob("*.whl")
    home = folder / "environment"
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=folder)
    python = home / "bin" / "python"
    pip = ("-m", "pip", "--python", python, "--disable-pip-version-check")
    run(sys.executable, *pip, "install", "--quiet", "--no-deps", "--no-index", wheel, cwd=folder)
    places = run(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=folder).strip()
    (Path(places) / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return home


def test_the_installed_package_is_that_of_the_wheel(environment, tmp_path):
    where = run(environment / "bin" / "python", "-c", "import tielink; print(tielink.__file__)", cwd=tmp_path)
    assert Path(where.strip()).is_relative_to(environment)


def test_the_shipped_example_runs_from_the_wheel(environment, tmp_path):
    shipped = "from importlib.resources import files; print(files('tielink') / 'example')"
    example = Path(run(environment / "bin" / "python", "-c", shipped, cwd=tmp_path).strip())
    command = (environment / "bin" / "tielink", "link", example / "project.toml")
    printed = run(*command, "--warmup", 20, "--draws", 20, "--chains", 1, "--out", "result", cwd=tmp_path)
    assert "links were found" in printed
    assert pl.read_csv(tmp_path / "result" / "links.csv").height > 0
    assert "<html" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_demo_runs_from_the_wheel(environment, tmp_path):
    printed = run(environment / "bin" / "tielink", "demo", cwd=tmp_path)
    assert "report.html" in printed
    assert (tmp_path / "demo" / "report.html").exists()
