"""What notebooks show is well-formed, and texts of users stay texts in it."""

from __future__ import annotations

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest

import tielink as tl
from posteriors import posterior_of
from tielink.notebook import LONGEST_CELL, html_view
from tielink.posterior.diagnosis import Diagnosis

HOSTILE = [
    "<script>alert(1)</script>",
    "</td></table><img src=x onerror=alert(1)>",
    "\"'><b>&amp;",
    "<!--",
    "$x$ \\(y\\)",
]


class Tags(HTMLParser):
    """Counts tags, checks that they close in order, and gathers the text."""

    def __init__(self, markup: str) -> None:
        super().__init__(convert_charrefs=True)
        self.found: set[str] = set()
        self.open: list[str] = []
        self.text = ""
        self.attributes: list[object] = []
        self.comments: list[str] = []
        self.feed(markup)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.found.add(tag)
        self.open.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data

    def handle_comment(self, data):
        self.comments.append(data)


def looked_at(thing: object) -> str:
    """Check that what is shown of a thing is harmless; return its text."""
    tags = Tags(thing if isinstance(thing, str) else thing._repr_html_())  # type: ignore[attr-defined]
    assert not tags.open
    assert not tags.comments
    assert not tags.attributes
    assert tags.found <= {"div", "strong", "table", "tr", "th", "td", "p"}
    return tags.text


@pytest.fixture(scope="module")
def data() -> tl.Dataset:
    frames = {
        f"{HOSTILE[0]}{place}": pl.DataFrame({"id": [f"{text}{place}" for text in HOSTILE], HOSTILE[1]: HOSTILE})
        for place in range(2)
    }
    return tl.Dataset.from_frames(frames, fields={HOSTILE[1]: tl.Categorical()})


@pytest.fixture(scope="module")
def result(data) -> tl.Result:
    labels = np.tile(np.arange(10) % 5, (20, 1))
    labels[:6, 5] = 5
    return tl.Result.of(replace(posterior_of(data.records, labels, chains=2), notes=(HOSTILE[1],)), data)


@pytest.mark.parametrize("text", HOSTILE)
def test_texts_are_escaped_wherever_they_stand(text):
    assert looked_at(html_view(text, [text], [[text]], [text])) == text * 4


def test_long_texts_are_cut():
    assert looked_at(html_view("a", ["b"], [["x" * 10_000]])) == "ab" + "x" * LONGEST_CELL + "…"


def test_a_data_set_shows_its_files_and_fields(data):
    text = looked_at(data)
    assert "10 records" in text
    assert f"Fields: {HOSTILE[1]} (categorical)." in text
    assert all(name in text for name in data.files)


def test_a_result_shows_links_and_the_verdict(result):
    text = looked_at(result)
    assert "5 links" in text
    assert "0.700link" in text
    assert all(f"{hostile}0" in text and f"{hostile}1" in text for hostile in HOSTILE)
    assert str(result).splitlines()[0] in text


def test_a_posterior_shows_credible_intervals_and_its_notes(result):
    text = looked_at(result.posterior)
    assert "2 chains of 10 draws" in text
    assert "95 % credible interval" in text
    assert "persons5.356" in text  # mean 5.3, from 5 to 6
    assert HOSTILE[1] in text


def test_a_diagnosis_shows_its_warnings(result):
    figures: Diagnosis = replace(
        result.diagnosis, rhat={HOSTILE[0]: 1.234}, ess={HOSTILE[0]: 1234.0}, warnings=(HOSTILE[1],)
    )
    text = looked_at(figures)
    assert HOSTILE[0] + "1.2341,234" in text
    assert HOSTILE[1] in text
    assert "1 warning" in text
