"""Made-up usernames and places, with the slips that people make in them."""

from __future__ import annotations

import numpy as np

__all__ = ["PLACES", "usernames"]

FIRST = """
    ada aino amir anja arun bea boris carla chloe dara diego edda elif emre farah felix gita goran hana hugo
    ilse ines ivan jana jonas juno kaya kofi lars lena lucia malik mara milo mina nadia nils nora omar otto
    paula pia quinn rafa rosa samir sefa signe tara teo uma vera viktor wanda xenia yara yusuf zita zoe
""".split()
LAST = """
    abbot ashby barlow becker brook castel cole dahl drummer ember falk farrow finch fox garland gray hale
    hart heron holm hunter iverson keller kestrel lake larkin lindqvist marsh mason meadow mercer moss north
    novak oakes ortiz parker pine quill ramos reed rivers roth sandoval sato silva sparrow stone storm tailor
    thorn vale wells winter wolf yates young zeller
""".split()
PLACES = """
    Brackwater Carrow Dunmere Eastholm Fallowick Greyport Hollin Ilverton Kestle Lowmoor Marrowby Northolt
    Oxmouth Penhallow Quarley Ravensea Saltby Thornaby Underhill Wexcombe
""".split()
LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"


def usernames(rng: np.random.Generator, count: int, *, variants: int = 3, rarity: float = 0.1) -> dict[str, float]:
    """Make a vocabulary of usernames with frequencies.

    Every one of `count` usernames comes with some near variants (another separator, a number, a slip of the
    finger), each `rarity` times as frequent, so that a distorted username can be what people would type.
    """
    frequencies: dict[str, float] = {}
    while len(frequencies) < count:
        frequencies.setdefault(_username(rng, numbers=max(100, count)), 1.0)
    for name in list(frequencies):
        for _ in range(variants):
            frequencies.setdefault(_variant(rng, name), rarity)
    return frequencies


def _username(rng: np.random.Generator, numbers: int) -> str:
    first, last = str(rng.choice(FIRST)), str(rng.choice(LAST))
    form = rng.integers(6)
    number = str(rng.integers(1, numbers))
    return (
        f"{first}.{last}",
        f"{first}{last}",
        f"{first}_{last}",
        f"{first[0]}{last}{number}",
        f"{last}{first}",
        f"{first}{number}",
    )[form]


def _variant(rng: np.random.Generator, name: str) -> str:
    place = int(rng.integers(len(name)))
    letter = str(rng.choice(list(LETTERS)))
    separated = name.replace(".", "_") if "." in name else name.replace("_", "")
    return (
        separated if separated != name else name + "_",
        name[:place] + name[place + 1 :],
        name[:place] + letter + name[place:],
        name[:place] + letter + name[place + 1 :],
        name + str(rng.integers(10)),
    )[rng.integers(5)]
