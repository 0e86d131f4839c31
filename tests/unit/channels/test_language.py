"""The language model of strings: a distribution, and a strength chosen by strings that are left out."""

import numpy as np
import pytest

from tielink.channels.language import STRENGTHS, language
from tielink.channels.language_kernels import log_left_out, transitions

WORDS = ["anna", "ann", "hanna", "bob", "bobby", "zoe", "xyz"]


def counted(model, strings):
    """How often each state follows each, the start as the last row and the end as the last column."""
    text, size = model.encode(strings), len(model.end)
    follows = np.zeros((size, size))
    for begin, stop in zip(text.begins[:-1], text.begins[1:], strict=True):
        path = model.state[text.characters[begin:stop]].tolist()
        for before, after in zip([size - 1, *path], [*path, size - 1], strict=True):
            follows[before, after] += 1
    return follows


@pytest.mark.parametrize("empty", [False, True])
def test_every_row_is_a_distribution(empty):
    model = language(WORDS, ["quiz"], empty=empty)
    assert model.moves.sum(axis=1) + model.end == pytest.approx(1)
    assert (model.moves[:, :-1] > 0).all()
    assert (model.end[-1] > 0) == empty


def test_strings_left_out_are_priced_by_a_model_fitted_without_them():
    model = language(WORDS)
    text, every = model.encode(WORDS), np.arange(len(WORDS))
    given = (text, every, model.state, model.share, counted(model, WORDS))
    expected = 0.0
    for place, word in enumerate(WORDS):
        moves = transitions(counted(model, WORDS[:place] + WORDS[place + 1 :]), 5.0, True)
        path = [model.number[letter] for letter in word]
        steps = zip([-1, *model.state[path]], [*model.state[path], -1], strict=True)
        expected += sum(np.log(moves[step]) for step in steps) + np.log(model.share[path]).sum()
    assert log_left_out(*given, 5.0, True) == pytest.approx(expected)
    best = max(STRENGTHS, key=lambda strength: log_left_out(*given, strength, True))
    assert model.strength == best


def test_strings_without_a_pattern_want_more_of_single_letters():
    rng = np.random.default_rng(4)
    none = language(["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(60)])
    one = language(["abcabc"[i:] + "abc" * n for i in range(3) for n in range(8)])
    assert none.strength > one.strength


def test_long_strings_do_not_hide_the_best_strength():
    rng = np.random.default_rng(4)
    strings = ["".join(rng.choice(list("abcdefghij"), 400)) for _ in range(3)]
    assert language(strings).strength > STRENGTHS[0]
