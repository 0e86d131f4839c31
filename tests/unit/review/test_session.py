"""A review under way, without a browser: questions, answers, undo, several people, and what the server refuses."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request

import pytest

from reviews import SIZE, served, session
from tielink.data.answers import NONE, UNSURE, append_answer, read_answers
from tielink.faults import Faults
from tielink.review import Answer
from tielink.review.session import AUDIT, REVIEW, Session


def test_a_whole_session_settles_everything_and_never_asks_twice(tmp_path):
    made = session(tmp_path / "answers.csv")
    seen, settled = set(), 0
    while asked := made.next("tab"):
        _, record, shown = asked
        pairs = {frozenset([record, other]) for other in shown}
        assert not pairs & seen
        seen |= pairs
        assert made.next("tab") == asked, "a reload shows the same question"
        other = record + SIZE if record < SIZE else record - SIZE
        found = made.answer("tab", asked, other if other in shown else NONE)
        settled += found["settled"] or 0
    assert made.doubtful() == 0
    assert settled > 0, "answers settle links that were not asked about"
    again = Session(made.dataset, made.first, made.path, who="ann")
    assert again.next("tab") is None, "nothing is forgotten"
    assert len(again.answers) == len(made.answers) < SIZE + 1


def test_two_tabs_get_different_questions_and_undo_gives_one_back(tmp_path):
    made = session(tmp_path / "answers.csv")
    one, two = made.next("one"), made.next("two")
    assert one[1] != two[1]
    made.answer("one", one, UNSURE)
    assert made.next("one") not in (one, two)
    assert made.undo("one", REVIEW) == one
    assert made.answers == []
    assert made.next("one") == one
    assert len(made.path.read_text().splitlines()) == 3, "the header, the answer, and that it was taken back"
    assert made.undo("one", AUDIT) is None


def test_answers_can_be_changed_and_contradictions_are_set_aside(tmp_path):
    append_answer(tmp_path / "bob.csv", Answer(("left", "person 0"), "unsure", (("right", "person 0"),), "bob", "2025"))
    made = session(tmp_path / "answers.csv", others=[tmp_path / "bob.csv"])
    asked = made.next("tab")
    made.answer("tab", asked, asked[2][0])
    name = made.dataset.records
    append_answer(tmp_path / "bob.csv", Answer(name[asked[1]], "none", (name[asked[2][0]],), "bob", "2026"))
    made.read()
    assert len(made.settled.contradictions) == 1
    assert len(made.settled.same) == 0
    made.change("tab", asked)
    assert made.next("tab") == asked
    made.answer("tab", asked, NONE)
    assert not made.settled.contradictions
    with pytest.raises(ValueError, match="not asked"):
        made.change("tab", (REVIEW, 0, (1,)))


def test_parts_of_several_people_do_not_meet(tmp_path):
    parts = [set(session(tmp_path / f"{part}.csv", part=(part, 3))._mine()) for part in (1, 2, 3)]
    assert sorted(record for part in parts for record in part) == list(range(2 * SIZE))


def test_too_few_draws_that_agree_are_sampled_again_in_the_background(tmp_path):
    asked_for = []
    done = threading.Event()

    def again(settled):
        asked_for.append(settled)
        done.wait(10)
        return made.first.given(settled)

    made = session(tmp_path / "answers.csv", again=again)
    asked = made.next("tab")
    # A partner that no draw has: far away from all that was shown.
    made.answer("tab", asked, (asked[1] + SIZE + 5) % SIZE + (SIZE if asked[1] < SIZE else 0))
    assert made.sampling is not None
    thread = made.sampling
    done.set()
    thread.join()
    assert len(asked_for) >= 1
    assert len(asked_for[0].same) == 1


def test_an_audit_is_blind_follows_its_plan_and_counts(tmp_path):
    made = session(tmp_path / "answers.csv")
    for unit in made.plan.units:
        asked = made.next("tab", AUDIT)
        assert asked[1] == unit
        same = made.linkage.labels == made.linkage.labels[unit]
        partner = [other for other in asked[2] if same[other]]
        made.answer("tab", asked, partner[0] if partner else NONE)
    assert made.next("tab", AUDIT) is None
    found = made.audit()
    assert found.questions == len(made.plan.units)
    assert found.recall == 1


@pytest.mark.parametrize(
    "bad", [(REVIEW, 0, (0,)), (REVIEW, 999, (1,)), ("else", 0, (SIZE,)), (REVIEW, 0, (SIZE, SIZE))]
)
def test_answers_to_what_is_no_question_are_refused(tmp_path, bad):
    made = session(tmp_path / "answers.csv")
    with pytest.raises(ValueError, match="no such"):
        made.answer("tab", bad, NONE)
    with pytest.raises(ValueError, match="no such"):
        made.answer("tab", (REVIEW, 0, (SIZE,)), "whatever")
    assert not made.path.exists()


def call(address: str, path: str, given=None, **headers) -> tuple[int, dict]:
    body = None if given is None else json.dumps({"tab": "t", "about": REVIEW, **given}).encode()
    request = urllib.request.Request(address + path, body, {"Content-Type": "application/json", **headers})
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, {}


def test_the_server_answers_this_page_on_this_machine_only(tmp_path):
    made = session(tmp_path / "answers.csv")
    with served(made) as server:
        ours = server.address.rpartition("/")[0].rpartition("/")[0]
        assert server.socket.getsockname()[0] == "127.0.0.1"
        code, found = call(server.address, "question?tab=t&about=review")
        assert code == 200
        given = {"asked": found["asked"], "chosen": "none"}
        origin = {"Origin": ours}
        assert call(ours + "/guess/", "status")[0] == 404
        assert call(server.address, "status", Host="evil.example")[0] == 404
        assert call(server.address, "", Host="evil.example")[0] == 404
        assert call(server.address, "answer", given)[0] == 403
        assert call(server.address, "answer", given, Origin="http://evil.example")[0] == 403
        assert call(server.address, "answer", given, **origin, **{"Sec-Fetch-Site": "cross-site"})[0] == 403
        for bad in (
            {"asked": [0, "x"]},
            {"asked": []},
            {"chosen": True},
            {"chosen": [1]},
            {"about": "x"},
            {"asked": 7},
        ):
            assert call(server.address, "answer", given | bad, **origin)[0] == 400
        assert not made.path.exists(), "nothing of that was kept"
        assert call(server.address, "answer", given, **origin)[0] == 200
        assert len(read_answers(made.path, Faults())) == 1


def test_the_page_says_nothing_of_the_model_in_an_order_that_tells(tmp_path):
    made = session(tmp_path / "answers.csv")
    chances = [made.probabilities(made.next(str(tab))) for tab in range(6)]
    assert any(chance != sorted(chance, reverse=True) for chance in chances if len(chance) > 1)
