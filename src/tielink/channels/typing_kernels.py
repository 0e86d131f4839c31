"""Typing errors: the probability of typing x for v, and its sums over truths drawn from a language model.

The channel ch reads v from left to right. Before each character and at the end it inserts further uniform letters, each
with probability ι; each character is dropped (δ), replaced by a uniform letter (σ) or copied (κ = 1 − δ − σ). So
Σ_x ch(x | v) = 1.

Sums over truths v ~ LM run over (position in x, state of the model). A truth's character that is dropped by every
record moves the state and no position; those loops sum to (I − εT)⁻¹, where ε is the probability of one loop and T the
model's transitions. With Q = (I − εT)⁻¹T, a cell whose entries from elsewhere are `base` holds
e = base·(I − εT)⁻¹ = base + ε·base·Q, and e·T = base·Q: one product a cell.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.kernels import njit


class Typing(NamedTuple):
    """The typing channel."""

    letters: NDArray[np.float64]
    """The probability of each character where one is typed at random."""
    insert: float
    """ι."""
    drop: float
    """δ."""
    replace: float
    """σ."""
    kept: bool
    """Whether the first letter is never touched."""


@njit(nogil=True)
def typed_many(text, left, right, typing, out):
    """out[p] = ch(right | left) of many pairs of strings, a dynamic program over |v|·|x| cells each."""
    letters, insert, drop, replace, kept = typing
    start = 1 if kept else 0
    copy = 1.0 - drop - replace
    for p in range(left.size):
        v = text.characters[text.begins[left[p]] : text.begins[left[p] + 1]]
        x = text.characters[text.begins[right[p]] : text.begins[right[p] + 1]]
        n, m = x.size, v.size
        if kept and (n == 0 or m == 0 or x[0] != v[0]):
            out[p] = 0.0
            continue
        row = np.zeros(n + 1)
        row[start] = 1.0
        for j in range(start + 1, n + 1):
            row[j] = row[j - 1] * insert * letters[x[j - 1]]
        for i in range(start, m):
            before = 0.0
            here = 0.0
            for j in range(start, n + 1):
                above = row[j] * (1.0 - insert)
                if j > start:
                    here *= insert * letters[x[j - 1]]
                    here += before * (replace * letters[x[j - 1]] + (copy if x[j - 1] == v[i] else 0.0))
                here += above * drop
                before = above
                row[j] = here
        out[p] = row[n] * (1.0 - insert)


@njit(nogil=True)
def _times(vector, matrix, out):
    """out = vector·matrix; four rows at a time, which saves reads and writes of `out`."""
    size = vector.size
    fours = size - size % 4
    out[:] = 0.0
    for s in range(0, fours, 4):
        a, b, c, d = vector[s], vector[s + 1], vector[s + 2], vector[s + 3]
        for t in range(size):
            out[t] += a * matrix[s, t] + b * matrix[s + 1, t] + c * matrix[s + 2, t] + d * matrix[s + 3, t]
    for s in range(fours, size):
        for t in range(size):
            out[t] += vector[s] * matrix[s, t]


@njit(nogil=True)
def truth_sum_many(text, which, model, Q, typing, out):
    """out[p] = Σ_v LM(v)·ch(x | v) of many strings x."""
    letters, insert, drop, replace, kept = typing
    state, share, begin, size = model.state, model.share, model.moves[-1], model.end.size
    copy = 1.0 - drop - replace
    loop = (1.0 - insert) * drop
    for p in range(which.size):
        x = text.characters[text.begins[which[p]] : text.begins[which[p] + 1]]
        n = x.size
        base, e, u = np.zeros(size), np.zeros(size), np.zeros(size)
        first = 0
        if kept:
            if n == 0:
                out[p] = 0.0
                continue
            first = 1
            base[state[x[0]]] = begin[state[x[0]]] * share[x[0]]
        else:
            base[size - 1] = 1.0
        for j in range(first, n + 1):
            _times(base, Q, u)
            for s in range(size):
                e[s] = base[s] + loop * u[s]
            if j < n:
                letter = letters[x[j]]
                for s in range(size):
                    base[s] = letter * (insert * e[s] + (1.0 - insert) * replace * u[s])
                here = state[x[j]]
                base[here] += (1.0 - insert) * copy * share[x[j]] * u[here]
        total = 0.0
        for s in range(size):
            total += e[s] * model.end[s]
        out[p] = total * (1.0 - insert)


@njit(nogil=True)
def shared_sum_many(text, left, right, model, Q, typing, out):
    """out[p] = Σ_v LM(v)·ch(x | v)·ch(y | v) of many pairs of strings; `Q` is that of two records, ε = (1−ι)²δ²."""
    letters, insert, drop, replace, kept = typing
    state, share, begin, size = model.state, model.share, model.moves[-1], model.end.size
    copy = 1.0 - drop - replace
    go = (1.0 - insert) ** 2
    loop = go * drop * drop
    first = 1 if kept else 0
    for p in range(left.size):
        x = text.characters[text.begins[left[p]] : text.begins[left[p] + 1]]
        y = text.characters[text.begins[right[p]] : text.begins[right[p] + 1]]
        n, m = x.size, y.size
        if kept and (n == 0 or m == 0 or x[0] != y[0]):
            out[p] = 0.0
            continue
        # e: all insertions done; f: those of x done; u = e·T. Of the row above and of the row at hand.
        e, f, u = np.zeros((2, m + 1, size)), np.zeros((2, m + 1, size)), np.zeros((2, m + 1, size))
        base = np.empty(size)
        for j in range(first, n + 1):
            now, above = j % 2, 1 - j % 2
            for k in range(first, m + 1):
                base[:] = 0.0
                if j == first and k == first:
                    if kept:
                        base[state[x[0]]] = begin[state[x[0]]] * share[x[0]]
                    else:
                        base[size - 1] = 1.0
                if j > first:
                    one, letter = go * drop, letters[x[j - 1]]
                    for s in range(size):
                        base[s] += letter * (insert * f[above, k, s] + one * replace * u[above, k, s])
                    cx = state[x[j - 1]]
                    base[cx] += one * copy * share[x[j - 1]] * u[above, k, cx]
                if k > first:
                    one, letter = go * drop, letters[y[k - 1]]
                    for s in range(size):
                        base[s] += letter * (insert * e[now, k - 1, s] + one * replace * u[now, k - 1, s])
                    cy = state[y[k - 1]]
                    base[cy] += one * copy * share[y[k - 1]] * u[now, k - 1, cy]
                if j > first and k > first:
                    a, b = x[j - 1], y[k - 1]
                    to_a, to_b = replace * letters[a], replace * letters[b]
                    for s in range(size):
                        base[s] += go * to_a * to_b * u[above, k - 1, s]
                    base[state[a]] += go * to_b * copy * share[a] * u[above, k - 1, state[a]]
                    base[state[b]] += go * to_a * copy * share[b] * u[above, k - 1, state[b]]
                    if a == b:
                        base[state[a]] += go * copy * copy * share[a] * u[above, k - 1, state[a]]
                _times(base, Q, u[now, k])
                for s in range(size):
                    e[now, k, s] = base[s] + loop * u[now, k, s]
                    f[now, k, s] = e[now, k, s]
                if k > first:
                    letter = letters[y[k - 1]]
                    for s in range(size):
                        f[now, k, s] -= insert * letter * e[now, k - 1, s]
        total = 0.0
        for s in range(size):
            total += e[n % 2, m, s] * model.end[s]
        out[p] = total * go


@njit(nogil=True)
def seen_sum_many(indptr, indices, weight, one, two, left, right, out):
    """out[p] = Σ_v w(v)·one(x | v)·two(y | v) over seen strings v near both.

    Row x of the table lists the strings v near x, with `one` and `two` of (x | v).
    """
    for p in range(left.size):
        i, j = indptr[left[p]], indptr[right[p]]
        i_end, j_end = indptr[left[p] + 1], indptr[right[p] + 1]
        total = 0.0
        while i < i_end and j < j_end:
            a, b = indices[i], indices[j]
            if a == b:
                total += weight[a] * one[i] * two[j]
                i += 1
                j += 1
            elif a < b:
                i += 1
            else:
                j += 1
        out[p] = total
