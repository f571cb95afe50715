"""A smaller graph of equal optimum: nodes of few edges are eliminated, edges that some optimum decides contracted.

1. A node of at most three edges is eliminated. It takes the better side for any sides of its neighbours. Its cost then
   depends on which of the neighbours are together. For at most three neighbours, this is a constant and a weight for
   each pair of them (in spin glasses the star-triangle transformation of Fisher 1959).
2. An edge whose weight is at least the sum of the other weights of one of its ends, in absolute values, is satisfied by
   some optimum: this end may take the side that the edge wants, which costs no more. Its ends are contracted.

Both are repeated until neither applies (Lange, Andres & Swoboda 2019; Ferizovic, Hespe, Lamm, Mnich, Schulz & Strash
2020), see _low_degree.pxi. Nodes of very many edges stay. Weights are halved where three neighbours are joined, so
whole numbers remain exact.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.signed_graph import Sides, SignedGraph

__all__ = ["Reduction", "energy_of_spins"]


class Reduction:
    """The reduced graph, and the way back. O(m) if no edge is decided; else each takes O(edges of its ends).

    Attributes
    ----------
    graph : SignedGraph
        The remaining graph; its constant includes the cost of the rest.
    kept : ndarray of int
        Its nodes.
    error : float
        The cost of no sides has changed by more, by rounding.
    """

    def __init__(self, g: SignedGraph) -> None:
        self._n = g.n
        ends, couplings = np.stack([g.u, g.v], 1), g.weight / -2
        self._order, self._near, self._strengths, alive, rounded = _kernels.eliminate(ends, couplings, np.zeros(g.n))
        left = np.ones(g.n, bool)
        left[self._order] = False
        self.kept = np.flatnonzero(left)
        place = np.cumsum(left, dtype=np.int32) - np.int32(1)
        u, v = np.ascontiguousarray(place[ends[alive]].T)
        weight = -2 * couplings[alive]
        half = (math.fsum(g.weight.tolist()) - math.fsum(weight.tolist())) / 2
        constant = g.constant + half + energy_of_spins(self._strengths)
        self.graph = SignedGraph.from_pairs(len(self.kept), u, v, weight, constant)
        sizes = (self._strengths, weight, g.constant, half)
        self.error = 0.0 if g.is_exact else 2.0**-53 * (rounded + math.fsum(8 * float(np.abs(x).sum()) for x in sizes))

    def lift(self, sides: Sides) -> Sides:
        """Sides of all nodes, at no greater cost than those of the graph that is left. O(n + m)"""
        found = np.ones(self._n + 1, np.int8)
        found[self.kept] = 2 * sides.astype(np.int8) - 1
        _kernels.set_again(self._order, self._near, self._strengths, found)
        return (found[:-1] > 0).astype(np.uint8)

    def project(self, sides: Sides) -> Sides:
        """The sides of the nodes that are left."""
        return sides[self.kept]


def energy_of_spins(strengths: NDArray[np.float64]) -> float:
    """The part of the energy that eliminated spins leave as a constant, from their couplings."""
    c, b, a = np.sort(np.abs(strengths), axis=1).T
    return -math.fsum((a + np.maximum(0.0, (b - a) + c) / 2).tolist())
