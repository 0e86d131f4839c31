"""Mutated inputs through every command: each is used, or refused with a clear word; none ends in a traceback or hangs.

`python tests/fuzz.py [--seconds 170] [--seed 1] [--inputs 1200]` (`make fuzz`). The same seed makes the same inputs.
Commands run in this process, chains too, so that a mutated input takes some hundredths of a second.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from command_line import call

LIMIT = 30
"""Seconds after which a command hangs."""
TINY = ["--chains", "1", "--warmup", "2", "--draws", "3"]
NASTY = [
    "", " ", "NA", "nan", "inf", "-1", "0", "1e308", "-1e309", "9" * 5000, "1" + "0" * 300, "=1+1", "@x", "true", "a/b",
    "../../etc/passwd", "/etc/passwd", "id", "file", "prior", "rest", "None", "\x00", "\ufeff", "é" * 300, "x" * 20_000,
    '"', "'", ",", ";", "\t", "\n", "\r", "{}", "[]", "<script>", "%s", "1990-13-45", "0000-00-00", "💥",
    "\u202e", "a\nb",
]  # fmt: skip
TOML = [
    "true", "false", "1", "-1", "0", "1.5", "1e308", "nan", "inf", "9" * 5000, '""', '"x"', "[]", "{}", "[1, 2]",
    "{kind = 1}", '"none"', "1979-05-27", '"/etc/passwd"', '"../a.csv"', '"a.csv"', '["a.csv"]', '"utf-7"', '"base64"',
    '"rot13"', '"idna"', '"utf-16"', '"punycode"', '{kind = "beta", a = 1e308, b = 1e308}', "1" + "0" * 300, '"open"',
    '{kind = "beta", a = 1e-300, b = 1}', '{kind = "string", sharpness = 1e300}', '"\\ud7ff"', "[[]]", '{a = {b = []}}',
]  # fmt: skip


class HangError(BaseException):
    """A command took longer than any should."""


@dataclass
class Found:
    """What became of the inputs."""

    inputs: int = 0
    codes: Counter[int] = field(default_factory=Counter)
    by_command: Counter[str] = field(default_factory=Counter)
    tracebacks: list[str] = field(default_factory=list)
    hangs: list[str] = field(default_factory=list)
    slowest: float = 0.0

    def __str__(self) -> str:
        commands = ", ".join(f"{name} {count}" for name, count in sorted(self.by_command.items()))
        return (
            f"{self.inputs} mutated inputs ({commands}): {self.codes[0]} used, {self.codes[2]} refused, "
            f"{len(self.tracebacks)} tracebacks, {len(self.hangs)} hangs; the slowest took {self.slowest:.1f} s."
        )


def command(arguments: list[str]) -> tuple[int, str]:
    """Run the `tielink` command here; return its exit code and what it said on standard error."""
    done = call(*arguments)
    return done.returncode, done.stderr


def prepare(folder: Path) -> None:
    """Make what is mutated: a small world in every kind of file."""
    import polars as pl

    rows = [("anna", "x", 31, "1990-05-17"), ("bob", "y", 45, "1981-02-03"), ("carl", "x", 27, "1999-12-31")] * 2
    for name, shift in (("a", 0), ("b", 1)):
        table = {
            "id": [f"{name}{i}" for i in range(len(rows))],
            "username": [f"{r[0]}{i + shift}" for i, r in enumerate(rows)],
        }
        table |= {
            "city": [r[1] for r in rows],
            "age": [r[2] + i for i, r in enumerate(rows)],
            "born": [r[3] for r in rows],
        }
        frame = pl.DataFrame(table)
        frame.write_csv(folder / f"{name}.csv")
        frame.write_csv(folder / f"{name}.tsv", separator="\t")
        frame.write_parquet(folder / f"{name}.parquet")
        ids = frame["id"]
        pl.DataFrame({"source": ids[:4], "target": ids[1:5]}).write_csv(folder / f"t{name}.csv")
    (folder / "known.csv").write_text("id_a,id_b\na0,b0\n")
    (folder / "truth.csv").write_text("id_a,id_b\na0,b0\na1,b1\n")
    (folder / "pairs.csv").write_text("file_a,id_a,file_b,id_b,probability\na,a0,b,b0,0.9\na,a1,b,b1,0.4\n")
    (folder / "project.toml").write_text(
        '[files.a]\nrecords = "a.csv"\nties = "ta.csv"\n[files.b]\nrecords = "b.csv"\nties = "tb.csv"\n'
        '[fields]\nusername = "string"\ncity = "categorical"\n'
        '[data]\nanchors = "known.csv"\ntruth = "truth.csv"\nmissing = ["NA"]\nencoding = "utf-8"\nguess = false\n'
        'duplicates = false\nfaulty_ties = "refuse"\n'
        '[model.network]\nkind = "latent_space"\ndimension = 2\nlink = "logit"\n'
        '[model.linkage]\nkind = "match_rate"\na = 1\nb = 1\n[model.kinds.string]\nkind = "string"\n'
        'distortion = {kind = "beta", a = 1, b = 9}\n[run]\nchains = 1\nwarmup = 2\ndraws = 3\nthin = 1\nseed = 1\n'
    )
    done, said = command(["sample", str(folder / "project.toml"), *TINY, "--out", str(folder / "posterior.nc"),
                          "--checkpoint", str(folder / "kept")])  # fmt: skip
    assert done == 0, said


def damaged(rng: random.Random, raw: bytes) -> bytes:
    """Change some bytes: flipped, cut out, doubled, put in, or all that follows dropped."""
    for _ in range(rng.choice((1, 1, 1, 3, 10))):
        at = rng.randrange(len(raw) + 1)
        end = min(len(raw), at + rng.choice((1, 2, 8, 100)))
        new = [
            raw[:at] + bytes([rng.randrange(256)]) + raw[at + 1 :],
            raw[:at] + raw[end:],
            raw[:end] + raw[at:],
            raw[:at] + rng.randbytes(rng.choice((1, 4, 50))) + raw[at:],
            raw[:at],
        ]
        raw = rng.choice(new)
    return raw


def strange_table(rng: random.Random, raw: bytes) -> bytes:
    """Change a table as people and programs do: a cell, a name of a column, a row, the encoding, the separator."""
    lines = raw.decode(errors="replace").split("\n")
    for _ in range(rng.choice((1, 1, 2, 4))):
        row = rng.choice((0, rng.randrange(len(lines))))
        cells = lines[row].split(",")
        cells[rng.randrange(len(cells))] = rng.choice(NASTY)
        lines[row] = ",".join(cells)
    if rng.random() < 0.3:
        lines.insert(rng.randrange(len(lines)), rng.choice([*lines, "", ",,,,", "x", '"open']))
    text = "\n".join(lines)
    if rng.random() < 0.1:
        text = text.replace(",", rng.choice(";\t|"))
    encoding = rng.choice(("utf-8",) * 8 + ("utf-16", "latin-1", "utf-32", "cp1252", "utf-16-be"))
    return text.encode(encoding, errors="replace")


def strange_toml(rng: random.Random, raw: bytes) -> bytes:
    """Change a setting's value or name, or the name of a table."""
    lines = raw.decode().split("\n")
    for _ in range(rng.choice((1, 1, 2))):
        row = rng.choice([n for n, line in enumerate(lines) if line])
        key, equals, _ = lines[row].partition(" = ")
        if equals:
            lines[row] = rng.choice((f"{key} = {rng.choice(TOML)}",) * 4 + (f"{key}s = {rng.choice(TOML)}",))
        else:
            lines[row] = rng.choice(
                (f"{key[1:-1]} = {rng.choice(TOML)}", "", f"[{rng.choice(['x', 'files', 'model'])}]")
            )
    if rng.random() < 0.2:
        lines.insert(0, f"{rng.choice(['files', 'fields', 'data', 'model', 'run', 'x'])} = {rng.choice(TOML)}")
    return "\n".join(lines).encode()


def strange_parquet(rng: random.Random, raw: bytes) -> bytes:
    """Give a column of a Parquet file another type."""
    from datetime import date, datetime, timedelta
    from datetime import time as clock

    import polars as pl

    frame = pl.read_parquet(io.BytesIO(raw))
    some = rng.choice(
        [timedelta(days=1), datetime(1990, 5, 17, 3), clock(3, 4), b"\x00\xff", [1, 2], {"x": 1}, 1e308, float("nan"),
         2**63 - 1, True, date(1, 1, 1), None, "x" * 5000, "", -0.0]
    )  # fmt: skip
    values = [some if rng.random() < 0.7 else None for _ in range(frame.height)]
    name = rng.choice([*frame.columns, "new", "", "a/b", "\x00"])
    made = io.BytesIO()
    with contextlib.suppress(Exception):  # some cannot be written, so nobody can send them
        frame.with_columns(pl.Series(name, values, strict=False)).write_parquet(made)
    return made.getvalue() or raw


Case = tuple[list[str], str, Callable[[random.Random, bytes], bytes]]


def cases(rng: random.Random) -> Iterator[Case]:
    """Yield commands for ever, each with the file that it reads mutated (or none, for mutated options)."""
    records = ["a.csv", "b.csv", "--ties", "ta.csv", "tb.csv", "--anchors", "known.csv", "--truth", "truth.csv"]
    link, out = ["link", *records, *TINY, "--out", "result"], ["--out", "out.nc"]
    options = ["--network", "--draws", "--chains", "--warmup", "--seed", "--prior", "--id", "--encoding", "--missing",
               "--string", "--categorical", "--number", "--date", "--person-name", "--ignore", "--directed",
               "--interval", "--ties", "--anchors", "--truth", "--nonmatches"]  # fmt: skip
    huge = ["1000000000000", "1000000000", "1" + "0" * 300, "-1", "0", "x", "nan", "match_rate:a=1e308,b=1e308",
            "match_rate:a=" + "9" * 5000, "latent-space:dimension=1000000000", "one_per_file",
            "ewens_pitman:max_size=4", "utf-7", "idna", "username", "id", "born"]  # fmt: skip
    any_table = lambda: rng.choice(("a.csv", "b.csv", "ta.csv", "known.csv", "truth.csv"))  # noqa: E731
    while True:
        yield ["check", *records], any_table(), strange_table
        yield ["check", *records], any_table(), damaged
        yield ["check", "project.toml"], "project.toml", strange_toml
        yield ["check", "project.toml"], rng.choice(("project.toml", any_table())), damaged
        yield ["check", "a.tsv", "b.tsv"], "a.tsv", rng.choice((strange_table, damaged))
        yield ["check", "a.parquet", "b.parquet"], "a.parquet", rng.choice((strange_parquet, strange_parquet, damaged))
        yield ["check", *records, rng.choice(options), rng.choice([*huge, *NASTY])], "", damaged
        yield [*link, "--quick"], any_table(), strange_table
        yield [*link, rng.choice(options), rng.choice([*huge, *NASTY])], "", damaged
        yield ["link", "project.toml", "--out", "result"], "project.toml", strange_toml
        yield (
            ["sample", "project.toml", *out],
            rng.choice(("project.toml", any_table())),
            rng.choice((damaged, strange_toml)),
        )
        kept, either = rng.choice(("kept/job.npz", "kept/chain-0.npz")), rng.choice((damaged, strange_bundle))
        yield ["resume", "kept", *out], kept, either
        yield ["sample", "project.toml", *TINY, *out, "--checkpoint", "kept"], "kept/chain-0.npz", strange_bundle
        yield ["estimate", "posterior.nc", "--out", "links.csv"], "posterior.nc", damaged
        yield ["estimate", "posterior.nc", "--out", "links.csv"], "posterior.nc", strange_posterior
        yield ["estimate", "pairs.csv", "--project", "project.toml", "--out", "links.csv"], "pairs.csv", strange_table
        yield (
            ["evaluate", "posterior.nc", "--truth", "truth.csv"],
            "posterior.nc",
            rng.choice((damaged, strange_posterior)),
        )
        yield ["evaluate", "pairs.csv", "--project", "project.toml", "--resamples", "5"], "pairs.csv", strange_table
        yield ["select", "project.toml", "--dimensions", rng.choice(["1", "1-2", *huge, *NASTY])], "", damaged
        option = rng.choice(["--sizes", "--density", "--overlap", "--dimension", "--spread", "--missing", "--anchors"])
        yield (
            ["simulate", "--out", "made", option, rng.choice(["a=3,b=0", "a=1", "a=1,a=2", *huge, *NASTY])],
            "",
            damaged,
        )


def strange_bundle(rng: random.Random, raw: bytes) -> bytes:
    """Put other numbers, shapes or values into a file of a checkpoint, so that the file itself is sound."""
    with np.load(io.BytesIO(raw)) as stored:
        arrays = dict(stored)
    name = rng.choice(list(arrays))
    array = arrays[name]
    if name == "values":
        words = array.tobytes().decode()
        number = rng.choice(list(re.finditer(r"\d+|true|false|null|\"\w+\"", words)))
        other = rng.choice(["-1", "1e400", "null", "[]", "{}", '"x"', "9" * 5000, "[[]]"])
        arrays[name] = np.frombuffer((words[: number.start()] + other + words[number.end() :]).encode(), dtype=np.uint8)
    elif rng.random() < 0.2:
        del arrays[name]
    elif rng.random() < 0.3:
        arrays[name] = rng.choice(
            [array.astype(str), array.ravel()[:1], array[None], np.zeros(0), array.astype(np.int8)]
        )
    elif array.size:
        array.flat[rng.randrange(array.size)] = rng.choice([0, 1, -2, 100, 30_000])
    made = io.BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


def strange_posterior(rng: random.Random, raw: bytes) -> bytes:
    """Put other numbers, shapes or texts into a posterior, so that the file itself is sound."""
    import h5py

    made = io.BytesIO(raw)
    with h5py.File(made, "r+") as file:
        names: list[str] = []
        file.visititems(lambda name, item: names.append(name) if isinstance(item, h5py.Dataset) else None)
        if rng.random() < 0.3:
            key = rng.choice(list(file.attrs))
            file.attrs[key] = rng.choice(["", "[]", "{}", "null", '["a"]', "[[1],[2]]", "9" * 5000, "x", "[[[]]]"])
            return made.getvalue() or raw
        name = rng.choice(names)
        stored = file[name]
        if rng.random() < 0.3:
            del file[name]
        elif stored.dtype.kind in "iuf" and stored.size:
            values = np.array(stored[()])
            values.flat[rng.randrange(values.size)] = rng.choice([0, 1, -1, 30_000, 100])
            stored[...] = values if rng.random() < 0.8 else np.zeros_like(values) + rng.choice([1, -1])
    return made.getvalue()


@contextlib.contextmanager
def chains_here() -> Iterator[None]:
    """Let chains run in this process: starting one of their own takes seconds."""
    from tielink.run import sample
    from tielink.run.job import Job
    from tielink.run.pool import run_here
    from tielink.run.worker import Order

    real = sample.run_processes

    def run(job, chains, workers, folder, interval, *others):
        made = Job.read(job)
        return run_here([Order(made, chain, folder, interval) for chain in range(chains)], *others)

    sample.run_processes = run
    try:
        yield
    finally:
        sample.run_processes = real


def fuzz(seed: int, inputs: int, seconds: float, say: Callable[[str], object] = print) -> Found:
    """Try mutated inputs until there are enough, or time is up."""
    rng, found = random.Random(seed), Found()
    warnings.simplefilter("ignore")

    def hang(*_: object) -> None:
        raise HangError

    def ignored(raised: Any) -> None:
        found.tracebacks.append(f"ignored by Python: {raised.exc_value!r}")
        say(f"TRACEBACK {found.tracebacks[-1]}")

    before, hook, sys.unraisablehook = signal.signal(signal.SIGALRM, hang), sys.unraisablehook, ignored
    where = Path.cwd()
    with tempfile.TemporaryDirectory() as top, chains_here():
        whole, folder = Path(top) / "whole", Path(top) / "mutated"
        whole.mkdir()
        prepare(whole)
        begun = time.monotonic()
        try:
            for arguments, name, mutate in cases(rng):
                if found.inputs >= inputs or time.monotonic() - begun > seconds:
                    break
                shutil.rmtree(folder, ignore_errors=True)
                shutil.copytree(whole, folder)
                os.chdir(folder)
                if name:
                    raw = (folder / name).read_bytes()
                    (folder / name).write_bytes(mutate(rng, raw))
                number = found.inputs = found.inputs + 1
                found.by_command[arguments[0]] += 1
                how = f"{mutate.__name__} {name}" if name else "options"
                label = f"input {number} of seed {seed}: {' '.join(a[:60] for a in arguments)} ({how})"
                start = time.monotonic()
                signal.alarm(LIMIT)
                try:
                    code, errors = command(arguments)
                    found.codes[code] += 1
                    if code not in (0, 2) or "Traceback" in errors:
                        found.tracebacks.append(f"{label}\nexit code {code}\n{errors[-2000:]}")
                except HangError:
                    found.hangs.append(label)
                    say(f"HANG {label}")
                except Exception:
                    said = traceback.format_exc()
                    found.tracebacks.append(f"{label}\n{said}")
                    say(f"TRACEBACK {label}\n" + re.sub(r"(.{300}).*", r"\1", said[-1500:]))
                finally:
                    signal.alarm(0)
                found.slowest = max(found.slowest, time.monotonic() - start)
        finally:
            signal.signal(signal.SIGALRM, before)
            sys.unraisablehook = hook
            os.chdir(where)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--inputs", type=int, default=1200)
    parser.add_argument("--seconds", type=float, default=170.0)
    chosen = parser.parse_args()
    result = fuzz(chosen.seed, chosen.inputs, chosen.seconds)
    print(result)
    sys.exit(bool(result.tracebacks or result.hangs))
