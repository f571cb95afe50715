"""The quadratic form that is left after minimising over variables with few neighbours or one strong one; the way back.

A minimum over one variable with two neighbours is a coupling of these (and linear terms). With three neighbours it is a
triangle of couplings, if the variable has no linear term in the form of spins. Here a linear term counts as a
neighbour. A variable with one coupling that is at least as strong as all others together has the label that this one
wants. The way is exact and repeated until neither applies (see `graphpart.maximum_cut.reduction`).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.form import QuadraticForm
from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.reduction import energy_of_spins

__all__ = ["Kernel"]

Spins = NDArray[np.int8]


class Kernel:
    """The rest of a quadratic form after eliminating variables.

    Parameters
    ----------
    q : QuadraticForm

    Attributes
    ----------
    q : QuadraticForm
        Of the variables that are left. The energy of labels is that of the lifted labels, up to rounding.
    left : ndarray of int
        The indices of these variables.
    """

    def __init__(self, q: QuadraticForm) -> None:
        u, v, couplings = q.pairs()
        couplings = couplings / 4
        fields = q.linear / 2 + np.bincount(q.rows, q.couplings / 4, q.n)
        if not q.step:  # else they are exact
            fields[np.abs(fields) <= 2.0**-50 * q.magnitudes] = 0.0  # rounding
        constant = q.constant + float(q.linear.sum()) / 2 + float(couplings.sum())
        ends = np.stack([u, v], 1)
        self._n = q.n
        self._order, self._near, self._strengths, alive, _ = _kernels.eliminate(ends, couplings, fields)
        eliminated = np.zeros(q.n, bool)
        eliminated[self._order] = True
        self.left = np.flatnonzero(~eliminated)
        place = np.cumsum(~eliminated, dtype=np.int32) - np.int32(1)
        u, v, couplings = place[ends[alive, 0]], place[ends[alive, 1]], couplings[alive]
        fields = fields[self.left]
        linear = 2 * (fields - np.bincount(u, couplings, len(fields)) - np.bincount(v, couplings, len(fields)))
        constant += float(couplings.sum()) - float(fields.sum()) + energy_of_spins(self._strengths)
        self.q = QuadraticForm.from_pairs(linear, u, v, 4 * couplings, constant)

    def lift(self, spins: Spins) -> Spins:
        """Spins of all variables from those of the remaining ones; eliminated variables get their best spins."""
        found = np.ones(self._n + 1, np.int8)
        found[self.left] = spins
        _kernels.set_again(self._order, self._near, self._strengths, found)
        return found[:-1]

    def project(self, spins: Spins) -> Spins:
        """The given spins of the remaining variables; lifted, they are at least as good."""
        return np.ascontiguousarray(spins[self.left])
