"""Scenarios: what was asked for, reproducible, written as a project that can be read."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from tielink.project import Project
from tielink.simulate import from_prior, scenario, write_project


def test_sizes_overlap_anchors_and_missing_values():
    drawn = scenario(
        np.random.default_rng(1), sizes={"a": 30, "b": 50}, overlap=20, anchors=0.25, missing=0.2, distortion=0.3
    )
    assert drawn.dataset.records.sizes == (30, 50)
    assert len(drawn.truth.pair_numbers) == 20
    assert drawn.truth.is_valid("pairs")
    assert len(drawn.dataset.anchors.pair_numbers) == 5
    true = {tuple(pair) for pair in drawn.truth.pair_numbers.tolist()}
    assert {tuple(pair) for pair in drawn.dataset.anchors.pair_numbers.tolist()} <= true
    assert set(drawn.dataset.columns) == {"username", "place"}
    assert 0 < (drawn.dataset.columns["username"].codes < 0).mean() < 0.5


def test_the_same_seed_gives_the_same_data_and_another_other_data(tmp_path):
    def files(seed, name):
        write_project(scenario(np.random.default_rng(seed)), tmp_path / name)
        return {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()}

    assert files(1, "x") == files(1, "y")
    assert files(1, "z")["a_ties.csv"] != files(2, "w")["a_ties.csv"]


def test_three_files_and_files_of_one_record():
    drawn = scenario(
        np.random.default_rng(1), tl.Model(network=None, linkage=tl.Uniform()), {"a": 1, "b": 1, "c": 5}, overlap=1
    )
    assert drawn.truth.persons == 6


def test_what_is_written_is_read_back(tmp_path):
    drawn = scenario(np.random.default_rng(4), missing=0.1, anchors=0.1)
    project = Project.read(write_project(drawn, tmp_path / "p", tl.Model.paper(3)))
    data = project.dataset()
    assert project.model == tl.Model.paper(3)
    assert data.records == drawn.dataset.records
    assert data.anchors == drawn.dataset.anchors
    assert project.sources.read_truth(data) == drawn.truth
    for name in data.files:
        assert data.ties[name].tolist() == drawn.dataset.ties[name].tolist()
    for name, column in data.columns.items():
        other = drawn.dataset.columns[name]
        told = [[None if code < 0 else c.values[code] for code in c.codes] for c in (column, other)]
        assert told[0] == told[1]


def test_wrong_wishes_are_all_named():
    with pytest.raises(tl.InputError) as error:
        scenario(
            np.random.default_rng(1),
            sizes={"a": 0, "b": 5},
            overlap=9,
            density=1.5,
            distortion=-1,
            missing=2,
            anchors=-1,
        )
    assert len(error.value.faults) == 6


def test_prior_draws_need_frequencies_for_strings():
    model = tl.Model(fields={"name": tl.String()})
    with pytest.raises(tl.InputError, match="a string field needs frequencies"):
        from_prior(np.random.default_rng(1), model, {"a": 2, "b": 2}, {"name": ["x", "y"]})
