"""Partitions of records: the same from pairs, clusters and labels, whatever the order and the names."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tielink.data.linkage import Linkage, canonical
from tielink.data.records import Records
from tielink.faults import InputError

RECORDS = Records({"x": [1, 2, 3], "y": [1, 2, 3, 4], "z": ["a"]})
LABELS = st.lists(st.integers(0, 7), min_size=8, max_size=8)


@given(labels=LABELS, data=st.data())
def test_pairs_clusters_labels_and_frames_agree(labels, data):
    linkage = Linkage.from_labels(RECORDS, labels)
    renamed = data.draw(st.permutations(range(8)))
    assert linkage == Linkage(RECORDS, [renamed[label] for label in labels])
    assert linkage == Linkage.from_pairs(RECORDS, linkage.pairs())
    clusters = data.draw(st.permutations(linkage.clusters()))
    assert linkage == Linkage.from_clusters(RECORDS, clusters)
    by_record = {RECORDS[number]: label for number, label in enumerate(labels)}
    assert linkage == Linkage.from_labels(RECORDS, by_record)
    assert hash(linkage) == hash(Linkage.from_clusters(RECORDS, clusters))
    assert linkage.persons == len(set(labels)) == len(linkage.clusters())
    same = [(a, b) for a in range(8) for b in range(a + 1, 8) if labels[a] == labels[b]]
    assert [tuple(pair) for pair in linkage.pair_numbers.tolist()] == same


@given(labels=LABELS)
def test_classes(labels):
    linkage = Linkage(RECORDS, labels)
    groups = [[r for r in range(8) if labels[r] == label] for label in set(labels)]
    files = [[RECORDS[r][0] for r in group] for group in groups]
    one_per_file = all(len(set(group)) == len(group) for group in files)
    assert linkage.is_valid("free")
    assert linkage.is_valid("one_per_file") == one_per_file
    assert linkage.is_valid("pairs") == (one_per_file and all(len(group) <= 2 for group in groups))
    with pytest.raises(ValueError, match="one_per_file"):
        linkage.violations("any")


def test_different_partitions_and_records_are_different():
    assert Linkage(RECORDS, range(8)) != Linkage(RECORDS, [0, 0, *range(1, 7)])
    assert Linkage(RECORDS, range(8)) != Linkage(Records({"x": range(8)}), range(8))
    assert Linkage(RECORDS, range(8)) != "a linkage"


def test_two_files_take_bare_ids_and_frames_without_file_names():
    two = Records({"x": [1, 2], "y": [1, 2]})
    expected = Linkage.from_pairs(two, [(("x", 1), ("y", 2))])
    assert Linkage.from_pairs(two, [(1, 2)]) == expected
    assert Linkage.from_pairs(two, pl.DataFrame({"p": [0.5], "id_b": [2], "id_a": [1]})) == expected
    assert Linkage.from_pairs(two, pl.DataFrame({"left": [1], "right": [2]})) == expected
    assert Linkage.from_pairs(two, []).persons == 4


def test_unknown_and_doubled_records_are_all_named():
    with pytest.raises(InputError) as error:
        Linkage.from_pairs(RECORDS, [(("x", 1), ("y", 9)), (("q", 1), ("y", 1))])
    assert [fault.what for fault in error.value.faults] == [
        "unknown id 9 in file 'y'.",
        "unknown file 'q'; the files are 'x', 'y' and 'z'.",
    ]
    with pytest.raises(InputError, match="each record of a pair needs its file"):
        Linkage.from_pairs(RECORDS, [(1, 2)])
    with pytest.raises(InputError, match="also in cluster 0"):
        Linkage.from_clusters(RECORDS, [[("x", 1), ("y", 1)], [("x", 1), ("y", 2)]])
    with pytest.raises(ValueError, match="expected 8 labels"):
        Linkage(RECORDS, [1, 2])


def test_labels_are_canonical_and_cannot_be_written():
    assert canonical(["b", "a", "b"]).tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="read-only"):
        Linkage(RECORDS, np.arange(8)).labels[0] = 3
