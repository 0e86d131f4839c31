"""`tielink link`: one command from files to a folder that says who is whom, and why."""

from __future__ import annotations

import csv
import json
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import call, run
from tielink.simulate import scenario, write_project

TINY = ["--chains", "2", "--warmup", "40", "--draws", "40"]
TABLES = ["links.csv", "persons.csv", "profiles.csv", "pairs.parquet"]
EVERYTHING = sorted(["report.html", "posterior.nc", "project.toml", "run.log", *TABLES])


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> Path:
    """A folder with a small made project in `p` and a result of it, from files and options, in `r`."""
    folder = tmp_path_factory.mktemp("world")
    made = scenario(np.random.default_rng(2), sizes={"a": 20, "b": 16}, overlap=10, anchors=0.2)
    write_project(made, folder / "p")
    done = link(folder, "r")
    assert done.returncode == 0, done.stderr
    (folder / "said.txt").write_text(done.stdout, encoding="utf-8")
    return folder


def link(folder: Path, out: str, *more: str, how=run):
    return how(
        "link", "p/a.csv", "p/b.csv", "--ties", "p/a_ties.csv", "p/b_ties.csv", "--string", "username",
        "--categorical", "place", "--anchors", "p/anchors.csv", "--truth", "p/truth.csv", "--seed", "3",
        "--out", out, *TINY, *more, cwd=folder,
    )  # fmt: skip


def test_everything_is_written_and_said(world):
    assert sorted(path.name for path in (world / "r").iterdir()) == EVERYTHING
    said = (world / "said.txt").read_text(encoding="utf-8")
    for expected in ["records", "Linkage:", "found among", "persons", "effective draws", "recall", "report.html"]:
        assert expected in said
    assert "found among" in (world / "r" / "run.log").read_text(encoding="utf-8")


def test_links_have_ids_probability_decision_and_evidence(world):
    rows = list(csv.DictReader((world / "r" / "links.csv").read_text(encoding="utf-8").splitlines()))
    head = ["file_a", "id_a", "file_b", "id_b", "probability", "mcse", "decision", "settled", "review"]
    assert list(rows[0])[:9] == head
    evidence = [name for name in rows[0] if name.startswith("evidence_")]
    assert evidence == [f"evidence_{part}" for part in ("prior", "value_username", "value_place", "ties", "rest")]
    known = {(row["id_a"], row["id_b"]) for row in rows if row["decision"] == "known"}
    anchors = {tuple(pair) for pair in pl.read_csv(world / "p" / "anchors.csv").select("id_a", "id_b").rows()}
    assert known == anchors
    for row in rows:
        p = float(row["probability"])
        assert row["decision"] == "known" or (row["decision"] == "link") == (p > 0.5)
        assert (row["review"] == "yes") == (0.1 < p < 0.9 and row["decision"] != "known")
        if row["decision"] != "known":
            # The parts add up to the log-odds of the probability, which is not capped by the number of draws.
            total = sum(float(row[name]) for name in evidence)
            assert 1 / (1 + np.exp(-total)) == pytest.approx(p, abs=1e-5)
    assert [float(row["probability"]) for row in rows] == sorted((float(r["probability"]) for r in rows), reverse=True)


def test_every_record_has_a_person(world):
    persons = pl.read_csv(world / "r" / "persons.csv")
    assert persons.columns == ["file", "id", "person", "records"]
    assert persons.height == 20 + 16
    merged = pl.read_csv(world / "r" / "profiles.csv")
    for row in merged.select("person", "id_a", "id_b").iter_rows(named=True):
        assert persons.filter(person=row["person"])["id"].to_list() == [row["id_a"], row["id_b"]]
    assert persons["person"].n_unique() == 36 - merged.height


def test_profiles_are_the_links_merged(world):
    links = pl.read_csv(world / "r" / "links.csv").filter(pl.col("decision") != "no link")
    persons = pl.read_csv(world / "r" / "profiles.csv")
    assert set(persons.select("id_a", "id_b").rows()) == set(links.select("id_a", "id_b").rows())
    row = persons.row(0, named=True)
    pair = links.filter(pl.col("id_a") == row["id_a"]).row(0, named=True)
    assert row["value_username"] in (pair["value_username_a"], pair["value_username_b"])
    assert row["records"] == 2


def test_pairs_and_posterior_agree(world):
    posterior = tl.Posterior.load(world / "r" / "posterior.nc")
    assert pl.read_parquet(world / "r" / "pairs.parquet").equals(posterior.pairs())


def test_the_same_seed_and_the_written_project_give_the_same_bytes(world):
    assert link(world, "again").returncode == 0
    refused = call("link", "r/project.toml", "--out", "elsewhere/deep", cwd=world)
    assert refused.returncode == 2
    assert "../p/a.csv: is outside the folder of the project file" in refused.stderr
    rerun = run("link", "r/project.toml", "--out", "elsewhere/deep", "--allow-outside", cwd=world)
    assert rerun.returncode == 0, rerun.stderr
    for name in TABLES:
        first = (world / "r" / name).read_bytes()
        assert first == (world / "again" / name).read_bytes(), name
        assert first == (world / "elsewhere" / "deep" / name).read_bytes(), name
    assert link(world, "other", "--seed", "4").returncode == 0
    assert (world / "other" / "pairs.parquet").read_bytes() != (world / "r" / "pairs.parquet").read_bytes()


def test_the_power_of_ties_is_an_option_and_is_said(world):
    done = link(world, "power", "--network", "shared-ties:power=0.4")
    assert done.returncode == 0, done.stderr
    assert tl.Project.read(world / "power" / "project.toml").model.network == tl.SharedTies(power=0.4)
    assert (
        "The evidence of ties was weighted with power 0.40 (1 is full weight); the files have an estimated "
        in done.stdout
    )
    assert "share of common ties" in done.stdout
    columns = pl.read_csv(world / "power" / "links.csv").columns
    assert [name for name in columns if "tie" in name or "know" in name] == ["evidence_ties"]


def test_dimension_and_prior_are_options_and_are_written_out(world):
    done = link(world, "k1", "--network", "latent-space:dimension=1", "--prior", "match_rate:a=2,b=5")
    assert done.returncode == 0, done.stderr
    project = tl.Project.read(world / "k1" / "project.toml")
    assert project.model.network.dimension == 1
    assert project.model.linkage == tl.MatchRate(2, 5)
    assert project.run.seed == 3


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--prior", "unifrom"], "Did you mean 'uniform'?"),
        (["--prior", "match_rate:c=1"], "unknown setting 'c'"),
        (["--prior", "match_rate:a=x"], "a is 'x'"),
        (["--prior", "match_rate:a=-1"], "a is -1"),
        (["--network", "latent-space:dimension=0"], "dimension is 0"),
        (["--network", "shared-tie"], "Did you mean 'shared_ties'?"),
        (["--network", "shared-ties:power=2"], "power is 2"),
        (["--chains", "0"], "chains is 0"),
        (["--seed", "-1"], "seed is -1"),
    ],
)
def test_bad_options_are_said_before_the_work(world, more, said):
    done = link(world, "bad", *more, how=call)
    assert done.returncode == 2
    assert said in done.stderr


def test_kinds_are_guessed_aloud_with_how_to_correct_them(world):
    done = run("link", "p/a.csv", "p/b.csv", "--out", "guess", *TINY, cwd=world)
    assert done.returncode == 0, done.stderr
    assert "column 'username': taken as" in done.stdout
    assert "If that is wrong, say --" in done.stdout
    assert "kind = " in (world / "guess" / "project.toml").read_text()


def test_every_kind_of_field_has_an_option():
    from tielink.fields import FIELD_KINDS

    said = run("link", "--help").stdout
    for kind in FIELD_KINDS:
        assert f"--{kind.kind.replace('_', '-')} " in said
    for option in (
        "--network",
        "--prior",
        "--chains",
        "--seed",
        "--warmup",
        "--draws",
        "--minutes",
        "--out",
    ):
        assert re.search(rf"{option} .*?\[default: ", said, re.DOTALL), option


def test_a_quick_look_says_how_rough_it_is(world):
    done = run(
        "link", "p/a.csv", "p/b.csv", "--categorical", "place", "--ignore", "username", "--quick", "--warmup", "20",
        "--draws", "30", "--out", "q", cwd=world,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    words = " ".join(done.stdout.split())
    rough = r"This is a quick look: 2 chains of 30 draws.*effective draws.*error of up to 0\.\d\d.*Run without --quick"
    assert re.search(rough, words)
    page = (world / "q" / "report.html").read_text(encoding="utf-8")
    assert "This is a quick look" in page


def test_the_report_needs_nothing_else(world):
    page = (world / "r" / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"""(src|href)=["']?(https?:)?//""", page)
    assert "Sosa" in page
    assert tl.__version__ in page
    content = json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)[1])
    assert content["files"] == ["a", "b"]
    assert len(content["links"]["p"]) == len((world / "r" / "links.csv").read_text().splitlines()) - 1


def test_from_python_frames_of_the_users_kind_come_back(tmp_path):
    import pandas as pd

    people = pd.DataFrame({"id": [1, 2, 3], "name": ["anna", "bob", "carl"]})
    data = tl.Dataset.from_frames({"x": people, "y": people}, fields={"name": tl.String()})
    heard: list[str] = []
    result = tl.link(data, out=tmp_path / "r", say=heard.append, chains=2, warmup=30, draws=30, workers=0)
    assert isinstance(result.links(), pd.DataFrame)
    assert isinstance(result.persons(), pd.DataFrame)
    assert heard
    assert str(result) in heard[0]
    assert sorted(p.name for p in (tmp_path / "r").iterdir()) == [n for n in EVERYTHING if n != "project.toml"]
