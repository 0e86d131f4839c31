"""Draws conditioned on answers, against exact conditional probabilities by enumeration."""

from __future__ import annotations

import numpy as np
import pytest

import tielink as tl
from posteriors import partitions, posterior_of
from tielink.data.records import Records
from tielink.posterior import given
from tielink.review import Answer

DRAWS, BLOCKS = 4000, 6
BLOCK = Records({"a": ["0", "1"], "b": ["0", "1"]})


class World:
    """Blocks of 2 + 2 records, each with its own distribution over partitions; `coupled` ones copy the first block."""

    def __init__(self, seed: int, coupled: float = 0.0, draws: int = DRAWS) -> None:
        rng = np.random.default_rng(seed)
        self.every = partitions(BLOCK, "pairs")
        self.weights = rng.dirichlet(np.full(len(self.every), 1.5), size=BLOCKS)
        if coupled:
            self.weights[:] = self.weights[0]
        self.coupled = coupled
        names = [f"{block}.{record}" for block in range(BLOCKS) for record in range(2)]
        self.records = Records({"a": names, "b": names})
        # The place of the records of each block: two of file a, two of file b.
        self.place = np.array([[2 * k, 2 * k + 1, 2 * BLOCKS + 2 * k, 2 * BLOCKS + 2 * k + 1] for k in range(BLOCKS)])
        drawn = np.array([rng.choice(len(self.every), size=draws, p=weight) for weight in self.weights])
        copied = rng.random((BLOCKS, draws)) < coupled
        drawn = np.where(copied, drawn[0], drawn)
        labels = np.tile(np.arange(len(self.records)), (draws, 1))
        for block in range(BLOCKS):
            inside = np.array(self.every)[drawn[block]]
            for record in range(1, 4):
                for other in range(record - 1, -1, -1):
                    same = inside[:, record] == inside[:, other]
                    labels[same, self.place[block, record]] = labels[same, self.place[block, other]]
        self.posterior = posterior_of(self.records, labels, chains=2)

    def linked(self, partition: int, pair: tuple[int, int]) -> bool:
        return bool(self.every[partition][pair[0]] == self.every[partition][pair[1]])

    def exact(self, answers: dict[int, tuple[tuple[int, int], bool]], block: int, pair: tuple[int, int]) -> float:
        """p(pair of a block | answers on pairs of blocks), by enumeration."""
        first = range(len(self.every))
        total = hit = 0.0
        for one in first:  # the first block's partition decides what others copy
            weight = self.weights[0][one]
            if 0 in answers and self.linked(one, answers[0][0]) != answers[0][1]:
                continue
            inside = 0.0
            for other in range(1, BLOCKS):
                chance = (1 - self.coupled) * self.weights[other] + self.coupled * (np.arange(len(self.every)) == one)
                agrees = np.array(
                    [other not in answers or self.linked(two, answers[other][0]) == answers[other][1] for two in first]
                )
                if other == block:
                    inside = float(chance[agrees & [self.linked(two, pair) for two in first]].sum()) / float(
                        chance[agrees].sum()
                    )
                weight *= float(chance[agrees].sum())
            total += weight
            hit += weight * (inside if block else self.linked(one, pair))
        return hit / total

    def answer(self, block: int, pair: tuple[int, int], yes: bool) -> Answer:
        a, b = (self.records[int(self.place[block, record])] for record in pair)
        return Answer(a, b if yes else "none", (b,))

    def worst(self, answers: dict[int, tuple[tuple[int, int], bool]]) -> tuple[float, tl.Posterior]:
        """The largest difference from the truth in standard errors of a count over the draws that agree."""
        found = self.posterior.given([self.answer(block, *said) for block, said in answers.items()])
        person = found.person.reshape(-1, len(self.records))
        worst = 0.0
        for block in range(BLOCKS):
            for pair in ((0, 2), (0, 3), (1, 2), (1, 3)):
                a, b = self.place[block, list(pair)]
                truth = self.exact(answers, block, pair)
                share = float((person[:, a] == person[:, b]).mean())
                error = np.sqrt(max(truth * (1 - truth), 1e-4) / found.agreement.effective)
                worst = max(worst, abs(share - truth) / error)
        return worst, found


ANSWERS = {0: ((0, 2), True), 1: ((1, 3), False), 2: ((0, 3), True), 3: ((1, 2), True), 4: ((0, 2), False)}
LIMIT = 4.0
"""Standard errors; 24 pairs a world, so a false alarm comes once in some 700 worlds."""


@pytest.mark.parametrize("seed", range(3))
def test_records_that_have_no_bearing_on_each_other_are_conditioned_separately(seed):
    world = World(seed)
    worst, found = world.worst(ANSWERS)
    person = world.posterior.person.reshape(-1, len(world.records))
    for block, (pair, yes) in ANSWERS.items():
        a, b = world.place[block, list(pair)]
        now = found.person[:, :, a] == found.person[:, :, b]
        assert (now == yes).all(), "every draw agrees with every answer"
        person = person[(person[:, a] == person[:, b]) == yes]
    assert worst < LIMIT
    assert len(person) < found.agreement.effective / 2, "few draws agree with all answers, and yet this is exact"


@pytest.mark.parametrize("seed", range(3))
def test_answers_reach_what_hangs_together_with_them(seed):
    worst, _ = World(seed, coupled=0.7).worst({0: ((0, 2), True), 1: ((0, 2), True)})
    assert worst < LIMIT


def test_planted_error_an_answer_that_reaches_nobody_else_is_caught(monkeypatch):
    monkeypatch.setattr(given, "BEYOND_CHANCE", np.inf)
    worst = [World(seed, coupled=0.7).worst({0: ((0, 2), True)})[0] for seed in range(3)]
    assert max(worst) > 3 * LIMIT


def test_draws_stay_linkages_and_what_is_untouched_stays_as_it_was():
    world = World(1)
    found = world.posterior.given([world.answer(0, (0, 2), True)])
    person = found.person.reshape(-1, len(world.records))
    assert (np.take_along_axis(person, person, axis=1) == person).all()
    assert (person <= np.arange(len(world.records))).all()
    assert all(tl.Linkage(world.records, labels).is_valid("pairs") for labels in person[:200])
    others = np.delete(np.arange(len(world.records)), world.place[0])
    assert (found.person[:, :, others] == world.posterior.person[:, :, others]).all()
    assert found.anchors.tolist() == [[0, 2 * BLOCKS]]
    now = found.pair_probabilities
    chance = {tuple(pair): p for pair, p in zip(now.pairs, now.probability, strict=True)}
    before = world.posterior.pair_probabilities
    for pair, p in zip(before.pairs, before.probability, strict=True):
        if not set(pair) & set(world.place[0]):
            assert chance[tuple(pair)] == p
    assert chance[0, 2 * BLOCKS] == 1


def test_averages_of_conditional_probabilities_stay_where_no_answer_reaches():
    world = World(2)
    pairs = np.array([[0, 2 * BLOCKS], [2, 2 * BLOCKS + 2]])
    averaged = given.PairProbabilities(pairs, np.array([0.77, 0.123]), np.zeros(2))
    posterior = tl.Posterior(**{**vars(world.posterior), "conditional": averaged})
    found = posterior.given([world.answer(0, (0, 2), False)]).pair_probabilities
    chance = {tuple(pair): p for pair, p in zip(found.pairs.tolist(), found.probability, strict=True)}
    assert chance[2, 2 * BLOCKS + 2] == 0.123
    assert (0, 2 * BLOCKS) not in chance


def test_where_no_draw_agrees_it_says_so_and_the_draws_agree_all_the_same():
    records = Records({"a": ["x", "y"], "b": ["x", "y"]})
    posterior = posterior_of(records, np.tile([0, 1, 0, 1], (50, 1)), chains=2)
    found = posterior.given([Answer(("a", "x"), ("b", "y"), (("b", "x"), ("b", "y")))])
    assert (found.person == [0, 1, 2, 0]).all()
    assert found.agreement.effective == 0
    assert not found.agreement.enough
    assert any("sample again" in note for note in found.notes)


def test_answers_that_contradict_anchors_or_each_other_are_refused():
    records = Records({"a": ["x", "y"], "b": ["x", "y"]})
    posterior = posterior_of(records, np.tile([0, 1, 0, 3], (50, 1)), anchors=[(0, 2)])
    with pytest.raises(tl.InputError, match="known beforehand"):
        posterior.given([Answer(("a", "x"), "none", (("b", "x"),))])
    yes, no = Answer(("a", "y"), ("b", "y"), (("b", "y"),), "ann"), Answer(("b", "y"), "none", (("a", "y"),), "bob")
    with pytest.raises(tl.InputError, match=r"one person and not to be.*ann.*bob"):
        posterior.given([yes, no])


def test_without_answers_nothing_changes():
    world = World(0, draws=200)
    found = world.posterior.given([])
    assert (found.person == world.posterior.person).all()
    assert found.agreement.enough
    assert "no answers" in str(found.agreement)


def test_draws_that_are_all_alike_can_be_asked_about():
    records = Records({"a": ["0", "1"], "b": ["0", "1"]})
    certain = posterior_of(records, [[0, 1, 0, 1]] * 10)
    found = certain.given([])
    assert found.pair_probabilities.probability.tolist() == certain.pair_probabilities.probability.tolist()
