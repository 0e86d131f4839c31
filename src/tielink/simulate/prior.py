"""A pure draw from a model's prior: parameters, then data. For tests and prior checks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Drawn
from tielink.data.columns import MISSING, Column
from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.faults import Fault, InputError
from tielink.fields import Categorical, Field, PersonName, String
from tielink.logp.parameters import Parameters
from tielink.model.problem import Problem
from tielink.model.spec import Model
from tielink.simulate.draw import draw_parameters, draw_profiles, draw_ties

__all__ = ["Simulated", "Vocabulary", "blank", "draw_data", "fixed_frequencies", "from_prior"]

Vocabulary = Mapping[str, float] | Sequence[str]
"""The values of a field: with frequencies for a string field, a plain list for a categorical one."""


@dataclass(frozen=True, eq=False)
class Simulated:
    """Data with the truth behind them."""

    dataset: Dataset
    truth: Linkage
    parameters: Parameters
    model: Model
    """The model that was drawn from, string frequencies fixed to the vocabulary's."""


def from_prior(
    rng: np.random.Generator,
    model: Model,
    sizes: Mapping[str, int],
    vocabularies: Mapping[str, Vocabulary] | None = None,
) -> Simulated:
    """Draw parameters from the prior and data given them.

    Parameters
    ----------
    rng
        Source of randomness.
    model
        A model with a latent space or without ties. Its diffuse default priors make most simulated networks empty or
        full; tests set tighter ones.
    sizes
        The number of records of each file.
    vocabularies
        The values of each field: a mapping from strings to frequencies makes a string field, a list of values a
        categorical one.

    >>> drawn = from_prior(np.random.default_rng(1), Model(network=None), {"a": 5, "b": 6}, {"place": ["x", "y"]})
    >>> drawn.dataset.records
    Records(a: 5, b: 6)
    """
    dataset, vocabularies = blank(sizes, vocabularies or {}), vocabularies or {}
    model = replace(model, fields=fixed_frequencies(model, dataset, vocabularies))
    return draw_data(rng, model, dataset, draw_parameters(rng, Problem.compile(model, dataset)))


def blank(sizes: Mapping[str, int], vocabularies: Mapping[str, Vocabulary]) -> Dataset:
    """Make a data set of records that say nothing and have no ties, to compile a model for."""
    records = Records({name: [f"{name}{number:04d}" for number in range(size)] for name, size in sizes.items()})
    silent = np.full(len(records), MISSING)
    columns = {
        name: Column(
            String(frequencies=values) if isinstance(values, Mapping) else Categorical(),
            tuple(values),
            silent,
        )
        for name, values in vocabularies.items()
    }
    ties = {name: np.empty((0, 2), dtype=np.int64) for name in sizes}
    everyone_alone = Linkage(records, np.arange(len(records)))
    return Dataset(records, ties, columns, everyone_alone, np.empty((0, 2), dtype=np.int64))


def fixed_frequencies(model: Model, dataset: Dataset, vocabularies: Mapping[str, Vocabulary]) -> dict[str, Field]:
    """Give every string field its vocabulary's frequencies: there are no data yet to take them from."""
    fields: dict[str, Field] = {}
    for name, field in model.fields_for(dataset.fields).items():
        values = vocabularies[name]
        if not isinstance(field, String | PersonName):
            fields[name] = field
        elif isinstance(values, Mapping):
            fields[name] = replace(field, frequencies=values)
        else:
            raise InputError(
                [
                    Fault(
                        f"vocabulary of {name!r}",
                        "a string field needs frequencies.",
                        "Give a mapping to numbers.",
                    )
                ]
            )
    return fields


def draw_data(
    rng: np.random.Generator, model: Model, dataset: Dataset, parameters: Parameters, missing: float = 0.0
) -> Simulated:
    """Draw ties and values given parameters, into the records of `dataset`; a share of values goes missing."""
    problem = Problem.compile(model, dataset)
    ties = dict(zip(dataset.files, draw_ties(rng, problem, parameters), strict=True))
    drawn, is_distorted = draw_profiles(rng, problem, parameters)
    gaps = rng.random(is_distorted.shape) < missing
    columns = {
        field.name: _column(dataset.columns[field.name], drawn[index], gaps[:, index])
        for index, field in enumerate(problem.fields)
    }
    true_values = np.column_stack([values.truths for values in drawn]) if drawn else None
    parameters = replace(parameters, true_values=true_values, distorted=is_distorted if drawn else None)
    truth = Linkage(dataset.records, parameters.labels)
    return Simulated(replace(dataset, ties=ties, columns=columns), truth, parameters, model)


def _column(column: Column, drawn: Drawn, gaps: NDArray[np.bool_]) -> Column:
    """Put drawn values into a column; its values are the drawn texts, if there are any."""
    texts = column.values if drawn.texts is None else drawn.texts
    return replace(column, values=texts, codes=np.where(gaps, MISSING, drawn.values))
