"""Ties from any source are the same ties; whatever is no tie is refused or counted aloud."""

from __future__ import annotations

import igraph
import networkx as nx
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from tielink.data.frames import Table
from tielink.data.statistics import network_figures
from tielink.data.ties import look_up, read_ties
from tielink.faults import Faults

IDS = pl.Series(["a", "b", "c", "d"])
TIES = [("a", "b"), ("b", "c"), ("a", "d")]
EXPECTED = [[0, 1], [0, 3], [1, 2]]


def ties(source, ids=IDS, **options):
    faults = Faults()
    found = read_ties(source, ids, "ties", faults, **options)
    return found, [str(fault) for fault in faults.found]


def matrix(pairs, symmetric):
    rows, columns = np.array([["abcd".index(end) for end in pair] for pair in pairs]).T
    upper = sparse.coo_array((np.ones(len(pairs)), (rows, columns)), shape=(4, 4))
    return upper + upper.T if symmetric else upper


def igraph_of(pairs):
    return igraph.Graph.TupleList(pairs, directed=False)


SOURCES = {
    "pairs": TIES,
    "polars": pl.DataFrame(TIES, schema=["x", "y"], orient="row"),
    "pandas": pd.DataFrame(TIES, columns=["source", "target"]),
    "arrow": pa.table({"source": [a for a, _ in TIES], "target": [b for _, b in TIES]}),
    "named columns elsewhere": pl.DataFrame({"w": [1, 1, 1], "target": ["b", "c", "d"], "source": ["a", "b", "a"]}),
    "networkx": nx.Graph(TIES),
    "igraph": igraph_of(TIES),
    "sparse": matrix(TIES, symmetric=False),
    "sparse symmetric": matrix(TIES, symmetric=True),
}


@pytest.mark.parametrize("name", SOURCES)
def test_every_source_gives_the_same_ties(name):
    found, faults = ties(SOURCES[name])
    assert found.tolist() == EXPECTED
    assert all("both directions" in fault for fault in faults)


@pytest.mark.parametrize(
    "values",
    [
        [10, 20, 30],
        [1.5, 2.5, 3.5],
        [pd.Timestamp("2020-01-01"), pd.Timestamp("2021-01-01"), pd.Timestamp("2022-01-01")],
        [("x", 1), ("x", 2), ("y", 1)],
        [1, "1", None],
    ],
)
def test_ids_of_any_type(values):
    try:
        ids = pl.Series(values, strict=True)
    except (TypeError, pl.exceptions.PolarsError):
        ids = pl.Series(values, dtype=pl.Object)
    found, faults = ties([(values[0], values[1])], ids)
    assert found.tolist() == [[0, 1]], faults


def test_numbers_and_texts_are_different_ids():
    assert look_up(pl.Series(["1"]), pl.Series([1, 2])).tolist() == [-1]
    assert look_up(pl.Series([2], dtype=pl.Int8), pl.Series([1, 2])).tolist() == [1]


@pytest.mark.parametrize(
    ("source", "said"),
    [
        ([("a", "b"), ("a", "z")], "ties, tie 1: a tie has an id that no record has: 'z'"),
        ([("a", None)], "an empty id"),
        ([("a", "a"), ("b", "b")], "ties, tie 0 and tie 1: 2 ties, each joins a record to itself"),
        ([("a", "b"), ("c", "d"), ("a", "b")], "ties, tie 2: a tie is listed before"),
        ([("a", "b"), ("b", "a"), ("c", "d")], "1 ties are listed both ways and 1 one way"),
        (nx.DiGraph([("a", "b")]), "0 ties are listed both ways and 1 one way"),
        (sparse.eye_array(3).tocsr(), "the matrix is 3 × 3 where the file has 4 records"),
        (pl.DataFrame({"only": ["a"]}), "has 1 column"),
        (7, "cannot be read as ties (int)"),
    ],
)
def test_what_is_no_tie_is_refused(source, said):
    _, faults = ties(source)
    assert len(faults) == 1
    assert said in faults[0]


def test_faulty_ties_can_be_dropped_and_are_counted():
    found, faults = ties([("a", "b"), ("a", "b"), ("c", "c"), ("a", "z")], faulty="drop")
    assert found.tolist() == [[0, 1]]
    assert [fault.split(": ")[1] for fault in faults] == ["1 of 4 listed ties dropped"] * 3


def test_directed_ties_any_and_mutual():
    directed = nx.DiGraph([("a", "b"), ("b", "a"), ("c", "d")])
    found, faults = ties(directed, directed="any")
    assert found.tolist() == [[0, 1], [2, 3]]
    assert "1 mutual ties and 1 listed one way, all kept" in faults[0]
    found, faults = ties(directed, directed="mutual")
    assert found.tolist() == [[0, 1]]
    assert "1 mutual ties kept, 1 listed one way only left out" in faults[0]
    assert ties(nx.Graph([("a", "b")]), directed="mutual")[0].tolist() == [[0, 1]]
    assert "none is left" in ties([("a", "b")], directed="mutual")[1][1]


def test_a_file_without_header_is_noticed():
    table = Table(pl.DataFrame({"a": ["b"], "b": ["c"]}), "t.csv", np.array([2]))
    assert "the first row ('a', 'b') is itself a tie" in ties(table)[1][0]


@given(st.sets(st.tuples(st.integers(0, 8), st.integers(0, 8)).filter(lambda pair: pair[0] < pair[1])))
def test_figures_agree_with_networkx(edges):
    graph = nx.Graph(edges)
    graph.add_nodes_from(range(9))
    figures = network_figures(9, np.array(sorted(edges), dtype=np.int64).reshape(-1, 2))
    assert figures.density == pytest.approx(nx.density(graph))
    assert figures.isolated == nx.number_of_isolates(graph)
    degree = dict(graph.degree)
    if max(degree.values()) > 1:
        assert figures.clustering == pytest.approx(nx.transitivity(graph))
    ends = [d for a, b in edges for d in (degree[a], degree[b])]
    if len(set(ends)) > 1:
        assert figures.assortativity == pytest.approx(nx.degree_assortativity_coefficient(graph))
    else:
        assert np.isnan(figures.assortativity)
