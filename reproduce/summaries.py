"""From fits to tables: means over ego pairs with intervals, calibration of pooled probabilities."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from reproduce.folders import COPY
from reproduce.ledger import Ledger, Row

__all__ = ["ceiling_table", "criteria_table", "ego_table", "identity_table", "more_table"]

WAYS = ("counted", "left_out", "ego_out")
RESAMPLES = 1000


def rates(counts: list[int]) -> tuple[float, float, float]:
    """Return recall, precision and F₁ of [correct, links, matches]; no links at all is precision 0, as in the paper."""
    correct, links, matches = counts
    recall = correct / matches if matches else np.nan
    precision = correct / links if links else 0.0
    f1 = 2 * correct / (links + matches) if links + matches else np.nan
    return recall, precision, f1


def ego_table(ledger: Ledger, twice: bool = False) -> pl.DataFrame:
    """Return mean scores over ego pairs by method and share of anchors, with 95 % intervals over pairs.

    With `twice` the pair that the paper has twice counts twice, as in its curves; otherwise once.
    """
    groups: dict[tuple[str, float], list[Row]] = defaultdict(list)
    for row in ledger.part("egos"):
        groups[row["method"], row["share"]].append(row)
    return pl.DataFrame(
        [
            {"method": method, "share": share} | _summary(rows, twice)
            for (method, share), rows in sorted(groups.items(), key=lambda item: (item[0][0], item[0][1]))
        ]
    )


def _summary(rows: list[Row], twice: bool) -> dict[str, Any]:
    """Average over anchor draws within a pair, then over pairs; intervals resample pairs."""
    by_pair: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        by_pair[row["folder"]].append(row)
    pairs = list(by_pair) + ([name for name in by_pair if name.endswith("31225")] if twice else [])
    found: dict[str, Any] = {"pairs": len(pairs), "fits": len(rows)}
    for way in WAYS:
        scores = np.array([np.nanmean([rates(row[way]) for row in by_pair[pair]], axis=0) for pair in pairs])
        for place, name in enumerate(("recall", "precision", "f1")):
            found[f"{name} {way}"], found[f"{name} {way} low"], found[f"{name} {way} high"] = _mean(scores[:, place])
    correct = sum(row["ego_out"][0] for row in rows)
    found |= {"correct ego_out": correct, "links ego_out": sum(row["ego_out"][1] for row in rows)}
    found["matches ego_out"] = sum(row["ego_out"][2] for row in rows)
    for name in ("ap", "hits"):
        values = np.array([_nanmean([row[name] for row in by_pair[pair]]) for pair in pairs])
        found[name], found[f"{name} low"], found[f"{name} high"] = _mean(values)
    return found | _calibration(rows) | _convergence(rows)


def _nanmean(values: Iterable[float | None]) -> float:
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else np.nan


def _mean(values: NDArray[np.float64]) -> tuple[float, float, float]:
    """Return a mean with its bootstrap interval; the same numbers every time."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.nan, np.nan, np.nan
    draws = np.random.default_rng(5).integers(0, len(known), (RESAMPLES, len(known)))
    low, high = np.quantile(known[draws].mean(axis=1), [0.025, 0.975])
    return float(known.mean()), float(low), float(high)


def _calibration(rows: list[Row]) -> dict[str, Any]:
    """Return the pooled calibration error, and expected and observed true links, of pairs with p ≥ .05."""
    bins = [np.array(row["calibration"]) for row in rows if "calibration" in row]
    if not bins:
        return {"ece": None, "expected": None, "observed": None}
    counts = np.sum([b[0] for b in bins], axis=0)
    said, true = (np.sum([b[0] * b[k] for b in bins], axis=0) for k in (1, 2))
    ece = float(np.abs(said - true).sum() / counts.sum()) if counts.sum() else None
    return {"ece": ece, "expected": float(said.sum()), "observed": round(float(true.sum()))}


def _convergence(rows: list[Row]) -> dict[str, Any]:
    said = [row["converged"] for row in rows if "converged" in row]
    return {"converged": float(np.mean(said)) if said else None, "cpu seconds": sum(row["seconds"] for row in rows)}


def ceiling_table(ledger: Ledger) -> pl.DataFrame:
    """Return how often a hidden match is found when all others are known."""
    groups: dict[str, list[Row]] = defaultdict(list)
    for row in ledger.part("ceiling"):
        if COPY not in row["folder"]:
            groups[row["method"]].append(row)
    return pl.DataFrame(
        [
            {
                "method": method,
                "hidden matches": len(rows),
                "best guess right": _nanmean([row["hits"] for row in rows]),
                "average precision": _nanmean([row["ap"] for row in rows]),
                "linked at p > ½": sum(row["ego_out"][1] for row in rows),
                "of them right": sum(row["ego_out"][0] for row in rows),
            }
            | _calibration(rows)
            for method, rows in sorted(groups.items())
        ]
    )


def criteria_table(ledger: Ledger) -> pl.DataFrame:
    """Return WAIC and DIC by seed, K and share of anchors."""
    rows = [
        {
            "seed": row["folder"].removeprefix("uir/"),
            "K": int(row["method"].rpartition("=")[2]),
            "share": row["share"],
            "WAIC": row["waic"],
            "DIC": row["dic"],
            "converged": row["converged"],
        }
        for row in ledger.part("criteria")
    ]
    return pl.DataFrame(rows).sort("seed", "share", "K") if rows else pl.DataFrame()


def identity_table(ledger: Ledger) -> pl.DataFrame:
    """Return every model and baseline on YouTube and Twitter."""
    rows = []
    for row in ledger.part("identity"):
        recall, precision, f1 = rates(row["counted"])
        rows.append(
            {"method": row["method"], "uses": row["uses"], "recall": recall, "precision": precision, "f1": f1}
            | {"f1 shared MPMMS": rates(row["mpmms"])[2] if "mpmms" in row else None, "ap": row["ap"]}
            | {name: row.get(name) for name in ("mean_n", "sd_n", "dic", "waic", "rhat_n", "ess_n", "sweeps")}
        )
    return pl.DataFrame(rows, infer_schema_length=None).sort("uses", "method") if rows else pl.DataFrame()


def more_table(ledger: Ledger) -> pl.DataFrame:
    """Return profiles, ties, both and every baseline on the other data, means over anchor draws."""
    groups: dict[tuple[str, float, str, str], list[Row]] = defaultdict(list)
    for row in ledger.part("more"):
        groups[row["folder"], row["share"], row["uses"], row["method"]].append(row)
    table = []
    for (folder, share, uses, method), rows in sorted(groups.items()):
        recall, precision, f1 = np.nanmean([rates(row["left_out"]) for row in rows], axis=0)
        said = {"data": folder, "share": share, "uses": uses, "method": method, "fits": len(rows)}
        said |= {"recall": float(recall), "precision": float(precision), "f1": float(f1)}
        said |= {"ap": _nanmean([row["ap"] for row in rows]), "hits": _nanmean([row["hits"] for row in rows])}
        table.append(said | _calibration(rows) | _convergence(rows))
    return pl.DataFrame(table, infer_schema_length=None)
