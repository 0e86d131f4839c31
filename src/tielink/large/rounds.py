"""Variational inference in rounds: what ties say given everybody's probabilities, then probabilities given that.

Every round writes its state whole; the last thing that it writes, its figures, says that it is finished. A run that was
stopped goes on after its last finished round and ends with the same tables.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.large.candidates import add_evidence, find_pairs, put_records
from tielink.large.learning import evidence_of_columns
from tielink.large.power import estimate_power
from tielink.large.statements import (
    KEPT,
    LIVE,
    adjacent,
    contested,
    gains,
    lone,
    message_step,
    open_pairs,
    probabilities,
    reached,
    shared,
    weighty,
)
from tielink.large.tables import Tables, number, total
from tielink.model.problem import Problem, SharedTiesProblem
from tielink.model.spec import Model
from tielink.network.shared_ties import LED_TO, SHARING
from tielink.project import Run
from tielink.run.job import Job
from tielink.run.pilot import CUT, FIRST_GUESS, GROWTH, LEAST, OBJECTION, STRESS, WORST, learn_power
from tielink.sampler.profiles import ProfileState
from tielink.sampler.reached import BUSIEST

__all__ = ["Figures", "Found", "Rounds", "infer"]

WORDS = {
    "profiles": "by profiles alone",
    "learn": "learning how much ties weigh",
    "stress": "ties put to the test",
    "settle": "settling",
}
STEPS, LAST_STEPS = 10, 40
"""Steps of sum-product at most, in a round and in the last one; messages are carried on from round to round."""
SETTLED = 1e-4
"""Sum-product ends when no message (a logarithm) moves by more."""
LOOKING = 4
"""With fields, ties lead to further candidates in every so many rounds of those that learn."""
PILOT_RECORDS = 10_000
"""Up to this many records with fields, the exact sampler's pilot run learns the power of ties."""
MOST_SHARING = 0.9
SURE = 0.3
"""Pairs of at least this probability lead to further candidates."""


@dataclass(frozen=True, eq=False)
class Found:
    """Probabilities of pairs (i, j), known matches left out, and what they rest on."""

    pairs: NDArray[np.int64]
    """Numbers of the two records in their own files."""
    probability: NDArray[np.float64]
    score: NDArray[np.float64]
    """Log odds of a pair against being apart, whoever else is linked: profiles, ties and prior."""
    sharing: float
    power: float
    profile_state: ProfileState


@dataclass(frozen=True)
class Figures:
    """What is known after a round."""

    rho: float = SHARING
    """ρ for the next round."""
    power: float = FIRST_GUESS
    """β of this round."""
    estimate: float = 0.0
    matches: float = 0.0
    objection: float = 0.0
    """The mean of e^{−E} over links, E their profile evidence."""
    change: float = 0.0


class Rounds:
    """Rounds that link by profiles, and by ties if there are any."""

    def __init__(
        self,
        model: Model,
        dataset: Dataset,
        problem: Problem,
        run: Run,
        tables: Tables,
        report: Callable[[str], object],
    ) -> None:
        self.problem, self.run, self.tables = problem, run, tables
        put_records(tables, dataset, problem)
        self.state = find_pairs(tables, model, dataset, problem, run, report)
        self.network = problem.network if isinstance(problem.network, SharedTiesProblem) else None
        self.given = None if self.network is None else self.network.power
        if self.network is not None and self.given is None and problem.fields and problem.records <= PILOT_RECORDS:
            report("Learning how much ties weigh, by the exact sampler …")
            self.given = self._pilot(model, dataset)
        if self.network is None or self.given == 0.0:
            self.kinds = ["profiles"] * 4
        else:
            learn = 4 if self.given is not None else 8
            stress = 0 if self.given is not None else 1
            self.kinds = ["profiles"] * 2 + ["learn"] * learn + ["stress"] * stress + ["settle"] * 2
        self.figures: list[Figures] = []

    def _pilot(self, model: Model, dataset: Dataset) -> float:
        """Return the power of ties that the exact sampler's pilot run finds."""
        if not self.tables.has("pilot"):
            power = learn_power(Job(model, dataset, self.run, self.problem), lambda progress: None)
            self.tables.put("pilot", {"power": [power]})
        return self.tables.one("SELECT power FROM pilot")["power"]

    def _read(self) -> None:
        """Read what earlier rounds found, those that are finished."""
        while len(self.figures) < len(self.kinds) and self.tables.has(f"figures_{len(self.figures)}"):
            self.figures.append(Figures(**self.tables.one(f"SELECT * FROM figures_{len(self.figures)}")))

    def power(self, kind: str) -> float:
        """Return β for a round of some kind that comes next."""
        if self.given is not None:
            return self.given
        done = list(zip(self.kinds, self.figures, strict=False))
        learnt = [figures for other, figures in done if other == "learn"]
        if kind == "learn":
            last = learnt[-1] if learnt else None
            return FIRST_GUESS if last is None else min(max(last.estimate, LEAST), GROWTH * last.power)
        power = float(np.mean([min(one.estimate, one.power) for one in learnt[len(learnt) // 2 :]]))
        if kind == "stress":
            return min(STRESS * power, 1.0)
        usual = max([figures.objection for other, figures in done if other == "profiles"][-1], 1.0)
        heard = [figures.objection for other, figures in done if other == "stress"]
        raised = bool(heard) and float(np.mean(heard[len(heard) // 2 :])) > OBJECTION * usual
        return CUT * power if raised else power

    def prior(self, matches: float) -> float:
        """Return the log prior odds of one more match."""
        steps = np.diff(self.problem.linkage.log_by_matches)
        return float(steps[min(int(matches), len(steps) - 1)]) if len(steps) else 0.0

    def advance(self, k: int) -> Figures:
        """Do round k and return its figures."""
        tables, kind = self.tables, self.kinds[k]
        before = self.figures[-1] if self.figures else Figures(matches=0.5 * min(self.problem.linkage.free))
        state = (
            f"state_{k - 1}"
            if k
            else "(SELECT *, 0e0 AS g, 0e0 AS la, 0e0 AS lb, CASE WHEN known THEN 1e0 ELSE 0e0 END AS q FROM pairs)"
        )
        prior = self.prior(before.matches)
        power, estimate, rho = 0.0, 0.0, before.rho
        if kind == "profiles":
            listed = f"(SELECT i, j, e, c, known, la, lb, q, 0e0 AS g, 0e0 AS r FROM {state})"
        else:
            power = self.power(kind)
            listed, sum_c = f"gains_{k}", self._gains(k, state, before.rho, prior)
            if kind == "learn" and self.given is None:
                rng = np.random.default_rng([self.run.seed, k])
                names = {"state": state, "weights": f"weights_{k}", "lone_a": f"lone_a_{k}", "lone_b": f"lone_b_{k}"}
                estimate = estimate_power(rng, tables, names, self.problem.sizes, rho=before.rho, sum_c=sum_c)
            rho = self._sharing(k, before.rho, sum_c)
        score = f"k.e + {number(power)} * k.g + {number(prior)}"
        tables.write(f"live_{k}", contested(listed, score))
        unsaid = f"(SELECT i, j, score, 0e0 AS la, 0e0 AS lb FROM live_{k})"
        tables.write(f"first_{k}", message_step(unsaid, 1.0))
        messages = self._messages(k)
        waiting = self.kinds[-1] != "profiles" and kind == "profiles"
        kept = "TRUE" if waiting else f"e + g + {number(prior)} > {number(LIVE)}"
        tables.write(f"state_{k}", probabilities(listed, messages, f"first_{k}", score, kept))
        tables.drop(messages)
        told = f"EXP(-LEAST(GREATEST(e, {number(-WORST)}), 30e0))"
        sums = tables.one(
            f"SELECT {total('q')} AS matches, {total(f'q * {told}')} AS told, {total('ABS(q - before)')} AS change "
            f"FROM state_{k} WHERE NOT known"
        )
        objection = sums["told"] / max(sums["matches"], 1e-9)
        figures = Figures(rho, power, estimate, sums["matches"], objection, sums["change"])
        tables.put(f"figures_{k}", {name: [value] for name, value in vars(figures).items()})
        return figures

    def _gains(self, k: int, state: str, rho: float, prior: float) -> float:
        """Write what ties say for every candidate, with new candidates that ties lead to; return Σ q·c."""
        tables, weights = self.tables, f"weights_{k}"
        tables.write(weights, weighty(state))
        self._look(k, state, prior)
        listed = f"SELECT i, j, e, c, known, la, lb, q FROM {state}"
        new = f"SELECT i, j, e, c, FALSE, 0e0, 0e0, 0e0 FROM added_{k}"
        tables.write(f"listed_{k}", f"{listed} UNION ALL {new}")
        self._walk(k, state)
        sum_c = tables.one(f"SELECT {total('q * c')} AS s FROM {weights}")["s"]
        for side in "ab":
            tables.write(f"lone_{side}_{k}", lone(side, weights, rho))
        tables.write(f"shared_{k}", shared(f"adjacent_{k}", weights, rho))
        tables.write(
            f"gains_{k}",
            gains(f"listed_{k}", weights, f"shared_{k}", f"lone_a_{k}", f"lone_b_{k}", rho=rho, sum_c=sum_c),
        )
        return sum_c

    def _look(self, k: int, state: str, prior: float) -> None:
        """Write table `added`: pairs that probable ones lead to and that could be live, with all that ties may say."""
        tables, place = self.tables, k - self.kinds.index("learn")
        if self.kinds[k] == "learn" and place % LOOKING == 0:
            tables.write(f"led_{k}", reached(f"weights_{k}", LED_TO, sure=SURE, busiest=BUSIEST))
            unlisted = f"SELECT l.* FROM led_{k} l LEFT JOIN {state} x ON x.i = l.i AND x.j = l.j WHERE x.i IS NULL"
            tables.write(f"new_{k}", unlisted)
            add_evidence(tables, self.problem, self.state, f"new_{k}", f"met_{k}")
            able = f"m.e + n.score + {number(prior)} > {number(LIVE)}"
            joined = f"met_{k} m JOIN new_{k} n ON n.i = m.i AND n.j = m.j"
            tables.write(f"added_{k}", f"SELECT m.i, m.j, m.e, m.c FROM {joined} WHERE {able}")
        else:
            tables.write(f"added_{k}", f"SELECT i, j, e, c FROM {state} WHERE i < 0")

    def _walk(self, k: int, state: str) -> None:
        """Write table `adjacent`: what it was, for pairs still listed, and what new pairs on either side add."""
        tables = self.tables
        weights = f"SELECT i, j, c FROM weights_{k}"
        here = f"JOIN listed_{k} k ON k.i = a.i AND k.j = b.j"
        if not tables.has(f"adjacent_{k - 1}"):
            tables.write(f"walked_{k}", weights)
            tables.write(f"adjacent_{k}", adjacent(f"walked_{k}", here))
            return
        walked = f"walked_{k - 1}"
        fresh = f"SELECT w.* FROM ({weights}) w LEFT JOIN {walked} x ON x.i = w.i AND x.j = w.j WHERE x.i IS NULL"
        tables.write(f"fresh_{k}", fresh)
        tables.write(f"walked_{k}", f"SELECT * FROM {walked} UNION ALL SELECT * FROM fresh_{k}")
        old = f"SELECT x.* FROM adjacent_{k - 1} x JOIN {state} s ON s.i = x.i AND s.j = x.j"
        added = adjacent(walked, f"JOIN added_{k} k ON k.i = a.i AND k.j = b.j")
        tables.write(f"adjacent_{k}", f"{old} UNION ALL {adjacent(f'fresh_{k}', here)} UNION ALL {added}")

    def _sharing(self, k: int, rho: float, sum_c: float) -> float:
        """Return ρ after one step of EM: the expected common ties of pairs of persons, for each that could be."""
        if self.network is not None and isinstance(self.network.sharing, float):
            return self.network.sharing
        own = self.tables.one(
            f"SELECT {total('s * s')} AS s FROM (SELECT i, {total('q * c')} AS s FROM weights_{k} GROUP BY i) w"
        )["s"]
        common = rho * self.tables.one(f"SELECT {total('q * r')} AS s FROM gains_{k}")["s"]
        return min(common / max(sum_c**2 - own, 1e-12), MOST_SHARING)

    def _messages(self, k: int) -> str:
        """Normalise so that nobody has two partners; return the name of the table of messages."""
        tables = self.tables
        tables.write(f"step_{k}_0", open_pairs(f"live_{k}", f"first_{k}"))
        steps = LAST_STEPS if k == len(self.kinds) - 1 else STEPS
        for step in range(steps):
            now, then = f"step_{k}_{step}", f"step_{k}_{step + 1}"
            tables.write(then, message_step(now))
            tables.drop(now)
            if tables.one(f"SELECT COALESCE(MAX(moved), 0e0) AS moved FROM {then}")["moved"] < SETTLED:
                break
        return then

    def clean(self, k: int) -> None:
        """Remove what no later round reads."""
        names = "gains weights led new met added listed lone_a lone_b shared fresh live first".split()
        self.tables.drop(*(f"{name}_{k}" for name in names))
        self.tables.drop(*(f"{name}_{k - 1}" for name in ("state", "walked", "adjacent")))
        self.tables.drop(*(f"met_{k}_{column}" for column in evidence_of_columns(self.problem, self.state)))


def infer(
    model: Model, dataset: Dataset, problem: Problem, run: Run, tables: Tables, report: Callable[[str], object]
) -> Found:
    """Do all rounds that are not done yet and return what they found."""
    begun = time.monotonic()
    report("Looking for candidates …")
    rounds = _rounds(model, dataset, problem, run, tables, report)
    rounds._read()
    if rounds.figures:
        rounds.clean(len(rounds.figures) - 1)
        report(f"Going on after round {len(rounds.figures)} of {len(rounds.kinds)}.")
    pairs = tables.one("SELECT COUNT(*) AS n FROM pairs")["n"]
    report(f"{pairs:,.0f} candidate pairs, in {time.monotonic() - begun:,.0f} s; {len(rounds.kinds)} rounds.")
    first, begun = len(rounds.figures), time.monotonic()
    for k in range(first, len(rounds.kinds)):
        figures = rounds.advance(k)
        rounds.figures.append(figures)
        rounds.clean(k)
        spent = time.monotonic() - begun
        left = spent / (k + 1 - first) * (len(rounds.kinds) - k - 1)
        ties = "" if rounds.kinds[k] == "profiles" else f"; power {figures.power:.2f}, shared {figures.rho:.0%}"
        report(
            f"Round {k + 1} of {len(rounds.kinds)}, {WORDS[rounds.kinds[k]]}: {figures.matches:,.1f} matches expected, "
            f"{figures.change:,.1f} changed{ties}; {spent:,.0f} s, about {left:,.0f} s left."
        )
    last = rounds.figures[-1]
    state = f"state_{len(rounds.kinds) - 1}"
    rows = tables.fetch(f"SELECT i, j, q, score FROM {state} WHERE NOT known AND q >= {number(KEPT)} ORDER BY 1, 2")
    pairs_found = np.column_stack([rows["i"], rows["j"]]).astype(np.int64)
    return Found(pairs_found, rows["q"], rows["score"], last.rho, last.power, rounds.state)


def _rounds(
    model: Model, dataset: Dataset, problem: Problem, run: Run, tables: Tables, report: Callable[[str], object]
) -> Rounds:
    """Return the rounds for what there is: with fields, or ties alone."""
    if problem.fields or not isinstance(problem.network, SharedTiesProblem) or problem.network.power == 0.0:
        return Rounds(model, dataset, problem, run, tables, report)
    from tielink.large.alone import TiesAlone  # which builds on this file

    if not len(dataset.anchors.pair_numbers):
        report("No matches are known: ties alone have nothing to begin with, and nothing will be found.")

    return TiesAlone(dataset, problem, run, tables)
