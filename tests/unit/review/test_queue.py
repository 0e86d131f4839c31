"""What to ask next, against entropies and mutual information computed one by one."""

from __future__ import annotations

from collections import Counter
from math import log2

import numpy as np

import tielink as tl
from posteriors import posterior_of, random_draws
from tielink.data.records import Records
from tielink.review import Answer, queue, settled_pairs

RECORDS = Records({"a": ["0", "1", "2"], "b": ["0", "1", "2"]})


def entropy(outcomes) -> float:
    counts = Counter(outcomes)
    return -sum(n / len(outcomes) * log2(n / len(outcomes)) for n in counts.values())


def test_values_are_entropy_of_the_answer_and_information_about_others():
    # Two independent chains of events: a0 takes b0 or b1 and a1 the other one; a2 and b2 are by themselves.
    rng = np.random.default_rng(4)
    draws = []
    for _ in range(4000):
        labels = [0, 1, 2, 3, 4, 5]
        if rng.random() < 0.5:
            labels[3], labels[4] = 0, 1
        else:
            labels[3], labels[4] = 1, 0
        if rng.random() < 0.4:
            labels[5] = 2
        draws.append(labels)
    posterior = posterior_of(RECORDS, draws)
    asked = {question.record: question for question in queue(posterior)}
    first = asked["a", "0"]
    assert first.shown == (("b", "0"), ("b", "1")) or first.shown == (("b", "1"), ("b", "0"))
    partner = [label[3] == 0 for label in draws]
    expected = entropy(partner)
    # The answer says all about the two pairs of a1.
    assert abs(first.value - first.others - expected) < 1e-6
    assert abs(first.others - 2 * expected) < 0.02
    alone = asked["a", "2"]
    assert alone.others == 0, "nothing hangs on it, and chance is not counted"
    assert abs(alone.value - entropy([label[5] == 2 for label in draws])) < 1e-6
    assert queue(posterior)[0].value == max(question.value for question in asked.values())


def test_what_is_sure_or_known_is_not_asked():
    draws = np.tile([0, 1, 2, 0, 4, 5], (200, 1))
    draws[:100, 4] = 1
    posterior = posterior_of(RECORDS, draws)
    assert {question.record for question in queue(posterior)} == {("a", "1"), ("b", "1")}
    assert queue(posterior, [Answer(("a", "1"), "none", (("b", "1"),))]) == []


def test_no_pair_is_shown_twice_not_even_from_the_other_side():
    draws = random_draws(np.random.default_rng(1), RECORDS, "pairs", 400)
    posterior, answers, seen = posterior_of(RECORDS, draws), [], set()
    while questions := queue(posterior, answers):
        for other in questions[0].shown:
            pair = frozenset([questions[0].record, other])
            assert pair not in seen
            seen.add(pair)
        answers.append(Answer(questions[0].record, "unsure", questions[0].shown))
    assert answers


def test_files_may_be_three_and_records_several():
    records = Records({"a": ["0", "1"], "b": ["0", "1"], "c": ["0", "1"]})
    draws = random_draws(np.random.default_rng(2), records, "one_per_file", 300)
    posterior = posterior_of(records, draws)
    for question in queue(posterior):
        assert abs(sum(question.probability) - 1) < 1e-6
        assert question.value >= question.others >= 0


def test_settled_are_pairs_that_leave_doubt():
    draws = np.tile([0, 1, 2, 3, 4, 5], (200, 1))
    draws[:100, 3], draws[100:, 3] = 0, 1
    posterior = posterior_of(RECORDS, draws)
    after = posterior.given([Answer(("a", "0"), ("b", "0"), (("b", "0"),))])
    assert settled_pairs(posterior, after).tolist() == [[0, 3], [1, 3]]


def test_the_same_posterior_gives_the_same_questions():
    draws = random_draws(np.random.default_rng(3), RECORDS, "pairs", 400)
    one, two = (queue(posterior_of(RECORDS, draws)) for _ in range(2))
    assert one == two
    assert tl.review.queue is queue
