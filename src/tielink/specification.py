"""Frozen, checked specifications that can be written to a project file and read back.

A specification is a frozen dataclass. It says what it does not accept by yielding from `complaints`;
every complaint of one specification is reported together when it is made.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self, TypeVar

from tielink.faults import Fault, Faults, InputError, nearest, refuse

__all__ = ["Beta", "Specification", "is_number", "is_whole", "read_table"]

S = TypeVar("S", bound="Specification")


class FrozenMapping(dict[Any, Any]):
    """A mapping that cannot be changed, so that specifications stay what they were when checked."""

    def _refuse(self, *_: object, **__: object) -> None:
        raise TypeError("a specification cannot be changed; make a new one (dataclasses.replace)")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse  # type: ignore[assignment]

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(frozenset(self.items()))

    def __reduce__(self) -> tuple[type[FrozenMapping], tuple[dict[Any, Any]]]:
        return (type(self), (dict(self),))


Complaint = tuple[str, str]
"""The name of a setting and what it should have been."""


@dataclasses.dataclass(frozen=True)
class Specification:
    """Base of all specifications: checked when made, and turned into tables and back."""

    kind: ClassVar[str]
    """The name of this specification in a project file."""
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {}
    """Settings that are specifications themselves, with the classes allowed there."""
    switches: ClassVar[Mapping[str, type[Specification]]] = {}
    """Settings that are off (False), on as usual (True, kept as the class's defaults) or a specification."""
    positive: ClassVar[tuple[str, ...]] = ()
    """Settings that are numbers above 0."""
    sampled: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {}
    """Settings that are a prior, of the classes allowed there, or a fixed number."""

    def __post_init__(self) -> None:
        """Keep own copies of mappings, then check every setting and report all that is wrong at once."""
        for name, switch in self.switches.items():
            if getattr(self, name) is True:
                object.__setattr__(self, name, switch())
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if isinstance(value, Mapping):
                object.__setattr__(self, field.name, FrozenMapping(value))
            elif hasattr(value, "item") and hasattr(value, "dtype"):
                object.__setattr__(self, field.name, value.item())  # a NumPy number: keep the plain one
        faults = [
            Fault(type(self).__name__, f"{name} is {_written(getattr(self, name))}.", f"Give {expected}.")
            for name, expected in self._all_complaints()
        ]
        if faults:
            raise InputError(faults)

    def _all_complaints(self) -> Iterator[Complaint]:
        for name, classes in self.parts.items():
            if not isinstance(getattr(self, name), classes):
                yield name, " or ".join(f"{cls.__name__}(...)" for cls in classes)
        for name, switch in self.switches.items():
            if getattr(self, name) is not False and not isinstance(getattr(self, name), switch):
                yield name, f"true, false or {switch.__name__}(...)"
        for name in self.positive:
            if not is_number(getattr(self, name), above=0):
                yield name, "a number above 0"
        for name, priors in self.sampled.items():
            value, share = getattr(self, name), Beta in priors
            fixed = is_number(value) and (0 <= value < 1 if share else value > 0)
            if not fixed and not isinstance(value, priors):
                number = "a number from 0 to below 1" if share else "a number above 0"
                yield name, " or ".join([number, *(f"{prior.__name__}(...)" for prior in priors)])
        for field in dataclasses.fields(self):
            if isinstance(field.default, bool) and not isinstance(getattr(self, field.name), bool):
                yield field.name, "true or false"
        yield from self.complaints()

    def complaints(self) -> Iterator[Complaint]:
        """Yield (setting, what it should have been) for every setting that is wrong."""
        yield from ()

    def to_table(self) -> dict[str, Any]:
        """Write every choice out as a table of plain values, `kind` first."""
        table: dict[str, Any] = {"kind": self.kind}
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if callable(value):
                what = f"{field.name} is a function, which a project file cannot hold."
                refuse(type(self).__name__, what, "Name a built-in one to write this model out.")
            if isinstance(value, Specification):
                value = value.to_table()
            elif isinstance(value, Mapping):
                value = dict(value)
            table[field.name] = value
        return table

    @classmethod
    def _made(cls, settings: Mapping[str, Any], where: str, faults: Faults) -> Self | None:
        """Make the specification; what it complains about goes on the list."""
        try:
            return cls(**settings)
        except InputError as error:
            faults.extend(Fault(where, fault.what, fault.do) for fault in error.faults)
            return None

    @classmethod
    def from_table(cls, table: Mapping[str, Any], where: str, faults: Faults) -> Self | None:
        """Make the specification from a table; faults go on the list, and then there is no result."""
        settings = {name: value for name, value in table.items() if name != "kind"}
        known = [field.name for field in dataclasses.fields(cls)]
        before = len(faults.errors)
        if table.get("kind", cls.kind) != cls.kind:
            faults.error(where, f"kind is {table['kind']!r}.", f"Give {cls.kind!r}, or leave it out.")
        for field in dataclasses.fields(cls):
            required = field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING
            if required and field.name not in settings:
                faults.error(where, f"{field.name} is not set.", f"{cls.__name__} has no default for it.")
        for name in settings.keys() - set(known):
            faults.error(where, f"unknown setting {name!r}.", nearest(name, known))
            del settings[name]
        for name, classes in cls.parts.items():
            if name in settings:
                settings[name] = read_table(settings[name], classes, f"{where}.{name}", faults)
        for name, priors in cls.sampled.items():
            if isinstance(settings.get(name), Mapping | str):
                settings[name] = read_table(settings[name], priors, f"{where}.{name}", faults)
        for name, switch in cls.switches.items():
            if not isinstance(settings.get(name, False), bool):
                settings[name] = read_table(settings[name], (switch,), f"{where}.{name}", faults)
        return cls._made(settings, where, faults) if len(faults.errors) == before else None


def read_table(value: object, classes: tuple[type[S], ...], where: str, faults: Faults) -> S | None:
    """Make the specification that a project file's value stands for.

    The value is the name of a kind, or a table with `kind` and settings; where only one class is
    possible, `kind` may be left out.
    """
    kinds = {cls.kind: cls for cls in classes}
    table = {"kind": value} if isinstance(value, str) else value
    if not isinstance(table, Mapping):
        faults.error(where, f"expected a table or one of {sorted(kinds)}, found {value!r}.")
        return None
    kind = table.get("kind", classes[0].kind if len(classes) == 1 else None)
    if kind is None:
        faults.error(where, "no `kind` is given.", f"Known here: {', '.join(kinds)}.")
        return None
    if not isinstance(kind, str) or kind not in kinds:
        faults.error(where, f"unknown kind {kind!r}.", nearest(str(kind), kinds))
        return None
    return kinds[kind].from_table(table, where, faults)


LARGEST = 10**15
"""No setting is larger: beyond it sums lose their last digits, and soon all of them."""


def _written(value: object) -> str:
    """Write a value for a message; a number of thousands of digits cannot be written out."""
    if isinstance(value, int) and abs(value) > LARGEST:
        return f"a number of {math.floor(math.log10(abs(value))) + 1} digits, where none is beyond 10¹⁵"
    return repr(value)


def is_number(value: object, *, above: float = -math.inf) -> bool:
    """Whether the value is a number greater than `above` (and no boolean) that can be reckoned with."""
    return isinstance(value, int | float) and not isinstance(value, bool) and value > above and abs(value) <= LARGEST


def is_whole(value: object, *, least: int, most: int = LARGEST) -> bool:
    """Whether the value is a whole number of at least `least` (and no boolean) and at most `most`."""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


@dataclasses.dataclass(frozen=True)
class Beta(Specification):
    """A Beta(a, b) prior for a rate between 0 and 1.

    >>> Beta(1, 99).mean
    0.01
    """

    kind: ClassVar[str] = "beta"
    positive: ClassVar[tuple[str, ...]] = ("a", "b")
    a: float = 1.0
    b: float = 1.0

    @property
    def mean(self) -> float:
        """The prior mean, a / (a + b)."""
        return self.a / (self.a + self.b)
