"""Plain methods to hold a model against; each needs a data set only and returns a linkage with its scores.

>>> import polars as pl, tielink as tl
>>> left = pl.DataFrame({"id": [1, 2], "username": ["anna", "bob"]})
>>> right = pl.DataFrame({"id": [7, 8], "username": ["anna", "zoe"]})
>>> data = tl.Dataset.from_frames({"left": left, "right": right}, fields={"username": tl.String()})
>>> equal_strings(data, "username").pairs().rows()
[('left', 1, 'right', 7)]
"""

from tielink.baselines.anchor_neighbours import anchor_neighbours
from tielink.baselines.bartunov import bartunov
from tielink.baselines.degree_rank import degree_rank
from tielink.baselines.every import every
from tielink.baselines.fellegi_sunter import fellegi_sunter
from tielink.baselines.strings import best_string, equal_strings

__all__ = [
    "anchor_neighbours",
    "bartunov",
    "best_string",
    "degree_rank",
    "equal_strings",
    "every",
    "fellegi_sunter",
]
