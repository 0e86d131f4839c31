"""Dyads of one record that stands at a given point: distances, log-likelihoods, and their sum.

Everything the sampler does ends here, so this file is written for the vectoriser: coordinate-major positions, no
branch inside a loop, hand-written exp and log (numba's wheels come without SVML, and libm calls are not vectorised).
"""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from tielink.kernels import njit

LOGIT = 0
PROBIT = 1

_LOG2E = 1.4426950408889634
# ln 2 in two parts: n * _LN2_HIGH is exact for every n that can occur.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
# Adding 1.5 * 2**52 rounds to the nearest integer and leaves that integer in the low bits of the mantissa.
_ROUND = 6755399441055744.0
_SMALLEST = -700.0
_SQRT_HALF = math.sqrt(0.5)
HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


@intrinsic
def _bits(typingctx, value):
    """Read a float64 as the int64 with the same bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic
def _float(typingctx, value):
    """Read an int64 as the float64 with the same bits."""

    def codegen(context, builder, signature, args):
        return builder.bitcast(args[0], ir.DoubleType())

    return types.float64(types.int64), codegen


# The three functions below must never see `reassoc`: it would cancel the rounding step `(x + _ROUND) - _ROUND`.
# Called (not numba-inlined) from a fastmath loop they keep their own flags and LLVM still vectorises them.
@njit(fastmath={"contract"}, error_model="numpy")
def exp_negative(x):
    """e^x for x <= 0 to about 1e-16; arguments under -700 count as -700."""
    x = max(_SMALLEST, x)
    shifted = x * _LOG2E + _ROUND
    n = shifted - _ROUND
    r = (x - n * _LN2_HIGH) - n * _LN2_LOW
    # Chebyshev interpolant of e^r on |r| <= 0.3466, error 3e-18.
    p = 2.5110046444457486e-08
    p = p * r + 2.76326511328741e-07
    p = p * r + 2.7557240894691074e-06
    p = p * r + 2.4801485451264055e-05
    p = p * r + 0.00019841269890069431
    p = p * r + 0.0013888888952343797
    p = p * r + 0.008333333333319592
    p = p * r + 0.04166666666648799
    p = p * r + 0.1666666666666668
    p = p * r + 0.5000000000000019
    p = p * r + 1.0
    p = p * r + 1.0
    return _float(_bits(p) + (_bits(shifted) << 52))  # type: ignore[call-arg]


@njit(fastmath={"contract"}, error_model="numpy")
def log1p_unit(t):
    """log(1 + t) for 0 <= t <= 1: 2 atanh(s) with s = t/(2 + t) <= 1/3, so that there is no exponent to split."""
    s = t / (2.0 + t)
    z = s * s
    # Chebyshev interpolant of 2 atanh(sqrt z)/sqrt z on 0 <= z <= 1/9, error 1e-16.
    p = 0.17780763826113302
    p = p * z + 0.09880789048764786
    p = p * z + 0.13591305485579894
    p = p * z + 0.15363676248891633
    p = p * z + 0.1818285980047391
    p = p * z + 0.22222190861346283
    p = p * z + 0.2857142911165716
    p = p * z + 0.399999999952876
    p = p * z + 0.6666666666668257
    p = p * z + 2.0
    return s * p


@njit(fastmath={"contract"}, error_model="numpy")
def softplus(x):
    """log(1 + e^x), safe for any x."""
    negative = -x if x > 0.0 else x
    positive = max(0.0, x)
    return positive + log1p_unit(exp_negative(negative))


@njit
def log_normal_cdf(x):
    """log of the standard normal distribution function, in both tails."""
    if x > 0.0:
        return math.log1p(-0.5 * math.erfc(x * _SQRT_HALF))
    if x > -30.0:
        return math.log(0.5 * math.erfc(-x * _SQRT_HALF))
    z = 1.0 / (x * x)
    series = z * (-1.0 + z * (3.0 + z * (-15.0 + z * (105.0 - 945.0 * z))))
    return -0.5 * x * x - HALF_LOG_2PI - math.log(-x) + math.log1p(series)


@njit
def dyad(squared_distance, tie, intercept, link):
    """Log-likelihood of one dyad, log p(y | beta - d)."""
    predictor = intercept - math.sqrt(squared_distance)
    if link == LOGIT:
        return tie * predictor - softplus(predictor)
    return log_normal_cdf(predictor if tie else -predictor)


@njit(fastmath={"contract"}, error_model="numpy")
def squared_distances(u, x, begin, out):
    """|u - x_j|^2 for the columns of x from `begin` on; the usual dimensions in one pass over memory."""
    n, end = out.size, begin + out.size
    dimension = u.size
    if dimension == 2:
        x0, x1, u0, u1 = x[0, begin:end], x[1, begin:end], u[0], u[1]
        for j in range(n):
            out[j] = (x0[j] - u0) ** 2 + (x1[j] - u1) ** 2
        return
    done = 0
    if dimension >= 4:
        x0, x1, x2, x3 = x[0, begin:end], x[1, begin:end], x[2, begin:end], x[3, begin:end]
        u0, u1, u2, u3 = u[0], u[1], u[2], u[3]
        for j in range(n):
            out[j] = ((x0[j] - u0) ** 2 + (x1[j] - u1) ** 2) + ((x2[j] - u2) ** 2 + (x3[j] - u3) ** 2)
        done = 4
    else:
        out[:] = 0.0
    for k in range(done, dimension):
        xk, uk = x[k, begin:end], u[k]
        for j in range(n):
            out[j] += (xk[j] - uk) ** 2


# log(1 + e^x) = max(x, 0) + log(1 + e^-|x|), and the second logs of many dyads are one log of their product. Every
# factor lies in [1, 2], so a product of 512 of them stays under 2^512 whatever beta is: no overflow, and the relative
# rounding error of the product (512 ulp) is an absolute error of 1e-13 in the sum.
_BLOCK = 512


@njit(fastmath={"reassoc", "contract", "nsz"}, error_model="numpy")
def _logit_block(squared, ties, intercept):
    linear = 0.0
    product = 1.0
    for j in range(squared.size):
        predictor = intercept - math.sqrt(squared[j])
        positive = max(0.0, predictor)
        linear += ties[j] * predictor - positive
        product *= 1.0 + exp_negative(predictor - 2.0 * positive)
    return linear - math.log(product)


@njit
def sum_terms(squared, ties, intercept, link):
    """Sum of dyad log-likelihoods, given squared distances."""
    total = 0.0
    if link != LOGIT:
        for j in range(squared.size):
            total += dyad(squared[j], ties[j], intercept, link)
        return total
    for begin in range(0, squared.size, _BLOCK):
        # Slices, not bounds: an index that might be negative (as far as numba knows) is not vectorised.
        end = begin + _BLOCK
        total += _logit_block(squared[begin:end], ties[begin:end], intercept)
    return total


@njit(fastmath={"contract"}, error_model="numpy")
def row_terms(squared, ties, intercept, link, out):
    """Every dyad's log-likelihood, given squared distances; `out` must be another array, or nothing is vectorised."""
    if link == LOGIT:
        for j in range(squared.size):
            predictor = intercept - math.sqrt(squared[j])
            out[j] = ties[j] * predictor - softplus(predictor)
    else:
        for j in range(squared.size):
            out[j] = dyad(squared[j], ties[j], intercept, link)
