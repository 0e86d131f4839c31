"""What a new user meets in the first minutes: own files, no manual, and answers that must not mislead."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from command_line import call, run
from tielink.simulate.people import people

TINY = ["--chains", "2", "--warmup", "40", "--draws", "60"]


def write(path: Path, rows: list[dict[str, object]], encoding: str = "utf-8") -> Path:
    with path.open("w", encoding=encoding, newline="") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return path


def persons(count: int, seed: int = 1) -> list[dict[str, str]]:
    """Make persons with a given name, a surname, a town and a day of birth."""
    frame = people(np.random.default_rng(seed), (count, 2), 0, missing=0.0).frames["original"]
    chosen = frame.select("given_name", "surname", "suburb", "date_of_birth").rename({"suburb": "town"})
    return chosen.to_dicts()


def part_of(rows: list[dict[str, str]], prefix: str, places: range) -> list[dict[str, str]]:
    """Take some persons as the records of one file, each with an id of that file."""
    return [{"id": f"{prefix}{place}", **rows[place]} for place in places]


@pytest.fixture(scope="module")
def three(tmp_path_factory) -> tuple[Path, object]:
    """Three files of twenty records: ten persons are in all of them, ten more in one file each."""
    folder = tmp_path_factory.mktemp("three")
    everybody = [{key: row[key] for key in ("given_name", "surname", "date_of_birth")} for row in persons(40)]
    for number, name in enumerate("abc"):
        rows = part_of(everybody, name, range(10)) + part_of(everybody, name, range(10 * number + 10, 10 * number + 20))
        write(folder / f"{name}.csv", rows)
    return folder, run("link", "a.csv", "b.csv", "c.csv", "--string", "date_of_birth", "--out", "r", *TINY, cwd=folder)


def test_a_person_may_be_in_all_three_files(three):
    folder, done = three
    assert done.returncode == 0, done.stderr
    assert "one_per_file, the default for 3 files" in done.stdout
    posterior = tl.Posterior.load(folder / "r" / "posterior.nc")
    low, high = posterior.persons().interval
    assert low <= 40 <= high
    assert "one_per_file" in (folder / "r" / "project.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("prior", ["one_per_file:a=2,b=2", "ewens_pitman:max_size=3", "negative_binomial", "uniform"])
def test_every_prior_can_be_named(three, prior):
    done = call("check", three[0] / "a.csv", three[0] / "b.csv", "--prior", prior)
    assert done.returncode == 0, done.stderr
    assert "default" not in done.stdout.partition("Linkage:")[2]


def german_and_english(folder: Path) -> Path:
    """Write two files of the same persons whose columns have different names."""
    everybody = persons(40)
    write(folder / "de.csv", [
        {"nr": f"d{n}", "vorname": row["given_name"], "nachname": row["surname"], "geboren": row["date_of_birth"]}
        for n, row in enumerate(everybody)
    ])  # fmt: skip
    write(folder / "en.csv", [
        {"number": f"e{n}", "firstname": row["given_name"], "lastname": row["surname"], "born": row["date_of_birth"]}
        for n, row in enumerate(everybody)
    ])  # fmt: skip
    return folder


SAME = ["--same", "vorname=firstname", "--same", "nachname=lastname", "--same", "geboren=born"]


def test_no_shared_columns_is_an_error_that_says_which_look_alike(tmp_path):
    german_and_english(tmp_path)
    done = call("link", "de.csv", "en.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "no column in common" in done.stderr
    for pair in SAME[1::2]:
        assert f"--same {pair}" in done.stderr


def test_columns_can_be_said_to_be_the_same_on_the_command_line_in_a_project_and_in_python(tmp_path):
    german_and_english(tmp_path)
    done = call("check", "de.csv", "en.csv", *SAME, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "vorname" in done.stdout
    assert "firstname" not in done.stdout
    (tmp_path / "project.toml").write_text(
        '[files.de]\nrecords = "de.csv"\n[files.en]\nrecords = "en.csv"\n'
        '[data]\nsame = { vorname = "firstname", nachname = ["lastname"], geboren = "born" }\n'
    )
    data = tl.Dataset.read(tmp_path / "project.toml")
    frames = {name: pl.read_csv(tmp_path / f"{name}.csv") for name in ("de", "en")}
    same = {"vorname": "firstname", "nachname": "lastname", "geboren": "born"}
    assert data.fields == tl.Dataset.from_frames(frames, same=same).fields
    assert set(data.fields) == set(same)
    assert call("check", "de.csv", "en.csv", "--same", "vorname=frstname", cwd=tmp_path).returncode == 2


def test_a_column_that_looks_like_another_is_suggested_and_ties_are_enough(tmp_path):
    german_and_english(tmp_path)
    done = call("check", "de.csv", "en.csv", *SAME[:4], cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "--same geboren=born" in done.stdout
    for name, letter in (("de", "d"), ("en", "e")):
        write(
            tmp_path / f"{name}_ties.csv", [{"source": f"{letter}{n}", "target": f"{letter}{n + 1}"} for n in range(20)]
        )
    done = call("check", "de.csv", "en.csv", "--ties", "de_ties.csv", "en_ties.csv", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_nothing_to_link_by_is_an_error(tmp_path):
    for name in "ab":
        write(tmp_path / f"{name}.csv", [{"id": n, "page": f"https://example.org/{name}/{n}"} for n in range(9)])
    done = call("check", "a.csv", "b.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "nothing to link by" in done.stderr


def test_encodings_are_per_file_a_mark_wins_and_misread_text_is_noticed(tmp_path):
    rows = [{"id": n, "city": ["Köln", "Münster", "Zürich"][n % 3]} for n in range(12)]
    for name, encoding in (("a", "utf-8-sig"), ("b", "cp1252"), ("c", "utf-8")):
        write(tmp_path / f"{name}.csv", rows, encoding)
    done = call("check", "a.csv", "b.csv", "c.csv", "--encoding", "b=cp1252", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 different" not in done.stdout
    assert "3 different" in done.stdout
    done = call("check", "a.csv", "c.csv", "--encoding", "cp1252", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "c.csv, row 2: holds '0,KÃ¶ln': letters were read in another encoding" in done.stdout
    assert "a.csv, row 2" not in done.stdout
    done = call("check", "a.csv", "b.csv", cwd=tmp_path)
    assert done.returncode == 2
    assert "--encoding cp1252" in done.stderr


def test_anchors_come_from_several_files_and_from_one_that_says_both(tmp_path):
    everybody = persons(30)
    for name in "ab":
        write(tmp_path / f"{name}.csv", part_of(everybody, name, range(30)))
    write(tmp_path / "one.csv", [{"id_a": "a0", "id_b": "b0"}])
    write(tmp_path / "two.csv", [{"id_a": f"a{n}", "id_b": f"b{n}"} for n in (1, 2)])
    write(tmp_path / "marks.csv", [
        {"file_a": "a", "id_a": "a3", "file_b": "b", "id_b": "b3", "answer": "same"},
        {"file_a": "a", "id_a": "a4", "file_b": "b", "id_b": "b5", "answer": "different"},
        {"file_a": "a", "id_a": "a6", "file_b": "b", "id_b": "b6", "answer": "unsure"},
    ])  # fmt: skip
    files = ["--anchors", "one.csv", "--anchors", "two.csv", "--anchors", "marks.csv"]
    done = call("check", "a.csv", "b.csv", *files, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Anchors (known matches): 4. Known non-matches: 1." in done.stdout
    assert "1 pairs are marked as unsure" in done.stdout
    write(tmp_path / "marks.csv", [{"id_a": "a3", "id_b": "b3", "answer": "maybe"}])
    assert "the answer is 'maybe'" in call("check", "a.csv", "b.csv", *files, cwd=tmp_path).stderr


def test_advice_is_in_the_language_of_the_caller(tmp_path):
    rows = [{"id": n, "born": day} for n, day in enumerate(["1990-05-17", "soon", "1991-01-02"] * 4)]
    for name in "ab":
        write(tmp_path / f"{name}.csv", rows)
    (tmp_path / "project.toml").write_text('[files]\na = "a.csv"\nb = "b.csv"\n[fields]\nborn = "date"\n')
    frames = {name: pl.read_csv(tmp_path / f"{name}.csv") for name in "ab"}
    with pytest.raises(tl.InputError) as raised:
        tl.Dataset.from_frames(frames, fields={"born": tl.Date()})
    assert "missing=['soon']" in str(raised.value)
    assert "tl.Date(format='%d/%m/%Y')" in str(raised.value)
    assert "--missing soon" in call("check", "a.csv", "b.csv", "--date", "born", cwd=tmp_path).stderr
    assert 'missing = ["soon"]' in call("check", "project.toml", cwd=tmp_path).stderr
    formed = call("check", "a.csv", "b.csv", "--date", "born:format=%Y-%m-%d", "--missing", "soon", cwd=tmp_path)
    assert formed.returncode == 0, formed.stderr


def test_columns_that_python_leaves_out_are_said_where_people_look():
    frame = pl.DataFrame(
        {"id": range(9), "city": ["Rome", "Oslo", "Bonn"] * 3, "street": [f"street {n}" for n in range(9)]}
    )
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"city": tl.Categorical()})
    assert "not used: street" in repr(data)
    assert "street" in tl.Model().describe(data)


def test_check_shows_guess_reason_and_three_values(three):
    done = call("check", three[0] / "a.csv", three[0] / "b.csv")
    assert "column 'date_of_birth': taken as a date (a day): 40 values, 30 different ('" in done.stdout
    assert "If that is wrong, say --categorical date_of_birth or --ignore date_of_birth." in done.stdout


@pytest.fixture(scope="module")
def deduped(tmp_path_factory) -> tuple[Path, object]:
    """One file of 24 persons, four of them twice."""
    folder = tmp_path_factory.mktemp("dedupe")
    everybody = [{key: row[key] for key in ("given_name", "surname")} for row in persons(24)]
    rows = part_of(everybody, "r", range(24)) + part_of(everybody, "copy", range(4))
    write(folder / "records.csv", rows)
    return folder, run("dedupe", "records.csv", "--out", "r", *TINY, cwd=folder)


def test_duplicates_in_one_file_have_a_command(deduped):
    folder, done = deduped
    assert done.returncode == 0, done.stderr
    assert "ewens_pitman, the default for one file" in done.stdout
    found = pl.read_csv(folder / "r" / "persons.csv")
    assert found.height == 28
    for n in range(4):
        assert found.filter(pl.col("id").is_in([f"r{n}", f"copy{n}"]))["person"].n_unique() == 1
    links = pl.read_csv(folder / "r" / "links.csv")
    assert {"evidence_value_given_name", "evidence_value_surname", "evidence_rest"} <= set(links.columns)
    assert links["evidence_value_surname"][0] > 0


def test_link_and_dedupe_point_to_each_other(deduped):
    folder, _ = deduped
    one = call("link", "records.csv", cwd=folder)
    assert one.returncode == 2
    assert "tielink dedupe records.csv" in one.stderr
    two = call("dedupe", "records.csv", "records.csv", cwd=folder)
    assert two.returncode == 2
    assert "tielink link records.csv records.csv" in two.stderr


def test_known_pairs_inside_a_file_go_with_a_prior_that_allows_them(tmp_path):
    everybody = persons(20)
    for name in "ab":
        write(tmp_path / f"{name}.csv", part_of(everybody, name, range(20)))
    write(tmp_path / "known.csv", [{"file_a": "a", "id_a": "a1", "file_b": "a", "id_b": "a2"}])
    arguments = ["check", "a.csv", "b.csv", "--anchors", "known.csv"]
    assert "say --prior ewens_pitman" in call(*arguments, cwd=tmp_path).stderr
    assert call(*arguments, "--prior", "ewens_pitman", cwd=tmp_path).returncode == 0


def test_sheets_and_database_tables_are_sources(tmp_path):
    import sqlite3

    duckdb = pytest.importorskip("duckdb")
    openpyxl = pytest.importorskip("openpyxl")
    rows = persons(12)
    cells = [["id", *rows[0]], *([n, *row.values()] for n, row in enumerate(rows))]
    book = openpyxl.Workbook()
    for line in cells:
        book.active.append(line)
    book.active.title = "people 2024"
    book.create_sheet("remarks")
    book.save(tmp_path / "x.xlsx")
    make = "create table people (id integer, " + ", ".join(f"{name} text" for name in cells[0][1:]) + ")"
    fill = "insert into people values (?, ?, ?, ?, ?)"
    for base in (sqlite3.connect(tmp_path / "y.sqlite"), duckdb.connect(tmp_path / "z.duckdb")):
        base.execute(make)
        base.executemany(fill, cells[1:])
        base.commit()
        base.close()
    done = call("check", "x.xlsx#people 2024", "y.sqlite::people", "z.duckdb", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "12 different" in done.stdout
    assert "people 2024" in done.stdout
    unnamed = call("check", "x.xlsx", "y.sqlite::peple", cwd=tmp_path)
    assert unnamed.returncode == 2
    assert "Name one: x.xlsx#people 2024" in unnamed.stderr
    assert "Did you mean 'people'?" in unnamed.stderr


def test_a_sheet_that_does_not_say_its_width_is_read(tmp_path):
    import zipfile

    from tielink.data.read import read_table_file
    from tielink.faults import Faults

    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (["id", "name", "town"], ["1", "anna", "Rome"], ["2"]):
        book.active.append(line)
    book.save(tmp_path / "whole.xlsx")
    with zipfile.ZipFile(tmp_path / "whole.xlsx") as whole, zipfile.ZipFile(tmp_path / "x.xlsx", "w") as made:
        for name in whole.namelist():
            made.writestr(name, re.sub(rb"<dimension[^>]*/>", b"", whole.read(name)))
    table = read_table_file(tmp_path / "x.xlsx", Faults())
    assert table.frame.rows() == [("1", "anna", "Rome"), ("2", None, None)]


def test_a_package_that_is_not_installed_is_said_with_how_to_install_it(tmp_path, monkeypatch):
    from tielink.data.read import read_table_file
    from tielink.faults import Faults

    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    (tmp_path / "x.xlsx").write_bytes(b"")
    faults = Faults()
    assert read_table_file(tmp_path / "x.xlsx", faults) is None
    assert "pip install 'tielink[excel]'" in str(faults.errors[0])
