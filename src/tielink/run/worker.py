"""The work of one chain, here or in a process of its own.

As a program (`main`) it reads a job from standard input and writes messages to standard
output, both pickled: no `if __name__ == "__main__"` is asked of users' scripts. It stops when told to, or when
whoever started it is gone.
"""

from __future__ import annotations

import os
import pickle
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tielink.faults import InputError
from tielink.run.job import Job

__all__ = ["Order", "Progress", "Result", "work"]

REPORT_SECONDS = 0.2


@dataclass(frozen=True)
class Order:
    """Which chain of which job to run, and where to keep checkpoints (if anywhere) how often."""

    job: Job
    chain: int
    checkpoint: Path | None = None
    interval: float = 10.0


@dataclass(frozen=True)
class Progress:
    """How far a chain is."""

    chain: int
    phase: str
    done: int = 0
    total: int = 1
    persons: int | None = None
    acceptance: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class Result:
    """The draws of a chain: all of them, or as many as there were when it was told to stop."""

    chain: int
    count: int
    moves: tuple[str, ...]
    counts: Any
    arrays: dict[str, Any]


def work(order: Order, report: Callable[[Progress], None], stopped: Callable[[], bool]) -> Result:
    """Run a chain to its end, or until told to stop."""
    report(Progress(order.chain, "loading"))
    from tielink.run.checkpoint import load_chain, save_chain
    from tielink.run.engine import make_chain
    from tielink.run.recorder import Recorder

    run = order.job.run
    chain = make_chain(order.job, order.chain)
    recorder = Recorder(chain)
    done = load_chain(order.checkpoint, chain, recorder) if order.checkpoint is not None else 0
    if done == 0:
        report(Progress(order.chain, "finding a start"))
        chain.begin()
    total = run.warmup + run.draws * run.thin
    said = saved = time.monotonic()
    while done < total and not stopped():
        warming = done < run.warmup
        counts = chain.advance(done if warming else None)
        done += 1
        if not warming:
            recorder.counts += counts
            if (done - run.warmup) % run.thin == 0:
                recorder.record(chain)
        now = time.monotonic()
        if now - said > REPORT_SECONDS or done == total:
            said = now
            report(_progress(order.chain, chain, done, total, warming, counts))
        if order.checkpoint is not None and (now - saved > order.interval or done == total):
            save_chain(order.checkpoint, chain, recorder, done)
            saved = time.monotonic()
    if order.checkpoint is not None and done < total:
        save_chain(order.checkpoint, chain, recorder, done)
    return Result(order.chain, recorder.count, chain.moves, recorder.counts, recorder.arrays)


def _progress(index: int, chain: Any, done: int, total: int, warming: bool, counts: Any) -> Progress:
    rates = tuple(
        (move, float(accepted / proposed))
        for move, (proposed, accepted) in zip(chain.moves, counts, strict=True)
        if proposed and move != "spread"
    )
    return Progress(index, "warm-up" if warming else "sampling", done, total, chain.persons, rates)


def main() -> None:
    """Run one order from standard input; messages go to standard output."""
    order: Order = pickle.load(sys.stdin.buffer)
    # Only messages may go to standard output; whatever else prints goes to standard error.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    stop = threading.Event()

    def listen() -> None:
        sys.stdin.buffer.read()  # a byte means stop, the end that nobody waits for us any more
        stop.set()

    threading.Thread(target=listen, daemon=True).start()

    def send(message: object) -> None:
        pickle.dump(message, out)
        out.flush()

    try:
        send(work(order, send, stop.is_set))
    except InputError as error:
        send(error)
    except BrokenPipeError:
        os._exit(1)
