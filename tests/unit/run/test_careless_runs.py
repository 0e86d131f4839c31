"""Runs with careless records: everything of them is kept, saved, resumed, explained and diagnosed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import tielink as tl
from tielink.simulate import scenario


@pytest.fixture(scope="module")
def data():
    return scenario(np.random.default_rng(2), sizes={"a": 14, "b": 16}, overlap=9, anchors=0.2, missing=0.1).dataset


MODEL = tl.Model(
    network=None,
    careless=tl.Careless(tl.Beta(2, 3), tl.Beta(5, 5)),
    fields={"username": tl.String(vocabulary="closed", by_file=True), "place": tl.Categorical()},
)


def test_classes_are_drawn_saved_and_explained(data, tmp_path):
    posterior = tl.sample(MODEL, data, chains=2, warmup=10, draws=30, workers=0)
    assert posterior.careless.shape == (2, 30, 30)
    assert 0 < posterior.careless.mean() < 1
    assert posterior.careless_share.shape == (2, 30)
    assert len(posterior.rates) == posterior.distortion.shape[2] == 6
    table = posterior.carelessness()
    assert table.columns == ["file", "id", "probability"]
    assert table["probability"].to_list() == sorted(posterior.careless.mean(axis=(0, 1)), reverse=True)
    posterior.save(tmp_path / "p.nc")
    loaded = tl.Posterior.load(tmp_path / "p.nc")
    assert loaded.model == MODEL
    assert np.array_equal(loaded.careless, posterior.careless)
    assert np.array_equal(loaded.careless_share, posterior.careless_share)
    assert "share of careless records" in posterior.diagnose().rhat
    pair = posterior.pairs().row(-1, named=True)
    found = tl.explain(posterior, (pair["file_a"], pair["id_a"]), (pair["file_b"], pair["id_b"]))
    assert found.table()["log_odds"].sum() == pytest.approx(found.log_odds)
    text = MODEL.describe(data)
    assert "distortion rate in each file ~ Beta" in text
    assert "a share ~ Beta(2, 3), mean 0.4 is careless" in text


def test_without_careless_records_nothing_is_kept_of_them(data):
    posterior = tl.sample(replace(MODEL, careless=None), data, chains=1, warmup=2, draws=4, workers=0)
    assert posterior.careless.size == posterior.careless_share.size == 0
    assert posterior.carelessness().height == 0
