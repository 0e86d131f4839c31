"""Everything that is wrong with an input, said at once.

Readers, specifications and project files do not raise at the first fault they meet: they put it on a
`Faults` list, and whoever owns the whole input raises one `InputError` with all of them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Fault", "Faults", "InputError", "listed", "nearest"]


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

    def __init__(self) -> None:
        self.found: list[Fault] = []

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
