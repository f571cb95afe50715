"""A proof that a partition is optimal, made again by branch and bound that keeps all it needs.

1. Required joins are contracted, and a background is written out for up to some thousand elements.
2. If only costs and no limits connect them, components of attracting pairs are proven one by one.
3. The relaxation bounds a node (see `relaxed`, and `sides` for at most two clusters and few pairs). If the bound
   reaches the cost, the multipliers are a leaf.
4. Otherwise two children are made: a pair is together in one, and apart in the other. The pair is that of the solver's
   branch and cut (pseudo-costs of the relaxation), or the one that it has taken; if all variables are decided, it is
   the first undecided pair. So a tree ends with nodes in which everything is decided, at the latest.
5. Decisions that no partition agrees with close a node, see `decisions`.

Requirements that the relaxation does not know (limits, connected clusters that its cuts do not enforce) only raise the
cost: a bound without them is valid, and where it does not reach the cost, step 4 goes on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.judge import Judge
from graphpart.common.proof_tree import NEAR, Unproven, out_of_time, precision, require_room, tolerance_of
from graphpart.display import number
from graphpart.partition.certificates.certificate import common_step, fingerprint
from graphpart.partition.certificates.judging import judge_of_partition
from graphpart.partition.certificates.kept import Kept
from graphpart.partition.exact_solvers.two_clusters import TwoClusters
from graphpart.partition.pieces.components import split
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.derived import connected
from graphpart.partition.proof_trees.decisions import Decided
from graphpart.partition.proof_trees.relaxed import Bounding
from graphpart.partition.proof_trees.sides import SidesBounding
from graphpart.partition.proof_trees.tree import PartitionProof, plain_problem
from graphpart.stopping import Stopping, interruptible

__all__ = ["prove"]

WRITTEN_OUT = 3000  # most elements for which a background is written out as a matrix: 72 MB


@interruptible
def prove(
    p: SetPartition, labels: Labels, method: str, time_limit: float | None = None, known: Sequence[Kept] = ()
) -> PartitionProof:
    """A certificate that labels are optimal.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
    method : str
        The name of the method that found them.
    time_limit : float, optional
        Seconds.
    known : sequence of Kept
        What the method has proven (see `kept`), with which each relaxation begins.

    Raises
    ------
    Unproven
        If the time is over, or Ctrl-C is pressed, the tree has too many nodes, or a better partition was found.
    """
    stopping = Stopping(time_limit)
    if p.background is not None and p.n > WRITTEN_OUT:
        raise Unproven(
            f"unlisted pairs have a cost, and there are {number(p.n)} elements: expected at most {WRITTEN_OUT}"
        )
    cost, judge, decimals = p._evaluate_labels(labels), judge_of_partition(p), None
    if _is_plain(p):
        costs, times = _numbers(p)
        size = float((np.abs(costs) * times).sum())
        decimals, judge = precision(costs, times, common_step(p), judge.tolerance)
    else:
        size = float(plain_problem(p, None).costs.size)
        judge = Judge(max(judge.tolerance, NEAR * size))
    nodes = Making(p, labels, judge, stopping, known).nodes()
    stopping.reraise()
    tolerance = tolerance_of(judge, cost, size, p.n * p.n if p.background is not None else p.m)
    return PartitionProof(
        bound=cost, tolerance=tolerance, decimals=decimals, cost=cost, n=p.n, method=method,
        problem=fingerprint(p), nodes=nodes,
    ).sealed()  # fmt: skip


def _numbers(p: SetPartition) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All finite costs, prices and the constant cost of unlisted pairs, and for how many pairs each of them counts."""
    cost = p.pairs()[2]
    costs = [cost[np.isfinite(cost)]]
    times = [np.ones(len(costs[0]))]
    if p.background is not None:
        costs.append(p.background.beta)
        times.append(np.full(len(p.background.beta), p.n * (p.n - 1) / 2))
        if p.background.groups is not None:
            groups = p.background.groups
            size, finite = np.diff(groups.by_group[0]), np.isfinite(groups.price)
            costs.append(groups.price[finite])
            times.append((size * (size - 1) / 2)[finite])
    return np.concatenate(costs), np.concatenate(times)


def _is_plain(p: SetPartition) -> bool:
    """Whether unlisted pairs have one cost, if any."""
    return p.background is None or all(x is y and (x == 1).all() for x, y in p.background.vectors)


class Making:
    """The nodes of the tree of one problem."""

    def __init__(
        self, p: SetPartition, labels: Labels, judge: Judge, stopping: Stopping, known: Sequence[Kept]
    ) -> None:
        self.p, self.labels, self.judge, self.stopping, self.known = p, labels, judge, stopping, known
        self.out: list[Any] = []

    def nodes(self) -> list[Any]:
        """All nodes, each before its children."""
        p = self.p
        contraction = Contraction(p)
        q = contraction.problem
        self.first = contraction.first if q is not p else np.arange(p.n)
        self.known = [one._replace(elements=contraction.sets[one.elements]) for one in self.known]
        labels = contraction.project(self.labels) if q is not p else self.labels
        if q.background is not None:
            q = q._to_dense()
        if p._limits is None and (parts := self._parts(q)) is not None:
            members = [np.flatnonzero(np.isin(contraction.sets, elements)).tolist() for elements, _ in parts]
            self.out.append(["parts", members])
            for elements, part in parts:
                self._prove(part, labels[elements], elements, len(parts))
        else:
            self._prove(q, labels, np.arange(q.n), 1)
        return self.out

    def _parts(self, q: SetPartition) -> list[tuple[NDArray[Any], SetPartition]] | None:
        """Components as problems of their own, with all elements that attract none as one; None if there is one."""
        if q.lifted is not None:
            component = q._components()
        else:
            u, v, cost = q.pairs()
            negative = cost < 0
            component = connected(q.n, u[negative], v[negative])
        if int(component.max(initial=0)) == 0:
            return None
        alone = np.bincount(component)[component] == 1
        if q.lifted is None and not q.is_dense:
            within = component[u] == component[v]
            q = SetPartition._of_pairs(range(q.n), u[within], v[within], cost[within], dense=False)
        parts = split(q, component)
        if alone.any():
            elements = np.flatnonzero(alone)
            parts.append((elements, q._restrict(elements)))
        return parts if len(parts) > 1 else None

    def _prove(self, p: SetPartition, labels: Labels, names: NDArray[Any], parts: int) -> None:
        """Append the nodes of a part, whose elements have these names."""
        cost = p._evaluate_labels(np.ascontiguousarray(labels))
        goal = self.judge.goal(cost, 2 * parts)
        place = np.full(self.p.n, -1)
        place[names] = np.arange(len(names))
        mine = [one.placed(place) for one in self.known if (place[one.elements] >= 0).all()]
        known, nodes = [one for one, _ in mine], {path: node for _, some in mine for path, node in some.items()}
        bounding: Bounding | SidesBounding
        if TwoClusters.fits(p):
            bounding = SidesBounding(p, goal, self.stopping)
        else:
            bounding = Bounding(p, goal, self.stopping, known)
        named = self.first[names]
        open_: list[tuple[tuple[Any, ...], tuple[Any, ...]]] = [((), ())]
        while open_:
            joins, cuts = open_.pop()
            require_room(len(self.out), len(joins) + len(cuts))
            decided = Decided(p, joins, cuts)
            if (shown := decided.contradiction()) is not None:
                self.out.append(["contradiction", [int(named[a]) for a in shown]])
                continue
            node = nodes.get(frozenset((*sorted(pair), pair in joins) for pair in (*joins, *cuts)))
            if isinstance(node, tuple) and not isinstance(node, Kept):
                self.out.append(["branch", int(named[node[0]]), int(named[node[1]])])
                open_ += [(joins, (*cuts, node)), ((*joins, node), cuts)]
                continue
            if isinstance(node, Kept) and isinstance(bounding, Bounding):
                bounding.restart(node)
            bounding.decide(decided)
            closed = bounding.closes()
            if closed is None:
                unknown = p._limits is not None and isinstance(bounding, Bounding)
                raise out_of_time(len(self.out), len(open_) + 1, "; no inequality knows the limits" if unknown else "")
            if closed:
                self.out.append(bounding.leaf(named.astype(np.int32)))
                continue
            pair = bounding.choice() or decided.open_pair()
            if pair is None:  # one partition is left, whose cost no inequality tells better than its pairs
                if (left := p._evaluate_labels(decided.classes)) < goal:
                    raise Unproven(f"a partition of cost {number(left)} was found, which costs less")
                self.out.append(["inequalities", 0, []])
                continue
            self.out.append(["branch", int(named[pair[0]]), int(named[pair[1]])])
            open_ += [(joins, (*cuts, pair)), ((*joins, pair), cuts)]
