"""What a posterior says of its draws, against counting by hand."""

from __future__ import annotations

import subprocess
import sys
import warnings
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import tielink as tl
from made_posteriors import posterior
from partitions import pairings

LABELS = arrays(np.int64, st.tuples(st.integers(1, 3), st.integers(1, 12), st.just(6)), elements=st.integers(0, 5))


@given(labels=LABELS)
def test_pairs_clusters_and_persons_are_counts_over_draws(labels):
    made = posterior(labels)
    flat = labels.reshape(-1, 6)
    expected = {
        (a, b): float(np.mean(flat[:, a] == flat[:, b]))
        for a, b in combinations(range(6), 2)
        if (flat[:, a] == flat[:, b]).any()
    }
    found = made.pair_probabilities
    assert {tuple(p): q for p, q in zip(found.pairs.tolist(), found.probability, strict=True)} == pytest.approx(
        expected
    )
    assert list(found.probability) == sorted(found.probability, reverse=True)
    numbers = [len(set(row)) for row in flat.tolist()]
    assert made.persons().mean == pytest.approx(np.mean(numbers))
    assert made.persons().sd == pytest.approx(np.std(numbers))
    assert [linkage.persons for linkage in made.draws()] == numbers
    groups = {}
    for row in flat:
        for label in set(row.tolist()):
            members = tuple(np.flatnonzero(row == label).tolist())
            if len(members) > 1:
                groups[members] = groups.get(members, 0) + 1 / len(flat)
    assert {
        tuple(made.records.number(record) for record in group): share for group, share in made.clusters()
    } == pytest.approx(groups)


def test_monte_carlo_errors_know_slow_chains():
    rng = np.random.default_rng(3)
    quick = rng.random((4, 400)) < 0.5
    slow = np.repeat(rng.random((4, 10)) < 0.5, 40, axis=1)
    for linked, low, high in ((quick, 0.008, 0.018), (slow, 0.04, 0.15)):
        labels = np.tile(np.arange(6), (4, 400, 1))
        labels[:, :, 3] = np.where(linked, 0, 3)
        error = posterior(labels).pair_probabilities.error
        assert low < error[0] < high
    assert np.isnan(posterior(np.zeros((1, 1, 6), dtype=int)).pair_probabilities.error).all()


def test_frames_come_back_in_their_kind():
    from dataclasses import replace

    labels = np.zeros((1, 4, 6), dtype=int)
    made = replace(posterior(labels, network=True), frame_kind="pandas")
    assert isinstance(made.pairs(), pd.DataFrame)
    assert list(made.pairs().columns) == ["file_a", "id_a", "file_b", "id_b", "probability", "mcse"]
    assert set(made.predictive_checks()["figure"]) <= {
        "density",
        "clustering",
        "assortativity",
        "degree sd",
        "isolated",
    }
    assert len(posterior(labels).predictive_checks()) == 0


def test_saved_and_loaded_is_the_same(tmp_path):
    rng = np.random.default_rng(0)
    linkages = list(pairings([0, 0, 0, 1, 1, 1]))
    labels = np.array(linkages)[rng.integers(0, len(linkages), (2, 50))]
    for network in (True, False):
        made = posterior(labels, network=network)
        made.save(tmp_path / "p.nc")
        loaded = tl.Posterior.load(tmp_path / "p.nc")
        assert (loaded.person == made.person).all()
        assert loaded.records == made.records
        assert (loaded.model, loaded.run, loaded.moves, loaded.rates) == (
            made.model,
            made.run,
            made.moves,
            made.rates,
        )
        assert loaded.notes == made.notes
        for name in ("log_likelihood", "intercepts", "spread", "distortion", "proposed", "accepted", "anchors"):
            assert np.array_equal(getattr(loaded, name), getattr(made, name)), name
        assert np.allclose(loaded.fields["place"], made.fields["place"])
        assert (loaded.network is None) == (made.network is None)
        assert loaded.pairs().equals(made.pairs())
        assert str(loaded.diagnose()) == str(made.diagnose())
    assert [path.name for path in tmp_path.iterdir()] == ["p.nc"], "no drafts are left behind"


def test_arviz_and_xarray_open_it(tmp_path):
    xarray = pytest.importorskip("xarray")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        arviz = pytest.importorskip("arviz")
        made = posterior(np.random.default_rng(1).integers(0, 6, (2, 30, 6)), network=True)
        made.save(tmp_path / "p.nc")
        opened = arviz.from_netcdf(tmp_path / "p.nc")
        assert float(arviz.rhat(opened.posterior["persons"])["persons"]) > 0
    with xarray.open_datatree(tmp_path / "p.nc", engine="h5netcdf") as tree:
        assert (tree["posterior"]["persons"].values == made.number_of_persons).all()


def test_ten_thousand_draws_of_six_hundred_records_take_a_few_megabytes(tmp_path):
    rng = np.random.default_rng(0)
    person = np.tile(np.arange(604), (4, 2_500, 1))
    for _ in range(20):  # some pairs come and go slowly, as in a chain
        a, b = rng.integers(0, 184), rng.integers(184, 604)
        on = np.repeat(rng.random((4, 25)) < 0.5, 100, axis=1)
        person[on, b] = a
    from dataclasses import replace

    small = posterior(np.zeros((4, 2_500, 6), dtype=int))
    records = tl.Dataset.from_frames(
        {"x": pd.DataFrame({"id": range(184)}), "y": pd.DataFrame({"id": range(420)})}, fields={}
    )
    replace(small, records=records.records, person=person).save(tmp_path / "p.nc")
    assert (tmp_path / "p.nc").stat().st_size < 3_000_000


def test_what_is_no_posterior_is_said(tmp_path):
    (tmp_path / "text.nc").write_text("not a posterior")
    with pytest.raises(tl.InputError, match="is not a posterior that tielink saved"):
        tl.Posterior.load(tmp_path / "text.nc")
    with pytest.raises(tl.InputError, match="there is no such file"):
        tl.Posterior.load(tmp_path / "nowhere.nc")


def test_a_saved_posterior_opens_without_numba(tmp_path):
    posterior(np.zeros((1, 5, 6), dtype=int)).save(tmp_path / "p.nc")
    code = (
        "import sys; sys.modules['numba'] = None; import tielink as tl; "
        f"print(tl.Posterior.load({str(tmp_path / 'p.nc')!r}).persons())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "1.0 persons" in done.stdout


def test_diagnoses_say_what_is_wrong():
    rng = np.random.default_rng(0)
    agree = np.tile(np.arange(6), (4, 400, 1))
    agree[:, :, 3] = np.where(rng.random((4, 400)) < 0.4, 0, 3)
    from dataclasses import replace

    good = replace(posterior(agree), notes=())
    assert good.diagnose().converged
    assert "The chains agree" in str(good.diagnose())
    apart = agree.copy()
    apart[0, :, 3:] = [0, 1, 2]
    bad = replace(posterior(apart), notes=()).diagnose()
    assert not bad.converged
    assert bad.rhat["persons N"] > 1.05
    assert "do not agree on the number of persons" in str(bad)
    assert "one chain cannot disagree" in str(replace(posterior(agree[:1]), notes=()).diagnose())
    assert "only 50 draws" in str(posterior(agree[:, :50]).diagnose())
