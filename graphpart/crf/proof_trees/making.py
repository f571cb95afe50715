"""A proof that a labeling is optimal, made again by branch and bound that keeps all it needs.

1. Components for which elimination needs small tables only are one part, and every other component is a part.
2. A node of small width is a leaf, whose value elimination computes. Forests have width 1.
3. For other nodes, bounds are tried one after another (see `leaves`): maximum flows, message passing with
   cycles. If one reaches the energy, its messages are a leaf.
4. Otherwise a variable with few labels and many factors gets its label in one child, and another label in the other.
   As variables are decided, the width falls, so a tree ends with eliminations at the latest.
"""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import TOLERANCE, Judge
from graphpart.common.proof_tree import Unproven, out_of_time, precision, require_room, tolerance_of
from graphpart.crf.certificates.certificate import common_step, counted_costs, fingerprint
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import split
from graphpart.crf.problem.labeling import places
from graphpart.crf.proof_trees.leaves import Leaves
from graphpart.crf.proof_trees.tree import LabelingProof
from graphpart.crf.reduction.persistency import State
from graphpart.display import number
from graphpart.errors import InfeasibleProblem
from graphpart.stopping import Stopping, interruptible

__all__ = ["prove_labels"]

LARGEST_PROBLEM = 1 << 22  # most entries of all tables, which plain Python holds in some hundred megabytes
BETTER = "a labeling was found that costs less"
FORBIDDEN = ["messages", 0, []]  # a leaf if some factor forbids everything that decisions leave


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
    costs, count = counted_costs(f)
    size = float((np.abs(costs) * count).sum())
    decimals, judge = precision(costs, count, common_step(f), TOLERANCE * size)
    making = Making(f, np.asarray(labels), Stopping(time_limit), judge)
    nodes = making.nodes()
    making.stopping.reraise()
    tolerance = tolerance_of(judge, cost, size, f.m + 1)
    return LabelingProof(
        bound=cost, tolerance=tolerance, decimals=decimals, cost=cost, n=f.n,
        method=method, problem=fingerprint(f), nodes=nodes,
    ).sealed()  # fmt: skip


class Making:
    """The nodes of the tree of one problem.

    Parameters
    ----------
    f : FactorGraph
    labels : ndarray of int32, shape (n,)
        The labeling that is proven.
    stopping : Stopping
    judge : Judge
    """

    def __init__(self, f: FactorGraph, labels: NDArray[np.int32], stopping: Stopping, judge: Judge) -> None:
        self.root, self.labels, self.stopping, self.judge = State(f), labels, stopping, judge
        self.root.constant = 0.0  # it counts for the cost of any labels, too
        self.leaves = Leaves(stopping)
        self.out: list[Any] = []

    def nodes(self) -> list[Any]:
        """All nodes, each before its children."""
        root, names = self.root, self.root.members
        parts = split(root.g, root.g.components())
        if len(parts) < 2 or self.leaves.eliminated(root.g) is not None:
            self._prove(root, self._goal(root.g, names, 1))
            return self.out
        easy, hard = list[NDArray[Any]](), list[tuple[NDArray[Any], FactorGraph]]()
        order: list[int] = []
        for inside, part in parts:
            some = names[inside]
            if (found := self.leaves.eliminated(part)) is None:
                hard.append((some, part))
                continue
            if found[1] < self._goal(part, some, len(parts)):
                raise Unproven(BETTER)
            easy.append(some)
            order += some[found[0]].tolist()
        if not hard:
            return [["eliminate", order]]
        members = [np.concatenate(easy), *(some for some, _ in hard)] if easy else [some for some, _ in hard]
        if len(members) > 1:
            self.out.append(["parts", [some.tolist() for some in members]])
        if easy:
            self.out.append(["eliminate", order])
        for some, part in hard:
            state = State(part)
            state.members, state.known = some, root.known
            self._prove(state, self._goal(part, some, len(parts)))
        return self.out

    def _goal(self, f: FactorGraph, names: NDArray[Any], parts: int) -> float:
        """The bound that closes one of some parts."""
        return self.judge.goal(f.evaluate_labels(self.labels[names]), parts)

    def _prove(self, state: State, goal: float) -> None:
        """Append the nodes of a part."""
        labels: NDArray[np.int32] | None = self.labels[state.members]
        open_: list[tuple[State | None, int]] = [(state, 0)]
        while open_:
            one, depth = open_.pop()
            require_room(len(self.out), depth)
            node = FORBIDDEN if one is None else self.leaves.find(one.g, one.members, goal - one.constant, labels)
            labels = None
            if node is None:
                assert one is not None
                if self.stopping.check(math.inf):
                    raise out_of_time(len(self.out), len(open_) + 1)
                node, children = self._branch(one)
                open_ += [(child, depth + 1) for child in children[::-1]]
            self.out.append(node)

    def _branch(self, state: State) -> tuple[list[Any], list[State | None]]:
        """A variable with few labels and many factors, and its label, or its first one if this is excluded; children.

        The ratio of both decides (Bessiere & Regin 1996), unless an elimination is near, see `Leaves`. If no factor has
        two variables, the value of a leaf is the least energy.
        """
        g = state.g
        arity = np.diff(g.scope_start)
        degree = np.bincount(g.scope[np.repeat(arity > 1, arity)], minlength=g.n)
        if not degree.any():
            raise Unproven(BETTER)
        i = self.leaves.heaviest
        if i is None:
            i = int(np.argmin(np.where(degree, g.domains / np.maximum(degree, 1), math.inf)))
        v, (a, b) = int(state.members[i]), places(g)[i : i + 2].tolist()
        own = state.options[a:b].tolist()
        j = own.index(self.labels[v]) if self.labels[v] in own else 0
        children = list[State | None]()
        for kept in (1, 0):
            alive = np.ones(len(state.options), np.uint8)
            alive[a:b] = 1 - kept
            alive[a + j] = kept
            child = copy.copy(state)
            child.known = state.known.copy()
            try:
                child.restrict(alive)
                children.append(child)
            except InfeasibleProblem:
                children.append(None)
        return ["branch", v, own[j]], children
