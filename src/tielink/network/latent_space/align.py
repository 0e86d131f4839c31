"""
Starts near different modes: embed two files separately, then search the isometries that lay one over the other.

The modes that matter are each file's own rotation and reflection relative to the other. An isometry R is scored by
S(R) = sum_a log(1 + sum_b BF_ab(R)/n2) + sum over linked pairs of log BF, where BF_ab(R) is the profile Bayes factor
times the Bayes factor of one shared position, both records' positions being Gaussian given their own file.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from tielink.channels.channel import Floats
from tielink.network.latent_space.proposal import add_slopes
from tielink.network.latent_space.space import Latent, Layout, Space, empty_layout, make_tuning, position_of
from tielink.network.latent_space.start import DISTURBED, ascend, heights, joint_layout, scaling, settle
from tielink.sampler.partition import Clusters

__all__ = ["Overlay", "find_layout"]

CAUTION = 0.5
"""A record's information given its neighbours' *estimated* positions overstates what is known about it."""
ANGLES = 180
RESTARTS = 24
NOISE = 0.2
"""So that an alignment used by two chains does not start them on the same spot."""
ENOUGH = 0.25
"""With this share of the smaller file linked, the networks lie over each other as they are."""


def _informations(file: int, layout: Layout, space: Space) -> Floats:
    """Return F_i of every record of a file at its current position, (n, K, K)."""
    dimension, records = space.dimension, np.flatnonzero(space.file_of == file)
    lower = np.zeros((len(records), dimension, dimension))
    for i, record in enumerate(records):
        u = position_of(layout, record)
        add_slopes(u, record, records[i : i + 1], layout, space, np.zeros(dimension), lower[i])
    lower += np.eye(dimension) / layout.spread[0]
    return np.asarray(lower + np.tril(lower, -1).transpose(0, 2, 1))


def find_layout(rng: np.random.Generator, state: Clusters, space: Space, log_bf: Floats | None) -> Layout:
    """
    A start for one chain: the most promising of a few alignments of separate embeddings and of one joint embedding.

    Alignments do best when few are linked, the joint embedding when many are. Every chain searches for itself, with its
    own randomness, so that chains which end in different modes tell that there are such. `log_bf` is the profile
    evidence of all pairs of two files; None where there is nothing to align.
    """
    joint = joint_layout(rng, state, space)
    if log_bf is None or not space.observed.all():
        return joint
    pairs = state.member[state.size == 2] - np.array([0, space.offset[1]])
    if len(pairs) >= ENOUGH * min(log_bf.shape):
        return joint
    layout = _separate(rng, state, space)
    overlay = Overlay(layout, space, log_bf, pairs)
    starts = [joint, *(_overlaid(rng, layout, r, state, space, pairs) for r in best_isometries(rng, overlay, 3))]
    return max(starts, key=lambda layout: _promise(layout, space, log_bf, pairs))


def _separate(rng: np.random.Generator, state: Clusters, space: Space, restarts: int = 6) -> Layout:
    """Return each file's highest of a few layouts by itself, nobody linked, not even anchors."""
    records = np.arange(len(state.label))
    member = np.full_like(state.member, -1)
    member[:, 0] = records
    number = np.array([len(records), 0])
    alone = state._replace(label=records, member=member, size=np.ones_like(state.size), number=number)
    best, best_height = empty_layout(space), np.full(2, -np.inf)
    files = [slice(begin, end) for begin, end in pairwise(space.offset)]
    scaled = np.hstack([scaling(space.adjacency[here, : here.stop - here.start], space.dimension) for here in files])
    for _ in range(restarts):
        layout = empty_layout(space)
        for here in files:
            layout.position[:, here] = scaled[:, here] + DISTURBED * rng.standard_normal(scaled[:, here].shape)
        settle(rng, alone, layout, space)
        for file, height in enumerate(heights(layout, space)):
            if height > best_height[file]:
                best_height[file] = height
                best.position[:, files[file]] = layout.position[:, files[file]]
                best.intercept[file] = layout.intercept[file]
        best.spread[:] = layout.spread
    ascend(alone, Latent(best, space, make_tuning(space)), 20)
    return best


class Overlay:
    """The pairwise Bayes factors of one separate embedding as a function of the isometry."""

    def __init__(self, layout: Layout, space: Space, log_bf: Floats, pairs: NDArray[np.int64]) -> None:
        cautious = space._replace(temperature=CAUTION)
        self.mean_a, self.mean_b = np.split(layout.position.T.copy(), space.offset[1:-1])
        self.information_a, self.information_b = (_informations(file, layout, cautious) for file in (0, 1))
        self.spread = float(layout.spread[0])
        self.log_bf = log_bf
        self.pairs = pairs
        self.free = np.ix_(*(np.setdiff1d(np.arange(n), pairs[:, side]) for side, n in enumerate(log_bf.shape)))

    def log_bayes_factors(self, isometry: Floats) -> Floats:
        """Return log BF_ab(R): the integral of N_a N_b/prior over one shared position, and the profile's."""
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

    def gain(self, isometry: Floats) -> tuple[float, float]:
        """Return the parts of S(R) that come from linked and from free records."""
        log_bf = self.log_bayes_factors(isometry)
        linked, free = float(log_bf[tuple(self.pairs.T)].sum()), log_bf[self.free]
        if not free.size:
            return linked, 0.0
        return linked, float(np.logaddexp(0.0, logsumexp(free, axis=1) - np.log(free.shape[1])).sum())

    def improve(self, isometry: Floats) -> Floats:
        """Do one Procrustes step: weigh pairs softly (rows and columns at most one), then rotate onto them."""
        log_weight = self.log_bayes_factors(isometry)
        weight, free = np.zeros_like(log_weight), log_weight[self.free]
        if free.size:
            free = free - np.log(free.shape[1])
            for _ in range(3):
                free = free - np.logaddexp(0.0, logsumexp(free, axis=1))[:, None]
                free = free - np.maximum(0.0, logsumexp(free, axis=0))[None, :]
            weight[self.free] = np.exp(free)
        weight[tuple(self.pairs.T)] = 1.0
        left, _, right = np.linalg.svd(self.mean_a.T @ weight @ self.mean_b)
        return np.asarray(left @ right)


def isometries(rng: np.random.Generator, overlay: Overlay) -> list[Floats]:
    """Candidates: both signs (K = 1), rotations and reflections on a grid (K = 2), improved random ones (K >= 3)."""
    dimension = overlay.mean_a.shape[1]
    if dimension == 1:
        return [np.array([[1.0]]), np.array([[-1.0]])]
    if dimension == 2:
        angles = 2.0 * np.pi * (np.arange(ANGLES) + rng.random()) / ANGLES
        turns = [np.array([[c, -s], [s, c]]) for c, s in zip(np.cos(angles), np.sin(angles), strict=True)]
        return turns + [turn @ np.diag([1.0, -1.0]) for turn in turns]
    found = []
    for restart in range(RESTARTS):
        if restart == 0 and len(overlay.pairs):
            left, _, right = np.linalg.svd(overlay.mean_a[overlay.pairs[:, 0]].T @ overlay.mean_b[overlay.pairs[:, 1]])
            isometry = left @ right
        else:
            isometry, _ = np.linalg.qr(rng.standard_normal((dimension, dimension)))
        for _ in range(8):
            isometry = overlay.improve(isometry)
        found.append(isometry)
    return found


def best_isometries(rng: np.random.Generator, overlay: Overlay, number: int) -> list[Floats]:
    """Return the `number` best isometries that are far enough apart to be different modes, best first."""
    scored = sorted(isometries(rng, overlay), key=lambda isometry: -sum(overlay.gain(isometry)))
    chosen: list[Floats] = []
    for isometry in scored:
        if len(chosen) < number and all(np.linalg.norm(isometry - other) > 0.5 for other in chosen):
            chosen.append(isometry)
    return chosen


def _overlaid(
    rng: np.random.Generator, layout: Layout, isometry: Floats, state: Clusters, space: Space, pairs: NDArray[np.int64]
) -> Layout:
    """Return the joint layout of a separate embedding under one isometry: the linked at their mean, then climbed."""
    out = empty_layout(space)
    first, second = np.split(layout.position, space.offset[1:-1], axis=1)
    for x, here in zip(np.split(out.position, space.offset[1:-1], axis=1), (first, isometry @ second), strict=True):
        x[:] = here + NOISE * rng.standard_normal(here.shape)
    out.intercept[:], out.spread[:] = layout.intercept, layout.spread
    a, b = (pairs + space.offset[:2]).T
    out.position[:, a] = out.position[:, b] = 0.5 * (out.position[:, a] + out.position[:, b])
    ascend(state, Latent(out, space, make_tuning(space)), 30)
    return out


def _promise(layout: Layout, space: Space, log_bf: Floats, pairs: NDArray[np.int64]) -> float:
    """
    How good a start is: its height plus what its free records gain by being overlaid as they stand.

    Who is linked is the same in all starts of a chain, so their heights can be compared.
    """
    # `heights` counts a prior per record; a linked pair is one person.
    twice = 0.5 * (layout.position[:, pairs[:, 0]] ** 2).sum() / layout.spread[0]
    gain = Overlay(layout, space, log_bf, pairs).gain(np.eye(space.dimension))[1]
    return float(heights(layout, space).sum() + twice + gain)
