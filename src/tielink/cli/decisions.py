"""What `tielink estimate` and `tielink evaluate` read: posteriors, tables of pairs, and the project they are about."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tielink.cli.outputs import POSTERIOR
from tielink.faults import Faults

if TYPE_CHECKING:
    from tielink.data.dataset import Dataset
    from tielink.data.frames import Table
    from tielink.data.linkage import Linkage
    from tielink.data.records import Records

__all__ = ["ProjectFile", "is_posterior", "pairs_file", "project_data", "table_file"]

ProjectFile = Annotated[
    Path | None, typer.Option("--project", help="The project file that says who the records are and what is known.")
]


def is_posterior(path: Path) -> bool:
    """Whether the file is to be read as a posterior that tielink saved."""
    return path.suffix.lower() in POSTERIOR


def project_data(path: Path, allow_outside: bool) -> tuple[Dataset, Linkage | None]:
    """Read the data and the truth of a project file."""
    from tielink.cli.inputs import read_data
    from tielink.project import Project

    faults = Faults()
    return read_data(Project.read(path, faults, allow_outside=allow_outside), faults)


def table_file(path: Path) -> Table:
    """Read a table; raise all its faults."""
    from tielink.data.read import read_table_file

    faults = Faults()
    table = read_table_file(path, faults)
    faults.raise_errors()
    assert table is not None
    return table


def pairs_file(path: Path, records: Records) -> Linkage:
    """Read a table of pairs, or of clusters, as a linkage of these records."""
    from tielink.data.clusters import read_linkage

    faults = Faults()
    linkage = read_linkage(records, table_file(path), str(path), faults)
    faults.raise_errors()
    return linkage
