"""The commands as a user runs them: exit codes, messages, never a traceback."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tielink as tl
from command_line import call, run

TABLES = ("links.csv", "persons.csv", "profiles.csv", "pairs.parquet")


@pytest.fixture
def files(tmp_path) -> Path:
    (tmp_path / "a.csv").write_text("id,username,city\n1,anna,Rome\n2,bob,Oslo\n3,carl,Oslo\n")
    (tmp_path / "b.csv").write_text("id,username,city\n1,anna,Rome\n2,bobby,\n")
    (tmp_path / "ta.csv").write_text("source,target\n1,2\n")
    (tmp_path / "tb.csv").write_text("source,target\n1,2\n")
    (tmp_path / "known.csv").write_text("id_a,id_b\n1,1\n")
    return tmp_path


def test_check_takes_the_arguments_that_link_will(files):
    done = call(
        "check", "a.csv", "b.csv", "--ties", "ta.csv", "tb.csv", "--string", "username", "--categorical", "city",
        "--anchors", "known.csv", "--id", "id", cwd=files,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for expected in [
        "density",
        "clustering",
        "assortativity",
        "Anchors (known matches): 1",
        "1 (50%)",
        "The data can be used",
    ]:
        assert expected in done.stdout


def test_check_guesses_and_says_so(files):
    done = call("check", "a.csv", "b.csv", cwd=files)
    assert done.returncode == 0
    assert "column 'username': taken as" in done.stdout
    assert "linking rests on profiles alone" in done.stdout


def test_guesses_are_corrected_one_by_one(files):
    done = call("check", "a.csv", "b.csv", "--categorical", "username", "--ignore", "city", cwd=files)
    assert done.returncode == 0, done.stderr
    assert "username: categorical with" in done.stdout
    assert "column 'city'" not in done.stdout
    done = call("check", "a.csv", "b.csv", "--number", "username", cwd=files)
    assert done.returncode == 2
    assert (
        "a.csv, column 'username': 3 cells are no number: 'anna' (row 2), 'bob' (row 3) and 'carl' (row 4)"
        in done.stderr
    )
    done = call("check", "a.csv", "b.csv", "--date", "city", "--ignore", "city", cwd=files)
    assert done.returncode == 2
    assert "--date and --ignore: name 'city'" in done.stderr


def test_every_fault_of_every_file_in_one_run(files):
    (files / "a.csv").write_text("id,username\n1,anna\n1,bob\n,carl\n4,dora\n")
    (files / "ta.csv").write_text("source,target\n4,4\n4,9\n1,4\n1,4\n")
    (files / "tb.csv").write_bytes(b"source,target\n1,\xff\n")
    (files / "known.csv").write_text("id_a,id_b\n4,1\n4,2\n7,1\n")
    done = call(
        "check",
        "a.csv",
        "b.csv",
        "--ties",
        "ta.csv",
        "tb.csv",
        "--string",
        "user_name",
        "--anchors",
        "known.csv",
        cwd=files,
    )
    assert done.returncode == 2
    assert done.stdout == ""
    for expected in [
        "a.csv, row 3: id '1' stands already in row 2",
        "a.csv, row 4: no id",
        "ta.csv, row 2: a tie joins a record to itself",
        "ta.csv, row 3: a tie has an id that no record has: '9'",
        "ta.csv, row 5: a tie is listed before",
        "tb.csv, row 2: byte 0xff is not utf-8",
        "known.csv, row 4: unknown id '7' in file 'a'",
        "a/4, b/1 and b/2, two of them of the same file",
        "field 'user_name': no file has such a column. Did you mean 'username'?",
    ]:
        assert expected in done.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["check", "nowhere.csv"], "there is no such file"),
        (["check", "nowhere.toml"], "there is no such file"),
        (["check", "a.csv", "b.csv", "--ties", "ta.csv"], "1 given for 2 files of records"),
        (["check", "a.csv", "b.csv", "--string", "x", "--categorical", "x"], "--string and --categorical: name 'x'"),
        (["check", "a.csv", "--directed", "both"], "Give 'any' or 'mutual'"),
        (["check", "a.csv", "b.csv", "--id", "idd"], "Did you mean 'id'?"),
        (["check", "a.csv", "b.csv", "--truth", "nowhere.csv"], "there is no such file"),
        (["check"], "Missing argument"),
        (["check", "."], "directory"),
        (["frobnicate"], "No such command"),
        (["simulate", "--out", "x", "--sizes", "a=b"], "'a=b' is no name=number"),
        (["simulate", "--out", "x", "--overlap", "99"], "overlap is 99"),
        (["simulate", "--out", "x", "--dimension", "0"], "dimension is 0"),
        (["select", "a.csv", "b.csv"], "the model has shared ties"),
        (["select", "a.csv", "b.csv", "--network", "none"], "the model has no model of ties"),
        (["simulate", "--out", "x", "--sizes", "../y=9,b=9", "--overlap", "1"], "cannot name a file"),
        (["simulate", "--out", "x", "--sizes", "truth=9,b=9", "--overlap", "1"], "would be written twice"),
        (["simulate", "--out", "x", "--sizes", "a=9,a=8"], "twice"),
        (["simulate", "--out", "x", "--spread", "inf"], "spread is inf"),
        (["check", "a.csv", "b.csv", "--encoding", "undefined"], "encoding"),
        (["simulate", "--out", "."], "is not empty"),
        (["simulate", "--out", "x", "--communities", "3"], "is for --network shared-ties"),
        (["simulate", "--out", "x", "--network", "grid"], "is 'grid'"),
        (["simulate", "--out", "x", "--records", "9", "--sizes", "a=9,b=9"], "both say how many records"),
        (["simulate", "--out", "x", "--network", "shared-ties", "--closure", "2"], "closure is 2"),
        (["simulate", "--out", "a.csv"], "a.csv"),
    ],
)
def test_bad_input_is_exit_code_2_and_a_clear_word(files, arguments, said):
    done = call(*arguments, cwd=files)
    assert done.returncode == 2
    assert said in done.stderr


def test_one_file_and_three_files_can_be_checked(files):
    for names in (["a.csv"], ["a.csv", "b.csv", "ta.csv"]):
        done = call("check", *names, cwd=files)
        assert done.returncode == 0, done.stderr
        assert "expects" in done.stdout


def test_a_headerless_file_of_pairs_is_noticed(files):
    (files / "known.csv").write_text("1,2\n")
    done = call("check", "a.csv", "b.csv", "--anchors", "known.csv", cwd=files)
    assert done.returncode == 2
    assert "is itself a pair" in done.stderr


def test_faults_of_project_data_and_truth_come_together(files):
    (files / "truth.csv").write_text("id_a,id_b\n1,77\n")
    (files / "ta.csv").write_text("source,target\n1,1\n")
    (files / "p.toml").write_text(
        '[files.a]\nrecords = "a.csv"\nties = "ta.csv"\n[files.b]\nrecords = "b.csv"\n'
        '[data]\ntruth = "truth.csv"\n[run]\nchains = 0\n[model]\nnetwrk = 1\n'
    )
    done = call("check", "p.toml", cwd=files)
    assert done.returncode == 2
    for expected in ["joins a record to itself", "unknown id '77'", "chains is 0", "Did you mean 'network'?"]:
        assert expected in done.stderr


def test_ties_after_an_equals_sign(files):
    assert call("check", "a.csv", "b.csv", "--ties=ta.csv", "tb.csv", cwd=files).returncode == 0


def test_simulate_draws_shared_ties(tmp_path):
    command = ("simulate", "--network", "shared-ties", "--communities", "4", "--closure", "0.2", "--records", "90")
    done = call(*command, "--out", tmp_path / "made")
    assert "b: 90 records" in done.stdout
    assert len((tmp_path / "made" / "truth.csv").read_text().splitlines()) == 61, "two thirds are in both"
    assert "no faults" in call("check", tmp_path / "made" / "project.toml").stdout


def test_simulate_writes_a_project_that_check_accepts(tmp_path):
    done = call("simulate", "--out", tmp_path / "made", "--sizes", "x=30,y=20", "--overlap", "10", "--seed", "3")
    assert done.returncode == 0, done.stderr
    done = call("check", tmp_path / "made" / "project.toml")
    assert done.returncode == 0, done.stderr
    assert "10 matches, 40 persons" in done.stdout


def test_a_project_file_and_options_do_not_mix(tmp_path):
    call("simulate", "--out", tmp_path / "made", "--no-profiles")
    done = call("check", tmp_path / "made" / "project.toml", "--string", "x")
    assert done.returncode == 2
    assert "a project file says everything" in done.stderr


def test_demo_links_the_shipped_example(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for expected in ["effective draws", "tielink", "Fellegi", "Next,", "The chains agree"]:
        assert expected in done.stdout
    assert "arning" not in done.stdout
    assert len(re.findall(r"^  \S+ (check|link|dedupe) ", done.stdout, re.MULTILINE)) == 3, "three next commands"
    persons = tl.Posterior.load(tmp_path / "demo" / "posterior.nc").persons()
    assert persons.interval[0] <= 120 + 150 - 60 <= persons.interval[1]
    written = {path.name for path in (tmp_path / "demo").iterdir()}
    assert written == {"data", "report.html", "posterior.nc", "project.toml", "run.log", *TABLES}
    links = (tmp_path / "demo" / "links.csv").read_text().splitlines()
    known = {",".join(line.split(",")[:4]) for line in links if ",known," in line}
    anchors = (Path(tl.__file__).parent / "example" / "anchors.csv").read_text().splitlines()
    assert set(anchors[1:]) == known
    done = call("check", "demo/project.toml", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_the_shipped_example_is_what_the_command_in_its_readme_makes(tmp_path):
    example = Path(tl.__file__).parent / "example"
    command = next(line for line in (example / "README.md").read_text().splitlines() if "tielink simulate" in line)
    arguments = command.strip().removeprefix("tielink ").replace("OUT", str(tmp_path / "made")).split()
    assert run(*arguments).returncode == 0
    for made in (tmp_path / "made").glob("*.csv"):
        assert made.read_bytes() == (example / made.name).read_bytes(), made.name


def test_help_and_version_are_quick_and_import_nothing_heavy():
    start = time.perf_counter()
    assert "check" in run("--help").stdout
    elapsed = time.perf_counter() - start
    assert tl.__version__ in run("--version").stdout
    code = """
import sys
sys.argv = ["tielink", "--help"]
from tielink.cli import main
try:
    main()
finally:
    print([name for name in ("numpy", "polars", "scipy", "rapidfuzz") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")
    assert elapsed < 5, "even on a busy machine"
