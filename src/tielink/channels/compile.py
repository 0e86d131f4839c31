"""From a field's specification and its column to a channel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tielink.channels.affix_tables import affix_tables
from tielink.channels.categorical import CategoricalChannel
from tielink.channels.channel import Channel, Codes
from tielink.channels.closed_string import ClosedStringChannel
from tielink.channels.compile_measured import compile_measured
from tielink.channels.counts import count_by_file, largest_count, others_count
from tielink.channels.near_strings import sharing_pairs
from tielink.channels.open_string import OpenStringChannel
from tielink.channels.person_name import compile_names
from tielink.channels.string_tables import string_tables
from tielink.channels.string_truth import string_truth
from tielink.channels.typing_tables import typing_tables
from tielink.data.columns import MISSING, Column
from tielink.faults import Faults, listed
from tielink.fields import Affixes, Categorical, Field, Measured, PersonName, String

__all__ = ["compile_channel"]

LONGEST = 200
"""Characters of the longest string that is compared letter by letter."""
LEAST = -340.0
"""The least log p(v) whose square a double still holds."""


def compile_channel(name: str, field: Field, column: Column, file_of: Codes, faults: Faults) -> Channel | None:
    """Compile a field; what does not fit its column goes on the list of faults, and then there is no channel."""
    if isinstance(field, Categorical):
        return CategoricalChannel(name, column.codes, len(column.values), field.concentration)
    if isinstance(field, Measured):
        return compile_measured(name, field, column, file_of, faults)
    if isinstance(field, PersonName):
        return _person_name(name, field, column, file_of, faults)
    assert isinstance(field, String)
    if field.vocabulary == "open":
        return _open_string(name, field, column, file_of, faults)
    return _closed_string(name, field, column, faults)


def _closed_string(name: str, field: String, column: Column, faults: Faults) -> Channel | None:
    if isinstance(field.frequencies, Mapping):
        given = field.frequencies
        unknown = [
            value for value, count in zip(column.values, column.counts(), strict=True) if count and value not in given
        ]
        if unknown:
            examples = listed([repr(value) for value in unknown])
            faults.error(f"field {name!r}", f"frequencies do not cover {examples}.", "Give every value a frequency.")
            return None
        vocabulary = tuple(given)
        frequencies = np.array(list(given.values()), dtype=float)
        place = {value: code for code, value in enumerate(vocabulary)}
        recode = np.array([*(place.get(value, MISSING) for value in column.values), MISSING])
        codes = recode[column.codes]
    else:
        vocabulary, frequencies, codes = column.values, column.counts().astype(float), column.codes
    tables = string_tables(field, vocabulary, frequencies / frequencies.sum())
    return ClosedStringChannel(name, codes, len(vocabulary), tables)


def _open_string(name: str, field: String, column: Column, file_of: Codes, faults: Faults) -> Channel | None:
    if not _short_enough(name, column, faults):
        return None
    given = field.frequencies
    if isinstance(given, Mapping):
        truth = string_truth(column.values, given)
    else:
        by_file = count_by_file(column.codes, file_of, len(column.values))
        truth = string_truth(column.values, largest_count(by_file), others_count(by_file))
    levels = len(truth.strings)
    if isinstance(field.affixes, Affixes):
        tables = typing_tables(truth, besides=sharing_pairs(column.values))
        affixes, share = affix_tables(tables), field.affixes.share
    else:
        tables, affixes, share = typing_tables(truth), None, None
    return OpenStringChannel(name, column.codes, levels, field.another, tables, field.edits, affixes, share)


def _person_name(name: str, field: PersonName, column: Column, file_of: Codes, faults: Faults) -> Channel | None:
    if not _short_enough(name, column, faults):
        return None
    channel = compile_names(name, field, column, file_of)
    return channel if _likely_enough(name, column, channel, faults) else None


def _short_enough(name: str, column: Column, faults: Faults) -> bool:
    """Refuse strings that no one types: comparing them letter by letter would never end."""
    long = [value for value in column.values if len(value) > LONGEST]
    if long:
        examples = listed([f"{value[:20]!r}… ({len(value):,} characters)" for value in long])
        faults.error(
            f"field {name!r}",
            f"{len(long):,} of its values are longer than {LONGEST} characters: {examples}.",
            "Shorten them or leave the field out.",
        )
    return not long


def _likely_enough(name: str, column: Column, channel: Channel, faults: Faults) -> bool:
    """Refuse names so improbable, of all their parts together, that the product of two underflows."""
    with np.errstate(divide="ignore"):
        rare = np.log(channel.single(channel.start(), np.arange(channel.levels))[0]) < LEAST
    if rare.any():
        longest = listed([f"{value[:20]!r}…" for value in sorted(column.values, key=len)[-2:]])
        faults.error(
            f"field {name!r}",
            f"{int(rare.sum()):,} of its values are too long to compare, such as {longest}.",
            "Shorten them or leave the field out.",
        )
    return not rare.any()
