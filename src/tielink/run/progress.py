"""Progress: a row for each chain on a terminal, lines now and then elsewhere, a forecast once the pace is known."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

from tielink.project import Run
from tielink.run.rounds import nth_round

if TYPE_CHECKING:
    from tielink.run.worker import Progress

__all__ = ["display"]

LINE_SECONDS = 15.0
"""Seconds between lines where there is no terminal."""
PACE_SECONDS = 3.0
"""Seconds of sweeps that a forecast rests on."""


def display(run: Run, wanted: bool | None) -> AbstractContextManager[Callable[[Progress], None]]:
    """Return a context that gives a function to report progress to; it writes to standard error unless not wanted."""
    from rich.console import Console

    if wanted is False:
        return nullcontext(lambda progress: None)
    console = Console(stderr=True, highlight=False)
    return (_Bars if console.is_terminal else _Lines)(run, console)


class _Display:
    """What both kinds know: how far all chains are, how fast, and what that means for the time left."""

    def __init__(self, run: Run, console: Any) -> None:
        self.run, self.chains, self.console = run, run.chains, console
        self.sweeps = nth_round(run, 0).end
        """Sweeps of each chain to the end of its round."""
        self.first: dict[int, int] = {}
        self.done: dict[int, int] = {}
        self.begun = 0.0
        self.foretold = False

    def __enter__(self) -> Callable[[Progress], None]:
        return self.report

    def __exit__(self, *_: object) -> None:
        pass

    def report(self, progress: Progress) -> None:
        """Show where a chain is."""
        now = time.monotonic()
        if progress.persons is None:  # a kernel is compiled, say: the pace is taken anew from the next sweep on
            self.begun = 0.0
        else:
            self.done[progress.chain], self.sweeps = progress.done, progress.total
            if not self.begun:
                self.begun, self.first = now, dict(self.done)
            self.first.setdefault(progress.chain, progress.done)
            if not self.foretold and now - self.begun >= PACE_SECONDS:
                self.foretold = True
                self.console.print(self.forecast(progress, now), soft_wrap=True)
        self.show(progress, now)

    def left(self, now: float) -> str:
        """Say how long the sweeps that are left will take at the pace so far."""
        made = sum(self.done.values()) - sum(self.first.values())
        if made <= 0:
            return "a time not known yet"
        seconds = (self.chains * self.sweeps - sum(self.done.values())) * (now - self.begun) / made
        return f"about {seconds:,.0f} s" if seconds < 100 else f"about {seconds / 60:,.0f} min"

    def forecast(self, progress: Progress, now: float) -> str:
        """Say what the run will take, as far as its first seconds tell."""
        pairs = "" if progress.candidates is None else f"{progress.candidates:,} candidate pairs; "
        memory = "" if progress.memory is None else f"; {progress.memory:,} MB for each process"
        after = "" if self.run.draws else f", then on until all has settled, for {self.run.minutes:g} min at most"
        return f"Forecast: {pairs}{self.chains} × {self.sweeps:,} sweeps take {self.left(now)} more{after}{memory}."

    @abstractmethod
    def show(self, progress: Progress, now: float) -> None:
        """Bring the display up to date."""


class _Lines(_Display):
    """A line for each new phase, and one now and then."""

    phases: tuple[str, ...] = ()
    last = 0.0

    def show(self, progress: Progress, now: float) -> None:
        if progress.phase in self.phases and (progress.persons is None or now - self.last < LINE_SECONDS):
            return
        self.phases, self.last = (*self.phases, progress.phase), now
        if progress.persons is None:
            line = progress.phase
        else:
            done, total = sum(self.done.values()), self.chains * self.sweeps
            line = f"{progress.phase}: {done:,} of {total:,} sweeps, {self.left(now)} left, N {progress.persons:,}"
        self.console.print(line, soft_wrap=True)


class _Bars(_Display):
    """A row for each chain: phase, sweeps, pace, time left and N, within 80 columns."""

    def __init__(self, run: Run, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        super().__init__(run, console)
        self.bars = Progress(
            TextColumn("chain {task.fields[number]} {task.description}"),
            BarColumn(bar_width=10),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[persons]}"),
            console=console,
        )
        self.tasks = [
            self.bars.add_task("waiting", total=self.sweeps, number=chain + 1, rate="", persons="", start=False)
            for chain in range(self.chains)
        ]

    def __enter__(self) -> Callable[[Progress], None]:
        self.bars.start()
        return self.report

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def show(self, progress: Progress, now: float) -> None:
        task = self.tasks[progress.chain]
        if progress.persons is None:
            self.bars.update(task, description=progress.phase)
            return
        if not self.bars.tasks[task].started:
            self.bars.start_task(task)
        speed = self.bars.tasks[task].speed
        self.bars.update(
            task,
            description=progress.phase,
            completed=progress.done,
            total=progress.total,
            persons=f"N {progress.persons:,}",
            rate=f"{speed:,.0f}/s" if speed else "",
        )
