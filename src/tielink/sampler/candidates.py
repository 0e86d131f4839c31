"""Candidate pairs: those that could plausibly be one person, found from the fields without visiting every pair.

A pair of records is visited only if its values are equal or near in some field. What it is given then is

    score = Σ_ℓ e_ℓ(x, y),

with e_ℓ the evidence of field ℓ at the parameters that a chain starts with; values that are neither equal nor near
share one number a field. Candidates decide where a sampler looks often, never what it samples: pairs that are not on
the list must still be reachable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.channels.channel import Channel, Codes, Floats
from tielink.data.columns import MISSING
from tielink.data.scores import pair_keys
from tielink.kernels import njit
from tielink.logp.profiles import log_evidence, log_pair, log_single
from tielink.model.problem import LatentSpaceProblem, Problem, SharedTiesProblem

__all__ = ["far_evidence", "find_candidates", "listed_candidates", "near_values"]

EVERY_PAIR = 100_000
"""Up to this many pairs, all of them are candidates."""
MOST = 15
"""Candidates that a record keeps at most, the likeliest first; it may be on the lists of more."""
DOUBT = 12.0
"""A candidate's score may be this much less than the log of the number of records that it might match."""
WORTH = 0.5
"""Near values whose evidence is less than this above that of any two values are not worth a visit."""
MOST_VISITS = 2_000_000_000
"""Fields so common that they would ask for more visits than this are left out of the search."""
EVERY_PAIR_WITH_TIES = 10_000
"""The same with shared ties, where looking at a pair costs its ties."""
EVERY_PAIR_WITH_POSITIONS = 1_200_000
"""The same in a latent space: ties can favour a pair whose profiles do not."""
ALL_STRONG = 40
"""Up to this many records all candidates are strong."""
STRONG = 7.0
"""The doubt up to which a candidate is strong; see `sampler.data.Lists`."""
TABLE = 250_000
"""Pairs of values of a field that are all compared."""


def find_candidates(problem: Problem, *, most: int = MOST, doubt: float = DOUBT, every_pair: int = EVERY_PAIR) -> Codes:
    """Return the pairs r < r' that could be one person, sorted; known non-matches are left out.

    Parameters
    ----------
    problem
        A compiled problem with any number of files.
    most
        Candidates that a record keeps, those of highest score first.
    doubt
        The lowest score of a candidate is log(records it might match) less this; by default so low that a pair below
        it matters only where nearly everybody else is matched.
    every_pair
        With no more pairs than this, all are candidates.
    """
    within, records, sizes = _within(problem), problem.records, np.array(problem.sizes)
    others = records - 1 if within else records - int(sizes.min())
    if records * others // 2 <= every_pair or not problem.fields:
        return _every_pair(problem)
    found = np.full((records, most), -1, dtype=np.int64)
    least = np.log(max(others, 1)) - doubt
    _search(problem.file_of, within, least, _known(problem), _postings(problem), found)
    first, slot = np.nonzero(found >= 0)
    return _allowed(problem, np.column_stack([first, found[first, slot]]))


def listed_candidates(problem: Problem) -> tuple[Codes, NDArray[np.bool_]]:
    """Return the candidate pairs that a chain begins with, sorted, and which of them are strong.

    With shared ties and no fields there are few to begin with: ties lead to the others.
    """
    if isinstance(problem.network, SharedTiesProblem) and not problem.fields:
        few = problem.records * problem.records // 4 <= EVERY_PAIR_WITH_TIES
        pairs = _every_pair(problem) if few else np.empty((0, 2), dtype=np.int64)
        return pairs, np.ones(len(pairs), dtype=bool)
    every_pair = EVERY_PAIR if problem.network is None else EVERY_PAIR_WITH_TIES
    if isinstance(problem.network, LatentSpaceProblem):
        every_pair = EVERY_PAIR_WITH_POSITIONS
    wide = find_candidates(problem, every_pair=every_pair)
    if not problem.fields or problem.records <= ALL_STRONG or problem.linkage.largest == 2:
        return wide, np.ones(len(wide), dtype=bool)
    return wide, np.isin(pair_keys(wide), pair_keys(find_candidates(problem, every_pair=0, doubt=STRONG)))


def _within(problem: Problem) -> bool:
    """Whether two records of one file may be one person."""
    return problem.linkage.allowed == "free"


def _every_pair(problem: Problem) -> Codes:
    first, second = np.triu_indices(problem.records, 1)
    allowed = _within(problem) | (problem.file_of[first] != problem.file_of[second])
    return _allowed(problem, np.column_stack([first[allowed], second[allowed]]))


def _allowed(problem: Problem, pairs: Codes) -> Codes:
    """Return each of the pairs once, known non-matches left out."""
    keys = np.setdiff1d(pair_keys(pairs), pair_keys(problem.linkage.nonmatches))
    return np.column_stack(np.divmod(keys, 1 << 32))


def _known(problem: Problem) -> NDArray[np.bool_]:
    return np.column_stack([field.codes != MISSING for field in problem.fields])


class _Postings(NamedTuple):
    """What `_search` walks along, the fields one after the other."""

    far: Floats
    """The evidence of any two values by field."""
    tree: Codes
    """The tree of fields that depend on each other by field; −1 for those that do not."""
    moved: Floats
    """The evidence of any two records by tree, where all of its fields changed together."""
    place: Codes
    """Each record's place: records × fields, −1 to skip the field."""
    near_start: Codes
    near: Codes
    bonus: Floats
    """The near values of a place, and what they add to the evidence of any two."""
    holder_start: Codes
    holders: Codes
    """The records that hold a place."""


def _postings(problem: Problem) -> _Postings:
    far, place = np.zeros(len(problem.fields)), np.full((problem.records, len(problem.fields)), -1, dtype=np.int64)
    near_start, near, bonus = [np.zeros(1, dtype=np.int64)], [], []
    holder_start, holders = [np.zeros(1, dtype=np.int64)], []
    places = 0
    for number, field in enumerate(problem.fields):
        rate = float(np.mean([problem.rates[rate].prior.mean for rate in problem.rate_of[number]]))
        far[number] = far_evidence(field, rate)
        left, right, gain = near_values(field, rate, far[number])
        count = np.bincount(field.codes[field.codes != MISSING], minlength=field.levels)
        if (count[left] * count[right]).sum() > MOST_VISITS:
            continue
        known = field.codes != MISSING
        place[known, number] = field.codes[known] + places
        order = np.argsort(left, kind="stable")
        near_start.append(near_start[-1][-1] + np.cumsum(np.bincount(left, minlength=field.levels)))
        near.append(right[order] + places)
        bonus.append(gain[order])
        holder_start.append(holder_start[-1][-1] + np.cumsum(count))
        holders.append(np.argsort(np.where(known, field.codes, field.levels), kind="stable")[: known.sum()])
        places += field.levels
    whole, real = np.empty(0, dtype=np.int64), np.empty(0)
    tree = np.full(len(problem.fields), -1)
    for number, joined in enumerate(problem.trees):
        tree[list(joined.places)] = number
    moved = np.log([1 - (1 - problem.rates[rate].prior.mean) ** 2 for rate in problem.tree_rates])
    return _Postings(
        far, tree, moved, place, np.concatenate(near_start), np.concatenate([*near, whole]),
        np.concatenate([*bonus, real]), np.concatenate(holder_start), np.concatenate([*holders, whole]),
    )  # fmt: skip


def near_values(field: Channel, rate: float, far: float) -> tuple[Codes, Codes, Floats]:
    """Return pairs of values, equal ones too, whose evidence is well above that of any two, and by how much."""
    values = np.flatnonzero(np.bincount(field.codes[field.codes != MISSING], minlength=field.levels))
    if len(values) ** 2 <= TABLE:
        left, right = (grid.ravel() for grid in np.meshgrid(values, values, indexing="ij"))
    else:
        x, y = field.near()
        keys = np.concatenate([values * (field.levels + 1), x * field.levels + y, y * field.levels + x])
        left, right = np.divmod(np.unique(keys), field.levels)
    gain = _evidence_of_values(field, rate, left, right) - far
    worth = gain > WORTH
    return left[worth], right[worth], gain[worth]


def _evidence_of_values(field: Channel, rate: float, left: Codes, right: Codes) -> Floats:
    start = field.start()
    single = log_single(field, start, rate, np.arange(field.levels))
    return np.asarray(log_pair(field, start, rate, left, right) - single[left] - single[right])


def far_evidence(field: Channel, rate: float) -> float:
    """Return the median evidence of a few different values, taken all over the field."""
    known = np.flatnonzero(field.codes != MISSING)
    shifts = np.unique(np.linspace(1, max(len(known) - 1, 1), 4).astype(np.int64))
    few = known[:: max(1, len(known) // 500)]
    left = np.tile(few, len(shifts))
    right = np.concatenate([np.roll(known, -shift)[:: max(1, len(known) // 500)] for shift in shifts])
    differ = field.codes[left] != field.codes[right]
    if not differ.any():
        return 0.0
    return float(np.median(log_evidence(field, field.start(), rate, left[differ], right[differ])))


@njit
def _search(file_of, within, least, known, postings, found):
    """Fill each record's row of `found` with its candidates, the likeliest first, from the values it shares.

    Of fields that depend on each other, those whose values are near count as the one that says most.
    """
    far, place = postings.far, postings.place
    records, fields = place.shape
    score, seen = np.zeros(records), np.zeros(records, dtype=np.bool_)
    trees = postings.moved.size
    best, apart, of_tree = np.zeros((trees, records)), np.zeros((trees, records)), np.empty(trees)
    touched, total = np.empty(records, dtype=np.int64), np.empty(records)
    for a in range(records):
        count = 0
        for field in range(fields):
            if place[a, field] < 0:
                continue
            tree = postings.tree[field]
            for entry in range(postings.near_start[place[a, field]], postings.near_start[place[a, field] + 1]):
                value, gain = postings.near[entry], postings.bonus[entry]
                for slot in range(postings.holder_start[value], postings.holder_start[value + 1]):
                    b = postings.holders[slot]
                    if b == a or (not within and file_of[a] == file_of[b]):
                        continue
                    if not seen[b]:
                        seen[b] = True
                        touched[count] = b
                        count += 1
                    if tree < 0:
                        score[b] += gain
                    else:
                        best[tree, b] = max(best[tree, b], far[field] + gain)
                        apart[tree, b] -= far[field]
        good = 0
        for slot in range(count):
            b = touched[slot]
            total[good] = score[b]
            of_tree[:] = best[:, b] + apart[:, b]
            for field in range(fields):
                if known[a, field] and known[b, field]:
                    if postings.tree[field] < 0:
                        total[good] += far[field]
                    else:
                        of_tree[postings.tree[field]] += far[field]
            total[good] += np.maximum(of_tree, postings.moved).sum()
            score[b], seen[b] = 0.0, False
            best[:, b], apart[:, b] = 0.0, 0.0
            if total[good] >= least:
                touched[good] = b
                good += 1
        order = np.argsort(-total[:good], kind="mergesort")
        for rank in range(min(good, found.shape[1])):
            found[a, rank] = touched[order[rank]]
