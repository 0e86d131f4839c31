"""Names: reading them, and their sums over true names against brute force on two letters."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.channels import near_strings
from tielink.channels.name_tables import DROP_RATES, FIRST
from tielink.channels.parsed_names import Name, parse_name
from tielink.channels.typing_kernels import Typing, typed_many
from tielink.channels.typing_tables import EDIT_RATES, split_rate
from tielink.logp.profiles import log_group, log_pair, log_single


@pytest.mark.parametrize(
    ("texts", "name"),
    [
        (["Lenzmann, B.", "B. Lenzmann", "LENZMANN , B", "Lenzmann B", "B Lenzmann,"], Name("lenzmann", ("b",))),
        (["J.M. Crawford", "Crawford, J. M.", "JM Crawford", "J.-M. Crawford"], Name("crawford", ("j", "m"))),
        (["Tze-Yun Leong", "Leong, Tze Yun"], Name("leong", ("tze", "yun"))),
        (["ARVO, J. R., AND"], Name("arvo", ("j", "r"))),
        (["M., M. MEVENLAMP"], Name("mevenlamp", ("m", "m"))),
        (["Peter van Beek", "van Beek, Peter", "VAN BEEK, Peter"], Name("vanbeek", ("peter",))),
        (["St . John, M. F."], Name("stjohn", ("m", "f"))),
        (["Anthony O'Hare", "O’Hare, Anthony"], Name("ohare", ("anthony",))),
        (["Szepesvári, Cs.", "Szepesvari Cs"], None),
        (["Madonna"], Name("madonna", ())),
        (["李小龍"], Name("李小龍", ())),
        (["..."], Name("...", ())),
        (["a b c d e f"], Name("f", ("a", "b", "c", "d"))),
    ],
)
def test_names_are_read(texts, name):
    read = {parse_name(text) for text in texts}
    if name is None:
        assert {one.family for one in read} <= {"szepesvari", "cs"}
    else:
        assert read == {name}
        assert parse_name(name.text) == name or name.family in ("...", "f")


TEXTS = ["ab, ba", "ab, b", "ab", "ba, b a", "ba, bb", "aab, ab b", "ab, ab", "ba, a", "aab"]


@pytest.fixture
def field(monkeypatch):
    monkeypatch.setattr(near_strings, "reach", lambda length: 100)
    frame = pl.DataFrame({"id": range(len(TEXTS)), "name": TEXTS})
    known = tl.PersonName(frequencies=dict.fromkeys(TEXTS, 1.0))
    data = tl.Dataset.from_frames({"a": frame, "b": frame[:4]}, fields={"name": known})
    return tl.Problem.compile(tl.Model(network=None), data).fields[0]


def strings(most):
    return ["".join(letters) for n in range(1, most + 1) for letters in product("ab", repeat=n)]


def typing(tables, x, v, rate):
    language, chance = tables.truth.language, np.empty(1)
    typing = Typing(language.letters, *split_rate(rate), True)
    typed_many(language.encode([v, x]), np.array([0]), np.array([1]), typing, chance)
    return chance[0]


def law(truth, every):
    p = dict(zip(every, truth.of(truth.language.encode(every)), strict=True))
    for string, counted in zip(truth.strings, truth.counted, strict=True):
        p[string] += counted
    return p


def by_definition(field, names, place, mistyped):
    """Sum over true names with parts of up to 9 letters: Σ_v p(v)·Π A(x | v), written down as it is told."""
    edit, drop = EDIT_RATES[place[0]], DROP_RATES[place[1]]
    family = law(field.families.truth, strings(9))
    given = law(field.given.tables.truth, strings(9))
    numbers = field.given.tables.truth.language.number
    starts = dict(zip([s[0] for s in field.given.tables.truth.strings], field.given.starts, strict=True))
    mass = {letter: sum(p for g, p in given.items() if g[0] == letter) for letter in numbers}
    given = {g: p * starts[g[0]] / mass[g[0]] for g, p in given.items()}
    a = field.given.initials

    def show(tables, x, v, wrong):
        return typing(tables, x, v, edit) if wrong else float(x == v)

    by_family = sum(
        p * np.prod([show(field.families, n.family, v, w) for n, w in zip(names, mistyped, strict=True)])
        for v, p in family.items()
    )
    by_token: dict[tuple, float] = {}

    def slot(shown):
        """Σ_g p(g)·Π over the records that show this given name."""
        if shown not in by_token:
            by_token[shown] = sum(
                p
                * np.prod(
                    [a * (t == g[0]) + (1 - a) * show(field.given.tables, t, g, w) for t, w in shown if t is not None]
                )
                for g, p in given.items()
            )
        return by_token[shown]

    total = 0.0
    for k, q in enumerate(field.given.number):
        for masks in product(product([False, True], repeat=k), repeat=len(names)):
            if any(sum(mask) != len(name.given) for mask, name in zip(masks, names, strict=True)):
                continue
            left_out = [drop * FIRST, *[drop] * k][:k]
            weight = q * np.prod([np.where(mask, np.subtract(1, left_out), left_out).prod() for mask in masks])
            queues = [list(name.given) for name in names]
            for at in range(k):
                shown = tuple(
                    (queue.pop(0) if mask[at] else None, w)
                    for queue, mask, w in zip(queues, masks, mistyped, strict=True)
                )
                weight *= slot(shown)
            total += weight
    return by_family * total


def named(field, code):
    truth = field.given.tables.truth.strings
    return Name(
        field.families.truth.strings[field.family[code]],
        tuple(truth[token] for token in field.given.lists[field.listed[code]]),
    )


PLACE = (3, 2)


def test_sums_over_true_names_are_the_definition(field):
    parameters = np.array([0.0, EDIT_RATES[PLACE[0]], DROP_RATES[PLACE[1]]])
    codes = np.arange(field.levels)
    clean, wrong = field.single(parameters, codes)
    for code in codes:
        name = [named(field, code)]
        assert clean[code] == pytest.approx(by_definition(field, name, PLACE, [False]), rel=0.03)
        assert wrong[code] == pytest.approx(by_definition(field, name, PLACE, [True]), rel=0.03)
    for x, y in [(0, 1), (1, 1), (2, 5), (3, 6), (4, 7), (8, 0)]:
        terms = field.pair(parameters, np.array([x]), np.array([y]))
        names = [named(field, x), named(field, y)]
        for term, mistyped in zip(terms, [(0, 0), (1, 0), (0, 1), (1, 1)], strict=True):
            assert term[0] == pytest.approx(by_definition(field, names, PLACE, mistyped), rel=0.05, abs=1e-12)
    assert field.single(parameters, codes)[0][0] != pytest.approx(
        by_definition(field, [named(field, 0)], PLACE, [True])
    )


def test_what_is_simulated_has_these_probabilities(field):
    rng = np.random.default_rng(2)
    parameters, rate = np.array([0.3, EDIT_RATES[-1], DROP_RATES[-1]]), 0.5
    number = 20_000
    labels = np.repeat(np.arange(number), 2)
    drawn = field.simulate(rng, parameters, labels, rng.random(2 * number) < rate)
    read = [parse_name(drawn.texts[code]) for code in drawn.values]
    pairs = Counter(zip(read[::2], read[1::2], strict=True))
    singles = Counter(read)
    codes = np.arange(field.levels)
    single = np.exp(log_single(field, parameters, rate, codes))
    for code in codes:
        expected = 2 * number * single[code]
        assert singles[named(field, code)] == pytest.approx(expected, abs=5 * np.sqrt(2 * expected) + 3)
    left, right = (grid.ravel() for grid in np.meshgrid(codes, codes, indexing="ij"))
    for x, y, p in zip(left, right, np.exp(log_pair(field, parameters, rate, left, right)), strict=True):
        assert pairs[named(field, x), named(field, y)] == pytest.approx(number * p, abs=5 * np.sqrt(number * p) + 3)
    assert sum(pairs[named(field, x), named(field, x)] for x in codes) > 500, "the counts above are not all near zero"


def test_truths_of_two_records_agree_with_pairs(field):
    parameters = np.array([0.2, EDIT_RATES[2], DROP_RATES[1]])
    for x, y in [(0, 1), (1, 1), (3, 6), (0, 6), (8, 0)]:
        one = log_group(field, parameters, 0.2, np.array([x]))
        assert one == pytest.approx(log_single(field, parameters, 0.2, np.array([x]))[0], abs=1e-6)
        two = log_group(field, parameters, 0.2, np.array([x, y]))
        assert two == pytest.approx(log_pair(field, parameters, 0.2, np.array([x]), np.array([y]))[0], abs=0.3)
        assert log_group(field, parameters, 0.2, np.array([x, y, x])) < two


def test_initials_and_forms_agree_where_strings_do_not():
    names = [f"Person{letter} Q{letter}" for letter in "abcdefghij"]
    left = pl.DataFrame({"id": range(12), "name": ["Lenzmann, B.", "Barbara Liskov", *names]})
    right = pl.DataFrame({"id": range(3), "name": ["B. Lenzmann", "Liskov, B.", "Q. Smith"]})
    data = tl.Dataset.from_frames({"a": left, "b": right}, fields={"name": tl.PersonName()})
    model = tl.Model(network=None)
    posterior = tl.sample(model, data, chains=2, warmup=50, draws=200, seed=1, workers=0)
    found = {
        tuple(pair): p
        for pair, p in zip(
            posterior.pair_probabilities.pairs.tolist(), posterior.pair_probabilities.probability, strict=True
        )
    }
    assert found[0, 12] > 0.9
    assert found[1, 13] > 0.7
    assert "read into family and given names" in model.describe(data)
