"""Large files of made people with ties, written as Parquet: arrays from beginning to end, no object for each person.

People have a given name, a surname, a place and a year of birth; vocabularies grow more slowly than the number of
people, as those of real names do (Heaps' law). The second file holds copies with slips: mistyped names, another place,
a wrong year.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from tielink.data.sources import Sources
from tielink.fields import Categorical, Number, String
from tielink.model.spec import Model
from tielink.project import Project
from tielink.simulate.people import mistyped, skewed_places, words
from tielink.simulate.shared_ties import Together, check_settings, draw_shared_ties, rates_of_records

__all__ = ["write_large"]

Codes = NDArray[np.int64]

GIVEN_NAMES = 2_000
MISTYPED = {"given_name": 0.06, "surname": 0.08}
"""Shares of copied names that are mistyped."""
MOVED, MISDATED = 0.05, 0.04
"""Shares of copies with another place, and with a wrong year of birth."""
FIELDS = {"given_name": String(), "surname": String(), "place": Categorical(), "birth_year": Number()}


def write_large(
    rng: np.random.Generator,
    folder: str | Path,
    records: int,
    overlap: int,
    *,
    ties: float = 10.0,
    sharing: float = 0.5,
    communities: int = 0,
    closure: float = 0.0,
    missing: float = 0.0,
    anchors: float = 0.1,
    profiles: bool = True,
) -> Path:
    """Write two files of so many people each, their ties, the truth, known matches and a project file.

    Parameters
    ----------
    rng
        Source of randomness.
    folder
        Where to; it is made if it is not there.
    records, overlap
        People in each file, and in both.
    ties, sharing, communities, closure, anchors, missing
        As in `tl.simulate.shared_ties`.
    profiles
        Whether there are names, places and years, or ties alone.

    Returns
    -------
    Path
        Of the project file.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> write_large(np.random.default_rng(1), mkdtemp(), 300, 200).name
    'project.toml'
    """
    check_settings(
        {"a": records, "b": records}, overlap, ties=ties, sharing=sharing, communities=communities, closure=closure,
        anchors=anchors, missing=missing,
    )  # fmt: skip
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    persons = 2 * records - overlap
    labels = np.concatenate([rng.permutation(records), rng.permutation(records) + records - overlap])
    file_of = np.repeat([0, 1], records)
    together = Together(labels, file_of, sharing, closure)
    if communities:
        together.community = rng.integers(communities, size=persons)
    drawn = draw_shared_ties(rng, together, rates_of_records(rng, together, ties))
    ids = [pl.Series([f"{name}{number}" for number in range(records)]) for name in "ab"]
    for file, (name, edges) in enumerate(zip("ab", drawn, strict=True)):
        source, target = ids[file].gather(edges[:, 0]), ids[file].gather(edges[:, 1])
        pl.DataFrame({"source": source, "target": target}).write_parquet(folder / f"{name}_ties.parquet")
    del drawn
    _write_people(rng, folder, labels, ids, missing, profiles)
    place = np.full((2, persons), -1)
    place[file_of, labels] = np.tile(np.arange(records), 2)
    both = place[:, (place >= 0).all(axis=0)]
    known = np.sort(rng.choice(both.shape[1], round(anchors * both.shape[1]), replace=False))
    for name, pairs in (("truth", both), ("anchors", both[:, known])):
        frame = pl.DataFrame({"id_a": ids[0].gather(pairs[0]), "id_b": ids[1].gather(pairs[1])})
        frame.write_parquet(folder / f"{name}.parquet")
    sources = Sources(
        folder,
        {name: f"{name}.parquet" for name in "ab"},
        ties={name: f"{name}_ties.parquet" for name in "ab"},
        fields=FIELDS if profiles else {},
        anchors=["anchors.parquet"] if len(known) else [],
        truth="truth.parquet",
    )
    Project(sources, Model()).write(folder / "project.toml")
    return folder / "project.toml"


def _write_people(
    rng: np.random.Generator, folder: Path, labels: Codes, ids: list[pl.Series], missing: float, profiles: bool
) -> None:
    persons, records = int(labels.max()) + 1, len(labels) // 2
    vocabulary = {
        "given_name": words(rng, GIVEN_NAMES, (1, 3)),
        "surname": words(rng, max(500, int(20 * persons**0.6)), (2, 3)),
        "place": words(rng, max(50, int(3 * persons**0.5)), (2, 4)),
    }
    true = {name: skewed_places(rng, len(choices), persons) for name, choices in vocabulary.items()}
    year = 1920 + (85 * rng.beta(2, 1.6, persons)).astype(np.int64)
    for file, name in enumerate("ab"):
        mine = labels[file * records : (file + 1) * records]
        columns: dict[str, pl.Series] = {"id": ids[file]}
        for field, choices in vocabulary.items() if profiles else ():
            codes, said = true[field][mine], pl.Series(choices)
            slips = np.flatnonzero(rng.random(records) < file * MISTYPED.get(field, MOVED))
            if field == "place":
                codes[slips] = skewed_places(rng, len(choices), len(slips))
            column = said.gather(codes)
            if field in MISTYPED:
                column = column.scatter(slips, [mistyped(rng, value) for value in column.gather(slips)])
            columns[field] = column
        if profiles:
            wrong = (rng.random(records) < file * MISDATED) * rng.choice([-10, -1, 1, 10], records)
            columns["birth_year"] = pl.Series(year[mine] + wrong)
        gaps = {field: rng.random(records) < missing for field in columns if field != "id"}
        frame = pl.DataFrame(columns).with_columns(
            pl.when(pl.Series(~gap)).then(pl.col(field)).alias(field) for field, gap in gaps.items()
        )
        frame.write_parquet(folder / f"{name}.parquet")
