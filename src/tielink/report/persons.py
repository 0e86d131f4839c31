"""Who is whom, record by record: every record of every file with the number of its person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tielink.data.frames import to_frame
from tielink.posterior.pairs import cluster_counts

if TYPE_CHECKING:
    from tielink.report.result import Result

__all__ = ["numbered_persons", "persons_table"]


def numbered_persons(result: Result) -> list[tuple[tuple[int, ...], float]]:
    """Return each person's records and the share of draws in which just these are one; linked and sure ones first."""
    draws = result.posterior.person.reshape(-1, len(result.dataset.records))
    counts = cluster_counts(draws)
    groups = [tuple(int(record) for record in group) for group in result.linkage.members]
    groups.sort(key=lambda group: (len(group) == 1, -counts[group] if len(group) > 1 else 0, group))
    return [(group, counts[group] / len(draws)) for group in groups]


def persons_table(result: Result) -> Any:
    """One row a record, in the order of the files: `file, id, person, records`.

    `person` is the number of a person as in the table of merged profiles; `records` counts the records of that person.
    """
    records = result.dataset.records
    person, size = [0] * len(records), [0] * len(records)
    for number, (group, _) in enumerate(result.clusters, start=1):
        for record in group:
            person[record], size[record] = number, len(group)
    named = [records[number] for number in range(len(records))]
    keys = [key for _, key in named]
    ids = keys if len({type(key) for key in keys}) == 1 else list(map(str, keys))
    columns = {"file": [file for file, _ in named], "id": ids, "person": person, "records": size}
    return to_frame(columns, result.dataset.frame_kind)
