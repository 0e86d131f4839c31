"""Left-out probabilities by long contexts, against a slow twin that follows the formula letter by letter."""

from __future__ import annotations

import numpy as np
import pytest

from tielink.channels.contexts import LONGEST_CONTEXT, log_left_out_by_contexts
from tielink.channels.language import language
from tielink.channels.string_truth import string_truth

END = "\0"
NAMES = [f"{given} {family}" for given in ("anna", "ann", "tom") for family in ("meier", "meyer", "lopez", "ng")]
PHONES = [f"404{number}" for number in ("1163", "1164", "2371", "9982")] + ["212404"]


def chance_of_next(before: str, character: str, others: list[str], base: float) -> float:
    """P_k(c | s) for the longest k: every string begins with one sign of its own, beyond which nothing is known."""
    chance = base
    begun = f"^{before}"
    for k in range(1, LONGEST_CONTEXT + 1):
        if k > len(begun):
            break
        context = begun[-k:]
        seen: dict[str, set[object]] = {}
        inside = 0
        for number, other in enumerate(others):
            whole = f"^{other}{END}"
            places = [i for i in range(len(whole) - k) if whole[i : i + k] == context]
            inside += bool(places)
            for i in places:
                unit = number if i == 0 or k == LONGEST_CONTEXT else whole[i - 1]
                seen.setdefault(whole[i + k], set()).add(unit)
        total = sum(len(units) for units in seen.values())
        if total:
            chance = (max(len(seen.get(character, ())) - 1, 0) + len(seen) * chance) / total
        if inside < 2:
            break
    return chance


@pytest.mark.parametrize("strings", [NAMES, PHONES, ["a"], ["aa", "aaa", "aaaa", "ab", "aab"]])
def test_probabilities_are_those_of_the_formula(strings):
    model = language(strings)
    text = model.encode(strings)
    steps = np.exp(model.log_steps(text))
    found = log_left_out_by_contexts(text, model)
    begin = 0
    for string, log in zip(strings, found, strict=True):
        others = [other for other in strings if other != string]
        expected = 0.0
        for place, character in enumerate(string + END):
            expected += np.log(chance_of_next(string[:place], character, others, steps[begin + place]))
        begin += len(string) + 1
        assert log == pytest.approx(expected)


def test_they_are_a_distribution_over_the_next_character():
    alphabet, others = "ab", ["ab", "abb", "bab", "aab"]
    base = {"a": 0.5, "b": 0.3, END: 0.2}
    assert sum(chance_of_next("ab", c, others, base[c]) for c in (*alphabet, END)) == pytest.approx(1)


def test_one_other_string_alone_says_nothing():
    strings = ["quillmaker", "quilmaker", "sunnyowl"]
    model = language(strings)
    text = model.encode(strings)
    assert (log_left_out_by_contexts(text, model) < model.log_probability(text) + 0.5).all()


def test_long_contexts_count_for_names_of_known_words_and_hardly_for_others():
    given, families = ("anna", "tom", "zoe", "ines", "pablo"), ("meier", "lopez", "okoye", "smith", "ivanov")
    rng = np.random.default_rng(1)
    names = sorted(f"{one} {two}" for one in given for two in families)
    others = ["".join(rng.choice(list("abcdefghij"), 8)) for _ in range(25)]
    left = [string_truth(strings, np.ones(25), np.zeros(25)).back_off for strings in (names, others)]
    assert left[0] < 0.95, "what long contexts know is not left to the language model"
    assert left[1] > 0.999
