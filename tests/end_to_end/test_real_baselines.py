"""What is known beforehand of plain methods on the paper's data."""

from __future__ import annotations

import pytest

import tielink as tl
from tielink.data.sources import Sources


def read(folder, field):
    sources = Sources(
        folder,
        {"a": "nodes_a.csv", "b": "nodes_b.csv"},
        {"a": "edges_a.csv", "b": "edges_b.csv"},
        fields={field: tl.String()},
        truth="truth.csv",
    )
    data = tl.Dataset.checked(*sources.load())
    return data, sources.read_truth(data)


def test_equal_usernames_beat_the_papers_table(real_data):
    """10 usernames are equal across the files, 9 of them true, of 19 matches."""
    data, truth = read(real_data / "pkdd12", "username")
    found = tl.evaluate(tl.baselines.equal_strings(data, "username"), truth)
    counts = found.without_anchors
    assert (counts.correct, counts.links, counts.matches) == (9, 10, 19)
    assert [round(score, 2) for score in (found.recall, found.precision, found.f1)] == [0.47, 0.9, 0.62]


@pytest.mark.parametrize(("name", "field"), [("pkdd12", "username"), ("citeseer", "name")])
def test_every_baseline_runs_and_is_one_to_one(real_data, name, field):
    data, truth = read(real_data / name, field)
    found = tl.baselines.every(data)
    assert len(found) == 6
    for links in found.values():
        assert links.is_valid("pairs")
    assert tl.evaluate(found["Fellegi–Sunter"], truth).f1 > 0.5
