"""Checkpoints: a folder from which an interrupted run goes on as if nothing had happened.

`job.npz` holds what to do, `power.json` the power of ties once it is learnt, `chain-K.npz` how far chain K is and all
its draws, `lock` who is at work. All are data, checked when read (see `bundle`). Every file is written beside its
place, flushed to disk and renamed, so that whatever stops the machine leaves the old file or the new one.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.stored import whole_numbers
from tielink.faults import Fault, InputError
from tielink.files import open_regular, write_whole
from tielink.run.bundle import Bundle, read_bundle, same, write_bundle
from tielink.run.job import Job
from tielink.run.recorder import SEGMENTS, Recorder
from tielink.run.rounds import nth_round

if TYPE_CHECKING:
    from tielink.run.chain import Chain

try:
    import fcntl
except ImportError:  # not every system has it; two runs in one folder are then the user's affair
    fcntl = None  # type: ignore[assignment]

__all__ = ["JOB", "load_chain", "load_job", "load_power", "locked", "remove", "save_chain", "save_job", "save_power"]

JOB = "job.npz"
POWER = "power.json"
OURS = re.compile(r"(job|chain-\d+)\.npz(\.part)?|power\.json(\.part)?|lock")
MOST_ROUNDS = 40


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Make the folder, and keep others from working in it; the system lets go of it when we end, however we do."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
    except OSError as error:
        what = f"cannot be made: {error.strerror}."
        raise InputError([Fault(str(folder), what, "Name another folder.")]) from None
    with os.fdopen(handle, "r+") as file:
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                what = f"another run is at work here: {file.read(200).strip() or 'it has just begun'}."
                raise InputError(
                    [Fault(str(folder), what, "Wait for it or stop it, or name another folder.")]
                ) from None
        file.truncate()
        file.write(f"process {os.getpid()}, since {time.strftime('%Y-%m-%d %H:%M:%S')}\n")
        file.flush()
        yield


def remove(folder: Path) -> None:
    """Remove what a finished run kept, and the folder unless it holds something that is not ours."""
    for path in [path for path in folder.iterdir() if OURS.fullmatch(path.name)]:
        path.unlink()
    with suppress(OSError):
        folder.rmdir()


def save_job(folder: Path, job: Bundle) -> None:
    """Start a checkpoint folder; one that holds another job is refused."""
    known = folder / JOB
    if not known.exists():
        write_whole(known, lambda file: write_bundle(file, job))
    elif not same(_read(known, "Remove the folder to begin anew."), job):
        raise InputError(
            [
                Fault(
                    str(folder),
                    "holds the checkpoint of another run (other data, model, settings or version of tielink).",
                    "Name a new folder, or continue that run: tielink resume.",
                )
            ]
        )


def load_job(folder: Path) -> Job:
    """Read what a checkpoint folder is about."""
    path = folder / JOB
    if not path.exists():
        raise InputError([Fault(str(folder), "is no checkpoint folder: it has no job.", "Check the path.")])
    bundle = _read(path, "Start the run again.")
    try:
        return Job.read(bundle)
    except InputError:
        raise
    except Exception as error:  # whatever data, however strange, can do to a reader
        reason = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise InputError([Fault(str(path), f"holds no job ({reason}).", "Start the run again.")]) from None


def _read(path: Path, do: str) -> Bundle:
    try:
        with open_regular(path) as file:
            return read_bundle(file)
    except (OSError, ValueError) as error:
        raise InputError([Fault(str(path), f"cannot be read ({error}).", do)]) from None


def save_power(folder: Path, power: float) -> None:
    """Keep the power of shared ties that a pilot run has found."""
    content = json.dumps({"power": power}).encode()
    write_whole(folder / POWER, lambda file: file.write(content))


def load_power(folder: Path) -> float | None:
    """Read the power of shared ties; None where it has not been learnt."""
    path = folder / POWER
    if not path.exists():
        return None
    try:
        with open_regular(path) as file:
            power = json.loads(file.read())["power"]
        if not isinstance(power, float) or not 0 <= power <= 1:
            raise ValueError("power")
    except Exception:  # whatever data, however strange, can do to a reader
        what = "holds no power of ties, a number from 0 to 1: it is damaged."
        raise InputError([Fault(str(path), what, "Remove it; the run then learns it again.")]) from None
    return power


def save_chain(folder: Path, chain: Chain, recorder: Recorder, number: int, sweeps: int) -> None:
    """Write how far a chain is: in which round, after how many sweeps; its draws so far are part of it."""
    arrays, values = chain.snapshot()
    filled = {f"draws.{name}": array for name, array in recorder.arrays.items()}
    values |= {"round": number, "sweeps": sweeps, "count": recorder.count, "moves": list(chain.moves)}
    everything: Bundle = {**arrays, **filled, "counts": recorder.counts}, values
    write_whole(folder / f"chain-{chain.index}.npz", lambda file: write_bundle(file, everything))


def load_chain(folder: Path, chain: Chain) -> tuple[int, int, Recorder] | None:
    """Put a chain where its checkpoint left it; return round, sweeps and draws, None without a checkpoint."""
    path = folder / f"chain-{chain.index}.npz"
    if not path.exists():
        return None
    arrays, values = _read(path, "Remove it to run that chain again.")
    try:
        number, sweeps = (int(values[name]) for name in ("round", "sweeps"))
        if not 0 <= number <= (0 if chain.job.run.draws else MOST_ROUNDS):
            raise ValueError(f"there is no round {number}")
        recorder = Recorder(chain, nth_round(chain.job.run, number).draws)
        _check_chain(arrays, values, chain, recorder)
        chain.restore(arrays, values)
        recorder.restore({name[6:]: array for name, array in arrays.items() if name.startswith("draws.")})
        recorder.counts[...] = arrays["counts"]
        recorder.count = int(values["count"])
        return number, sweeps, recorder
    except Exception as error:  # whatever data, however strange, can do to a reader
        raise InputError(
            [
                Fault(
                    str(path),
                    f"does not fit this version of tielink ({error}): it is damaged, or another one wrote it.",
                    "Remove it to run that chain again, or go on with the version that wrote it.",
                )
            ]
        ) from None


def _check_chain(arrays: dict[str, NDArray[Any]], values: dict[str, Any], chain: Chain, recorder: Recorder) -> None:
    """Hold what was stored against a chain that has not begun: the same arrays, and numbers that it can have."""
    run = chain.job.run
    if values["moves"] != list(chain.moves):
        raise ValueError(f"its moves are {', '.join(values['moves'])}")
    fresh = chain.snapshot()[0] | {f"draws.{name}": array for name, array in recorder.arrays.items()}
    fresh["counts"] = recorder.counts
    records = len(chain.job.records)
    for name, array in fresh.items():
        stored = arrays[name]
        growing = "." not in name  # the list of pairs, and what belongs to it, is as long as it came to be
        if stored.dtype != array.dtype or stored.shape[growing:] != array.shape[growing:]:
            raise ValueError(f"{name} has another shape or type")
        if name.startswith(("state.", "pairs")) and array.dtype.kind == "i" and not _name_records(stored, records):
            raise ValueError(f"{name} holds numbers out of range")  # a kernel looks where they point
    if "draws.pairs" in arrays:
        known = len(whole_numbers(arrays["draws.pairs"], (None, 2), 0, records, "draws.pairs"))
        if arrays["draws.chances"].shape != (SEGMENTS, known):
            raise ValueError("draws.chances has another shape")
    sweeps, count, now = values["sweeps"], values["count"], nth_round(run, values["round"])
    begun = 0 if values["round"] == 0 else now.before
    if not begun <= sweeps <= now.end or count != max(0, sweeps - now.before) // now.thin:
        raise ValueError(f"{sweeps} sweeps and {count} draws do not fit together")
    person = arrays["draws.person"][:count]
    if person.size and not (person.min() >= 0 and (person <= np.arange(person.shape[1])).all()):
        raise ValueError("its draws are no linkages")


def _name_records(array: NDArray[Any], records: int) -> bool:
    return bool(((array >= -1) & (array <= records)).all())
