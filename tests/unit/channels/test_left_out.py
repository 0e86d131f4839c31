"""Prices of strings by all others: refitting without a string, and what it changes in the tables."""

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.channels.language import Language, language
from tielink.channels.language_kernels import transitions
from tielink.channels.string_truth import discount, string_truth
from tielink.channels.typing_kernels import truth_sum, typed
from tielink.channels.typing_tables import EDIT_RATES, split_rate, typing_tables

WORDS = ["anna", "ann", "hanna", "bob", "bobby", "zoe", "xyz"]
COUNTS = np.array([1.0, 2.0, 1.0, 5.0, 1.0, 1.0, 1.0])


def refitted(model, strings):
    """The model of fewer strings, over the same characters and with the same strength."""
    fewer = np.zeros_like(model.follows)
    text = model.encode(strings)
    for begin, stop in zip(text.begins[:-1], text.begins[1:], strict=True):
        path = model.state[text.characters[begin:stop]].tolist()
        for before, after in zip([len(fewer) - 1, *path], [*path, len(fewer) - 1], strict=True):
            fewer[before, after] += 1
    moves = transitions(fewer, model.strength, model.empty)
    end = moves[:, -1].copy()
    moves[:, -1] = 0.0
    return Language(model.alphabet, model.state, model.share, moves, end, fewer, model.strength, model.empty)


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("which", range(len(WORDS)))
def test_a_string_is_priced_by_all_other_persons(which, kept):
    """p₋ and c̃₋ are those of a distribution fitted to one person fewer, by definition."""
    own, learned = (typing_tables(string_truth(WORDS, COUNTS, learned=told), kept=kept) for told in (False, True))
    truth, word = own.truth, WORDS[which]
    counts = COUNTS.copy()
    counts[which] -= 1
    left = [string for string, count in zip(WORDS, counts, strict=True) if count > 0]
    model, off = refitted(truth.language, left), discount(COUNTS)
    p = np.maximum(counts - off, 0) / counts.sum()
    back_off = off * len(left) / counts.sum()
    text = truth.language.encode(WORDS)
    x = text.characters[text.begins[which] : text.begins[which + 1]]
    price = p[which] + back_off * np.exp(model.log_probability(truth.language.encode([word])))[0]
    assert learned.gain[which] == pytest.approx(truth.probability[which] / price)
    for place in (1, 5):
        rates = split_rate(EDIT_RATES[place])
        near = own.columns[own.rows == which]
        seen = sum(
            p[v] * typed(x, text.characters[text.begins[v] : text.begins[v + 1]], model.letters, *rates, kept)
            for v in near
        )
        closure = model.closure((1 - rates[0]) * rates[1])
        common = (model.state, model.share, model.moves[-1], model.end, closure, model.letters)
        mistyped = seen + back_off * truth_sum(x, *common, *rates, kept)
        assert learned.single[place][which] == pytest.approx(learned.gain[which] * mistyped)


def test_equal_strings_are_worth_what_all_say_and_unequal_ones_what_the_others_say():
    given, learned = (typing_tables(string_truth(WORDS, COUNTS, learned=told)) for told in (False, True))
    equal = given.rows == given.columns
    assert np.array_equal(given.truth.probability, learned.truth.probability)
    assert np.allclose(learned.typed[:, equal], given.typed[:, equal])
    assert np.allclose(learned.typed[:, ~equal], given.typed[:, ~equal] * learned.gain[given.columns[~equal]])
    assert (learned.gain[COUNTS == 1] > 1.5).all()
    assert (given.gain == 1).all()


def test_given_frequencies_are_not_left_out():
    frame = pl.DataFrame({"id": range(len(WORDS)), "name": WORDS})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()})
    known = tl.String(frequencies=dict(zip(WORDS, COUNTS.tolist(), strict=True)))
    gains = [
        tl.Problem.compile(tl.Model(network=None, fields={"name": field}), data).fields[0].tables.gain
        for field in (known, tl.String())
    ]
    assert (gains[0] == 1).all()
    assert (gains[1] > 1).all()


def test_one_string_alone_has_a_price():
    tables = typing_tables(string_truth(["anna"], np.ones(1), learned=True))
    assert np.isfinite(tables.single).all()
    assert tables.gain[0] > 1


def test_the_strength_is_the_best_by_strings_left_out():
    rng = np.random.default_rng(4)
    few = language(["".join(rng.choice(list("abcdefghij"), 6)) for _ in range(60)])
    many = language([word for word in ("abcabc", "bcabca", "cabcab", "abcab", "bcab", "cabca") for _ in range(9)])
    assert few.strength > many.strength
