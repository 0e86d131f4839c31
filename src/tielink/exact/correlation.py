"""Correlated ties: what pairs gain because ties of the same two persons in both files go together.

For two linked pairs (a, b) and (a', b') the dyads (a, a') and (b, b') are a bivariate Bernoulli with unchanged margins
and odds ratio phi. Over independence they gain P(y1, y2)/(P(y1) P(y2)). With q1, q2 the probabilities of what was
observed and phi' = phi if the two observations are equal, else 1/phi, that ratio is

    2 phi'/(S + sqrt(S^2 - 4 phi' (phi' - 1) q1 q2)),   S = 1 + (q1 + q2)(phi' - 1).

`log_phi` is `State.correlation` (or a proposal for it), an array of one. Where it is None phi is 1 and every function
here is compiled to the constant 0.
"""

import math

import numpy as np
from numba import njit

from tielink.exact.row import LOGIT, exp_negative, sociality_of

_SQRT_HALF = math.sqrt(0.5)
# A ratio lies between about 1/phi and phi: a product of 32 stays in range for |log phi| < 20.
_BLOCK = 32


# Like the functions of the row kernel, this one must not be reassociated by its callers' fastmath.
@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def ratio(q1, not_q1, q2, odds):
    """P(y1, y2)/(P(y1) P(y2)); the root is a sum of positive terms and S never cancels against it."""
    rise = odds - 1.0
    s = 1.0 + (q1 + q2) * rise
    slope = 1.0 + rise * (q1 - q2)
    above = slope * slope + 4.0 * rise * q2 * not_q1
    below = s * s - 4.0 * odds * rise * q1 * q2
    root = math.sqrt(above if rise > 0.0 else below)
    return 2.0 * odds / (s + root) if s >= 0.0 else (root - s) / (-2.0 * rise * q1 * q2)


@njit(cache=True, fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _logit_product(squared, level_a, sign_a, level_b, sign_b, odds):
    product = 1.0
    inverse = 1.0 / odds
    for j in range(squared.size):
        distance = math.sqrt(squared[j])
        eta_a = sign_a[j] * (level_a[j] - distance)
        eta_b = sign_b[j] * (level_b[j] - distance)
        t = exp_negative(-abs(eta_a))
        large, small = 1.0 / (1.0 + t), t / (1.0 + t)
        q1 = large if eta_a > 0.0 else small
        not_q1 = small if eta_a > 0.0 else large
        t = exp_negative(-abs(eta_b))
        q2 = (1.0 if eta_b > 0.0 else t) / (1.0 + t)
        product *= ratio(q1, not_q1, q2, odds if sign_a[j] * sign_b[j] > 0.0 else inverse)
    return product


@njit(cache=True)
def dyad_ratio(eta_a, eta_b, odds, link):
    """The ratio of two dyads whose observed values have signed predictors eta_a and eta_b."""
    if link == LOGIT:
        t = exp_negative(-abs(eta_a))
        q1 = (1.0 if eta_a > 0.0 else t) / (1.0 + t)
        not_q1 = (t if eta_a > 0.0 else 1.0) / (1.0 + t)
        t = exp_negative(-abs(eta_b))
        return ratio(q1, not_q1, (1.0 if eta_b > 0.0 else t) / (1.0 + t), odds)
    q1 = 0.5 * math.erfc(-eta_a * _SQRT_HALF)
    not_q1 = 0.5 * math.erfc(eta_a * _SQRT_HALF)
    return ratio(q1, not_q1, 0.5 * math.erfc(-eta_b * _SQRT_HALF), odds)


@njit(cache=True)
def _sum_logs(table, count, odds, link):
    """Sum of log ratios of the first `count` columns; rows: squared distance, level and sign of each file."""
    total = 0.0
    for begin in range(0, count, _BLOCK):
        end = min(begin + _BLOCK, count)
        if link == LOGIT:
            # Rows first, then their columns: only so are the slices contiguous, and vectorised.
            product = _logit_product(
                table[0][begin:end],
                table[1][begin:end],
                table[2][begin:end],
                table[3][begin:end],
                table[4][begin:end],
                odds,
            )
            total += math.log(product)
        else:
            for j in range(begin, end):
                distance = math.sqrt(table[0, j])
                eta_a = table[2, j] * (table[1, j] - distance)
                eta_b = table[4, j] * (table[3, j] - distance)
                same = table[2, j] * table[4, j] > 0.0
                total += math.log(dyad_ratio(eta_a, eta_b, odds if same else 1.0 / odds, link))
    return total


@njit(cache=True)
def gain_at(log_phi, u, members, skips, shift_a, shift_b, state, target):
    """
    Log of the product of ratios of the pair `members` at u with every other linked pair, to the power of temperature.

    0 for a person with one record. Pairs that hold a member or one of `skips` are left out. `shift_a` and `shift_b` are
    added to the predictors of the members' dyads (a proposed sociality less the current one).
    """
    if log_phi is None:
        return 0.0
    a, b = members
    part_a, part_b = target.correlated_a, target.correlated_b
    if a < 0 or b < 0 or not (part_a[a] and part_b[b]):
        return 0.0
    n1 = state.partner_a.size
    table = np.empty((5, n1))
    level_a = state.intercept[0] + shift_a + sociality_of(state.sociality_a, a)
    level_b = state.intercept[1] + shift_b + sociality_of(state.sociality_b, b)
    ties_a, ties_b = target.adjacency_a[a], target.adjacency_b[b]
    count = 0
    for i in range(n1):
        j = state.partner_a[i]
        if j < 0 or i == a or j == b or i == skips[0] or j == skips[1] or not (part_a[i] and part_b[j]):
            continue
        squared = 0.0
        for k in range(u.size):
            squared += (u[k] - state.position_a[k, i]) ** 2
        table[0, count] = squared
        table[1, count] = level_a + sociality_of(state.sociality_a, i)
        table[2, count] = 1.0 if ties_a[i] else -1.0
        table[3, count] = level_b + sociality_of(state.sociality_b, j)
        table[4, count] = 1.0 if ties_b[j] else -1.0
        count += 1
    return target.temperature * _sum_logs(table, count, math.exp(log_phi[0]), target.link)


@njit(cache=True)
def pair_gain(log_phi, u, members, skips, state, target):
    """What the pair `members` gains at u from every other linked pair but those of `skips`."""
    return gain_at(log_phi, u, members, skips, 0.0, 0.0, state, target)


@njit(cache=True)
def cross_gain(log_phi, u, v, first, second, state, target):
    """Log ratio of the two dyads between the persons `first` at u and `second` at v, each named by two records."""
    if log_phi is None:
        return 0.0
    part_a, part_b = target.correlated_a, target.correlated_b
    if not (part_a[first[0]] and part_a[second[0]] and part_b[first[1]] and part_b[second[1]]):
        return 0.0
    squared = 0.0
    for k in range(u.size):
        squared += (u[k] - v[k]) ** 2
    distance = math.sqrt(squared)
    social_a, social_b = state.sociality_a, state.sociality_b
    level_a = state.intercept[0] + sociality_of(social_a, first[0]) + sociality_of(social_a, second[0])
    level_b = state.intercept[1] + sociality_of(social_b, first[1]) + sociality_of(social_b, second[1])
    sign_a = 1.0 if target.adjacency_a[first[0], second[0]] else -1.0
    sign_b = 1.0 if target.adjacency_b[first[1], second[1]] else -1.0
    log_odds = log_phi[0] * sign_a * sign_b
    value = dyad_ratio(sign_a * (level_a - distance), sign_b * (level_b - distance), math.exp(log_odds), target.link)
    return target.temperature * math.log(value)


@njit(cache=True)
def total_gain(log_phi, intercept_a, intercept_b, stretch, state, target):
    """Log ratios of all pairs of linked pairs, at any log phi and intercepts, every distance times `stretch`."""
    if log_phi is None:
        return 0.0
    n1 = state.partner_a.size
    who = np.empty(n1, np.int64)
    table = np.empty((5, n1))
    factor = stretch * stretch
    count, total = 0, 0.0
    for i in range(n1):
        j = state.partner_a[i]
        if j < 0 or not (target.correlated_a[i] and target.correlated_b[j]):
            continue
        level_a = intercept_a + sociality_of(state.sociality_a, i)
        level_b = intercept_b + sociality_of(state.sociality_b, j)
        for p in range(count):
            h = who[p]
            g = state.partner_a[h]
            squared = 0.0
            for k in range(state.position_a.shape[0]):
                squared += (state.position_a[k, i] - state.position_a[k, h]) ** 2
            table[0, p] = factor * squared
            table[1, p] = level_a + sociality_of(state.sociality_a, h)
            table[2, p] = 1.0 if target.adjacency_a[i, h] else -1.0
            table[3, p] = level_b + sociality_of(state.sociality_b, g)
            table[4, p] = 1.0 if target.adjacency_b[j, g] else -1.0
        total += _sum_logs(table, count, math.exp(log_phi[0]), target.link)
        who[count] = i
        count += 1
    return target.temperature * total


@njit(cache=True)
def intercept_gain(side, old, new, state, target):
    """What `total_gain` changes by when the intercept of file `side` goes from `old` to `new`."""
    there = state.intercept[1 - side]
    after, before = (new, there) if side == 0 else (there, new), (old, there) if side == 0 else (there, old)
    gained = total_gain(state.correlation, after[0], after[1], 1.0, state, target)
    return gained - total_gain(state.correlation, before[0], before[1], 1.0, state, target)


@njit(cache=True)
def add_partner_gains(log_phi, u, side, record, factor, state, target, out):
    """
    Add, for every record b of the other file, `factor` times roughly what `record` at u and b would gain as a pair.

    A help for proposals: b's own sociality is taken as 0, its position as u. Pairs that hold `record` are left out, so
    that nothing depends on whom it is linked to now.
    """
    if log_phi is None:
        return
    ties_here = (target.adjacency_a, target.adjacency_b)[side]
    ties_there = (target.adjacency_a, target.adjacency_b)[1 - side]
    part_here = (target.correlated_a, target.correlated_b)[side]
    part_there = (target.correlated_a, target.correlated_b)[1 - side]
    x = (state.position_a, state.position_b)[side]
    partner = (state.partner_a, state.partner_b)[side]
    social_here = (state.sociality_a, state.sociality_b)[side]
    social_there = (state.sociality_a, state.sociality_b)[1 - side]
    if not part_here[record]:
        return
    gains = np.zeros(out.size)
    base, same = 0.0, math.exp(log_phi[0])
    for i in range(partner.size):
        j = partner[i]
        if j < 0 or i == record or not (part_here[i] and part_there[j]):
            continue
        squared = 0.0
        for k in range(u.size):
            squared += (u[k] - x[k, i]) ** 2
        distance = math.sqrt(squared)
        here = state.intercept[side] - distance + sociality_of(social_here, record) + sociality_of(social_here, i)
        there = state.intercept[1 - side] - distance + sociality_of(social_there, j)
        sign = 1.0 if ties_here[record, i] else -1.0
        odds = same if sign > 0.0 else 1.0 / same
        tied = math.log(dyad_ratio(sign * here, there, odds, target.link))
        untied = math.log(dyad_ratio(sign * here, -there, 1.0 / odds, target.link))
        base += untied
        _add_ties(ties_there[j], tied - untied, gains)
    for b in range(out.size):
        if part_there[b]:
            out[b] += factor * target.temperature * (gains[b] + base)


@njit(cache=True, fastmath={"contract"}, error_model="numpy")
def _add_ties(ties, weight, out):
    for b in range(out.size):
        out[b] += weight * ties[b]
