"""The data part of a project file: which files to read, and how."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self, cast

from tielink.data.clusters import read_linkage
from tielink.data.dataset import Dataset, Given
from tielink.data.frames import Table
from tielink.data.linkage import Linkage
from tielink.data.read import read_table_file
from tielink.data.ties import Directed, FaultyTies
from tielink.faults import Faults, nearest
from tielink.fields import FIELD_KINDS, Field
from tielink.specification import read_table

__all__ = ["OTHER_TABLES", "Sources", "read_toml", "sub_table"]

OTHER_TABLES = ("model", "run")
"""Tables of a project file that are not about data."""

FILE_SETTINGS = ("records", "ties", "id", "directed")
DATA_SETTINGS = (
    *("id", "anchors", "nonmatches", "truth", "directed", "faulty_ties", "missing", "ignore", "guess", "encoding"),
    "duplicates",
)


@dataclass
class Sources:
    """Where data are and how to read them; paths count from `folder`."""

    folder: Path
    records: dict[str, str]
    ties: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Field] | None = None
    anchors: str | None = None
    nonmatches: str | None = None
    truth: str | None = None
    directed: dict[str, Directed] = field(default_factory=dict)
    faulty_ties: FaultyTies = "refuse"
    missing: list[str] = field(default_factory=list)
    ignore: list[str] = field(default_factory=list)
    guess: bool = False
    encoding: str = "utf-8"
    duplicates: bool = False

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read the data part of a project file."""
        faults = Faults()
        sources = cls.from_table(read_toml(Path(path), faults), Path(path), faults)
        faults.raise_errors()
        return sources

    @classmethod
    def from_table(cls, table: Mapping[str, Any], path: Path, faults: Faults) -> Self:
        """Take `[files.*]`, `[fields]` and `[data]` from a parsed project file; all faults go on the list."""
        where = path.name
        for name in table.keys() - {"files", "fields", "data", *OTHER_TABLES}:
            faults.error(where, f"unknown table [{name}].", nearest(name, ("files", "fields", "data", *OTHER_TABLES)))
        sources = cls(path.parent, {})
        files = sub_table(table, "files", where, faults)
        if not files:
            faults.error(where, "names no files.", 'Write [files.NAME] with records = "records.csv" for each.')
        data = _settings(sub_table(table, "data", where, faults), DATA_SETTINGS, f"{where}, [data]", faults)
        for name, entry in files.items():
            sources._add_file(name, entry, data, f"{where}, [files.{name}]", faults)
        if "fields" in table:
            fields = sub_table(table, "fields", where, faults)
            read = {
                name: read_table(kind, FIELD_KINDS, f"{where}, [fields.{name}]", faults)
                for name, kind in fields.items()
            }
            sources.fields = {name: kind for name, kind in read.items() if kind is not None}
        for name in ("anchors", "nonmatches", "truth", "encoding"):
            if name in data:
                setattr(sources, name, _text(data[name], f"{where}, [data]", name, faults))
        for name in ("missing", "ignore"):
            given = data.get(name, [])
            if isinstance(given, list) and all(isinstance(text, str) for text in given):
                setattr(sources, name, given)
            else:
                faults.error(f"{where}, [data]", f"{name} is {given!r}.", 'Give a list of texts: ["NA"].')
        for name in ("guess", "duplicates"):
            setattr(sources, name, data.get(name, False) is True)
            if not isinstance(data.get(name, False), bool):
                faults.error(f"{where}, [data]", f"{name} is {data[name]!r}.", "Give true or false.")
        if "faulty_ties" in data:
            sources.faulty_ties = cast(
                "FaultyTies",
                _choice(data["faulty_ties"], ("refuse", "drop"), f"{where}, [data]", "faulty_ties", faults),
            )
        return sources

    def _add_file(self, name: str, entry: Any, data: Mapping[str, Any], where: str, faults: Faults) -> None:
        if isinstance(entry, str):
            entry = {"records": entry}
        if not isinstance(entry, Mapping):
            faults.error(where, f"is {entry!r}.", 'Give a table with records = "records.csv".')
            return
        entry = {key: data[key] for key in ("id", "directed") if key in data} | _settings(
            entry, FILE_SETTINGS, where, faults
        )
        if "records" not in entry:
            faults.error(where, "has no records.", 'Write records = "records.csv".')
        else:
            self.records[name] = _text(entry["records"], where, "records", faults)
        if "ties" in entry:
            self.ties[name] = _text(entry["ties"], where, "ties", faults)
        if "id" in entry:
            self.ids[name] = _text(entry["id"], where, "id", faults)
        if "directed" in entry:
            choice = _choice(entry["directed"], ("any", "mutual"), where, "directed", faults)
            self.directed[name] = cast("Directed", choice)

    def to_table(self) -> dict[str, Any]:
        """Write every choice out, as `from_table` reads it."""
        files = {}
        for name, records in self.records.items():
            files[name] = {"records": records}
            for key, values in (("ties", self.ties), ("id", self.ids), ("directed", self.directed)):
                if name in values:
                    files[name][key] = values[name]
        data: dict[str, Any] = {
            "faulty_ties": self.faulty_ties,
            "missing": self.missing,
            "ignore": self.ignore,
            "guess": self.guess,
            "encoding": self.encoding,
            "duplicates": self.duplicates,
        }
        for key in ("anchors", "nonmatches", "truth"):
            if getattr(self, key) is not None:
                data[key] = getattr(self, key)
        table = {"files": files, "data": data}
        if self.fields is not None:
            table["fields"] = {name: kind.to_table() for name, kind in self.fields.items()}
        return table

    def load(self, faults: Faults | None = None) -> tuple[Given, Faults]:
        """Read every file; what cannot be read is on the list of faults."""
        faults = Faults() if faults is None else faults
        records = {name: self._table(path, faults) for name, path in self.records.items()}
        ties = {name: self._table(path, faults) for name, path in self.ties.items()}
        known = {key: self._known(key, faults) for key in ("anchors", "nonmatches")}
        given = Given(
            records={name: table for name, table in records.items() if table is not None},
            ties={name: table for name, table in ties.items() if table is not None},
            id=self.ids or None,
            fields=self.fields,
            directed=self.directed,
            faulty_ties=self.faulty_ties,
            missing=self.missing,
            ignore=self.ignore,
            guess=self.guess,
            duplicates=self.duplicates,
            unreadable=[name for name, table in records.items() if table is None],
            **known,
        )
        return given, faults

    def read_truth(self, dataset: Dataset, faults: Faults | None = None) -> Linkage | None:
        """Read the true linkage, where the project names one; faults are raised, or go on the list if there is one."""
        if self.truth is None:
            return None
        mine = faults if faults is not None else Faults()
        table = self._table(self.truth, mine)
        labels = () if table is None else read_linkage(dataset.records, table, "truth", mine).labels
        if faults is None:
            mine.raise_errors()
        return None if table is None else Linkage(dataset.records, labels, frame_kind=dataset.frame_kind)

    def moved(self, folder: Path) -> Self:
        """Return the same sources with paths that count from another folder."""

        def path(old: str) -> str:
            return old if Path(old).is_absolute() else os.path.relpath(self.folder / old, folder)

        return replace(
            self,
            folder=folder,
            records={name: path(old) for name, old in self.records.items()},
            ties={name: path(old) for name, old in self.ties.items()},
            anchors=None if self.anchors is None else path(self.anchors),
            nonmatches=None if self.nonmatches is None else path(self.nonmatches),
            truth=None if self.truth is None else path(self.truth),
        )

    def _table(self, path: str, faults: Faults) -> Table | None:
        return read_table_file(self.folder / path, faults, encoding=self.encoding)

    def _known(self, key: str, faults: Faults) -> Any:
        path = getattr(self, key)
        table = None if path is None else self._table(path, faults)
        return () if table is None else table


def read_toml(path: Path, faults: Faults) -> dict[str, Any]:
    """Parse a TOML file; a file that cannot be parsed is a fault and reads as empty."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        faults.error(str(path), "there is no such file.", "Check the path of the project file.")
    except OSError as error:
        faults.error(str(path), f"cannot be read: {error.strerror}.", "Check the path of the project file.")
    except UnicodeDecodeError:
        faults.error(str(path), "is not UTF-8 text.", "Give a project file in TOML, saved as UTF-8.")
    except RecursionError:
        faults.error(str(path), "is nested too deeply.", "Give a project file as the guide shows it.")
    except tomllib.TOMLDecodeError as error:
        faults.error(str(path), f"is not valid TOML: {error}.", "Mend that line; texts stand in quotes.")
    faults.raise_errors()
    return {}


def sub_table(table: Mapping[str, Any], name: str, where: str, faults: Faults) -> Mapping[str, Any]:
    """Return a table of a project file; empty when it is not there, or (a fault) when it is no table."""
    value = table.get(name, {})
    if isinstance(value, Mapping):
        return value
    faults.error(where, f"{name} is {value!r}.", f"Write it as a table: [{name}].")
    return {}


def _settings(table: Mapping[str, Any], known: Iterable[str], where: str, faults: Faults) -> dict[str, Any]:
    """Keep the known settings; each unknown one is a fault with the nearest name."""
    for name in table.keys() - set(known):
        faults.error(where, f"unknown setting {name!r}.", nearest(name, known))
    return {name: value for name, value in table.items() if name in known}


def _text(value: Any, where: str, name: str, faults: Faults) -> str:
    if not isinstance(value, str):
        faults.error(where, f"{name} is {value!r}.", "Give a text in quotes.")
    return str(value)


def _choice(value: Any, choices: tuple[str, ...], where: str, name: str, faults: Faults) -> str:
    if value not in choices:
        faults.error(where, f"{name} is {value!r}.", f"Give one of {', '.join(map(repr, choices))}.")
        return choices[0]
    return str(value)
