"""Bad days: inputs and accidents that real people have, each with its right answer or its clear word."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import call, run
from tielink.data.read import read_table_file
from tielink.faults import Faults
from tielink.simulate import scenario, write_project

TINY = ["--chains", "2", "--warmup", "40", "--draws", "60"]


def link(folder: Path, *arguments: str):
    return run("link", "a.csv", "b.csv", *arguments, "--out", "result", *TINY, cwd=folder)


def links(folder: Path) -> list[dict[str, str]]:
    csv.field_size_limit(sys.maxsize)
    with (folder / "result" / "links.csv").open(encoding="utf-8", newline="") as file:
        return [row for row in csv.DictReader(file) if row["decision"] != "no link"]


def write(folder: Path, **tables: str) -> None:
    for name, text in tables.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")


@pytest.fixture
def files(tmp_path) -> Path:
    write(
        tmp_path,
        a="id,username\n1,anna\n2,bob\n3,carl\n",
        b="id,username\n1,anna\n2,bobby\n",
        ta="source,target\n1,2\n",
        tb="source,target\n1,2\n",
    )
    return tmp_path


def test_an_anchors_file_with_a_header_alone_means_no_anchors(files):
    write(files, known="id_a,id_b\n")
    done = link(files, "--anchors", "known.csv")
    assert done.returncode == 0, done.stderr
    assert "Anchors (known matches): 0" in done.stdout


def test_an_anchors_file_without_anything_is_refused(files):
    write(files, known="")
    done = link(files, "--anchors", "known.csv")
    assert done.returncode == 2
    assert "known.csv: is empty. Expected a header row" in done.stderr


def test_files_without_overlap_have_no_links_and_that_is_an_answer(tmp_path):
    words = ["qwertyuio", "asdfghjkl", "zxcvbnmop"]
    a = "".join(f"a{i},{words[i % 3]}{i}{i}\n" for i in range(12))
    b = "".join(f"b{i},{i * 7919}-{i * 104729}\n" for i in range(12))
    write(tmp_path, a="id,username\n" + a, b="id,username\n" + b)
    done = link(tmp_path, "--string", "username")
    assert done.returncode == 0, done.stderr
    assert "0 links were found" in done.stdout
    assert "That is an answer, not a failure." in done.stdout
    assert links(tmp_path) == []
    assert (
        (tmp_path / "result" / "persons.csv").read_text(encoding="utf-8").startswith("file,id,person,records\na,a0,1,1")
    )
    assert "0</b>" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")


def test_everything_matched(tmp_path):
    rows = "".join(f"{i},name{i * 7919},{chr(65 + i)}street\n" for i in range(15))
    write(tmp_path, a="id,username,street\n" + rows, b="id,username,street\n" + rows)
    done = link(tmp_path, "--string", "username", "--string", "street")
    assert done.returncode == 0, done.stderr
    found = links(tmp_path)
    assert len(found) == 15
    assert all(row["id_a"] == row["id_b"] for row in found)


def test_one_file_of_one_record(files):
    write(files, a="id,username\n1,anna\n")
    done = link(files)
    assert done.returncode == 0, done.stderr
    assert "1 in a + 2 in b" in done.stdout


def test_non_ascii_usernames_arrive_whole(tmp_path):
    names = [
        "Žofia Nováková",
        "李雷",
        "ليلى",
        "😀👩‍👩‍👧",
        "</script><b>x",
        'quo"te',
        "naïve, comma",
        "Ünlü",
        "đorđe",
        "ñandú",
    ]
    text = "id,username\n" + "".join(f'{i},"{name.replace(chr(34), chr(34) * 2)}"\n' for i, name in enumerate(names))
    write(tmp_path, a=text, b=text)
    done = link(tmp_path, "--string", "username")
    assert done.returncode == 0, done.stderr
    found = {row["value_username_a"] for row in links(tmp_path)}
    assert found <= set(names)
    assert len(found) >= 5
    page = (tmp_path / "result" / "report.html").read_text(encoding="utf-8")
    assert "李雷" in page
    assert "</script><b>" not in page


def test_a_cell_of_ten_megabytes_is_no_username(files):
    (files / "a.csv").write_text("id,username\n1,anna\n2,bob\n3," + "x" * 10_000_000 + "\n", encoding="utf-8")
    done = link(files)
    assert done.returncode == 2
    assert "a.csv, column 'username', row 4: holds a text of 10,000,000 characters" in done.stderr


def test_a_cell_of_ten_megabytes_may_be_a_category(files):
    (files / "a.csv").write_text("id,username\n1,anna\n2,bob\n3," + "x" * 10_000_000 + "\n", encoding="utf-8")
    done = link(files, "--categorical", "username")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout) < 100_000, "the cell is not printed"
    assert (files / "result" / "report.html").stat().st_size < 1_000_000


def test_windows_line_ends_and_a_byte_order_mark_change_nothing(files, tmp_path_factory):
    windows = tmp_path_factory.mktemp("windows")
    for path in files.glob("*.csv"):
        (windows / path.name).write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    ties = ["--ties", "ta.csv", "tb.csv"]
    assert link(files, *ties).returncode == 0
    done = link(windows, *ties)
    assert done.returncode == 0, done.stderr
    for name in ("links.csv", "persons.csv", "pairs.parquet"):
        assert (files / "result" / name).read_bytes() == (windows / "result" / name).read_bytes()


def test_duplicate_columns_are_named(files):
    write(files, b="id,username,username\n1,anna,ann\n")
    done = link(files)
    assert done.returncode == 2
    assert "b.csv, header: column 'username' appears more than once" in done.stderr


def test_a_missing_ties_file_is_named(files):
    done = link(files, "--ties", "ta.csv", "nowhere.csv")
    assert done.returncode == 2
    assert "nowhere.csv: there is no such file" in done.stderr


def test_output_that_cannot_be_written_is_said_before_the_work(files):
    start = time.monotonic()
    done = call("link", "a.csv", "b.csv", "--out", "a.csv/result", cwd=files)
    assert done.returncode == 2
    assert "cannot be written to" in done.stderr
    assert "Name another folder" in done.stderr
    assert time.monotonic() - start < 30, "and long before the work would be done"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(28, "No space left on device"), "a file could not be read or written: No space left on device"),
        (OSError(5, "Input/output error", "a.csv"), "a.csv: Input/output error"),
        (MemoryError(), "there is too little memory"),
    ],
)
def test_what_the_system_refuses_is_said_without_a_traceback(monkeypatch, error, said):
    def refuse(args):
        raise error

    monkeypatch.setattr("tielink.cli.app", refuse)
    done = call("check", "a.csv")
    assert done.returncode == 2
    assert done.stderr.startswith(f"tielink: {said}")


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission_is_said_before_the_work(files):
    (files / "locked").mkdir(mode=0o500)
    done = call("link", "a.csv", "b.csv", "--out", "locked", cwd=files)
    assert done.returncode == 2
    assert "cannot be written to: Permission denied" in done.stderr


def test_an_interrupted_run_keeps_its_work_says_so_and_goes_on(tmp_path):
    write_project(scenario(np.random.default_rng(2), sizes={"a": 14, "b": 16}, overlap=9, anchors=0.2), tmp_path / "p")
    arguments = ["link", "p/project.toml", "--chains", "2", "--warmup", "10", "--draws", "4000", "--interval", "0"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from tielink.cli import main; main()", *arguments],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        folder = tmp_path / "result" / "checkpoint"
        end = time.monotonic() + 300
        while len(list(folder.glob("chain-*.npz"))) < 2:
            assert time.monotonic() < end
            assert process.poll() is None, process.communicate()
            time.sleep(0.05)
        time.sleep(2)
        process.send_signal(signal.SIGINT)
        out, errors = process.communicate(timeout=200)
    finally:
        process.kill()
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    assert "what was finished is in result" in errors
    assert "The same command goes on where it stopped" in errors
    assert "the run was interrupted" in out
    half = tl.Posterior.load(tmp_path / "result" / "posterior.nc")
    assert 0 < half.draws_per_chain < 4000
    assert "stopped early" in (tmp_path / "result" / "report.html").read_text(encoding="utf-8")

    done = run(*arguments[:-1], "60", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Going on from" in done.stdout
    whole = tl.Posterior.load(tmp_path / "result" / "posterior.nc")
    assert whole.draws_per_chain == 4000
    assert not folder.exists()
    kept = half.draws_per_chain
    assert np.array_equal(whole.person[:, :kept], half.person), "what was finished is kept, draw for draw"


def test_nothing_that_is_read_is_written_over(files):
    before = (files / "a.csv").read_text(encoding="utf-8")
    write(files, persons=before)
    refused = {
        ("link", "persons.csv", "b.csv", "--out", "."): "persons.csv: is read, and would be written over",
        ("link", "a.csv", "b.csv", "--out", "."): "holds persons.csv, and no result of tielink's",
        ("sample", "a.csv", "b.csv", "--out", "a.csv"): "a.csv: has the ending '.csv'",
        ("estimate", "a.csv", "--project", "p.toml", "--out", "a.csv"): "a.csv: is read, and would be written over",
        ("estimate", "x.nc", "--loss", "sadinle", "--out", "o.csv", "--review", "o.csv"): "would be written over",
    }
    for arguments, said in refused.items():
        done = call(*arguments, cwd=files)
        assert done.returncode == 2, arguments
        assert said in done.stderr
    assert (
        (files / "a.csv").read_text(encoding="utf-8") == before == (files / "persons.csv").read_text(encoding="utf-8")
    )


def test_a_folder_of_the_users_in_the_place_of_the_checkpoint_is_kept(files):
    mine = files / "result" / "checkpoint" / "tables" / "mine.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("precious")
    assert link(files).returncode == 0
    assert [path for path in mine.parent.parent.rglob("*") if path.is_file()] == [mine]


def test_only_pairs_that_are_said_to_be_one_person_are_matches():
    frames = {name: pl.DataFrame({"id": ["1", "2", "3"], "username": ["anna", "bob", "carl"]}) for name in "ab"}
    pairs = pl.DataFrame({"id_a": ["1", "2", "3"], "id_b": ["1", "2", "3"]})
    decided = pairs.with_columns(decision=pl.Series(["known", "link", "no link"]))
    answered = pairs.with_columns(pl.Series("Answer ", ["Same", "different", " unsure"]))
    data = tl.Dataset.from_frames(frames)
    assert len(tl.Linkage.from_pairs(data, decided).pairs()) == 2, "links.csv lists near-links too"
    assert len(tl.Linkage.from_pairs(data, answered).pairs()) == 1
    known = tl.Dataset.from_frames(frames, anchors=answered)
    assert (len(known.anchors.pairs()), len(known.nonmatches)) == (1, 1)
    labelled = tl.Dataset.from_frames(frames, anchors=pairs.with_columns(match=pl.Series([1, 1, 0])))
    assert any("column 'match' seems to say no of some pairs" in str(fault) for fault in labelled.said)
    with pytest.raises(tl.InputError, match="the decision is 'perhaps'"):
        tl.Linkage.from_pairs(data, pairs.with_columns(decision=pl.lit("perhaps")))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("\n\nid,username\n1,anna\n", "row 1: is blank"),
        ("sep=;\nid;username\n1;anna\n", "row 1: is 'sep=;'"),
        ("\ufeff\n", "a.csv: is empty"),
        ("\ufeff\ufeffid,username\n1,anna\n", ""),
    ],
)
def test_first_rows_that_are_no_header_are_said(tmp_path, text, said):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    faults = Faults()
    table = read_table_file(tmp_path / "a.csv", faults)
    assert said in " ".join(map(str, faults.errors))
    assert table is None if said else table.frame.columns == ["id", "username"]


def test_files_of_one_name_stay_different_files(files):
    for name in ("x/a.csv", "x_a_1.csv"):
        (files / name).parent.mkdir(exist_ok=True)
        (files / name).write_text((files / "a.csv").read_text(encoding="utf-8"), encoding="utf-8")
    done = call("check", "x/a.csv", "x/a.csv", "x_a_1.csv", cwd=files)
    assert "9 values" in done.stdout, "of three files, not of two"


def test_a_port_that_is_taken_is_said():
    pytest.importorskip("uvicorn")
    import socket

    from tielink.review.server import Server

    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(tl.InputError, match="cannot be used: Address already in use"):
            Server(None, taken.getsockname()[1])
    assert call("review", ".", "--port", "99999").returncode == 2
