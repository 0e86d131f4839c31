"""Pictures: what they show is what the data say."""

from __future__ import annotations

import sys
from dataclasses import replace

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.colors import to_hex

import tielink as tl
from made_posteriors import posterior
from tielink.faults import InputError
from tielink.plot.layout import NetworkLayout, aligned_positions, force_layout, network_layouts, person_colours
from tielink.plot.style import ramp
from tielink.select.compare import Comparison
from tielink.select.criteria import Criterion

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _closed():
    import matplotlib.pyplot as plt

    yield
    plt.close("all")


def labels(chains=2, draws=12):
    """Draws in which a0–b0 is always one person, and a1–b1 in every second draw."""
    one = np.arange(6)
    one[3] = 0
    two = one.copy()
    two[4] = 1
    return np.tile([one, two], (chains, draws // 2, 1))


@pytest.fixture
def data() -> tl.Dataset:
    frames = {name: pl.DataFrame({"id": [f"{name}{i}" for i in range(3)]}) for name in "ab"}
    ties = {name: [(f"{name}0", f"{name}1"), (f"{name}1", f"{name}2")] for name in "ab"}
    return tl.Dataset.from_frames(frames, ties, fields={})


def test_matched_accounts_have_the_same_colour_and_others_do_not(data):
    drawn = posterior(labels(), network=True)
    links = tl.Linkage.from_pairs(data, [("a0", "b2"), ("a1", "b1")])
    figure = tl.plot.networks(data, links, drawn, labels=2)
    left, right = ([to_hex(c) for c in axes.collections[1].get_facecolors()] for axes in figure.axes)
    assert len(set(left)) == 2
    # Linked accounts are drawn in the order of the file: a0, a1 on the left; b1, b2 on the right.
    assert left == right[::-1]
    assert "2 linked" in figure.axes[0].get_title()


def test_ties_that_linked_persons_share_are_thick(data):
    """a0-a1 and b1-b2 are ties of the same two persons; a1-a2 and b0-b1 are not shared."""
    links = tl.Linkage.from_pairs(data, [("a0", "b2"), ("a1", "b1")])
    assert [one.shared.tolist() for one in network_layouts(data, links, None, 9)] == [[True, False], [False, True]]
    alone = tl.Linkage.from_pairs(data, [("a0", "b2")])
    assert not any(one.shared.any() for one in network_layouts(data, alone, None, 9))
    widths = [[line.get_linewidth() for line in axes.lines] for axes in tl.plot.networks(data, links).axes]
    assert widths[0][0] > 2 * widths[0][1]
    assert widths[1][1] > 2 * widths[1][0]


def test_networks_without_ties_are_refused():
    data = tl.Dataset.from_frames({name: pl.DataFrame({"id": [1]}) for name in "ab"}, fields={})
    with pytest.raises(InputError, match="no file has a network"):
        tl.plot.networks(data, tl.Linkage.from_pairs(data, []))


def test_left_out_records_are_said(data):
    links = tl.Linkage.from_pairs(data, [("a2", "b0")])
    assert "2 of 3 records" in tl.plot.networks(data, links, most=2).axes[0].get_title()
    assert network_layouts(data, links, None, 2)[0].records.tolist() == [1, 2], (
        "the linked one, then the best connected"
    )


def test_turned_and_mirrored_draws_are_laid_onto_each_other(rng):
    place = rng.normal(size=(6, 2))
    drawn = posterior(labels(), network=True)
    positions = np.empty((2, 12, 6, 2))
    for chain in range(2):
        for draw in range(12):
            turn, _ = np.linalg.qr(rng.normal(size=(2, 2)))
            positions[chain, draw] = place @ turn + rng.normal(size=2)
    drawn = replace(drawn, network=replace(drawn.network, positions=positions))
    found = aligned_positions(drawn)
    apart = np.linalg.norm(found[:, None] - found[None], axis=2)
    assert apart == pytest.approx(np.linalg.norm(place[:, None] - place[None], axis=2), abs=1e-6)


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_latent_spaces_of_any_dimension_are_drawn(rng, dimension):
    drawn = posterior(labels(), network=True)
    positions = rng.normal(size=(2, 12, 6, dimension))
    drawn = replace(drawn, network=replace(drawn.network, positions=positions))
    axes = tl.plot.positions(drawn, tl.estimate(drawn), labels=2)
    assert sum(len(points.get_offsets()) for points in axes.collections) == 6
    assert ("2 of 3 dimensions" in axes.get_title()) == (dimension == 3)


def test_positions_need_a_network():
    with pytest.raises(InputError, match="no latent space"):
        tl.plot.positions(posterior(labels()))


def test_ties_pull_nodes_together_and_places_are_on_the_page():
    ties = np.array([[0, 1], [2, 3]])
    places = force_layout(5, ties)
    gap = np.linalg.norm(places[:, None] - places[None], axis=2)
    assert max(gap[0, 1], gap[2, 3]) < min(gap[0, 2], gap[0, 3], gap[1, 2], gap[1, 3])
    assert np.abs(places).max() == pytest.approx(1)
    assert np.array_equal(places, force_layout(5, ties)), "the same picture every time"
    assert force_layout(0, np.empty((0, 2), dtype=int)).shape == (0, 2)


def test_the_histogram_counts_every_pair_once():
    drawn = posterior(labels())
    axes = tl.plot.pairs(drawn)
    assert sum(bar.get_height() for bar in axes.patches) == 1, "a1–b1; the anchor a0–b0 is left out"
    truth = tl.Linkage.from_pairs(drawn.records, [("a1", "b1")])
    assert [text.get_text() for text in tl.plot.pairs(drawn, truth).get_legend().texts] == [
        "true matches",
        "no matches",
    ]


def test_a_trace_has_a_line_for_each_chain():
    figure = tl.plot.trace(posterior(labels(chains=3)))
    assert [len(axes.lines) for axes in figure.axes] == [3, 3]


def test_a_trace_shows_the_share_of_common_ties(rng):
    drawn = replace(posterior(labels()), sharing=rng.random((2, 12)))
    assert [axes.get_ylabel() for axes in tl.plot.trace(drawn).axes][-1] == "share of common ties"
    assert "share of common ties" in drawn.diagnose().rhat


def test_records_and_persons_most_in_doubt_first():
    drawn = posterior(labels())
    links = tl.Linkage.from_pairs(drawn.records, [("a0", "b0"), ("a1", "b1")])
    texts = [text.get_text() for text in tl.plot.bipartite(links, drawn).texts]
    assert texts.index("a1") < texts.index("a0")
    assert "0.50" in texts
    assert "1 of 2 linked persons" in tl.plot.bipartite(links, drawn, most=1).get_title()
    assert "0 linked persons" in tl.plot.bipartite(tl.Linkage.from_pairs(drawn.records, [])).get_title()


def test_calibration_shows_the_share_of_true_pairs():
    drawn = posterior(labels())
    truth = tl.Linkage.from_pairs(drawn.records, [("a0", "b0"), ("a1", "b1")])
    axes = tl.plot.calibration(tl.evaluate(drawn, truth, resamples=0))
    assert axes.collections[-1].get_offsets().tolist() == [[0.5, 1.0]]
    links = tl.estimate(drawn)
    with pytest.raises(InputError, match="no probabilities"):
        tl.plot.calibration(tl.evaluate(links, truth, resamples=0))


def test_model_choice_shows_the_difference_from_the_best(rng):
    criteria = {k: {"waic": Criterion("waic", gap + rng.normal(size=50), 1.0)} for k, gap in ((2, 0.0), (1, 3.0))}
    found = Comparison("waic", criteria)
    axes = tl.plot.waic(found)
    values = dict(zip([text.get_text() for text in axes.get_xticklabels()], axes.lines[-2].get_ydata(), strict=False))
    assert values["2"] == 0
    assert values["1"] == pytest.approx(found.table()["difference"].max())


def test_colours_follow_the_order_across_the_first_picture():
    """Three linked persons; the second picture adds the last one, and does not change the colours of the others."""
    ties, shared = np.empty((0, 2), dtype=np.int64), np.empty(0, dtype=bool)
    first = NetworkLayout(0, np.array([0, 1]), np.array([[0.3, 0.0], [-1.0, 0.0]]), ties, shared)
    second = NetworkLayout(1, np.array([2, 3]), np.array([[5.0, 0.0], [0.9, 0.0]]), ties, shared)
    persons = np.array([0, 1, 1, 2])
    assert person_colours([first, second], persons) == [ramp(0.5), ramp(0.0), ramp(1.0)]
    assert person_colours([], np.array([-1])) == []


def test_what_to_install_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(InputError, match=r"pip install 'tielink\[plot\]'"):
        tl.plot.trace(posterior(labels()))
