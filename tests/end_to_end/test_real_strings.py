"""Strings alone on real data: what the benchmark prints holds, with shorter chains."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from tielink.data.sources import Sources


def linked(folder, field, kind, draws):
    sources = Sources(folder, {"a": "nodes_a.csv", "b": "nodes_b.csv"}, {}, fields={field: kind}, truth="truth.csv")
    data = tl.Dataset.checked(*sources.load())
    truth = sources.read_truth(data)
    model = tl.Model(network=None, linkage=tl.MatchRate(1, 1))
    posterior = tl.sample(model, data, chains=2, warmup=draws, draws=draws, seed=2, workers=0)
    return posterior, truth, tl.evaluate(tl.estimate(posterior, tl.Binder()), truth, resamples=0)


def test_usernames(real_data):
    _, _, found = linked(real_data / "pkdd12", "username", tl.String(), 150)
    assert float(found.f1) > 0.64
    _, _, closed = linked(real_data / "pkdd12", "username", tl.String(vocabulary="closed"), 150)
    assert float(closed.recall) == 0, "the paper's field under a size-aware prior links nobody"


@pytest.mark.long
def test_author_names(real_data):
    posterior, truth, found = linked(real_data / "citeseer", "name", tl.PersonName(), 300)
    assert float(found.f1) > 0.9
    draws = posterior.person.reshape(-1, posterior.person.shape[-1])
    low, high = np.quantile([len(np.unique(draw)) for draw in draws], [0.025, 0.975])
    print(f"citeseer: F1 {float(found.f1):.3f}, persons {low:.0f} to {high:.0f}, in truth {truth.persons}")
    assert low <= truth.persons <= high
