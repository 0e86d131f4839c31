"""How common true strings are: by how often others have them, and by a language model.

    p(v) = max(o(v) − D, 0)/n + a·P(v) + b·LM(v),

with c(v) the count of v, n = Σc and D the discount. o(v) is c(v) where frequencies are given. Of strings in the files
it is how often others have v (see `counts`): a string that one record alone has is priced by the language models, as it
would be by all who never saw that record. Else a misspelling, seen once, would pass for a name as common as most. P is
the probability of a string in the files, told from all the others by long contexts (see `contexts`): it knows words and
area codes, where LM knows two characters. a and b share what counts leave as makes the strings most probable, so that
Σ_v p(v) = 1 over all strings. To no string in the files is less than 10⁻⁷⁰ given, so that products over a few long ones
stay above the least double.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tielink.channels.contexts import log_left_out_by_contexts
from tielink.channels.counts import discount
from tielink.channels.language import Floats, Language, Text, language

__all__ = ["StringTruth", "string_truth"]

LEAST = 1e-70
"""What counts give any string at the least."""
LEAST_SHARE, STEPS = 0.05, 30
"""What counts leave is shared by both models, and neither gets less than this; steps of the search for the shares."""


@dataclass(frozen=True, eq=False)
class StringTruth:
    """p(v) of a field: of the strings of a vocabulary one by one, of all others by the language model."""

    strings: tuple[str, ...]
    text: Text
    language: Language
    counted: Floats
    """max(o(v) − D, 0)/n + a·P(v) of every string of the vocabulary, but no less than `LEAST`."""
    back_off: float
    """b: what is left to the language model."""
    probability: Floats
    """p(v) of every string of the vocabulary."""

    @cached_property
    def codes(self) -> dict[str, int]:
        """The place of every string of the vocabulary."""
        return {string: code for code, string in enumerate(self.strings)}

    def of(self, text: Text) -> Floats:
        """Return p(v) of strings that are not in the vocabulary."""
        return np.asarray(self.back_off * np.exp(self.language.log_probability(text)))

    def draw(self, rng: np.random.Generator, number: int) -> list[str]:
        """Draw true strings."""
        weights = np.append(self.counted, self.back_off)
        chosen = rng.choice(len(weights), size=number, p=weights / weights.sum())
        return [self.strings[c] if c < len(self.strings) else self.language.draw(rng) for c in chosen]


def string_truth(
    strings: Sequence[str],
    counts: Floats | Mapping[str, float],
    others: Floats | None = None,
    *,
    empty: bool = True,
) -> StringTruth:
    """Fit p to a vocabulary and its counts; a mapping may count further strings, and need not count all.

    `others` is o(v), the counts themselves where it is left out. The language model is trained on the counted strings.
    Given frequencies that are no counts are scaled so that the rarest string counts one.
    """
    vocabulary = list(strings)
    if isinstance(counts, Mapping):
        known = set(vocabulary)
        vocabulary += [string for string in counts if string not in known]
        least = min(counts.values())
        whole = least >= 1 and all(float(value).is_integer() for value in counts.values())
        numbers = np.array([counts.get(string, 0.0) / (1.0 if whole else least) for string in vocabulary])
    else:
        numbers = np.asarray(counts, dtype=float)
    trained = [string for string, count in zip(vocabulary, numbers, strict=True) if count > 0]
    model = language(trained, vocabulary, empty=empty)
    text = model.encode(vocabulary)
    total = numbers.sum()
    off = discount(numbers)
    counted = np.maximum(((numbers if others is None else others) - off) / max(total, 1e-300), LEAST)
    if others is not None:
        told = np.exp(log_left_out_by_contexts(text, model))
        told /= max(told.sum(), 1.0)
        share = _share_told(told, np.exp(model.log_probability(text)), numbers)
        counted += share * (1.0 - counted.sum()) * told
    back_off = 1.0 - float(counted.sum())
    probability = counted + back_off * np.exp(model.log_probability(text))
    return StringTruth(tuple(vocabulary), text, model, counted, back_off, probability)


def _share_told(told: Floats, by_language: Floats, counts: Floats) -> float:
    """Return the share of long contexts at which the strings are most probable (expectation-maximisation)."""
    share = 0.5
    for _ in range(STEPS):
        mine = share * told
        share = float(np.average(mine / np.maximum(mine + (1 - share) * by_language, 1e-300), weights=counts))
    return float(np.clip(share, LEAST_SHARE, 1 - LEAST_SHARE))
