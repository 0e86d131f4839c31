"""Every baseline that a data set allows."""

from __future__ import annotations

from tielink.baselines.anchor_neighbours import anchor_neighbours
from tielink.baselines.bartunov import bartunov
from tielink.baselines.degree_rank import degree_rank
from tielink.baselines.fellegi_sunter import fellegi_sunter
from tielink.baselines.strings import best_string, equal_strings
from tielink.data.dataset import Dataset
from tielink.data.scores import ScoredLinkage
from tielink.fields import PersonName, String

__all__ = ["every"]


def every(data: Dataset) -> dict[str, ScoredLinkage]:
    """Run every baseline that these data allow.

    Parameters
    ----------
    data
        Any number of files; most baselines are for two.

    Returns
    -------
    dict
        The linkage of each baseline, by its name.
    """
    strings = [name for name, field in data.fields.items() if isinstance(field, String | PersonName)]
    found = {f"equal {name}": equal_strings(data, name) for name in strings}
    if len(data.files) != 2:
        return found
    found |= {f"best {name}": best_string(data, name) for name in strings}
    if data.columns:
        found["Fellegi–Sunter"] = fellegi_sunter(data)
    if all(ties is not None for ties in data.ties.values()):
        found["degree rank"] = degree_rank(data)
        found["anchor neighbours"] = anchor_neighbours(data)
        found["BARTUNOV"] = bartunov(data)
    return found
