"""Runs of the engine: against the exact sampler, stopped and gone on, by Spark, and refused."""

import sys
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import tielink as tl
from tielink.large import alone, rounds
from tielink.large.draws import draw_matchings
from tielink.large.engines import choose_engine
from tielink.large.rounds import infer
from tielink.large.statements import adjacent
from tielink.large.tables import DuckTables, SparkTables
from tielink.model.problem import Problem
from unit.large.test_statements import marginals


def made(size=60, seed=1, **how):
    fields = how.pop("fields", ("surname", "state"))
    rng = np.random.default_rng(seed)
    return tl.simulate.shared_ties(rng, {"a": size, "b": size}, overlap=2 * size // 3, ties=6, fields=fields, **how)


def run(dataset, tables, say=lambda text: None, model=None):
    model = model or tl.Model()
    return infer(model, dataset, Problem.compile(model, dataset), tl.Run(seed=1), tables, say)


@pytest.fixture(scope="module", autouse=True)
def no_pilot():
    """Let small data be treated as large ones: the power is learnt on the variational state."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rounds, "PILOT_RECORDS", 0)
        yield


@pytest.fixture(scope="module")
def small():
    return made(anchors=0.1).dataset


@pytest.fixture(scope="module")
def whole(small, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    tables = DuckTables(folder, threads=1)
    run(small, tables)
    tables.close()
    return folder


def same_tables(one, two):
    names = sorted(path.name for path in one.glob("*.parquet"))
    assert names == sorted(path.name for path in two.glob("*.parquet"))
    for name in names:
        left, right = (pl.read_parquet(folder / name) for folder in (one, two))
        assert left.sort(left.columns).equals(right.sort(right.columns)), name


class KilledError(Exception):
    pass


@pytest.mark.parametrize("after", [25, 260])
def test_a_killed_run_goes_on_and_ends_with_the_same_tables(small, whole, tmp_path, monkeypatch, after):
    """The tables are equal to the last bit, with another number of threads, too."""
    wrote, left = DuckTables._write, [after]

    def write(self, query, part):
        left[0] -= 1
        if left[0] < 0:
            part.write_bytes(b"half a table")
            raise KilledError
        wrote(self, query, part)

    with monkeypatch.context() as patch:
        patch.setattr(DuckTables, "_write", write)
        with pytest.raises(KilledError):
            run(small, DuckTables(tmp_path / "tables", threads=2))
    said = []
    run(small, DuckTables(tmp_path / "tables", threads=2), said.append)
    assert after < 90 or any(text.startswith("Going on after round") for text in said)
    same_tables(tmp_path / "tables", whole)


def test_ties_that_meet_are_those_of_one_walk_over_all(whole):
    """What rounds added bit by bit is what one join at the end finds, each meeting once."""
    last = max(int(path.stem.split("_")[1]) for path in whole.glob("adjacent_*.parquet"))
    tables = DuckTables(whole, threads=1)
    columns = "x.i, x.j, x.n, x.m, x.w, x.o, x.p, x.c"
    query = f"SELECT {columns} FROM {{}} x JOIN state_{last} s ON s.i = x.i AND s.j = x.j ORDER BY ALL"
    rows = tables.fetch(query.format(f"adjacent_{last}"))
    wanted = tables.fetch(query.format(f"({adjacent(f'walked_{last}', '')})"))
    tables.close()
    assert len(rows["i"]) > 100
    assert all((rows[name] == wanted[name]).all() for name in "ijnmwopc")


def test_probabilities_are_near_those_of_the_exact_sampler(tmp_path, monkeypatch):
    monkeypatch.setattr(rounds, "PILOT_RECORDS", 1000)
    simulated = made(100, fields=("surname", "suburb"), seed=2)
    found = run(simulated.dataset, DuckTables(tmp_path))
    posterior = tl.sample(tl.Model(), simulated.dataset, chains=2, warmup=60, draws=60, workers=0, progress=False)
    exact = posterior.pair_probabilities
    sure = {(int(a), int(b) - 100): p for (a, b), p in zip(exact.pairs, exact.probability, strict=True) if p > 0.05}
    mine = {(int(i), int(j)): p for (i, j), p in zip(found.pairs, found.probability, strict=True)}
    apart = [abs(mine.get(pair, 0.0) - p) for pair, p in sure.items()]
    assert np.mean(apart) < 0.06
    assert found.probability.sum() == pytest.approx(exact.probability.sum(), rel=0.05)
    assert found.sharing == pytest.approx(posterior.sharing.mean(), abs=0.15)


def test_draws_of_matchings_are_those_of_enumeration():
    pairs = np.array([[0, 0], [0, 1], [1, 0], [1, 1], [2, 1]])
    score = np.array([1.0, -0.5, 0.3, 2.0, 1.5])
    draws = 4000
    drawn, _ = draw_matchings(np.random.default_rng(1), (3, 2), pairs, score, draws)
    share = np.bincount(np.concatenate(drawn), minlength=len(pairs)) / draws
    wanted = marginals(score, [tuple(pair) for pair in pairs.tolist()])
    assert np.abs(share - wanted).max() < 5 * 0.5 / np.sqrt(draws / 3)


def test_one_call_gives_the_same_tables_and_the_report(tmp_path):
    simulated = made(80, anchors=0.1)
    said = []
    result = tl.link(
        simulated.dataset, out=tmp_path / "out", engine=tl.DuckDB(memory="1GB", threads=1), truth=simulated.truth,
        say=said.append, progress=True,
    )  # fmt: skip
    assert {"report.html", "links.csv", "persons.csv", "posterior.nc"} <= {
        path.name for path in (tmp_path / "out").iterdir()
    }
    assert "variational" in (tmp_path / "out" / "report.html").read_text()
    assert any("Round 1 of" in text for text in said)
    assert result.posterior.run.engine == "duckdb"
    assert not result.diagnosis.undecided, "marginals of an approximation have no Monte Carlo error"
    assert not result.interrupted
    assert result.evaluation.without_anchors.f1 > 0.8
    assert result.links().columns[:6] == ["file_a", "id_a", "file_b", "id_b", "probability", "mcse"]
    assert not (tmp_path / "out" / "checkpoint").exists()


def test_another_run_is_not_written_over(small, tmp_path):
    engine = tl.DuckDB(path=tmp_path / "tables")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "mine.txt").write_text("a letter")
    with pytest.raises(tl.InputError, match="not empty"):
        tl.link(small, engine=engine, progress=False)
    (tmp_path / "tables" / "mine.txt").unlink()
    (tmp_path / "tables" / "run.sha256").write_text("of another run")
    with pytest.raises(tl.InputError, match="holds another run"):
        tl.link(small, engine=engine, progress=False)


def test_the_engine_is_chosen_by_cost_and_says_why(small):
    engine, why = choose_engine("auto", tl.Model(), small, tl.Run())
    assert engine is None
    assert "120 records" in why
    engine, why = choose_engine("auto", tl.Model(), small, tl.Run(draws=10**7))
    assert isinstance(engine, tl.DuckDB)
    assert "so variational inference by DuckDB" in why
    engine, why = choose_engine("auto", tl.Model(network=tl.LatentSpace()), small, tl.Run(draws=10**7))
    assert engine is None
    assert "has no latent space" in why
    with pytest.raises(tl.InputError, match="no duplicates"):
        choose_engine("duckdb", tl.Model(linkage=tl.EwensPitman()), small, tl.Run())
    with pytest.raises(tl.InputError, match='"auto" or "exact"'):
        replace(tl.Run(), engine="oracle")


def test_missing_packages_and_bad_settings_are_told(small, tmp_path, monkeypatch):
    with pytest.raises(tl.InputError, match='memory="8GB"'):
        DuckTables(tmp_path, memory="a lot")
    for module, engine in (("duckdb", tl.DuckDB()), ("pyspark.sql", tl.Spark())):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, module, None)
            with pytest.raises(tl.InputError, match=r"pip install 'tielink\[(duckdb|spark)\]'"):
                tl.link(small, engine=engine, progress=False)


@pytest.fixture
def session():
    """A local Spark session, or a test that is skipped, visibly."""
    pyspark = pytest.importorskip("pyspark.sql", reason="pyspark is not installed: pip install 'tielink[spark]'")
    try:
        session = (
            pyspark.SparkSession.builder.master("local[1]").config("spark.sql.adaptive.enabled", "false")
            .config("spark.ui.enabled", "false").config("spark.sql.shuffle.partitions", "1")
            .config("spark.driver.memory", "1g").getOrCreate()
        )  # fmt: skip
    except Exception as error:
        pytest.skip(f"Spark does not start: {error}")
    yield session
    session.stop()


def same_by_spark_and_duckdb(dataset, session, folder):
    spark = run(dataset, SparkTables(folder / "spark", session))
    duck = run(dataset, DuckTables(folder / "duck", threads=1))
    assert len(duck.pairs) > 100
    assert (spark.pairs == duck.pairs).all()
    assert np.abs(spark.probability - duck.probability).max() < 1e-9
    assert np.abs(spark.score - duck.score).max() < 1e-7


def test_spark_gives_the_numbers_of_duckdb(session, tmp_path):
    dataset = made(1000, fields=("surname", "suburb", "date_of_birth"), anchors=0.05).dataset
    same_by_spark_and_duckdb(dataset, session, tmp_path)


@pytest.mark.long
def test_spark_gives_the_numbers_of_duckdb_from_ties_alone(session, tmp_path, monkeypatch):
    monkeypatch.setattr(alone, "LEARN", 2)
    monkeypatch.setattr(alone, "SETTLE", 1)
    dataset = made(300, fields=(), sharing=0.8, anchors=0.3).dataset
    same_by_spark_and_duckdb(dataset, session, tmp_path)
