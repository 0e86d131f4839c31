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
    LIVE,
    gains,
    lone,
    message_step,
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
"""Steps of sum-product in a round, and in the last one; messages are carried on from round to round."""
PILOT_RECORDS = 10_000
"""Up to this many records with fields, the exact sampler's pilot run learns the power of ties."""
MOST_SHARING = 0.9
SURE = 0.3
"""Pairs of at least this probability lead to further candidates."""
KEPT = 1e-4


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

    def __init__(self, model: Model, dataset: Dataset, problem: Problem, run: Run, tables: Tables) -> None:
        self.problem, self.run, self.tables = problem, run, tables
        put_records(tables, dataset, problem)
        self.state = find_pairs(tables, model, dataset, problem, run)
        self.network = problem.network if isinstance(problem.network, SharedTiesProblem) else None
        self.given = None if self.network is None else self.network.power
        if self.network is not None and self.given is None and problem.fields and problem.records <= PILOT_RECORDS:
            self.given = self._pilot(model, dataset)
        if self.network is None or self.given == 0.0:
            self.kinds = ["profiles"] * 8
        else:
            learn = 4 if self.given is not None else 9
            stress = 0 if self.given is not None else 2
            self.kinds = ["profiles"] * 3 + ["learn"] * learn + ["stress"] * stress + ["settle"] * 3
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
        power, estimate, rho = 0.0, 0.0, before.rho
        if kind == "profiles":
            tables.write(f"gains_{k}", f"SELECT i, j, e, c, known, la, lb, q, 0e0 AS g, 0e0 AS r FROM {state}")
        else:
            power = self.power(kind)
            sum_c = self._gains(k, state, before.rho)
            if kind == "learn" and self.given is None:
                rng = np.random.default_rng([self.run.seed, k])
                names = {"state": state, "weights": f"weights_{k}", "lone_a": f"lone_a_{k}", "lone_b": f"lone_b_{k}"}
                estimate = estimate_power(rng, tables, names, self.problem.sizes, rho=before.rho, sum_c=sum_c)
            rho = self._sharing(k, before.rho, sum_c)
        self._messages(k, power, self.prior(before.matches), LAST_STEPS if k == len(self.kinds) - 1 else STEPS)
        tables.write(f"state_{k}", probabilities(f"gains_{k}", f"messages_{k}"))
        told = f"EXP(-LEAST(GREATEST(e, {number(-WORST)}), 30e0))"
        sums = tables.one(
            f"SELECT {total('q')} AS matches, {total(f'q * {told}')} AS told, {total('ABS(q - before)')} AS change "
            f"FROM state_{k} WHERE NOT known"
        )
        objection = sums["told"] / max(sums["matches"], 1e-9)
        figures = Figures(rho, power, estimate, sums["matches"], objection, sums["change"])
        tables.put(f"figures_{k}", {name: [value] for name, value in vars(figures).items()})
        return figures

    def _gains(self, k: int, state: str, rho: float) -> float:
        """Write what ties say for every candidate, with new candidates that ties lead to; return Σ q·c."""
        tables = self.tables
        weights = f"weights_{k}"
        tables.write(weights, weighty(state))
        looking = self.kinds[k] == "learn" and k % 2
        led = (
            reached(weights, LED_TO, state, sure=SURE, busiest=BUSIEST)
            if looking
            else "SELECT i, j FROM known WHERE i < 0"
        )
        tables.write(f"led_{k}", led)
        tables.write(
            f"new_{k}", f"SELECT l.i, l.j FROM led_{k} l LEFT JOIN apart x ON x.i = l.i AND x.j = l.j WHERE x.i IS NULL"
        )
        add_evidence(tables, self.problem, self.state, f"new_{k}", f"added_{k}")
        tables.write(
            f"listed_{k}",
            f"SELECT i, j, e, c, known, la, lb, q FROM {state} "
            f"UNION ALL SELECT i, j, e, c, FALSE, 0e0, 0e0, 0e0 FROM added_{k}",
        )
        sum_c = tables.one(f"SELECT {total('q * c')} AS s FROM {weights}")["s"]
        for side in "ab":
            tables.write(f"lone_{side}_{k}", lone(side, weights, rho))
        tables.write(f"shared_{k}", shared(weights, rho, f"listed_{k}"))
        tables.write(
            f"gains_{k}",
            gains(f"listed_{k}", weights, f"shared_{k}", f"lone_a_{k}", f"lone_b_{k}", rho=rho, sum_c=sum_c),
        )
        return sum_c

    def _sharing(self, k: int, rho: float, sum_c: float) -> float:
        """Return ρ after one step of EM: the expected common ties of pairs of persons, for each that could be."""
        if self.network is not None and isinstance(self.network.sharing, float):
            return self.network.sharing
        own = self.tables.one(
            f"SELECT {total('s * s')} AS s FROM (SELECT i, {total('q * c')} AS s FROM weights_{k} GROUP BY i) w"
        )["s"]
        common = rho * self.tables.one(f"SELECT {total('q * r')} AS s FROM gains_{k}")["s"]
        return min(common / max(sum_c**2 - own, 1e-12), MOST_SHARING)

    def _messages(self, k: int, power: float, prior: float, steps: int) -> None:
        """Write table `messages`: normalise so that nobody has two partners."""
        tables = self.tables
        if tables.has(f"messages_{k}"):
            return
        score = f"e + {number(power)} * g + {number(prior)}"
        tables.write(
            f"step_{k}_0",
            f"SELECT i, j, {score} AS score, la, lb FROM gains_{k} WHERE NOT known AND {score} > {number(LIVE)}",
        )
        for step in range(steps):
            now = f"step_{k}_{step}"
            if not tables.has(f"step_{k}_{step + 1}"):
                name = f"messages_{k}" if step == steps - 1 else f"step_{k}_{step + 1}"
                tables.write(name, message_step(now))
            tables.drop(now)

    def clean(self, k: int) -> None:
        """Remove what no later round reads."""
        names = ["gains", "weights", "led", "new", "added", "listed", "lone_a", "lone_b", "shared", "messages"]
        self.tables.drop(*(f"{name}_{k}" for name in names), f"state_{k - 1}")
        self.tables.drop(*(f"added_{k}_{column}" for column in evidence_of_columns(self.problem, self.state)))


def infer(
    model: Model, dataset: Dataset, problem: Problem, run: Run, tables: Tables, report: Callable[[str], object]
) -> Found:
    """Do all rounds that are not done yet and return what they found."""
    begun = time.monotonic()
    report("Looking for candidates, and learning rates from some of them …")
    rounds = _rounds(model, dataset, problem, run, tables)
    rounds._read()
    if rounds.figures:
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


def _rounds(model: Model, dataset: Dataset, problem: Problem, run: Run, tables: Tables) -> Rounds:
    """Return the rounds for what there is: with fields, or ties alone."""
    if problem.fields or not isinstance(problem.network, SharedTiesProblem) or problem.network.power == 0.0:
        return Rounds(model, dataset, problem, run, tables)
    from tielink.large.alone import TiesAlone  # which builds on this file

    return TiesAlone(dataset, problem, run, tables)
