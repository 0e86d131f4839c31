"""The progress display: a row a chain, on a terminal only."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tielink.run.worker import Progress

__all__ = ["display"]

LOADING = "loading (the first time ever: compiling, about a minute)"


def display(chains: int, sweeps: int, wanted: bool | None) -> AbstractContextManager[Callable[[Progress], None]]:
    """Return a context that gives a function to report progress to; silent unless wanted or on a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if wanted is False or (wanted is None and not console.is_terminal):
        return nullcontext(lambda progress: None)
    return _Display(chains, sweeps, console)


class _Display:
    def __init__(self, chains: int, sweeps: int, console: Any) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self.bars = Progress(
            TextColumn("chain {task.fields[number]}"),
            TextColumn("{task.description}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(),
            TextColumn("{task.fields[details]}"),
            console=console,
        )
        self.tasks = [
            self.bars.add_task("waiting", total=sweeps, number=chain + 1, rate="", details="", start=False)
            for chain in range(chains)
        ]
        self.begun: set[int] = set()

    def __enter__(self) -> Callable[[Progress], None]:
        self.bars.start()
        return self.report

    def __exit__(self, *_: object) -> None:
        self.bars.stop()

    def report(self, progress: Progress) -> None:
        """Show where a chain is: phase, sweeps a second, ETA, N and how often moves are accepted."""
        task = self.tasks[progress.chain]
        if progress.persons is None:
            self.bars.update(task, description=LOADING if progress.phase == "loading" else progress.phase)
            return
        if progress.chain not in self.begun:
            self.begun.add(progress.chain)
            self.bars.start_task(task)
        rates = " ".join(f"{move} {rate:.0%}" for move, rate in progress.acceptance[:5])
        details = f"N {progress.persons:,}  {rates}"
        self.bars.update(task, description=progress.phase, completed=progress.done, details=details)
        speed = self.bars.tasks[task].speed
        self.bars.update(task, rate=f"{speed:,.0f}/s" if speed else "")
