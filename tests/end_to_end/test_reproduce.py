"""The command that reproduces the paper, on small made data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from reproduce.fits import TALKED_ABOUT, Effort, Fit, _talked_about, fit  # noqa: E402
from reproduce.folders import anchored, make_folders, read  # noqa: E402
from reproduce.ledger import Ledger  # noqa: E402
from reproduce.page import write  # noqa: E402
from reproduce.plan import LEVELS, plan  # noqa: E402
from reproduce.statistics import _agrees  # noqa: E402


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    return make_folders(tmp_path_factory.mktemp("made"))


def test_the_plan_names_every_fit_once(root):
    for level in LEVELS.values():
        keys = [task.key for task, _ in plan(root, level)]
        assert len(keys) == len(set(keys))
    full = [task for task, _ in plan(root, LEVELS["default"])]
    for method, draws in (
        ("paper K=2", 10),
        ("tielink", 10),
        ("tielink, shared ties", 10),
        ("BARTUNOV", 10),
        ("paper K=10", 3),
        ("+ match-rate prior", 3),
    ):
        egos = {task.draw for task in full if task.part == "egos" and task.method == method and task.share == 0.3}
        assert len(egos) == draws, method


def test_anchors_are_the_same_for_every_method_and_begin_with_the_ego(root):
    folder = read(root / "uir" / "5099")
    known = anchored(folder, 0.5, 3).anchors.clusters()
    assert known == anchored(folder, 0.5, 3).anchors.clusters()
    assert folder.ego in known
    assert not [pair for pair in anchored(folder, 0.0, 3).anchors.clusters() if len(pair) == 2]


def test_a_page_from_some_fits_says_what_is_missing(root, tmp_path):
    out = tmp_path / "results"
    ledger = Ledger(out / "fits.jsonl")
    short = Effort(2, (10,))
    for seed in ("5099", "11209"):
        for share in (0.0, 0.5):
            ledger.add(fit(Fit("egos", f"uir/{seed}", "paper K=2", share), root, short))
            ledger.add(fit(Fit("egos", f"uir/{seed}", "BARTUNOV", share), root, short))
    write(root, ledger, out, tmp_path / "README.md")
    page = (tmp_path / "README.md").read_text()
    assert "| BARTUNOV | 0.500 |" in page
    assert "(not fitted yet)" in page
    assert {"figure1.png", "figure3.png", "figure6.png", "egos.csv", "table1.csv"} <= {p.name for p in out.iterdir()}


@pytest.mark.long
def test_the_quick_level_fits_everything_and_a_second_run_nothing(tmp_path):
    command = [sys.executable, "-m", "reproduce", "--made", "--level", "quick", "--out", str(tmp_path / "results")]
    first, second = (
        subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=600) for _ in range(2)
    )
    assert first.returncode == 0, first.stderr
    assert "0 of them done before" in first.stderr
    page = (tmp_path / "README.md").read_text()
    assert "(not fitted yet)" not in page
    assert "$" not in page.replace("$N$", "")
    assert second.returncode == 0, second.stderr
    fits = len((tmp_path / "results" / "fits.jsonl").read_text().splitlines())
    assert f"{fits} fits, {fits} of them done before" in second.stderr.replace("\n", " ")


def test_the_pair_that_the_paper_talks_about_is_found():
    left = pl.DataFrame({"id": [1, 2, 3], "username": ["anna", TALKED_ABOUT[0], "carl"]})
    right = pl.DataFrame({"id": [1, 2], "username": [TALKED_ABOUT[1], "carl"]})
    data = tl.Dataset.from_frames({"a": left, "b": right}, id="id", fields={"username": tl.String()})
    posterior = tl.sample(tl.Model(network=None), data, chains=2, warmup=20, draws=300, workers=0)
    share = np.mean(posterior.person[:, :, 3] == 1)
    assert share > 0
    assert _talked_about(posterior, data) == pytest.approx(share)


def test_a_line_cut_short_by_a_crash_is_fitted_again(tmp_path):
    path = tmp_path / "fits.jsonl"
    Ledger(path).add({"key": "one", "part": "egos"})
    with path.open("a") as file:
        file.write('{"key": "two", "pa')
    ledger = Ledger(path)
    assert "one" in ledger
    assert "two" not in ledger
    ledger.add({"key": "two", "part": "egos"})
    assert "two" in Ledger(path)


@pytest.mark.parametrize(
    ("ours", "printed", "agrees"), [(0.2149, "0.21", True), (0.226, "0.21", False), (-0.24059, "-0.2405", True)]
)
def test_agreement_is_one_unit_of_the_last_digit(ours, printed, agrees):
    assert _agrees(ours, printed) == agrees
