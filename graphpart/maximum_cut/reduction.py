"""A smaller graph of equal optimum: nodes of few edges are eliminated, edges that some optimum decides contracted.

1. A node of at most three edges is eliminated. It takes the better side for any sides of its neighbours. Its cost then
   depends on which of the neighbours are together. For at most three neighbours, this is a constant and a weight for
   each pair of them. 2. An edge whose weight is at least the sum of the other weights of one of its ends, in absolute
   values, is satisfied by some optimum: this end may take the side that the edge wants, which costs no more. Its ends
   are contracted.

Both are repeated until neither applies (Lange, Andres & Swoboda 2019; Ferizovic, Hespe, Lamm, Mnich, Schulz & Strash
2020). Each takes O(log n) for each edge that it touches; weights are halved where three neighbours are joined, so
whole numbers remain exact.
"""

from __future__ import annotations

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from graphpart.maximum_cut.signed_graph import Sides, SignedGraph

__all__ = ["Reduction"]


class Reduction:
    """The reduced graph, and the way back.

    Attributes
    ----------
    graph : SignedGraph
        The remaining graph; its constant includes the cost of the rest.
    """

    def __init__(self, g: SignedGraph) -> None:
        self._n = g.n
        self._rows: list[dict[int, float]] = [{} for _ in range(g.n)]
        self._taken: list[tuple[int, tuple[tuple[int, float], ...]]] = []  # nodes and their edges when they were taken
        self._paid = [g.constant]  # cost of the eliminated nodes
        for a, b, w in zip(g.u.tolist(), g.v.tolist(), g.weight.tolist(), strict=True):
            self._rows[a][b] = self._rows[b][a] = w
        self._reduce()
        left = [a for a, row in enumerate(self._rows) if row]
        self.kept: NDArray[np.int64] = np.array(left, np.int64)
        place = {a: k for k, a in enumerate(left)}
        edges = [(place[a], place[b], w) for a in left for b, w in self._rows[a].items() if a < b]
        u, v, w = (np.array(column) for column in zip(*edges, strict=True)) if edges else ([], [], [])
        self.graph = SignedGraph.from_pairs(
            len(left), np.array(u, np.int32), np.array(v, np.int32), np.array(w, np.float64), math.fsum(self._paid)
        )
        del self._rows

    def lift(self, sides: Sides) -> Sides:
        """Sides of all nodes, at no greater cost than those of the graph that is left. O(n + m)"""
        found = np.zeros(self._n, np.uint8)
        found[self.kept] = sides
        side = found.tolist()
        for a, edges in reversed(self._taken):
            across = sum(w if side[b] == 0 else -w for b, w in edges)  # cost of side 1 minus cost of side 0
            side[a] = int(across < 0)
        return np.array(side, np.uint8)

    def project(self, sides: Sides) -> Sides:
        """The sides of the nodes that are left."""
        return sides[self.kept]

    def _reduce(self) -> None:
        rows = self._rows
        waiting = deque(range(self._n))
        queued = [True] * self._n
        while waiting:
            a = waiting.popleft()
            queued[a] = False
            row = rows[a]
            if not row:
                continue
            edges = tuple(row.items())
            if len(edges) <= 3:
                self._eliminate(a, edges)
            else:
                b, w = max(edges, key=lambda edge: abs(edge[1]))
                if 2 * abs(w) < sum(abs(x) for x in row.values()):
                    continue
                self._contract(a, b, w, edges)
            for c, _ in edges:
                if not queued[c]:
                    queued[c] = True
                    waiting.append(c)

    def _take(self, a: int, edges: tuple[tuple[int, float], ...]) -> None:
        """Take a node out of the graph."""
        self._taken.append((a, edges))
        for b, _ in edges:
            del self._rows[b][a]
        self._rows[a] = {}

    def _eliminate(self, a: int, edges: tuple[tuple[int, float], ...]) -> None:
        """Take out a node of at most three edges."""
        self._take(a, edges)
        total = sum(w for _, w in edges)
        together = min(0.0, total)  # its cost if its neighbours are together,
        rise = [min(w, total - w) - together for _, w in edges]  # and how much more if one of them is alone
        self._paid.append(together)
        if len(edges) == 2:
            self._add(edges[0][0], edges[1][0], rise[0])
        elif len(edges) == 3:
            half = sum(rise) / 2
            for k in range(3):
                self._add(edges[k - 2][0], edges[k - 1][0], half - rise[k])

    def _contract(self, a: int, b: int, w: float, edges: tuple[tuple[int, float], ...]) -> None:
        """Take out a node that some optimum has on the side that its strongest edge wants."""
        self._take(a, edges)
        if w < 0:
            self._paid.append(w)
        for c, x in edges:
            if c == b:
                continue
            if w < 0:
                self._paid.append(x)
            self._add(b, c, -x if w < 0 else x)

    def _add(self, a: int, b: int, w: float) -> None:
        """Add to the weight of an edge; an edge of weight 0 is none."""
        total = self._rows[a].get(b, 0.0) + w
        if total:
            self._rows[a][b] = self._rows[b][a] = total
        elif b in self._rows[a]:
            del self._rows[a][b], self._rows[b][a]
