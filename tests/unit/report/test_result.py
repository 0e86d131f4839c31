"""Results: decisions, tables, words, and what the page is told."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import posterior_of
from tielink.report import evidence
from tielink.report.content import page_content
from tielink.report.page import page, script_json
from tielink.report.words import effective_words, rhat_words


def result_of(draws, frames=None, anchors=(), truth=None, **more) -> tl.Result:
    frames = frames or {
        "a": pl.DataFrame({"id": ["a0", "a1", "a2"]}),
        "b": pl.DataFrame({"id": ["b0", "b1", "b2"]}),
    }
    data = tl.Dataset.from_frames(frames, fields={}, anchors=list(anchors))
    draws = np.asarray(draws)
    pairs = data.anchors.pair_numbers.tolist()
    known = None if truth is None else tl.Linkage.from_pairs(data, truth)
    return tl.Result.of(posterior_of(data.records, draws, pairs), data, truth=known, **more)


def draws(*shares: float, count: int = 20) -> np.ndarray:
    """Draws in which a_i–b_i is one person in the given share of draws."""
    labels = np.tile(np.arange(6), (count, 1))
    for place, share in enumerate(shares):
        labels[: round(share * count), 3 + place] = place
    return labels


def test_pairs_are_known_linked_or_not_and_those_in_doubt_are_for_review():
    found = result_of(draws(1.0, 0.6, 0.3), anchors=[("a0", "b0")]).links()
    assert found.select("id_a", "decision", "review").rows() == [
        ("a0", "known", "no"),
        ("a1", "link", "yes"),
        ("a2", "no link", "yes"),
    ]


def test_pairs_that_are_out_of_the_question_are_not_listed():
    assert result_of(draws(1.0, 0.05)).links()["id_a"].to_list() == ["a0"]


def test_dear_false_links_leave_pairs_unlinked():
    found = result_of(draws(0.6), loss=tl.Binder(false_link=3)).links()
    assert found["decision"].to_list() == ["no link"]


def test_persons_have_a_merged_profile_and_the_probability_of_the_whole():
    frames = {
        name: pl.DataFrame({"id": [1, 2], "name": values})
        for name, values in {"x": ["anna", None], "y": ["ana", "bo"], "z": ["ana", "cy"]}.items()
    }
    data = tl.Dataset.from_frames(frames, fields={"name": tl.String()})
    labels = np.tile([0, 1, 0, 3, 0, 5], (10, 1))
    labels[:3] = [0, 1, 0, 3, 4, 5]
    posterior = posterior_of(data.records, labels)
    links = tl.Linkage.from_clusters(data, [[("x", 1), ("y", 1), ("z", 1)]])
    row = tl.Result(data, posterior, links).profiles().row(0, named=True)
    assert row == {
        "person": 1, "records": 3, "probability": 0.7, "id_x": "1", "id_y": "1", "id_z": "1",
        "value_name": "ana", "other_name": "anna",
    }  # fmt: skip


def test_nobody_linked_still_has_tables_and_words():
    found = result_of(draws())
    assert found.links().height == found.profiles().height == 0
    assert "That is an answer" in str(found)
    assert "0 links were found" in str(found)


def test_the_verdict_says_what_the_model_expects_of_itself():
    said = str(result_of(draws(1.0, 0.6), truth=[("a0", "b0")]))
    assert "1 of the 2 has a probability of at least 0.9" in said
    assert "expects 1.6 to be correct" in said
    assert "recall 1.00" in said
    assert "precision 0.50" in said


def test_a_shortened_run_is_an_interrupted_one():
    from dataclasses import replace

    whole = result_of(draws(1.0))
    part = replace(whole, posterior=replace(whole.posterior, ended="interrupted"))
    assert not whole.interrupted
    assert part.interrupted
    assert "stopped early" in page(part)
    doubtful = result_of(draws(0.55))
    late = replace(doubtful, posterior=replace(doubtful.posterior, ended="out of time"))
    assert "The 10 minutes were used up" in str(late)


def test_texts_cannot_leave_the_script_and_come_back_whole():
    texts = ["</script>", "<!--", "a&b", "\u2028", 'quo"te', "\\", "😀"]
    written = script_json(texts)
    assert not set("<>&\u2028") & set(written)
    assert json.loads(written) == texts
    assert json.loads(script_json("\ud800")) == "?"


def test_user_texts_in_the_page_are_escaped():
    frames = {"<b>": pl.DataFrame({"id": ["<i>x</i>"]}), "b": pl.DataFrame({"id": ["y"]})}
    html = page(result_of(np.zeros((4, 2), dtype=int), frames))
    assert "<b>:" not in html
    assert "<i>x" not in html
    assert "&lt;b&gt;" in html


def test_only_so_many_pairs_are_explained_those_in_doubt_first(monkeypatch):
    monkeypatch.setattr(evidence, "MOST", 1)
    monkeypatch.setattr(evidence, "LEAST", 1)
    found = result_of(draws(1.0, 0.6, 0.95))
    assert list(found.evidence.explanations) == [(1, 4)]
    assert "1 pairs most in doubt" in found.evidence.left_out
    why = page_content(found)["links"]["why"]
    assert [parts is not None for parts in why] == [False, False, True]


def test_evidence_adds_up_to_the_log_odds():
    found = result_of(draws(0.75, count=100))
    (parts,) = page_content(found)["links"]["why"]
    assert sum(parts) == pytest.approx(np.log(3), abs=0.02)


def test_prior_and_posterior_of_the_number_of_persons_are_distributions():
    count = page_content(result_of(draws(1.0, 0.5)))["count"]
    assert count["n"] == [4, 5]
    assert sum(count["posterior"]) == pytest.approx(1)
    assert sum(count["prior"]["p"]) == pytest.approx(1, abs=1e-4)
    assert count["prior"]["n"] == [3, 4, 5, 6]


def test_figures_have_words():
    assert [rhat_words(value) for value in (1.0, 1.03, 1.1, 2.0, float("nan"))] == [
        "chains agree",
        "chains agree well enough",
        "chains still differ a little",
        "chains disagree",
        "cannot be told",
    ]
    assert [effective_words(value, 4) for value in (500, 250, 20)] == ["plenty", "enough", "few"]


def test_an_audit_stands_in_the_report(tmp_path):
    from tielink.evaluation.audit import Audit

    frames = {name: pl.DataFrame({"id": ["x", "y"]}) for name in "ab"}
    data = tl.Dataset.from_frames(frames, fields={})
    posterior = posterior_of(data.records, np.tile([0, 1, 0, 3], (20, 1)))
    found = Audit(0.9, 0.8, (0.85, 0.95), (0.7, 0.9), 50, True)
    page = tl.Result.of(posterior, data, audit=found).report(tmp_path / "report.html").read_text()
    assert "precision 0.90 (95 % between 0.85 and 0.95)" in page
    assert "<h3>Audit</h3>" in page
    assert "<h3>Audit</h3>" not in tl.Result.of(posterior, data).report(tmp_path / "report.html").read_text()
