"""Questions by a simulated reviewer who knows the truth, conditioning on answers, and updates.

Orders of questions: *settling* is `tl.review.queue`; *doubt* asks about the record whose pair is nearest to one half,
*doubt, pairs* shows that pair alone (as marks in the report are), *random* any record in doubt. 30 questions each, from
the same draws; draws are conditioned after every answer, and chains go on from where they stand whenever too few agree
(and once more at the end, for scores). Settled a question: how many pairs fewer are in doubt (probability between .1
and .9). F₁ counts answered pairs too, and leaves out known ones. `made`: files of people with surnames and ties alone;
`aucs_work_lunch`: ties, group and role. Real data need `TIELINK_DATA` (or `--data folder`).

Conditioning: 10 answers, against chains run anew with them; the share of pairs (of probability .01 and more by either)
that differ by at most .05, and CPU seconds of conditioning.

Update: 50 new records, against a full run of all; the same comparison, and CPU seconds of both.
`TIELINK_REVIEW=orders`, `conditioning` or `update` measures that alone.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from reproduce.folders import anchored, read

import tielink as tl
from benchmarks.fits import data_folder
from tielink.data.columns import Column
from tielink.data.records import Records
from tielink.data.scores import pair_keys
from tielink.review.queue import DOUBT, Question, askable
from tielink.run.again import with_answers

TITLE = "Reviews and updates"
COLUMNS = (
    "what",
    "data",
    "how",
    "pairs in doubt before → after",
    "settled a question, first 5 / 10 / 30",
    "F₁ before → after",
    "seconds",
)
ORDERS = ("settling", "doubt", "doubt, pairs", "random")
QUESTIONS, CHAINS, SWEEPS = 30, 2, 300
STEPS = (5, 10, 30)
"""Questions after which it is counted what is settled."""
FEW = 40
"""Effective draws below which chains go on."""
SIZES, NEW = (500, 5000), 50
"""Records of each file that updates are tried with (`TIELINK_SIZE` for one of them), and how many of all are new."""

Codes = NDArray[np.int64]


def doubtful(posterior: tl.Posterior) -> int:
    chance = posterior.pair_probabilities.probability
    return int(((chance > DOUBT[0]) & (chance < DOUBT[1])).sum())


def f1(posterior: tl.Posterior, truth: tl.Linkage, known: Codes) -> float:
    found = pair_keys(tl.estimate(posterior).pair_numbers)
    true = pair_keys(truth.pair_numbers)
    found, true = (keys[~np.isin(keys, pair_keys(known))] for keys in (found, true))
    right = np.isin(found, true).sum()
    return float(2 * right / max(len(found) + len(true), 1))


def next_question(
    rng: np.random.Generator, posterior: tl.Posterior, order: str, asked: Codes
) -> tuple[int, ...] | None:
    """Return the record to ask about and those to show."""
    if order == "settling":
        found: list[Question] = tl.review.queue(posterior, asked=asked, most=1)
        return found[0].numbers if found else None
    choices = askable(posterior, asked)
    if not choices:
        return None
    if order == "random":
        record = int(rng.choice(list(choices)))
        return record, *map(int, choices[record])
    found_pairs = posterior.pair_probabilities
    seen = np.concatenate([asked, posterior.anchors, posterior.nonmatches])
    doubt = np.abs(found_pairs.probability - 0.5)
    doubt[np.isin(pair_keys(found_pairs.pairs), pair_keys(seen))] = np.inf
    a, b = (int(r) for r in found_pairs.pairs[np.argmin(doubt)])
    return (a, b) if order == "doubt, pairs" else (a, *map(int, choices[a])) if a in choices else (a, b)


def reviewed(
    data: tl.Dataset, first: tl.Posterior, truth: tl.Linkage, order: str, seed: int = 0
) -> tuple[tl.Posterior, list[int]]:
    """Ask a person who knows the truth; return the posterior after all answers, and pairs in doubt after each."""
    rng, base, now = np.random.default_rng(seed), first, first
    answers: list[tl.review.Answer] = []
    asked, left = np.empty((0, 2), dtype=np.int64), []
    for _ in range(QUESTIONS):
        question = next_question(rng, now, order, asked)
        if question is None:
            break
        record, *shown = question
        names = [first.records[number] for number in question]
        right = [number for number in shown if truth.labels[number] == truth.labels[record]]
        answers.append(tl.review.Answer(names[0], first.records[right[0]] if right else "none", tuple(names[1:])))
        asked = np.concatenate([asked, [[record, other] for other in shown]])
        now = base.given(answers)
        if now.agreement is not None and now.agreement.effective < FEW:
            base = tl.update(base, data, answers=answers, warmup=15, draws=150, workers=0, progress=False)
            now = base
        left.append(doubtful(now))
    last = tl.update(base, data, answers=answers, warmup=50, draws=SWEEPS, workers=0, progress=False)
    return last, left


def orders() -> Iterator[tuple[object, ...]]:
    made = tl.simulate.shared_ties(
        np.random.default_rng(11), {"a": 80, "b": 80}, overlap=55, ties=6, fields=("surname",), anchors=0.05
    )
    worlds = [("made, 80 + 80", made.dataset, made.truth)]
    root = data_folder()
    if root is not None:
        fields = (("group", tl.Categorical()), ("role", tl.Categorical()))
        found = read(root / "aucs_work_lunch", fields)
        worlds.append(("aucs_work_lunch, 10 % known", anchored(found, 0.1, 0), found.truth))
    for name, data, truth in worlds:
        first = sampled(data)
        for order in ORDERS:
            begin = time.process_time()
            last, left = reviewed(data, first, truth, order)
            before, known = doubtful(first), first.anchors
            pace = [(before - left[min(count, len(left)) - 1]) / min(count, len(left)) for count in STEPS]
            yield (
                "order of questions", name, order, f"{before} → {doubtful(last)}",
                " / ".join(f"{each:.2f}" for each in pace),
                f"{f1(first, truth, known):.3f} → {f1(last, truth, known):.3f}", f"{time.process_time() - begin:.0f}",
            )  # fmt: skip


def sampled(data: tl.Dataset, model: tl.Model | None = None, seed: int = 1) -> tl.Posterior:
    settings = {"chains": CHAINS, "warmup": SWEEPS, "draws": 2 * SWEEPS, "workers": 0, "progress": False}
    return tl.sample(model or tl.Model(), data, seed=seed, **settings)


def difference(one: tl.Posterior, two: tl.Posterior) -> tuple[float, int]:
    """Return the share of pairs whose probabilities differ by at most .05, and the number of pairs."""
    sides = []
    for posterior in (one, two):
        found = posterior.pair_probabilities
        sides.append(dict(zip(pair_keys(found.pairs).tolist(), found.probability.tolist(), strict=True)))
    pairs = [key for key in sides[0].keys() | sides[1].keys() if max(side.get(key, 0.0) for side in sides) >= 0.01]
    close = [abs(sides[0].get(key, 0.0) - sides[1].get(key, 0.0)) <= 0.05 for key in pairs]
    return float(np.mean(close)) if close else 1.0, len(pairs)


def conditioning() -> Iterator[tuple[object, ...]]:
    for fields, seed in ((("surname", "suburb"), 21), (("given_name", "surname"), 22)):
        rng = np.random.default_rng(seed)
        made = tl.simulate.shared_ties(rng, {"a": 80, "b": 80}, overlap=50, ties=4, fields=fields)
        first = sampled(made.dataset)
        answers = []
        for question in tl.review.queue(first, most=10):
            record, *shown = question.numbers
            right = [number for number in shown if made.truth.labels[number] == made.truth.labels[record]]
            chosen = first.records[right[0]] if right else "none"
            answers.append(tl.review.Answer(question.record, chosen, question.shown))
        first.given(answers)
        begin = time.process_time()
        given = first.given(answers)
        seconds = time.process_time() - begin
        data = with_answers(made.dataset, answers, "pairs")
        again = sampled(data, tl.Model(network=tl.SharedTies(power=first.power)), seed=5)
        share, count = difference(given, again)
        unchanged, _ = difference(first, again)
        other = sampled(data, tl.Model(network=tl.SharedTies(power=first.power)), seed=6)
        runs, _ = difference(again, other)
        how = f"{len(answers)} answers: {share:.1%} of {count} pairs within .05 (two runs: {runs:.1%}; "
        how += f"not conditioned: {unchanged:.1%}); {given.agreement.effective:.0f} effective draws"
        yield "conditioning", f"made, {' and '.join(fields)}", how, "–", "–", "–", f"{seconds:.2f}"


def part_of(data: tl.Dataset, kept: NDArray[np.bool_]) -> tl.Dataset:
    """Return the data of some records."""
    records, ids, ties = data.records, {}, {}
    for file, name in enumerate(data.files):
        mine = kept[records.offsets[file] : records.offsets[file + 1]]
        ids[name] = [key for key, keep in zip(records.ids[file], mine, strict=True) if keep]
        place = np.where(mine, np.cumsum(mine) - 1, -1)
        edges = place[data.ties[name]]
        ties[name] = edges[(edges >= 0).all(axis=1)]
    index = Records(ids)
    columns = {name: Column(col.field, col.values, col.codes[kept]) for name, col in data.columns.items()}
    alone = tl.Linkage(index, np.arange(len(index)))
    return replace(
        data, records=index, ties=ties, columns=columns, anchors=alone, nonmatches=np.empty((0, 2), np.int64)
    )


def updates() -> Iterator[tuple[object, ...]]:
    given = os.environ.get("TIELINK_SIZE")
    for size in SIZES if given is None else [int(given)]:
        rng = np.random.default_rng(31)
        fields = ("given_name", "surname", "suburb")
        made = tl.simulate.shared_ties(rng, {"a": size, "b": size}, overlap=6 * size // 10, ties=8, fields=fields)
        kept = np.ones(2 * size, dtype=bool)
        kept[rng.choice(2 * size, NEW, replace=False)] = False
        settings = {"chains": CHAINS, "workers": 0, "progress": False}
        before = tl.sample(tl.Model(), part_of(made.dataset, kept), seed=1, **settings)
        begin = time.process_time()
        full = tl.sample(tl.Model(), made.dataset, seed=2, **settings)
        middle = time.process_time()
        after = tl.update(before, made.dataset, workers=0, progress=False)
        end = time.process_time()
        share, count = difference(full, after)
        changed = after.changes_since(before, 0.5)["change"]
        how = f"{share:.1%} of {count:,} pairs within .05; {(changed == 'link fell').sum()} old links fell; "
        how += f"{(middle - begin) / (end - middle):.1f} times faster"
        yield (
            "update", f"made, {size:,} + {size:,}, {NEW} new", how,
            f"{doubtful(full)} / {doubtful(after)} (full / update)", "–",
            f"{f1(full, made.truth, full.anchors):.3f} / {f1(after, made.truth, full.anchors):.3f}",
            f"{middle - begin:.0f} / {end - middle:.0f}",
        )  # fmt: skip


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each order of questions, for conditioning, and for an update."""
    parts = {"orders": orders, "conditioning": conditioning, "update": updates}
    wanted = os.environ.get("TIELINK_REVIEW")
    for name, part in parts.items():
        if wanted in (None, name):
            yield from part()
