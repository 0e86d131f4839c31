"""New records and answers through the commands: link, update, link with answers; and what is refused."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from command_line import run
from tielink.cli import app
from tielink.data.answers import append_answer
from tielink.faults import InputError
from tielink.review import Answer

NAMES = ["anna berg", "bob lund", "carl holm", "dora dahl", "erik vik", "finn moe"]


@pytest.fixture(scope="module")
def result(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("update")
    for file, letters in (("left", "a"), ("right", "b")):
        rows = [f"{letters}{place},{name}" for place, name in enumerate(NAMES)]
        (folder / f"{file}.csv").write_text("\n".join(["id,name", *rows[: 6 if file == "left" else 4]]) + "\n")
        (folder / f"{file}_ties.csv").write_text(f"source,target\n{letters}0,{letters}1\n{letters}1,{letters}2\n")
    done = run(
        "link", "left.csv", "right.csv", "--ties", "left_ties.csv", "right_ties.csv", "--string", "name",
        "--chains", 2, "--warmup", 60, "--draws", 100, "--workers", 1, "--out", "result", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return folder / "result"


def test_new_corrected_and_withdrawn_records_and_answers_join_a_result(result):
    folder = result.parent
    (folder / "new.csv").write_text("id,name\nb4,erik vik\nb3,=dora dahl\n")
    (folder / "ties.csv").write_text("source,target\nb4,b1\nb1,b0\n")
    (folder / "gone.csv").write_text("file,id\nright,b2\n")
    append_answer(folder / "answers.csv", Answer(("left", "a5"), "none", (("right", "b0"),), "ann", "1"))
    done = run(
        "update", "result", "--records", "right=new.csv", "--ties", "right=ties.csv", "--withdraw", "gone.csv",
        "--answers", "answers.csv", "--draws", 60, "--workers", 1, "--out", "updated", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    changes = {(row["id_a"], row["id_b"]): row for row in pl.read_csv(folder / "updated/changes.csv").to_dicts()}
    assert changes["a4", "b4"]["change"] == "new link"
    assert changes["a2", "b2"]["change"] == "withdrawn"
    assert "new link" in done.stdout
    right = pl.read_csv(folder / "updated/data/records_2.csv")
    assert sorted(right["id"]) == ["b0", "b1", "b3", "b4"]
    assert "=dora dahl" in right["name"].to_list(), "data are written as they are"
    ties = pl.read_csv(folder / "updated/data/ties_2.csv").rows()
    assert sorted(tuple(sorted(tie)) for tie in ties) == [("b0", "b1"), ("b1", "b4")]
    assert (folder / "updated/report.html").exists()
    # The new folder's project can be run again, and gone on from.
    again = run("check", "updated/project.toml", "--allow-outside", cwd=folder)
    assert again.returncode == 0, again.stderr
    assert "answers: 1; matches: 0; non-matches: 1" in again.stdout


def test_links_take_answers_and_contradictions_are_listed_with_names(result):
    folder = result.parent
    append_answer(
        folder / "ann.csv", Answer(("left", "a0"), ("right", "b3"), (("right", "b0"), ("right", "b3")), "ann", "1")
    )
    append_answer(folder / "bob.csv", Answer(("right", "b3"), "none", (("left", "a0"),), "bob", "2"))
    toml = ["result/project.toml", "--allow-outside", "--answers", "ann.csv"]
    done = run("check", *toml, "--answers", "bob.csv", cwd=folder)
    assert done.returncode == 2
    for expected in ("one person and not to be", "ann", "bob"):
        assert expected in done.stderr
    done = run(
        "link", *toml, "--chains", 2, "--warmup", 20, "--draws", 20, "--workers", 1, "--out", "third", cwd=folder
    )
    assert done.returncode == 0, done.stderr
    links = pl.read_csv(folder / "third/links.csv")
    assert links.filter(pl.col("id_a") == "a0").select("id_b", "decision").rows() == [("b3", "known")]
    assert "ann.csv" in (folder / "third/project.toml").read_text()


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["update", "nowhere"], "no such file"),
        (["update", "result", "--out", "result"], "the run before"),
        (["update", "result", "--records", "left.csv"], "Say for which"),
        (["update", "result", "--records", "wrong=left.csv"], "which is no file"),
        (["update", "result", "--withdraw", "left.csv"], "file and id"),
        (["update", "result", "--records", "right=left_ties.csv"], "which the records had not"),
        (["review", "nowhere"], "no such file"),
        (["review", "result", "--part", "4/3"], "parts of three"),
        (["review", "result", "--also", "left.csv"], "has the columns"),
    ],
)
def test_what_is_refused(result, arguments, expected, monkeypatch):
    monkeypatch.chdir(result.parent)
    out = [] if "--out" in arguments or arguments[0] == "review" else ["--out", "other"]
    quiet = ["--no-open"] if arguments[0] == "review" else []
    with pytest.raises(InputError, match=expected):
        app([*arguments, *out, *quiet], standalone_mode=False)
