"""Ties alone: known matches that are hidden from the rounds teach what ties are worth.

A quarter of the known matches is hidden. In every round their records choose among their candidates, or nobody, and a
conditional logit finds the powers of the parts of what ties say (`PARTS`). After one-to-one normalisation, the hidden
pairs are a sample of all that are right; held against all pairs of other records, they say how probable a pair with
such odds is (`teaching`). In the last rounds all known matches are known, and nothing is learnt any more.

What ties say is G of `statements` at a high ρ, for the powers make up for what is too much. Without known matches there
is nothing to begin with, and nothing is found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tielink.data.dataset import Dataset
from tielink.data.linkage import Linkage
from tielink.large.alone_statements import news, taught
from tielink.large.candidates import put_records
from tielink.large.learning import prior_state
from tielink.large.rounds import LAST_STEPS, MOST_SHARING, STEPS, Figures, Rounds
from tielink.large.statements import LIVE, best_candidates, gains, lone, message_step, reached, weighty
from tielink.large.tables import Tables, number, total
from tielink.large.teaching import conditional_logit, right_among
from tielink.model.problem import Problem, SharedTiesProblem
from tielink.project import Run
from tielink.sampler.reached import BUSIEST

__all__ = ["PARTS", "TiesAlone"]

HIDDEN = 0.25
"""The share of known matches that is hidden."""
LEARN, SETTLE = 12, 2
"""Rounds that learn, and rounds that know all known matches."""
LOOKED_AT, KEPT = 24, 10
"""Candidates of each record: by the ties that they share, then by their score."""
SURE = 0.2
"""Pairs of at least this probability lead to candidates."""
PARTS = ("news", "common", "rest", "alike")
"""Evidence of ties that both files have, supporters who are tied to each other being one piece of news; the same, each
supporter counted; what is left of G; and how alike the numbers of ties are."""


class TiesAlone(Rounds):
    """Rounds that link by ties and known matches."""

    def __init__(self, dataset: Dataset, problem: Problem, run: Run, tables: Tables) -> None:
        assert isinstance(problem.network, SharedTiesProblem)
        self.problem, self.run, self.tables = problem, run, tables
        self.state, self.figures, self.given = prior_state(problem), [], problem.network.power
        self.kinds = ["learn"] * LEARN + ["settle"] * SETTLE
        sharing = problem.network.sharing
        self.rho = sharing if isinstance(sharing, float) else MOST_SHARING
        known, labels = dataset.anchors.pair_numbers, dataset.anchors.labels.copy()
        order = np.random.default_rng([run.seed, 3]).permutation(len(known))
        hidden = known[np.sort(order[: round(HIDDEN * len(known))])]
        labels[hidden[:, 1]] = labels.max(initial=0) + 1 + np.arange(len(hidden))
        put_records(tables, replace(dataset, anchors=Linkage(dataset.records, labels)), problem)
        i, j = (hidden - np.array([0, problem.sizes[0]])).T
        tables.put("hidden", {"i": i, "j": j})
        tables.write("everything_known", "SELECT i, j FROM known UNION ALL SELECT i, j FROM hidden")
        for name, pairs in (("pairs", "known"), ("all_pairs", "everything_known")):
            tables.write(
                name,
                "SELECT k.i, k.j, LEAST(a.theta, b.theta) AS c, TRUE AS known, 0e0 AS la, 0e0 AS lb, 1e0 AS q, "
                f"0e0 AS score FROM {pairs} k JOIN records_a a ON a.i = k.i JOIN records_b b ON b.j = k.j",
            )

    def advance(self, k: int) -> Figures:
        """Do round k and return its figures."""
        tables, learns = self.tables, self.kinds[k] == "learn"
        known = "pairs" if learns else "all_pairs"
        columns = "s.i, s.j, s.c, s.known, s.la, s.lb, s.q, s.score"
        state = f"SELECT {columns} FROM {known} s"
        if k:
            state += f" UNION ALL SELECT {columns} FROM state_{k - 1} s WHERE NOT s.known AND {self._free('s', learns)}"
        tables.write(f"before_{k}", state)
        self._parts(k, learns)
        if not tables.has(f"learnt_{k}"):
            earlier = None if learns else tables.fetch(f"SELECT * FROM learnt_{k - 1}")
            tables.put(f"learnt_{k}", earlier or {"power": self._powers(k)})
        *powers, level = tables.fetch(f"SELECT power FROM learnt_{k}")["power"]
        score = " + ".join(f"{number(power)} * {part}" for power, part in zip(powers, PARTS, strict=True))
        scored = f"(SELECT i, j, {score} + {number(level)} AS score FROM parts_{k})"
        tables.write(f"best_{k}", best_candidates(scored, KEPT, LIVE, "apart"))
        self._normalise(k)
        if not tables.has(f"map_{k}"):
            earlier = None if learns else tables.fetch(f"SELECT * FROM map_{k - 1}")
            tables.put(f"map_{k}", earlier or self._map(k))
        tables.write(f"state_{k}", taught(f"messages_{k}", f"parts_{k}", f"map_{k}", known))
        sums = tables.one(
            f"SELECT {total('CASE WHEN s.known THEN 0 ELSE s.q END')} AS matches, "
            f"{total('ABS(s.q - COALESCE(b.q, 0e0))')} AS change "
            f"FROM state_{k} s LEFT JOIN before_{k} b ON b.i = s.i AND b.j = s.j"
        )
        figures = Figures(self.rho, float(powers[0] + powers[1]), 0.0, sums["matches"], 0.0, sums["change"])
        tables.put(f"figures_{k}", {name: [value] for name, value in vars(figures).items()})
        return figures

    def _free(self, table: str, learns: bool) -> str:
        """Write the condition that neither record of a pair is known to be matched in this round."""
        if learns:
            return "TRUE"
        return f"{table}.i NOT IN (SELECT i FROM hidden) AND {table}.j NOT IN (SELECT j FROM hidden)"

    def _parts(self, k: int, learns: bool) -> None:
        """Write table `parts`: the candidates of this round with all that ties say of them."""
        tables, weights, listed = self.tables, f"weights_{k}", f"listed_{k}"
        tables.write(weights, weighty(f"before_{k}"))
        tables.write(f"led_{k}", reached(weights, LOOKED_AT, sure=SURE, busiest=BUSIEST))
        tables.write(
            listed,
            "SELECT l.i, l.j, LEAST(a.theta, b.theta) AS c, COALESCE(s.la, 0e0) AS la, COALESCE(s.lb, 0e0) AS lb, "
            f"-POWER(LN((1e0 + a.degree) / (1e0 + b.degree)), 2) AS alike FROM led_{k} l "
            f"JOIN records_a a ON a.i = l.i JOIN records_b b ON b.j = l.j "
            f"LEFT JOIN before_{k} s ON s.i = l.i AND s.j = l.j WHERE {self._free('l', learns)}",
        )
        for side in "ab":
            tables.write(f"lone_{side}_{k}", lone(side, weights, self.rho))
            tables.write(f"news_{side}_{k}", news(side, weights, listed, rho=self.rho))
        sum_c = tables.one(f"SELECT {total('q * c')} AS s FROM {weights}")["s"]
        names = listed, weights, f"news_a_{k}", f"lone_a_{k}", f"lone_b_{k}"
        tables.write(
            f"parts_{k}",
            f"SELECT g.*, a.common, g.g - a.common AS rest, 0.5e0 * (a.news + b.news) AS news "
            f"FROM ({gains(*names, rho=self.rho, sum_c=sum_c)}) g "
            f"JOIN news_a_{k} a ON a.i = g.i AND a.j = g.j JOIN news_b_{k} b ON b.i = g.i AND b.j = g.j",
        )

    def _powers(self, k: int) -> NDArray[np.float64]:
        """Return the powers of the parts, and the level, at which hidden records choose best."""
        rows = self.tables.fetch(
            f"SELECT t.i, t.j, {', '.join(PARTS)}, a.i IS NOT NULL AS by_i, b.j IS NOT NULL AS by_j, "
            f"COALESCE(a.j = t.j, FALSE) AS yes FROM parts_{k} t LEFT JOIN hidden a ON a.i = t.i "
            "LEFT JOIN hidden b ON b.j = t.j WHERE a.i IS NOT NULL OR b.j IS NOT NULL ORDER BY 1, 2"
        )
        by_i, by_j = rows["by_i"].astype(bool), rows["by_j"].astype(bool)
        twice = np.concatenate([np.flatnonzero(by_i), np.flatnonzero(by_j)])
        chooser = np.concatenate([rows["i"][by_i], self.problem.sizes[0] + rows["j"][by_j]])
        parts = np.column_stack([rows[part] for part in PARTS])[twice]
        given = None if self.given is None else [0.0, self.given, self.given, 0.0]
        return conditional_logit(parts, rows["yes"].astype(bool)[twice], chooser, given)

    def _normalise(self, k: int) -> None:
        """Write table `messages`: so that nobody has two partners."""
        tables = self.tables
        if tables.has(f"messages_{k}"):
            return
        tables.write(
            f"step_{k}_0",
            f"SELECT b.i, b.j, b.score, p.la, p.lb FROM best_{k} b JOIN parts_{k} p ON p.i = b.i AND p.j = b.j",
        )
        steps = LAST_STEPS if k == len(self.kinds) - 1 else STEPS
        for step in range(steps):
            now, then = f"step_{k}_{step}", f"messages_{k}" if step == steps - 1 else f"step_{k}_{step + 1}"
            tables.write(then, message_step(now))
            tables.drop(now)

    def _map(self, k: int) -> dict[str, Any]:
        """Return slope and level of the log odds at which hidden pairs look like a sample of all that are right."""
        odds = "m.score + m.la + m.lb"
        of_hidden = f"FROM messages_{k} m LEFT JOIN hidden a ON a.i = m.i LEFT JOIN hidden b ON b.j = m.j WHERE"
        right = self.tables.fetch(f"SELECT m.i, {odds} AS odds {of_hidden} a.j = m.j ORDER BY 1")
        others = self.tables.fetch(
            f"SELECT ROUND(8 * ({odds})) / 8 AS odds, COUNT(*) AS n {of_hidden} a.i IS NULL AND b.j IS NULL "
            "GROUP BY 1 ORDER BY 1"
        )
        slope, level = right_among(right["odds"], others["odds"], others["n"])
        return {"slope": [slope], "level": [level]}

    def clean(self, k: int) -> None:
        """Remove what no later round reads."""
        names = (
            "before",
            "weights",
            "led",
            "listed",
            "lone_a",
            "lone_b",
            "news_a",
            "news_b",
            "parts",
            "best",
            "messages",
        )
        self.tables.drop(*(f"{name}_{k}" for name in names))
        self.tables.drop(*(f"{name}_{k - 1}" for name in ("state", "learnt", "map")))
