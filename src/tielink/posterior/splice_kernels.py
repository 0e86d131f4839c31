"""Which records must change together when a part of one draw is taken from another."""

import numpy as np

from tielink.kernels import njit


@njit
def closed(own, other, chosen):
    """
    Return for each row the smallest set that holds the chosen records and cuts no cluster of either draw.

    `own` and `other` (rows x records) hold the place of the first record of each record's cluster in two draws.
    """
    rows, records = own.shape
    found = np.zeros((rows, records), dtype=np.bool_)
    hit = np.zeros((2, records), dtype=np.bool_)
    for row in range(rows):
        inside = found[row]
        inside[:] = chosen
        grown = True
        while grown:
            grown = False
            hit[:] = False
            for place in range(records):
                if inside[place]:
                    hit[0, own[row, place]] = True
                    hit[1, other[row, place]] = True
            for place in range(records):
                if not inside[place] and (hit[0, own[row, place]] or hit[1, other[row, place]]):
                    inside[place] = True
                    grown = True
    return found
