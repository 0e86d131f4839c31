"""What kinds of fields change: the same data, linked by profiles alone, with fields modelled in different ways.

`rldata500` holds 500 records of 450 made persons with names and dates of birth, 50 of them twice with a slip. Here they
stand in two files, the two records of a person in different ones, all others in either (seed 1); names are closed
strings. `made` are 150 + 150 records, 100 persons shared: usernames, places and years of birth drawn from the model.
Links are pairs above one half; matches are the posterior mean of their number with a 95 % interval. Nothing is tuned.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl

import tielink as tl
from tielink.fields import Field
from tielink.simulate.draw import draw_parameters
from tielink.simulate.prior import blank, draw_data, fixed_frequencies
from tielink.simulate.scenario import profile_vocabularies

TITLE = "Kinds of fields: profiles alone"
COLUMNS = ("data", "fields", "recall", "precision", "F₁", "matches, 95 % interval", "true")
PRIOR = tl.Beta(1, 19)
NAMES = {name: tl.String(tl.Beta(1, 9), vocabulary="closed") for name in ("fname_c1", "lname_c1")}
PARTS = ("by", "bm", "bd")
BIRTH: dict[str, dict[str, Field]] = {
    "the paper's categorical": dict.fromkeys(PARTS, tl.Categorical.paper()),
    "categorical": dict.fromkeys(PARTS, tl.Categorical(PRIOR)),
    "year, month and day as numbers": dict.fromkeys(PARTS, tl.Number(PRIOR)),
    "a date": {"born": tl.Date(PRIOR)},
    "a date, rates by file": {"born": tl.Date(PRIOR, by_file=True)},
}


def rldata500() -> tuple[dict[str, pl.DataFrame], list[tuple[str, str]]] | None:
    """Return the two files and the true pairs; None without the data."""
    folder = os.environ.get("TIELINK_DATA")
    if not folder:
        return None
    records = pl.read_csv(Path(folder) / "rldata500" / "records.csv", infer_schema_length=0)
    clusters = pl.read_csv(Path(folder) / "rldata500" / "truth_clusters.csv", infer_schema_length=0)
    born = pl.concat_str(["by", pl.col("bm").str.zfill(2), pl.col("bd").str.zfill(2)], separator="-")
    records = records.with_columns(born=born).join(clusters, on="id")
    rng = np.random.default_rng(1)
    order = records.sample(fraction=1.0, shuffle=True, seed=1).with_columns(
        second=pl.int_range(pl.len()).over("cluster"), twice=pl.len().over("cluster") == 2
    )
    either = pl.Series(rng.random(order.height) < 0.5)
    in_a = pl.when(pl.col("twice")).then(pl.col("second") == 0).otherwise(either)
    files = {"a": order.filter(in_a), "b": order.filter(~in_a)}
    pairs = files["a"].join(files["b"], on="cluster", suffix="_b").select("id", "id_b").rows()
    return {name: file.drop("cluster", "second", "twice") for name, file in files.items()}, pairs


def row(label: str, what: str, model: tl.Model, data: tl.Dataset, truth: tl.Linkage) -> tuple[object, ...]:
    """Sample, link and score."""
    posterior = tl.sample(model, data, chains=2, warmup=150, draws=300, seed=3)
    scores = tl.evaluate(tl.estimate(posterior), truth)
    matches = len(data.records) - posterior.number_of_persons
    low, high = np.quantile(matches, [0.025, 0.975], method="inverted_cdf")
    found = (f"{float(score):.2f}" for score in (scores.recall, scores.precision, scores.f1))
    return label, what, *found, f"{matches.mean():.1f}, {low} to {high}", len(truth.pair_numbers)


def real() -> Iterator[tuple[object, ...]]:
    """Yield a row for each way to model a date of birth."""
    found = rldata500()
    if found is None:
        return
    files, pairs = found
    with_names = [(names, label, birth) for label, birth in BIRTH.items() for names in (False, True)]
    for names, label, birth in sorted(with_names, key=lambda entry: entry[0]):
        fields = {**(NAMES if names else {}), **birth}
        data = tl.Dataset.from_frames(files, fields=fields)
        truth = tl.Linkage.from_pairs(data, [(("a", a), ("b", b)) for a, b in pairs])
        yield row("rldata500, " + ("names and birth" if names else "birth"), label, tl.Model(), data, truth)
    fields = {**NAMES, **BIRTH["a date"]}
    data = tl.Dataset.from_frames(files, fields=fields)
    truth = tl.Linkage.from_pairs(data, [(("a", a), ("b", b)) for a, b in pairs])
    yield row("rldata500, names and birth", "a date, careless records", tl.Model(careless=tl.Careless()), data, truth)


def made(seed: int, rates: Mapping[str, float], careless: bool) -> tuple[tl.Dataset, tl.Linkage]:
    """Draw files whose rates are given by name, some records careless."""
    rng = np.random.default_rng(seed)
    vocabularies = {**profile_vocabularies(rng, 200), "born": [str(year) for year in range(1940, 2005)]}
    data = blank({"a": 150, "b": 150}, vocabularies)
    fields = {
        "username": tl.String(vocabulary="closed", sharpness=3.0, by_file=True),
        "place": tl.Categorical(by_file=True),
        "born": tl.Number(by_file=True),
    }
    model = tl.Model(network=None, fields=fields, careless=tl.Careless() if careless else None)
    model = replace(model, fields=fixed_frequencies(model, data, vocabularies))
    problem = tl.Problem.compile(model, data)
    parameters = draw_parameters(rng, problem)
    labels = np.concatenate([np.arange(150), np.where(np.arange(150) < 100, np.arange(150), 50 + np.arange(150) + 50)])
    sorts = ("careless", "in a", "in b")
    given = [next(rates[sort] for sort in sorts if sort in rate.name and sort in rates) for rate in problem.rates]
    sort = rng.random(300) < 0.2 if careless else parameters.careless
    _, labels = np.unique(labels, return_inverse=True)
    parameters = replace(parameters, labels=labels, distortion=np.array(given), careless=sort)
    parameters = replace(parameters, positions=np.zeros((labels.max() + 1, 0)))
    drawn = draw_data(rng, model, data, parameters)
    columns = {name: replace(column, field=model.fields[name]) for name, column in drawn.dataset.columns.items()}
    return replace(drawn.dataset, columns=columns), drawn.truth


def drawn() -> Iterator[tuple[object, ...]]:
    """Yield rows for files of unequal quality, and for careless records, each with and without that in the model."""
    for label, rates, careless in (
        ("made, 2 % wrong in a, 40 % in b", {"in a": 0.02, "in b": 0.4}, False),
        ("made, careless (20 % of records): 60 %, others 2 %", {"in a": 0.02, "in b": 0.02, "careless": 0.6}, True),
    ):
        data, truth = made(5, rates, careless)
        prior = tl.Beta(1, 9)
        plain: dict[str, Field] = {
            "username": tl.String(prior, vocabulary="closed", sharpness=3.0),
            "place": tl.Categorical(prior),
            "born": tl.Number(prior),
        }
        by_file = {name: replace(field, by_file=True) for name, field in plain.items()}
        for what, fields, believed in (
            ("one rate a field", plain, None),
            ("rates by file", by_file, None),
            ("careless records", plain, tl.Careless()),
            ("both", by_file, tl.Careless()),
        ):
            yield row(label, what, tl.Model(network=None, fields=fields, careless=believed), data, truth)


def measure() -> Iterator[tuple[object, ...]]:
    """Yield every row."""
    yield from real()
    yield from drawn()
