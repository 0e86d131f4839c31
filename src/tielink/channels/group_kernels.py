"""The sum over true values of what several records of one person say."""

import numpy as np

from tielink.kernels import njit


@njit
def sum_group(prior, clean, changed, plain, mistyped, rho, out):
    """
    Write sum_v p(v) prod_i (c_v or zeta_v)(x_i) for each choice of what is distorted: bit i of the row says x_i is.

    Truths that are not laid out are one more, which no record says clean; see `MixtureChannel.truths`.
    """
    size = plain.size
    rest, left, zeta = 1.0, mistyped.copy(), np.empty(size)
    out[:] = 0.0
    for v in range(prior.size):
        rest -= prior[v]
        for i in range(size):
            left[i] -= prior[v] * changed[i, v]
            zeta[i] = (1.0 - rho) * changed[i, v] + rho * plain[i]
        for row in range(out.size):
            product = prior[v]
            for i in range(size):
                product *= zeta[i] if (row >> i) & 1 else clean[i, v]
            out[row] += product
    product = max(rest, 1e-12)
    for i in range(size):
        product *= (1.0 - rho) * max(left[i], 0.0) / max(rest, 1e-12) + rho * plain[i]
    out[-1] += product
