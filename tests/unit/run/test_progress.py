"""Progress that can be read on a terminal of 80 columns and in a log, with a forecast once the pace is known."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from tielink.project import Run
from tielink.run import progress as shown
from tielink.run.worker import Progress

FOUR = Run(chains=4, warmup=1000, draws=1000)


@pytest.fixture
def clock(monkeypatch):
    """A clock that tests set."""
    now = [100.0]
    monkeypatch.setattr(shown.time, "monotonic", lambda: now[0])
    return now


def swept(done: int, phase: str = "sampling", chain: int = 0) -> Progress:
    return Progress(chain, phase, done, 2000, 12_345, 67_890, 350)


def test_a_terminal_of_80_columns_shows_pace_time_left_and_persons():
    for told in (swept(1340), swept(70, "learning how much ties weigh"), Progress(0, "loading")):
        out = io.StringIO()
        display = shown._Bars(FOUR, Console(file=out, width=80, force_terminal=True, color_system=None))
        display.report(told)
        display.report(told)
        display.bars.console.print(display.bars.get_renderable())
        lines = out.getvalue().splitlines()
        assert max(map(len, lines)) <= 80
        assert "…" not in out.getvalue()
        assert told.persons is None or "N 12,345" in lines[0]


def test_a_log_gets_a_line_now_and_then_with_the_time_left(clock):
    out = io.StringIO()
    display = shown._Lines(replace(FOUR, chains=2), Console(file=out, width=80))
    with display as report:
        report(Progress(0, "loading"))
        report(Progress(1, "loading"))
        report(swept(1, "warm-up"))
        for second in range(1, 41):
            clock[0] = 100.0 + second
            report(swept(1 + 20 * second, "warm-up"))
    lines = out.getvalue().splitlines()
    assert lines[0] == "loading"
    assert lines.count("loading") == 1
    assert len(lines) <= 7
    assert "warm-up: 601 of 4,000 sweeps, about 3 min left, N 12,345" in lines


@pytest.mark.parametrize(
    ("run", "after"),
    [(FOUR, ""), (Run(warmup=1875, minutes=3), ", then on until all has settled, for 3 min at most")],
)
def test_the_forecast_comes_once_from_the_first_seconds(clock, run, after):
    out = io.StringIO()
    display = shown._Lines(run, Console(file=out, width=80))
    with display as report:
        report(swept(0))
        for second in range(1, 9):
            clock[0] = 100.0 + second
            report(swept(10 * second))
    said = [line for line in out.getvalue().splitlines() if line.startswith("Forecast")]
    assert said == [
        f"Forecast: 67,890 candidate pairs; 4 × 2,000 sweeps take about 13 min more{after}; 350 MB for each process."
    ]


def test_time_spent_compiling_is_no_part_of_the_pace(clock):
    out = io.StringIO()
    display = shown._Lines(FOUR, Console(file=out, width=80))
    with display as report:
        report(swept(1))
        report(Progress(0, "compiling (once; kept for later runs)"))
        clock[0] += 60.0
        for second in range(1, 9):
            clock[0] += 1.0
            report(swept(10 * second))
    assert "4 × 2,000 sweeps take about 13 min more" in out.getvalue()
