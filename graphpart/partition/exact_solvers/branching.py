"""The pair on which branch and cut divides a node: pseudo-costs (Bénichou et al. 1971; Achterberg, Koch & Martin 2005).

The pseudo-cost of a pair is the mean rise of the bound per unit of change of its variable, in earlier divisions on this
pair: one number for cutting it, one for joining it. A pair on which no node was divided has the average of all others,
in proportion to the absolute costs of the pairs. This estimate also counts as one observation of each pair. A node is
divided on the pair with the largest product of both expected rises.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.bounds.relaxation import Relaxation

__all__ = ["PseudoCosts"]


class PseudoCosts:
    """Pseudo-costs of the variables of a relaxation.

    Parameters
    ----------
    r : Relaxation
    """

    def __init__(self, r: Relaxation) -> None:
        self._r = r
        self._size = 1e-3 + np.abs(r.cost) / r.scale
        self._rise, self._times = np.zeros((2, len(r.cost))), np.zeros((2, len(r.cost)))

    def note(self, e: int, joined: bool, moved: float, rise: float) -> None:
        """Record the rise of the bound when a variable was set to 1 (`joined`) or 0, and so changed by `moved`."""
        # at least 0.05 counts as the change of the variable
        self._rise[int(joined), e] += max(rise, 0.0) / max(moved, 0.05)
        self._times[int(joined), e] += 1

    def choose(self, free: NDArray[np.bool_]) -> int:
        """The variable to divide on, among free ones; O(number of variables)."""
        y = np.clip(self._r.y, 0.0, 1.0)
        least, score = 1e-6 * self._r.scale, np.ones(len(y))  # smaller expected rises count as the least one
        for rise, times, moved in zip(self._rise, self._times, (y, 1 - y), strict=True):
            usual = self._size * (rise.sum() / (times * self._size).sum() if times.any() else 1.0)
            score *= np.maximum((rise + usual) / (times + 1) * moved, least)
        return int(np.argmax(np.where(free, score, -1.0)))
