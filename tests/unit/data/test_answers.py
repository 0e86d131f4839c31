"""Files of answers: appended, cut off, put together, contradicted."""

from __future__ import annotations

import pytest

import tielink as tl
from tielink.data.answers import Settled, append_answer, read_answers
from tielink.data.records import Records
from tielink.faults import Faults
from tielink.review import Answer

NASTY = "=cmd|\"a\n,'\u202e"
RECORDS = Records({"a": [1, 2, 3], "b": ["x", "y", NASTY]})
X, Y, Z = (("b", key) for key in RECORDS.ids[1])


def numbered(answers: list[Answer]) -> list[tuple[object, ...]]:
    """Answers with the ids' own types again."""

    def key(record):
        return record if isinstance(record, str) else RECORDS[RECORDS.number(record, written=True)]

    return [(key(a.record), key(a.chosen), tuple(map(key, a.shown)), a.who, a.when) for a in answers]


def test_what_is_appended_is_read_back_whatever_the_ids_hold(tmp_path):
    path = tmp_path / "answers.csv"
    given = [
        Answer(("a", 1), X, (X, Y), "anna", "2026-01-01T00:00:00+00:00"),
        Answer(("a", 2), "none", (Y, Z), "=anna", "2026-01-01T00:00:01+00:00"),
        Answer(("a", 3), Z, (Z,), 'b,"o\nb', "2026-01-01T00:00:02+00:00"),
    ]
    for answer in given:
        append_answer(path, answer)
    faults = Faults()
    read = read_answers(path, faults)
    assert not faults.found
    wanted = numbered(given)
    wanted[2] = (*wanted[2][:3], 'b,"o b', wanted[2][4])
    assert numbered(read) == wanted
    assert all(not line.startswith("=") for line in path.read_text().splitlines()), "no spreadsheet runs a name"


@pytest.mark.parametrize("cut", [1, 7, 30, 60, 75])
def test_a_row_that_was_cut_off_spoils_no_other_and_is_said(tmp_path, cut):
    path = tmp_path / "answers.csv"
    append_answer(path, Answer(("a", 1), X, (X, Y), "anna", "1"))
    whole = path.read_bytes()
    append_answer(path, Answer(("a", 2), Y, (X, Y), "anna", "2"))
    path.write_bytes(path.read_bytes()[: len(whole) + cut])
    append_answer(path, Answer(("a", 3), "none", (Z,), "anna", "3"))
    faults = Faults()
    assert [answer.record[1] for answer in read_answers(path, faults)] == ["1", "3"]
    assert "no whole answer" in faults.said[0].what
    assert not faults.errors


def test_the_last_answer_to_a_question_counts_and_can_be_taken_back(tmp_path):
    path = tmp_path / "answers.csv"
    for chosen, when in ((X, "1"), ("none", "2"), (Y, "3")):
        append_answer(path, Answer(("a", 1), chosen, (X, Y), "anna", when))
    append_answer(path, Answer(("a", 1), X, (X, Y), "bob", "2"))
    faults = Faults()
    assert {(a.who, a.chosen) for a in read_answers(path, faults)} == {("anna", ("b", "y")), ("bob", ("b", "x"))}
    append_answer(path, Answer(("a", 1), "undone", (X, Y), "anna", "4"))
    assert {a.who for a in read_answers(path, faults)} == {"bob"}


def test_files_of_several_people_are_put_together_and_contradictions_listed():
    ann = [Answer(("a", 1), X, (X, Y), "ann"), Answer(("a", 2), Y, (Y,), "ann")]
    bob = [Answer(("a", 1), "none", (X,), "bob"), Answer(("a", 3), "unsure", (Z,), "bob")]
    settled = Settled.by(RECORDS, [*ann, *bob], "pairs", strict=False)
    assert len(settled.contradictions) == 1
    assert "ann" in str(settled.contradictions[0])
    assert "bob" in str(settled.contradictions[0])
    assert settled.same.tolist() == [[1, 4]], "what contradicts nothing stands"
    assert len(settled.different) == 0, "neither of two that contradict each other is believed"
    with pytest.raises(tl.InputError, match="one person and not to be"):
        Settled.by(RECORDS, [*ann, *bob], "pairs")


def test_two_partners_contradict_each_other_where_a_record_has_one():
    both = [Answer(("a", 1), X, (X,), "ann"), Answer(("a", 1), Y, (Y,), "ann")]
    assert "two partners" in str(Settled.by(RECORDS, both, "pairs", strict=False).contradictions[0])
    assert not Settled.by(RECORDS, both, "free").contradictions


def test_marks_of_the_report_are_answers_too(tmp_path):
    path = tmp_path / "marks.csv"
    path.write_text('file_a,id_a,file_b,id_b,answer\n"a","1","b","x","same"\n"a","2","b","y","different"\n')
    settled = Settled.by(RECORDS, path, "pairs")
    assert settled.same.tolist() == [[0, 3]]
    assert settled.different.tolist() == [[1, 4]]


def test_faults_of_answers_are_said_together(tmp_path):
    path = tmp_path / "odd.csv"
    path.write_text("name\nanna\n")
    bad = [path, tmp_path / "none.csv", Answer(("a", 9), X, (X,)), Answer(("b", "x"), X, (X,)), 7]
    with pytest.raises(tl.InputError) as caught:
        Settled.by(RECORDS, bad, "pairs")
    for expected in ("has the columns", "no such file", "unknown id", "with itself", "is a int"):
        assert expected in str(caught.value)
