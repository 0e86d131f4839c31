"""Partner choice s(b|a): profile evidence times nearness, never zero for an allowed partner."""

import math

import numpy as np
from numba import njit

from tielink.exact.correlation import add_partner_gains
from tielink.exact.fit import quadratic_forms
from tielink.exact.state import bayes_factor

_NEAR = 0.9


@njit(cache=True)
def partner_log_probabilities(proposal, side, record, state, target):
    """
    log s(b|a) over the records b of the other file, -inf for those that are matched or known not to match.

    s(b|a) is proportional to omega_ab (0.9 k_ab + 0.1) with k_ab = (1 + (u_b - m_a)' F_a (u_b - m_a)/8)^-3, where m_a
    and F_a come from `proposal`, the fit of a alone. The linkage-prior ratio is the same for every b and cancels. With
    phi != 1, s also carries what correlated ties would give the pair at m_a.
    """
    x = (state.position_a, state.position_b)[1 - side]
    partner = (state.partner_a, state.partner_b)[1 - side]
    out = np.empty(partner.size)
    quadratic_forms(proposal, x, out)
    for j in range(out.size):
        if partner[j] >= 0:
            out[j] = -np.inf
        else:
            near = 1.0 + out[j] / 8.0
            out[j] = bayes_factor(target, side, record, j) + math.log(_NEAR / (near * near * near) + (1.0 - _NEAR))
    add_partner_gains(state.correlation, proposal.mean, side, record, 1.0, state, target, out)
    top = -np.inf
    for j in range(out.size):
        top = max(top, out[j])
    if top > -np.inf:
        total = 0.0
        for j in range(out.size):
            total += math.exp(out[j] - top)
        total = top + math.log(total)
        for j in range(out.size):
            out[j] -= total
    return out
