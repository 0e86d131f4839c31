"""Which columns are fields, and of what kind: declared, or guessed and said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from tielink.data.columns import USUALLY_MISSING, Column, encode_column
from tielink.data.frames import Table
from tielink.data.guess import guess_field
from tielink.faults import Faults, listed, nearest
from tielink.fields import FIELD_KINDS, Field

if TYPE_CHECKING:
    from tielink.data.dataset import Given

__all__ = ["profile_columns"]


def profile_columns(given: Given, tables: dict[str, Table], faults: Faults) -> dict[str, Column]:
    """Encode every column that is declared, or guessed, to be a field."""
    if given.fields is not None and not isinstance(given.fields, Mapping):
        faults.error("fields", f"is {given.fields!r}.", 'Give a mapping: {"username": String()}.')
        return {}
    present = list(dict.fromkeys(column for table in tables.values() for column in table.frame.columns))
    missing = _missing(given)
    fields: dict[str, Field] = dict(given.fields or {})
    for name in fields.keys() - set(present):
        if not given.unreadable:
            faults.error(f"field {name!r}", "no file has such a column.", nearest(name, present))
        del fields[name]
    for name, kind in list(fields.items()):
        if not isinstance(kind, Field):
            kinds = " or ".join(f"{kind.__name__}()" for kind in FIELD_KINDS)
            faults.error(f"field {name!r}", f"is declared as {kind!r}.", f"Give {kinds}.")
            del fields[name]
    for name in set(given.ignore) - set(present) if not given.unreadable else ():
        faults.error("ignore", f"names {name!r}, which is no column.", nearest(name, present))
    unused = [name for name in present if name not in (given.fields or {}) and name not in given.ignore]
    guessed: dict[str, Field] = {}
    if given.guess or given.fields is None:
        guessed = _guess(unused, tables, missing, faults)
    elif unused:
        faults.note("columns", f"not declared, so not used: {listed([repr(name) for name in unused], 12)}.")
    return {
        name: encode_column(name, kind, tables, missing, faults, guessed=name in guessed)
        for name, kind in (fields | guessed).items()
    }


def _missing(given: Given) -> Sequence[str]:
    """Return the texts that mean missing: the usual ones and those given; of an empty list (or text), none."""
    named = [given.missing] if isinstance(given.missing, str) else given.missing
    texts = None if named is None else [str(text) for text in named if text != ""]
    return [] if texts == [] else [*USUALLY_MISSING, *(texts or [])]


def _guess(names: Sequence[str], tables: dict[str, Table], missing: Sequence[str], faults: Faults) -> dict[str, Field]:
    """Guess what these columns mean, and say it: why, three values, and how to correct it."""
    fields: dict[str, Field] = {}
    for name in names:
        guess = guess_field(tables, name, missing)
        where = f"column {name!r}"
        parts = [table.frame[name].drop_nulls() for table in tables.values() if name in table.frame.columns]
        cells = (str(cell) for part in parts for cell in part.to_list())
        known = [cell for cell in cells if cell and cell not in missing]
        some = listed([repr(value) for value in islice(dict.fromkeys(known), 3)])
        examples = f" ({some})" if known else ""
        if guess.field is None:
            more = {"tolerance": 0.01} if guess.instead == "number" else {}
            use = f" To use it, say {faults.declaration(name, guess.instead, **more)}." if known else ""
            faults.note(where, f"is not used: it {guess.why}{examples}.{use}")
            continue
        fields[name] = guess.field
        other = "categorical" if guess.field.kind != "categorical" else "string"
        kind = "categorical" if other == "string" else f"a {guess.field.kind.replace('_', ' ')}"
        faults.note(
            where,
            f"taken as {kind} ({guess.why}): {len(known):,} values, {len(set(known)):,} different{examples}. If that "
            f"is wrong, say {faults.declaration(name, other)} or {faults.setting('ignore', [name])}.",
        )
    return fields
