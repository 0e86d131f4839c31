"""The network figures of the paper's data agree with its Tables 1 and 2 to one unit of the last digit."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from tielink.data.sources import Sources


def read(folder) -> tl.Dataset:
    sources = Sources(folder, {"a": "nodes_a.csv", "b": "nodes_b.csv"}, {"a": "edges_a.csv", "b": "edges_b.csv"})
    return tl.Dataset.checked(*sources.load())


def test_table_1(real_data):
    published = {  # mean and quartiles over the 17 pairs
        ("a", "density"): [0.21, 0.15, 0.18, 0.27],
        ("a", "clustering"): [0.30, 0.14, 0.29, 0.40],
        ("a", "assortativity"): [-0.53, -0.63, -0.52, -0.45],
        ("b", "density"): [0.17, 0.11, 0.13, 0.21],
        ("b", "clustering"): [0.43, 0.36, 0.40, 0.52],
        ("b", "assortativity"): [-0.29, -0.42, -0.24, -0.21],
    }
    pairs = [read(folder) for folder in sorted((real_data / "uir").iterdir())]
    assert len(pairs) == 17
    for (file, figure), expected in published.items():
        found = [getattr(pair.figures(file), figure) for pair in pairs]
        summary = [np.mean(found), *np.quantile(found, [0.25, 0.5, 0.75])]
        assert np.round(summary, 2) == pytest.approx(expected, abs=0.01 + 1e-9)


def test_table_2(real_data):
    data = read(real_data / "pkdd12")
    assert data.records.sizes == (184, 420)
    published = {"a": (0.0162, 0.007, -0.2405), "b": (0.0122, 0.0366, -0.1728)}
    for file, (density, clustering, assortativity) in published.items():
        figures = data.figures(file)
        assert round(figures.density, 4) == pytest.approx(density, abs=1e-4 + 1e-9)
        assert round(figures.clustering, 4) == pytest.approx(clustering, abs=1e-3 if file == "a" else 1e-4 + 1e-9)
        assert round(figures.assortativity, 4) == pytest.approx(assortativity, abs=1e-4 + 1e-9)


@pytest.mark.parametrize(
    "name", ["highschool", "aucs_work_lunch", "aucs_facebook_lunch", "citeseer", "foursquare_twitter", "acm_dblp"]
)
def test_the_other_data_can_be_read(real_data, name):
    data = read(real_data / name)
    assert all(data.figures(file).ties > 0 for file in data.files)
