"""The report in a real browser: it opens without complaint, and search, sort, filter, pages and pictures work."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import tielink as tl
from browser import Browser, executable
from large_result import NASTY, large_result
from posteriors import posterior_of
from tielink.report.evidence import Evidence
from tielink.simulate.people import people

ROWS = "document.querySelectorAll('#links-table tr.row')"
CELL = "document.querySelector('#links-table tr.row td').textContent"


@pytest.fixture(scope="module")
def browser():
    executable()
    found = Browser()
    yield found
    found.close()


@pytest.fixture(scope="module")
def linked(tmp_path_factory) -> Path:
    """The page of a small run with fields, ties, anchors and a truth."""
    made = tl.simulate.scenario(np.random.default_rng(3), sizes={"a": 30, "b": 25}, overlap=15, anchors=0.2)
    folder = tmp_path_factory.mktemp("linked")
    result = tl.link(made.dataset, truth=made.truth, chains=2, warmup=60, draws=60, workers=0)
    return result.report(folder / "report.html")


@pytest.fixture(scope="module")
def large(tmp_path_factory) -> Path:
    return large_result().report(tmp_path_factory.mktemp("large") / "report.html")


def type_in(browser: Browser, text: str) -> None:
    browser.ask(
        f"(() => {{ const box = document.querySelector('#links-table input'); box.value = {text!r};"
        "box.dispatchEvent(new Event('input')); })()"
    )


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (1280, True), (390, False)])
def test_the_page_opens_without_complaint_and_asks_nobody_for_anything(browser, linked, tmp_path, width, dark):
    browser.open(linked, width=width, dark=dark)
    assert browser.ask("document.querySelectorAll('svg').length") >= 7
    assert browser.ask("document.documentElement.scrollWidth") == width, "only tables may scroll sideways"
    light = browser.ask("getComputedStyle(document.body).backgroundColor")
    assert (light == "rgb(18, 21, 26)") == dark
    browser.picture(tmp_path / "page.png", whole=True)
    assert (tmp_path / "page.png").stat().st_size > 20_000
    assert browser.errors == []
    assert [url for url in browser.requests if not url.startswith(("file:", "data:"))] == []


def test_a_row_opens_to_say_why_and_who_is_around(browser, linked):
    browser.open(linked)
    count = browser.ask("document.querySelectorAll('#links-table svg').length")
    browser.ask("[...document.querySelectorAll('#links-table tr.row')].find(r => /link/.test(r.textContent)).click()")
    assert count == 0
    assert browser.ask("document.querySelectorAll('#links-table tr.why svg').length") == 2
    said = browser.ask("document.querySelector('#links-table tr.why').textContent")
    for expected in ("prior", "username", "ties", "log-odds", "Around the two"):
        assert expected in said
    assert browser.errors == []


def test_pointing_at_an_account_finds_its_partner(browser, linked):
    browser.open(linked)
    browser.ask("document.querySelector('#network-0 .dot:not(.none)').dispatchEvent(new Event('pointerenter'))")
    assert "=" in browser.ask("document.getElementById('pointed').textContent")
    lit = browser.ask("[...document.querySelectorAll('#network-maps .hot')].map(n => n.dataset.person)")
    assert len(lit) == 2
    assert len(set(lit)) == 1


MARK = "document.querySelector('{} .marks button{}')"
PRESSED = "document.querySelectorAll('[aria-pressed=true]').length"


def test_any_pair_can_be_marked_and_marks_survive_a_reload(browser, linked):
    browser.open(linked)
    browser.ask("localStorage.clear()")
    browser.open(linked)
    if not browser.ask("Boolean(document.getElementById('review'))"):
        pytest.fail("the example leaves no pair in doubt: choose another")
    assert browser.ask("document.getElementById('save-marks').disabled")
    browser.ask(MARK.format("#review-table", "") + ".click()")
    browser.ask("document.querySelector('#links-table tr.row').click()")
    browser.ask(MARK.format("#links-table tr.why", ":nth-child(2)") + ".click()")
    assert "2 marked" in browser.ask("document.getElementById('marked').textContent")
    time.sleep(1.0)  # the browser hands what is stored from process to process within moments, not at once
    browser.open(linked)
    assert "2 marked" in browser.ask("document.getElementById('marked').textContent")
    assert browser.ask(PRESSED) == 1
    browser.ask("document.querySelector('#links-table tr.row').click()")
    assert browser.ask(PRESSED) == 2
    caught = "const caught = []; URL.createObjectURL = (blob) => { caught.push(blob); return '#'; };"
    click = "document.getElementById('save-marks').click();"
    saved = browser.ask(f"(async () => {{ {caught} {click} return await caught[0].text(); }})()")
    assert saved.startswith("file_a,id_a,file_b,id_b,answer\n")
    assert {line.rpartition(",")[2] for line in saved.splitlines()[1:]} == {'"same"', '"different"'}
    browser.ask("localStorage.clear()")
    assert browser.errors == []


def test_a_threshold_says_what_it_would_cost_and_fields_what_they_weigh(browser, linked):
    browser.open(linked)
    said = "document.querySelector('#threshold p').textContent"
    assert "above 0.50" in browser.ask(said)
    assert "expected precision" in browser.ask(said)
    browser.ask(
        "(() => { const slider = document.querySelector('#threshold input'); slider.value = 90;"
        "slider.dispatchEvent(new Event('input')); })()"
    )
    assert "above 0.90" in browser.ask(said)
    assert "username" in browser.ask("document.getElementById('weights').textContent")


def made_result(data: tl.Dataset, labels: np.ndarray) -> tl.Result:
    """Make a result whose draws all say the same, with nothing to explain."""
    result = tl.Result(data, posterior_of(data.records, np.tile(labels, (20, 1))), tl.Linkage(data.records, labels))
    result.__dict__["evidence"] = Evidence({})
    return result


@pytest.fixture(scope="module")
def five_fields(tmp_path_factory) -> Path:
    """The page of two files with five fields of ordinary length, some values missing."""
    frames = people(np.random.default_rng(5), (40, 40), 30, missing=0.2).frames
    data = tl.Dataset.from_frames({name: frame.drop("state", "suburb") for name, frame in frames.items()})
    both = np.arange(80)
    both[40:70] = np.arange(30)
    result = made_result(data, both)
    return result.report(tmp_path_factory.mktemp("five") / "report.html")


def test_five_fields_fit_and_names_stay_whole(browser, five_fields):
    browser.open(five_fields, width=1280)
    sizes = browser.ask(
        "(() => { const s = document.querySelector('#links-table .scroll'); return [s.scrollWidth, s.clientWidth]; })()"
    )
    assert sizes[0] <= sizes[1]
    lines = browser.ask(
        "[...document.querySelectorAll('#links-table td[dir=auto]')].map(td => { const r = document.createRange();"
        "r.selectNodeContents(td); return r.getClientRects().length; })"
    )
    assert set(lines) == {1}


def test_missing_values_are_grey_and_do_not_look_like_disagreement(browser, five_fields):
    browser.open(five_fields)
    cells = "[...document.querySelectorAll('#links-table td')]"
    alone = browser.ask(
        f"{cells}.filter(td => [...td.children].some(s => s.textContent === '–')).map(td => td.innerHTML)"
    )
    assert alone
    assert not any("other" in html for html in alone)


def test_on_a_phone_values_and_buttons_stay_on_screen(browser, five_fields):
    browser.open(five_fields, width=390)
    browser.ask("document.querySelector('#links-table tr.row').click()")
    right = browser.ask(
        "Math.max(...[...document.querySelectorAll('#links-table td, #links-table button, #links-table span')]"
        ".map(e => e.getBoundingClientRect().right))"
    )
    assert right <= 390
    assert browser.errors == []


def test_persons_with_more_records_are_listed_with_all_of_them(browser, tmp_path):
    frames = {name: pl.DataFrame({"id": [1, 2], "name": [f"anna{name}", "bob"]}) for name in "xyz"}
    data = tl.Dataset.from_frames(frames, fields={"name": tl.String()})
    labels = np.array([0, 1, 0, 3, 0, 5])
    result = made_result(data, labels)
    browser.open(result.report(tmp_path / "report.html"))
    assert browser.ask("document.querySelector('#clusters tbody').textContent") == "x: 1y: 1z: 11.00annaxannayannaz"
    assert browser.errors == []


def test_search_sort_filter_and_pages_with_ten_thousand_links(browser, large):
    assert large.stat().st_size < 3_000_000
    browser.open(large)
    assert browser.ask(f"{ROWS}.length") == 25
    assert "page 1 of " in browser.ask("document.querySelector('#links-table .pages').textContent")
    browser.ask("document.querySelectorAll('#links-table .pages button')[1].click()")
    assert "page 2 of " in browser.ask("document.querySelector('#links-table .pages').textContent")

    type_in(browser, "ACCOUNT 00042")
    assert browser.ask(f"{ROWS}.length") == 1
    assert browser.ask(CELL) == "account 00042"
    type_in(browser, "nobody at all")
    assert browser.ask(f"{ROWS}.length") == 0
    type_in(browser, "")

    sort = "document.querySelectorAll('#links-table th button')[{}].click()"
    browser.ask(sort.format(0) + ";" + sort.format(0))
    down = browser.ask(f"[...{ROWS}].map(row => row.cells[0].textContent)")
    browser.ask(sort.format(0))
    up = browser.ask(f"[...{ROWS}].map(row => row.cells[0].textContent)")
    assert down[0] != up[0]
    browser.ask(sort.format(2))
    surest = browser.ask(f"[...{ROWS}].map(row => Number(row.cells[2].textContent))")
    assert surest == sorted(surest, reverse=True)
    browser.ask(sort.format(2))
    least = browser.ask(f"[...{ROWS}].map(row => Number(row.cells[2].textContent))")
    assert least == sorted(least)
    assert least[-1] < surest[-1]

    browser.ask(
        "(() => { const box = document.querySelector('#links-table select'); box.value = '2';"
        "box.dispatchEvent(new Event('change')); })()"
    )
    assert set(browser.ask(f"[...{ROWS}].map(row => row.cells[3].textContent)")) == {"no link"}
    start = browser.ask("performance.now()")
    type_in(browser, "account 09")
    assert browser.ask("performance.now()") - start < 3_000
    assert browser.errors == []


def test_drawings_of_large_networks_are_capped_and_say_so(browser, large):
    browser.open(large)
    assert browser.ask("document.querySelectorAll('#network-0 .dot').length") == 400
    assert "400 of 10,000 records are drawn" in browser.ask("document.getElementById('networks').textContent")
    assert "pairs most in doubt are explained" in browser.ask("document.getElementById('links').textContent")


def test_names_that_look_like_code_stay_names(browser, large):
    browser.open(large)
    assert browser.ask("document.title") == "tielink: left and right"
    for name in NASTY:
        type_in(browser, name)
        found = browser.ask(f"[...{ROWS}].map(row => row.cells[0].textContent)")
        assert name in found
    browser.ask(f"{ROWS}[0].click()")
    assert browser.ask("document.querySelectorAll('img').length") == 0
    assert browser.errors == []


FIXED = tl.EwensPitman(concentration=1.0, discount=0.5)


def page_of(frames, draws, path, anchors=(), ties=None, fields=None, linkage=None) -> Path:
    data = tl.Dataset.from_frames(frames, ties, fields=fields or {}, anchors=list(anchors))
    posterior = replace(posterior_of(data.records, draws), model=tl.Model(network=None, linkage=linkage))
    return tl.Result.of(posterior, data).report(path)


@pytest.mark.parametrize("case", ["nobody linked", "one file", "three files", "one record each"])
def test_unusual_results_have_a_page_too(browser, tmp_path, case):
    import polars as pl

    files = {name: pl.DataFrame({"id": ["x", "y", "z"]}) for name in "abc"}
    path = tmp_path / "report.html"
    if case == "nobody linked":
        page_of({name: files[name] for name in "ab"}, np.tile(np.arange(6), (10, 1)), path)
    elif case == "one file":
        page_of({"a": files["a"]}, np.tile([0, 0, 2], (10, 1)), path, linkage=FIXED)
    elif case == "three files":
        page_of(files, np.tile([0, 1, 2, 0, 1, 5, 0, 7, 8], (10, 1)), path)
    else:
        page_of({name: files[name][:1] for name in "ab"}, np.zeros((10, 2), dtype=int), path)
    browser.open(path)
    assert browser.errors == []
    rows = {"nobody linked": 0, "one file": 1, "three files": 4, "one record each": 1}[case]
    assert browser.ask(f"{ROWS}.length") == rows
    if rows:
        browser.ask(f"{ROWS}[0].click()")
    assert browser.errors == []
