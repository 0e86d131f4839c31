"""`tielink estimate` and `tielink evaluate` as a user runs them, on the shipped example and on a saved posterior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import call
from posteriors import posterior_of

EXAMPLE = Path(tl.__file__).parent / "example"


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    """The example's data with a posterior that links the truth in most draws, and a table of pairs."""
    folder = tmp_path_factory.mktemp("decisions")
    data = tl.Dataset.read(EXAMPLE / "project.toml")
    truth = tl.Linkage.from_pairs(data, pl.read_csv(EXAMPLE / "truth.csv"))
    rng = np.random.default_rng(1)
    draws = []
    for _ in range(40):
        labels = np.arange(len(data.records))
        for a, b in truth.pair_numbers.tolist():
            if [a, b] in data.anchors.pair_numbers.tolist() or rng.random() < (0.9 if a % 3 else 0.4):
                labels[b] = a
        draws.append(labels)
    posterior_of(data.records, draws, anchors=data.anchors.pair_numbers.tolist(), chains=2).save(folder / "p.nc")
    tl.Posterior.load(folder / "p.nc").pairs().write_csv(folder / "pairs.csv")
    return folder


def test_from_a_posterior_to_links_and_their_scores(folder):
    done = call("estimate", "p.nc", "--loss", "binder:false_link=1", "--out", "links.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    links = pl.read_csv(folder / "links.csv")
    assert links.columns == ["file_a", "id_a", "file_b", "id_b"]
    likely = tl.Posterior.load(folder / "p.nc").pairs().filter(pl.col("probability") > 0.5)
    assert set(links.rows()) == set(likely.select(links.columns).rows())
    done = call("evaluate", "links.csv", "--project", EXAMPLE / "project.toml", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert f"{len(links) - 6} of 54 true links were found" in done.stdout
    assert "precision 1.00" in done.stdout
    assert "Leaving out 6 known matches" in done.stdout


def test_a_posterior_is_scored_with_calibration_and_draws(folder):
    done = call("evaluate", "p.nc", "--truth", EXAMPLE / "truth.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    for expected in ["Average precision", "pairs have a probability of at least .05", "in truth 210", "Over the draws"]:
        assert expected in done.stdout


def test_baselines_stand_beside_the_model_in_one_table(folder):
    done = call("evaluate", "p.nc", "--project", EXAMPLE / "project.toml", "--baselines", cwd=folder)
    assert done.returncode == 0, done.stderr
    table = done.stdout[done.stdout.index("Scores, anchors left out") :]
    for method in ["p.nc", "equal username", "best username", "Fellegi–Sunter", "degree rank", "anchor", "BARTUNOV"]:
        assert method in table
    alone = call("evaluate", "--project", EXAMPLE / "project.toml", "--baselines", cwd=folder)
    assert alone.returncode == 0, alone.stderr
    assert "equal username" in alone.stdout


def test_another_tools_table_and_its_probabilities(folder):
    project = EXAMPLE / "project.toml"
    done = call("estimate", "pairs.csv", "--project", project, "--out", "other.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert set(pl.read_csv(folder / "other.csv").rows()) == set(
        tl.estimate(tl.Posterior.load(folder / "p.nc")).pairs().rows()
    )
    done = call("evaluate", "other.csv", "--project", project, "--probabilities", "pairs.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "Calibration error" in done.stdout


def test_undecided_pairs_are_written_for_review(folder):
    done = call("estimate", "p.nc", "--loss", "sadinle:undecided=.2", "--review", "look.csv", cwd=folder)
    assert done.returncode == 0, done.stderr
    look = pl.read_csv(folder / "look.csv")
    assert "probability" in look.columns
    assert len(look) > 0
    assert f"{len(look)} pairs for a person to look at" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["estimate", "nowhere.nc"], "there is no such file"),
        (["estimate", "pairs.csv"], "Give --project"),
        (["estimate", "p.nc", "--loss", "bindr"], "Did you mean 'binder'?"),
        (["estimate", "p.nc", "--loss", "binder:false_link=-1"], "Give a number above 0"),
        (["estimate", "p.nc", "--loss", "mpmms:false_link=1"], "unknown setting 'false_link'"),
        (["estimate", "p.nc", "--review", "x.csv"], "leaves nothing undecided"),
        (["estimate", "p.nc", "--out", "nowhere/links.csv"], "there is no such folder"),
        (["evaluate"], "nothing to score"),
        (["evaluate", "p.nc"], "--truth: is not given"),
        (["evaluate", "p.nc", "--truth", "nowhere.csv"], "there is no such file"),
        (["evaluate", "p.nc", "--truth", "wrong.csv"], "unknown id 'nobody'"),
        (["evaluate", "p.nc", "--truth", "wrong.csv", "--baselines"], "Give --project"),
    ],
)
def test_bad_input_is_exit_code_2_and_a_clear_word(folder, arguments, said):
    (folder / "wrong.csv").write_text("id_a,id_b\nnobody,clipper0001\n")
    done = call(*arguments, cwd=folder)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
