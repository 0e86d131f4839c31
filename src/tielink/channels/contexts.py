"""How well a string can be told from other strings: by long contexts, as words, area codes and endings are.

With P₀ the language model's bigrams, c the next character (or the end) and s the k characters before it,

    P_k(c | s) = [max(n(s, c) − 1, 0) + r(s)·P_{k−1}(c | s₂…s_k)] / N(s),

N(s) = Σ_c n(s, c), and r(s) the number of different c. P_k is P_{k−1} where no other string has s. One is taken off
each count, so that one other string alone, which may be a misspelling of this one, says nothing. Where s is all that
comes before c, or as long as contexts get, n(s, c) is the number of *other* strings in which c follows s. Where s is
shorter, it is the number of different characters before s in them (Kneser and Ney, 1995): what a longer context has
told is not told again, and a string that leaves a well-known path pays for it once.
"""

from __future__ import annotations

import numpy as np

from tielink.channels.language import Codes, Floats, Language, Text

__all__ = ["log_left_out_by_contexts"]

LONGEST_CONTEXT = 16


def log_left_out_by_contexts(text: Text, language: Language) -> Floats:
    """Return log P(v) of every string of a text, learnt from all the others.

    Each of these full names is far likelier than two characters at a time can tell, by this many nats at the least:

    >>> from tielink.channels.language import language
    >>> names = [f"{one} {two}" for one in ("anna", "tom", "zoe") for two in ("meier", "lopez", "okoye", "smith")]
    >>> model = language(names)
    >>> text = model.encode(names)
    >>> float((log_left_out_by_contexts(text, model) - model.log_probability(text)).min().round(1))
    5.1
    """
    size = len(text.lengths)
    # Every string with its end as one more character; contexts are numbers that are equal for equal ones.
    owner = np.repeat(np.arange(size), text.lengths + 1)
    place = np.arange(len(owner)) - (text.begins[:-1] + np.arange(size))[owner]
    character = np.full(len(owner), len(language.alphabet))
    character[place < text.lengths[owner]] = text.characters
    chance = np.exp(language.log_steps(text))
    active, context = np.arange(len(owner)), np.zeros(len(owner), dtype=np.int64)
    for k in range(1, LONGEST_CONTEXT + 1):
        # The k-th character before; −1 where the string begins, beyond which there are no contexts.
        inside = place[active] >= k - 1
        active, context = active[inside], context[inside]
        before = np.where(place[active] >= k, character[active - k], -1)
        context = _numbered(context * (len(language.alphabet) + 1) + before + 1)
        # What is counted: different characters before the context, or strings where there are none.
        whole = (place[active] < k) | (k == LONGEST_CONTEXT)
        further = np.where(place[active] > k, character[active - k - 1], -1)
        unit = np.where(whole, owner[active], size + 1 + further)
        others, kinds, n = _of_other_strings(owner[active], unit, context, character[active])
        known = others > 0
        now = active[known]
        chance[now] = (np.maximum(n[known] - 1, 0) + kinds[known] * chance[now]) / others[known]
        shared = _strings(owner[active], context) > 2
        active, context = active[shared], context[shared]
        if not len(active):
            break
    return np.asarray(np.bincount(owner, np.log(chance), minlength=size), dtype=float)


def _numbered(keys: Codes) -> Codes:
    return np.unique(keys, return_inverse=True)[1]


def _strings(owner: Codes, context: Codes) -> Codes:
    """Return in how many strings each context is."""
    _, first = np.unique(context * (owner.max(initial=0) + 1) + owner, return_index=True)
    return np.asarray(np.bincount(context[first])[context])


def _of_other_strings(owner: Codes, unit: Codes, context: Codes, character: Codes) -> tuple[Codes, Codes, Codes]:
    """Return N(s), r(s) and n(s, c) for every place of a string: units that other strings have, too."""
    follower = _numbered(context * (character.max(initial=0) + 1) + character)
    counted = _numbered(follower * (unit.max(initial=0) + 1) + unit)
    _, first = np.unique(counted, return_index=True)
    _, any_of = np.unique(follower, return_index=True)
    # A unit that this string alone has is no other's.
    _, once = np.unique(counted * (owner.max(initial=0) + 1) + owner, return_index=True)
    own = once[np.bincount(counted[once])[counted[once]] == 1]
    of_follower, of_context = (_numbered(keys * (owner.max(initial=0) + 1) + owner) for keys in (follower, context))
    size = len(owner)
    n = np.bincount(follower[first])[follower] - np.bincount(of_follower[own], minlength=size)[of_follower]
    others = np.bincount(context[first])[context] - np.bincount(of_context[own], minlength=size)[of_context]
    _, each = np.unique(of_follower, return_index=True)
    gone = np.bincount(of_context[each], n[each] == 0, minlength=size)[of_context].astype(np.int64)
    return others, np.bincount(context[any_of])[context] - gone, n
