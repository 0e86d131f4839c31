"""Checkpoints: a folder from which an interrupted run goes on as if nothing had happened.

`job.pickle` holds what to do, `chain-K.npz` how far chain K is and all its draws. Every file is written beside its
place, flushed to disk and renamed, so that whatever stops the machine leaves the old file or the new one.
A folder holds Python pickles: resume only from folders of your own.
"""

from __future__ import annotations

import json
import os
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import numpy as np

from tielink.faults import Fault, InputError
from tielink.run.engine import AnyChain
from tielink.run.job import Job
from tielink.run.recorder import Recorder

__all__ = ["load_chain", "load_job", "save_chain", "save_job", "write_whole"]

JOB = "job.pickle"


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file whole or not at all; a full disk or a folder that cannot be written to is an `InputError`."""
    draft = path.with_name(path.name + ".part")
    try:
        with draft.open("wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise InputError(
            [Fault(str(path), f"cannot be written: {error.strerror}.", "Free space there, or name another folder.")]
        ) from None


def save_job(folder: Path, job: Job) -> None:
    """Start a checkpoint folder; one that holds another job is refused."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError([Fault(str(folder), f"cannot be made: {error.strerror}.", "Name another folder.")]) from None
    known = folder / JOB
    if known.exists():
        if load_job(folder).fingerprint() != job.fingerprint():
            raise InputError(
                [
                    Fault(
                        str(folder),
                        "holds the checkpoint of another run (other data, model or settings).",
                        "Name a new folder, or continue that run: tielink resume.",
                    )
                ]
            )
        return
    write_whole(known, lambda file: pickle.dump(job, file))


def load_job(folder: Path) -> Job:
    """Read what a checkpoint folder is about."""
    try:
        job = pickle.loads((folder / JOB).read_bytes())
    except FileNotFoundError:
        raise InputError([Fault(str(folder), "is no checkpoint folder: it has no job.", "Check the path.")]) from None
    except Exception as error:
        raise InputError([Fault(str(folder / JOB), f"cannot be read ({error}).", "Start the run again.")]) from None
    assert isinstance(job, Job)
    return job


def save_chain(folder: Path, chain: AnyChain, recorder: Recorder, sweeps: int) -> None:
    """Write how far a chain is; its draws so far are part of it."""
    arrays, values = chain.snapshot()
    filled = {f"draws.{name}": array for name, array in recorder.arrays.items()}
    values |= {"sweeps": sweeps, "count": recorder.count, "moves": list(chain.moves)}
    text = np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)

    def write(file: IO[bytes]) -> None:
        everything: dict[str, Any] = {**arrays, **filled, "counts": recorder.counts, "values": text}
        np.savez(file, **everything)

    write_whole(folder / f"chain-{chain.index}.npz", write)


def load_chain(folder: Path, chain: AnyChain, recorder: Recorder) -> int:
    """Put a chain where its checkpoint left it; return how many sweeps it has done, 0 without a checkpoint."""
    path = folder / f"chain-{chain.index}.npz"
    if not path.exists():
        return 0
    try:
        with np.load(path) as stored:
            arrays: dict[str, Any] = dict(stored)
    except (OSError, ValueError, zipfile.BadZipFile) as error:
        raise InputError(
            [Fault(str(path), f"cannot be read ({error}).", "Remove it to run that chain again.")]
        ) from None
    try:
        values = json.loads(arrays.pop("values").tobytes())
        if values["moves"] != list(chain.moves):
            raise ValueError(f"its moves are {', '.join(values['moves'])}")
        chain.restore(arrays, values)
        for name, array in recorder.arrays.items():
            array[...] = arrays[f"draws.{name}"]
        recorder.counts[...] = arrays["counts"]
        recorder.count = int(values["count"])
        return int(values["sweeps"])
    except (KeyError, ValueError) as error:
        raise InputError(
            [
                Fault(
                    str(path),
                    f"does not fit this version of tielink ({error}): another one wrote it.",
                    "Go on with the version that wrote it, or name a new folder to start again.",
                )
            ]
        ) from None
