"""Alignments of two lists of given names, summed."""

import numpy as np

from tielink.kernels import njit


@njit(nogil=True)
def align_pair(left, right, twice, number, drops, first, out):
    """out[t, e, d] = Σ_k q_k Σ over alignments of both lists with k true given names.

    Each true name is shown by both records, by one, or by none; the first is dropped `first` times as often as others.
    `left[s, e, i]` and `right[s, e, j]` are the sums over one true name shown by one record, s = 0 clean, 1 mistyped;
    `twice[t, e, i, j]` those of one shown by both, t in the order of `Terms`: the bits of (left mistyped, right
    mistyped).
    """
    n, m = left.shape[2], right.shape[2]
    now = np.empty((n + 1, m + 1))
    then = np.empty((n + 1, m + 1))
    for t in range(4):
        one, two = t % 2, t // 2
        for e in range(left.shape[1]):
            for at in range(drops.size):
                now[:] = 0.0
                now[0, 0] = 1.0
                total = number[0] * now[n, m]
                for k in range(1, number.size):
                    d = drops[at] * (first if k == 1 else 1.0)
                    for i in range(n + 1):
                        for j in range(m + 1):
                            value = d * d * now[i, j]
                            if i > 0:
                                value += (1.0 - d) * d * left[one, e, i - 1] * now[i - 1, j]
                            if j > 0:
                                value += d * (1.0 - d) * right[two, e, j - 1] * now[i, j - 1]
                            if i > 0 and j > 0:
                                value += (1.0 - d) ** 2 * twice[t, e, i - 1, j - 1] * now[i - 1, j - 1]
                            then[i, j] = value
                    now, then = then, now
                    total += number[k] * now[n, m]
                out[t, e, at] = total
