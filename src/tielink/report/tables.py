"""Links and persons as tables."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from tielink.data.dataset import Dataset
from tielink.data.frames import to_frame
from tielink.explanation.explain import REST
from tielink.posterior.pairs import cluster_counts

if TYPE_CHECKING:
    from tielink.report.result import Result

__all__ = ["links_table", "merged", "persons_table", "value_of"]


def value_of(dataset: Dataset, field: str, record: int) -> str | None:
    """Return what a record says in a field; None for nothing."""
    column = dataset.columns[field]
    code = int(column.codes[record])
    return None if code < 0 else column.values[code]


def links_table(result: Result) -> Any:
    """One row a pair, the surest first: `file_a, id_a, file_b, id_b, probability, mcse, decision, review`, then both
    values of every field, then the evidence in log-odds: prior, each field, ties, and the rest."""
    decided, dataset = result.decided, result.dataset
    columns: dict[str, list[Any]] = {}
    for side, name in enumerate("ab"):
        records = [dataset.records[int(number)] for number in decided.pairs[:, side]]
        columns[f"file_{name}"] = [record[0] for record in records]
        columns[f"id_{name}"] = [record[1] for record in records]
    columns["probability"] = decided.probability.tolist()
    columns["mcse"] = [None if np.isnan(error) else float(error) for error in decided.error]
    columns["decision"] = decided.words
    columns["review"] = ["yes" if look else "no" for look in decided.review]
    for field in dataset.columns:
        for side, name in enumerate("ab"):
            columns[f"{field}_{name}"] = [value_of(dataset, field, int(r)) for r in decided.pairs[:, side]]
    return to_frame(_texts(columns | _evidence_columns(result)), dataset.frame_kind)


def _evidence_columns(result: Result) -> dict[str, list[Any]]:
    """Return the log-odds of every part; null where a pair is not explained."""
    found = [result.evidence.get((int(a), int(b))) for a, b in result.decided.pairs]
    parts = list(dict.fromkeys(entry.part for why in found if why is not None for entry in why.contributions))
    columns: dict[str, list[Any]] = {}
    for part in parts:
        name = "evidence_rest" if part == REST else f"evidence_{part}"
        columns[name] = [
            None if why is None else next((round(e.log_odds, 6) for e in why.contributions if e.part == part), None)
            for why in found
        ]
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


def persons_table(result: Result) -> Any:
    """One row a linked person, the surest first, with its merged profile.

    `person, records, probability` (the share of draws in which exactly these records are one person), the ids and the
    number of ties in each file, and for every field the value that most of its records give (the earlier file's where
    that is undecided) with the others beside it in `FIELD_other`.
    """
    dataset, records = result.dataset, result.dataset.records
    draws = result.posterior.person.reshape(-1, len(records))
    counts = cluster_counts(draws)
    groups = [tuple(int(r) for r in group) for group in result.linkage.members if len(group) > 1]
    groups.sort(key=lambda group: (-counts[group], group))
    columns: dict[str, list[Any]] = {
        "person": list(range(1, len(groups) + 1)),
        "records": [len(group) for group in groups],
        "probability": [counts[group] / len(draws) for group in groups],
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
        columns[field if field not in columns else f"{field}_value"] = [value for value, _ in both]
        columns[f"{field}_other"] = [_joined(others) for _, others in both]
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
