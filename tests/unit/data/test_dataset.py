"""Data sets from frames and graphs; all faults of an input in one message."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

import tielink as tl

LEFT = {"id": ["a1", "a2", "a3"], "username": ["anna", "bob", None], "city": ["Rome", "Rome", "Oslo"]}
RIGHT = {"id": ["b1", "b2"], "username": ["anna", "carl"]}
FIELDS = {"username": tl.String(), "city": tl.Categorical()}


def dataset(**changes):
    given = {
        "records": {"left": pl.DataFrame(LEFT), "right": pl.DataFrame(RIGHT)},
        "ties": {"left": [("a1", "a2")]},
        "fields": FIELDS,
    }
    return tl.Dataset.from_frames(**(given | changes))


def faults(**changes):
    with pytest.raises(tl.InputError) as error:
        dataset(**changes)
    return [str(fault) for fault in error.value.faults]


@pytest.mark.parametrize("frame", [pl.DataFrame, pd.DataFrame, pa.table])
def test_frames_of_any_kind_give_the_same_data_and_come_back_as_they_went_in(frame):
    data = dataset(
        records={"left": frame(LEFT), "right": frame(RIGHT)},
        ties={"left": frame({"source": ["a1"], "target": ["a2"]})},
        anchors=frame({"id_a": ["a1"], "id_b": ["b1"]}),
    )
    assert data.records.ids == (("a1", "a2", "a3"), ("b1", "b2"))
    assert data.ties["left"].tolist() == [[0, 1]]
    assert data.ties["right"] is None
    username = data.columns["username"]
    assert [None if code < 0 else username.values[code] for code in username.codes] == [
        "anna",
        "bob",
        None,
        "anna",
        "carl",
    ]
    assert data.columns["city"].codes.tolist() == [1, 1, 0, -1, -1]
    assert data.anchors.pair_numbers.tolist() == [[0, 3]]
    assert isinstance(data.anchors.pairs(), frame if isinstance(frame, type) else pa.Table)


def test_graphs_are_records_and_ties_at_once():
    graph = nx.Graph([(1, 2), (2, 3)])
    nx.set_node_attributes(graph, {1: "x", 2: "y", 3: "x"}, "group")
    data = tl.Dataset.from_frames({"one": graph}, {"two": sparse.csr_array(np.ones((2, 2)) - np.eye(2))})
    assert data.files == ("one", "two")
    assert data.records.ids == ((1, 2, 3), (0, 1))
    assert data.ties["one"].tolist() == [[0, 1], [1, 2]]
    assert data.ties["two"].tolist() == [[0, 1]]
    assert list(data.columns) == ["group"]


def test_any_number_of_files():
    assert tl.Dataset.from_frames({"only": pl.DataFrame(LEFT)}).files == ("only",)
    many = tl.Dataset.from_frames({name: pl.DataFrame(RIGHT) for name in "abcd"})
    assert many.records.sizes == (2, 2, 2, 2)


def test_kinds_are_guessed_and_said():
    frame = pl.DataFrame(
        {
            "key": range(40),
            "name": [f"person {n}" for n in range(40)],
            "city": ["Rome", "Oslo"] * 20,
            "year": [1990 + n % 4 for n in range(40)],
            "weight": [50 + n / 7 for n in range(40)],
        }
    )
    data = tl.Dataset.from_frames({"a": frame, "b": frame})
    assert {name: field.kind for name, field in data.fields.items()} == {
        "name": "string",
        "city": "categorical",
        "year": "categorical",
    }
    said = "\n".join(map(str, data.said))
    assert "ids are taken from the first column, 'key'" in said
    assert "column 'name': taken as a string" in said
    assert "column 'weight': is not used" in said


def test_columns_that_are_not_declared_are_said():
    said = "\n".join(str(fault) for fault in dataset(fields={"username": tl.String()}).said)
    assert "not declared, so not used: 'city'" in said


def test_every_fault_at_once():
    found = faults(
        records={
            "left": pl.DataFrame({"id": ["a1", "a1", None], "username": [1, 2, 3], "city": ["x", "x", "x"]}),
            "right": pl.DataFrame({"id": [], "username": []}, schema={"id": pl.String, "username": pl.String}),
        },
        ties={"left": [("a1", "a1"), ("a1", "q")], "lift": []},
        fields={"usernme": tl.String(), "username": tl.String(), "city": tl.Categorical()},
        anchors=[(("left", "a1"), ("right", "b9")), (("middle", 1), ("left", "a1"))],
    )
    for expected in [
        "records['left'], position 1: id 'a1' stands already in position 0",
        "records['left'], position 2: no id",
        "records['right']: has no records",
        "ties['lift']: there is no file of that name. Did you mean 'left'?",
        "joins a record to itself",
        "has an id that no record has: 'q'",
        "field 'usernme': no file has such a column. Did you mean 'username'?",
        "column 'username': holds int64 values, where String() means text",
        "field 'city': has one value only, 'x'",
        "anchors, position 0: unknown id 'b9' in file 'right'",
        "anchors, position 1: unknown file 'middle'",
    ]:
        assert any(expected in fault for fault in found), (expected, found)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"anchors": [("a1", "b1"), ("a1", "b2")]}, "left/a1, right/b1 and right/b2, two of them of the same file"),
        ({"anchors": [(("left", "a1"), ("left", "a2"))]}, "left/a1 and left/a2 are in the same file"),
        ({"anchors": [("a1", "b1")], "nonmatches": [("a1", "b1")]}, "are said to be one person and not to be"),
        ({"anchors": [("a1", "b1", "c1")]}, "not every entry is a pair"),
        ({"id": "key"}, "has no id column 'key'"),
        ({"fields": {"username": "string"}}, "Give String() or PersonName() or Categorical()"),
        ({"records": {"left": [1, 2]}, "ties": {}}, "records['left']: is a list"),
        ({"records": {}, "ties": {}, "fields": None}, "no file is given"),
    ],
)
def test_contradictions_and_wrong_arguments(changes, said):
    assert any(said in fault for fault in faults(**changes))


def test_an_id_of_the_wrong_type_is_explained():
    (fault,) = faults(
        records={"left": pl.DataFrame({"id": [1, 2]}), "right": pl.DataFrame(RIGHT)},
        ties={},
        fields={},
        anchors=[("1", "b1")],
    )
    assert "there it is 1, a int, not a str" in fault


def test_warnings_do_not_stop_the_work():
    frame = pl.DataFrame({"id": [1, 2, 3, 4], "code": ["p", "q", "r", "unknown"], "same": ["x"] * 4})
    data = tl.Dataset.from_frames({"a": frame}, fields={"code": tl.Categorical(), "same": tl.Categorical()})
    said = "\n".join(map(str, data.said))
    assert "field 'code': all 4 values differ" in said
    assert "field 'code': holds 'unknown' (1×)" in said
    assert "field 'same': has one value only" in said


def test_missing_values_can_be_named():
    frame = pl.DataFrame({"id": [1, 2, 3], "x": ["p", "NA", "q"]})
    data = tl.Dataset.from_frames({"a": frame}, fields={"x": tl.Categorical()}, missing=["NA"])
    assert data.columns["x"].codes.tolist() == [0, -1, 1]


def test_half_a_million_ties_load_in_seconds(tmp_path):
    rng = np.random.default_rng(0)
    ends = np.sort(rng.integers(0, 100_000, (500_000, 2)), axis=1)
    ends = np.unique(ends[ends[:, 0] < ends[:, 1]], axis=0)
    pl.DataFrame({"id": np.arange(100_000)}).write_csv(tmp_path / "a.csv")
    pl.DataFrame(ends, schema=["source", "target"]).write_csv(tmp_path / "t.csv")
    (tmp_path / "project.toml").write_text('[files.a]\nrecords = "a.csv"\nties = "t.csv"\n')
    data = tl.Dataset.read(tmp_path / "project.toml")
    assert np.array_equal(data.ties["a"], ends)


def values(data, name):
    column = data.columns[name]
    return [None if code < 0 else column.values[code] for code in column.codes]


def test_whole_numbers_with_gaps_are_the_same_values_as_without():
    with_gap, without = pd.DataFrame({"id": [1, 2], "v": [1, np.nan]}), pd.DataFrame({"id": [1, 2], "v": [1, 2]})
    data = tl.Dataset.from_frames({"a": with_gap, "b": without}, fields={"v": tl.Categorical()})
    assert values(data, "v") == ["1", None, "1", "2"]
    flags = pd.DataFrame({"id": [1, 2], "v": [True, False]})
    with pytest.raises(tl.InputError, match="true and false in one file"):
        tl.Dataset.from_frames({"a": flags, "b": without}, fields={"v": tl.Categorical()})


@pytest.mark.parametrize("nodes", [[1, "b"], [True, "b"], [1, 2.5], [(0, 0), (0, 1)]])
def test_nodes_of_any_type_are_ids_as_they_are(nodes):
    graph = nx.Graph([tuple(nodes)])
    data = tl.Dataset.from_frames({"a": graph})
    assert data.records.ids == (tuple(nodes),)
    assert data.ties["a"].tolist() == [[0, 1]]


def test_igraph_ids_by_attribute():
    import igraph

    graph = igraph.Graph([(0, 1)], vertex_attrs={"id": ["a1", "a2"], "name": ["Ann", "Bob"]})
    assert tl.Dataset.from_frames({"a": graph}).ties["a"].tolist() == [[0, 1]]
    bare = igraph.Graph([(0, 1)])
    frame = pl.DataFrame({"id": ["x", "y"]})
    assert tl.Dataset.from_frames({"a": frame}, {"a": bare}).ties["a"].tolist() == [[0, 1]]


def test_ids_written_in_text_files_stand_for_numbers(tmp_path):
    pl.DataFrame({"id": [1, 2]}).write_parquet(tmp_path / "a.parquet")
    (tmp_path / "t.csv").write_text("source,target\n1,2\n")
    (tmp_path / "k.csv").write_text("a,b\n1,2\n")
    (tmp_path / "p.toml").write_text(
        '[files.b]\nrecords = "a.parquet"\n[files.a]\nrecords = "a.parquet"\nties = "t.csv"\n'
        '[data]\nanchors = "k.csv"\n'
    )
    data = tl.Dataset.read(tmp_path / "p.toml")
    assert data.ties["a"].tolist() == [[0, 1]]
    assert set(data.anchors.clusters()[1]) == {("b", 2), ("a", 1)}, "columns named by files say which is which"


def test_huge_integers_and_empty_texts():
    huge = [2**63, 2**63 + 1]
    data = tl.Dataset.from_frames({"a": pl.DataFrame({"id": pl.Series(huge, dtype=pl.UInt64)})}, {"a": [huge]})
    assert data.ties["a"].tolist() == [[0, 1]]
    assert (
        values(dataset(records={"left": pl.DataFrame(LEFT | {"city": ["", "x", "y"]})}, fields=FIELDS), "city")[0]
        is None
    )
    assert any(
        "no id" in fault for fault in faults(records={"left": pl.DataFrame({"id": ["", "b"]})}, ties={}, fields={})
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"directed": "both"}, "directed: is 'both'"),
        ({"directed": {"lft": "any"}}, "Did you mean 'left'?"),
        ({"id": {"zz": "id"}}, "names 'zz', which is no file"),
        ({"id": 3}, "Give the name of a column"),
        ({"faulty_ties": "ignore"}, "Give 'refuse' or 'drop'"),
        ({"fields": ["username"]}, "Give a mapping"),
        ({"anchors": [(("left", "a1"), "b1")]}, "expected a (file, id) pair, found 'b1'"),
        ({"anchors": [("b1", "a1")]}, "are the two columns swapped?"),
        ({"anchors": 7}, "columns id_a, id_b"),
        ({"ties": {"left": sparse.csr_array(np.array([[0, np.nan, 0], [0, 0, 0], [0, 0, 0]]))}}, "holds NaN"),
        ({"ties": {"left": [(["a1"], "a2")]}}, "has an id that no record has"),
        ({"records": {"left": pl.DataFrame({"id": [[1], [2]]})}, "ties": {}, "fields": {}}, "no single values"),
        (
            {"records": {"left": pd.DataFrame([[1, 2]], columns=["id", "id"])}, "ties": {}, "fields": {}},
            "more than once",
        ),
        (
            {"records": {"left": pl.DataFrame({"id": [1], "x": [[1]]})}, "ties": {}, "fields": {"x": tl.Categorical()}},
            "no text or number",
        ),
    ],
)
def test_more_wrong_arguments(changes, said):
    assert any(said in fault for fault in faults(**changes))


def test_missing_texts_of_any_form():
    frame = pl.DataFrame({"id": [1, 2, 3], "x": ["N", "NA", "q"], "y": [1, -9, 2]})
    fields = {"x": tl.Categorical(), "y": tl.Categorical()}
    data = tl.Dataset.from_frames({"a": frame}, fields=fields, missing="NA")
    assert values(data, "x") == ["N", None, "q"]
    assert values(tl.Dataset.from_frames({"a": frame}, fields=fields, missing=[-9]), "y") == ["1", None, "2"]


def test_anchors_of_another_data_set_are_matched_by_name():
    other = tl.Dataset.from_frames(
        {"right": pl.DataFrame({"id": ["b2", "b1"]}), "left": pl.DataFrame({"id": ["a3"]})}, fields={}
    )
    known = tl.Linkage.from_pairs(other, [("b1", "a3")])
    assert dataset(anchors=known).anchors.pair_numbers.tolist() == [[2, 3]]
    assert dataset(anchors=None).anchors.persons == 5


def test_columns_without_text_names():
    frame = pd.DataFrame([[7, "x"], [8, "y"]])
    assert tl.Dataset.from_frames({"a": frame}).records.ids == ((7, 8),)
