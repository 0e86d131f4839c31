"""Columns that files share: by name, by what the user says is the same, and what looks the same."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import NamedTuple

from tielink.data.columns import Column
from tielink.data.frames import Table
from tielink.faults import Faults, listed, nearest

__all__ = ["rename_same", "say_unshared"]

ALIKE = 0.5
"""Columns are suggested as the same when likeness of names and share of common values together are at least this."""


def rename_same(
    tables: Mapping[str, Table], same: Mapping[str, str | Sequence[str]], faults: Faults
) -> dict[str, Table]:
    """Give columns that are said to be the same one name, the first; what cannot be is a fault."""
    renamed = dict(tables)
    columns = {column for table in tables.values() for column in table.frame.columns}
    for name, others in same.items():
        for other in [others] if isinstance(others, str) else others:
            for unknown in {name, other} - columns:
                faults.error("same", f"names {unknown!r}, which is no column.", nearest(unknown, columns))
            for file, table in renamed.items():
                if {name, other} <= set(table.frame.columns):
                    faults.error(table.where, f"has both {name!r} and {other!r}.", "They cannot be the same column.")
                elif other in table.frame.columns:
                    renamed[file] = Table(table.frame.rename({other: name}), table.where, table.rows)
    return renamed


class _Lone(NamedTuple):
    """A column that one file alone has."""

    name: str
    file: str
    values: frozenset[str]


def say_unshared(
    columns: Mapping[str, Column], tables: Mapping[str, Table], other_evidence: bool, faults: Faults
) -> None:
    """Suggest which columns of different files mean the same; with nothing in common, that is an error.

    `other_evidence`: whether there is something else than columns to link by, ties in two files or more.
    """
    holders = {name: [file for file, table in tables.items() if name in table.frame.columns] for name in columns}
    lone = [
        _Lone(name, files[0], frozenset(value.casefold().strip() for value in columns[name].values))
        for name, files in holders.items()
        if len(files) == 1
    ]
    pairs = _alike(lone)
    if columns and len(lone) == len(columns) and not other_evidence:
        ways = [faults.setting("same", {one.name: two.name}) for one, two, _ in pairs]
        first, second = [next(iter(table.frame.columns), "column") for table in list(tables.values())[:2]]
        held = "; ".join(
            f"{file} has {listed([repr(c.name) for c in lone if c.file == file], 8) or 'its ids alone'}"
            for file in tables
        )
        faults.error(
            "columns",
            f"the files have no column in common, and there are no ties to link by: {held}.",
            f"These look alike, so try {' '.join(ways)}."
            if ways
            else f"Say which are the same ({faults.setting('same', {first: second})}), or rename them.",
        )
        return
    for one, two, shared in pairs:
        faults.warning(
            f"column {one.name!r} in {one.file}",
            f"looks like {two.name!r} in {two.file} ({shared:.0%} of the values are shared), but has another name.",
            f"If they are the same, say {faults.setting('same', {one.name: two.name})}.",
        )


def _alike(lone: Sequence[_Lone]) -> list[tuple[_Lone, _Lone, float]]:
    """Return pairs of columns of different files that look alike, the likest first, each column once."""
    found = []
    for place, one in enumerate(lone):
        for two in lone[place + 1 :]:
            if one.file != two.file and one.values and two.values:
                shared = len(one.values & two.values) / min(len(one.values), len(two.values))
                name = SequenceMatcher(None, _plain(one.name), _plain(two.name)).ratio()
                if shared + (name if name > 0.6 else 0.0) >= ALIKE:
                    found.append((shared + name, one, two, shared))
    taken: set[str] = set()
    chosen = []
    for _, one, two, shared in sorted(found, key=lambda entry: -entry[0]):
        if not taken & {one.name, two.name}:
            taken |= {one.name, two.name}
            chosen.append((one, two, shared))
    return chosen


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())
