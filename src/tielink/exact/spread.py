"""The variance of positions, sigma^2, from its conjugate conditional."""

from numba import njit

from tielink.exact.state import Info


@njit(cache=True)
def squared_norms(state):
    """Number of persons, and the sum of |u_n|^2 over *persons* (a pair counts once)."""
    total = 0.0
    count = state.partner_a.size
    for a in range(state.partner_a.size):
        for k in range(state.position_a.shape[0]):
            total += state.position_a[k, a] ** 2
    for b in range(state.partner_b.size):
        if state.partner_b[b] < 0:
            count += 1
            for k in range(state.position_b.shape[0]):
                total += state.position_b[k, b] ** 2
    return count, total


@njit(cache=True)
def draw_spread(rng, state, target):
    """sigma^2 | rest ~ InvGamma(shape + N K/2, scale + sum |u_n|^2/2)."""
    count, total = squared_norms(state)
    shape = target.spread_shape + 0.5 * count * target.dimension
    state.spread[0] = (target.spread_scale + 0.5 * total) / rng.standard_gamma(shape)
    return Info(1, 1)
