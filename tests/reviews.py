"""Reviews of made posteriors: a session, a server in a thread, and as a program a server that can be killed."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import polars as pl

import tielink as tl
from posteriors import posterior_of
from tielink.review.server import Server
from tielink.review.session import Session

HOSTILE = ["<img src=x onerror=alert(1)>", "</script><b>bold", "'\"&lt;", "\u202eevil", "=cmd()", "a" * 300]
SIZE = 12


def made() -> tuple[tl.Dataset, tl.Posterior]:
    """Two files in which every record is in doubt between the record of its number and the next one."""
    names = [*HOSTILE, *(f"person {number}" for number in range(SIZE - len(HOSTILE)))]
    left = pl.DataFrame({"id": names, "name": names, "city": [None if n % 3 == 0 else "Oslo" for n in range(SIZE)]})
    right = left.with_columns(pl.Series("name", [f"{name[:20]}x" for name in names]))
    ties = [(names[n], names[(n + 1) % SIZE]) for n in range(SIZE)]
    data = tl.Dataset.from_frames(
        {"left": left, "right": right}, {"left": ties, "right": ties},
        fields={"name": tl.String(), "city": tl.Categorical()},
    )  # fmt: skip
    rng, draws = np.random.default_rng(1), []
    for _ in range(400):
        labels = np.arange(2 * SIZE)
        for pair in range(0, SIZE, 2):  # two records and their partners: straight, crossed or alone
            kind = rng.choice(3, p=[0.15, 0.6, 0.25])
            if kind < 2:
                labels[SIZE + pair], labels[SIZE + pair + 1] = (pair, pair + 1) if kind else (pair + 1, pair)
        draws.append(labels)
    return data, posterior_of(data.records, draws, chains=2)


def session(path: Path, **settings) -> Session:
    data, posterior = made()
    return Session(data, posterior, path, who=settings.pop("who", "ann"), **settings)


@contextmanager
def served(made_session: Session) -> Iterator[Server]:
    """A server in a thread."""
    server = Server(made_session)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.server.started:
        time.sleep(0.01)
    try:
        yield server
    finally:
        server.server.should_exit = True
        thread.join()


if __name__ == "__main__":
    program = Server(session(Path(sys.argv[1])))
    print(program.address, flush=True)
    program.run()
