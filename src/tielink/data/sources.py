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
from tielink.data.databases import split_inside
from tielink.data.dataset import Dataset, Given
from tielink.data.frames import Table
from tielink.data.linkage import Linkage
from tielink.data.read import read_table_file
from tielink.data.ties import Directed, FaultyTies
from tielink.faults import Faults, nearest
from tielink.fields import FIELD_KINDS, Field
from tielink.files import open_regular
from tielink.specification import read_table

__all__ = ["OTHER_TABLES", "Sources", "read_toml", "sub_table"]

OTHER_TABLES = ("model", "run")
"""Tables of a project file that are not about data."""

FILE_SETTINGS = ("records", "ties", "id", "directed", "encoding")
DATA_SETTINGS = (
    *("id", "anchors", "nonmatches", "truth", "directed", "faulty_ties", "missing", "ignore", "guess", "encoding"),
    *("duplicates", "same", "answers"),
)


@dataclass
class Sources:
    """Where data are and how to read them; paths count from `folder`."""

    folder: Path
    records: dict[str, str]
    ties: dict[str, str] = field(default_factory=dict)
    ids: dict[str, str] = field(default_factory=dict)
    fields: dict[str, Field] | None = None
    anchors: list[str] = field(default_factory=list)
    nonmatches: list[str] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)
    truth: str | None = None
    directed: dict[str, Directed] = field(default_factory=dict)
    faulty_ties: FaultyTies = "refuse"
    missing: list[str] | None = None
    ignore: list[str] = field(default_factory=list)
    same: dict[str, str | list[str]] = field(default_factory=dict)
    guess: bool = False
    encoding: str = "utf-8"
    encodings: dict[str, str] = field(default_factory=dict)
    """How text files are encoded, where a file of records and its ties are not like the others."""
    duplicates: bool = False
    inside: bool = field(default=False, compare=False)
    """Whether files outside `folder` are refused, as they are where somebody else may have written the paths."""

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Self:
        """Read the data part of a project file."""
        faults = Faults("project file")
        sources = cls.from_table(read_toml(Path(path), faults), Path(path), faults)
        faults.raise_errors()
        return sources

    @classmethod
    def from_table(cls, table: Mapping[str, Any], path: Path, faults: Faults) -> Self:
        """Take `[files.*]`, `[fields]` and `[data]` from a parsed project file; all faults go on the list."""
        where = path.name
        for name in table.keys() - {"files", "fields", "data", *OTHER_TABLES}:
            faults.error(where, f"unknown table [{name}].", nearest(name, ("files", "fields", "data", *OTHER_TABLES)))
        sources = cls(path.parent, {}, inside=True)
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
        for name in ("truth", "encoding"):
            if name in data:
                setattr(sources, name, _text(data[name], f"{where}, [data]", name, faults))
        for name in ("missing", "ignore", "anchors", "nonmatches", "answers"):
            given = [data[name]] if isinstance(data.get(name), str) else data.get(name, getattr(sources, name))
            if given is None or _are_texts(given):
                setattr(sources, name, given)
            else:
                faults.error(f"{where}, [data]", f"{name} is {given!r}.", 'Give a list of texts: ["NA"].')
        same = sub_table(data, "same", f"{where}, [data]", faults)
        sources.same = {name: other for name, other in same.items() if isinstance(other, str) or _are_texts(other)}
        for name in same.keys() - sources.same.keys():
            faults.error(f"{where}, [data]", f"same.{name} is {same[name]!r}.", "Give the name of a column, or a list.")
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
        places = {"records": self.records, "ties": self.ties, "encoding": self.encodings, "id": self.ids}
        for key in [key for key in places if key in entry]:
            places[key][name] = _text(entry[key], where, key, faults)
        if "directed" in entry:
            choice = _choice(entry["directed"], ("any", "mutual"), where, "directed", faults)
            self.directed[name] = cast("Directed", choice)

    def to_table(self) -> dict[str, Any]:
        """Write every choice out, as `from_table` reads it."""
        files = {}
        for name, records in self.records.items():
            files[name] = {"records": records}
            for key, values in (
                ("ties", self.ties), ("id", self.ids), ("directed", self.directed), ("encoding", self.encodings)
            ):  # fmt: skip
                if name in values:
                    files[name][key] = values[name]
        data: dict[str, Any] = {
            "faulty_ties": self.faulty_ties,
            "ignore": self.ignore,
            "guess": self.guess,
            "encoding": self.encoding,
            "duplicates": self.duplicates,
        }
        for key in ("missing", "anchors", "nonmatches", "answers", "truth", "same"):
            if getattr(self, key) or (key == "missing" and self.missing is not None):
                data[key] = getattr(self, key)
        table = {"files": files, "data": data}
        if self.fields is not None:
            table["fields"] = {name: kind.to_table() for name, kind in self.fields.items()}
        return table

    def load(self, faults: Faults | None = None) -> tuple[Given, Faults]:
        """Read every file; what cannot be read is on the list of faults."""
        faults = Faults("project file") if faults is None else faults
        records, ties = (
            {name: self._table(path, faults, self.encodings.get(name)) for name, path in paths.items()}
            for paths in (self.records, self.ties)
        )
        known = {
            key: [table for path in paths if (table := self._table(path, faults)) is not None]
            for key, paths in (("anchors", self.anchors), ("nonmatches", self.nonmatches))
        }
        given = Given(
            records={name: table for name, table in records.items() if table is not None},
            ties={name: table for name, table in ties.items() if table is not None},
            id=self.ids or None,
            fields=self.fields,
            directed=self.directed,
            faulty_ties=self.faulty_ties,
            missing=self.missing,
            ignore=self.ignore,
            same=self.same,
            guess=self.guess,
            duplicates=self.duplicates,
            unreadable=[name for name, table in records.items() if table is None],
            anchors=known["anchors"],
            nonmatches=known["nonmatches"],
            answers=[self.folder / path for path in self.answers if self._may_read(path, faults)],
        )
        return given, faults

    def read_truth(self, dataset: Dataset, faults: Faults | None = None) -> Linkage | None:
        """Read the true linkage, where the project names one; faults are raised, or go on the list if there is one."""
        if self.truth is None:
            return None
        mine = faults if faults is not None else Faults()
        table = self._table(self.truth, mine)
        if dataset.files != tuple(self.records):  # a file could not be read, so that its records would be unknown
            return None
        labels = () if table is None else read_linkage(dataset.records, table, "truth", mine).labels
        if faults is None:
            mine.raise_errors()
        return None if table is None else Linkage(dataset.records, labels, frame_kind=dataset.frame_kind)

    def paths(self) -> list[Path]:
        """Return every file that is read."""
        known = [*self.anchors, *self.nonmatches, *self.answers, *([] if self.truth is None else [self.truth])]
        return [split_inside(self.folder / path)[0] for path in [*self.records.values(), *self.ties.values(), *known]]

    def moved(self, folder: Path) -> Self:
        """Return the same sources with paths that count from another folder."""

        def path(old: str) -> str:
            return old if Path(old).is_absolute() else os.path.relpath(self.folder / old, folder)

        return replace(
            self,
            folder=folder,
            inside=False,
            records={name: path(old) for name, old in self.records.items()},
            ties={name: path(old) for name, old in self.ties.items()},
            anchors=[path(old) for old in self.anchors],
            nonmatches=[path(old) for old in self.nonmatches],
            answers=[path(old) for old in self.answers],
            truth=None if self.truth is None else path(self.truth),
        )

    def _may_read(self, path: str, faults: Faults) -> bool:
        outside = self.inside and not _is_inside(split_inside(self.folder / path)[0], self.folder)
        if outside:
            what = "is outside the folder of the project file, which may come from somebody else."
            faults.error(path, what, "If you want it read, say --allow-outside (in Python, allow_outside=True).")
        return not outside

    def _table(self, path: str, faults: Faults, encoding: str | None = None) -> Table | None:
        if not self._may_read(path, faults):
            return None
        return read_table_file(self.folder / path, faults, encoding=encoding or self.encoding)


def _is_inside(path: Path, folder: Path) -> bool:
    try:
        return path.resolve().is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):  # a loop of links, or no path at all: reading it says so
        return True


def read_toml(path: Path, faults: Faults) -> dict[str, Any]:
    """Parse a TOML file; a file that cannot be parsed is a fault and reads as empty."""
    try:
        with open_regular(path) as file:
            return tomllib.loads(file.read().decode("utf-8-sig"))
    except FileNotFoundError:
        faults.error(str(path), "there is no such file.", "Check the path of the project file.")
    except OSError as error:
        faults.error(str(path), f"cannot be read: {error.strerror}.", "Check the path of the project file.")
    except UnicodeDecodeError:
        faults.error(str(path), "is not UTF-8 text.", "Give a project file in TOML, saved as UTF-8.")
    except RecursionError:
        faults.error(str(path), "is nested too deeply.", "Give a project file as the guide shows it.")
    except ValueError as error:  # numbers of thousands of digits are no TOMLDecodeError
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


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def _text(value: Any, where: str, name: str, faults: Faults) -> str:
    if not isinstance(value, str):
        faults.error(where, f"{name} is {value!r}.", "Give a text in quotes.")
    return str(value)


def _choice(value: Any, choices: tuple[str, ...], where: str, name: str, faults: Faults) -> str:
    if value not in choices:
        faults.error(where, f"{name} is {value!r}.", f"Give one of {', '.join(map(repr, choices))}.")
        return choices[0]
    return str(value)
