"""A table of who is whom in either form: pairs of records, or one row a record with its person."""

from __future__ import annotations

import numpy as np

from tielink.data.frames import Table
from tielink.data.linkage import Linkage, pair_records, same_pairs
from tielink.data.records import Records
from tielink.faults import Faults

__all__ = ["is_clusters", "read_linkage"]

PERSON_COLUMNS = ("cluster", "person", "entity")


def is_clusters(table: Table) -> bool:
    """Whether the table has one row a record: a column `id` and one of `cluster`, `person` or `entity`."""
    columns = table.frame.columns
    return "id" in columns and any(name in columns for name in PERSON_COLUMNS)


def read_linkage(records: Records, table: Table, where: str, faults: Faults) -> Linkage:
    """Read pairs (`id_a, id_b` …) or clusters (`id, cluster`, with `file` if there are several); faults are listed."""
    if not is_clusters(table):
        return Linkage.joining(records, pair_records(records, same_pairs(table, faults), where, faults))
    labels = np.arange(len(records)) + len(records)
    columns = table.frame.columns
    person = next(name for name in PERSON_COLUMNS if name in columns)
    if "file" not in columns and len(records.files) > 1:
        faults.error(table.where, "does not say of which file each record is.", "Add a column 'file'.")
        return Linkage(records, labels)
    files = table.frame["file"].to_list() if "file" in columns else [records.files[0]] * table.frame.height
    number_of: dict[object, int] = {}
    seen: dict[int, int] = {}
    unknown = 0
    for row, (file, key, name) in enumerate(zip(files, table.frame["id"], table.frame[person], strict=True)):
        try:
            record = records.number((file, key), written=table.rows is not None)
        except KeyError as error:
            unknown += 1
            if unknown <= 5:
                faults.error(table.at(row), f"{error.args[0]}.", "Add the record, or remove the row.")
            continue
        if name is None or name == "":
            continue  # nobody knows: the record stays alone
        if seen.setdefault(record, row) != row:
            faults.error(table.at(row), f"{file}/{key} stands already in {table.row(seen[record])}.", "Remove one row.")
        labels[record] = number_of.setdefault(name, len(number_of))
    if unknown > 5:
        faults.error(table.where, f"{unknown - 5:,} more rows name unknown records.")
    return Linkage(records, labels)
