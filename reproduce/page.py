"""The page: `page.md` filled with every table and number; what is not fitted yet is said to be missing."""

from __future__ import annotations

import platform
from pathlib import Path
from string import Template

import numpy as np
import polars as pl

import tielink as tl
from reproduce import pictures, published, statistics, summaries
from reproduce.ledger import Ledger
from reproduce.methods import ADDITIONS, BASELINES, LATENT, PAPER, SHARED
from reproduce.summaries import WAYS, rates

__all__ = ["write"]

MISSING = "(not fitted yet)"
EGO_COLUMNS = (
    *("method", "share", "fits", "recall counted", "precision counted", "f1 counted", "f1 left_out", "f1 ego_out"),
    *("f1 ego_out low", "f1 ego_out high", "correct ego_out", "links ego_out", "ap", "hits", "ece", "converged"),
)
MORE_COLUMNS = (
    *("data", "share", "uses", "method", "recall", "precision", "f1", "ap", "ece", "expected", "observed", "converged"),
)


class _Filled(dict[str, str]):
    """Values of the page's template."""

    def __missing__(self, name: str) -> str:
        return MISSING


def write(root: Path, ledger: Ledger, out: Path, page: Path) -> None:
    """Write all tables (CSV), figures (PNG) and the page."""
    said = _Filled()
    for part in (_fits, _egos, _ceiling, _criteria, _identity, _more):
        said |= part(ledger, out)
    said |= _tables_of_data(root, out)
    pictures.network_pictures(root, out)
    page.write_text(Template((Path(__file__).parent / "page.md").read_text()).substitute(said))


def _fits(ledger: Ledger, out: Path) -> dict[str, str]:
    rows = list(ledger.rows.values())
    said = [row["converged"] for row in rows if "converged" in row]
    return {
        "fits": f"{len(rows):,}",
        "hours": f"{sum(row['seconds'] for row in rows) / 3600:.1f}",
        "settled": f"{np.mean(said):.0%}" if said else "none",
        "versions": f"tielink {tl.__version__}, Python {platform.python_version()}.",
    }


def _markdown(table: pl.DataFrame, digits: int = 3) -> str:
    """Return a Markdown table."""

    def cell(value: object) -> str:
        if value is None or (isinstance(value, float) and np.isnan(value)):
            return "–"
        return f"{value:,.{digits}f}" if isinstance(value, float) else str(value)

    lines = [table.columns, ["---"] * table.width, *([cell(value) for value in row] for row in table.iter_rows())]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _tables_of_data(root: Path, out: Path) -> dict[str, str]:
    first, second = statistics.ego_statistics(root), statistics.identity_statistics(root)
    first.write_csv(out / "table1.csv")
    second.write_csv(out / "table2.csv")
    wide = first.with_columns(cell=pl.format("{} ({})", pl.col("ours").round(2), "paper"))
    return {
        "agree1": f"{int(first['agrees'].sum())} of {first.height}",
        "agree2": f"{int(second['agrees'].sum())} of {second.height}",
        "table1": _markdown(wide.pivot("of", index=["statistic", "network"], values="cell")),
        "table2": _markdown(second, 4),
    }


def _egos(ledger: Ledger, out: Path) -> dict[str, str]:
    table, doubled = summaries.ego_table(ledger), summaries.ego_table(ledger, twice=True)
    if not table.height:
        return {}
    table.write_csv(out / "egos.csv")
    doubled.write_csv(out / "egos17.csv")
    pictures.ego_curves(doubled, ["paper K=2", "BARTUNOV"], out / "figure6.png", ["counted"])
    pictures.ego_curves(table, ["paper K=2", LATENT, SHARED, "BARTUNOV"], out / "egos_three_ways.png")
    pictures.three_ways(doubled, ["paper K=2", "paper K=5", "paper K=10", "BARTUNOV"], out / "figure7.png")
    pictures.three_ways(table, ["paper K=2", *ADDITIONS, LATENT, SHARED], out / "additions.png")
    pictures.seed_curves(_two_seeds(ledger), out / "figure5.png")
    sampled = table.filter(pl.col("method").is_in(["paper K=2", LATENT, SHARED]) & (pl.col("share") <= 0.5))
    half = table.filter((pl.col("method") == "paper K=2") & (pl.col("share") == 0.5))
    said = {f"half_{name}": f"{half[f'f1 {way}'][0]:.2f}" for name, way in (("counted", WAYS[0]), ("out", WAYS[2]))}
    return said | {
        "new_links": f"{int(sampled['links ego_out'].sum()):,}",
        "new_right": f"{int(sampled['correct ego_out'].sum()):,}",
        "best_out": f"{table.filter(~pl.col('method').is_in(BASELINES))['f1 ego_out'].max():.2f}",
        "egos": _markdown(table.select(EGO_COLUMNS)),
        "brings": _markdown(_precisions(table)),
        "draws": _draws(ledger),
        "beaten": _beaten(table),
    }


def _precisions(table: pl.DataFrame) -> pl.DataFrame:
    """Return average precision with its interval, by method and share of anchors."""
    cells = [pl.col(name).round(3).cast(pl.String) for name in ("ap", "ap low", "ap high")]
    wide = table.with_columns(cell=pl.format("{} ({}–{})", *cells), at=pl.format("{}", pl.col("share")))
    return wide.pivot("at", index="method", values="cell")


def _beaten(table: pl.DataFrame) -> str:
    """Say at which shares a plain baseline ranks better than every sampled model."""
    plain, sampled = (
        dict(table.filter(own).group_by("share").agg(pl.col("ap").max()).iter_rows())
        for own in (pl.col("method").is_in(BASELINES), ~pl.col("method").is_in(BASELINES))
    )
    found = [
        f"{share:.0%} ({plain[share]:.3f} against {sampled[share]:.3f})"
        for share in sorted(plain.keys() & sampled.keys())
        if plain[share] > sampled[share]
    ]
    return ", ".join(found) or "none"


def _draws(ledger: Ledger) -> str:
    """Say how many draws of anchors each method had."""
    found: dict[int, list[str]] = {}
    rows = [row for row in ledger.part("egos") if row["share"] > 0]
    for method in sorted({row["method"] for row in rows}):
        mine = [(row["folder"], row["share"]) for row in rows if row["method"] == method]
        found.setdefault(min(mine.count(cell) for cell in set(mine)), []).append(method)
    return "; ".join(f"{number} for {', '.join(methods)}" for number, methods in sorted(found.items(), reverse=True))


def _two_seeds(ledger: Ledger) -> list[dict[str, object]]:
    """Return mean F₁ of the paper's model by share of anchors, for the two seeds that the paper shows."""
    rows = [row for row in ledger.part("egos") if row["method"] == "paper K=2"]
    found = []
    for seed in ("11209", "5099"):
        for share in sorted({row["share"] for row in rows}):
            mine = [row for row in rows if row["folder"] == f"uir/{seed}" and row["share"] == share]
            means = {way: float(np.mean([rates(row[way])[2] for row in mine])) for way in WAYS}
            found.append({"seed": seed, "share": share, **means})
    return found


def _ceiling(ledger: Ledger, out: Path) -> dict[str, str]:
    table = summaries.ceiling_table(ledger)
    table.write_csv(out / "ceiling.csv")
    return {"ceiling": _markdown(table)} if table.height else {}


def _criteria(ledger: Ledger, out: Path) -> dict[str, str]:
    table = summaries.criteria_table(ledger)
    if not table.height:
        return {}
    table.write_csv(out / "criteria.csv")
    pictures.criteria_curves(table, out / "figure4.png")
    best = table.sort("WAIC").group_by("seed", "share", maintain_order=True).first().sort("seed", "share")
    return {"best_k": _markdown(best.select("seed", "share", "K").pivot("share", index="seed", values="K"), 0)}


def _identity(ledger: Ledger, out: Path) -> dict[str, str]:
    table = summaries.identity_table(ledger)
    if not table.height:
        return {}
    table.write_csv(out / "identity.csv")
    choice = table.filter((pl.col("uses") == "both") & pl.col("method").is_in(list(PAPER)))
    rows = [
        {"K": k, "DIC": dic, "paper's DIC": published.CRITERIA["dic"].get(k)}
        | {"WAIC": waic, "paper's WAIC": published.CRITERIA["waic"].get(k)}
        for method, dic, waic in choice.select("method", "dic", "waic").iter_rows()
        for k in [int(method.rpartition("=")[2])]
    ]
    printed = pl.DataFrame([{"published": name} | values for name, values in published.IDENTITY.items()])
    talked = [
        f"{row['talked']:.3f} ({row['method']}, {row['uses']})"
        for row in ledger.part("identity")
        if row.get("talked") is not None
    ]
    return {
        "k_dic": str(min(rows, key=lambda row: row["DIC"])["K"]),
        "k_waic": str(min(rows, key=lambda row: row["WAIC"])["K"]),
        "choice": _markdown(pl.DataFrame(rows).sort("K"), 1),
        "published": _markdown(printed, 2),
        "identity": _markdown(table),
        "talked": "; ".join(sorted(talked)) or "(these data do not hold it)",
    }


def _more(ledger: Ledger, out: Path) -> dict[str, str]:
    table = summaries.more_table(ledger)
    if not table.height:
        return {}
    table.write_csv(out / "more.csv")
    wide = table.filter(pl.col("method") == SHARED).pivot("uses", index=["data", "share"], values="ap")
    changes: dict[str, list[str]] = {"helps": [], "hurts": []}
    for row in wide.drop_nulls().iter_rows(named=True):
        change = row["both"] - row["profiles"]
        if abs(change) > 0.01:
            words = f"{row['data']} at {row['share']:.0%} ({row['profiles']:.2f} → {row['both']:.2f})"
            changes["helps" if change > 0 else "hurts"].append(words)
    said = {name: "; ".join(words) or "none" for name, words in changes.items()}
    return said | {"more": _markdown(table.select(MORE_COLUMNS))}
