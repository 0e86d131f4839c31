"""The relational steps that only ties alone need; the others, and what their letters mean, are in `statements`."""

from __future__ import annotations

from tielink.large.statements import TINY
from tielink.large.tables import number, total

__all__ = ["news", "taught"]

DOUBT = number(1e-4)
"""There is so much of it about every pair."""


def news(side: str, weights: str, among: str, *, rho: float) -> str:
    """Return what ties that both files have say for pairs: h, its part log(1 + o₁o₂K) as `common`, and `news`.

    Every supporter, a linked neighbour in file a or b, counts for common; for news divided by the number of supporters
    that are tied to it in its file, itself included: those who know each other tell the same story.
    """
    key, k = {"a": "i", "b": "j"}[side], f"(EXP({number(rho)} * LEAST(a.theta, b.theta) * w.c) - 1)"
    both, kappa = f"LN(1 + a.o * b.o * {k})", f"{number(rho)} * LEAST(a.theta, b.theta) * w.c"
    lost = f"LN(GREATEST(1 - a.o * {k}, {TINY})) + LN(GREATEST(1 - b.o * {k}, {TINY}))"
    supporters = (
        f"SELECT a.i, b.j, w.{key} AS n, {total('w.q')} AS q, {total(f'w.q * {both}')} AS common, "
        f"{total(f'w.q * ({both} - ({lost}) + {kappa})')} AS h "
        f"FROM {weights} w JOIN ties_a a ON a.n = w.i JOIN ties_b b ON b.n = w.j "
        f"JOIN {among} k ON k.i = a.i AND k.j = b.j GROUP BY a.i, b.j, w.{key}"
    )
    return f"""
        WITH s AS ({supporters}),
        crowd AS (
            SELECT s.i, s.j, s.n, {total("o.q")} AS q FROM s JOIN s o ON o.i = s.i AND o.j = s.j
            JOIN ties_{side} t ON t.{key} = s.n AND t.n = o.n GROUP BY s.i, s.j, s.n
        )
        SELECT s.i, s.j, {total("s.h")} AS h, 0e0 AS r, {total("s.common")} AS common,
            {total("s.common / (1 + COALESCE(c.q, 0e0))")} AS news
        FROM s LEFT JOIN crowd c ON c.i = s.i AND c.j = s.j AND c.n = s.n GROUP BY s.i, s.j"""


def taught(messages: str, pairs: str, by: str, known: str) -> str:
    """Return the next state where probabilities are a logistic map of log odds, by slope and level of table `by`.

    With P_i = Σ_j q_ij, at most 1, scores are those at which linkages of probability ∝ e^{sum of scores} have
    probabilities q (by Bethe's approximation, as in sum-product): e^{score} = q(1 − q) / ((1 − P_i)(1 − P_j)).
    """

    def with_sums(table: str) -> str:
        sums = (f"(SELECT {key}, {total('q')} AS p FROM {table} GROUP BY {key})" for key in "ij")
        return f"{table} s JOIN {next(sums)} a ON a.i = s.i JOIN {next(sums)} b ON b.j = s.j"

    apart = " - ".join(f"LN(GREATEST(1 - {side}.p, {DOUBT}))" for side in "ab")
    return f"""
        WITH m AS (
            SELECT m.i, m.j, p.c, m.la, m.lb, 1 / (1 + EXP(-(b.slope * (m.score + m.la + m.lb) + b.level))) AS q
            FROM {messages} m JOIN {pairs} p ON p.i = m.i AND p.j = m.j CROSS JOIN {by} b
        ),
        n AS (SELECT s.i, s.j, s.c, s.la, s.lb, (1 - {DOUBT}) * s.q / GREATEST(1, a.p, b.p) AS q FROM {with_sums("m")})
        SELECT s.i, s.j, s.c, FALSE AS known, s.la, s.lb, s.q,
            LN(GREATEST(s.q, {TINY})) + LN(1 - s.q) - {apart} AS score FROM {with_sums("n")}
        UNION ALL SELECT i, j, c, known, la, lb, q, score FROM {known}"""
