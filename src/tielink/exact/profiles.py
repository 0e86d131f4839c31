"""The profile part of a chain: distortion rates ψ, frequencies ϑ, and the evidence that they give every pair.

True values π never need to be drawn. Given ψ and ϑ, the distortions w of a person's records have closed
conditional weights (the terms of m); given w, ψ is a beta and ϑ a Dirichlet draw, π being summed out where no
undistorted value fixes it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.columns import MISSING
from tielink.logp.profiles import log_collapsed, log_pair, log_single
from tielink.model.problem import CategoricalProblem, FieldProblem, Problem, StringProblem

__all__ = ["ProfileState", "Profiles"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(eq=False)
class ProfileState:
    """ψ of every field, and ϑ of every categorical one (None for strings)."""

    rates: Floats
    frequencies: list[Floats | None]


class Profiles:
    """The fields of two files, compiled for repeated evaluation of all cross pairs."""

    def __init__(self, problem: Problem) -> None:
        self.fields = problem.fields
        self.size = problem.sizes[0]
        self.shape = (problem.sizes[0], problem.sizes[1])
        self._apart = problem.linkage.nonmatches - np.array([0, self.size])
        self._grids = [_Grid(field, self.size) for field in self.fields]

    def start(self) -> ProfileState:
        """Return rates at their prior mean and frequencies as observed."""
        rates = np.array([field.distortion.mean for field in self.fields])
        frequencies: list[Floats | None] = []
        for field in self.fields:
            if isinstance(field, CategoricalProblem):
                counts = np.bincount(field.codes[field.codes != MISSING], minlength=field.levels) + field.concentration
                frequencies.append(counts / counts.sum())
            else:
                frequencies.append(None)
        return ProfileState(rates, frequencies)

    def log_bayes_factors(self, state: ProfileState, out: Floats) -> None:
        """Write the log Bayes factor of every cross pair; −∞ for known non-matches."""
        out[:] = 0.0
        for place, grid in enumerate(self._grids):
            grid.add(state.frequencies[place], float(state.rates[place]), out)
        out[self._apart[:, 0], self._apart[:, 1]] = -np.inf

    def log_likelihood(self, state: ProfileState, partner: Codes) -> float:
        """Return log p(values | ξ, ψ, ϑ), where `partner` gives each record of the first file its partner or −1."""
        labels = np.arange(sum(self.shape))
        linked = np.flatnonzero(partner >= 0)
        labels[self.size + partner[linked]] = linked
        return sum(
            log_collapsed(field, state.frequencies[place], float(state.rates[place]), labels)
            for place, field in enumerate(self.fields)
        )

    def update(self, rng: np.random.Generator, state: ProfileState, partner: Codes) -> None:
        """Draw w given (ξ, ψ, ϑ), then ψ and ϑ given w."""
        linked = np.flatnonzero(partner >= 0)
        for place, field in enumerate(self.fields):
            rate, frequencies = float(state.rates[place]), state.frequencies[place]
            left, right = field.codes[linked], field.codes[self.size + partner[linked]]
            both = (left != MISSING) & (right != MISSING)
            single = field.codes != MISSING
            single[linked[both]] = False
            single[self.size + partner[linked[both]]] = False
            alone = field.codes[single]
            distorted = int((rng.random(len(alone)) < _single_distorted(field, rate, alone)).sum())
            left, right = left[both], right[both]
            kinds = _draw_pair_kinds(rng, _pair_weights(field, frequencies, rate, left, right))
            distorted += int(_DISTORTED[kinds].sum())
            values = len(alone) + 2 * len(left)
            prior = field.distortion
            state.rates[place] = rng.beta(prior.a + distorted, prior.b + values - distorted)
            if isinstance(field, CategoricalProblem):
                # A person's values are one draw of ϑ each, but for two clean copies, which are one draw together.
                told = np.concatenate([alone, left, right[kinds != 0]])
                counts = np.bincount(told, minlength=field.levels)
                state.frequencies[place] = rng.dirichlet(field.concentration + counts)


_DISTORTED = np.array([0, 1, 1, 2])
"""How many values are distorted in each kind of pair: none, the left, the right, both."""


def _single_distorted(field: FieldProblem, rate: float, values: Codes) -> Floats:
    """Return P(w = 1 | x) of values that stand alone."""
    if not isinstance(field, StringProblem):
        return np.full(len(values), rate)
    mixed = rate * field.tables.mixed[values]
    return np.asarray(mixed / (1 - rate + mixed))


def _pair_weights(field: FieldProblem, frequencies: Floats | None, rate: float, left: Codes, right: Codes) -> Floats:
    """Return the weights of (w, w') = 00, 10, 01, 11 for each pair of values, the terms of m(x, y)."""
    if isinstance(field, StringProblem):
        prior = field.tables.frequencies
        left_distorted = field.tables.one_distorted(right, left)
        right_distorted = field.tables.one_distorted(left, right)
        both_distorted = field.tables.both_distorted(left, right)
    else:
        assert frequencies is not None
        prior = frequencies
        left_distorted = right_distorted = both_distorted = prior[left] * prior[right]
    once = rate * (1 - rate)
    clean = (1 - rate) ** 2 * prior[left] * (left == right)
    return np.column_stack([clean, once * left_distorted, once * right_distorted, rate**2 * both_distorted])


def _draw_pair_kinds(rng: np.random.Generator, weights: Floats) -> Codes:
    """Draw one of the four kinds for each row of weights."""
    bounds = weights.cumsum(axis=1)
    at = rng.random(len(weights)) * bounds[:, -1]
    return np.asarray((at[:, None] >= bounds[:, :-1]).sum(axis=1))


class _Grid:
    """Evidence of one field for all cross pairs, once for each pair of *distinct* values where that saves work."""

    def __init__(self, field: FieldProblem, size: int) -> None:
        self.field = field
        rows, columns = field.codes[:size], field.codes[size:]
        few_rows, row_of = np.unique(rows, return_inverse=True)
        few_columns, column_of = np.unique(columns, return_inverse=True)
        # Looking values up costs about as much as computing them, so it must save at least half.
        self.place = None
        if 2 * len(few_rows) * len(few_columns) <= len(rows) * len(columns):
            rows, columns, self.place = few_rows, few_columns, (row_of[:, None], column_of[None, :])
        self.left, self.right = np.maximum(rows, 0)[:, None], np.maximum(columns, 0)[None, :]
        self.unknown = (rows[:, None] == MISSING) | (columns[None, :] == MISSING)
        if isinstance(field, StringProblem):
            left, right = (grid.ravel() for grid in np.broadcast_arrays(self.left, self.right))
            tables, shape = field.tables, self.unknown.shape
            self.equal = np.nonzero(self.left == self.right)
            self.clean = tables.frequencies[np.broadcast_to(self.left, shape)[self.equal]]
            once = tables.one_distorted(left, right) + tables.one_distorted(right, left)
            self.once, self.twice = once.reshape(shape), tables.both_distorted(left, right).reshape(shape)

    def add(self, frequencies: Floats | None, rate: float, out: Floats) -> None:
        """Add log m(x,y) − log m(x) − log m(y) of every cross pair to `out`; nothing where a value is missing."""
        with np.errstate(divide="ignore", invalid="ignore"):  # of values that stand in for missing ones
            if isinstance(self.field, StringProblem):
                # The terms of m(x, y) do not change, only their weights do.
                evidence = (rate * (1 - rate)) * self.once
                evidence += rate**2 * self.twice
                evidence[self.equal] += (1 - rate) ** 2 * self.clean
                np.log(evidence, out=evidence)
            else:
                evidence = log_pair(self.field, frequencies, rate, self.left, self.right)
            single = log_single(self.field, frequencies, rate, np.arange(self.field.levels))
            evidence -= single[self.left]
            evidence -= single[self.right]
        if self.unknown.any():
            evidence[self.unknown] = 0.0
        out += evidence if self.place is None else evidence[self.place]
