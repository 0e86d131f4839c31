"""Joint draws of linkages from the pairs' scores: the exact sampler of matchings, given what ties say on average.

Scores are log odds of single pairs; a linkage has probability proportional to e^{sum of its scores}. Edges are looked
at in random order: a free pair is linked, a linked one parted, a partner taken over, or two partners exchanged, each
accepted by Metropolis' rule (Jerrum and Sinclair's chain, with exchanges).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.kernels import entry_of, njit
from tielink.large.rounds import Found
from tielink.model.problem import Problem
from tielink.model.spec import Model
from tielink.posterior.pairs import PairProbabilities
from tielink.posterior.posterior import Posterior
from tielink.project import Run

__all__ = ["draw_matchings", "variational_posterior"]

CHAINS, MOST_DRAWS, LEAST_DRAWS = 2, 100, 20
NUMBERS = 20_000_000
"""Draws times records of a chain that are kept at most."""
BURN_IN, THIN = 40, 4


def variational_posterior(
    model: Model, dataset: Dataset, problem: Problem, run: Run, found: Found, report: Callable[[str], object]
) -> Posterior:
    """Return probabilities and joint draws as a posterior; parameters are fixed at what was learnt."""
    first = problem.sizes[0]
    draws = int(np.clip(NUMBERS // max(problem.records, 1), LEAST_DRAWS, MOST_DRAWS))
    known, order = dataset.anchors.pair_numbers, np.lexsort((found.pairs[:, 1], found.pairs[:, 0]))
    own = np.arange(problem.records, dtype=np.int32)
    own[known[:, 1]] = known[:, 0]
    person = np.empty((CHAINS, draws, problem.records), dtype=np.int32)
    person[:] = own
    log_weight = np.empty((CHAINS, draws))
    for chain in range(CHAINS):
        report(f"Drawing {draws} linkages of {CHAINS * draws} …")
        rng = np.random.default_rng([run.seed, 1, chain])
        drawn, log_weight[chain] = draw_matchings(rng, problem.sizes, found.pairs[order], found.score[order], draws)
        for draw, edges in enumerate(drawn):
            linked = found.pairs[order][edges]
            person[chain, draw, linked[:, 1] + first] = linked[:, 0]
    pairs = found.pairs[order] + np.array([0, first])
    chances = PairProbabilities(pairs, found.probability[order], np.full(len(pairs), np.nan))
    rates = np.broadcast_to(found.profile_state.rates, (CHAINS, draws, len(problem.rates)))
    fields = zip(problem.fields, found.profile_state.fields, strict=True)
    return Posterior(
        records=dataset.records,
        model=model,
        run=replace(run, chains=CHAINS, draws=draws, warmup=BURN_IN, thin=THIN),
        person=person,
        log_likelihood=log_weight,
        intercepts=np.empty((CHAINS, draws, 0)),
        spread=np.empty((CHAINS, 0)),
        distortion=rates.copy(),
        rates=tuple(rate.name for rate in problem.rates),
        fields={field.name: np.broadcast_to(values, (CHAINS, draws, len(values))).copy() for field, values in fields},
        anchors=known,
        nonmatches=problem.linkage.nonmatches,
        moves=(),
        proposed=np.zeros((CHAINS, 0), dtype=np.int64),
        accepted=np.zeros((CHAINS, 0), dtype=np.int64),
        sharing=np.full((CHAINS, draws if problem.network is not None else 0), found.sharing),
        power=found.power,
        conditional=chances,
        frame_kind=dataset.frame_kind,
        dataset=dataset,
    )


def draw_matchings(
    rng: np.random.Generator, sizes: tuple[int, ...], pairs: NDArray[np.int64], score: NDArray[np.float64], draws: int
) -> tuple[list[NDArray[np.int64]], NDArray[np.float64]]:
    """Draw sets of pairs in which nobody is twice, ∝ e^{sum of scores}; return places in the list, and those sums.

    Parameters
    ----------
    rng
        Source of randomness.
    sizes
        Records of the two files.
    pairs
        Different pairs (i, j), sorted.
    score
        The score of each.
    draws
        How many to draw.

    Returns
    -------
    list of arrays, array

    Examples
    --------
    >>> drawn, _ = draw_matchings(np.random.default_rng(1), (1, 2), np.array([[0, 0], [0, 1]]), np.zeros(2), 900)
    >>> round(sum(len(edges) for edges in drawn) / 900, 1)  # nobody, one or the other, equally likely
    0.7
    """
    begin = np.searchsorted(pairs[:, 0], np.arange(sizes[0] + 1))
    edge_of = np.full(sizes[0], -1, dtype=np.int64), np.full(sizes[1], -1, dtype=np.int64)
    for edge in np.argsort(-score, kind="stable"):
        i, j = pairs[edge]
        if score[edge] > 0 and edge_of[0][i] < 0 and edge_of[1][j] < 0:
            edge_of[0][i] = edge_of[1][j] = edge
    drawn, weights = [], np.empty(draws)
    for draw in range(-BURN_IN // THIN, draws):
        for _ in range(THIN):
            _sweep(rng, pairs, score, begin, edge_of[0], edge_of[1])
        if draw >= 0:
            drawn.append(edge_of[0][edge_of[0] >= 0].copy())
            weights[draw] = score[drawn[-1]].sum()
    return drawn, weights


@njit
def _sweep(rng, pairs, score, begin, of_i, of_j):
    """As many proposals as there are edges."""
    for _ in range(len(pairs)):
        new = int(rng.random() * len(pairs))
        i, j = pairs[new, 0], pairs[new, 1]
        mine, theirs = of_i[i], of_j[j]
        accept = np.log(rng.random())
        if mine == new:
            if accept < -score[new]:
                of_i[i] = of_j[j] = -1
            continue
        other = -1
        gain = score[new]
        if mine >= 0:
            gain -= score[mine]
        if theirs >= 0:
            gain -= score[theirs]
        if mine >= 0 and theirs >= 0:
            other = entry_of(begin, pairs[:, 1], pairs[theirs, 0], pairs[mine, 1])
            if other < 0:
                continue
            gain += score[other]
        if accept >= gain:
            continue
        if mine >= 0:
            of_j[pairs[mine, 1]] = -1
        if theirs >= 0:
            of_i[pairs[theirs, 0]] = -1
        of_i[i] = of_j[j] = new
        if other >= 0:
            of_i[pairs[other, 0]] = of_j[pairs[other, 1]] = other
