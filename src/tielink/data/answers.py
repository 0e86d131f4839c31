"""What people answered about records: which of these is it, or none? Kept as rows of a CSV file that only ever grows.

A row says who answered, when, about which record, what was chosen and what was shown. A later row of the same person on
the same question replaces the earlier one, so that answers can be changed or undone and nothing is ever lost. Files of
several people are put together by reading them all; answers that cannot all be true are listed, never resolved.
"""

from __future__ import annotations

import csv
import io
import json
import os
from collections.abc import Iterable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.frames import Table, is_frame, to_polars
from tielink.data.linkage import Linkage, LinkageClass
from tielink.data.read import read_table_file
from tielink.data.records import Record, Records, record_name
from tielink.data.spreadsheet import exact_text, shown_as_text
from tielink.faults import Faults, listed
from tielink.files import open_regular

__all__ = ["NONE", "SAME", "UNDONE", "UNSURE", "Answer", "Contradiction", "Settled", "append_answer", "read_answers"]

SAME, NONE, UNSURE, UNDONE = "same", "none", "unsure", "undone"
CHOICES = (SAME, NONE, UNSURE, UNDONE)
COLUMNS = ("who", "when", "about", "file", "id", "choice", "chosen_file", "chosen_id", "shown")
"""`shown`, the record and those beside it in JSON, comes last: a row that was cut off is never taken for whole."""
MARKS = {"same": SAME, "different": NONE, "unsure": UNSURE}
"""What the report's marks (file_a, id_a, file_b, id_b, answer) mean as answers about a record that was shown one."""


@dataclass(frozen=True)
class Answer:
    """One answer: a record, what was shown beside it, and what was chosen.

    >>> Answer(("a", 1), ("b", 7), (("b", 7), ("b", 8))).choice
    'same'
    """

    record: Record
    chosen: Record | str
    """The record that is the same person; or `"none"` of those shown, `"unsure"`, or `"undone"`: no answer any more."""
    shown: tuple[Record, ...]
    who: str = ""
    when: str = ""
    """ISO 8601, UTC."""
    about: str = "review"
    """Why it was asked: `"review"`, or the stratum of an audit."""

    @property
    def choice(self) -> str:
        """`"same"`, `"none"`, `"unsure"` or `"undone"`."""
        return self.chosen if isinstance(self.chosen, str) else SAME

    @property
    def question(self) -> tuple[Any, ...]:
        """What makes two answers answers to one question of one person."""
        names = [[str(part) for part in record] for record in (self.record, *sorted(self.shown, key=str))]
        return (self.who, self.about, *map(tuple, names))

    def __str__(self) -> str:
        said = record_name(self.chosen) if not isinstance(self.chosen, str) else self.choice
        others = "" if self.choice == SAME else f" of {listed([record_name(record) for record in self.shown], 5)}"
        by = ", ".join(part for part in (self.who, self.when) if part)
        return f"{record_name(self.record)}: {said}{others}" + (f" ({by})" if by else "")


def append_answer(path: Path, answer: Answer) -> None:
    """Add a row to a file of answers and flush it to disk before returning; a row that a crash cut off is ended."""
    chosen = ("", "") if isinstance(answer.chosen, str) else answer.chosen
    row = (answer.who, answer.when, answer.about, *answer.record, answer.choice, *chosen)
    line = io.StringIO()
    write = csv.writer(line, lineterminator="\n")
    handle = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o644)
    try:
        size = os.fstat(handle).st_size
        if not size:
            write.writerow(COLUMNS)
        elif os.pread(handle, 1, size - 1) != b"\n":
            line.write("\n")
        exact = json.dumps([[file, str(key)] for file, key in (answer.record, *answer.shown)])
        write.writerow([*map(_cell, row), exact])
        content = line.getvalue().encode("utf-8", "replace")
        if os.write(handle, content) != len(content):
            raise OSError("there is no room on the disk")
        os.fsync(handle)
    finally:
        os.close(handle)


def _cell(value: object) -> str:
    """Write a cell on one line, so that a row that was cut off spoils no other."""
    return shown_as_text(" ".join(str(value).splitlines()))


def read_answers(given: Any, faults: Faults) -> list[Answer]:
    """Return answers from files, frames or `Answer`s, the last one to each question; all faults go on the list."""
    several = isinstance(given, Iterable) and not isinstance(given, str | PathLike | Answer) and not is_frame(given)
    found: list[Answer] = []
    for source in given if several else [given]:
        if isinstance(source, Answer):
            found.append(source)
        elif isinstance(source, str | PathLike):
            found += _file(Path(source), faults)
        elif is_frame(source):
            found += _marks(Table(to_polars(source), "answers"), faults)
        else:
            faults.error("answers", f"is a {type(source).__name__}.", "Give files, data frames or Answers.")
    last = {answer.question: answer for answer in sorted(found, key=lambda answer: answer.when)}
    return [answer for answer in last.values() if answer.choice != UNDONE]


def _file(path: Path, faults: Faults) -> list[Answer]:
    try:
        with open_regular(path) as file:
            text = file.read().decode("utf-8-sig")
    except (OSError, ValueError):
        read_table_file(path, faults)  # says what is wrong with it
        return []
    head, *lines = text.split("\n")
    if tuple(next(csv.reader([head]), ())) != COLUMNS:
        table = read_table_file(path, faults)
        return [] if table is None else _marks(table, faults)
    answers = []
    for number, line in enumerate(lines, 2):
        answer = _row(line)
        if answer is not None:
            answers.append(answer)
        elif line:
            what = f"{line[:80]!r} is no whole answer, and was left out."
            faults.warning(f"{path.name}, row {number}", what, "A crash may have cut it off.")
    return answers


def _row(line: str) -> Answer | None:
    """Make an answer of a row; None if it is none."""
    try:
        *cells, exact = next(csv.reader([line]))
        who, when, about, _, _, choice, *chosen = map(exact_text, cells)
        record, *shown = ((str(file), str(key)) for file, key in json.loads(exact))
    except (ValueError, TypeError, RecursionError, StopIteration, csv.Error):
        return None
    if choice != SAME:
        return Answer(record, choice, tuple(shown), who, when, about) if choice in CHOICES else None
    found = [other for other in shown if [exact_text(_cell(part)) for part in other] == chosen]
    return Answer(record, found[0], tuple(shown), who, when, about) if found else None


def _marks(table: Table, faults: Faults) -> list[Answer]:
    """Read a table of pairs with a column `answer`, as the report's marks are."""
    columns = ["file_a", "id_a", "file_b", "id_b", "answer"]
    if not set(columns) <= set(table.frame.columns):
        expected = f"the columns {', '.join(COLUMNS)} of tielink review, or {', '.join(columns)}"
        faults.error(table.where, f"has the columns {listed(table.frame.columns, 9)}.", f"Expected are {expected}.")
        return []
    answers = []
    for place, (file_a, a, file_b, b, said) in enumerate(table.frame.select(columns).iter_rows()):
        choice = MARKS.get(str(said).strip().lower())
        if choice is None:
            faults.error(table.at(place), f"the answer is {said!r}.", f"Give {' or '.join(MARKS)}.")
            continue
        other = (str(file_b), b)
        answers.append(Answer((str(file_a), a), other if choice == SAME else choice, (other,)))
    return answers


@dataclass(frozen=True)
class Contradiction:
    """Answers that cannot all be true, and why."""

    answers: tuple[Answer, ...]
    why: str

    def __str__(self) -> str:
        return f"{self.why}: {'; '.join(str(answer) for answer in self.answers)}"


@dataclass(frozen=True, eq=False)
class Settled:
    """What answers say about pairs of record numbers r < r'."""

    answers: tuple[Answer, ...]
    """Those that contradict no other."""
    same: NDArray[np.int64]
    different: NDArray[np.int64]
    by_answer: tuple[tuple[NDArray[np.int64], NDArray[np.int64]], ...]
    """The pairs that each answer says are one person, and those that are not."""
    contradictions: tuple[Contradiction, ...]

    @classmethod
    def by(
        cls, records: Records, given: Any, allowed: LinkageClass, faults: Faults | None = None, *, strict: bool = True
    ) -> Settled:
        """Read answers and find out what they settle; with `strict`, contradictions are faults.

        Faults are raised, unless there is a list for them.
        """
        mine = Faults() if faults is None else faults
        answers = read_answers(given, mine)
        pairs = [(answer, *_pairs(records, answer, mine)) for answer in answers]
        wrong = tuple(_contradictions(records, pairs, allowed))
        for contradiction in wrong if strict else ():
            what = f"{contradiction}."
            mine.error("answers", what, "Change one of them in tielink review, or take its row out of the file.")
        if faults is None:
            mine.raise_errors()
        bad = {id(answer) for contradiction in wrong for answer in contradiction.answers}
        kept = [entry for entry in pairs if id(entry[0]) not in bad]
        each = tuple((_array(same), _array(apart)) for _, same, apart in kept)
        same, different = (np.unique(_array([p for two in each for p in two[side]]), axis=0) for side in (0, 1))
        return cls(tuple(answer for answer, _, _ in kept), same, different, each, wrong)


def _pairs(records: Records, answer: Answer, faults: Faults) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the pairs that an answer says are one person, and those that are not."""
    try:
        number = records.number(answer.record, written=True)
        shown = [records.number(record, written=True) for record in answer.shown]
        chosen = [] if isinstance(answer.chosen, str) else [records.number(answer.chosen, written=True)]
    except KeyError as error:
        faults.error(f"answers, {answer}", f"{error.args[0]}.", "Give the answers to these data, or take the row out.")
        return [], []
    if number in [*shown, *chosen]:
        faults.error(f"answers, {answer}", "a record is compared with itself.", "Take the row out.")
        return [], []
    same, apart = chosen, shown if answer.choice == NONE else []
    return [_sorted(number, other) for other in same], [_sorted(number, other) for other in apart]


def _array(pairs: Any) -> NDArray[np.int64]:
    return np.array(pairs, dtype=np.int64).reshape(-1, 2)


def _sorted(a: int, b: int) -> tuple[int, int]:
    return min(a, b), max(a, b)


def _contradictions(records: Records, pairs: Any, allowed: LinkageClass) -> Iterable[Contradiction]:
    """List groups of answers that make one person of records that cannot be, or are said not to be, one."""
    same = [(pair, answer) for answer, together, _ in pairs for pair in together]
    linkage = Linkage.joining(records, _array([pair for pair, _ in same]))
    labels = linkage.labels
    apart: dict[int, list[Answer]] = {}
    for answer, _, different in pairs:
        for a, b in different:
            if labels[a] == labels[b]:
                apart.setdefault(int(labels[a]), []).append(answer)
    clashing = {int(labels[records.number(group[0])]) for group in linkage.violations(allowed)}
    for label in sorted(clashing | apart.keys()):
        group = [answer for pair, answer in same if labels[pair[0]] == label]
        why = "said to be one person and not to be" if label in apart else "one record has two partners"
        yield Contradiction(tuple(dict.fromkeys([*group, *apart.get(label, [])])), why)
