"""Fits on all cores, with progress; a stop loses no finished fit."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from reproduce.fits import Effort, Fit, fit
from reproduce.ledger import Ledger

__all__ = ["run"]


def run(tasks: Sequence[tuple[Fit, Effort]], root: Path, ledger: Ledger) -> None:
    """Fit what the ledger does not hold yet."""
    open_tasks = [(task, effort) for task, effort in tasks if task.key not in ledger]
    console = Console(stderr=True)
    console.print(f"{len(tasks):,} fits, {len(tasks) - len(open_tasks):,} of them done before.")
    if not open_tasks:
        return
    columns = (TextColumn("{task.description:<42}"), BarColumn(), MofNCompleteColumn())
    with (
        Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=console) as progress,
        # Forked workers would hang: the data frames' threads do not survive a fork.
        ProcessPoolExecutor(_cores(), multiprocessing.get_context("spawn"), initializer=_quiet) as pool,
    ):
        shown = progress.add_task("fits", total=len(open_tasks))
        waiting: dict[Future[dict[str, Any]], Fit] = {}
        queue = iter(open_tasks)
        failed: list[str] = []
        try:
            while True:
                while len(waiting) < 2 * _cores() and (following := next(queue, None)) is not None:
                    waiting[pool.submit(fit, following[0], root, following[1])] = following[0]
                if not waiting:
                    break
                for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                    task = waiting.pop(done)
                    error = done.exception()
                    if error is None:
                        ledger.add(done.result())
                    else:  # the others are worth having
                        failed.append(f"{task.key}: {type(error).__name__}: {error}")
                    label = f"{task.folder}, {task.method}, {task.share:.0%}"
                    progress.update(shown, advance=1, description=label)
        except KeyboardInterrupt:
            pool.shutdown(wait=False, cancel_futures=True)
            console.print(f"Stopped; {len(ledger.rows):,} fits are kept. The same command goes on from there.")
            raise SystemExit(130) from None

    if failed:
        console.print(f"{len(failed)} fits failed; the same command tries them again.", *failed, sep="\n  ")


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _quiet() -> None:
    """Let the parent alone hear Ctrl-C, and keep each fit on one core."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
