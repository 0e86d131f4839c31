"""Numbers and dates: sums against brute force over every true and every written value."""

from __future__ import annotations

import time
from datetime import date, timedelta
from itertools import product

import numpy as np
import polars as pl
import pytest
from scipy import stats

import tielink as tl
from tielink.channels.counts import count_by_file, largest_count, others_count
from tielink.channels.lattice import DateLattice, NumberLattice
from tielink.channels.measured import MeasuredChannel
from tielink.channels.measured_truth import smooth_truth

RHO = np.array([0.3])


def swapped(text: str, place: int) -> str:
    return text[:place] + text[place + 1] + text[place] + text[place + 2 :]


def number_slips(number: int) -> list[set[int]]:
    """Slips of the hand on the digits themselves, by kind."""
    text = str(abs(number))
    replaced = {text[:i] + new + text[i + 1 :] for i in range(len(text)) for new in "0123456789"} - {text}
    turned = {swapped(text, i) for i in range(len(text) - 1)} - {text}
    sign = -1 if number < 0 else 1
    kinds = [{sign * int(made) for made in kind if str(int(made)) == made} for kind in (replaced, turned)]
    return [kind - {0} for kind in kinds] if number < 0 else kinds


def date_slips(day: date) -> list[set[date]]:
    text = day.strftime("%Y%m%d")
    kinds = [
        {text[:i] + new + text[i + 1 :] for i in range(8) for new in "0123456789"},
        {swapped(text, i) for i in (0, 1, 2, 4, 6)},
        {text[:4] + text[6:] + text[4:6]},
        {f"{int(text[:4]) + step:04d}{text[4:]}" for step in (-1, 1)},
        {f"{text[:6]}{other:02d}" for other in range(1, 32)},
        {f"{text[:4]}{other:02d}{text[6:]}" for other in range(1, 13)},
        {f"{other}{text[4:]}" for other in range(1990, 2011)},
    ]
    return [set(filter(None, map(day_of, kind - {text}))) for kind in kinds]


def day_of(text: str) -> date | None:
    try:
        return date(int(text[:4]), int(text[4:6]), int(text[6:]))
    except ValueError:
        return None


def naive(points: list, slips, weights: np.ndarray, spread: float, rho: float) -> tuple[np.ndarray, np.ndarray]:
    """c_v(x) and ζ_v(x) of every v (row) and x (column), from their definitions."""
    size = len(points)
    clean, distorted = np.zeros((size, size)), np.zeros((size, size))
    for v, point in enumerate(points):
        for x in range(size):
            if abs(x - v) <= 4 * spread:
                clean[v, x] = np.exp(-((x - v) ** 2) / 2 / spread**2) if spread else float(x == v)
        clean[v] /= clean[v].sum()
        kinds = [[points.index(made) for made in kind if made in points] for kind in slips(point)]
        kinds = [kind for kind in kinds if kind]
        for kind in kinds or [[v]]:
            for x in kind:
                distorted[v, x] += (1 - rho) / len(kinds or [v]) / len(kind)
    return clean, distorted + rho * (weights @ clean)


def channel(case: str, spread: float, rho: float = RHO[0]) -> tuple[MeasuredChannel, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    if case == "dates":
        days = [date(1999, 11, 28) + timedelta(days=n) for n in range(100)]
        low = (days[0] - date(1970, 1, 1)).days
        lattice, points, slips = DateLattice(low, 100), days, date_slips
    else:
        low, size = {"years": (1975, 60), "ages": (0, 104), "signed": (-25, 60), "one": (7, 1)}[case]
        lattice, points, slips = NumberLattice(low, size), list(range(low, low + size)), number_slips
    weights = rng.dirichlet(np.ones(lattice.size))
    made = MeasuredChannel("x", np.arange(lattice.size), lattice.size, tl.Beta(2, 8), lattice, weights, spread)
    return made, *naive(points, slips, weights, spread, rho)


@pytest.mark.parametrize("spread", [0.0, 0.6, 2.5])
@pytest.mark.parametrize("case", ["years", "ages", "signed", "dates", "one"])
def test_every_sum_is_that_of_the_definition(case, spread):
    made, clean, distorted = channel(case, spread)
    p, codes = made.truth, np.arange(made.levels)
    assert clean.sum(axis=1) == pytest.approx(1)
    assert distorted.sum(axis=1) == pytest.approx(1)
    single = made.single(RHO, codes)
    assert single[0] == pytest.approx(p @ clean)
    assert single[1] == pytest.approx(p @ distorted)
    expected = [
        clean.T @ (p[:, None] * clean),
        distorted.T @ (p[:, None] * clean),
        clean.T @ (p[:, None] * distorted),
        distorted.T @ (p[:, None] * distorted),
    ]
    grid = np.broadcast_arrays(codes[:, None], codes[None, :])
    flat = [part.ravel() for part in grid]
    for found, listed, wanted in zip(made.pair(RHO, *grid), made.pair(RHO, *flat), expected, strict=True):
        assert found == pytest.approx(wanted, abs=1e-15)
        assert listed == pytest.approx(wanted.ravel(), abs=1e-15)
    some = codes[:: max(1, made.levels // 7)][:4]
    truths = made.truths(RHO, some)
    for row, found in enumerate(made.group(RHO, some[None])[:, 0]):
        wrong = (row >> np.arange(len(some))) & 1 == 1
        wanted = p @ np.where(wrong, distorted[:, some], clean[:, some]).prod(axis=1)
        assert found == pytest.approx(wanted)
        assert truths.prior @ np.where(wrong[:, None], truths.distorted, truths.clean).prod(axis=0) == pytest.approx(
            wanted
        )


def test_near_values_are_those_that_noise_or_a_slip_leads_to():
    made, clean, distorted = channel("years", 0.0, rho=0.0)
    near = {tuple(pair) for pair in np.transpose(made.near()).tolist()}
    assert near == {(x, y) for x, y in product(range(60), repeat=2) if x < y and (distorted[x, y] or clean[x, y])}


@pytest.mark.parametrize("case", ["years", "dates"])
def test_simulated_values_have_the_probabilities_of_the_definition(case):
    made, clean, distorted = channel(case, 1.2)
    rng = np.random.default_rng(8)
    wrong = rng.random(12_000) < 0.5
    truths, values = made.draw(rng, RHO[0], np.arange(12_000), wrong)
    for which, table in ((~wrong, clean), (wrong, distorted)):
        expected = made.truth[truths[which]].size * (made.truth @ table)
        observed = np.bincount(values[which], minlength=made.levels)
        keep = expected > 5
        got = [np.append(part[keep], part[~keep].sum()) for part in (observed, expected)]
        got = [part[got[1] > 0] for part in got]
        assert stats.chisquare(got[0], got[1] * got[0].sum() / got[1].sum()).pvalue > 1e-5
        # Given the truth, and against the other table, which the test must be able to tell from it.
        rows = [np.log(np.maximum(each[truths[which], values[which]], 1e-9)).mean() for each in (clean, distorted)]
        assert rows[0 if table is clean else 1] > rows[1 if table is clean else 0] + 0.5
    drawn = made.simulate(rng, RHO, np.array([0, 0, 1]), np.zeros(3, dtype=bool))
    assert set(drawn.texts) <= set(made.lattice.texts(np.arange(made.levels)))


def test_frequencies_are_counts_where_values_repeat_and_smooth_elsewhere():
    codes, file_of = np.array([3, 3, 9, 3, 9, 15, 15, 18, -1]), np.array([0, 0, 0, 0, 1, 1, 1, 1, 1])
    by_file = count_by_file(codes, file_of, 20)
    p = smooth_truth(largest_count(by_file), others_count(by_file), 0.0)
    assert p.sum() == pytest.approx(1)
    assert (p > 0).all()
    assert p[3] > p[9] > p[10] > p[19]
    assert p[15] > 1.2 * p[14]
    assert p[18] < 1.2 * p[17], "what one record alone says is not likelier than what is near it"
    assert smooth_truth(largest_count(by_file), largest_count(by_file), 0.0)[18] > 1.2 * p[18]
    rng = np.random.default_rng(1)
    sample = np.bincount(np.clip(rng.normal(500, 60, 4_000).astype(int), 0, 999), minlength=1_000)
    p = smooth_truth(sample, sample - (sample > 0), 0.0)
    law = stats.norm(500, 60).cdf(np.arange(1_000) + 1) - stats.norm(500, 60).cdf(np.arange(1_000))
    assert np.abs(p - law).sum() / 2 < 0.15
    assert np.abs(sample / 4_000 - law).sum() / 2 > np.abs(p - law).sum() / 2, "smoothing does not make it worse"


def frame(name: str, values: list) -> pl.DataFrame:
    return pl.DataFrame({"id": range(len(values)), name: values})


def compiled(field, left: list, right: list):
    data = tl.Dataset.from_frames({"a": frame("x", left), "b": frame("x", right)}, fields={"x": field})
    return tl.Problem.compile(tl.Model(network=None), data).fields[0]


def test_numbers_are_equal_however_they_are_written():
    made = compiled(tl.Number(), ["7", "07.0", "1e1", " 12.50"], ["10", "7", None, "12.5"])
    texts = made.lattice.texts(np.maximum(made.codes, 0))
    assert made.codes[6] == -1
    assert [float(text) for text in texts[:6]] == [7, 7, 10, 12.5, 10, 7]
    assert float(texts[7]) == 12.5


def test_years_as_numbers_and_as_categories():
    years = [str(1950 + n % 40) for n in range(80)]
    number, category = compiled(tl.Number(), years, years), compiled(tl.Categorical(), years, years)
    assert (number.seen + number.lattice.low).tolist() == list(range(1950, 1990))
    assert category.levels == 40
    assert compiled(tl.Number(tolerance=1), years, [int(year) for year in years]).kernel.size == 9


def test_a_tolerance_reads_numbers_to_coarser_steps():
    fine = [f"{50 + n / 7:.9f}" for n in range(40)]
    with pytest.raises(tl.InputError, match=r"steps of 1E-9; 1,000,000 are the most. Give a tolerance"):
        compiled(tl.Number(), fine, fine)
    made = compiled(tl.Number(tolerance=0.5), fine, fine)
    assert made.lattice.exponent == -1
    assert made.spread == pytest.approx(5)


def test_bad_cells_are_named_with_their_rows():
    with pytest.raises(tl.InputError) as error:
        compiled(tl.Number(), ["1", "y", "x", "1,5"], ["2", "3"])
    assert "2 cells are no number: 'y' (position 1) and 'x' (position 2)." in str(error.value)
    with pytest.raises(tl.InputError, match=r"1 cell is no date: '1990-02-30' \(position 0\)"):
        compiled(tl.Date(), ["1990-02-30", "1990-02-20"], ["1990-02-20"])


def test_dates_in_every_common_form():
    many = ["1990-05-17", "1990/5/17", "19900517", "17.05.1990", "17.5.1990", "17/05/1990", "1990-05-17 00:00:00"]
    made = compiled(tl.Date(), many, [date(1990, 5, 17)])
    assert np.unique(made.codes).size == 1
    american = compiled(tl.Date(format="%m/%d/%Y"), ["05/06/1990"], ["05/17/1990"])
    assert american.lattice.texts(american.codes) == ["1990-05-06", "1990-05-17"]
    data = tl.Dataset.from_frames({"a": frame("x", ["05/06/1990"] * 2)}, fields={"x": tl.Date()})
    assert data.columns["x"].values == ("1990-06-05",)
    assert any("days and months cannot be told apart" in str(fault) for fault in data.said)
    with pytest.raises(tl.InputError, match="1 cell is no date"):
        compiled(tl.Date(), ["13/05/1990", "05/13/1990"], ["05/05/1990"])


def test_five_thousand_dates_a_side_are_quick():
    rng = np.random.default_rng(3)
    days = [[str(np.datetime64("1930-01-01") + int(n)) for n in rng.integers(0, 29_000, 5_000)] for _ in range(2)]
    start = time.process_time()
    made = compiled(tl.Date(), *days)
    assert len(made.near()[0]) > 1_000
    left, right = rng.integers(0, 5_000, 100_000), rng.integers(5_000, 10_000, 100_000)
    made.pair(RHO, made.codes[left], made.codes[right])
    assert time.process_time() - start < 20, "CPU seconds, on any machine"
