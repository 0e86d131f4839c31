"""Profile evidence for large files: rates learnt by the exact sampler on some records, evidence of pairs of values.

This is the only place that knows how profiles speak for a pair: `learn` and `evidence_of_columns`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np

from tielink.channels.channel import Codes, Floats
from tielink.data.columns import MISSING
from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.data.records import Records
from tielink.faults import Faults
from tielink.logp.profiles import log_pair, log_single
from tielink.model.problem import Problem, compile_linkage
from tielink.model.spec import Model
from tielink.project import Run
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.candidates import far_evidence, near_values
from tielink.sampler.profiles import Profiles, ProfileState

__all__ = ["evidence_of_columns", "learn", "near_tables", "prior_state", "sampled_records"]

SAMPLE = 1_000
"""Records of the first file that rates are learnt from, with their candidates."""
WARMUP, DRAWS = 100, 100
AT_ONCE = 1_000_000


def prior_state(problem: Problem) -> ProfileState:
    """Return rates at their prior means, and the fields' own starts."""
    rates = np.array([rate.prior.mean for rate in problem.rates])
    return ProfileState(rates, [field.start() for field in problem.fields])


def near_tables(problem: Problem) -> tuple[list[tuple[Codes, Codes, Floats]], list[float]]:
    """Return for each field pairs of near values with what they add to the evidence of any two, and that of any two."""
    near, far = [], []
    for place, field in enumerate(problem.fields):
        rate = float(np.mean([problem.rates[rate].prior.mean for rate in problem.rate_of[place]]))
        far.append(far_evidence(field, rate))
        near.append(near_values(field, rate, far[-1]))
    return near, far


def sampled_records(rng: np.random.Generator, size: int) -> Codes:
    """Return numbers of some records of the first file, in order."""
    return np.sort(rng.choice(size, min(size, SAMPLE), replace=False))


def learn(
    model: Model, dataset: Dataset, problem: Problem, pairs: Codes, run: Run, report: Callable[[str], object]
) -> ProfileState:
    """Run the exact sampler, without ties, on the records of some pairs and return mean rates and parameters."""
    if not problem.fields or not len(pairs):
        return prior_state(problem)
    chosen = np.unique(pairs)
    report(f"Learning how often fields are wrong, from {len(chosen):,} records …")
    chain = Chain(_part(model, dataset, problem, chosen, run), 0)
    chain.begin()
    rates, fields = np.zeros(len(problem.rates)), [np.zeros_like(values) for values in chain.profile_state.fields]
    begun = time.monotonic()
    for sweep in range(WARMUP + DRAWS):
        if sweep == WARMUP:
            report(f"Half of that is done; about {(time.monotonic() - begun) / WARMUP * DRAWS:,.0f} s left.")
        chain.advance(sweep if sweep < WARMUP else None)
        if sweep >= WARMUP:
            rates += chain.profile_state.rates / DRAWS
            fields = [mean + one / DRAWS for mean, one in zip(fields, chain.profile_state.fields, strict=True)]
    return ProfileState(rates, fields)


def _part(model: Model, dataset: Dataset, problem: Problem, chosen: Codes, run: Run) -> Job:
    """Return the problem of some records alone; what fields know of frequencies comes from all.

    The records of the second file are there because they look like some of the first. All others, which do not, count
    in the prior: the odds of a link are those among all of the second file.
    """
    file_of = dataset.records.file_of[chosen]
    ids = {name: chosen[file_of == file].tolist() for file, name in enumerate(dataset.files)}
    records = Records(ids)
    place = np.full(len(dataset.records), -1)
    place[chosen] = np.arange(len(chosen))
    apart = place[dataset.nonmatches]
    part = replace(
        dataset,
        records=records,
        ties=dict.fromkeys(dataset.files),
        columns={name: replace(column, codes=column.codes[chosen]) for name, column in dataset.columns.items()},
        anchors=Linkage(records, dataset.anchors.labels[chosen]),
        nonmatches=apart[(apart >= 0).all(axis=1)],
        before_answers=None,
    )
    linkage = compile_linkage(model, part, Faults())
    assert linkage is not None  # a part of what is known fits, if all of it does
    left_out = np.log(records.sizes[1] / dataset.records.sizes[1])
    by_matches = linkage.log_by_matches + left_out * np.arange(len(linkage.log_by_matches))
    fields = tuple(replace(field, codes=field.codes[chosen]) for field in problem.fields)
    small = replace(
        problem,
        sizes=records.sizes,
        file_of=records.file_of,
        linkage=replace(linkage, log_by_matches=by_matches),
        network=None,
        fields=fields,
        trees=tuple(tree.of_records(chosen, fields) for tree in problem.trees),
    )
    return Job(model, part, replace(run, chains=1, warmup=WARMUP, draws=DRAWS, thin=1), small)


def evidence_of_columns(problem: Problem, state: ProfileState) -> Mapping[str, Callable[[Codes, Codes], Floats]]:
    """Return for every column that speaks for itself what gives the evidence of pairs of its codes.

    These are `fF` of each field that depends on no other, with the codes of its values, and `tT` of each tree, with the
    first record of the same file that has the same values in all of the tree's fields.
    """
    profiles = Profiles(problem)
    found = {
        f"f{place}": partial(_value_evidence, problem, state, place)
        for place in range(len(problem.fields))
        if place not in profiles.dependent.places
    }
    return found | {
        f"t{number}": partial(_tree_evidence, profiles, state, number) for number in range(len(problem.trees))
    }


def _tree_evidence(profiles: Profiles, state: ProfileState, number: int, left: Codes, right: Codes) -> Floats:
    """Return the evidence of pairs of records in all fields of a tree."""
    found = np.zeros(len(left))
    for begin in range(0, len(left), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        found[part] = profiles.of_tree(state, number, np.column_stack([left[part], right[part]]))
    return found


def _value_evidence(problem: Problem, state: ProfileState, place: int, left: Codes, right: Codes) -> Floats:
    """Return the evidence of pairs of values of a field, the first of file 1, the second of file 2."""
    field, parameters = problem.fields[place], state.fields[place]
    rates = [float(state.rates[number]) for number in problem.rate_of[place]]
    single = [log_single(field, parameters, rate, np.arange(field.levels)) for rate in rates]
    found = np.zeros(len(left))
    for begin in range(0, len(left), AT_ONCE):
        part = slice(begin, begin + AT_ONCE)
        x, y = left[part], right[part]
        found[part] = log_pair(field, parameters, (rates[0], rates[1]), x, y) - single[0][x] - single[1][y]
    found[(left == MISSING) | (right == MISSING)] = 0.0
    return found
