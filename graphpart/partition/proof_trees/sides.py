"""Bounds of the nodes of a proof tree where at most two clusters are allowed: odd cycles, with multipliers.

The relaxation is that of `graphpart.maximum_cut`. Its rows are inequalities over sets of pairs in which every element
occurs an even number of times: of such pairs, an even number is apart, so those of an odd set S are not apart while all
others are together (Barahona & Mahjoub 1986).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.proof_tree import units, whole
from graphpart.maximum_cut import _kernels
from graphpart.maximum_cut.odd_cycles import OddCycles
from graphpart.partition.exact_solvers.two_clusters import signed_graph_of
from graphpart.partition.problem import SetPartition
from graphpart.partition.proof_trees.decisions import Decided
from graphpart.stopping import Stopping

__all__ = ["SidesBounding"]

ODD_SET = 6  # the kind of these inequalities in certificates


class SidesBounding:
    """The relaxation over odd cycles of one part of a problem; it is used as `relaxed.Bounding` is.

    Parameters
    ----------
    p : SetPartition
        One that `TwoClusters.fits`.
    goal : float
        A node is closed if its bound is at least this.
    stopping : Stopping
    """

    def __init__(self, p: SetPartition, goal: float, stopping: Stopping) -> None:
        self.graph = signed_graph_of(p)
        self.goal, self.stopping = goal, stopping
        self.relaxation = OddCycles(self.graph, self._remaining)

    def _remaining(self) -> float:
        return math.inf if self.stopping.remaining is None else self.stopping.remaining

    @property
    def bound(self) -> float:
        """The bound of the node that was decided last."""
        return self.relaxation.bound

    def decide(self, decided: Decided) -> None:
        """Confine the pairs whose ends are connected by decisions."""
        g, cuts = self.graph, np.array(decided.cuts, np.int32).reshape(-1, 2)
        first = np.unique(decided.classes, return_index=True)[1].astype(np.int32)[decided.classes]
        u = np.concatenate([np.arange(g.n, dtype=np.int32), cuts[:, 0]])
        v = np.concatenate([first, cuts[:, 1]])
        apart = np.repeat(np.array([0, 1], np.uint8), [g.n, len(cuts)])
        order = np.arange(len(u), dtype=np.int32)
        side, root = _kernels.spanning_sides(g.n, u, v, apart, order)
        known = root[g.u] == root[g.v]
        frustrated = (side[g.u] ^ side[g.v] ^ g.negative).astype(np.float64)
        self.relaxation.confine(np.where(known, frustrated, 0.0), np.where(known, frustrated, 1.0))

    def closes(self) -> bool | None:
        """Whether rounds of the relaxation raise the bound to the goal; None if the time is over."""
        return self.relaxation.closes(self.goal, self.stopping)

    def choice(self) -> tuple[int, int] | None:
        """The pair to divide the node on; None if the decisions leave no pair with a cost free."""
        e = self.relaxation.edge_to_divide()
        return None if e is None else (int(self.graph.u[e]), int(self.graph.v[e]))

    def leaf(self, names: NDArray[Any]) -> list[Any]:
        """The node with the multipliers that reach the goal, in units as coarse as possible."""
        r, multipliers = self.relaxation, self.relaxation.multipliers
        exponents = units(float(np.abs(self.graph.weight).max(initial=0.0)))
        for exponent in exponents:
            amounts = whole(multipliers, exponent)
            if r.proves(np.ldexp(np.array(amounts, np.float64), -exponent)) >= self.goal:
                break
        return ["inequalities", exponent, [self._row(k, x, names) for k, x in enumerate(amounts) if x]]

    def _row(self, k: int, amount: int, names: NDArray[Any]) -> list[int]:
        """An inequality: its kind, the size of S, its multiplier, and the ends of each pair, those of S first."""
        g, rows = self.graph, self.relaxation.program.rows
        edges = rows.columns[rows.starts[k] : rows.starts[k + 1]]
        odd = (g.negative[edges] != 0) ^ (rows.entries[rows.starts[k] : rows.starts[k + 1]] < 0)
        edges = np.concatenate([edges[odd], edges[~odd]])
        pairs = np.stack([names[g.u[edges]], names[g.v[edges]]], 1)
        return [ODD_SET, int(odd.sum()), amount, *pairs.ravel().tolist()]
