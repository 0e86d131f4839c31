"""A small language model of a field's strings: which characters follow which, and where strings end.

A bigram model with an end symbol that backs off to single characters, by how many others each follows (Kneser and Ney
1995), with a strength θ as in a Pitman–Yor process (Teh 2006): of a few, the one under which strings are likeliest by
the model fitted without them. The commonest characters are states of their own; all others share one state, within
which each has its frequency. So the model covers every string over the characters seen, whatever their script, and its
tables stay small.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tielink.channels.language_kernels import Model, log_left_out, transitions

__all__ = ["Language", "Text", "language"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]

STATES = 40
"""Characters beyond this many share one state."""
STRENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
"""θ to choose from."""
TRIED = 2_000
"""Strings, evenly spaced, by which θ is chosen."""


class Text(NamedTuple):
    """Strings as one long row of character numbers; string i is `characters[begins[i]:begins[i + 1]]`."""

    characters: Codes
    begins: Codes

    @property
    def lengths(self) -> Codes:
        """Return the length of every string."""
        return np.diff(self.begins)


@dataclass(frozen=True, eq=False)
class Language:
    """LM(v) = T(start, v₁)·T(v₁, v₂)·…·T(v_k, end)."""

    alphabet: tuple[str, ...]
    state: Codes
    """The state after each character."""
    share: Floats
    """The probability of a character within its state."""
    moves: Floats
    """T: states × states, the start last; no way leads back to it."""
    end: Floats
    """The probability of the end after each state."""
    strength: float
    """θ: how much single characters count."""

    @cached_property
    def number(self) -> dict[str, int]:
        """The number of each character."""
        return {character: place for place, character in enumerate(self.alphabet)}

    @cached_property
    def compiled(self) -> Model:
        """The tables, for kernels."""
        return Model(self.state, self.share, self.moves, self.end)

    @cached_property
    def letters(self) -> Floats:
        """The probability of each character where one is typed at random: all are equally likely."""
        return np.full(len(self.alphabet), 1.0 / len(self.alphabet))

    def encode(self, strings: Iterable[str]) -> Text:
        """Turn strings into numbers; every character must be in the alphabet."""
        return _encode(strings, self.number)

    def log_steps(self, text: Text) -> Floats:
        """Return log T of every step of every string: its characters, then its end."""
        size, start = len(text.lengths), len(self.end) - 1
        ends = text.begins[1:] + np.arange(size)
        inside = np.ones(len(text.characters) + size, dtype=bool)
        inside[ends] = False
        here = np.full(len(inside), start)
        here[inside] = self.state[text.characters]
        before = np.concatenate([[start], here[:-1]])  # after an end comes the start of the next string
        chance = self.end[before]
        chance[inside] = self.moves[before[inside], here[inside]] * self.share[text.characters]
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(chance))

    def log_probability(self, text: Text) -> Floats:
        """Return log LM(v) of every string."""
        size = len(text.lengths)
        owner = np.repeat(np.arange(size), text.lengths + 1)
        return np.asarray(np.bincount(owner, self.log_steps(text), minlength=size), dtype=float)

    def draw(self, rng: np.random.Generator) -> str:
        """Draw a string."""
        characters: list[str] = []
        place = len(self.end) - 1
        while rng.random() >= self.end[place]:
            weight = self.moves[place] / self.moves[place].sum()
            place = int(rng.choice(len(weight), p=weight))
            members = np.flatnonzero(self.state == place)
            characters.append(self.alphabet[int(rng.choice(members, p=self.share[members]))])
        return "".join(characters)

    def closure(self, loop: float) -> Floats:
        """Return Q = (I − εT)⁻¹T for loops of probability ε."""
        return np.ascontiguousarray(np.linalg.solve(np.eye(len(self.end)) - loop * self.moves, self.moves))


def language(strings: Sequence[str], also: Iterable[str] = (), *, empty: bool = True) -> Language:
    """Fit the model to distinct strings; `also` holds further strings whose characters must be known.

    Without `empty`, no string is empty.
    """
    counts = Counter(character for string in strings for character in string)
    unseen = sorted({character for string in also for character in string} - counts.keys())
    ranked = [character for character, _ in sorted(counts.items(), key=lambda item: (-item[1], item[0]))] + unseen
    ranked = ranked or ["a"]
    states = min(len(ranked), STATES + 1)
    state = np.minimum(np.arange(len(ranked)), states - 1)
    weight = np.array([counts[character] + 0.5 for character in ranked])
    share = weight / np.bincount(state, weight)[state]
    text = _encode(strings, {character: code for code, character in enumerate(ranked)})
    follows = np.zeros((states + 1, states + 1))
    for begin, stop in pairwise(text.begins):
        path = state[text.characters[begin:stop]]
        np.add.at(follows, (np.append(states, path), np.append(path, states)), 1.0)
    some = np.arange(0, len(strings), 1 + len(strings) // TRIED)
    given = (text, some, state, share, follows)
    strength = max(STRENGTHS, key=lambda theta: log_left_out(*given, theta, empty))
    moves = transitions(follows, strength, empty)
    end = moves[:, -1].copy()
    moves[:, -1] = 0.0
    return Language(tuple(ranked), state, share, moves, end, strength)


def _encode(strings: Iterable[str], number: Mapping[str, int]) -> Text:
    rows = [[number[character] for character in string] for string in strings]
    begins = np.cumsum([0, *(len(row) for row in rows)])
    return Text(np.array([character for row in rows for character in row], dtype=np.int64), begins.astype(np.int64))
