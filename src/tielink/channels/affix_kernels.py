"""Affixes: the probability of writing x for v with something before it or after it, and its sums over truths.

The channel af writes v whole, with a string before it, after it, or both (a third each); what is added is drawn from
the language model of the field, given that it is not empty. So Σ_x af(x | v) = 1, and v is a part x[i:j] of x, its
*core*. Sums over truths v ~ LM are therefore finite: they run over the parts of x.
"""

import numpy as np

from tielink.kernels import njit


@njit(nogil=True)
def added(x, model):
    """Return the probabilities of x[:i] as something added before, and of x[j:] as something added after."""
    state, share, moves, end = model
    n, start = x.size, end.size - 1
    before, after = np.zeros(n + 1), np.zeros(n + 1)
    some = 1.0 - end[start]
    if some <= 0.0:
        return before, after
    run, here = 1.0, start
    for i in range(n):
        run *= moves[here, state[x[i]]] * share[x[i]]
        here = state[x[i]]
        before[i + 1] = run * end[here] / some
    run = end[here]
    for j in range(n - 1, -1, -1):
        after[j] = run * moves[start, state[x[j]]] * share[x[j]] / some
        if j > 0:
            run *= moves[state[x[j - 1]], state[x[j]]] * share[x[j]]
    return before, after


@njit(nogil=True)
def around(before, after, i, j):
    """Return the probability of what stands around the core x[i:j]."""
    last = before.size - 1
    if i == 0:
        return after[j] / 3.0 if j < last else 0.0
    return before[i] * (after[j] if j < last else 1.0) / 3.0


@njit(nogil=True)
def affixed_many(text, left, right, model, out):
    """out[p] = af(right | left) of many pairs of strings, summed over the places of the one in the other."""
    for p in range(left.size):
        v = text.characters[text.begins[left[p]] : text.begins[left[p] + 1]]
        x = text.characters[text.begins[right[p]] : text.begins[right[p] + 1]]
        before, after = added(x, model)
        total = 0.0
        for i in range(x.size - v.size + 1):
            same = True
            for k in range(v.size):
                if x[i + k] != v[k]:
                    same = False
                    break
            if same:
                total += around(before, after, i, i + v.size)
        out[p] = total


@njit(nogil=True)
def _nothing(before, after):
    """Return af(x | the empty string)."""
    total = 0.0
    for i in range(before.size):
        total += around(before, after, i, i)
    return total


@njit(nogil=True)
def core_sum_many(text, which, model, out):
    """out[p] = Σ_v LM(v)·af(x | v) of many strings x."""
    state, share, moves, end = model
    start = end.size - 1
    for p in range(which.size):
        x = text.characters[text.begins[which[p]] : text.begins[which[p] + 1]]
        before, after = added(x, model)
        total = end[start] * _nothing(before, after)
        for i in range(x.size):
            run, here = 1.0, start
            for j in range(i, x.size):
                run *= moves[here, state[x[j]]] * share[x[j]]
                here = state[x[j]]
                total += run * end[here] * around(before, after, i, j + 1)
        out[p] = total


@njit(nogil=True)
def common_core_sum_many(text, left, right, model, out):
    """out[p] = Σ_v LM(v)·af(x | v)·af(y | v) of many pairs of strings."""
    state, share, moves, end = model
    start = end.size - 1
    for p in range(left.size):
        x = text.characters[text.begins[left[p]] : text.begins[left[p] + 1]]
        y = text.characters[text.begins[right[p]] : text.begins[right[p] + 1]]
        x_before, x_after = added(x, model)
        y_before, y_after = added(y, model)
        total = end[start] * _nothing(x_before, x_after) * _nothing(y_before, y_after)
        for i in range(x.size):
            for k in range(y.size):
                run, here = 1.0, start
                for step in range(min(x.size - i, y.size - k)):
                    character = x[i + step]
                    if character != y[k + step]:
                        break
                    run *= moves[here, state[character]] * share[character]
                    here = state[character]
                    weight = around(x_before, x_after, i, i + step + 1) * around(y_before, y_after, k, k + step + 1)
                    total += run * end[here] * weight
        out[p] = total


@njit(nogil=True)
def typed_core_sum_many(text, left, right, model, typing, out):
    """out[p] = Σ_v LM(v)·ch(x | v)·af(y | v) of many pairs, with ch the typing channel (see `typing_kernels`)."""
    state, share, moves, end = model
    letters, insert, drop, replace, _ = typing
    start, copy = end.size - 1, 1.0 - drop - replace
    for p in range(left.size):
        x = text.characters[text.begins[left[p]] : text.begins[left[p] + 1]]
        y = text.characters[text.begins[right[p]] : text.begins[right[p] + 1]]
        n = x.size
        before, after = added(y, model)
        row = np.empty(n + 1)
        total = 0.0
        for i in range(y.size + 1):
            row[0] = 1.0
            for j in range(1, n + 1):
                row[j] = row[j - 1] * insert * letters[x[j - 1]]
            total += end[start] * around(before, after, i, i) * row[n] * (1.0 - insert)
            run, here = 1.0, start
            for k in range(i, y.size):
                run *= moves[here, state[y[k]]] * share[y[k]]
                here = state[y[k]]
                diagonal, value = 0.0, 0.0
                for j in range(n + 1):
                    above = row[j] * (1.0 - insert)
                    if j > 0:
                        value *= insert * letters[x[j - 1]]
                        value += diagonal * (replace * letters[x[j - 1]] + (copy if x[j - 1] == y[k] else 0.0))
                    value += above * drop
                    diagonal = above
                    row[j] = value
                total += run * end[here] * around(before, after, i, k + 1) * row[n] * (1.0 - insert)
        out[p] = total
