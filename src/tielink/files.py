"""Files: written whole or not at all, never through a link that somebody planted, and read only where reading ends."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from tielink.faults import Fault, InputError

__all__ = ["append_lines", "open_regular", "try_writing", "write_whole"]


def open_regular(path: Path) -> IO[bytes]:
    """Open a file for reading; an `OSError` for pipes and devices, which may never end."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    file = os.fdopen(handle, "rb")  # a folder is refused here
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        file.close()
        raise OSError(errno.EINVAL, "it is a pipe or a device, no file")
    return file


@contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Make an `InputError` of what keeps a file from being written, a full disk included."""
    try:
        yield
    except OSError as error:
        what = f"cannot be written: {error.strerror or error}."
        raise InputError([Fault(str(path), what, "Free space there, or name another place.")]) from None


@contextmanager
def _draft(path: Path) -> Iterator[IO[bytes]]:
    """Open a new file beside `path`."""
    draft = path.with_name(path.name + ".part")
    try:
        with _writing(path):
            if path.exists() and not path.is_file():
                raise OSError(errno.EINVAL, "there is something that is no file")
            draft.unlink(missing_ok=True)  # a crash left it, or it is a link to somewhere else
            with draft.open("xb") as file:
                yield file
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def write_whole(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a draft, flush it to disk and put it in place: whatever happens leaves the old file or the new one."""
    with _draft(path) as file:
        write(file)
        file.flush()
        os.fsync(file.fileno())
        os.replace(file.name, path)


def append_lines(path: Path, lines: Iterable[str]) -> None:
    """Append lines to a text file."""
    with _writing(path), path.open("a", encoding="utf-8") as file:
        file.writelines(f"{line}\n" for line in lines)


def try_writing(path: Path) -> None:
    """Raise an `InputError` if the file could not be written: before hours of work, and not after them."""
    with _draft(path):
        pass
