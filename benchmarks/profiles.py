"""Linking by profiles alone, on made people (`tielink.simulate.people`): two files, seven fields, errors and gaps.

tielink runs with its defaults: kinds of fields as guessed, the match-rate prior, 4 chains of 1,000 + 1,000 sweeps. Its
links are the Binder estimate. Fellegi–Sunter is `tielink.baselines.fellegi_sunter`. Splink, where it is installed, runs
with its comparison templates, blocking on each of six fields, and the one-to-one choice at one half. Calibration error
is over pairs with p ≥ .05; log loss is −log-likelihood over all pairs, divided by the number of true matches,
probabilities held between .0001 and .9999. Seconds are those of the clock with whatever else the machine does; CPU
seconds are of all processes together, so that on 2 idle cores the clock shows about half of them. Memory is that of the
largest process. Where places are nested, a suburb has one postcode and one state, so that three fields say the same
thing. Splink has term-frequency adjustments for names, streets and suburbs. The last row is 20,000 + 20,000 records
with one string, a full name, and the state; 2 chains of 200 + 200 sweeps.
"""

from __future__ import annotations

import importlib.util
import json
import resource
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import polars as pl

import tielink as tl
from tielink.data.scores import PairScores, pair_keys
from tielink.simulate.people import people

TITLE = "Profiles alone: accuracy, calibration, time and memory"
COLUMNS = (
    "records", "shared", "tool", "F₁", "recall", "precision", "calibration error", "log loss", "seconds",
    "CPU seconds", "peak memory, MB",
)  # fmt: skip
SEED = 4
CASES = {
    "all": (5000, 5000, False),
    "half": (5000, 2500, False),
    "half, places nested": (5000, 2500, True),
    "half, strings": (20_000, 10_000, False),
}
TOOLS = ("tielink", "fellegi_sunter", "splink")


def made(case: str) -> tuple[tl.Dataset, tl.Linkage]:
    """Return the data of a case and its truth."""
    size, overlap, nested = CASES[case]
    drawn = people(np.random.default_rng(SEED), (size, size), overlap, nested=nested)
    frames, fields = drawn.frames, None
    if case == "half, strings":
        name = pl.concat_str(["given_name", "surname"], separator=" ").alias("name")
        frames = {file: frame.select("id", name, "state") for file, frame in frames.items()}
        fields = {"name": tl.String(), "state": tl.Categorical()}
    data = tl.Dataset.from_frames(frames, id="id", fields=fields)
    return data, tl.Linkage.from_pairs(data, drawn.matches)


def linked(tool: str, case: str, data: tl.Dataset) -> tuple[tl.Linkage, PairScores]:
    """Return the links of a tool, and its pairs with probabilities."""
    if tool == "tielink":
        short = {"chains": 2, "warmup": 200, "draws": 200} if case == "half, strings" else {}
        posterior = tl.sample(tl.Model(), data, progress=False, **short)
        found = posterior.pair_probabilities
        return tl.estimate(posterior), PairScores(data.records, found.pairs, found.probability)
    if tool == "fellegi_sunter":
        answer = tl.baselines.fellegi_sunter(data)
        return answer, answer.pair_scores
    table = splink_pairs(data, made_frames(case))
    return tl.one_to_one(table, data), PairScores.from_table(data, table)


def made_frames(case: str) -> dict[str, pl.DataFrame]:
    """Return the frames that other tools take."""
    size, overlap, nested = CASES[case]
    return people(np.random.default_rng(SEED), (size, size), overlap, nested=nested).frames


def splink_pairs(data: tl.Dataset, frames: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Return Splink's pairs with a probability of at least .001."""
    import splink.comparison_library as cl
    from splink import DuckDBAPI, Linker, SettingsCreator, block_on

    blocked = ("date_of_birth", "surname", "given_name", "street", "suburb", "postcode")
    rules = [block_on(field) for field in blocked]
    sure = [block_on("surname", "given_name"), block_on("date_of_birth", "surname")]
    names = [cl.NameComparison(field) for field in ("given_name", "surname")]
    places = [cl.JaroWinklerAtThresholds(field, [0.9, 0.7]) for field in ("street", "suburb")]
    for comparison in (*names, *places):
        comparison.configure(term_frequency_adjustments=True)
    others = [
        cl.LevenshteinAtThresholds("postcode", 1),
        cl.ExactMatch("state"),
        cl.LevenshteinAtThresholds("date_of_birth", [1, 2]),
    ]
    settings = SettingsCreator(
        link_type="link_only",
        unique_id_column_name="id",
        comparisons=[*names, *places, *others],
        blocking_rules_to_generate_predictions=rules,
    )
    database = DuckDBAPI()
    tables = [database.register(frame.to_arrow(), dataset_display_name=name) for name, frame in frames.items()]
    linker = Linker(tables, settings, log_level="WARNING")
    linker.training.estimate_probability_two_random_records_match(sure, recall=0.7)
    linker.training.estimate_u_using_random_sampling(max_pairs=1e7, seed=1)
    for rule in (block_on("date_of_birth"), block_on("surname", "given_name")):
        linker.training.estimate_parameters_using_expectation_maximisation(rule)
    found = linker.inference.predict(threshold_match_probability=0.001).as_pandas_dataframe()
    first = found["source_dataset_l"] == data.files[0]
    return pl.DataFrame(
        {
            "id_a": np.where(first, found["id_l"], found["id_r"]),
            "id_b": np.where(first, found["id_r"], found["id_l"]),
            "probability": found["match_probability"].to_numpy(),
        }
    )


def log_loss(scores: PairScores, truth: tl.Linkage) -> float:
    """Return −log-likelihood of the truth over all pairs, divided by the number of true matches."""
    true = np.isin(pair_keys(scores.pairs), pair_keys(truth.pair_numbers))
    p = np.clip(scores.values, 1e-4, 1 - 1e-4)
    missed = len(truth.pair_numbers) - true.sum()
    return float(-(np.log(p[true]).sum() + np.log1p(-p[~true]).sum() + missed * np.log(1e-4)) / len(truth.pair_numbers))


def one(tool: str, case: str) -> dict[str, float]:
    """Measure one tool on one case, in this process and those it starts."""
    data, truth = made(case)
    begin = time.monotonic()
    links, scores = linked(tool, case, data)
    seconds = time.monotonic() - begin
    use = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    result = tl.evaluate(links, truth, probabilities=scores, resamples=0)
    return {
        "f1": float(result.f1), "recall": float(result.recall), "precision": float(result.precision),
        "ece": float(result.calibration.ece), "log_loss": log_loss(scores, truth), "seconds": seconds,
        "cpu": sum(part.ru_utime + part.ru_stime for part in use), "memory": max(part.ru_maxrss for part in use) / 1024,
    }  # fmt: skip


def measure() -> Iterator[tuple[object, ...]]:
    """Yield a row for each case and tool, each measured in a process of its own."""
    for case, (size, _, _) in CASES.items():
        for tool in TOOLS[:1] if case == "half, strings" else TOOLS:
            name = tool if tool == "tielink" else tool.replace("_", "–").title()
            label = (f"{size:,} + {size:,}", case, name)
            if tool == "splink" and importlib.util.find_spec("splink") is None:
                yield (*label, *["not installed"] * 8)
                continue
            script = f"import json; from benchmarks.profiles import one; print(json.dumps(one({tool!r}, {case!r})))"
            done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
            found = json.loads(done.stdout.splitlines()[-1])
            yield (
                *label, *(f"{found[name]:.4f}" for name in ("f1", "recall", "precision", "ece", "log_loss")),
                f"{found['seconds']:.0f}", f"{found['cpu']:.0f}", f"{found['memory']:.0f}",
            )  # fmt: skip
