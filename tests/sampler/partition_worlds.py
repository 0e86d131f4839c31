"""A few records in one file or several, chains over their partitions, and the exact posterior by enumeration."""

from __future__ import annotations

from collections import Counter

import numpy as np
import polars as pl
from scipy import stats
from scipy.special import logsumexp

import tielink as tl
from partitions import partitions
from tielink.data.linkage import canonical
from tielink.logp.linkage import log_linkage
from tielink.logp.profiles import log_collapsed
from tielink.logp.shared_ties import log_shared_ties
from tielink.model.problem import SharedTiesProblem
from tielink.project import Run
from tielink.run import chain as chains
from tielink.run.chain import Chain
from tielink.run.job import Job
from tielink.sampler.moves.offlist import move_off_list
from tielink.sampler.moves.partners import change_partners
from tielink.sampler.partition import join

NAMES = ["anna", "ana", "bob", "bob", None, "anna", "ana", "bo", "bob", "anna", None, "bo"]
PLACES = ["x", "x", "y", None, "y", "y", "x", "y", "x", None, "y", "x"]
FIELDS = {"name": tl.String(vocabulary="closed"), "place": tl.Categorical()}
RATES = (0.15, 0.3)


def files(sizes, ties=None, fields=FIELDS, **known):
    """Make files f0, f1, … of these sizes; `ties` are edges of each file's own numbers, or None."""
    begins = np.cumsum((0, *sizes))
    frames = {
        f"f{j}": pl.DataFrame(
            {"id": range(size), "name": NAMES[begins[j] :][:size], "place": PLACES[begins[j] :][:size]},
            schema={"id": pl.Int64, "name": pl.String, "place": pl.String},
        )
        for j, size in enumerate(sizes)
    }
    if not fields:
        frames = {name: frame.select("id") for name, frame in frames.items()}
    networks = {f"f{j}": edges for j, edges in enumerate(ties or ()) if edges is not None}
    return tl.Dataset.from_frames(frames, networks or None, fields=fields, **known)


def world(sizes, prior, ties=None, network=None, fields=FIELDS, seed=3, **known):
    """Compile a job of such files."""
    data = files(sizes, ties, fields, **known)
    return Job.make(tl.Model(network=network, linkage=prior), data, Run(seed=seed))


def fixed_chain(job, pairs=None):
    """Make a chain whose rates are fixed for as long as only moves of the partition are called.

    With `pairs`, these and no others are candidates.
    """
    chain = Chain(job, 0)
    if chain.profiles.fields:
        chain.profile_state.rates[:] = RATES
    if pairs is not None:
        chain._list(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.ones(len(pairs), dtype=bool))
    chain.revalue()
    return chain


def set_labels(chain, labels):
    """Link the records of a chain in which everybody is alone as `labels` say."""
    for label in np.unique(labels):
        records = np.flatnonzero(labels == label)
        for record in records[1:]:
            own, other = chain.state.label[record], chain.state.label[records[0]]
            if own != other:
                join(chain.state, chain.rules, own, other, 0.0)


def exact(chain):
    """Return every partition with its posterior probability at the chain's rates, parameters and ρ."""
    problem, state, ties = chain.problem, chain.profile_state, chain.network.ties
    every = list(partitions(problem.file_of.tolist(), problem.linkage.allowed, problem.linkage.largest))
    logs = []
    for labels in every:
        total = log_linkage(problem, labels)
        for place, field in enumerate(problem.fields):
            total += log_collapsed(field, state.fields[place], state.rates[place], labels)
        if isinstance(problem.network, SharedTiesProblem):
            ratio = log_shared_ties(problem.network.ties, problem.sizes, labels, ties.theta, ties.rho[0])
            total += ties.power[0] * ratio
        logs.append(total)
    return every, np.exp(np.array(logs) - logsumexp(logs))


def gibbs(chain):
    for _ in range(3 if chain.rules.largest == 2 else 1):
        chains._gibbs(chain)


def strangers(chain, times=10):
    for _ in range(times):
        chains._strangers(chain)


def exchange(chain, times=6):
    for _ in range(times):
        chains._exchange(chain)


def off_list(chain, times=60, move=move_off_list, evidence=None):
    move(chain.rng, chain.state, chain.data, evidence or chain.groups.evidence, times)


def partners(chain, times=6, move=change_partners):
    for _ in range(times):
        move(chain.rng, chain.state, chain.data, chain.groups.evidence, chain.profiles.alike)


def every_move(chain):
    gibbs(chain)
    strangers(chain)
    exchange(chain)
    off_list(chain)
    partners(chain)


def pooled(observed, probability, least=10):
    """Return counts and their expectations, rare cases put together so that at least so many are expected of each."""
    number, order = observed.sum(), np.argsort(probability)
    rare = order[np.cumsum(probability[order]) * number < least]
    common = np.setdiff1d(np.flatnonzero(probability > 0), rare)
    seen, expected = observed[common], probability[common] * number
    if probability[rare].sum() > 0:
        seen, expected = np.append(seen, observed[rare].sum()), np.append(expected, probability[rare].sum() * number)
    return seen, expected * seen.sum() / expected.sum()


def p_value(chain, number=1_200, step=gibbs, target=None):
    """Return the p value of χ² of so many draws, `step` done before each, against the exact probabilities."""
    every, probability = exact(chain) if target is None else target
    counts = Counter()
    for _ in range(number):
        step(chain)
        counts[tuple(canonical(chain.person()).tolist())] += 1
    observed = np.array([counts.pop(tuple(labels.tolist()), 0) for labels in every])
    assert not counts, "a partition outside the class was drawn"
    assert not observed[probability == 0].any(), "what is known was not kept"
    return float(stats.chisquare(*pooled(observed, probability)).pvalue)
