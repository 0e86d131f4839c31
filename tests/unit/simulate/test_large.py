import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.simulate import write_large


def test_people_ties_truth_and_project_are_what_was_asked_for(tmp_path):
    path = write_large(np.random.default_rng(1), tmp_path / "big", 3000, 2000, communities=20, anchors=0.1, missing=0.1)
    project = tl.Project.read(path)
    dataset = project.dataset()
    truth = project.sources.read_truth(dataset)
    assert dataset.records.sizes == (3000, 3000)
    assert len(truth.pair_numbers) == 2000
    assert len(dataset.anchors.pair_numbers) == 200
    assert set(dataset.anchors.pairs().rows()) <= set(truth.pairs().rows())
    assert list(dataset.fields) == ["given_name", "surname", "place", "birth_year"]
    for ties in dataset.ties.values():
        assert 2 * len(ties) / 3000 == pytest.approx(10, rel=0.1)
    frames = [pl.read_parquet(tmp_path / "big" / f"{name}.parquet") for name in "ab"]
    assert frames[0]["surname"].null_count() / 3000 == pytest.approx(0.1, abs=0.03)
    a, b = truth.pair_numbers.T
    for field, wrong in (("surname", 0.08), ("place", 0.05), ("birth_year", 0.04)):
        left, right = frames[0][field].gather(a), frames[1][field].gather(b - 3000)
        assert (left != right).mean() == pytest.approx(wrong, abs=0.025)
    shared = {tuple(sorted(tie)) for tie in truth.labels[dataset.ties["a"]].tolist()} & {
        tuple(sorted(tie)) for tie in truth.labels[dataset.ties["b"] + 3000].tolist()
    }
    # Of a's ties some 4 in 9 are between persons of both files, and half of those are shared.
    assert len(shared) / len(dataset.ties["a"]) == pytest.approx(0.5 * 4 / 9, abs=0.06)


def test_what_cannot_be_is_refused(tmp_path):
    with pytest.raises(tl.InputError, match="overlap is 50"):
        write_large(np.random.default_rng(1), tmp_path, 40, 50)
