"""The sum over true values of fields that depend on each other, along their tree.

Given what a person's records say, the true value of each field has, were fields independent, the weights b(v) that come
of p(v) and f(x | v). With R(u, v) = p(u, v)/p(u)p(v) for two fields that the tree joins, what dependence adds is

    C = sum over (v_1, ..., v_L) of prod_l b_l(v_l) * prod over edges R(v_l, v_parent of l).

A few true values of each field are laid out: those that the records may stand for and, of inner fields, those seen with
the ones laid out next to them. All others are one more, the lump, whose R is the mean: it follows from the sums of
p(u)R(u, v) over all u, which are 1.
"""

import numpy as np

from tielink.kernels import entry_of, njit

MOST = 40
FEW = 8


@njit
def _add(v, codes, count):
    """Add v to those laid out, unless it is there or there is no room; return their number."""
    for s in range(count):
        if codes[s] == v:
            return count
    if count < MOST:
        codes[count] = v
        return count + 1
    return count


@njit
def _lay_out(tree, rows, members, codes, count):
    """Lay out the true values of every field."""
    fields = count.size
    for field in range(fields):
        count[field] = 0
        for r in members:
            row = -1 if r < 0 else rows.place[r, field]
            if row >= 0:
                for entry in range(rows.start[row], rows.start[row + 1]):
                    count[field] = _add(rows.truth[entry], codes[field], count[field])
    if fields == 2:
        return
    own = count.copy()
    for child in range(fields - 1):
        parent = tree.parent[child]
        if tree.degree[parent] > 1:
            for s in range(own[child]):
                v = codes[child, s]
                if tree.start[v + 1] - tree.start[v] <= FEW:
                    for entry in range(tree.start[v], tree.start[v + 1]):
                        count[parent] = _add(tree.to[entry], codes[parent], count[parent])
        if tree.degree[child] > 1:
            for s in range(own[parent]):
                at = tree.below[child] + codes[parent, s]
                if tree.back_start[at + 1] - tree.back_start[at] <= FEW:
                    for entry in range(tree.back_start[at], tree.back_start[at + 1]):
                        count[child] = _add(tree.back[entry], codes[child], count[child])


@njit
def _weigh(prior, rows, rates, members, field, codes, count, weight):
    """Write b(v) of the true values laid out, the lump last; return the prior probability of the lump."""
    lump = 1.0
    for s in range(count):
        lump -= prior[codes[s]]
        weight[s] = prior[codes[s]]
    lump = max(lump, 0.0)
    weight[count] = lump
    for r in members:
        row = -1 if r < 0 else rows.place[r, field]
        if row < 0:
            continue
        rate = rates[r, field]
        for s in range(count):
            entry = entry_of(rows.start, rows.truth, row, codes[s])
            if entry < 0:
                weight[s] *= rate * rows.far[row]
            else:
                weight[s] *= (1.0 - rate) * rows.clean[entry] + rate * rows.distorted[entry]
        weight[count] *= rate * rows.outside[row]
    weight[: count + 1] /= weight[: count + 1].sum()
    return lump


@njit
def _ratios(tree, child, codes, count, lump, ratio):
    """Write R of the child's true values (rows) and the parent's (columns) as laid out, the lumps last."""
    parent = tree.parent[child]
    mine, theirs = count[child], count[parent]
    for s in range(mine):
        v = codes[child, s]
        for t in range(theirs):
            u = codes[parent, t]
            ratio[s, t] = tree.own[v] * tree.others[tree.below[child] + u] * tree.scale[child]
            entry = entry_of(tree.start, tree.to, v, u)
            if entry >= 0:
                ratio[s, t] += tree.seen[entry]
    for s in range(mine):
        left = 1.0
        for t in range(theirs):
            left -= tree.prior[codes[parent, t]] * ratio[s, t]
        ratio[s, theirs] = max(left, 0.0) / max(lump[parent], 1e-12)
    for t in range(theirs + 1):
        left = 1.0
        for s in range(mine):
            left -= tree.prior[codes[child, s]] * ratio[s, t]
        ratio[mine, t] = max(left, 0.0) / max(lump[child], 1e-12)


@njit
def tree_sums(tree, rows, records, rates, out):
    """Write log C of each row of `records`, filled up with -1; children come before parents."""
    fields = tree.parent.size
    codes, count = np.empty((fields, MOST), dtype=np.int64), np.empty(fields, dtype=np.int64)
    weight, ratio, lump = np.empty((fields, MOST + 1)), np.empty((MOST + 1, MOST + 1)), np.empty(fields)
    for person in range(records.shape[0]):
        members = records[person]
        _lay_out(tree, rows, members, codes, count)
        for field in range(fields):
            lump[field] = _weigh(tree.prior, rows, rates, members, field, codes[field], count[field], weight[field])
        for child in range(fields - 1):
            parent = tree.parent[child]
            _ratios(tree, child, codes, count, lump, ratio)
            for t in range(count[parent] + 1):
                message = 0.0
                for s in range(count[child] + 1):
                    message += weight[child, s] * ratio[s, t]
                weight[parent, t] *= message
        out[person] = np.log(weight[fields - 1, : count[fields - 1] + 1].sum())
