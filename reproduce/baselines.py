"""Print the baselines on the real data: `python reproduce/baselines.py FOLDER`.

The ego networks are scored without anchors and without the ego, which is tied to everybody and would be a gift; a share
of the matches, the ego first, is drawn at random as anchors, seeded by the folder's name. 32474 is 31225 again, so it
is left out.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import tielink as tl
from tielink.data.sources import Sources

SHARES = (0.0, 0.1, 0.2, 0.3, 0.5)


def read(folder: Path, fields: dict[str, tl.String]) -> tuple[tl.Dataset, tl.Linkage]:
    """Read two files, their ties and the truth."""
    sources = Sources(
        folder,
        {"a": "nodes_a.csv", "b": "nodes_b.csv"},
        {"a": "edges_a.csv", "b": "edges_b.csv"},
        fields=fields,
        truth="truth.csv",
    )
    data = tl.Dataset.checked(*sources.load())
    truth = sources.read_truth(data)
    assert truth is not None
    return data, truth


def profiles(folder: Path, field: str) -> None:
    """Score every baseline on data with a string field."""
    data, truth = read(folder, {field: tl.String()})
    for name, links in tl.baselines.every(data).items():
        found = tl.evaluate(links, truth)
        scores = f"recall {found.recall}  precision {found.precision}  F1 {found.f1}  AP {found.average_precision}"
        sys.stdout.write(f"{folder.name:<10}{name:<20}{scores}\n")


def egos(root: Path, share: float) -> None:
    """Score every baseline on all ego networks together, a share of the matches being anchors."""
    counts: dict[str, list[tuple[int, int, int, float]]] = {}
    for folder in sorted(root.iterdir()):
        if folder.name == "32474":
            continue
        data, truth = read(folder, {})
        ego = json.loads((folder / "about.json").read_text())["ego"]
        first = [("a", ego["a"]), ("b", ego["b"])]
        others = [pair for pair in truth.clusters() if len(pair) == 2 and list(pair) != first]
        number = round(share * len(truth.pair_numbers))
        order = np.random.default_rng(int(folder.name)).permutation(len(others))
        anchors = [others[place] for place in order[: max(number - 1, 0)]]
        known = replace(data, anchors=tl.Linkage.from_pairs(data, [*anchors, first] if number else []))
        for name, links in tl.baselines.every(known).items():
            found = tl.evaluate(links, truth, anchors=[*anchors, first], resamples=0)
            rates = found.without_anchors
            row = (rates.correct, rates.links, rates.matches, float(np.nan_to_num(found.average_precision)))
            counts.setdefault(name, []).append(row)
    for name, rows in counts.items():
        correct, links, matches, _ = np.sum(rows, axis=0)
        f1 = 2 * correct / (links + matches)
        average = np.mean([row[3] for row in rows])
        found = (
            f"{correct:3.0f} right of {links:4.0f} links, {matches:3.0f} matches: F1 {f1:.3f}, mean AP {average:.3f}"
        )
        sys.stdout.write(f"uir, anchors {share:.0%}  {name:<20}{found}\n")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    profiles(folder / "pkdd12", "username")
    profiles(folder / "citeseer", "name")
    for part in SHARES:
        egos(folder / "uir", part)
