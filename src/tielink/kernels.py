"""Compiled functions, cached on disk by the content of everything they call.

numba's own cache looks at the file of a function, not at the functions it calls: after an edit there it would go on
with what it compiled before. Here the key is a digest of the kernel's source, of the kernels it calls, of the constants
it uses, and of the fields of the named tuples it is given. An edit anywhere therefore compiles again what depends on
it, and nothing else; clones and versions that have a kernel in common share what was compiled. The cache is in the
user's cache folder; `NUMBA_CACHE_DIR`, if set, takes its place.
"""

from __future__ import annotations

import contextlib
import hashlib
import inspect
import os
import sys
import time
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numba
from numba.core import types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, NullCache, _CacheLocator
from numba.core.dispatcher import Dispatcher

try:
    import fcntl
except ImportError:  # not every system has it; several processes may then compile the same
    fcntl = None  # type: ignore[assignment]

__all__ = ["entry_of", "njit", "tell_of_compiling"]

OLD = 60 * 86_400
"""Seconds after which a compiled kernel is removed, when another one is written."""


PATIENCE = 60.0
"""Seconds that a process waits for another one to compile; then it compiles, too."""


def njit(function: Any = None, **options: Any) -> Any:
    """Compile a function when it is called, as `numba.njit` does, and keep the result in tielink's cache."""
    if function is None:
        return partial(njit, **options)
    dispatcher = numba.njit(function, **options)
    dispatcher._cache = _KernelCache(function)
    return dispatcher


class _KernelCache(NullCache):
    """Looks a kernel up when it is first called, for then everything that it calls is defined."""

    def __init__(self, function: FunctionType) -> None:
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = self._load(sig, target_context)
        if found is None:
            _turn.take()
            found = self._load(sig, target_context)  # another process may have compiled it meanwhile
            if found is not None:
                _turn.leave()
        return found

    def _load(self, sig: Any, target_context: Any) -> Any:
        with contextlib.suppress(OSError, RuntimeError):  # nowhere to keep anything: compile
            return _ContentCache(self._function, sig).load_overload(sig, target_context)

    def save_overload(self, sig: Any, cres: Any) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            _tidy()
            _ContentCache(self._function, sig).save_overload(sig, cres)
        _turn.leave()


class _Turn:
    """Processes compile one after the other: what one has compiled, the others load."""

    def __init__(self) -> None:
        self.depth = 0
        """Kernels that are being compiled here, each called by the one before."""
        self.file: Any = None
        self.told: Callable[[], object] | None = None

    def take(self) -> None:
        """Wait for the turn, and say that there is something to compile."""
        self.depth += 1
        if self.depth > 1:
            return
        if self.told is not None:
            self.told()
        with contextlib.suppress(OSError):
            _home().mkdir(parents=True, exist_ok=True)
            self.file = os.fdopen(os.open(_home() / "lock", os.O_RDWR | os.O_CREAT, 0o666))
            until = time.monotonic() + PATIENCE
            while fcntl is not None and time.monotonic() < until:
                try:
                    fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    return
                except BlockingIOError:
                    time.sleep(0.05)

    def leave(self) -> None:
        """Let others compile, once the outermost kernel is done; the system does so should this process end."""
        self.depth = max(self.depth - 1, 0)
        if not self.depth and self.file is not None:
            self.file.close()
            self.file = None


_turn = _Turn()


def tell_of_compiling(told: Callable[[], object] | None) -> None:
    """Have a function called whenever this process begins to compile."""
    _turn.told = told


class _ContentCache(FunctionCache):
    """numba's cache of one function, in files that are named by content."""

    def __init__(self, function: FunctionType, signature: Any) -> None:
        digest = _digest(function, signature)
        locator = type("Locator", (_Locator,), {"digest": digest})
        self._impl_class: Any = type("Implementation", (CompileResultCacheImpl,), {"_locator_classes": [locator]})
        super().__init__(function)


class _Locator(_CacheLocator):
    """Says where compiled code is kept and what it was made of."""

    digest: str

    @classmethod
    def from_function(cls, py_func: Any, py_file: str) -> _Locator:
        return cls()

    def get_cache_path(self) -> str:
        return str(_home())

    def get_source_stamp(self) -> str:
        return self.digest

    def get_disambiguator(self) -> str:
        return self.digest


def _digest(function: FunctionType, signature: Any) -> str:
    """Return a digest of all that the compiled code depends on."""
    parts = [sys.version, numba.__version__, *_named_tuples(getattr(signature, "args", signature))]
    seen, waiting = {function}, [function]
    while waiting:
        texts, called = _content(waiting.pop())
        parts += texts
        waiting += sorted(called - seen, key=lambda one: f"{one.__module__}.{one.__qualname__}")
        seen |= called
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:24]


def _named_tuples(signature: Any) -> Iterator[str]:
    """Yield the fields of every named tuple among the types of a signature."""
    for one in signature:
        if isinstance(one, types.NamedTuple | types.NamedUniTuple):
            yield f"{one.instance_class.__module__}.{one.instance_class.__qualname__}{one.fields}"
        if isinstance(one, types.BaseTuple):
            yield from _named_tuples(one)


@cache
def _content(function: FunctionType) -> tuple[list[str], set[FunctionType]]:
    """Return the source of a function, where it stands and the constants it uses, and the functions it calls."""
    texts, called = [f"{function.__module__}: {inspect.getsource(function)}"], set()
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        value = getattr(value, "_defn", value)  # an intrinsic
        value = value.py_func if isinstance(value, Dispatcher) else value
        if isinstance(value, FunctionType):
            called.add(value)
        elif isinstance(value, type) and value.__module__.startswith("tielink."):
            texts.append(inspect.getsource(value))
        elif value is not None and not inspect.ismodule(value):
            texts.append(f"{name} = {value!r}")
    return texts, called


def _names(code: CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _names(constant)
    return found


def _home() -> Path:
    """Return the folder of all compiled kernels."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tielink" / "kernels"


@cache
def _tidy() -> None:
    """Remove what was compiled long ago."""
    for path in _home().glob("*.nb?"):
        with contextlib.suppress(OSError):
            if time.time() - path.stat().st_mtime > OLD:
                path.unlink()


@njit
def entry_of(begin, numbers, row, number):
    """The place of a number among numbers[begin[row] : begin[row + 1]], which increase; -1 if it is not there."""
    low, high = begin[row], begin[row + 1]
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < number:
            low = middle + 1
        else:
            high = middle
    return low if low < begin[row + 1] and numbers[low] == number else -1
