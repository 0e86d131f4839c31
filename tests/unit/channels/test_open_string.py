"""Open strings on two letters, against sums over all strings up to a length."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.channels import near_strings
from tielink.channels.affix_kernels import core_sum_many
from tielink.channels.affix_tables import AFFIX_SHARES, add_affixes, affix_tables, common_parts, draw_affixed
from tielink.channels.channel import Channel
from tielink.channels.contexts import log_left_out_by_contexts
from tielink.channels.counts import count_by_file, discount, largest_count, others_count
from tielink.channels.near_strings import near_pairs, one_slip_pairs, reach, sharing_pairs
from tielink.channels.string_truth import string_truth
from tielink.channels.typing_kernels import Typing, typed_many
from tielink.channels.typing_tables import EDIT_RATES, draw_typed, rate_weights, split_rate, typing_tables
from tielink.logp.profiles import log_group, log_pair, log_single

WORDS = ["ab", "abb", "ba", "a", "bbab"]
COUNTS = np.array([3.0, 1.0, 1.0, 2.0, 1.0])
EVERY = ["", *("".join(letters) for n in range(1, 15) for letters in product("ab", repeat=n))]
"""All strings of up to 14 letters: what is longer has a probability of about 3e-4 under p."""
PLACES = (0, len(EDIT_RATES) - 1)


@pytest.fixture
def all_near(monkeypatch):
    """Nothing is left out: every pair of strings counts as near."""
    monkeypatch.setattr(near_strings, "reach", lambda length: 100)


def probabilities(truth):
    p = dict(zip(EVERY, truth.of(truth.language.encode(EVERY)), strict=True))
    for string, counted in zip(truth.strings, truth.counted, strict=True):
        p[string] += counted
    return np.array(list(p.values()))


@pytest.mark.parametrize("strings", [WORDS, ["a", "b"], ["aab"]])
def test_true_strings_have_probabilities_that_sum_to_one(strings):
    truth = string_truth(strings, np.arange(1.0, len(strings) + 1))
    assert truth.language.moves.sum(axis=1) + truth.language.end == pytest.approx(1)
    short = probabilities(truth).sum()
    assert 0.98 < short < 1
    assert truth.probability == pytest.approx([probabilities(truth)[EVERY.index(string)] for string in strings])
    drawn = Counter(truth.draw(np.random.default_rng(1), 40_000))
    for string, p in zip(strings, truth.probability, strict=True):
        assert drawn[string] / 40_000 == pytest.approx(p, abs=5 * np.sqrt(p / 40_000))


def test_counts_are_the_largest_of_any_file_and_are_discounted():
    codes, file_of = np.array([0, 0, 1, -1, 0, 1, 2]), np.array([0, 0, 0, 0, 1, 1, 1])
    assert largest_count(count_by_file(codes, file_of, 4)).tolist() == [2, 1, 1, 0]
    assert discount(np.array([2.0, 1.0, 1.0, 0.0])) == 2 / (2 + 2 * 1)
    assert discount(np.array([1.0, 1.0])) == 1
    assert 0 < discount(np.array([5.0, 2.0])) < discount(np.array([7.0, 9.0])) < 1


def test_what_others_say_is_counted_by_setting_each_record_aside():
    rng = np.random.default_rng(4)
    codes, file_of = rng.integers(-1, 12, 60), rng.integers(0, 3, 60)
    others = others_count(count_by_file(codes, file_of, 13))
    for value in range(13):
        own = np.flatnonzero(codes == value)
        left = [largest_count(count_by_file(np.delete(codes, i), np.delete(file_of, i), 13))[value] for i in own]
        assert others[value] == pytest.approx(np.mean(left) if len(own) else 0.0)


def test_a_string_that_one_record_alone_has_is_priced_by_the_language_models():
    by_file = np.array([[1.0, 1.0, 3.0, 0.0, 2.0], [0.0, 1.0, 1.0, 1.0, 0.0]])
    truth = string_truth(["ab", "ba", "bb", "abba", "aa"], largest_count(by_file), others_count(by_file))
    off, n = discount(largest_count(by_file)), 8
    assert off == 3 / 5
    by_others = np.array([0, (1 - off) / n, (9 / 4 - off) / n, 0, (1 - off) / n])
    told = np.exp(log_left_out_by_contexts(truth.text, truth.language))
    assert told.sum() < 1
    share = (truth.counted - by_others) / ((1 - by_others.sum()) * told)
    assert share == pytest.approx(share[0])
    assert 0.049 < share[0] < 0.951
    assert truth.back_off == pytest.approx(1 - truth.counted.sum())
    model = np.exp(truth.language.log_probability(truth.text))
    assert truth.probability == pytest.approx(truth.counted + truth.back_off * model)


@pytest.mark.parametrize("kind", [tl.String, tl.PersonName])
def test_fields_are_priced_by_what_others_have_unless_frequencies_are_given(kind):
    texts = ["Ann Otto", "Ann Lang", "Max Huber", "Max Huber", "Ann Otto", "Ida Maurer"]

    def price(field, text):
        left, right = (pl.DataFrame({"id": range(len(part)), "name": part}) for part in (texts[:4], texts[4:]))
        data = tl.Dataset.from_frames({"a": left, "b": right}, fields={"name": field})
        (channel,) = tl.Problem.compile(tl.Model(network=None), data).fields
        truth = channel.truth if kind is tl.String else channel.families.truth
        return truth.counted[truth.codes[text]]

    alone, twice = ("Ida Maurer", "Ann Otto") if kind is tl.String else ("maurer", "otto")
    assert price(kind(), alone) < 1e-4 < 1e-3 < price(kind(), twice)
    assert price(kind(frequencies={"Ida Maurer": 1, "Ann Otto": 2}), alone) > 1e-3


def test_given_frequencies_replace_counts_and_need_not_cover_every_string():
    truth = string_truth(["ab", "zz"], {"ab": 0.02, "ba": 0.01, "bb": 0.01})
    assert truth.strings == ("ab", "zz", "ba", "bb")
    off = 2 / (2 + 2 * 1)
    assert truth.counted == pytest.approx(np.array([2 - off, 0, 1 - off, 1 - off]) / 4)
    assert 0 < truth.probability[1] < 1e-2
    assert string_truth(["ab"], {"ab": 3, "b": 1}).counted == pytest.approx([2 / 4, 0])


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("rate", [0.05, 0.2])
def test_typing_is_a_distribution_and_can_be_simulated(kept, rate):
    truth = string_truth(WORDS, COUNTS)
    text, chance = truth.language.encode(EVERY), np.empty(len(EVERY))
    v = np.full(len(EVERY), EVERY.index("abab"))
    typed_many(text, v, np.arange(len(EVERY)), Typing(truth.language.letters, *split_rate(rate), kept), chance)
    assert chance.sum() == pytest.approx(1, abs=1e-6)
    rng = np.random.default_rng(3)
    drawn = Counter(draw_typed(rng, "abab", rate, truth.language.alphabet, kept) for _ in range(20_000))
    for string, p in zip(EVERY, chance, strict=True):
        if p > 1e-3:
            assert drawn[string] / 20_000 == pytest.approx(p, abs=5 * np.sqrt(p / 20_000))


@pytest.mark.parametrize("kept", [False, True])
def test_sums_over_truths_are_those_over_all_strings(all_near, kept):
    truth = string_truth(WORDS, COUNTS)
    tables = typing_tables(truth, kept=kept)
    p = probabilities(truth)
    every = tables.followed_by(truth.language.encode(EVERY))
    typing = {place: tables.type(*every, np.arange(len(WORDS)), place) for place in PLACES}
    for place in PLACES:
        assert tables.single[place] == pytest.approx(typing[place] @ p, rel=1e-7)
        both = (typing[place] * p) @ typing[place].T
        assert tables.shared[place] == pytest.approx(both[tables.rows, tables.columns], rel=1e-7)
        direct = typing[place][:, [EVERY.index(word) for word in WORDS]]
        assert tables.typed[place] == pytest.approx(direct[tables.columns, tables.rows], rel=1e-12)


def test_affixes_are_a_distribution_and_can_be_simulated():
    truth = string_truth(WORDS, COUNTS)
    model = truth.language
    text, every = model.encode(EVERY), np.arange(len(EVERY))
    lengths = [(np.linalg.matrix_power(model.moves, n) @ model.end)[-1] for n in range(15)]
    one = np.array([0, *lengths[1:]]) / (1 - model.end[-1])
    either = (2 * one + np.convolve(one, one)[:15]) / 3
    for word in ("", "ba"):
        chance = add_affixes(model, text, np.array([EVERY.index(word)]), every)[:, 0]
        assert chance.sum() == pytest.approx(either[: 15 - len(word)].sum()), "all but what is longer than 14 letters"
    assert either.sum() > 0.98
    assert chance[EVERY.index("ba")] == 0, "something is added"
    rng = np.random.default_rng(3)
    drawn = Counter(draw_affixed(rng, "ba", model) for _ in range(20_000))
    for string, p in zip(EVERY, chance, strict=True):
        if p > 1e-3:
            assert drawn[string] / 20_000 == pytest.approx(p, abs=5 * np.sqrt(p / 20_000))


def test_sums_over_truths_with_affixes_are_those_over_all_strings(all_near):
    truth = string_truth(WORDS, COUNTS)
    tables = typing_tables(truth)
    found = affix_tables(tables)
    p = probabilities(truth)
    values = np.arange(len(WORDS))
    every = tables.followed_by(truth.language.encode(EVERY))
    typing = {place: tables.type(*every, values, place) for place in PLACES}
    af = add_affixes(truth.language, *every, values)
    assert found.single == pytest.approx(af @ p, rel=1e-9)
    assert found.shared == pytest.approx(((af * p) @ af.T)[tables.rows, tables.columns], rel=1e-9)
    assert found.affixed == pytest.approx(af[:, [EVERY.index(word) for word in WORDS]][tables.columns, tables.rows])
    for place in PLACES:
        one = (typing[place] * p) @ af.T
        assert found.crossed[place] == pytest.approx((one + one.T)[tables.rows, tables.columns], rel=1e-9)


def test_pairs_that_share_a_part_which_few_have_are_near():
    words = ["sunnyowl", "sunnyowl_1990", "theredkettle", "redkettletalk", "anna", "annabel", "zz"]
    assert list(zip(*(codes.tolist() for codes in sharing_pairs(words)), strict=True)) == [(0, 1), (2, 3), (4, 5)]
    many = ["gaming" + chr(97 + number) for number in range(near_strings.HOLDERS + 1)]
    assert len(sharing_pairs(many)[0]) == 0
    assert len(sharing_pairs(many[1:])[0]) == 20 * 19 / 2
    assert len(sharing_pairs([])[0]) == len(sharing_pairs(["a", "b"])[0]) == 0
    assert common_parts(["theredkettle", "redkettletalk", "xx"]) == {"redkettle"}


def channel(strings=WORDS, counts=COUNTS, **settings):
    """A channel whose codes are the places of the strings, p fixed by given frequencies."""
    frequencies = dict(zip(strings[: len(counts)], counts.tolist(), strict=True))
    frame = pl.DataFrame({"id": range(len(strings)), "name": strings})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()})
    model = tl.Model(network=None, fields={"name": tl.String(frequencies=frequencies, **settings)})
    return tl.Problem.compile(model, data).fields[0]


def places(field, strings):
    return np.array([field.truth.strings.index(string) for string in strings])


ON_AND_OFF = pytest.mark.parametrize("affixes", [True, False])


def settings_of(*, another, edit, affixes):
    """Parameters of a channel; the share of affixes is the last of the grid."""
    return np.array([another, edit, *([AFFIX_SHARES[-1]] if affixes else [])])


@ON_AND_OFF
@pytest.mark.parametrize("rate", [0.0, 0.15, 1.0])
@pytest.mark.parametrize("another", [0.0, 0.3])
def test_singles_pairs_and_f_are_the_definition(all_near, rate, another, affixes):
    field = channel(affixes=affixes)
    rho, edit = another, EDIT_RATES[3]
    parameters = settings_of(another=rho, edit=edit, affixes=affixes)
    truth, words = field.truth, list(field.truth.strings)
    p = probabilities(truth)
    values, every = np.arange(len(words)), field.tables.followed_by(truth.language.encode(EVERY))
    changed = field.tables.type(*every, values, 3)
    if affixes:
        af = add_affixes(truth.language, *every, values)
        changed = (1 - AFFIX_SHARES[-1]) * changed + AFFIX_SHARES[-1] * af
    exact = np.array([[x == v for v in EVERY] for x in words])
    f = (1 - rate) * exact + rate * ((1 - rho) * changed + rho * truth.probability[:, None])
    with np.errstate(divide="ignore"):
        assert np.exp(log_single(field, parameters, rate, values)) == pytest.approx(f @ p, rel=1e-3)
        left, right = (grid.ravel() for grid in np.meshgrid(values, values, indexing="ij"))
        expected = ((f * p) @ f.T).ravel()
        found = np.exp(log_pair(field, parameters, rate, left, right))
    # Σ_v p(v) over strings of up to 14 letters lacks 3e-4 of the truths, which matter where both are other strings.
    assert found == pytest.approx(expected, rel=1e-3, abs=1e-12)


@ON_AND_OFF
def test_pairs_sum_to_singles(all_near, affixes):
    """Σ_{x'} m(x, x') = m(x), over all x' of up to 8 letters."""
    short = EVERY[1 : 2**9 - 1]
    field = channel([*WORDS, *(word for word in short if word not in WORDS)], affixes=affixes)
    parameters = settings_of(another=0.3, edit=EDIT_RATES[4], affixes=affixes)
    values = np.arange(field.levels)
    empty = 1 - np.exp(log_single(field, parameters, 0.4, values)).sum()
    for x in places(field, WORDS):
        pairs = np.exp(log_pair(field, parameters, 0.4, np.full(len(values), x), values))
        whole = np.exp(log_single(field, parameters, 0.4, np.array([x])))[0]
        assert 0 <= whole - pairs.sum() < 2 * empty * whole, "what is missing are the empty and the long strings"


def test_a_wrong_sum_is_noticed(all_near):
    """A negative control of the tests above: p(x) in the place of m(x), or a dropped term, is far outside."""
    field = channel(affixes=False)
    parameters = np.array([0.3, EDIT_RATES[4]])
    plain, distorted = field.single(parameters, np.arange(len(WORDS)))
    assert np.abs(distorted / plain - 1).max() > 0.05
    terms = field.pair(parameters, np.array([0]), np.array([1]))
    typing_only = field.near_terms((4,), field.find(np.array([0]), np.array([1])))
    assert typing_only[3][0] * 0.49 > 0.05 * terms.both[0]


@ON_AND_OFF
@pytest.mark.parametrize(
    "pair", [("steven", "steven"), ("steven", "stevem"), ("mary", "marie"), ("anne", "bert"), ("steven", "xstevenb")]
)
def test_truths_of_two_records_agree_with_pairs(pair, affixes):
    names = ["steven", "stevem", "mary", "marie", "anne", "bert", "stefan", "maria", "ann", "hanna", "xstevenb"]
    field = channel(names, np.arange(1.0, 8.0), affixes=affixes)
    codes = places(field, pair)
    for edit in (EDIT_RATES[1], EDIT_RATES[-1]):
        parameters = settings_of(another=0.2, edit=edit, affixes=affixes)
        assert log_group(field, parameters, 0.2, codes[:1]) == pytest.approx(
            log_single(field, parameters, 0.2, codes[:1])[0], rel=1e-9
        )
        group = log_group(field, parameters, 0.2, codes)
        assert group == pytest.approx(log_pair(field, parameters, 0.2, codes[:1], codes[1:])[0], abs=0.05)
    three = log_group(field, parameters, 0.2, np.append(codes, codes[0]))
    assert three < group


@ON_AND_OFF
@pytest.mark.parametrize("size", [3, 4])
def test_sums_of_groups_are_those_over_the_truths_laid_out(size, affixes):
    field = channel(["anna", "ana", "annab", "bob", "bo"], np.ones(5), affixes=affixes)
    parameters = settings_of(another=0.2, edit=EDIT_RATES[-1], affixes=affixes)
    groups = np.array(list(product(range(5), repeat=size)))
    assert field.group(parameters, groups) == pytest.approx(Channel.group(field, parameters, groups), rel=1e-12)


def test_of_very_many_strings_those_are_near_that_one_slip_makes_of_each_other(monkeypatch):
    rng = np.random.default_rng(1)
    words = sorted({"".join(rng.choice(list("abc"), rng.integers(1, 6))) for _ in range(150)})

    def cut(word):
        return {word} | {word[:place] + word[place + 1 :] for place in range(len(word))}

    expected = {(i, j) for i, j in combinations(range(len(words)), 2) if cut(words[i]) & cut(words[j])}
    assert set(zip(*(codes.tolist() for codes in one_slip_pairs(words)), strict=True)) == expected
    monkeypatch.setattr("tielink.channels.near_strings.MANY", 10)
    assert set(zip(*(codes.tolist() for codes in near_pairs(words)), strict=True)) == expected


def test_near_pairs_are_all_pairs_within_reach():
    rng = np.random.default_rng(4)
    words = sorted({"".join(rng.choice(list("abc"), size=rng.integers(1, 10))) for _ in range(300)})
    from rapidfuzz.distance import Levenshtein

    expected = {
        (i, j)
        for j in range(len(words))
        for i in range(j)
        if Levenshtein.distance(words[i], words[j]) <= reach(max(len(words[i]), len(words[j])))
    }
    assert set(zip(*(codes.tolist() for codes in near_pairs(words)), strict=True)) == expected
    field = channel(words, np.ones(len(words)), affixes=False)
    assert set(zip(*(codes.tolist() for codes in field.near()), strict=True)) == expected


def test_far_pairs_are_priced_by_single_values_alone():
    field = channel(["anneliese", "bo", "annelise"], np.ones(3))
    parameters = settings_of(another=0.3, edit=0.06, affixes=True)
    one, two = places(field, ["anneliese", "bo"])
    far = field.pair(parameters, np.array([one]), np.array([two]))
    q, d = field.single(parameters, np.array([one, two]))
    assert [term[0] for term in far] == pytest.approx(
        [0, 0.3 * q[0] * q[1], 0.3 * q[0] * q[1], 0.3 * (d[0] * q[1] + q[0] * d[1]) - 0.09 * q[0] * q[1]]
    )


def test_any_script_and_odd_cells():
    words = ["Łukasz", "李小龍", "李小龙", "🙂🙂", "O'Brien-Ünal", "a" * 150, "а́нна"]
    field = channel(words, np.ones(len(words)))
    evidence = log_pair(field, field.start(), 0.1, np.arange(len(words)), np.arange(len(words)))
    assert np.isfinite(evidence).all()
    frame = pl.DataFrame({"id": [1, 2], "name": ["x" * 10_000_000, "y"]})
    with pytest.raises(tl.InputError, match="holds a text of 10,000,000 characters"):
        tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()})
    frame = pl.DataFrame({"id": [1, 2], "name": ["x" * 201, "y"]})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.String()})
    assert data.columns["name"].values == ("x" * 200, "y")
    assert any("1 of its texts is longer than 200 characters" in str(said) for said in data.said)
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.Categorical()})
    with pytest.raises(tl.InputError, match="longer than 200 characters"):
        tl.Problem.compile(tl.Model(network=None, fields={"name": tl.String()}), data)
    letters = [chr(0x4E00 + place) for place in range(4_000)]
    rare = [" ".join("".join(letters[start + 30 * k :][:30]) for k in range(5)) for start in range(0, 3_000, 150)]
    frame = pl.DataFrame({"id": range(20), "name": rare})
    data = tl.Dataset.from_frames({"a": frame, "b": frame}, fields={"name": tl.PersonName()})
    with pytest.raises(tl.InputError, match="too long to compare"):
        tl.Problem.compile(tl.Model(network=None), data)


@pytest.mark.parametrize("affixes", [True, False])
def test_the_longest_strings_are_compared(affixes):
    rng = np.random.default_rng(6)
    titles = ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz ,-"), 200)) for _ in range(12)]
    misspelt = titles[0][:90] + "#" + titles[0][91:]
    left = pl.DataFrame({"id": range(12), "title": titles})
    right = pl.DataFrame({"id": range(3), "title": [misspelt, titles[1], "ab"]})
    field = tl.String() if affixes else tl.String(affixes=False)
    data = tl.Dataset.from_frames({"a": left, "b": right}, fields={"title": field})
    (channel,) = tl.Problem.compile(tl.Model(network=None), data).fields
    one, other, typed = places(channel, [titles[1], titles[2], misspelt])
    parameters = channel.start()

    def evidence(*values):
        singles = log_single(channel, parameters, 0.1, np.array(values)).sum()
        return log_group(channel, parameters, 0.1, np.array(values)) - singles

    assert evidence(one, one) > 100
    assert evidence(places(channel, [titles[0]])[0], typed) > 50
    assert -20 < evidence(one, other) < 0
    assert -30 < evidence(one, other, typed) < 0
    assert -40 < evidence(one, other, typed, 0) < 0


def test_weights_of_the_grid_are_a_prior():
    assert rate_weights(EDIT_RATES, tl.Beta(1, 9)).sum() == pytest.approx(1)
    field = channel()
    total = sum(np.exp(field.log_prior(np.array([0.3, rate, share]))) for rate in EDIT_RATES for share in AFFIX_SHARES)
    from scipy import stats

    assert total == pytest.approx(stats.beta.pdf(0.3, 20, 80))


def test_a_short_common_string_is_the_core_of_longer_ones():
    """With strings near as they are: no term is left out of single sums, nor of a string and its affixes."""
    words = ["anna", "anna_1990", "theanna", "bert", "gustav", "xaver", "oskar", "emil", "ida", "ruth", "karl", "jo"]
    field = channel(words, np.array([8.0, *[1.0] * 11]))
    truth, every = field.truth, np.arange(len(words))
    af = add_affixes(truth.language, truth.text, every, every)
    by_model = np.empty(len(words))
    core_sum_many(truth.text, every, truth.language.compiled, by_model)
    assert field.affixes.single == pytest.approx(truth.back_off * by_model + af @ truth.counted, rel=1e-9)
    assert (field.find(places(field, ["anna", "anna"]), places(field, ["anna_1990", "theanna"])) >= 0).all()
    parameters = settings_of(another=0.2, edit=0.06, affixes=True)
    anna, longer, other = (places(field, [word]) for word in ("anna", "anna_1990", "gustav"))
    single = sum(log_single(field, parameters, 0.1, code)[0] for code in (anna, longer))
    assert log_pair(field, parameters, 0.1, anna, longer)[0] - single > -1
    assert log_pair(field, parameters, 0.1, anna, other)[0] < log_pair(field, parameters, 0.1, anna, longer)[0]


def test_a_sum_without_its_crossed_part_is_noticed(all_near):
    field = channel()
    apart = field.tables.rows != field.tables.columns
    assert (field.affixes.crossed[3] > 0.5 * field.tables.shared[3])[apart].all()
