"""From a field's specification and its column to a channel."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tielink.channels.categorical import CategoricalChannel
from tielink.channels.channel import Channel, Codes
from tielink.channels.closed_string import ClosedStringChannel
from tielink.channels.compile_measured import compile_measured
from tielink.channels.confusion import MOST_CONFUSED, ConfusionChannel
from tielink.channels.string_tables import string_tables
from tielink.data.columns import MISSING, Column
from tielink.faults import Faults, listed
from tielink.fields import Categorical, Field, Measured, String

__all__ = ["compile_channel"]


def compile_channel(name: str, field: Field, column: Column, file_of: Codes, faults: Faults) -> Channel | None:
    """Compile a field; what does not fit its column goes on the list of faults, and then there is no channel."""
    if isinstance(field, Categorical):
        return _categorical(name, field, column, faults)
    if isinstance(field, Measured):
        return compile_measured(name, field, column, file_of, faults)
    assert isinstance(field, String)
    return _closed_string(name, field, column, faults)


def _categorical(name: str, field: Categorical, column: Column, faults: Faults) -> Channel | None:
    levels = len(column.values)
    if isinstance(field.confusion, str):
        return CategoricalChannel(name, column.codes, levels, field.concentration)
    if not 2 <= levels <= MOST_CONFUSED:
        faults.error(
            f"field {name!r}",
            f"a confusion matrix is for 2 to {MOST_CONFUSED} values; here are {levels:,}.",
            'Leave it out (confusion="none"), or put rare values together.',
        )
        return None
    return ConfusionChannel(name, column.codes, levels, field.concentration, float(field.confusion))


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
