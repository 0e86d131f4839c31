"""What a string is worth to those who have not seen it: p and its sums with the string's own person left out.

A distribution that was fitted to the very records it prices flatters them: each string looks more like a true one, and
less like a mistyped one, than a fresh string would, so the rate of distortion is driven to nothing. The price that
the other persons put on string v leaves one of its counts out, and with its last count its letters too:

    p₋(v) = [max(c(v) − 1 − D, 0) + D·T₋·LM₋(v)] / (n − 1),

with T₋, LM₋ = T, LM if v is counted twice or more, and T − 1 and the model fitted without v if once. That is the
predictive distribution of a Pitman–Yor process given everybody else, and likewise c̃₋(x) = Σ_v p₋(v)·ch(x | v).

A second person with the same string is priced by all, p(v). What all records have in common cancels, so it is the
mistyped ones that change: all terms in which x was typed for another string are multiplied by p(x)/p₋(x).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tielink.channels.language import Codes, Floats
from tielink.channels.spread import spread
from tielink.channels.string_truth import StringTruth, discount
from tielink.channels.typing_kernels import left_out_many

__all__ = ["LeftOut", "leave_out"]


class LeftOut(NamedTuple):
    """Prices of every string by all others."""

    probability: Floats
    """p₋(v)."""
    mistyped: Floats
    """c̃₋(x): edit rates × strings."""


def leave_out(truth: StringTruth, rates: Floats, kept: bool, seen: Floats, itself: Floats, sums: Floats) -> LeftOut:
    """Price every string by the others.

    Given are, at each edit rate, Σ_v w(v)·ch(x | v) over seen strings v near x, ch(x | x) and Σ_v LM(v)·ch(x | v).
    """
    count, total = truth.counts, float(truth.counts.sum())
    others = max(total - 1.0, 1.0)
    off, distinct = discount(count), float((count > 0).sum())
    once = np.flatnonzero(count == 1)
    by_model, sums = np.exp(truth.language.log_probability(truth.text)), sums.copy()
    by_model[once], sums[:, once] = _fitted_anew(truth, once, rates, kept)
    left = np.where(count > 0, np.maximum(count - 1 - off, 0.0) / others, truth.counted)
    back_off = off * np.where(count == 1, distinct - 1, distinct) / others
    back_off = np.where(count > 0, back_off if total > 1 else 1.0, truth.back_off)
    scale = np.where(count > 0, total / others, 1.0)
    mistyped = scale * (seen - truth.counted * itself) + left * itself + back_off * sums
    return LeftOut(left + back_off * by_model, mistyped)


def _fitted_anew(truth: StringTruth, which: Codes, rates: Floats, kept: bool) -> tuple[Floats, Floats]:
    """Return LM₋(v) and, at each rate, Σ_v LM₋(v)·ch(x | v) of some strings."""
    text, model = truth.text, truth.language
    out = np.empty((len(which), 1 + len(rates)))
    given = (model.state, model.share, model.follows, model.strength, model.empty, model.letters, rates, kept)
    spread(left_out_many, (text.characters, text.begins), (which,), given, out)
    return out[:, 0], out[:, 1:].T
