"""Reading files: every fault named by row, nothing dropped."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tielink.data.read import read_table_file
from tielink.faults import Faults


def read(folder: Path, content: bytes | str, name: str = "t.csv", encoding: str = "utf-8"):
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    faults = Faults()
    return read_table_file(path, faults, encoding=encoding), [str(fault) for fault in faults.found]


@pytest.mark.parametrize(
    ("content", "rows", "lines"),
    [
        ("id,x\n1,2\n3,4\n", [("1", "2"), ("3", "4")], [2, 3]),
        ("id,x\r\n1,2\r\n", [("1", "2")], [2]),
        ("id,x\r1,2\r3,4", [("1", "2"), ("3", "4")], [2, 3]),
        ("\ufeffid,x\n1,2", [("1", "2")], [2]),
        ("id;x\n1;2", [("1", "2")], [2]),
        ("id|x\n1|2", [("1", "2")], [2]),
        ("id,x\n1,2\n\n\n3,\n", [("1", "2"), ("3", None)], [2, 5]),
        ('id,x\n1,"a,b"\n\n2,"c\nd"\n3,e\n', [("1", "a,b"), ("2", "c\nd"), ("3", "e")], [2, 4, 6]),
        ("id,x\n007,1e5\n", [("007", "1e5")], [2]),
        ("id,x\n,\n", [(None, None)], [2]),
        ("id,x\n\n1,2\n", [("1", "2")], [3]),
        ('"id","x"\n"1","2"\n"3",""\n', [("1", "2"), ("3", None)], [2, 3]),
        ('"id","x"\n"","2"\n', [(None, "2")], [2]),
        ('"last, first";x\n"b, a";2\n', [("b, a", "2")], [2]),
        ("id,x\n1,Ünïcode 名前\n", [("1", "Ünïcode 名前")], [2]),
    ],
)
def test_cells_stay_text_and_rows_keep_their_line(tmp_path, content, rows, lines):
    table, faults = read(tmp_path, content)
    assert not faults
    assert table.frame.rows() == rows
    assert table.rows.tolist() == lines


def test_tab_separated_by_ending_and_utf16_by_mark(tmp_path):
    assert read(tmp_path, "id\tx,y\n1\t2\n", "t.tsv")[0].frame.columns == ["id", "x,y"]
    assert read(tmp_path, "id,x\né,1\n".encode("utf-16"))[0].frame.rows() == [("é", "1")]


def test_a_cell_of_ten_megabytes(tmp_path):
    table, faults = read(tmp_path, f'id,x\n1,"{"y" * 10_000_000}"\n')
    assert not faults
    assert len(table.frame["x"][0]) == 10_000_000


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "t.csv: is empty"),
        ("\n\n", "t.csv: is empty"),
        ("id,x\n1\n2,3\n", "t.csv, row 2: has 1 cells where the header has 2"),
        ("id,x\n1,2\n3,4,5\n", "t.csv, row 3: has 3 cells where the header has 2"),
        ('id,x\n1,"2"\n3\n', "t.csv, row 3: has 1 cells where the header has 2"),
        ('id,x\n1,"2\n3,4\n', "t.csv, row 2: cannot be parsed"),
        (b"id,x\n1,caf\xe9\n", "t.csv, row 2: byte 0xe9 is not utf-8"),
        (b"\x00\x01\x02", "t.csv, row 1: holds binary data"),
        (b"PAR1 but not really", "is not a readable Parquet file"),
        ("id,x,x\n1,2,3\n", "column 'x' appears more than once"),
        ("id,\n1,2\n", "column 2 has no name"),
    ],
)
def test_faults_name_file_and_row(tmp_path, content, said):
    table, faults = read(tmp_path, content)
    assert table is None
    assert len(faults) == 1
    assert said in faults[0]


def test_many_ragged_rows_are_counted(tmp_path):
    _, faults = read(tmp_path, "id,x\n" + "1\n" * 10)
    assert len(faults) == 4
    assert "7 more rows" in faults[-1]


def test_other_encodings_can_be_named(tmp_path):
    assert read(tmp_path, b"id,x\n1,caf\xe9\n", encoding="latin-1")[0].frame["x"][0] == "café"
    assert "unknown encoding" in read(tmp_path, "id,x\n1,2\n", encoding="klingon")[1][0]


def test_missing_file_and_folder(tmp_path):
    faults = Faults()
    assert read_table_file(tmp_path / "nowhere.csv", faults) is None
    assert read_table_file(tmp_path, faults) is None
    assert "there is no such file" in str(faults.found[0])
    assert "directory" in str(faults.found[1])


def test_parquet_keeps_types(tmp_path):
    pl.DataFrame({"id": [1, 2], "x": ["a", None]}).write_parquet(tmp_path / "t.parquet")
    table = read_table_file(tmp_path / "t.parquet", Faults())
    assert table.frame.rows() == [(1, "a"), (2, None)]


CELL = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r\ufeff"), max_size=8)


@settings(max_examples=150)
@given(
    rows=st.lists(st.tuples(CELL, CELL, CELL), min_size=1, max_size=8),
    quoting=st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]),
)
def test_whatever_the_csv_module_writes_is_read_back(tmp_path, rows, quoting):
    text = io.StringIO()
    writer = csv.writer(text, quoting=quoting, lineterminator="\n")
    writer.writerows([("a", "b", "c"), *rows])
    table, faults = read(tmp_path, text.getvalue())
    assert all("another encoding" in fault for fault in faults)
    assert table.frame.rows() == [tuple(cell or None for cell in row) for row in rows]


@settings(max_examples=150)
@example(content=b'\r"')
@given(content=st.binary(max_size=200))
def test_rubbish_never_raises(tmp_path, content):
    table, faults = read(tmp_path, content)
    assert (table is None) == any("another encoding" not in fault for fault in faults)
