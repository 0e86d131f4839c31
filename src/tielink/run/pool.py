"""Chains side by side, each in a process of its own."""

from __future__ import annotations

import contextlib
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any

from tielink.faults import InputError
from tielink.run.worker import Order, Progress, Result, work

__all__ = ["run_here", "run_processes"]

Report = Callable[[Progress], None]


def run_here(orders: Sequence[Order], report: Report) -> tuple[list[Result], bool]:
    """Run chains one after the other in this process; a Ctrl-C keeps what is finished."""
    interrupted = threading.Event()

    def stop(*_: Any) -> None:
        interrupted.set()

    main = threading.current_thread() is threading.main_thread()
    before = signal.signal(signal.SIGINT, stop) if main else None
    try:
        results = [work(order, report, interrupted.is_set) for order in orders if not interrupted.is_set()]
    finally:
        if main:
            signal.signal(signal.SIGINT, before)
    return results, interrupted.is_set()


class _Worker:
    """One process, and a thread that passes its messages on."""

    def __init__(self, order: Order, messages: queue.SimpleQueue[tuple[_Worker, object]]) -> None:
        self.chain = order.chain
        self.errors = tempfile.TemporaryFile()  # noqa: SIM115 (`close` closes it)
        self.process = subprocess.Popen(
            [sys.executable, "-c", "from tielink.run.worker import main; main()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self.errors,
            start_new_session=True,  # a Ctrl-C is for us; we pass the word on
        )
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):  # it ended at once: the reader below will tell why
            pickle.dump(order, self.process.stdin)
            self.process.stdin.flush()
        self.reader = threading.Thread(target=self._read, args=(messages,), daemon=True)
        self.reader.start()

    def _read(self, messages: queue.SimpleQueue[tuple[_Worker, object]]) -> None:
        assert self.process.stdout is not None
        last: object = None
        with self.process.stdout as stream, contextlib.suppress(Exception):  # the stream ends, or breaks off
            while True:
                last = pickle.load(stream)
                messages.put((self, last))
        self.process.wait()
        if not isinstance(last, Result | InputError):
            messages.put((self, None))

    def stop(self) -> None:
        """Tell the process to end after its current sweep."""
        assert self.process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()

    def close(self, kill: bool = False) -> str:
        """Let go of the process, dead or alive; return what it said on standard error."""
        if kill:
            self.process.kill()
        self.stop()
        self.reader.join()
        self.errors.seek(0)
        with self.errors:
            return self.errors.read().decode(errors="replace").strip()


def run_processes(orders: Sequence[Order], workers: int, report: Report) -> tuple[list[Result], bool]:
    """Run chains in up to `workers` processes; return finished (or stopped) chains, and whether we were stopped."""
    messages: queue.SimpleQueue[tuple[_Worker, object]] = queue.SimpleQueue()
    waiting = list(reversed(orders))
    running: list[_Worker] = []
    results: list[Result] = []
    interrupted = False
    try:
        while waiting or running:
            try:
                while waiting and len(running) < workers:
                    running.append(_Worker(waiting.pop(), messages))
                worker, message = messages.get()
            except KeyboardInterrupt:
                interrupted = True
                waiting.clear()
                for worker in running:
                    worker.stop()
                continue
            if isinstance(message, Progress):
                report(message)
                continue
            running.remove(worker)
            said = worker.close()
            if isinstance(message, InputError):
                raise message
            if not isinstance(message, Result):
                raise RuntimeError(f"chain {worker.chain} ended without a result:\n{said}")
            results.append(message)
    finally:
        for worker in running:
            worker.close(kill=True)
    return sorted(results, key=lambda result: result.chain), interrupted
