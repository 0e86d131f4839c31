"""The profile part of a chain: distortion rates ψ, parameters of fields, and the evidence they give every pair.

True values π never need to be drawn. Given ψ and the fields' parameters, the distortions w of a person's records have
closed conditional weights (the terms of m); given w, a rate is a beta draw.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy

from tielink.channels.channel import (
    Also,
    Channel,
    Codes,
    Floats,
    Terms,
    Told,
    log_likelihood,
    mixed,
    nothing_else,
    told,
)
from tielink.channels.slice_sampling import slice_draw
from tielink.data.columns import MISSING
from tielink.data.scores import pair_keys
from tielink.logp.profiles import log_distortion, log_evidence, log_single
from tielink.model.problem import NOBODY, Problem
from tielink.sampler.careless import draw_careless
from tielink.sampler.dependent import Dependent, Given, draw_changed, members, with_changes
from tielink.sampler.group_evidence import group_evidence
from tielink.specification import Beta

__all__ = ["Lookup", "ProfileState", "Profiles"]

Own = Callable[[int, Codes], Floats]
"""Gives what a field says of groups of records."""
Lookup = Callable[[int, Floats, Codes], Terms | None]
"""Gives the terms of pairs of records in a field at its parameters, where they are at hand."""


@dataclass(eq=False)
class ProfileState:
    """Every distortion rate, in the problem's order, and the parameters of each field."""

    rates: Floats
    fields: list[Floats]
    careless: NDArray[np.bool_] = dataclass_field(default_factory=lambda: NOBODY)
    """Which records are careless; empty where the model has one sort of records."""
    share: float = 0.0
    """κ: the share of careless records."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return everything as plain arrays, for a checkpoint."""
        fields = {f"fields.{place}": values.copy() for place, values in enumerate(self.fields)}
        own = {"rates": self.rates.copy(), "careless": self.careless.copy(), "share": np.array(self.share)}
        return {**own, **fields}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Become the state that `arrays` were taken of."""
        self.rates, self.careless, self.share = arrays["rates"], arrays["careless"], float(arrays["share"])
        self.fields = [arrays[f"fields.{place}"] for place in range(len(self.fields))]


class Profiles:
    """The fields of a problem, and what they say of pairs and groups of records."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.fields = problem.fields
        self._apart_keys = np.sort(pair_keys(problem.linkage.nonmatches))
        self.dependent = Dependent(problem)

    def start(self) -> ProfileState:
        """Return rates at their prior mean, and each field's own start."""
        rates = np.array([rate.prior.mean for rate in self.problem.rates])
        state = ProfileState(rates, [field.start() for field in self.fields])
        if self.problem.careless_share is not None:
            state.careless, state.share = np.zeros(self.problem.records, dtype=bool), self.problem.careless_share.mean
        return state

    def record_rates(self, state: ProfileState, place: int) -> Floats:
        """Return ψ of every record in one field."""
        return self.problem.record_rates(place, state.rates, state.careless)

    def evidence(self, state: ProfileState, left: Codes, right: Codes) -> Floats:
        """Return the log Bayes factor of a few pairs of records; −∞ for known non-matches."""
        total = np.zeros(len(left))
        for place, field in enumerate(self.fields):
            if place not in self.dependent.places:
                total += log_evidence(field, state.fields[place], self.record_rates(state, place), left, right)
        self.add_trees(state, np.column_stack([left, right]), total)
        total[np.isin(pair_keys(np.column_stack([left, right])), self._apart_keys)] = -np.inf
        return total

    def all_rates(self, state: ProfileState) -> list[Floats]:
        """Return ψ of every record in every field."""
        return [self.record_rates(state, place) for place in range(len(self.fields))]

    def alike(self, rng: np.random.Generator) -> Codes:
        """Number records: those of one file that are equal in a random choice of fields have the same number."""
        numbers = self.problem.file_of
        for field in self.fields:
            if rng.random() < 0.5:
                numbers = np.unique(numbers * (field.levels + 1) + field.codes, return_inverse=True)[1]
        return numbers

    def change(self, state: ProfileState, number: int) -> float:
        """Return κ of a tree: how often all of its fields change at once."""
        return float(state.rates[self.problem.tree_rates[number]])

    def add_trees(self, state: ProfileState, records: Codes, total: Floats, own: Own | None = None) -> Floats:
        """Add what fields that depend on each other say of groups of the same size; `own` gives what one field says."""
        for number in range(len(self.dependent.trees)):
            total += self.of_tree(state, number, records, own)
        return total

    def of_tree(self, state: ProfileState, number: int, records: Codes, own: Own | None = None) -> Floats:
        """Return what one tree says; nothing of one record."""
        if records.shape[1] < 2:
            return np.zeros(len(records))
        return with_changes(self._of_one_time(state, number, own), records, self.change(state, number))

    def _of_one_time(self, state: ProfileState, number: int, own: Own | None = None) -> Callable[[Codes], Floats]:
        """Return what a tree says of groups of records whose values are of one time."""
        rates, tree = self.all_rates(state), self.dependent.trees[number]

        def of_field(place: int, records: Codes) -> Floats:
            return group_evidence(self.fields[place], state.fields[place], rates[place], records)

        def evidence(records: Codes) -> Floats:
            total = self.dependent.added(number, state.fields, rates, records)
            for place in tree.places:
                total += (own or of_field)(place, records)
            return total

        return evidence

    def log_singles(self, state: ProfileState) -> float:
        """Return log p(values | ψ, …) as if everybody were alone."""
        total = 0.0
        for place, field in enumerate(self.fields):
            known = field.codes != MISSING
            rates = self.record_rates(state, place)[known]
            total += float(log_single(field, state.fields[place], rates, field.codes[known]).sum())
        for number in range(len(self.dependent.trees)):
            total += float(self.dependent.alone(number, state.fields, self.all_rates(state)).sum())
        return total

    def update(
        self, rng: np.random.Generator, state: ProfileState, labels: Codes, lookup: Lookup | None = None
    ) -> None:
        """Draw who is careless, the fields' parameters, w and ψ given who is whom.

        ψ is drawn with w summed out first, since ψ given w mixes slowly.
        """
        self._update_careless(rng, state, labels)
        priors = [rate.prior for rate in self.problem.rates]
        distorted_count, clean_count = np.array([(prior.a, prior.b) for prior in priors]).reshape(-1, 2).T.copy()
        for number in range(len(self.dependent.trees)):
            self._update_tree(rng, state, number, labels)
        for place, field in enumerate(self.fields):
            if place in self.dependent.places:
                continue
            values, rates = told(field.codes, labels), self.record_rates(state, place)
            rate_of = self.problem.rate_numbers(place, state.careless)
            parameters = field.redraw(rng, state.fields[place], rates, values)
            parameters = draw_together(rng, field, parameters, state.rates, rate_of, priors, values)
            state.fields[place] = parameters
            terms = None if lookup is None else lookup(place, parameters, values.two)
            draw_rates(rng, field, parameters, state.rates, rate_of, priors, values, terms)
            rates = self.record_rates(state, place)
            distorted = draw_distorted(rng, field, parameters, rates, values, terms)
            known = field.codes != MISSING
            distorted_count += np.bincount(rate_of[known & distorted], minlength=len(priors))
            clean_count += np.bincount(rate_of[known & ~distorted], minlength=len(priors))
            state.fields[place] = field.refresh(rng, state.fields[place], values, distorted)
        drawn = rng.beta(distorted_count, clean_count)
        state.rates = np.where(self.dependent.own_rates, state.rates, drawn)

    def _update_tree(self, rng: np.random.Generator, state: ProfileState, number: int, labels: Codes) -> None:
        """Draw which records are of another time, κ, and parameters and rates of a tree's fields.

        Given the records that are of another time, all else is summed out: true values and distortions. Frequencies of
        a categorical field stay those of the files, which dependence was learnt with.
        """
        priors, rate = [rate.prior for rate in self.problem.rates], self.problem.tree_rates[number]
        evidence, change = self._of_one_time(state, number), self.change(state, number)
        labels, changed, stayed = draw_changed(rng, evidence, labels, change)
        state.rates = state.rates.copy()
        state.rates[rate] = rng.beta(priors[rate].a + changed, priors[rate].b + stayed)
        persons = members(labels)
        for place in sorted(self.dependent.trees[number].places):
            field, values = self.fields[place], told(self.fields[place].codes, labels)
            rates = self.all_rates(state)
            given = self.dependent.given(number, place, state.fields, rates, persons)
            rate_of = self.problem.rate_numbers(place, state.careless)
            state.fields[place] = field.redraw(rng, state.fields[place], rates[place], values, given.at)
            state.fields[place] = draw_together(
                rng, field, state.fields[place], state.rates, rate_of, priors, values, given.at
            )
            given = self.dependent.given(number, place, state.fields, self.all_rates(state), persons)

            def also(proposed: Floats, given: Given = given, rate_of: Codes = rate_of) -> float:
                return given.at(rates=proposed[rate_of])

            draw_rates(rng, field, state.fields[place], state.rates, rate_of, priors, values, also=also)

    def _update_careless(self, rng: np.random.Generator, state: ProfileState, labels: Codes) -> None:
        """Draw the class of every record, then their share κ; nothing where records are of one sort."""
        prior = self.problem.careless_share
        if prior is None:
            return
        state.careless = draw_careless(
            rng, self.problem, state.rates, state.fields, state.share, state.careless, labels
        )
        count = int(state.careless.sum())
        state.share = float(rng.beta(prior.a + count, prior.b + len(state.careless) - count))


def draw_rates(
    rng: np.random.Generator,
    field: Channel,
    parameters: Floats,
    rates: Floats,
    rate_of: Codes,
    priors: Sequence[Beta],
    values: Told,
    terms: Terms | None = None,
    also: Also = nothing_else,
) -> None:
    """Draw each rate of one field with w summed out, by slice sampling; `rate_of` holds the rate of every record.

    p(ψ | values, ξ) ∝ Beta(ψ; a, b)·Π m(x; ψ) over persons, m being linear in ψ for one record and bilinear for two.
    `also` is what else of the log density depends on the rates.
    """
    left, right = values.two.T
    clean, distorted = field.single(parameters, field.codes[values.one])
    terms = field.pair(parameters, field.codes[left], field.codes[right]) if terms is None else terms
    more = [(records, field.truths(parameters, field.codes[records])) for records in values.more]

    def conditional(number: int) -> Callable[[float], float]:
        """Return the log density of one rate given the others, from the persons that it bears on."""
        prior, one = priors[number], rate_of[values.one] == number
        two = (rate_of[values.two] == number).any(axis=1)
        alone, pairs = (clean[one], distorted[one]), Terms(*(term[two] for term in terms))
        groups = [(records, truths) for records, truths in more if (rate_of[records] == number).any()]

        def log_density(rate: float) -> float:
            proposed = rates.copy()
            proposed[number] = rate
            of = proposed[rate_of]
            total = xlogy(prior.a - 1, rate) + xlog1py(prior.b - 1, -rate) + np.log(mixed(alone, rate)).sum()
            total += also(proposed)
            total += np.log(np.sum(pairs.weighted(of[left[two]], of[right[two]]), axis=0)).sum()
            for records, truths in groups:
                total += np.log(truths.prior @ truths.likelihood(of[records]).prod(axis=0))
            return float(total)

        return log_density

    for number in np.unique(rate_of[field.codes != MISSING]).tolist():
        rates[number] = slice_draw(rng, float(rates[number]), conditional(number))


def draw_together(
    rng: np.random.Generator,
    field: Channel,
    parameters: Floats,
    rates: Floats,
    rate_of: Codes,
    priors: Sequence[Beta],
    values: Told,
    also: Callable[[Floats, Floats], float] = lambda parameters, rates: 0.0,
) -> Floats:
    """Move parameters and rates of one field together, as the field proposes, w being summed out.

    A rate at which characters are mistyped and the share of values that are mistyped depend on each other so much that
    each alone hardly moves. `also` is what else of the log density depends on parameters and records' rates.
    """
    proposed, numbers = field.carried(rng, parameters), np.unique(rate_of[field.codes != MISSING])
    if proposed is None:
        return parameters
    moved = rates.copy()
    moved[numbers] *= proposed.factor
    if moved[numbers].max(initial=0.0) >= 1.0:
        return parameters

    def log_density(parameters: Floats, rates: Floats) -> float:
        of = rates[rate_of]
        prior = field.log_prior(parameters) + sum(log_distortion(priors[number], rates[number]) for number in numbers)
        return prior + log_likelihood(field, parameters, of, values) + also(parameters, of)

    gain = log_density(proposed.parameters, moved) - log_density(parameters, rates)
    if np.log(rng.random()) >= gain + proposed.log_volume + len(numbers) * np.log(proposed.factor):
        return parameters
    rates[numbers] = moved[numbers]
    return proposed.parameters


def draw_distorted(
    rng: np.random.Generator,
    field: Channel,
    parameters: Floats,
    rates: Floats,
    values: Told,
    terms: Terms | None = None,
) -> NDArray[np.bool_]:
    """Draw w of every record, given who is whom, rates and parameters; False where there is no value.

    `terms` are those of `values.two`, where they are at hand.
    """
    drawn = np.zeros(len(field.codes), dtype=bool)
    clean, distorted = field.single(parameters, field.codes[values.one])
    rate = rates[values.one]
    total = mixed((clean, distorted), rate)
    drawn[values.one] = rng.random(len(total)) * total < rate * distorted
    left, right = values.two.T
    terms = field.pair(parameters, field.codes[left], field.codes[right]) if terms is None else terms
    weights = terms.weighted(rates[left], rates[right])
    bounds = np.cumsum(weights, axis=0)
    kinds = (rng.random(len(left)) * bounds[-1] >= bounds[:-1]).sum(axis=0)
    drawn[left], drawn[right] = kinds % 2 == 1, kinds >= 2
    for records in values.more:
        truths = field.truths(parameters, field.codes[records])
        likelihood = truths.likelihood(rates[records])
        weight = truths.prior * likelihood.prod(axis=0)
        truth = int(rng.choice(len(weight), p=weight / weight.sum()))
        share = rates[records] * truths.distorted[:, truth] / likelihood[:, truth]
        drawn[records] = rng.random(len(records)) < share
    return drawn
