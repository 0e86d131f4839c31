"""Chains side by side, in processes of their own or one after the other in this one."""

from __future__ import annotations

import contextlib
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tielink.faults import Fault, InputError
from tielink.posterior.posterior import FINISHED, INTERRUPTED, OUT_OF_TIME
from tielink.run.bundle import Bundle
from tielink.run.worker import (
    GO_ON,
    STOP,
    TIME_IS_UP,
    ChainRun,
    Message,
    Order,
    Progress,
    Result,
    Told,
    read_message,
    send_order,
    work,
)

__all__ = ["Ended", "run_here", "run_processes"]

Report = Callable[[Progress], None]
Enough = Callable[[list[Result]], bool]
"""Whether the results of a round, one a chain, need no longer one."""


class Ended(NamedTuple):
    """The draws of a run, and how it came to its end."""

    results: list[Result]
    how: str


@contextlib.contextmanager
def _stopping(stop: Callable[[], object]) -> Iterator[None]:
    """While this lasts a Ctrl-C only calls `stop`; a second one ends everything at once."""
    caught = [
        number
        for number in (signal.SIGINT, signal.SIGTERM)
        if threading.current_thread() is threading.main_thread()
        and signal.getsignal(number) is signal.default_int_handler  # nobody else has plans for it
    ]

    def release() -> None:
        for number in caught:
            signal.signal(number, signal.default_int_handler)

    def handle(*_: Any) -> None:
        release()
        stop()

    for number in caught:
        signal.signal(number, handle)
    try:
        yield
    finally:
        release()


def run_here(orders: Sequence[Order], report: Report, enough: Enough, seconds: float) -> Ended:
    """Run chains in turns in this process until they have made enough; a Ctrl-C keeps what is finished."""
    deadline, told = time.monotonic() + seconds, Told()
    runs = [ChainRun(order, report) for order in orders]
    target = max(run.number for run in runs)
    before: list[Result] = []

    def stopped(draws: int) -> bool:
        told.time_is_up = time.monotonic() > deadline
        return told.stopped(draws)

    with _stopping(lambda: told.hear(STOP)):
        while True:
            results = work(runs, target, stopped)
            if all(run.complete(target) for run in runs) and enough(results):
                return Ended(results, FINISHED)
            if told.stop or told.time_is_up:
                return Ended(_longer(before, results, len(orders)), INTERRUPTED if told.stop else OUT_OF_TIME)
            target, before = target + 1, results


def _longer(before: list[Result], now: list[Result], chains: int) -> list[Result]:
    """Return the round that was cut short, or the one before if that is longer."""
    last = max((result.number for result in now), default=0)
    now = [result for result in now if result.number == last]
    made = min((result.count for result in now), default=0) if len(now) == chains else 0
    return before if before and before[0].count > made else now


class _Worker:
    """One process with some of the chains, and a thread that passes its messages on."""

    def __init__(
        self, job: Bundle, chains: list[int], checkpoint: Path | None, interval: float, messages: queue.SimpleQueue[Any]
    ) -> None:
        self.chains, self.sweeping = chains, False
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self.process = subprocess.Popen(
            # -P: nothing is imported from the working folder, whatever the files there are called.
            [sys.executable, "-P", "-m", "tielink.run.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,  # a Ctrl-C is for us; we pass the word on
        )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once: the reader below will tell why
            send_order(self.process.stdin, job, chains, checkpoint, interval)
        self.reader = threading.Thread(target=self._read, args=(messages,), daemon=True)
        self.reader.start()

    def _read(self, messages: queue.SimpleQueue[tuple[_Worker, Message | None] | bytes]) -> None:
        assert self.process.stdout is not None
        message: Message | None = None
        with self.process.stdout as stream:
            while True:
                try:
                    message = read_message(stream)
                except (ValueError, OSError):  # the stream breaks off
                    message = None
                if message is None:
                    break
                messages.put((self, message))
        self.process.wait()
        messages.put((self, None))

    def tell(self, word: bytes) -> None:
        """Say a word to the process (see `worker`); where there is nothing to keep yet, a stop ends it at once."""
        if word == STOP and not self.sweeping:
            self.process.kill()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.write(word)
            self.process.stdin.flush()

    def close(self) -> str:
        """Let go of the process, dead or alive; return what it said on standard error."""
        self.process.kill()
        assert self.process.stdin is not None
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        self.reader.join()
        self.errors.seek(0)
        with self.errors:
            return self.errors.read().decode(errors="replace").strip()


def run_processes(
    job: Bundle,
    chains: int,
    workers: int,
    checkpoint: Path | None,
    interval: float,
    report: Report,
    enough: Enough,
    seconds: float,
) -> Ended:
    """Run chains in up to `workers` processes until they have made enough, time is up, or we are stopped."""
    messages: queue.SimpleQueue[tuple[_Worker, Message | None] | bytes] = queue.SimpleQueue()
    running: list[_Worker] = []
    results: dict[int, Result] = {}
    before: list[Result] = []
    how = FINISHED
    clock = threading.Timer(min(seconds, threading.TIMEOUT_MAX), messages.put, [TIME_IS_UP])
    clock.daemon = True
    with _stopping(lambda: messages.put(STOP)):
        try:
            for first in range(min(workers, chains)):
                mine = list(range(first, chains, workers))
                running.append(_Worker(job, mine, checkpoint, interval, messages))
            clock.start()
            while running:
                received = messages.get()
                if isinstance(received, bytes):
                    how = INTERRUPTED if received == STOP else OUT_OF_TIME
                    for worker in running:
                        worker.tell(received)
                else:
                    worker, message = received
                    if isinstance(message, InputError):
                        raise message
                    if isinstance(message, Progress):
                        worker.sweeping |= message.persons is not None
                        report(message)
                    elif isinstance(message, Result):
                        results[message.chain] = message
                    else:
                        running.remove(worker)
                        said = worker.close()
                        if how != INTERRUPTED:
                            raise _ended(worker, said)
                if len(results) < chains or how == INTERRUPTED:
                    continue
                if how == OUT_OF_TIME:
                    break
                last = max(result.number for result in results.values())
                # After a crash some chains may be a round behind: the others could not have gone on if it had sufficed.
                going_on = [worker for worker in running if results[worker.chains[0]].number < last]
                if not going_on:
                    if enough(_in_order(results)):
                        break
                    before, going_on = _in_order(results), running
                for worker in going_on:
                    results = {chain: result for chain, result in results.items() if chain not in worker.chains}
                    worker.tell(GO_ON)
        finally:
            clock.cancel()
            for worker in running:
                worker.close()
    found = _in_order(results)
    return Ended(found if how == FINISHED else _longer(before, found, chains), how)


def _in_order(results: dict[int, Result]) -> list[Result]:
    return [results[chain] for chain in sorted(results)]


def _ended(worker: _Worker, said: str) -> Exception:
    """Say why a process ended before its chains did."""
    code = worker.process.returncode
    if code >= 0:
        return RuntimeError(f"chain {worker.chains[0] + 1} ended without a result:\n{said}")
    what = f"its process was ended from outside (signal {-code}), as a system does that runs out of memory."
    return InputError([Fault(f"chain {worker.chains[0] + 1}", what, "Use fewer workers, and run it again.")])
