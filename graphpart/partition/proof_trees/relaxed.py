"""Bounds of the nodes of a proof tree by the relaxation, and the multipliers that prove them, in whole numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphpart.common.proof_tree import units, whole
from graphpart.partition.bounds import simplex
from graphpart.partition.bounds.message_passing import pass_messages
from graphpart.partition.bounds.relaxation import PARAMETERS, Relaxation
from graphpart.partition.certificates.inequalities import GENERAL, Inequalities
from graphpart.partition.certificates.kept import Kept
from graphpart.partition.exact_solvers.branching import PseudoCosts
from graphpart.partition.exact_solvers.whole import TreeParameters
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem import SetPartition
from graphpart.partition.proof_trees.decisions import Decided
from graphpart.stopping import Stopping

__all__ = ["Bounding"]

PARAMETERS_OF_TREE = TreeParameters()  # of branch and cut, which decides in the same way when to divide a node
TINY, ROUNDS = 12, 4  # most elements, and rounds at a node of such a problem if limits may keep the gap open
CLOSE = 1e-5  # share of the goal that is missing when a vertex is computed whatever the number of terms is


class Bounding:
    """The relaxation of one part of a problem, whose multipliers go from node to node.

    Parameters
    ----------
    p : SetPartition
        Without required joins and background.
    goal : float
        A node is closed if its bound is at least this.
    stopping : Stopping
    known : list of Kept
        What is known of it: the relaxation begins with these multipliers, and else with message passing.
    """

    def __init__(self, p: SetPartition, goal: float, stopping: Stopping, known: list[Kept]) -> None:
        self.p, self.goal, self.stopping = p, goal, stopping
        self.relaxation = r = Relaxation(p, stopping)
        self.fixed = r.lower.copy(), r.upper.copy()
        for one in known:
            self._add(one)
        if r.offer(r.rows.multipliers) < goal and len(r.cost) and not len(r.rows):
            r.start(*pass_messages(p, stopping, 2))
        self.pseudo_costs = PseudoCosts(r)
        self.simplex = simplex.Simplex(1) if simplex.is_available() else None

    def _add(self, one: Kept) -> None:
        """Add inequalities with their multipliers, and take over the point. The pairs of some may not be variables."""
        r, found = self.relaxation, one.inequalities.renamed(one.elements.astype(np.int32))
        there = found.kinds != GENERAL  # these come from semidefinite relaxations, and certificates do not have them
        if len(one.point) == len(r.y) and (one.elements == np.arange(self.p.n)).all():
            r.y = one.point
        elif not r.complete and len(found):
            starts, keys = found.terms(self.p.n)[:2]
            there &= np.logical_and.reduceat(np.isin(keys, keys_of_pairs(r.u, r.v, self.p.n)), starts[:-1])
        r.rows.add(found.take(there), one.multipliers[there])

    def restart(self, one: Kept) -> None:
        """Begin again with what has closed a node."""
        self.relaxation.rows.keep(np.zeros(len(self.relaxation.rows), bool))
        self._add(one)

    @property
    def bound(self) -> float:
        """The bound of the node that was decided last."""
        return self.relaxation.bound

    def decide(self, decided: Decided) -> None:
        """Set the bounds of variables that follow from decisions."""
        r, n = self.relaxation, self.p.n
        r.lower, r.upper = self.fixed[0].copy(), self.fixed[1].copy()
        a, b = decided.classes[r.u], decided.classes[r.v]
        pairs = np.array(sorted(decided.apart), np.int64).reshape(-1, 2)
        apart = np.isin(keys_of_pairs(a, b, n), keys_of_pairs(pairs[:, 0], pairs[:, 1], n))
        r.lower[a == b] = 1.0
        r.upper[a == b] = 1.0
        r.lower[apart & (a != b)] = 0.0
        r.upper[apart & (a != b)] = 0.0
        r.bound = -math.inf
        r.offer(r.rows.multipliers)

    def closes(self) -> bool | None:
        """Whether rounds of the relaxation raise the bound to the goal; None if the time is over."""
        r, a, idle, vertex, failed = self.relaxation, PARAMETERS_OF_TREE, 0, False, False
        r.tolerance = PARAMETERS.violated
        bounds: list[float] = []
        is_limited = self.p._limits is not None and self.p.n <= TINY
        while r.bound < self.goal:
            if self.stopping.check(math.inf):
                return None
            if not len(r.cost):
                return False
            before = r.bound
            if vertex:
                assert self.simplex is not None
                vertex = self.simplex.solve(r)
                failed = not vertex
            else:
                r.round()
            if r.bound >= self.goal:
                break
            missing = self.goal - r.bound
            if not (r.lower < r.upper).any() and r.bound - before <= a.progress * missing:
                return False
            if vertex:
                r.tolerance = PARAMETERS.finest
            added = r.separate()
            if vertex and not added:
                return False
            idle = 0 if r.bound - before > a.progress * missing else idle + 1
            bounds.append(r.bound)
            if is_limited and len(bounds) >= ROUNDS:
                return False
            close = missing <= CLOSE * abs(self.goal)
            if idle <= a.idle and not (r.complete and self._is_slow(bounds, missing)):
                continue
            if r.complete and r.small and idle > a.idle:
                r.small, idle = False, 0
            elif self.simplex is None or vertex or failed or (len(r.rows.pairs) > a.vertex_terms and not close):
                return False
            else:
                vertex, idle = True, 0
        return True

    def _is_slow(self, bounds: list[float], missing: float) -> bool:
        """Whether the gap is small, but closing it would take many more rounds at the rate of the last rounds."""
        a = PARAMETERS_OF_TREE
        if len(bounds) <= a.window or missing > a.far * abs(self.goal):
            return False
        return missing * a.window > a.most_rounds * (bounds[-1] - bounds[-1 - a.window])

    def choice(self) -> tuple[int, int] | None:
        """The pair to divide the node on; None if no variable is free."""
        r = self.relaxation
        free = r.lower < r.upper
        if not free.any():
            return None
        e = self.pseudo_costs.choose(free)
        return int(r.u[e]), int(r.v[e])

    def leaf(self, names: Any) -> list[Any]:
        """The node with the multipliers that reach the goal, in units as coarse as possible.

        Parameters
        ----------
        names : ndarray of int
            The names of the elements in the whole problem.
        """
        r = self.relaxation
        rows, multipliers = r.rows.inequalities, r.rows.multipliers
        exponents = units(min(r.scale, float(np.abs(r.cost).max(initial=0.0))))
        for exponent in exponents:
            rounded = np.ldexp(np.array(whole(multipliers, exponent), np.float64), -exponent)
            if r.proves(rounded) >= self.goal:
                return _node(rows.renamed(names), rounded, exponent)
        return _node(r.best[0].renamed(names), r.best[1], exponents[-1])


def _node(rows: Inequalities, multipliers: Any, exponent: int) -> list[Any]:
    """The leaf with these inequalities and their multipliers in units of ``2**-exponent``, rounded downwards."""
    amounts = whole(multipliers, exponent)
    used = [k for k, amount in enumerate(amounts) if amount > 0]
    kinds, splits, starts, elements = (
        array.tolist() for array in (rows.kinds, rows.splits, rows.starts, rows.elements)
    )
    listed = [[kinds[k], splits[k], amounts[k], *elements[starts[k] : starts[k + 1]]] for k in used]
    return ["inequalities", exponent, listed]
