"""Specifications as words of the command line: a kind, and settings behind a colon (`match_rate:a=2,b=5`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from tielink.faults import Faults, nearest
from tielink.specification import read_table

if TYPE_CHECKING:
    from tielink.specification import Specification

__all__ = ["read_worded"]

S = TypeVar("S", bound="Specification")


def read_worded(
    text: str, classes: tuple[type[S], ...], where: str, faults: Faults, others: tuple[str, ...] = ()
) -> S | None:
    """Make the specification of `kind:a=2,b=5`; what is wrong goes on the list, advice may name `others`."""
    kind, _, settings = text.partition(":")
    kind, kinds = kind.replace("-", "_"), [cls.kind for cls in classes]
    if kind not in kinds:
        faults.error(where, f"is {kind!r}.", nearest(kind, [*kinds, *others]))
        return None
    table: dict[str, Any] = {"kind": kind}
    for part in filter(None, settings.split(",")):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not value:
            faults.error(where, f"{part!r} is no setting.", "Write settings as a=2,b=5.")
            return None
        table[key] = _plain(value)
    return read_table(table, classes, f"{where} {kind}", faults)


def _plain(text: str) -> bool | int | float | str:
    """Read a truth value, a number, or else a text."""
    if text in ("true", "false"):
        return text == "true"
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        return text
