"""A data set as arrays and plain values, and back: what checkpoints hold and workers are sent.

Reading takes nothing on trust: what no data set can hold is a `ValueError`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.columns import MISSING, Column
from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.faults import Faults
from tielink.fields import FIELD_KINDS
from tielink.specification import read_table

__all__ = ["FRAME_KINDS", "plain_ids", "read_records", "read_stored", "stored_dataset", "whole_numbers"]

Arrays = dict[str, NDArray[Any]]
FRAME_KINDS = ("polars", "pandas", "pyarrow", "modin", "cudf")


def plain_ids(records: Records) -> list[list[Any]]:
    """Return the ids of every file as JSON holds them: those of other types as text."""
    return [[key if isinstance(key, str | int | float) else str(key) for key in ids] for ids in records.ids]


def read_records(files: Any, ids: Any) -> Records:
    """Make the index of records from the names of files and `plain_ids`."""
    if not isinstance(files, list) or not isinstance(ids, list) or not files or len(files) != len(ids):
        raise ValueError("the files and their ids do not fit")
    for keys in ids:
        if not isinstance(keys, list) or not all(isinstance(key, str | int | float) for key in keys):
            raise ValueError("ids are no texts or numbers")
        if len(set(keys)) < len(keys) or not keys:
            raise ValueError("ids are missing or occur twice")
    if len(set(files)) < len(files) or not all(isinstance(name, str) for name in files):
        raise ValueError("files have no names of their own")
    return Records(dict(zip(files, ids, strict=True)))


def stored_dataset(dataset: Dataset) -> tuple[Arrays, dict[str, Any]]:
    """Take a data set apart."""
    arrays: Arrays = {"anchors": dataset.anchors.labels, "nonmatches": dataset.nonmatches}
    if dataset.before_answers is not None:
        arrays["before_answers"] = dataset.before_answers.labels
    arrays |= {f"ties.{place}": ties for place, ties in enumerate(dataset.ties.values()) if ties is not None}
    arrays |= {f"codes.{place}": column.codes for place, column in enumerate(dataset.columns.values())}
    columns = [[name, column.field.to_table(), list(column.values)] for name, column in dataset.columns.items()]
    values = {"files": list(dataset.files), "ids": plain_ids(dataset.records), "columns": columns}
    return arrays, values | {"frame_kind": dataset.frame_kind}


def read_stored(arrays: Arrays, values: dict[str, Any]) -> Dataset:
    """Put a data set together again."""
    records = read_records(values["files"], values["ids"])
    size, faults = len(records), Faults()
    ties = {}
    for place, (name, count) in enumerate(zip(records.files, records.sizes, strict=True)):
        key = f"ties.{place}"
        ties[name] = whole_numbers(arrays[key], (None, 2), 0, count, key) if key in arrays else None
        if key in arrays and ((arrays[key][:, 0] >= arrays[key][:, 1]).any() or _repeats(arrays[key])):
            raise ValueError(f"{key} are no pairs of two records, each once")
    columns = {}
    for place, (name, table, texts) in enumerate(values["columns"]):
        field = read_table(table, FIELD_KINDS, f"field {name!r}", faults)
        faults.raise_errors()
        assert field is not None
        if not all(isinstance(text, str) for text in texts) or not isinstance(name, str):
            raise ValueError("values of a field are no texts")
        codes = whole_numbers(arrays[f"codes.{place}"], (size,), MISSING, len(texts), f"codes.{place}")
        columns[name] = Column(field, tuple(texts), codes)
    anchors = whole_numbers(arrays["anchors"], (size,), 0, size, "anchors")
    apart = whole_numbers(arrays["nonmatches"], (None, 2), 0, size, "nonmatches")
    kind = values["frame_kind"]
    if kind not in FRAME_KINDS:
        raise ValueError(f"unknown kind of frames {kind!r}")
    before = None
    if "before_answers" in arrays:
        before = Linkage(records, whole_numbers(arrays["before_answers"], (size,), 0, size, "before_answers"))
    known = Linkage(records, anchors, frame_kind=kind)
    return Dataset(records, ties, columns, known, apart, frame_kind=kind, before_answers=before)


def _repeats(pairs: NDArray[Any]) -> bool:
    return len(np.unique(pairs, axis=0)) < len(pairs)


def whole_numbers(
    array: NDArray[Any], shape: tuple[int | None, ...], low: int, end: int, name: str
) -> NDArray[np.int64]:
    """Return the array if it holds whole numbers from `low` to below `end` in this shape (None: of any length)."""
    fits = array.ndim == len(shape) and all(n in (None, m) for n, m in zip(shape, array.shape, strict=True))
    if not fits or array.dtype.kind not in "iu":
        raise ValueError(f"{name} is no table of whole numbers of its size")
    if array.size and not (array.min() >= low and array.max() < end):
        raise ValueError(f"{name} holds numbers out of range")
    return array.astype(np.int64)
