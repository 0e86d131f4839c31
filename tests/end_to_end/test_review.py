"""The review in a real browser, and a server that is killed: by keyboard, reloaded, in two tabs, with hostile names."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest

from browser import Browser, executable
from reviews import HOSTILE, served, session
from tielink.data.answers import read_answers
from tielink.faults import Faults

READY = "document.querySelectorAll('.card').length > 1 && !document.querySelector('[data-key=u]').disabled"
ASKED = "document.querySelector('.card.asked h2').textContent"
TOLD = "document.getElementById('told').textContent"
COUNT = "Number(document.getElementById('status').textContent.split(' ')[0] || NaN)"


@pytest.fixture(scope="module")
def browser():
    executable()
    found = Browser()
    yield found
    found.close()


def kept(path: Path) -> list:
    faults = Faults()
    found = read_answers(path, faults)
    assert not faults.errors
    return found


def test_a_whole_session_by_keyboard_with_a_reload_in_the_middle(browser, tmp_path):
    made = session(tmp_path / "answers.csv")
    with served(made) as server:
        browser.open(server.address)
        browser.wait(READY)
        assert browser.ask("getComputedStyle(document.querySelector('.believed')).display") == "none"
        place = (
            "JSON.stringify([...document.querySelectorAll('#buttons button')].map(b => b.getBoundingClientRect().x))"
        )
        buttons = browser.ask(place)
        first = browser.ask(ASKED)
        browser.open(server.address)
        browser.wait(READY)
        assert browser.ask(ASKED) == first, "a reload shows the same question"
        for number, key in enumerate(("1", "0", "u", "1"), 1):
            if not browser.ask(READY):
                break
            browser.press(key)
            browser.wait(f"{COUNT} === {number} && !document.querySelector('[data-key=z]').disabled")
            assert len(kept(made.path)) == number, "on disk before the next question"
            assert browser.ask(place) == buttons, "buttons never move"
        last = browser.ask(COUNT)
        browser.press("z")
        browser.wait(f"{COUNT} === {last - 1} && {READY}")
        assert len(kept(made.path)) == last - 1
        browser.press("?")
        assert browser.ask("document.getElementById('help').open")
        while browser.ask("Boolean(document.querySelector('.card.asked'))"):
            before = browser.ask(COUNT)
            browser.press("1")
            browser.wait(f"{COUNT} === {before + 1} && !document.querySelector('[data-key=z]').disabled")
        assert "Nothing is left" in browser.ask("document.getElementById('question').textContent")
        assert "Saved" in browser.ask(TOLD)
        assert browser.errors == []
        ours = server.address.rpartition("/")[0].rpartition("/")[0]
        assert all(url.startswith((ours, "data:")) for url in browser.requests), "nothing is loaded from elsewhere"


def test_two_tabs_ask_different_things_and_both_are_kept(browser, tmp_path):
    made = session(tmp_path / "answers.csv")
    with served(made) as server:
        browser.open(server.address)
        browser.wait(READY)
        other = "sessionStorage.setItem('tab', 'the other one')"
        first = browser.ask(ASKED)
        browser.ask(other)
        browser.open(server.address)
        browser.wait(READY)
        assert browser.ask(ASKED) != first
        browser.press("0")
        browser.wait(f"{COUNT} === 1")
        browser.ask("sessionStorage.clear()")
        made.answer("elsewhere", made.next("elsewhere"), "none")
        browser.open(server.address)
        browser.wait(f"{COUNT} === 2")
        assert browser.errors == []


def test_names_that_look_like_code_stay_names_and_missing_values_are_grey(browser, tmp_path):
    made = session(tmp_path / "answers.csv")
    with served(made) as server:
        browser.open(server.address)
        for _ in range(4):
            browser.wait(READY)
            before = browser.ask(COUNT)
            browser.press("u")
            browser.wait(f"{COUNT} === {before + 1}")
        assert browser.ask("document.querySelectorAll('img, b.bold, main b:not(#help b)').length") == 0
        browser.ask("document.getElementById('past').open = true")
        said = browser.wait("document.querySelectorAll('#answers td').length && document.body.textContent")
        assert any(name[:20] in said for name in HOSTILE)
        browser.ask("document.getElementById('another').open = true")
        browser.ask("(() => { const s = document.getElementById('search'); s.value = '<img'; "
                    "s.dispatchEvent(new Event('input')); })()")  # fmt: skip
        browser.wait("document.querySelectorAll('#found button').length && !document.querySelector('img')")
        assert browser.errors == []


def test_on_a_phone_everything_stays_on_screen_and_letters_that_differ_are_shaded(browser, tmp_path):
    made = session(tmp_path / "answers.csv")
    with served(made) as server:
        browser.open(server.address, width=390, height=844)
        browser.wait(READY)
        assert browser.ask("document.documentElement.scrollWidth") == 390
        assert browser.ask("document.querySelectorAll('.options mark').length") > 0
        right = "Math.max(...[...document.querySelectorAll('button, .card')].map(e => e.getBoundingClientRect().right))"
        assert browser.ask(right) <= 390
        bottom = "document.querySelector('[data-key=z]').getBoundingClientRect().bottom"
        assert browser.ask(bottom) <= 844, "answers are always in reach"
        browser.ask("document.getElementById('audit').click()")
        browser.wait("!document.getElementById('audited').hidden && question.about === 'audit'")
        assert browser.ask("document.getElementById('show').disabled"), "an audit is blind"
        browser.press("0")
        browser.wait("document.getElementById('audited').textContent.includes('By 1 questions')")
        assert kept(made.path)[0].about == "audit"
        browser.picture(tmp_path / "phone.png")
        assert browser.errors == []


def answer_on(address: str, times: int) -> int:
    """Answer questions over HTTP until the server is gone; return how many answers it said it kept."""
    origin = "/".join(address.split("/")[:3])
    for done in range(times):
        try:
            with urllib.request.urlopen(f"{address}question?tab=t&about=review") as found:
                asked = json.load(found)["asked"]
            if asked is None:
                return done
            body = json.dumps({"tab": "t", "about": "review", "asked": asked, "chosen": "unsure"}).encode()
            request = urllib.request.Request(f"{address}answer", body, {"Origin": origin})
            urllib.request.urlopen(request).read()
        except OSError:
            return done
    return times


@pytest.mark.parametrize("kills", [1, pytest.param(50, marks=pytest.mark.long)])
def test_answers_survive_kills_at_random_moments(tmp_path, kills):
    rng = random.Random(kills)
    program = Path(__file__).parents[1] / "reviews.py"
    environment = os.environ | {"PYTHONPATH": str(program.parent)}
    for kill in range(kills):
        path = tmp_path / f"answers-{kill}.csv"
        with subprocess.Popen(
            [sys.executable, program, path], stdout=subprocess.PIPE, text=True, env=environment
        ) as run:
            address = run.stdout.readline().strip()
            wait = rng.uniform(0.0, 1.5)
            killer = subprocess.Popen([sys.executable, "-c",
                f"import os, time; time.sleep({wait}); os.kill({run.pid}, {int(signal.SIGKILL)})"])  # fmt: skip
            begun = time.monotonic()
            said = answer_on(address, 1000)
            killer.wait()
            if said == 0 and time.monotonic() - begun > 60:
                pytest.fail("the server answered nothing")
            run.kill()
        found = kept(path) if path.exists() else []
        assert len(found) >= said, "what was said to be kept is there"
        after = session(path)
        assert len(after.answers) == len(found)
        asked = after.next("tab")
        if asked is not None:
            after.answer("tab", asked, "unsure")
            assert len(kept(path)) == len(found) + 1, "and a row that was cut off spoils nothing that follows"
