"""What a column of a profile means, and how records come to disagree with the truth.

A field is declared on the data set (`Dataset.from_frames(..., fields={"username": String()})`) and may be
modelled differently by a model (`Model(fields={...})`). Write v = π_{nℓ} for the true value of person n in
field ℓ; a record of that person says x with probability

    f(x | v) = (1 − ψ_ℓ)·1[x = v] + ψ_ℓ·ζ_v(x),

where ψ_ℓ is the distortion rate and ζ_v the distribution of distorted values.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from tielink.specification import Beta, Complaint, Specification, is_number

__all__ = [
    "DISTANCES",
    "FIELD_KINDS",
    "Affixes",
    "Categorical",
    "Date",
    "Field",
    "Measured",
    "Number",
    "PersonName",
    "String",
]

DISTANCES = ("levenshtein", "osa", "damerau_levenshtein", "indel", "jaro_winkler")
"""String distances known by name; all are RapidFuzz's."""

RARE = Beta(1.0, 99.0)
"""Distortion is rare: one value in a hundred is expected to be distorted."""
TYPED = Beta(1.0, 9.0)
"""Distortion of what people type, or what may change: one value in ten is expected to differ, and more is no surprise.

A prior that is sure of few differences is a trap in small files: persons whose values changed are then not linked, and
too few links remain to teach the rate.
"""
ANOTHER = Beta(20.0, 80.0)
"""Of five distorted values one is expected to be another one altogether: 13 to 28 % of them.

A pair of such values shows nothing by which it could be learnt how many there are. Whatever links the pair teaches it
instead: with a vague prior, links that ties suggest make more of them likely, until everybody is linked.
"""
ADDED = Beta(1.0, 4.0)
"""Of five changed values one is expected to have something added, and none or many are no surprise."""

SOMETIMES = Beta(1.0, 19.0)
"""One value in twenty is expected to be distorted."""


@dataclass(frozen=True)
class Field(Specification):
    """Base of the kinds of fields."""

    example: ClassVar[str] = "a field"
    """What such a column is, in a few words, for help texts."""

    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"distortion": (Beta,)}
    distortion: Beta = RARE
    """Prior of the distortion rate ψ_ℓ."""
    by_file: bool = field(default=False, kw_only=True)
    """Whether every file has a rate ψ_ℓj of its own, with the same prior."""


@dataclass(frozen=True)
class Categorical(Field):
    """A value out of a short list: a city, a class, a gender.

    A distorted value is drawn from the frequencies of the true ones: ζ_v = ϑ_ℓ whatever v, with
    π ~ Cat(ϑ_ℓ) and ϑ_ℓ ~ Dirichlet(concentration, …, concentration).

    Parameters
    ----------
    distortion
        Prior of the distortion rate ψ_ℓ.
    concentration
        Parameter of the symmetric Dirichlet prior of ϑ_ℓ.
    """

    kind: ClassVar[str] = "categorical"
    example: ClassVar[str] = "one of a short list: a city"
    distortion: Beta = TYPED
    concentration: float = 1.0

    def complaints(self) -> Iterator[Complaint]:
        """The concentration must be positive."""
        if not is_number(self.concentration, above=0):
            yield "concentration", "a number above 0"

    @classmethod
    def paper(cls) -> Self:
        """Exactly the paper's categorical field."""
        return cls(distortion=Beta(1.0, 99.0), concentration=1.0, by_file=False)


@dataclass(frozen=True)
class Affixes(Specification):
    """Some distorted values are the true one with something added before it, after it, or both (a third each).

    What is added is drawn from the language model of the field: `anna` may be written as `anna_1990` or `theanna`. Two
    records that both add something share the part in between.

    Parameters
    ----------
    share
        Prior of α, the share of values with affixes among those that are distorted and not another string.
    """

    kind: ClassVar[str] = "affixes"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"share": (Beta,)}
    share: Beta = ADDED


@dataclass(frozen=True)
class String(Field):
    """A value that people type: a username, a surname.

    With an open vocabulary any string may be true. A record says it exactly, mistyped, with affixes, or says another:

        f(x | v) = (1 − ψ)·1[x = v] + ψ·(1 − ρ)·[(1 − α)·ch(x | v) + α·af(x | v)] + ψ·ρ·p(x),

    p(v) rests on how often other records have v and on a language model of characters; ch drops, replaces and inserts
    characters; af adds something before or after the whole (`anna` as `anna_1990`). The
    paper's closed vocabulary is the strings seen, with

        ζ_v(s) = γ(s)·exp(−λ·d(s, v)) / Σ_t γ(t)·exp(−λ·d(t, v)),        π ~ γ.

    Parameters
    ----------
    distortion
        Prior of the distortion rate ψ_ℓ; Beta(1, 9), and Beta(1, 99), the paper's, for a closed vocabulary.
    vocabulary
        "open", or "closed": the strings seen (and those in `frequencies`) are the whole population (the paper).
    frequencies
        "empirical" for the frequencies in the files, or your own, as a mapping from strings to counts or shares. A
        closed vocabulary needs every string that occurs.
    sharpness
        Closed: λ > 0, how fast the probability of a distorted value falls with its distance from the truth.
    distance
        Closed: d, one of `DISTANCES`, or a function of two strings.
    max_distance
        Closed: distances beyond this count as this. A cap keeps large vocabularies in memory: "auto" caps at 4 beyond
        3,000 distinct strings and not at all below; "none" never caps.
    another
        Open: prior of ρ, the probability that a distorted value is another string altogether.
    edits
        Open: prior of the edit rate ε, the probability of an edit at a character of a mistyped value.
    affixes
        Open: whether distorted values may have something added (True, or `Affixes` with a prior of your own), or are
        only mistyped (False).
    """

    kind: ClassVar[str] = "string"
    example: ClassVar[str] = "typed by people: a username"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {
        "distortion": (Beta,),
        "another": (Beta,),
        "edits": (Beta,),
    }
    switches: ClassVar[Mapping[str, type[Specification]]] = {"affixes": Affixes}
    distortion: Beta = None  # type: ignore[assignment]  # set by the vocabulary
    vocabulary: str = "open"
    frequencies: Mapping[str, float] | str = "empirical"
    sharpness: float = 1.0
    distance: str | Callable[[str, str], float] = "levenshtein"
    max_distance: float | str = "auto"
    another: Beta = ANOTHER
    edits: Beta = TYPED
    affixes: Affixes | bool = Affixes()

    def __post_init__(self) -> None:
        """Choose the prior of ψ by the vocabulary, where none is given; then check."""
        if self.distortion is None:
            object.__setattr__(self, "distortion", RARE if self.vocabulary == "closed" else TYPED)
        super().__post_init__()

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own, and that it belongs to the vocabulary."""
        if self.vocabulary not in ("open", "closed"):
            yield "vocabulary", '"open" or "closed"'
        yield from _frequency_complaints(self.frequencies)
        if not is_number(self.sharpness, above=0):
            yield "sharpness", "a number above 0"
        if not callable(self.distance) and self.distance not in DISTANCES:
            yield "distance", f"one of {', '.join(DISTANCES)}, or a function of two strings"
        if self.max_distance not in ("auto", "none") and not is_number(self.max_distance, above=0):
            yield "max_distance", '"auto", "none" or a number above 0'
        idle = {"open": ("sharpness", "distance", "max_distance"), "closed": ("another", "edits")}
        if self.vocabulary == "closed" and self.affixes not in (False, type(self).affixes):
            yield "affixes", 'it only with vocabulary="open": it does nothing with "closed"'
        for name in idle.get(self.vocabulary, ()):
            if getattr(self, name) != getattr(type(self), name):
                other = "closed" if self.vocabulary == "open" else "open"
                yield name, f'it only with vocabulary="{other}": it does nothing with "{self.vocabulary}"'

    @classmethod
    def paper(cls) -> Self:
        """Exactly the paper's string field."""
        return cls(
            distortion=Beta(1.0, 99.0),
            vocabulary="closed",
            frequencies="empirical",
            sharpness=1.0,
            distance="levenshtein",
            max_distance="none",
            by_file=False,
        )

    def cap(self, distinct: int) -> float:
        """Return the distance cap for a vocabulary of this many strings; infinity for none."""
        if isinstance(self.max_distance, str):
            return 4.0 if self.max_distance == "auto" and distinct > 3_000 else math.inf
        return float(self.max_distance)


def _frequency_complaints(frequencies: Mapping[str, float] | str) -> Iterator[Complaint]:
    """Check frequencies that may be given."""
    if isinstance(frequencies, Mapping):
        values = frequencies.values()
        if not values or not all(is_number(value, above=0) for value in values) or math.isinf(sum(values)):
            yield "frequencies", "a mapping from strings to numbers above 0"
    elif frequencies != "empirical":
        yield "frequencies", '"empirical" or a mapping from strings to numbers above 0'


@dataclass(frozen=True)
class Measured(Field):
    """Base of numbers and dates: honest values lie near the true one, distorted ones are slips or anything.

        f(x | v) = (1 − ψ)·c_v(x) + ψ·[(1 − ρ)·s(x | v) + ρ·q(x)],        q(x) = Σ_v p(v)·c_v(x),

    with c_v a normal distribution of standard deviation τ around v (x = v for τ = 0), s a slip of the hand, p the
    distribution of true values, smoothed from the files, and q that of honest values of anybody.
    """

    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {"distortion": (Beta,), "another": (Beta,)}
    distortion: Beta = SOMETIMES
    tolerance: float = 0.0
    another: Beta = ANOTHER

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        if self.tolerance != 0 and not is_number(self.tolerance, above=0):
            yield "tolerance", "a number of at least 0"


@dataclass(frozen=True)
class Number(Measured):
    """A number whose size means something: an age, a year of birth, a height.

    A slip replaces one digit or swaps two neighbouring ones.

    Parameters
    ----------
    distortion
        Prior of the distortion rate ψ_ℓ.
    tolerance
        τ: the standard deviation of honest values around the true one; 0 if they are equal to it. Values are then read
        to a step of a half to a twentieth of τ.
    another
        Prior of ρ, the share of distorted values that have nothing to do with the true one.
    """

    kind: ClassVar[str] = "number"
    example: ClassVar[str] = "an amount or a year: an age"


@dataclass(frozen=True)
class Date(Measured):
    """A day: a date of birth, a date of admission.

    A slip replaces a digit, swaps two neighbouring ones, exchanges day and month, misses the year by one, or puts
    another day, another month or another year.

    Parameters
    ----------
    distortion
        Prior of the distortion rate ψ_ℓ.
    tolerance
        τ, in days: the standard deviation of honest dates around the true one; 0 if they are equal to it.
    another
        Prior of ρ, the share of distorted values that have nothing to do with the true one.
    format
        How dates are written, in the manner of strptime ("%d/%m/%Y"). "auto" takes ISO dates, YYYYMMDD, day.month.year,
        and day/month/year or month/day/year, whichever a file's values allow.
    """

    kind: ClassVar[str] = "date"
    example: ClassVar[str] = "a day: a date of birth"
    format: str = "auto"

    def complaints(self) -> Iterator[Complaint]:
        """Check each setting on its own."""
        yield from super().complaints()
        whole = all(part in str(self.format) for part in ("%d", "%m", "%Y"))
        if not isinstance(self.format, str) or not (self.format == "auto" or whole):
            yield "format", '"auto", or a form with %d, %m and %Y'


@dataclass(frozen=True)
class PersonName(Field):
    """A person's name in any common form: "Lenzmann, B.", "Barbara Lenzmann", "B. M. Lenzmann".

    The name is read into a family name and given names; order, case and punctuation tell nothing. A record shows each
    given name in full, as an initial, or not at all; a distorted one is mistyped throughout, first letters spared, or
    is the name of somebody else. True names are independent draws of a family name and of given names, by how often
    other records have such parts and by a language model.

    Parameters
    ----------
    distortion
        Prior of the distortion rate ψ_ℓ.
    another
        Prior of ρ, the probability that a distorted name is another one altogether.
    edits
        Prior of the edit rate ε, the probability of an edit at a character of a mistyped name.
    drops
        Prior of d, the probability that a record does not show a given name other than the first; that one is left out
        a tenth as often.
    frequencies
        "empirical" for the parts of the names in the files, or a mapping from names to counts or shares.
    """

    kind: ClassVar[str] = "person_name"
    example: ClassVar[str] = "a person's name in any form"
    parts: ClassVar[Mapping[str, tuple[type[Specification], ...]]] = {
        "distortion": (Beta,),
        "another": (Beta,),
        "edits": (Beta,),
        "drops": (Beta,),
    }
    distortion: Beta = TYPED
    another: Beta = ANOTHER
    edits: Beta = TYPED
    drops: Beta = TYPED
    frequencies: Mapping[str, float] | str = "empirical"

    def complaints(self) -> Iterator[Complaint]:
        """Check the frequencies."""
        yield from _frequency_complaints(self.frequencies)


FIELD_KINDS: tuple[type[Field], ...] = (String, PersonName, Categorical, Number, Date)
"""Every kind of field, in the order in which help texts name them."""
