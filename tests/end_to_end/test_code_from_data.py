"""Nothing that comes as data is run, and nothing is written where somebody else points; markers are harmless."""

from __future__ import annotations

import csv
import os
import pickle
import re
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import run
from stops import MARK, LinkRun, make_world
from tielink.data import databases
from tielink.data.spreadsheet import exact_text, shown_as_text
from tielink.faults import Faults
from tielink.files import open_regular, try_writing, write_whole
from tielink.run.checkpoint import locked

TINY = ["--chains", "1", "--warmup", "4", "--draws", "6"]
RECORDS = "id,username\n1,anna\n2,bob\n3,carl\n"


@pytest.fixture
def files(tmp_path) -> Path:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(RECORDS)
    return tmp_path


def tielink(*arguments, cwd):
    """Run the installed command, which does not look for modules in the working folder."""
    return subprocess.run(
        [Path(sys.executable).with_name("tielink"), *arguments], cwd=cwd, capture_output=True, text=True, check=False
    )


class Marker:
    """Writes a file when unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return (os.mkdir, (str(self.path),))


def test_no_pickle_in_the_package():
    source = Path(tl.__file__).parent
    found = [path for path in source.rglob("*.py") if re.search(r"^\s*(import|from)\s+pickle", path.read_text(), re.M)]
    assert not found


@pytest.mark.parametrize("name", ["job.pickle", "job.npz", "chain-0.npz"])
def test_a_planted_checkpoint_is_not_run(files, name):
    folder, marker = files / "result" / "checkpoint", files / "marker"
    folder.mkdir(parents=True)
    objects = np.array([Marker(marker)], dtype=object)
    if name.endswith("npz"):
        np.savez(folder / name, values=objects, anchors=objects)
    else:
        (folder / name).write_bytes(pickle.dumps(Marker(marker)))
    linked = run("link", "a.csv", "b.csv", *TINY, cwd=files)
    assert linked.returncode == (0 if name == "job.pickle" else 2), linked.stderr
    if name == "job.npz":
        resumed = run("resume", "result/checkpoint", cwd=files)
        assert resumed.returncode == 2
        assert "cannot be read" in resumed.stderr
    assert not marker.exists()


def test_modules_in_the_working_folder_are_not_imported(files):
    for name in ("random", "numpy", "tielink", "json"):
        (files / f"{name}.py").write_text("import os; os.mkdir('marker')\n")
    done = tielink("link", "a.csv", "b.csv", *TINY, cwd=files)
    assert done.returncode == 0, done.stderr
    assert not (files / "marker").exists()


def test_planted_links_are_replaced_and_not_followed(files):
    result, other = files / "result", files / "elsewhere.txt"
    result.mkdir()
    other.write_text("precious")
    names = [
        "links.csv",
        "persons.csv",
        "profiles.csv",
        "pairs.parquet",
        "posterior.nc",
        "report.html",
        "project.toml",
        "run.log",
    ]
    for name in names:
        (result / name).symlink_to(other)
        (result / f"{name}.part").symlink_to(other)
    done = run("link", "a.csv", "b.csv", *TINY, cwd=files)
    assert done.returncode == 0, done.stderr
    assert other.read_text() == "precious"
    assert sorted(path.name for path in result.iterdir()) == sorted(names)
    assert not any((result / name).is_symlink() for name in names)
    (result / "checkpoint").symlink_to(files)
    refused = run("link", "a.csv", "b.csv", *TINY, cwd=files)
    assert refused.returncode == 2
    assert "is a link to another place" in refused.stderr


def test_drafts_are_new_files_and_devices_are_left_alone(tmp_path):
    (tmp_path / "x.part").symlink_to(tmp_path / "dangling")
    write_whole(tmp_path / "x", lambda file: file.write(b"new"))
    assert (tmp_path / "x").read_bytes() == b"new"
    assert not (tmp_path / "dangling").exists()
    with pytest.raises(tl.InputError, match="no file"):
        try_writing(Path("/dev/null"))
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(OSError, match="pipe or a device"):
            open_regular(path)
        done = run("check", "x", path, cwd=tmp_path)
        assert done.returncode == 2
        assert "it is a pipe or a device" in done.stderr


FORMULAS = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "＝1"]


@pytest.mark.parametrize("formula", FORMULAS)
def test_formulas_are_shown_as_text_and_found_again(formula):
    assert shown_as_text(formula) == f"'{formula}"
    assert exact_text(shown_as_text(formula)) == formula
    records = tl.Dataset.from_frames({"=a": pl.DataFrame({"id": [formula]}), "b": pl.DataFrame({"id": ["x"]})}).records
    assert records.number((shown_as_text("=a"), shown_as_text(formula)), written=True) == 0


@pytest.mark.parametrize("harmless", ["-5", "+491234", "-1.5e3", "anna", "'tis", "a=b", ""])
def test_what_no_spreadsheet_runs_is_left_alone(harmless):
    assert shown_as_text(harmless) == exact_text(harmless) == harmless


@pytest.mark.parametrize("exact", [False, True])
def test_tables_hold_formulas_only_if_asked(tmp_path, exact):
    rows = "".join(f"=id{i},=name{i}\n" for i in range(4))
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"id,username\n{rows}")
    done = run("link", "a.csv", "b.csv", "--string", "username", *TINY, *["--exact-text"][: int(exact)], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    cells = [
        cell
        for name in ("links.csv", "persons.csv", "profiles.csv")
        for row in csv.reader((tmp_path / "result" / name).read_text().splitlines())
        for cell in row
    ]
    assert any(cell.startswith("=") for cell in cells) == exact
    assert any(cell.startswith("'=") for cell in cells) != exact
    scored = run("evaluate", "result/links.csv", "--project", "result/project.toml", "--truth", "result/links.csv",
                 "--allow-outside", cwd=tmp_path)  # fmt: skip
    assert scored.returncode == 0, scored.stderr


@pytest.mark.parametrize("path", ["../secret.csv", "{absolute}", "link.csv"])
def test_a_project_file_reads_nothing_outside_its_folder(files, path):
    (files / "secret.csv").write_text(RECORDS)
    (files / "sent").mkdir()
    (files / "sent" / "link.csv").symlink_to(files / "secret.csv")
    path = path.format(absolute=files / "secret.csv")
    (files / "sent" / "b.csv").write_text(RECORDS)
    (files / "sent" / "p.toml").write_text(f'[files.a]\nrecords = "{path}"\n[files.b]\nrecords = "b.csv"\n')
    refused = run("check", "sent/p.toml", cwd=files)
    assert refused.returncode == 2
    assert f"{path}: is outside the folder of the project file" in refused.stderr
    assert "--allow-outside" in refused.stderr
    assert run("check", "sent/p.toml", "--allow-outside", cwd=files).returncode == 0
    assert run("check", files / "secret.csv", "b.csv", cwd=files).returncode == 0, "typed by the user"
    with pytest.raises(tl.InputError, match="outside the folder"):
        tl.Project.read(files / "sent" / "p.toml").dataset()
    assert len(tl.Project.read(files / "sent" / "p.toml", allow_outside=True).dataset().records) == 6


def test_databases_read_nothing_outside_either(files):
    duckdb = pytest.importorskip("duckdb")
    (files / "sent").mkdir()
    for base in (files / "base.duckdb", files / "sent" / "base.duckdb"):
        with duckdb.connect(base) as made:
            made.execute(f"create table people as select * from read_csv('{files / 'a.csv'}')")
            made.execute(f"create view secret as select * from read_csv('{files / 'a.csv'}')")
    (files / "sent" / "b.csv").write_text(RECORDS)
    for path, said in (
        ("base.duckdb::people", ""),
        ("base.duckdb::secret", "Cannot access file"),
        ("../base.duckdb::people", "is outside the folder of the project file"),
    ):
        (files / "sent" / "p.toml").write_text(f'[files.a]\nrecords = "{path}"\n[files.b]\nrecords = "b.csv"\n')
        done = run("check", "sent/p.toml", cwd=files)
        assert done.returncode == (2 if said else 0), done.stderr
        assert said in done.stderr


def test_databases_that_never_end_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(databases, "LONGEST", 0.5)
    monkeypatch.setattr(databases, "MOST_CELLS", 300_000)
    endless = "with recursive c(id) as (select 1 union all select id + 1 from c) select"
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as base:
        base.execute(f"create view many as {endless} id, 'x' as name from c")
        base.execute(f"create view long as {endless} max(id) as id from c")
    for view, said in (("many", "has more than 300,000 cells"), ("long", "takes longer than")):
        faults = Faults()
        assert databases.read_inside(tmp_path / f"x.sqlite::{view}", faults) is None
        assert said in str(faults.errors[0])
    os.mkfifo(tmp_path / "x.sqlite-wal")
    faults = Faults()
    assert databases.read_inside(tmp_path / "x.sqlite::many", faults) is None
    assert "x.sqlite-wal: is no file" in str(faults.errors[0])


def test_columns_named_as_those_of_the_result_lose_nothing(tmp_path):
    head = "key,id,file,prior,rest,ties,probability,x,x_other,x_a"
    rows = "".join(f"{i}," + ",".join("ab"[(i + 1) >> k % 3 & 1] for k in range(9)) + "\n" for i in range(6))
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"{head}\n{rows}")
    fields = [word for name in head.split(",")[1:] for word in ("--string", name)]
    done = run("link", "a.csv", "b.csv", "--id", "key", *fields, *TINY, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    links = pl.read_csv(tmp_path / "result" / "links.csv", infer_schema=False)
    profiles = pl.read_csv(tmp_path / "result" / "profiles.csv", infer_schema=False)
    assert set(links["file_a"]) == {"a"}
    assert set(links["id_a"]) <= set("012345")
    for name in head.split(",")[1:]:
        assert {f"value_{name}_a", f"value_{name}_b", f"evidence_value_{name}"} <= set(links.columns)
        assert {f"value_{name}", f"other_{name}"} <= set(profiles.columns)
    evidence = links.select(pl.col("^evidence_.*$").cast(float)).sum_horizontal()
    odds = links["probability"].cast(float)
    assert odds.is_between(1e-4, 1 - 1e-4).all(), "odds that can be told"
    assert np.allclose(evidence, np.log(odds / (1 - odds)), atol=0.01), "no part is counted twice or lost"


def test_project_files_and_commas_where_others_were_expected(files):
    (files / "p.toml").write_text('[files.a]\nrecords = "a.csv"\n[files.b]\nrecords = "b.csv"\n')
    for arguments in (["p.toml", "a.csv"], ["a.csv", "b.csv", "--anchors", "p.toml"]):
        done = run("check", *arguments, cwd=files)
        assert done.returncode == 2
        assert "p.toml: is a project file, where a table is meant" in done.stderr
    (files / "a.tsv").write_text(RECORDS)
    done = run("check", "a.tsv", "b.csv", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "has no tabs in its header: read as separated by ','" in done.stdout


def test_two_runs_into_one_folder_are_told_apart(tmp_path):
    with locked(tmp_path / "c"):
        done = run("resume", tmp_path / "c")
        assert done.returncode == 2
        make_world(tmp_path)
        done = run("sample", tmp_path / "p" / "project.toml", *TINY, "--checkpoint", tmp_path / "c", cwd=tmp_path)
        assert done.returncode == 2
        assert f"another run is at work here: process {os.getpid()}, since 20" in done.stderr
    with locked(tmp_path / "c"):
        pass


def test_a_full_disk_is_said_and_the_same_command_finishes(tmp_path):
    make_world(tmp_path)
    run_full = LinkRun(tmp_path, "result", largest_file=30_000)
    code, errors = run_full.end()
    assert code == 2, errors
    assert "cannot be written: File too large" in errors
    assert not run_full.left(), MARK
    code, errors = LinkRun(tmp_path, "result").end()
    assert code == 0, errors


def test_a_megabyte_is_not_quoted(files):
    (files / "a.csv").write_text("id,born\n1," + "x" * 1_000_000 + "\n2,y\n")
    done = run("check", "a.csv", "b.csv", "--date", "born", cwd=files)
    assert done.returncode == 2
    assert len(done.stderr) < 5000
