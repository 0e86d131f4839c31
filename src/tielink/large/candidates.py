"""Candidate pairs as SQL: equal and near values, and what profiles say for each pair found."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Codes
from tielink.data.columns import MISSING
from tielink.data.dataset import Dataset
from tielink.large.learning import evidence_of_columns, learn, near_tables, prior_state, sampled_records
from tielink.large.statements import best_candidates, blocked, evidence, scored
from tielink.large.tables import Tables
from tielink.model.problem import Problem, SharedTiesProblem
from tielink.model.spec import Model
from tielink.network.shared_ties import fit_rates
from tielink.project import Run
from tielink.sampler.candidates import DOUBT, EVERY_PAIR, EVERY_PAIR_WITH_TIES, MOST
from tielink.sampler.profiles import ProfileState

__all__ = ["add_evidence", "find_pairs", "put_records"]

RARE = 400
"""Near values are blocked on alone if no more pairs of records than this have them."""
BLOCK = 20_000
"""Two values at once are blocked on if no more pairs of records than this have them."""
SAMPLED_CANDIDATES = 5


def put_records(tables: Tables, dataset: Dataset, problem: Problem) -> None:
    """Write records with the codes of their values, their ties, and known matches and non-matches."""
    known = dataset.anchors.pair_numbers
    first = problem.sizes[0]
    anchored = np.zeros(problem.records, dtype=bool)
    anchored[known.ravel()] = True
    network = problem.network.ties if isinstance(problem.network, SharedTiesProblem) else (None, None)
    for side, key, begin, size, ties in zip("ab", "ij", (0, first), problem.sizes, network, strict=True):
        edges = np.empty((0, 2), dtype=np.int64) if ties is None else ties
        degree = np.bincount(edges.ravel(), minlength=size)
        theta = np.zeros(size) if ties is None else fit_rates(degree)
        here = slice(begin, begin + size)
        codes = {f"f{place}": field.codes[here] for place, field in enumerate(problem.fields)}
        codes |= {f"t{number}": begin + tree.first_alike(here) for number, tree in enumerate(problem.trees)}
        own = {key: np.arange(size), "theta": theta, "degree": degree, "free": ~anchored[here]}
        tables.put(f"records_{side}", own | codes)
        ends = np.concatenate([edges, edges[:, ::-1]])
        rate = theta[ends[:, 0]] * theta[ends[:, 1]]
        odds = np.exp(-rate) / -np.expm1(-rate)
        tables.put(f"ties_{side}", {key: ends[:, 0], "n": ends[:, 1], "o": odds, "theta": theta[ends[:, 0]]})
    for name, pairs in (("known", known), ("apart", dataset.nonmatches)):
        tables.put(name, {"i": pairs[:, 0], "j": pairs[:, 1] - first})


def find_pairs(
    tables: Tables, model: Model, dataset: Dataset, problem: Problem, run: Run, report: Callable[[str], object]
) -> ProfileState:
    """Write table `pairs`: candidates with their evidence, and known matches; return the rates that were learnt."""
    if not tables.has("candidates"):
        _find_candidates(tables, problem, report)
    state = _learnt(tables, model, dataset, problem, run, report)
    report("Finding what profiles say for every candidate …")
    add_evidence(tables, problem, state, "candidates", "found")
    tables.write(
        "pairs",
        "SELECT i, j, e, c, FALSE AS known FROM found UNION ALL SELECT k.i, k.j, 0e0, LEAST(a.theta, b.theta), TRUE "
        "FROM known k JOIN records_a a ON a.i = k.i JOIN records_b b ON b.j = k.j",
    )
    return state


def _find_candidates(tables: Tables, problem: Problem, report: Callable[[str], object]) -> None:
    """Write table `candidates`: pairs with a score."""
    sizes, fields = problem.sizes, len(problem.fields)
    every = sizes[0] * sizes[1] <= (EVERY_PAIR if fields and problem.network is None else EVERY_PAIR_WITH_TIES)
    near, far = near_tables(problem)
    pairs_of_fields = [] if every else list(combinations(range(fields), 2))
    for place, (left, right, gain) in enumerate(near):
        tables.put(f"near_{place}", {"x": left, "y": right, "gain": gain})
    if every:
        tables.write("blocks", "SELECT a.i, b.j FROM records_a a CROSS JOIN records_b b")
    elif fields:
        _put_blocks(tables, problem, near, pairs_of_fields)
        tables.write("blocks", blocked(fields, pairs_of_fields))
    else:
        tables.write("blocks", "SELECT i, j FROM known WHERE i < 0")
    pairs = tables.one("SELECT COUNT(*) AS n FROM blocks")["n"]
    report(f"{pairs:,.0f} pairs of records have values in common; choosing the best of each record …")
    tables.write("scores", scored("blocks", far))
    most, least = (max(sizes), -1e6) if every else (MOST, float(np.log(max(sizes))) - DOUBT)
    tables.write("candidates", best_candidates("scores", most, least, "apart"))
    tables.drop("blocks", "scores", *(f"{name}_{place}" for name in ("near", "block") for place in range(fields)))
    tables.drop(*(f"both_{f}_{g}" for f, g in pairs_of_fields))


def _put_blocks(
    tables: Tables,
    problem: Problem,
    near: list[tuple[Codes, Codes, NDArray[np.float64]]],
    pairs_of_fields: list[tuple[int, int]],
) -> None:
    """Write which values to block on: near ones that few records have, and two at once."""
    first = problem.sizes[0]
    for place, (field, (left, right, _)) in enumerate(zip(problem.fields, near, strict=True)):
        holders = [
            np.bincount(codes[codes != MISSING], minlength=field.levels)
            for codes in (field.codes[:first], field.codes[first:])
        ]
        number = holders[0][left] * holders[1][right]
        few = (number > 0) & (number <= RARE)
        tables.put(f"block_{place}", {"x": left[few], "y": right[few]})
    for f, g in pairs_of_fields:
        one, two = problem.fields[f], problem.fields[g]
        stated = (one.codes != MISSING) & (two.codes != MISSING)
        keys = np.where(stated, one.codes * two.levels + two.codes, -1)
        held = [np.unique(part[part >= 0], return_counts=True) for part in (keys[:first], keys[first:])]
        both, at_a, at_b = np.intersect1d(held[0][0], held[1][0], assume_unique=True, return_indices=True)
        few = held[0][1][at_a] * held[1][1][at_b] <= BLOCK
        x, y = np.divmod(both[few], max(two.levels, 1))
        tables.put(f"both_{f}_{g}", {"x": x, "y": y})


def _learnt(
    tables: Tables, model: Model, dataset: Dataset, problem: Problem, run: Run, report: Callable[[str], object]
) -> ProfileState:
    """Return rates and parameters, learnt once and kept as a table."""
    state = prior_state(problem)
    parts = [state.rates, *state.fields]
    if not tables.has("learnt"):
        asked = sampled_records(np.random.default_rng([run.seed, 0]), problem.sizes[0])
        tables.put("sampled", {"i": asked})
        ranked = (
            "SELECT c.i, c.j, ROW_NUMBER() OVER (PARTITION BY c.i ORDER BY c.score DESC, c.j) AS k FROM candidates c"
        )
        wanted = tables.fetch(
            f"SELECT r.i, r.j FROM ({ranked}) r JOIN sampled s ON s.i = r.i WHERE r.k <= {SAMPLED_CANDIDATES} "
            "ORDER BY 1, 2"
        )
        pairs = np.column_stack([wanted["i"], wanted["j"] + problem.sizes[0]])
        found = learn(model, dataset, problem, pairs, run, report)
        tables.put("learnt", {"value": np.concatenate([found.rates, *found.fields])})
    values = tables.fetch("SELECT value FROM learnt")["value"]
    rates, *fields = np.split(values, np.cumsum([len(part) for part in parts])[:-1])
    return ProfileState(rates, fields)


def add_evidence(tables: Tables, problem: Problem, state: ProfileState, pairs: str, name: str) -> None:
    """Write table `name`: pairs (i, j) with their evidence e and c."""
    columns = evidence_of_columns(problem, state)
    for column, evidence_of in columns.items():
        if not tables.has(f"{name}_{column}"):
            met = tables.fetch(
                f"SELECT DISTINCT a.{column} AS x, b.{column} AS y FROM {pairs} k JOIN records_a a ON a.i = k.i "
                f"JOIN records_b b ON b.j = k.j WHERE a.{column} >= 0 AND b.{column} >= 0"
            )
            met["e"] = evidence_of(met["x"], met["y"])
            tables.put(f"{name}_{column}", met)
    tables.write(name, evidence(pairs, name, columns))
