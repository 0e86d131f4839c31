"""Links and persons as tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.data.scores import pair_keys
from tielink.explanation.explain import REST

if TYPE_CHECKING:
    from tielink.report.result import Result

__all__ = ["links_table", "merged", "profiles_table", "value_of"]


def value_of(dataset: Dataset, field: str, record: int) -> str | None:
    """Return what a record says in a field; None for nothing."""
    column = dataset.columns[field]
    code = int(column.codes[record])
    return None if code < 0 else column.values[code]


def links_table(result: Result) -> Any:
    """One row a pair, the surest first, with what was decided and why.

    `file_a, id_a, file_b, id_b, probability, mcse, decision, settled, review`, then both values of every field
    (`value_FIELD_a`, `value_FIELD_b`), then the evidence in log-odds: `evidence_prior`, `evidence_value_FIELD` of each
    field, `evidence_ties` and `evidence_rest`. Columns of the data thus never meet those of the result.
    """
    decided, dataset = result.decided, result.dataset
    columns: dict[str, list[Any]] = {}
    for side, name in enumerate("ab"):
        records = [dataset.records[int(number)] for number in decided.pairs[:, side]]
        columns[f"file_{name}"] = [record[0] for record in records]
        columns[f"id_{name}"] = [record[1] for record in records]
    columns["probability"] = decided.probability.tolist()
    columns["mcse"] = [None if np.isnan(error) else float(error) for error in decided.error]
    columns["decision"] = decided.words
    undecided = np.isin(pair_keys(decided.pairs), pair_keys(_numbers(result.diagnosis.undecided)))
    columns["settled"] = ["no" if doubtful else "yes" for doubtful in undecided]
    columns["review"] = ["yes" if look else "no" for look in decided.review]
    for field in dataset.columns:
        for side, name in enumerate("ab"):
            columns[f"value_{field}_{name}"] = [value_of(dataset, field, int(r)) for r in decided.pairs[:, side]]
    return to_frame(_texts(columns | _evidence_columns(result)), dataset.frame_kind)


def _numbers(pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _evidence_columns(result: Result) -> dict[str, list[Any]]:
    """Return the log-odds of every part; null where a pair is not explained."""
    found = [result.evidence.get((int(a), int(b))) for a, b in result.decided.pairs]
    sums = [{} if why is None else why.by_source for why in found]
    columns: dict[str, list[Any]] = {}
    for key in dict.fromkeys(key for each in sums for key in each):
        of_field, source = key
        name = f"value_{source}" if of_field else "rest" if source == REST else source
        columns[f"evidence_{name}"] = [round(each[key], 6) if key in each else None for each in sums]
    return columns


def _texts(columns: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Ids of mixed types become text, so that any file can hold them."""
    plain = (str, int, float, bool, type(None))
    return {
        name: values
        if all(isinstance(value, plain) for value in values) and len({type(v) for v in values} - {type(None)}) <= 1
        else [None if value is None else str(value) for value in values]
        for name, values in columns.items()
    }


def profiles_table(result: Result) -> Any:
    """One row a linked person, the surest first, with its merged profile.

    `person, records, probability` (the share of draws in which exactly these records are one person), the ids and the
    number of ties in each file (`id_FILE`, `ties_FILE`), and for every field the value that most of its records give
    (the earlier file's where that is undecided) as `value_FIELD`, with the others beside it in `other_FIELD`.
    """
    dataset, records = result.dataset, result.dataset.records
    linked = [(group, share) for group, share in result.clusters if len(group) > 1]
    groups = [group for group, _ in linked]
    columns: dict[str, list[Any]] = {
        "person": list(range(1, len(groups) + 1)),
        "records": [len(group) for group in groups],
        "probability": [share for _, share in linked],
    }
    for number, file in enumerate(dataset.files):
        mine = [[r for r in group if records.file_of[r] == number] for group in groups]
        columns[f"id_{file}"] = [_joined([str(records[r][1]) for r in members]) for members in mine]
        ties = dataset.ties[file]
        if ties is not None:
            degree = np.bincount(ties.ravel(), minlength=records.sizes[number])
            offset = records.offsets[number]
            columns[f"ties_{file}"] = [sum(int(degree[r - offset]) for r in members) for members in mine]
    for field in dataset.columns:
        both = [merged([value_of(dataset, field, r) for r in group]) for group in groups]
        columns[f"value_{field}"] = [value for value, _ in both]
        columns[f"other_{field}"] = [_joined(others) for _, others in both]
    return to_frame(columns, dataset.frame_kind)


def merged(values: list[str | None]) -> tuple[str | None, list[str]]:
    """Return the value given most often (the first of those), and the other ones.

    >>> merged(["anna", None, "ana", "ana"])
    ('ana', ['anna'])
    >>> merged([None, None])
    (None, [])
    """
    counts = Counter(value for value in values if value is not None)
    if not counts:
        return None, []
    best = counts.most_common(1)[0][0]
    return best, [value for value in counts if value != best]


def _joined(values: list[str]) -> str | None:
    return "; ".join(values) or None
