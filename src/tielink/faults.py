"""Everything that is wrong with an input, said at once.

Readers, specifications and project files do not raise at the first fault they meet: they put it on a
`Faults` list, and whoever owns the whole input raises one `InputError` with all of them.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NoReturn, TypeAlias

__all__ = ["Caller", "Fault", "Faults", "InputError", "listed", "nearest", "refuse"]

Caller: TypeAlias = Literal["python", "project file", "command line"]
"""Who gave the input: advice is in the language that they write settings in."""


LONGEST = 1000
"""Characters of a part of a message."""


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong: where, what was expected and found, what to do.

    An *error* stops the work; a *warning* is said and the work goes on; a *note* only tells how the
    input was understood.
    """

    where: str
    what: str
    do: str = ""
    severity: Literal["error", "warning", "note"] = "error"

    def __post_init__(self) -> None:
        """Cut texts that nobody reads to their end: a message may quote a cell of a megabyte."""
        for name in ("where", "what", "do"):
            text = getattr(self, name)
            if len(text) > LONGEST:
                object.__setattr__(self, name, f"{text[: LONGEST - 200]} […] {text[-180:]}")

    def __str__(self) -> str:
        return f"{self.where}: {self.what}" + (f" {self.do}" if self.do else "")


class InputError(ValueError):
    """The input cannot be used; `faults` lists every reason."""

    def __init__(self, faults: Iterable[Fault]):
        self.faults = tuple(faults)
        count = len(self.faults)
        heading = "1 fault in the input:" if count == 1 else f"{count} faults in the input:"
        super().__init__("\n".join([heading, *(f"  - {fault}" for fault in self.faults)]))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        return (type(self), (self.faults,))


class Faults:
    """A list of faults under construction.

    >>> faults = Faults()
    >>> faults.error("a.csv, row 3", "id 'x' is empty.", "Give every record an id.")
    >>> faults.raise_errors()
    Traceback (most recent call last):
    tielink.faults.InputError: 1 fault in the input:
      - a.csv, row 3: id 'x' is empty. Give every record an id.
    """

    def __init__(self, caller: Caller = "python") -> None:
        self.found: list[Fault] = []
        self.caller: Caller = caller

    def setting(self, name: str, value: str | Sequence[str] | Mapping[str, str]) -> str:
        """Write a setting as whoever gave the input would.

        >>> [Faults(caller).setting("ignore", ["x"]) for caller in ("command line", "project file", "python")]
        ['--ignore x', '`ignore = ["x"]` in [data]', "ignore=['x']"]
        """
        if self.caller == "command line":
            parts = [f"{a}={b}" for a, b in value.items()] if isinstance(value, Mapping) else value
            option = f"--{name.replace('_', '-')}"
            return " ".join(f"{option} {part}" for part in ([parts] if isinstance(parts, str) else parts))
        if self.caller == "python":
            return f"{name}={value!r}"
        if isinstance(value, Mapping):
            pairs = ", ".join(f'{a} = "{b}"' for a, b in value.items())
            return f"`{name} = {{ {pairs} }}` in [data]"
        texts = f'"{value}"' if isinstance(value, str) else "[" + ", ".join(f'"{text}"' for text in value) + "]"
        return f"`{name} = {texts}` in [data]"

    def declaration(self, column: str, kind: str, **settings: str | float) -> str:
        """Write what a column means as whoever gave the input would.

        >>> [Faults(caller).declaration("born", "date", format="%Y") for caller in ("command line", "python")]
        ['--date born:format=%Y', "fields={'born': tl.Date(format='%Y'), …}"]
        """
        if self.caller == "command line":
            more = ",".join(f"{name}={value}" for name, value in settings.items())
            return f"--{kind.replace('_', '-')} {column}" + (f":{more}" if more else "")
        if self.caller == "python":
            inside = ", ".join(f"{name}={value!r}" for name, value in settings.items())
            return f"fields={{{column!r}: tl.{kind.title().replace('_', '')}({inside}), …}}"
        inside = "".join(f", {name} = {json.dumps(value)}" for name, value in settings.items())
        return f'`{column} = {{ kind = "{kind}"{inside} }}` in [fields]'

    def error(self, where: str, what: str, do: str = "") -> None:
        """Note something that must be mended before work can start."""
        self.found.append(Fault(where, what, do))

    def warning(self, where: str, what: str, do: str = "") -> None:
        """Note something the user should know; work goes on."""
        self.found.append(Fault(where, what, do, "warning"))

    def note(self, where: str, what: str) -> None:
        """Tell how something was understood."""
        self.found.append(Fault(where, what, "", "note"))

    def extend(self, faults: Iterable[Fault]) -> None:
        """Take over faults found elsewhere."""
        self.found.extend(faults)

    @property
    def errors(self) -> tuple[Fault, ...]:
        """The faults that stop the work."""
        return tuple(fault for fault in self.found if fault.severity == "error")

    @property
    def said(self) -> tuple[Fault, ...]:
        """The warnings and notes, in the order in which they came up."""
        return tuple(fault for fault in self.found if fault.severity != "error")

    def raise_errors(self) -> None:
        """Raise one `InputError` with every error and warning, if there is an error."""
        if self.errors:
            raise InputError(fault for fault in self.found if fault.severity != "note")


def refuse(where: str, what: str, do: str = "") -> NoReturn:
    """Raise an `InputError` with a single fault."""
    raise InputError([Fault(where, what, do)])


def listed(items: Sequence[object], most: int = 3) -> str:
    """Name the first few items and count the rest.

    >>> listed(["a", "b"])
    'a and b'
    >>> listed([2, 3, 5, 7, 11])
    '2, 3, 5 and 2 more'
    """
    if len(items) <= 1:
        return "".join(map(str, items))
    if len(items) <= most:
        return ", ".join(map(str, items[:-1])) + f" and {items[-1]}"
    return ", ".join(map(str, items[:most])) + f" and {len(items) - most:,} more"


def nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the known word that was probably meant, or list what there is.

    >>> nearest("dimention", ["dimension", "link"])
    "Did you mean 'dimension'?"
    >>> nearest("colour", ["dimension", "link"])
    "Known here: 'dimension' and 'link'."
    """
    names = [str(name) for name in known]
    close = difflib.get_close_matches(word, names, n=1)
    if close:
        return f"Did you mean {close[0]!r}?"
    if not names:
        return "Nothing is known here."
    return f"Known here: {listed([repr(name) for name in names], most=12)}."
