"""Every relational step against a plain twin in NumPy."""

from itertools import combinations, product

import numpy as np
import pytest

from tielink.large.statements import (
    LIVE,
    NODES,
    adjacent,
    best_candidates,
    blocked,
    contested,
    evidence,
    gains,
    lone,
    message_step,
    open_pairs,
    probabilities,
    reached,
    scored,
    shared,
    weighty,
)
from tielink.large.tables import DuckTables
from tielink.network.shared_ties import fit_rates

RHO = 0.5
LISTED = "JOIN state k ON k.i = a.i AND k.j = b.j"


class World:
    """Two small networks, every pair a candidate, with probabilities at random."""

    def __init__(self, tables, seed=1, sizes=(9, 8)):
        rng = np.random.default_rng(seed)
        self.sizes, self.theta, self.tied = sizes, [], []
        for side, key, size in zip("ab", "ij", sizes, strict=True):
            upper = np.triu(rng.random((size, size)) < 0.4, 1)
            tied = upper | upper.T
            theta = fit_rates(tied.sum(axis=1))
            self.tied.append(tied)
            self.theta.append(theta)
            codes = {f"f{place}": rng.integers(-1, 3, size) for place in range(2)}
            own = {key: np.arange(size), "theta": theta, "degree": tied.sum(axis=1), "free": np.ones(size, dtype=bool)}
            tables.put(f"records_{side}", own | codes)
            first, second = np.nonzero(tied)
            odds = 1 / np.expm1(theta[first] * theta[second])
            tables.put(f"ties_{side}", {key: first, "n": second, "o": odds, "theta": theta[first]})
            setattr(self, f"codes_{side}", codes)
        self.pairs = list(product(range(sizes[0]), range(sizes[1])))
        self.q = rng.dirichlet(np.full(sizes[1] + 3, 0.3), sizes[0])[:, : sizes[1]]
        self.q[self.q < 0.01] = 0.0
        self.c = np.minimum.outer(*self.theta)
        i, j = np.array(self.pairs).T
        self.e = rng.normal(size=sizes)
        columns = {"i": i, "j": j, "q": self.q[i, j], "c": self.c[i, j], "e": self.e[i, j]}
        tables.put("state", columns | {"known": np.zeros(len(i), dtype=bool)})
        tables.put("apart", {"i": np.empty(0, dtype=np.int64), "j": np.empty(0, dtype=np.int64)})

    def odds(self, side, i, n):
        return 1 / np.expm1(self.theta[side][i] * self.theta[side][n])

    def gain(self, i, j):
        """G by its definition: the expected sum of log likelihood ratios over all other pairs."""
        total = 0.0
        for n, m in self.pairs:
            if n != i and m != j:
                total += self.q[n, m] * self.term(i, j, n, m)
        # What the sums per record hold besides: ties of i to somebody whom j may be, and the other way round.
        for n in range(self.sizes[0]):
            if n != i and self.tied[0][i, n]:
                total += self.q[n, j] * (self.alone(0, i, j, n, j) - RHO * self.c[i, j] * self.c[n, j])
        for m in range(self.sizes[1]):
            if m != j and self.tied[1][j, m]:
                total += self.q[i, m] * (self.alone(1, i, j, i, m) - RHO * self.c[i, j] * self.c[i, m])
        return total + RHO * self.c[i, j] * self.q[i, j] * -self.c[i, j]

    def alone(self, side, i, j, n, m):
        excess = np.expm1(RHO * self.c[i, j] * self.c[n, m])
        return np.log(1 - self.odds(side, *((i, n) if side == 0 else (j, m))) * excess)

    def term(self, i, j, n, m):
        one, two = self.tied[0][i, n], self.tied[1][j, m]
        kappa = RHO * self.c[i, j] * self.c[n, m]
        if one and two:
            return np.log1p(self.odds(0, i, n) * self.odds(1, j, m) * np.expm1(kappa))
        return self.alone(0, i, j, n, m) if one else self.alone(1, i, j, n, m) if two else kappa


@pytest.fixture
def tables(tmp_path):
    with_folder = DuckTables(tmp_path / "tables", threads=2)
    yield with_folder
    with_folder.close()


def by_pair(rows, name):
    return {(int(i), int(j)): value for i, j, value in zip(rows["i"], rows["j"], rows[name], strict=True)}


def test_expected_tie_evidence_is_that_of_the_definition(tables):
    world = World(tables)
    tables.write("weights", weighty("state"))
    for side in "ab":
        tables.write(f"lone_{side}", lone(side, "weights", RHO))
    tables.write("found", shared(f"({adjacent('weights', LISTED)})", "weights", RHO))
    sum_c = tables.one("SELECT SUM(q * c) AS s FROM weights")["s"]
    rows = tables.fetch(gains("state", "weights", "found", "lone_a", "lone_b", rho=RHO, sum_c=sum_c))
    found = by_pair(rows, "g")
    wanted = {pair: world.gain(*pair) for pair in world.pairs}
    assert max(abs(found[pair] - wanted[pair]) for pair in wanted) < 2e-4  # of the interpolation
    assert np.std(list(wanted.values())) > 0.1
    for i, node in enumerate(NODES, 1):  # which is exact at its nodes
        n = 0
        at = tables.fetch(f"SELECT f{i} AS f FROM lone_a WHERE i = {n}")["f"][0]
        sums = sum(
            world.q[m, k] * np.log(1 - world.odds(0, n, m) * np.expm1(RHO * node * world.theta[0][n] * world.c[m, k]))
            for m, k in world.pairs
            if world.tied[0][n, m]
        )
        assert at == pytest.approx(sums, abs=1e-8)


def test_expected_common_ties(tables):
    world = World(tables, seed=2)
    tables.write("weights", weighty("state"))
    found = by_pair(tables.fetch(shared(f"({adjacent('weights', LISTED)})", "weights", RHO)), "r")
    for i, j in world.pairs:
        wanted = 0.0
        for n, m in world.pairs:
            if world.tied[0][i, n] and world.tied[1][j, m]:
                kappa = RHO * world.c[i, j] * world.c[n, m]
                one, two = (world.theta[0][i] * world.theta[0][n], world.theta[1][j] * world.theta[1][m])
                tied_in_both = 1 - np.exp(-one) - np.exp(-two) + np.exp(-(one + two - kappa))
                wanted += world.q[n, m] * kappa / RHO / tied_in_both
        assert found.get((i, j), 0.0) == pytest.approx(wanted, abs=1e-8)


def test_hubs_and_improbable_pairs_say_nothing(tables):
    World(tables)
    tables.put("hubs", {"i": [0, 1], "j": [0, 1], "q": [0.5, 0.001], "c": [1.0, 1.0]})
    assert len(tables.fetch(weighty("hubs"))["i"]) == 1
    tables.drop("records_a")
    tables.put("records_a", {"i": np.arange(9), "degree": np.full(9, 1_000_000)})
    assert len(tables.fetch(weighty("hubs"))["i"]) == 0


def marginals(score, pairs):
    """Probabilities of pairs by enumeration of all matchings."""
    weight, chance = 0.0, np.zeros(len(pairs))
    for size in range(len(pairs) + 1):
        for chosen in combinations(range(len(pairs)), size):
            ends = [pairs[k] for k in chosen]
            if len({i for i, _ in ends}) == len({j for _, j in ends}) == len(ends):
                w = np.exp(sum(score[k] for k in chosen))
                weight += w
                chance[list(chosen)] += w
    return chance / weight


def normalise(tables, pairs, score, steps):
    i, j = np.array(pairs).T
    zeros = np.zeros(len(pairs))
    columns = {"i": i, "j": j, "e": score, "c": zeros, "g": zeros, "q": zeros, "known": zeros > 1}
    tables.put("listed", columns | {"la": zeros, "lb": zeros})
    tables.write("live", contested("listed", "k.e"))
    tables.write("first", message_step("(SELECT i, j, score, 0e0 AS la, 0e0 AS lb FROM live)", 1.0))
    tables.write("now_0", open_pairs("live", "first"))
    for step in range(steps):
        tables.write(f"now_{step + 1}", message_step(f"now_{step}"))
    found = by_pair(tables.fetch(probabilities("listed", f"now_{steps}", "first", "k.e")), "q")
    return np.array([found[pair] for pair in pairs])


def test_normalisation_is_exact_on_a_tree_however_large_the_scores(tables):
    """Pairs without rivals need no messages, and those that are not live are nobody's rivals."""
    pairs = [(0, 0), (0, 1), (1, 1), (1, 2), (2, 2), (3, 2), (4, 3), (4, 4), (5, 5)]
    score = np.array([45.0, 43.0, 44.0, -2.0, 0.5, 1.0, 0.3, LIVE - 0.1, LIVE - 1.0])
    wanted = marginals(score, pairs)
    wanted[score < LIVE] = 0.0
    assert normalise(tables, pairs, score, 60) == pytest.approx(wanted, abs=3e-5)
    iterated = tables.fetch("SELECT * FROM now_60")
    assert set(by_pair(iterated, "moved")) == set(pairs[:6])
    assert iterated["moved"].max() < 1e-9
    left = by_pair(tables.fetch(probabilities("listed", "now_60", "first", "k.e", f"e > {LIVE - 0.5}")), "q")
    assert set(left) == set(pairs[:8])


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_pairs_that_are_sure_need_no_messages(tables, seed):
    """Probabilities are right to the least that is told, and the chain of rivals that are not sure stays open."""
    sure, rivals, doubt = [(0, 0), (1, 1), (2, 2)], [(0, 1), (1, 0), (2, 1), (2, 3), (4, 0)], [(3, 3), (3, 4), (4, 4)]
    rng = np.random.default_rng(seed)
    score = np.concatenate([rng.uniform(30, 40, 3), rng.uniform(-5, 8, 5), rng.uniform(-2, 12, 3)])
    pairs = sure + rivals + doubt
    found = normalise(tables, pairs, score, 60)
    assert found == pytest.approx(marginals(score, pairs), abs=1e-4)
    assert set(by_pair(tables.fetch("SELECT * FROM now_0"), "score")) == set(doubt)


def test_sure_by_itself_is_not_sure_among_rivals(tables):
    """Of three pairs in a row the middle one is likelier than either other, but not than both."""
    pairs, score = [(0, 0), (1, 0), (1, 1)], np.array([18.0, 25.0, 18.0])
    assert normalise(tables, pairs, score, 60) == pytest.approx(marginals(score, pairs), abs=1e-4)


def test_one_step_is_that_of_sum_product(tables):
    rng = np.random.default_rng(3)
    pairs = [(i, j) for i in range(4) for j in range(3)]
    score = rng.normal(size=len(pairs))
    w = np.exp(score).reshape(4, 3)
    alpha, beta = np.ones_like(w), np.ones_like(w)
    for _ in range(3):
        row, column = w * beta, w * alpha
        new = 1 / (1 + row.sum(axis=1, keepdims=True) - row), 1 / (1 + column.sum(axis=0) - column)
        alpha, beta = np.sqrt(alpha * new[0]), np.sqrt(beta * new[1])
    wanted = w * alpha * beta / (1 + w * alpha * beta)
    assert normalise(tables, pairs, score, 3) == pytest.approx(wanted.ravel(), abs=1e-8)


def test_blocking_scores_and_candidates(tables):
    world = World(tables, seed=5, sizes=(30, 25))
    near = [np.array([[0, 0], [1, 1], [2, 2], [0, 1]]), np.array([[0, 0], [2, 2]])]
    gain = [np.array([2.0, 3.0, 4.0, 1.0]), np.array([2.5, 1.5])]
    tables.put("block_0", {"x": near[0][:, 0], "y": near[0][:, 1]})
    tables.put("block_1", {"x": [0], "y": [0]})
    tables.put("both_0_1", {"x": [1], "y": [2]})
    for place in range(2):
        tables.put(f"near_{place}", {"x": near[place][:, 0], "y": near[place][:, 1], "gain": gain[place]})
    tables.write("blocks", blocked(2, [(0, 1)]))
    tables.write("scores", scored("blocks", [-1.0, -0.5]))
    wanted = {}
    for i, j in world.pairs:
        (x, u), (y, v) = (
            [codes[f"f{k}"][r] for k in range(2)] for codes, r in ((world.codes_a, i), (world.codes_b, j))
        )
        met = [x, y] in near[0].tolist() or (u, v) == (0, 0) or (x, u, y, v) == (1, 2, 1, 2)
        if met:
            wanted[i, j] = 0.0
            for place, (left, right) in enumerate([(x, y), (u, v)]):
                if left >= 0 and right >= 0:
                    at = np.flatnonzero((near[place] == [left, right]).all(axis=1))
                    wanted[i, j] += (-1.0, -0.5)[place] + (gain[place][at[0]] if len(at) else 0.0)
    found = by_pair(tables.fetch("SELECT * FROM scores"), "score")
    assert found == pytest.approx(wanted)
    tables.drop("apart")
    tables.put("apart", {"i": [next(iter(wanted))[0]], "j": [next(iter(wanted))[1]]})
    kept = by_pair(tables.fetch(best_candidates("scores", 2, 1.0, "apart")), "score")
    able = {pair: value for pair, value in wanted.items() if value >= 1.0 and pair != next(iter(wanted))}

    def rank(pair, side):
        rivals = [other for other in able if other[side] == pair[side]]
        return sorted(rivals, key=lambda other: (-able[other], other)).index(pair)

    assert set(kept) == {pair for pair in able if rank(pair, 0) < 2 or rank(pair, 1) < 2}
    for place in range(2):
        tables.put(f"said_f{place}", {"x": near[place][:, 0], "y": near[place][:, 1], "e": gain[place]})
    said = by_pair(tables.fetch(evidence("scores", "said", ["f0", "f1"])), "e")
    assert len(said) == len(wanted)


def test_sure_pairs_lead_to_their_neighbours(tables):
    world = World(tables, seed=7)
    tables.put("sure", {"i": [0], "j": [1], "q": [0.9], "c": [world.c[0, 1]]})
    rows = tables.fetch(reached("sure", 50, sure=0.3, busiest=300))
    wanted = set(product(np.flatnonzero(world.tied[0][0]), np.flatnonzero(world.tied[1][1])))
    assert set(by_pair(rows, "score")) == wanted
    assert not len(tables.fetch(reached("sure", 50, sure=0.95, busiest=300))["i"])
