"""Data folders: two files of records, their ties, the truth; and made ones of the same layout for a quick look."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import polars as pl

import tielink as tl
from tielink.data.sources import Sources
from tielink.fields import Field
from tielink.simulate.prior import Simulated
from tielink.simulate.write import write_project

__all__ = ["COPY", "Folder", "anchored", "ego_folders", "make_folders", "read"]

COPY = "32474"
"""This ego pair is 31225 again: it counts among the paper's 17, not among the 16 distinct ones."""


@dataclass(frozen=True)
class Folder:
    """A data set with its truth, and the ego's two records where there is one."""

    dataset: tl.Dataset
    truth: tl.Linkage
    ego: tuple[tuple[str, str], tuple[str, str]] | None


@lru_cache(maxsize=4)
def read(folder: Path, fields: tuple[tuple[str, Field], ...] = ()) -> Folder:
    """Read a folder laid out as nodes, edges and truth."""
    sources = Sources(
        folder,
        {"a": "nodes_a.csv", "b": "nodes_b.csv"},
        {"a": "edges_a.csv", "b": "edges_b.csv"},
        fields=dict(fields),
        truth="truth.csv",
    )
    data = tl.Dataset.checked(*sources.load())
    truth = sources.read_truth(data)
    assert truth is not None
    about = json.loads((folder / "about.json").read_text())
    ego = (("a", about["ego"]["a"]), ("b", about["ego"]["b"])) if "ego" in about else None
    return Folder(data, truth, ego)


def ego_folders(root: Path) -> list[Path]:
    """Return the folders of all ego pairs, by seed."""
    return sorted((root / "uir").iterdir(), key=lambda folder: int(folder.name))


def anchored(folder: Folder, share: float, draw: int) -> tl.Dataset:
    """Make a share of the matches known, drawn at random; the same draw for every method.

    Where there is an ego, it is the first to be known, as in the paper's data: everybody is its contact.
    """
    pairs = [pair for pair in folder.truth.clusters() if len(pair) == 2]
    number = round(share * len(pairs))
    first = [pair for pair in pairs if pair == folder.ego]
    others = [pair for pair in pairs if pair != folder.ego]
    order = np.random.default_rng([draw, len(pairs), len(folder.dataset.records)]).permutation(len(others))
    known = (first + [others[place] for place in order])[:number]
    return replace(folder.dataset, anchors=tl.Linkage.from_pairs(folder.dataset, known))


def make_folders(root: Path) -> Path:
    """Make small data of the same layout, where the real ones are not at hand."""
    people = {"username": tl.simulate.vocabulary.usernames(np.random.default_rng(3), 60)}
    school, staff = {"class": list("ABCDEFGH"), "gender": list("FM")}, {"group": list("ABCDEF"), "role": list("ABCD")}
    made: dict[str, tuple[int, int, int, dict[str, tl.simulate.prior.Vocabulary]]] = {
        "uir/11209": (14, 20, 6, {}),
        "uir/5099": (18, 23, 7, {}),
        "uir/32526": (16, 18, 6, {}),
        "pkdd12": (30, 40, 12, dict(people)),
        "highschool": (30, 28, 15, dict(school)),
        "aucs_work_lunch": (16, 16, 12, dict(staff)),
        "aucs_facebook_lunch": (12, 16, 9, dict(staff)),
        "citeseer": (40, 40, 20, {"name": people["username"]}),
    }
    for number, (name, (left, right, overlap, vocabularies)) in enumerate(made.items()):
        rng = np.random.default_rng([7, number])
        sizes = {"a": left, "b": right}
        drawn = tl.simulate.scenario(rng, sizes=sizes, overlap=overlap, spread=9.0, vocabularies=vocabularies)
        _write(root / name, drawn, ego=name.startswith("uir"))
    return root


def _write(folder: Path, drawn: Simulated, *, ego: bool) -> None:
    """Write made data as a folder; the first match may become an ego that everybody knows."""
    write_project(drawn, folder)
    (first, second), *_ = (pair for pair in drawn.truth.clusters() if len(pair) == 2)
    for file, (_, record) in zip("ab", (first, second), strict=True):
        (folder / f"{file}.csv").rename(folder / f"nodes_{file}.csv")
        ties = pl.read_csv(folder / f"{file}_ties.csv", infer_schema=False)
        if ego:
            everybody = drawn.dataset.records.ids["ab".index(file)]
            star = pl.DataFrame({"source": record, "target": [other for other in everybody if other != record]})
            ends = pl.concat([ties, star]).select(
                source=pl.min_horizontal("source", "target"), target=pl.max_horizontal("source", "target")
            )
            ties = ends.unique(maintain_order=True)
        ties.write_csv(folder / f"edges_{file}.csv")
    pl.read_csv(folder / "truth.csv", infer_schema=False).select("id_a", "id_b").write_csv(folder / "truth.csv")
    about = {"ego": {"a": first[1], "b": second[1]}} if ego else {}
    (folder / "about.json").write_text(json.dumps(about))
