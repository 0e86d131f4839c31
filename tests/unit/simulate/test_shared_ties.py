"""Made networks that share ties: degrees, what is shared, communities, triangles; large ones in seconds."""

from __future__ import annotations

import time

import numpy as np
import pytest

import tielink as tl
from tielink.simulate.shared_ties import Together, draw_shared_ties, shared_ties


def made(seed=1, records=2000, overlap=1500, **options):
    return shared_ties(np.random.default_rng(seed), {"a": records, "b": records}, overlap, fields=(), **options)


def share_in_common(simulated):
    """Return the share of the first file's ties between persons of both files that the second file has, too."""
    first, second = simulated.dataset.ties.values()
    partner = np.full(len(simulated.truth.labels), -1)
    partner[simulated.truth.pair_numbers[:, 0]] = (
        simulated.truth.pair_numbers[:, 1] - simulated.dataset.records.sizes[0]
    )
    ends = partner[first]
    ends = np.sort(ends[(ends >= 0).all(axis=1)], axis=1)
    known = set(map(tuple, second.tolist()))
    return np.mean([tuple(tie) in known for tie in ends.tolist()])


def clustering(simulated):
    return simulated.dataset.figures("a").clustering


def test_degrees_are_as_asked_for_and_uneven():
    for ties in made(ties=8.0).dataset.ties.values():
        degree = np.bincount(ties.ravel(), minlength=2000)
        assert abs(degree.mean() - 8) < 0.6
        assert degree.std() > 1.5 * np.sqrt(8), "people differ in how many ties they have"
        assert (ties[:, 0] < ties[:, 1]).all()
        assert len(np.unique(ties, axis=0)) == len(ties)


@pytest.mark.parametrize("sharing", [0.0, 0.3, 0.9])
def test_the_share_of_common_ties_is_as_asked_for(sharing):
    assert share_in_common(made(sharing=sharing)) == pytest.approx(sharing, abs=0.08)


def test_ties_are_those_of_the_model():
    # One person known by 2 + 2 records, θ different by file: the four cells of a dyad have the model's probabilities.
    theta, sharing = np.array([0.9, 0.7, 0.6, 1.1]), 0.6
    together = Together(np.array([0, 1, 0, 1]), np.array([0, 0, 1, 1]), sharing)
    rng, draws = np.random.default_rng(3), 5_000
    cells = np.zeros((2, 2))
    for _ in range(draws):
        first, second = draw_shared_ties(rng, together, theta)
        cells[len(first), len(second)] += 1
    one, two, common = 0.9 * 0.7, 0.6 * 1.1, sharing * 0.6 * 0.7
    neither = np.exp(-(one + two - common))
    expected = np.array([[neither, np.exp(-one) - neither], [np.exp(-two) - neither, 0.0]])
    expected[1, 1] = 1 - expected.sum()
    assert np.abs(cells / draws - expected).max() < 4 * np.sqrt(0.25 / draws)


def test_a_file_of_its_own_has_nothing_in_common():
    sizes = {"a": 300, "b": 300, "c": 300}
    drawn = shared_ties(np.random.default_rng(1), sizes, 0, fields=(), ties=6.0)
    assert [len(ties) > 600 for ties in drawn.dataset.ties.values()] == [True] * 3


def test_triangles_and_communities_have_an_effect():
    plain, closed, grouped = made(), made(closure=0.4), made(communities=40)
    assert clustering(closed) > 4 * clustering(plain)
    assert clustering(grouped) > 4 * clustering(plain)
    assert share_in_common(closed) == pytest.approx(0.5, abs=0.1), "triangles are shared like other ties"
    together = Together(np.arange(400), np.zeros(400, dtype=np.int64), 0.5)
    together.community = np.arange(400) % 10
    (ties,) = draw_shared_ties(np.random.default_rng(2), together, np.full(400, np.sqrt(8 / 400)))
    within = (together.community[ties[:, 0]] == together.community[ties[:, 1]]).mean()
    assert within == pytest.approx(0.82, abs=0.05)


def test_the_same_seed_gives_the_same_data():
    first, second = (shared_ties(np.random.default_rng(4), closure=0.3, communities=3) for _ in range(2))
    for name in "ab":
        assert (first.dataset.ties[name] == second.dataset.ties[name]).all()
    assert (first.truth.labels == second.truth.labels).all()
    assert first.dataset.columns["surname"].values == second.dataset.columns["surname"].values


def test_a_hundred_thousand_records_take_seconds():
    begin = time.process_time()
    drawn = shared_ties(np.random.default_rng(5), {"a": 50_000, "b": 50_000}, 30_000, communities=500, closure=0.2)
    assert time.process_time() - begin < 20
    assert len(drawn.truth.pair_numbers) == 30_000
    assert all(200_000 < len(ties) < 260_000 for ties in drawn.dataset.ties.values())


def test_memory_is_linear():
    import tracemalloc

    peaks = []
    for records in (5_000, 20_000):
        tracemalloc.start()
        made(records=records, overlap=records // 2, closure=0.2, communities=10)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 5 * peaks[0]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"sharing": 1.0}, "sharing is 1.0"),
        ({"closure": -0.1}, "closure is -0.1"),
        ({"communities": -1}, "communities is -1"),
        ({"overlap": 99}, "overlap is 99"),
        ({"ties": 70}, "ties is 70"),
        ({"fields": ("shoe_size",)}, "fields names shoe_size"),
        ({"sizes": {"a": 9, "b": 9, "c": 9}, "overlap": 3, "ties": 2}, "two files, not 3"),
    ],
)
def test_what_cannot_be_made_is_refused(rng, options, what):
    with pytest.raises(tl.InputError, match=what):
        shared_ties(rng, **options)


@pytest.mark.parametrize("draw", [tl.simulate.from_prior, tl.simulate.scenario])
def test_rates_without_a_prior_are_refused(rng, draw):
    with pytest.raises(tl.InputError, match=r"Use tl\.simulate\.shared_ties"):
        draw(rng, tl.Model(fields={}), {"a": 50, "b": 50}, vocabularies={})
