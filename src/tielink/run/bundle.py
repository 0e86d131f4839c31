"""Named arrays and plain values in one npz without Python objects: checkpoints are such files, messages such bytes.

Nothing that is read here can be run: arrays hold numbers, all else is JSON.
"""

from __future__ import annotations

import io
import json
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bundle", "read_bundle", "receive", "same", "send", "write_bundle"]

Bundle = tuple[dict[str, NDArray[Any]], dict[str, Any]]
"""Arrays by name, and values that JSON holds."""

VALUES = "values"


def write_bundle(file: IO[bytes], bundle: Bundle) -> None:
    """Write arrays and values."""
    arrays, values = bundle
    everything: dict[str, Any] = {**arrays, VALUES: np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)}
    np.savez(file, **everything)


def read_bundle(file: IO[bytes]) -> Bundle:
    """Read what `write_bundle` wrote; anything else is a `ValueError`."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = dict(stored)
        values = json.loads(arrays.pop(VALUES).tobytes())
    except Exception as error:  # zip, npy and JSON readers raise many kinds for what is damaged
        raise ValueError(str(error).partition("\n")[0] or type(error).__name__) from None
    if not isinstance(values, dict):
        raise ValueError("there are no values")
    return arrays, values


def same(one: Bundle, other: Bundle) -> bool:
    """Whether two bundles hold the same."""
    return (
        json.dumps(one[1], sort_keys=True) == json.dumps(other[1], sort_keys=True)
        and one[0].keys() == other[0].keys()
        and all(np.array_equal(array, other[0][name]) for name, array in one[0].items())
    )


def send(stream: IO[bytes], bundle: Bundle) -> None:
    """Send a bundle to another process, its length first."""
    packed = io.BytesIO()
    write_bundle(packed, bundle)
    stream.write(packed.tell().to_bytes(8, "big"))
    stream.write(packed.getbuffer())
    stream.flush()


def receive(stream: IO[bytes]) -> Bundle | None:
    """Receive a bundle; None where the stream ends."""
    head = stream.read(8)
    size = int.from_bytes(head, "big")
    packed = stream.read(size) if len(head) == 8 else b""
    return read_bundle(io.BytesIO(packed)) if packed and len(packed) == size else None
