"""
Starts near different modes: embed the files separately, then search the isometries that lay one over the other.

The modes that matter are each file's own rotation and reflection relative to the other. An isometry R is scored by
S(R) = sum_a log(1 + sum_b BF_ab(R)/n2) + sum over anchors of log BF, where BF_ab(R) is the profile Bayes factor times
the Bayes factor of one shared position, both records' positions being Gaussian given their own file.
"""

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import logsumexp

from tielink.exact.fit import add_slopes
from tielink.exact.start import ascend, disturbed, height, scaling, settle, start
from tielink.exact.state import NOBODY, State, init
from tielink.exact.target import Target

# A record's information given its neighbours' *estimated* positions overstates what is known about it.
_CAUTION = 0.5
_ANGLES = 180


@njit(cache=True)
def _informations(side, caution, state, target):
    """F_i of every record of a file at its current position, (n, K, K)."""
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    dimension, n = x.shape
    out = np.zeros((n, dimension, dimension))
    gradient, u = np.empty(dimension), np.empty(dimension)
    for i in range(n):
        for k in range(dimension):
            u[k] = x[k, i]
        beta = state.intercept[side]
        add_slopes(u, x, ties[i], beta, target.link, i, NOBODY[0], caution, gradient, out[i])
        for k in range(dimension):
            out[i, k, k] += 1.0 / state.spread[0]
            for h in range(k):
                out[i, h, k] = out[i, k, h]
    return out


def separate(rng: np.random.Generator, target: Target, restarts: int = 6) -> State:
    """Each file by itself, nobody linked, not even anchors; each file keeps its highest of `restarts` modes."""
    alone = target._replace(anchor_a=np.full_like(target.anchor_a, -1), anchor_b=np.full_like(target.anchor_b, -1))
    state = best = init(rng, alone)
    best_height = np.full(2, -np.inf)
    layout_a = scaling(target.adjacency_a, target.dimension)
    layout_b = scaling(target.adjacency_b, target.dimension)
    for _ in range(restarts):
        state = init(rng, alone)
        state.position_a[:], state.position_b[:] = disturbed(rng, layout_a), disturbed(rng, layout_b)
        settle(rng, state, alone)
        heights = height(state, alone)
        for side in range(2):
            if heights[side] > best_height[side]:
                best_height[side] = heights[side]
                (best.position_a, best.position_b)[side][:] = (state.position_a, state.position_b)[side]
                best.intercept[side] = state.intercept[side]
    best.spread[:] = state.spread
    ascend(best, alone, 20, True)
    return best


class Overlay:
    """The pairwise Bayes factors of one separate embedding as a function of the isometry."""

    def __init__(self, state: State, target: Target) -> None:
        self.mean_a, self.mean_b = state.position_a.T.copy(), state.position_b.T.copy()
        self.information_a = _informations(0, _CAUTION, state, target)
        self.information_b = _informations(1, _CAUTION, state, target)
        self.spread = float(state.spread[0])
        self.log_bf = target.log_bf
        self.anchored = np.flatnonzero(target.anchor_a >= 0)
        self.anchor = target.anchor_a[self.anchored]
        self.free_a = np.flatnonzero(target.anchor_a < 0)
        self.free_b = np.flatnonzero(target.anchor_b < 0)

    def log_bayes_factors(self, isometry: NDArray[np.float64]) -> NDArray[np.float64]:
        """log BF_ab(R): the integral of N_a N_b/prior over one shared position, times the profile's Bayes factor."""
        dimension = self.mean_a.shape[1]
        f_a, f_b = self.information_a, isometry @ self.information_b @ isometry.T
        h_a = np.einsum("ikl,il->ik", f_a, self.mean_a)
        h_b = np.einsum("jkl,jl->jk", f_b, self.mean_b @ isometry.T)
        q_a = np.einsum("ik,ik->i", h_a, self.mean_a)
        q_b = np.einsum("jk,jk->j", h_b, self.mean_b @ isometry.T)
        both = f_a[:, None] + f_b[None, :] - np.eye(dimension) / self.spread
        h = h_a[:, None] + h_b[None, :]
        q = np.einsum("ijk,ijk->ij", h, np.linalg.solve(both, h[..., None])[..., 0])
        half_logs = np.linalg.slogdet(f_a)[1][:, None] + np.linalg.slogdet(f_b)[1][None, :]
        half_logs = half_logs + dimension * np.log(self.spread) - np.linalg.slogdet(both)[1]
        return np.asarray(0.5 * (half_logs - q_a[:, None] - q_b[None, :] + q) + self.log_bf)

    def score(self, isometry: NDArray[np.float64]) -> float:
        """S(R)."""
        log_bf = self.log_bayes_factors(isometry)
        return float(log_bf[self.anchored, self.anchor].sum()) + self._free_gain(log_bf)

    def gain(self, isometry: NDArray[np.float64]) -> float:
        """The part of S(R) that comes from free records."""
        return self._free_gain(self.log_bayes_factors(isometry))

    def _free_gain(self, log_bf: NDArray[np.float64]) -> float:
        if not (self.free_a.size and self.free_b.size):
            return 0.0
        rows = logsumexp(log_bf[np.ix_(self.free_a, self.free_b)], axis=1) - np.log(self.free_b.size)
        return float(np.logaddexp(0.0, rows).sum())

    def improve(self, isometry: NDArray[np.float64]) -> NDArray[np.float64]:
        """One Procrustes step: weigh pairs softly (rows and columns at most one), then rotate onto them."""
        log_weight = self.log_bayes_factors(isometry)
        weight = np.zeros_like(log_weight)
        if self.free_a.size and self.free_b.size:
            free = log_weight[np.ix_(self.free_a, self.free_b)] - np.log(self.free_b.size)
            for _ in range(3):
                free = free - np.logaddexp(0.0, logsumexp(free, axis=1))[:, None]
                free = free - np.maximum(0.0, logsumexp(free, axis=0))[None, :]
            weight[np.ix_(self.free_a, self.free_b)] = np.exp(free)
        weight[self.anchored, self.anchor] = 1.0
        left, _, right = np.linalg.svd(self.mean_a.T @ weight @ self.mean_b)
        return np.asarray(left @ right)


def isometries(rng: np.random.Generator, overlay: Overlay, restarts: int) -> list[NDArray[np.float64]]:
    """Candidates: both signs (K = 1), rotations and reflections on a grid (K = 2), improved random ones (K >= 3)."""
    dimension = overlay.mean_a.shape[1]
    if dimension == 1:
        return [np.array([[1.0]]), np.array([[-1.0]])]
    if dimension == 2:
        angles = 2.0 * np.pi * (np.arange(_ANGLES) + rng.random()) / _ANGLES
        cosine, sine = np.cos(angles), np.sin(angles)
        turns = [np.array([[c, -s], [s, c]]) for c, s in zip(cosine, sine, strict=True)]
        return turns + [turn @ np.diag([1.0, -1.0]) for turn in turns]
    found = []
    for restart in range(restarts):
        if restart == 0 and overlay.anchored.size:
            left, _, right = np.linalg.svd(overlay.mean_a[overlay.anchored].T @ overlay.mean_b[overlay.anchor])
            isometry = left @ right
        else:
            isometry, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
        for _ in range(8):
            isometry = overlay.improve(isometry)
        found.append(isometry)
    return found


def best_isometries(
    rng: np.random.Generator, overlay: Overlay, number: int, restarts: int = 24
) -> list[tuple[float, NDArray[np.float64]]]:
    """The `number` best isometries, far enough apart to be different modes, as (S, R), best first."""
    scored = sorted(
        ((overlay.score(r), i, r) for i, r in enumerate(isometries(rng, overlay, restarts))), key=lambda t: -t[0]
    )
    chosen: list[tuple[float, NDArray[np.float64]]] = []
    for value, _, isometry in scored:
        if all(np.linalg.norm(isometry - other) > 0.5 for _, other in chosen):
            chosen.append((value, isometry))
        if len(chosen) == number:
            break
    return chosen


def overlaid(
    rng: np.random.Generator, state: State, target: Target, isometry: NDArray[np.float64], rounds: int = 30
) -> State:
    """The joint start of a separate embedding under one isometry: anchors linked at their mean, then climbed."""
    out = init(rng, target)
    # A little noise, so that an alignment used by two chains does not start them on the same spot.
    out.position_a[:] = state.position_a + 0.2 * rng.standard_normal(state.position_a.shape)
    out.position_b[:] = isometry @ state.position_b + 0.2 * rng.standard_normal(state.position_b.shape)
    out.intercept[:], out.spread[:] = state.intercept, state.spread
    anchored = np.flatnonzero(target.anchor_a >= 0)
    partner = target.anchor_a[anchored]
    middle = 0.5 * (out.position_a[:, anchored] + out.position_b[:, partner])
    out.position_a[:, anchored] = middle
    out.position_b[:, partner] = middle
    ascend(out, target, rounds, True)
    return out


def align(rng: np.random.Generator, target: Target, number: int = 4, embeddings: int = 1) -> list[State]:
    """
    Starts for `number` chains, best alignment first; fewer distinct alignments are used again in turn.

    With one network or none there is nothing to align, and every start is a plain `start`.
    """
    if not target.observed.all():
        return [start(rng, target) for _ in range(number)]
    found = []
    for _ in range(embeddings):
        state = separate(rng, target)
        overlay = Overlay(state, target)
        found += [(value, state, isometry) for value, isometry in best_isometries(rng, overlay, number)]
    found.sort(key=lambda t: -t[0])
    return [overlaid(rng, state, target, isometry) for _, state, isometry in (found * number)[:number]]


def promise(state: State, target: Target) -> float:
    """
    How good a start is: its height plus what its free records gain by being overlaid as they stand.

    Nobody but anchors is linked in a start, so all starts have the same N and their heights can be compared.
    """
    anchored = np.flatnonzero(target.anchor_a >= 0)
    # `height` counts a prior per record; an anchored pair is one person.
    twice = 0.5 * (state.position_a[:, anchored] ** 2).sum() / state.spread[0]
    gain = Overlay(state, target).gain(np.eye(target.dimension))
    return float(height(state, target).sum() + twice + gain)


def best_start(rng: np.random.Generator, target: Target, alignments: int = 3) -> State:
    """
    A start for one chain: the most promising of a few alignments of separate embeddings and of one joint embedding.

    Alignments do best when anchors are few, the joint embedding when there are many: with a quarter of the smaller file
    anchored it is the only one looked for. Every chain searches for itself, with its own randomness, so that chains
    which end in different modes tell that there are such.
    """
    joint = start(rng, target, restarts=2)
    many = 4 * (target.anchor_a >= 0).sum() >= min(target.log_bf.shape)
    if many or not target.observed.all():
        return joint
    return max([joint, *align(rng, target, alignments)], key=lambda state: promise(state, target))
