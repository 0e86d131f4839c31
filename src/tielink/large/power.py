"""The power of ties, calibrated on the variational state itself by the tests of `network.power`."""

from __future__ import annotations

import numpy as np

from tielink.large.statements import adjacent, gains, shared
from tielink.large.tables import Tables
from tielink.network.power import Choice, calibrated_power

__all__ = ["estimate_power"]

RECORDS = 600
"""Records that are asked in each round."""
RIVALS = 300


def estimate_power(
    rng: np.random.Generator,
    tables: Tables,
    names: dict[str, str],
    sizes: tuple[int, ...],
    *,
    rho: float,
    sum_c: float,
) -> float:
    """Return the largest power that is calibrated.

    `names` are those of the tables: the state, weights, and sums per record of either file.
    """
    tied = np.sort(tables.fetch("SELECT i FROM records_a WHERE theta > 0 AND degree > 0")["i"])
    asked = np.sort(rng.choice(tied, min(RECORDS, len(tied)), replace=False))
    tables.drop("asked", "asked_pairs", "asked_found")
    tables.put("asked", {"i": asked})
    partner = _partners(rng, tables, names["state"], asked)
    others = _others(rng, asked, partner, sizes[1])
    tables.put("asked_pairs", {"i": others[:, 0], "j": others[:, 1]})
    met = adjacent(names["weights"], "JOIN asked k ON k.i = a.i")
    tables.write("asked_found", shared(f"({met})", names["weights"], rho))
    either = "(SELECT i, j FROM asked_found UNION SELECT i, j FROM asked_pairs)"
    pairs = (
        f"(SELECT k.i, k.j, LEAST(a.theta, b.theta) AS c FROM {either} k JOIN records_a a ON a.i = k.i "
        "JOIN records_b b ON b.j = k.j WHERE b.theta > 0)"
    )
    query = gains(pairs, names["weights"], "asked_found", names["lone_a"], names["lone_b"], rho=rho, sum_c=sum_c)
    found = tables.fetch(
        f"SELECT g.i, g.j, g.g, f.i IS NOT NULL AS led FROM ({query}) g LEFT JOIN asked_found f "
        "ON f.i = g.i AND f.j = g.j ORDER BY 1, 2"
    )
    tables.drop("asked", "asked_pairs", "asked_found")
    return calibrated_power(_choices(asked, partner, found, sizes[1]))


def _partners(rng: np.random.Generator, tables: Tables, state: str, asked: np.ndarray) -> np.ndarray:
    """Draw the partner of every record that is asked, −1 for nobody."""
    rows = tables.fetch(f"SELECT s.i, s.j, s.q FROM {state} s JOIN asked k ON k.i = s.i WHERE s.q > 0 ORDER BY 1, 2")
    partner = np.full(len(asked), -1)
    left = rng.random(len(asked))
    place = np.searchsorted(asked, rows["i"])
    for at, j, q in zip(place, rows["j"], rows["q"], strict=True):
        if partner[at] < 0 and left[at] < q:
            partner[at] = j
        left[at] -= q
    return partner


def _others(rng: np.random.Generator, asked: np.ndarray, partner: np.ndarray, size: int) -> np.ndarray:
    """Return each record with its partner and some records at random."""
    count = min(RIVALS, size)
    rows = [np.column_stack([asked, partner])[partner >= 0]]
    for record in asked:
        some = np.arange(size) if count == size else rng.choice(size, count, replace=False)
        rows.append(np.column_stack([np.full(count, record), some]))
    return np.concatenate(rows)


def _choices(asked: np.ndarray, partner: np.ndarray, found: dict[str, np.ndarray], size: int) -> list[Choice]:
    choices = []
    bounds = np.searchsorted(found["i"], np.append(asked, np.iinfo(np.int64).max))
    for place in range(len(asked)):
        here = slice(bounds[place], bounds[place + 1])
        j, gain, led = found["j"][here], found["g"][here], found["led"][here]
        own = j == partner[place]
        wrong = ~own
        if not wrong.any() or (partner[place] >= 0 and not own.any()):
            continue
        rest = (wrong & ~led).sum()
        weight = np.where(led, 1.0, (size - (led & wrong).sum() - own.sum()) / max(rest, 1))
        right = float(gain[own][0]) if own.any() else -np.inf
        choices.append(Choice(right, gain[wrong], weight[wrong]))
    return choices
