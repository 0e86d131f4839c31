"""The relational steps, as SQL in DuckDB's dialect.

Records of the first file are i, of the second j. `ties_a` (i, n, o, theta) and `ties_b` (j, n, o, theta) hold every tie
in both directions, with o = 1/(e^λ − 1) and θ of i or j; `records_a`, `records_b` θ, the code of every field, and one
of each tree of fields. A state (i, j, e, c, known, …, q) holds candidate pairs: profile evidence e, c = min(θ_i, θ_j),
probability q. With K = e^{ρcc'} − 1 and weights q of all others, S = Σ q·c, the expected evidence of ties for a pair is

    G_ij = ρc(S − S_i − S_j) + A_i + B_j + Σ_{i'∈N(i), j'∈N(j)} q_i'j'·{log[(1 + o₁o₂K)/((1 − o₁K)(1 − o₂K))] + ρcc'},
    A_i  = Σ_{i'∈N(i)} Σ_j' q_i'j'·{log(1 − o₁K) − ρcc'},   B_j likewise.

A_i depends on the pair through c alone, smoothly in u = c/θ_i: it is summed at a few `NODES` u and interpolated.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tielink.large.tables import number, total

__all__ = [
    "KEPT",
    "LIVE",
    "adjacent",
    "best_candidates",
    "blocked",
    "contested",
    "evidence",
    "gains",
    "lone",
    "message_step",
    "open_pairs",
    "probabilities",
    "reached",
    "scored",
    "shared",
    "weighty",
]

NODES = (0.2, 0.45, 0.7, 0.88, 1.0)
"""Where A is summed, besides 0: up to ρ = .9 interpolation is off by .014 a tie at most, up to .7 by .0006."""
TINY = number(1e-12)
LEAST_WEIGHT = 0.01
"""Pairs of a smaller probability say nothing about their neighbours."""
HUB = 250_000
"""Pairs whose two records have more ties than this, multiplied, are left out: what they say is next to nothing."""
DAMPING = 0.5
"""How much of the way to what they should be messages go at a step."""
KEPT = 1e-4
"""Pairs of a smaller probability are not told."""
LIVE = math.log(KEPT)
"""Pairs of smaller log odds are nobody's rivals: with rivals they are less probable still."""


def blocked(fields: int, pairs_of_fields: Iterable[tuple[int, int]]) -> str:
    """Return pairs that share a rare or near value, or two values at once; `near_F` and `both_F_G` say which."""
    queries = [
        f"SELECT a.i, b.j FROM block_{f} k JOIN records_a a ON a.f{f} = k.x JOIN records_b b ON b.f{f} = k.y"
        for f in range(fields)
    ]
    queries += [
        f"SELECT a.i, b.j FROM both_{f}_{g} k JOIN records_a a ON a.f{f} = k.x AND a.f{g} = k.y "
        f"JOIN records_b b ON b.f{f} = k.x AND b.f{g} = k.y"
        for f, g in pairs_of_fields
    ]
    return f"SELECT DISTINCT i, j FROM ({' UNION ALL '.join(queries)}) k"


def scored(pairs: str, far: Sequence[float]) -> str:
    """Return pairs with a score: the evidence of near values, and one number for all that are not."""
    terms = [
        f"CASE WHEN a.f{f} < 0 OR b.f{f} < 0 THEN 0e0 ELSE COALESCE(n{f}.gain, 0e0) + {number(value)} END"
        for f, value in enumerate(far)
    ]
    joins = [f"LEFT JOIN near_{f} n{f} ON n{f}.x = a.f{f} AND n{f}.y = b.f{f}" for f in range(len(far))]
    return (
        f"SELECT k.i, k.j, {' + '.join(terms) or '0e0'} AS score FROM {pairs} k "
        f"JOIN records_a a ON a.i = k.i JOIN records_b b ON b.j = k.j {' '.join(joins)} WHERE a.free AND b.free"
    )


def best_candidates(scores: str, most: int, least: float, left_out: str) -> str:
    """Return the pairs of highest score of each record of either file; those of `left_out` never."""
    return f"""
        SELECT i, j, score FROM (
            SELECT s.i, s.j, s.score,
                ROW_NUMBER() OVER (PARTITION BY s.i ORDER BY s.score DESC, s.j) AS rank_i,
                ROW_NUMBER() OVER (PARTITION BY s.j ORDER BY s.score DESC, s.i) AS rank_j
            FROM {scores} s LEFT JOIN {left_out} x ON x.i = s.i AND x.j = s.j
            WHERE s.score >= {number(least)} AND x.i IS NULL
        ) r WHERE rank_i <= {most} OR rank_j <= {most}"""


def evidence(pairs: str, named: str, columns: Iterable[str]) -> str:
    """Return pairs with profile evidence e and c; tables `NAMED_COLUMN` hold that of pairs of codes."""
    terms = " + ".join(f"COALESCE(e{column}.e, 0e0)" for column in columns) or "0e0"
    joins = [
        f"LEFT JOIN {named}_{column} e{column} ON e{column}.x = a.{column} AND e{column}.y = b.{column}"
        for column in columns
    ]
    return (
        f"SELECT k.i, k.j, {terms} AS e, LEAST(a.theta, b.theta) AS c FROM {pairs} k "
        f"JOIN records_a a ON a.i = k.i JOIN records_b b ON b.j = k.j {' '.join(joins)}"
    )


def weighty(state: str) -> str:
    """Return the pairs that say something about their neighbours."""
    return (
        f"SELECT s.i, s.j, s.q, s.c FROM {state} s JOIN records_a a ON a.i = s.i JOIN records_b b ON b.j = s.j "
        f"WHERE s.q >= {number(LEAST_WEIGHT)} AND s.c > 0 AND a.degree * b.degree <= {HUB}"
    )


def lone(side: str, weights: str, rho: float) -> str:
    """Return for each record of file a or b Σ q·c' (t) and Σ q·log(1 − oK) (f1, f2, … at every node) over ties."""
    key = {"a": "i", "b": "j"}[side]
    at_nodes = [
        total(f"w.q * LN(GREATEST(1 - t.o * (EXP({number(rho * node)} * t.theta * w.c) - 1), {TINY}))") + f" AS f{k}"
        for k, node in enumerate(NODES, 1)
    ]
    return (
        f"SELECT t.{key}, {total('w.q * w.c')} AS t, {', '.join(at_nodes)} "
        f"FROM ties_{side} t JOIN {weights} w ON w.{key} = t.n GROUP BY t.{key}"
    )


def adjacent(weights: str, pairs: str) -> str:
    """Return which pairs (i, j) have ties in both files to which weighty pairs (n, m): the heavy join."""
    return f"""
        SELECT a.i, b.j, w.i AS n, w.j AS m, w.c AS w, a.o AS o, b.o AS p, LEAST(a.theta, b.theta) AS c
        FROM {weights} w JOIN ties_a a ON a.n = w.i JOIN ties_b b ON b.n = w.j {pairs}"""


def shared(found: str, weights: str, rho: float) -> str:
    """Return what ties that both files have say for pairs.

    h is the last sum of G; r the expected common part of the shared ties, in units of ρ.
    """
    k, kappa = f"(EXP({number(rho)} * c * w) - 1)", f"{number(rho)} * c * w"
    both = f"LN(1 + o * p * {k})"
    lost = f"LN(GREATEST(1 - o * {k}, {TINY})) + LN(GREATEST(1 - p * {k}, {TINY}))"
    common = f"q * c * w * (1 + o) * (1 + p) / (1 + o * p * {k})"
    return (
        f"SELECT i, j, {total(f'q * ({both} - ({lost}) + {kappa})')} AS h, {total(common)} AS r "
        f"FROM (SELECT x.*, v.q FROM {found} x JOIN {weights} v ON v.i = x.n AND v.j = x.m) y GROUP BY i, j"
    )


def gains(pairs: str, weights: str, found: str, lone_a: str, lone_b: str, *, rho: float, sum_c: float) -> str:
    """Return pairs (i, j, c, …) with G as g, and r."""
    own = {
        side: f"(SELECT {key}, {total('q * c')} AS s FROM {weights} GROUP BY {key})"
        for side, key in (("a", "i"), ("b", "j"))
    }
    parts = []
    for side in "ab":
        u = f"(k.c / r{side}.theta)"
        parts += [f"COALESCE(l{side}.f{n}, 0e0) * {_basis(u, n)}" for n in range(1, len(NODES) + 1)]
    rest = f"{number(sum_c)} - COALESCE(sa.s, 0e0) - COALESCE(sb.s, 0e0) - COALESCE(la.t, 0e0) - COALESCE(lb.t, 0e0)"
    total_gain = f"{number(rho)} * k.c * ({rest}) + {' + '.join(parts)} + COALESCE(h.h, 0e0)"
    return f"""
        SELECT k.*, CASE WHEN k.c > 0 THEN {total_gain} ELSE 0e0 END AS g, COALESCE(h.r, 0e0) AS r
        FROM {pairs} k JOIN records_a ra ON ra.i = k.i JOIN records_b rb ON rb.j = k.j
        LEFT JOIN {found} h ON h.i = k.i AND h.j = k.j
        LEFT JOIN {lone_a} la ON la.i = k.i LEFT JOIN {lone_b} lb ON lb.j = k.j
        LEFT JOIN {own["a"]} sa ON sa.i = k.i LEFT JOIN {own["b"]} sb ON sb.j = k.j"""


def _basis(u: str, place: int) -> str:
    """Write the polynomial in u that is 1 at one node, and 0 at 0 and all others."""
    node = NODES[place - 1]
    others = [other for other in (0.0, *NODES) if other != node]
    scale = 1.0
    for other in others:
        scale /= node - other
    return "(" + " * ".join([number(scale), *(f"({u} - {number(other)})" for other in others)]) + ")"


def reached(weights: str, most: int, *, sure: float, busiest: int) -> str:
    """Return pairs that sure pairs lead to, of each record those that share most; known non-matches never."""
    walk = f"""
        SELECT a.i, b.j, {total("LN(1 + a.o * b.o * (EXP(0.6e0 * LEAST(a.theta, b.theta) * w.c) - 1))")} AS score
        FROM {weights} w JOIN ties_a a ON a.n = w.i JOIN ties_b b ON b.n = w.j
        JOIN records_a ra ON ra.i = w.i JOIN records_b rb ON rb.j = w.j
        JOIN records_a free_a ON free_a.i = a.i AND free_a.free JOIN records_b free_b ON free_b.j = b.j AND free_b.free
        WHERE w.q >= {number(sure)} AND ra.degree <= {busiest} AND rb.degree <= {busiest} GROUP BY a.i, b.j"""
    return best_candidates(f"({walk})", most, 0.0, "apart")


def contested(pairs: str, score: str) -> str:
    """Return live pairs whose records have others: only these need messages."""
    return f"""
        SELECT i, j, score, la, lb FROM (
            SELECT *, COUNT(*) OVER (PARTITION BY i) AS of_i, COUNT(*) OVER (PARTITION BY j) AS of_j
            FROM (SELECT i, j, {score} AS score, la, lb FROM {pairs} k WHERE NOT known) s
            WHERE score > {number(LIVE)}
        ) r WHERE of_i > 1 OR of_j > 1"""


def open_pairs(live: str, first: str) -> str:
    """Return the pairs of `live` none of whose records has a sure partner.

    Messages only fall by what others say of each other. So `first`, one whole step from messages of 1, bounds them from
    below: a pair that is sure by it, its rivals left in full, is sure, and they are not worth telling.
    """
    sure = f"(SELECT i, j FROM {first} WHERE score + la + lb > {number(-LIVE)})"
    return f"""
        SELECT s.i, s.j, s.score, s.la, s.lb FROM {live} s
        LEFT JOIN {sure} a ON a.i = s.i LEFT JOIN {sure} b ON b.j = s.j WHERE a.i IS NULL AND b.j IS NULL"""


def _message_totals(state: str, key: str) -> str:
    """Return for every record of one file the log weights of its best pair (x1) and of the second or nobody (x2).

    `rest` sums the weights of all pairs but the best, in units of e^{x2}.
    """
    x, other = ("score + lb", "j") if key == "i" else ("score + la", "i")
    window = f"PARTITION BY {key} ORDER BY {x} DESC, {other} ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"
    ranked = f"""
        SELECT {key}, {other} AS other, {x} AS x, FIRST_VALUE({other}) OVER ({window}) AS best,
            FIRST_VALUE({x}) OVER ({window}) AS x1,
            GREATEST(COALESCE(NTH_VALUE({x}, 2) OVER ({window}), 0e0), 0e0) AS x2 FROM {state}"""
    rest = total("CASE WHEN other = best THEN 0e0 ELSE EXP(x - x2) END")
    return f"SELECT {key}, best, x1, x2, {rest} AS rest FROM ({ranked}) r GROUP BY {key}, best, x1, x2"


def message_step(state: str, step: float = DAMPING) -> str:
    """Return the state after one damped step of sum-product (1 is a whole one), and how far messages `moved`.

    With weights w = e^{score}, messages α = e^{la} of the rule "i has one partner at most" and β = e^{lb} of that of j,

        α_ij ← 1/(1 + Σ_{j' ≠ j} w_ij'·β_ij'),     β_ij ← 1/(1 + Σ_{i' ≠ i} w_i'j·α_i'j).
    """

    def others(table: str, is_best: str, x: str) -> str:
        """The log of one plus the weights of all other pairs of the record."""
        but_best = f"EXP(-{table}.x2) + {table}.rest"
        but_both = f"GREATEST({but_best} - EXP({x} - {table}.x2), EXP(-{table}.x2))"
        return (
            f"CASE WHEN {is_best} THEN {table}.x2 + LN({but_best}) "
            f"ELSE {table}.x1 + LN(1 + EXP({table}.x2 - {table}.x1) * {but_both}) END"
        )

    new_a = others("a", "a.best = s.j", "s.score + s.lb")
    new_b = others("b", "b.best = s.i", "s.score + s.la")
    keep, take = number(1 - step), number(step)
    return f"""
        SELECT i, j, score, {keep} * la - {take} * new_a AS la, {keep} * lb - {take} * new_b AS lb,
            GREATEST(ABS(la + new_a), ABS(lb + new_b)) AS moved
        FROM (
            SELECT s.i, s.j, s.score, s.la, s.lb, {new_a} AS new_a, {new_b} AS new_b
            FROM {state} s JOIN ({_message_totals(state, "i")}) a ON a.i = s.i
            JOIN ({_message_totals(state, "j")}) b ON b.j = s.j
        ) r"""


def probabilities(pairs: str, messages: str, first: str, score: str, kept: str = "TRUE") -> str:
    """Return the next state: q = wαβ/(1 + wαβ), 1 for known matches and 0 for pairs that are not live.

    Messages are those of one table, or else of the first step, or else 1. Only pairs for which `kept` holds, known
    matches and live pairs stay candidates.
    """
    return f"""
        SELECT i, j, e, c, known, g, before, score, la, lb,
            CASE WHEN known THEN 1e0 WHEN score > {number(LIVE)} THEN 1 / (1 + EXP(-(score + la + lb)))
            ELSE 0e0 END AS q
        FROM (
            SELECT k.i, k.j, k.e, k.c, k.known, k.g, k.q AS before, {score} AS score,
                COALESCE(m.la, f.la, 0e0) AS la, COALESCE(m.lb, f.lb, 0e0) AS lb
            FROM {pairs} k LEFT JOIN {messages} m ON m.i = k.i AND m.j = k.j
            LEFT JOIN {first} f ON f.i = k.i AND f.j = k.j
        ) s WHERE known OR score > {number(LIVE)} OR {kept}"""
