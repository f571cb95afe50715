"""A proof that a labeling is optimal, made again by branch and bound that keeps all it needs.

1. Components for which elimination needs small tables only are one part, and every other component is a part.
2. A node of small width is a leaf, whose value elimination computes. Forests have width 1.
3. For other nodes, bounds are tried one after another (see `leaves`): maximum flows, message passing with
   cycles. If one reaches the energy, its messages are a leaf.
4. Otherwise a variable with few labels and many factors gets its label in one child, and another label in the other.
   As variables are decided, the width falls, so a tree ends with eliminations at the latest.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.check import Conditioned, Energy, Value
from graphpart.common.judge import TOLERANCE
from graphpart.common.proof_tree import NEAR, Unproven, decimals_of, out_of_time, require_room, tolerance_of
from graphpart.crf.certificates.certificate import fingerprint, finite_costs
from graphpart.crf.problem import as_factor_graph
from graphpart.crf.proof_trees.leaves import Leaves
from graphpart.crf.proof_trees.tree import LabelingProof, plain_energy
from graphpart.display import number
from graphpart.stopping import Stopping, interruptible

__all__ = ["prove_labels"]

LARGEST_PROBLEM = 1 << 22  # most entries of all tables, which plain Python holds in some hundred megabytes


@interruptible
def prove_labels(
    problem: Any, labels: NDArray[np.int32], method: str, time_limit: float | None = None
) -> LabelingProof:
    """A certificate that labels have the least energy.

    Parameters
    ----------
    problem : FactorGraph
    labels : ndarray of int32, shape (n,)
    method : str
        The name of the method that found them.
    time_limit : float, optional
        Seconds.

    Raises
    ------
    Unproven
        If the time is over, or Ctrl-C is pressed, the tree or the problem is too large, or a better labeling was found.
    """
    given = as_factor_graph(problem)
    f = given.decomposed()
    cost = given.evaluate(labels)
    if given.functions:
        labels = given.complete(labels)
    if f.entries > LARGEST_PROBLEM:
        raise Unproven(f"the tables have {number(f.entries)} entries: expected at most {number(LARGEST_PROBLEM)}")
    costs, count = finite_costs(f)
    finite = np.repeat(costs, np.asarray(count, np.int64))
    size = float(np.abs(finite).sum())
    decimals = decimals_of(finite, TOLERANCE * size)
    energy = plain_energy(f, decimals)
    making = Making(energy, labels.tolist(), Stopping(time_limit), 0.0 if decimals is not None else NEAR * size)
    nodes = making.nodes()
    making.stopping.reraise()
    tolerance = tolerance_of(energy, labels.tolist(), cost, making.allowed)
    return LabelingProof(
        bound=cost, tolerance=tolerance, decimals=decimals, cost=cost, n=f.n,
        method=method, problem=fingerprint(f), nodes=nodes,
    ).sealed()  # fmt: skip


class Making:
    """The nodes of the tree of one problem.

    Parameters
    ----------
    energy : Energy
    labels : list of int
        The labeling that is proven.
    stopping : Stopping
    allowed : float
        How much the value of the root may miss.
    """

    def __init__(self, energy: Energy, labels: list[int], stopping: Stopping, allowed: float) -> None:
        self.energy, self.labels, self.stopping, self.allowed = energy, labels, stopping, allowed
        self.leaves = Leaves(energy, stopping)
        self.out: list[Any] = []

    def nodes(self) -> list[Any]:
        """All nodes, each before its children."""
        root = self.energy.root()
        parts = self._parts(root)
        if len(parts) > 1:
            node = ["parts", parts]
            self.out.append(node)
            states = self.energy.children(node, root)
        else:
            states = [root]
        for state in states:
            goal = self.energy.cost(self.labels, state) - Fraction(self.allowed) / len(states)
            self._prove(state, goal)
        return self.out

    def _parts(self, root: Conditioned) -> list[list[int]]:
        """The variables of components of small width together, and those of each other component."""
        parent = {v: v for v in root.labels}

        def find(v: int) -> int:
            while parent[v] != v:
                parent[v] = parent[parent[v]]
                v = parent[v]
            return v

        for scope, _ in root.factors:
            for v in scope[1:]:
                parent[find(v)] = find(scope[0])
        members: dict[int, list[int]] = {}
        for v in root.labels:
            members.setdefault(find(v), []).append(v)
        if len(members) < 2:
            return []
        of = {v: k for k, some in enumerate(members.values()) for v in some}
        factors: list[list[Any]] = [[] for _ in members]
        for factor in root.factors:
            factors[of[factor[0][0]]].append(factor)
        easy: list[int] = []
        hard = []
        for some, mine in zip(members.values(), factors, strict=True):
            f, _ = self.leaves.factor_graph(Conditioned({v: root.labels[v] for v in some}, mine, 0))
            if self.leaves.small_order(f) is None:
                hard.append(some)
            else:
                easy += some
        return [easy, *hard] if easy else hard

    def _prove(self, state: Conditioned, goal: Value) -> None:
        """Append the nodes of a part."""
        open_, first_node = [(state, 0)], len(self.out)
        while open_:
            state, depth = open_.pop()
            require_room(len(self.out), depth)
            node = self.leaves.find(state, goal, len(self.out) == first_node)
            if node is not None:
                self.out.append(node)
                continue
            if self.stopping.check(math.inf):
                raise out_of_time(len(self.out), len(open_) + 1)
            if not state.labels or (node := self._branch(state)) is None:
                raise Unproven("a labeling was found that costs less")
            self.out.append(node)
            first, second = self.energy.children(node, state)
            open_ += [(second, depth + 1), (first, depth + 1)]

    def _branch(self, state: Conditioned) -> list[Any] | None:
        """A variable with few labels and many factors, and its label, or its first one if this is excluded.

        The ratio of both decides (Bessiere & Regin 1996). None if no factor has two variables.
        """
        degree = Counter(v for scope, _ in state.factors if len(scope) > 1 for v in scope)
        if not degree:
            return None  # the value of a leaf is the least energy
        v = min(degree, key=lambda v: (len(state.labels[v]) / degree[v], v))
        own = state.labels[v]
        return ["branch", v, self.labels[v] if self.labels[v] in own else own[0]]
