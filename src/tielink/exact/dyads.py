"""Every dyad's log-likelihood at once, for criteria of model choice."""

import numpy as np
from numba import njit

from tielink.exact.row import levels, row_terms, squared_distances
from tielink.exact.state import row_intercepts


@njit(cache=True)
def dyad_log_likelihoods(side, state, target, out):
    """Write log p(y_d) of all dyads i < i' of a file, row by row, into `out`; each by itself, whatever phi is."""
    x = (state.position_a, state.position_b)[side]
    ties = (target.adjacency_a, target.adjacency_b)[side]
    n = x.shape[1]
    squared, u = np.empty(n), np.empty(x.shape[0])
    begin = 0
    for i in range(n - 1):
        for k in range(u.size):
            u[k] = x[k, i]
        squared_distances(u, x, squared)
        after = out[begin : begin + n - 1 - i]
        beta = levels(row_intercepts(side, i, state), i + 1, n)
        row_terms(squared[i + 1 :], ties[i][i + 1 :], beta, target.link, after)
        begin += n - 1 - i
