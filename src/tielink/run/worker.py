"""The work of one chain, here or in a process of its own.

As a program (`main`) it reads a job and the numbers of its chains from standard input and writes messages to standard
output: no `if __name__ == "__main__"` is asked of users' scripts. At the end of a round it waits for the word to go on;
it ends its chains after the current sweep when told to, and at once when whoever started it is gone.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import IO, Any

from tielink.faults import Fault, InputError
from tielink.run.bundle import Bundle, receive, send
from tielink.run.checkpoint import load_chain, save_chain
from tielink.run.job import Job
from tielink.run.recorder import Recorder
from tielink.run.rounds import LEAST_DRAWS, Round, nth_round

__all__ = [
    "GO_ON",
    "STOP",
    "TIME_IS_UP",
    "ChainRun",
    "Message",
    "Order",
    "Progress",
    "Result",
    "Told",
    "read_message",
    "send_order",
    "work",
]

REPORT_SECONDS = 0.2
TURN_SECONDS = 0.5
"""How long a chain goes on before the next one of the same process has its turn."""

GO_ON, TIME_IS_UP, STOP = b"+", b"t", b"."
"""What a process is told: to begin the next round, to end this one once there are a few draws, to end at once."""

Stopped = Callable[[int], bool]
"""Whether a chain with so many draws in its round should end."""

TOO_LITTLE_MEMORY = Fault(
    "sample", "there is too little memory for these data.", "Use fewer workers or draws, or a machine with more."
)


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
    candidates: int | None = None
    """Pairs that the chain looks at in every sweep, where it has a list of them."""
    memory: int | None = None
    """Megabytes of the process at most so far."""


@dataclass(frozen=True)
class Result:
    """The draws of a chain in a round: all of them, or as many as there were when it was told to stop."""

    chain: int
    number: int
    """The round that they are of."""
    count: int
    moves: tuple[str, ...]
    counts: Any
    arrays: dict[str, Any]


Message = Progress | Result | InputError


class ChainRun:
    """A chain under way: in which round it is, after how many sweeps, and what is recorded of that round."""

    def __init__(self, order: Order, report: Callable[[Progress], None]) -> None:
        self.order, self.report, self.run = order, report, order.job.run
        report(Progress(order.chain, "loading"))
        from tielink.kernels import tell_of_compiling
        from tielink.run.chain import Chain

        tell_of_compiling(lambda: report(Progress(order.chain, "compiling (once; kept for later runs)")))
        self.chain = Chain(order.job, order.chain)
        kept = None if order.checkpoint is None else load_chain(order.checkpoint, self.chain)
        if kept is None:  # not even a start was kept, so the chain begins as it does from its seed
            report(Progress(order.chain, "finding a start"))
            self.chain.begin()
            kept = 0, 0, Recorder(self.chain, nth_round(self.run, 0).draws)
        self.number, self.done, self.recorder = kept
        self.said = self.saved = time.monotonic()

    @property
    def round(self) -> Round:
        """The round that the chain is in."""
        return nth_round(self.run, self.number)

    def complete(self, target: int) -> bool:
        """Whether round `target` has come to its end."""
        return self.number == target and self.done == self.round.end

    def go(self, target: int, seconds: float, stopped: Stopped) -> bool:
        """Go on for a while; return whether there is more to do before round `target` ends."""
        begun = time.monotonic()
        while not self.complete(target) and not stopped(self.recorder.count):
            if self.done == self.round.end:
                self.number += 1
                self.recorder = Recorder(self.chain, self.round.draws)
            self._sweep()
            if time.monotonic() - begun > seconds:
                return True
        if self.done < self.round.end:
            self._save()
        return False

    def _sweep(self) -> None:
        now, warming = self.round, self.done < self.run.warmup
        counts = self.chain.advance(self.done if warming else None)
        self.done += 1
        if not warming:
            self.recorder.counts += counts
            if (self.done - now.before) % now.thin == 0:
                self.recorder.record(self.chain)
        ended = self.done == now.end
        if time.monotonic() - self.said > REPORT_SECONDS or ended:
            self.said = time.monotonic()
            phase, chain = "warm-up" if warming else "sampling", self.chain
            candidates = len(chain.listed.pairs)
            self.report(Progress(self.order.chain, phase, self.done, now.end, chain.persons, candidates, _megabytes()))
        if time.monotonic() - self.saved > self.order.interval or ended:
            self._save()

    def _save(self) -> None:
        if self.order.checkpoint is not None:
            save_chain(self.order.checkpoint, self.chain, self.recorder, self.number, self.done)
        self.saved = time.monotonic()

    @property
    def result(self) -> Result:
        """The draws of the round so far."""
        made = self.recorder
        return Result(self.order.chain, self.number, made.count, self.chain.moves, made.counts, made.arrays)


def work(runs: Sequence[ChainRun], target: int, stopped: Stopped) -> list[Result]:
    """Bring chains to the end of round `target`, in turns, or until told to stop."""
    waiting = list(runs)
    while waiting:
        waiting = [run for run in waiting if run.go(target, TURN_SECONDS if len(waiting) > 1 else inf, stopped)]
    return [run.result for run in runs]


def _megabytes() -> int | None:
    """Return the memory that this process has needed at most; None where the system does not say."""
    try:
        import resource
    except ImportError:
        return None
    unit = 2**20 if sys.platform == "darwin" else 2**10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // unit


def send_order(stream: IO[bytes], job: Bundle, chains: list[int], checkpoint: Path | None, interval: float) -> None:
    """Tell a process that runs `main` what to do."""
    folder = None if checkpoint is None else str(checkpoint.absolute())
    send(stream, job)
    send(stream, ({}, {"chains": chains, "checkpoint": folder, "interval": interval}))


def _bundle(message: Message) -> Bundle:
    if isinstance(message, Progress):
        return {}, {"progress": asdict(message)}
    if isinstance(message, InputError):
        return {}, {"faults": [asdict(fault) for fault in message.faults]}
    values = {name: getattr(message, name) for name in ("chain", "number", "count", "moves")}
    return {"counts": message.counts, **message.arrays}, {"result": values}


def read_message(stream: IO[bytes]) -> Message | None:
    """Read what a process that runs `main` says; None where it ends."""
    bundle = receive(stream)
    if bundle is None:
        return None
    arrays, values = bundle
    if "progress" in values:
        return Progress(**values["progress"])
    if "faults" in values:
        return InputError(Fault(**fault) for fault in values["faults"])
    result = values["result"]
    moves, counts = tuple(result["moves"]), arrays.pop("counts")
    return Result(result["chain"], result["number"], result["count"], moves, counts, arrays)


class Told:
    """What was said to a process that has chains."""

    def __init__(self) -> None:
        self.time_is_up = self.stop = False
        self.go_on = threading.Semaphore(0)

    def hear(self, word: bytes) -> None:
        """Take a word in."""
        self.time_is_up |= word == TIME_IS_UP
        self.stop |= word == STOP
        if word in (GO_ON, STOP):
            self.go_on.release()

    def stopped(self, draws: int) -> bool:
        """Whether a chain with so many draws should end."""
        return self.stop or (self.time_is_up and draws >= LEAST_DRAWS)


def main() -> None:
    """Run chains of a job from standard input, one after the other; messages go to standard output."""
    job, order = receive(sys.stdin.buffer), receive(sys.stdin.buffer)
    if job is None or order is None:
        sys.exit(1)  # whoever started us is gone
    # Only messages may go to standard output; whatever else prints goes to standard error.
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    told = Told()

    def listen() -> None:
        while word := sys.stdin.buffer.read(1):
            told.hear(word)
        os._exit(1)  # nobody waits for us any more

    threading.Thread(target=listen, daemon=True).start()

    def tell(message: Message) -> None:
        send(out, _bundle(message))

    try:
        values, made = order[1], Job.read(job)
        folder = None if values["checkpoint"] is None else Path(values["checkpoint"])
        runs = [ChainRun(Order(made, chain, folder, values["interval"]), tell) for chain in values["chains"]]
        target = max(run.number for run in runs)
        while True:
            for result in work(runs, target, told.stopped):
                tell(result)
            told.go_on.acquire()
            if told.stop:
                break
            target += 1
    except InputError as error:
        tell(error)
    except MemoryError:
        tell(InputError([TOO_LITTLE_MEMORY]))
    except BrokenPipeError:
        os._exit(1)


if __name__ == "__main__":
    main()
