"""Branch and cut: the best partition, with a proof that there is no better one.

1. Pairs that are joined or cut in some optimal partition are so from the start (see `persistency`). Then no partition
   needs to join elements that no path of attractive pairs connects, so each component of the attractive pairs is solved
   apart, and so are its blocks, which share no more than one element with each other (see `blocks`), the smallest
   first.
2. Local search gives a first partition; the relaxation (see `relaxation`) a lower bound, raised by cutting planes. On
   the way, points of the relaxation are rounded to partitions and these refined by local search.
3. Where the bound plus the reduced cost of a pair reaches the cost of the best partition, no better one has this pair
   the other way: it is fixed.
4. Where few pairs have a cost, and many of them are fixed so at the root, what is left is contracted, reduced, and
   taken apart anew: 1 to 4 once more, on a smaller problem.
5. What is left is divided into two: a pair joined, or cut, with all that follows from it for other pairs. The node with
   the least bound comes first; from time to time, a dive follows the point of the relaxation down to a partition.

A node is closed once its bound shows that it holds no better partition. Bounds come from prices (see `certificate`),
less all that rounding may have added. If all costs are multiples of one number, a better partition is better by that.

The roots of all components come first, then what is left of each, so that no small one takes the time of all others.

With a background, 1 comes first, on listed pairs; what is left of each component becomes explicit. A component that is
too large for that gets multilevel moves and a lower bound (see `implicit_parts`).

1 and 4 stand here, the rest in `tree`. A line per second goes to the logger ``graphpart.partition.exact``, at level
INFO.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from graphpart.common.finishing import MESSAGES
from graphpart.partition.bounds.trivial_bound import lowered
from graphpart.partition.exact_solvers.implicit_parts import solve_in_parts
from graphpart.partition.exact_solvers.tree import Tree, Work
from graphpart.partition.local_search.kernighan_lin import kernighan_lin
from graphpart.partition.local_search.kernighan_lin_pairs import kernighan_lin_pairs
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.blocks import glued, split_at_articulations
from graphpart.partition.problem.components import Part, split
from graphpart.partition.problem.derived import connected, cut_huge, in_fitting_unit
from graphpart.partition.problem.explicit import without_background
from graphpart.partition.problem.finish import finish
from graphpart.partition.reduction.persistency import DENSE_UP_TO, reduce
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["branch_and_cut", "solve_exactly"]

Partner = Callable[[SetPartition, Labels], Labels | None]
BY_PAIRS = 16  # neighbours on average, below which Kernighan-Lin on pairs of subsets is fast, and ends lower
LOGGER = logging.getLogger("graphpart.partition.exact")


def solve_exactly(
    p: SetPartition,
    initial: Any,
    time_limit: float | None,
    threads: int = 1,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
    partner: Partner | None = None,
) -> PartitionResult:
    """Branch and cut for any problem; the partner is asked where all pairs are listed."""
    if p.background is not None and p.n > DENSE_UP_TO and p.background.repels:

        def solve(part: SetPartition, start: Labels, limit: float | None, call: Any) -> PartitionResult:
            return branch_and_cut(part, start, limit, threads, None, call)

        return solve_in_parts(p, initial, time_limit, target, callback, solve)
    return branch_and_cut(without_background(p, "exact"), initial, time_limit, threads, target, callback, partner)


def branch_and_cut(
    p: SetPartition,
    initial: Any,
    time_limit: float | None,
    threads: int = 1,
    target: float | None = None,
    callback: Callable[[float, float], object] | None = None,
    partner: Partner | None = None,
) -> PartitionResult:
    """See `graphpart.partition.exact`.

    After each round of a relaxation, ``partner(problem, labels)`` gets the problem of the block that is worked on
    (smaller than that of the caller: what is known beforehand is contracted) and the best partition of it, and returns
    a better one, or None; so others can search and prove in turn.
    """
    search: Search | None = None

    def tell(seconds: float, cost: float) -> object:  # kernels of bounds know no cost
        if search is not None:
            search.log()
            cost = search.cost
        return callback and callback(seconds, cost)

    stopping = Stopping(time_limit, None, target, tell)
    start = kernighan_lin(p, initial, time_limit=stopping.remaining, target=target, callback=callback)
    if start.status in (Status.INTERRUPTED, Status.TARGET):
        stopping.stop(start.status)
    small = reduce(p, time_limit=stopping.remaining)
    q, exponent = in_fitting_unit(cut_huge(small.problem))
    labels = _start_of(q, start.labels, small.persistency.labels, stopping)
    search = Search(q, labels, stopping, threads, small.constant, 2.0**exponent, partner)
    search.run()
    found = finish(p, small.lift(search.labels), stopping, "exact", Status.OPTIMAL, start=(start.labels, start.cost))
    # What is proven does not depend on why the run ended.
    status = Status.OPTIMAL if search.proven else (stopping.reason or Status.FEASIBLE)
    work = search.work
    known = not search.proven and math.isfinite(search.bound)
    # What rounding may have added, and what blocks may cost less that count as proven.
    slack = search.bound - lowered(p, search.bound) + search.allowance if known else 0.0
    return replace(
        found,
        status=status,
        message=f"{MESSAGES[status]} ({work.nodes} nodes, {work.rounds} rounds, {work.cuts} cuts)",
        lower_bound=found.cost if search.proven else min(search.bound - slack, found.cost),
        iterations=work.nodes,
        history=tuple(entry for entry in found.history if math.isfinite(entry[1])),
        info={
            **vars(work),
            "allowance": search.allowance,
            "bounds": tuple((seconds, bound - slack) for seconds, bound in search.bounds),
        },
    )


def _start_of(q: SetPartition, labels: Labels, merged: Labels, stopping: Stopping) -> Labels:
    """A partition of the smaller problem: by local search from scratch, or from what labels say of one element of each
    set, whichever is better. Labels need not agree with the one optimal partition that the smaller problem keeps.
    """
    own = kernighan_lin(q, time_limit=stopping.remaining)
    if not q.is_dense and 2 * q.m < BY_PAIRS * q.n and not stopping.check(np.inf):
        own = kernighan_lin_pairs(q, own, time_limit=stopping.remaining)
    if not q.n:
        return own.labels
    given = canonical(labels[np.unique(merged, return_index=True)[1]])
    if math.isfinite(q.evaluate_labels(given)):
        better = kernighan_lin(q, given, time_limit=stopping.remaining)
        return better.labels if better.cost < own.cost else own.labels
    return own.labels


class Search:
    """All blocks of all components of a problem without required joins: the best labels, cost and bound as sums."""

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        stopping: Stopping,
        threads: int,
        constant: float,
        unit: float,
        partner: Partner | None = None,
        allowance: float = math.inf,
    ) -> None:
        self.p, self.labels, self.stopping, self.threads, self.partner = p, labels, stopping, threads, partner
        self.constant, self.unit = constant, unit  # what partitions cost beside p, and in which unit p is
        self.work = Work()
        self.bounds: list[tuple[float, float]] = []
        self._parts: list[Part] = []
        self._trees: list[Tree] = []
        components = [(elements, split_at_articulations(part)) for elements, part in _attractive_parts(p)]
        count = sum(len(blocks) for _, blocks in components)
        for elements, blocks in components:
            for inner, block in blocks:  # what they may miss adds up
                mine = elements[inner]
                self._parts.append((mine, block))
                self._trees.append(Tree(block, canonical(labels[mine]), self, 1 / len(blocks), allowance / count))
        self.cost = self.bound = -math.inf
        self.proven = False
        self._logged = 0
        self._add_up()

    def _add_up(self) -> None:
        self.cost = self.constant + self.unit * math.fsum(tree.cost for tree in self._trees)
        self.bound = self.constant + self.unit * math.fsum(tree.value for tree in self._trees)

    def run(self) -> None:
        """Solve the components, the smallest first: the root of each, then what is left of each."""
        self.bounds.append((self.stopping.seconds, self.bound))
        trees = sorted(self._trees, key=lambda tree: tree.p.n)
        for nodes in (1.0, math.inf):
            for tree in trees:
                tree.run(nodes)
        self._add_up()
        self.bounds = [(seconds, min(bound, self.bound)) for seconds, bound in self.bounds]
        self.bounds.append((self.stopping.seconds, self.bound))
        found = [(elements, tree.labels) for (elements, _), tree in zip(self._parts, self._trees, strict=True)]
        self.labels = glued(self.p.n, found)
        self.proven = all(tree.proven for tree in self._trees)

    @property
    def allowance(self) -> float:
        """By how much less a partition may cost, although all trees are proven."""
        return self.unit * math.fsum(tree.allowance for tree in self._trees)

    def solve_rest(self, p: SetPartition, labels: Labels, constant: float, tree: Tree) -> tuple[Labels, float, bool]:
        """What is left of a tree's problem, solved: (labels, a lower bound of its cost plus constant, is it one?)."""
        small = reduce(p, time_limit=self.stopping.remaining)
        q = small.problem
        start = _start_of(q, labels, small.persistency.labels, self.stopping)
        rest = Rest(self, q, start, small.constant + constant, tree.allowance or math.inf)
        rest.run()
        return small.lift(rest.labels), rest.bound, rest.proven

    def solve_region(self, p: SetPartition, labels: Labels, seconds: float) -> tuple[Labels, float, bool]:
        """Labels of a small problem, a lower bound of its cost, and whether the labels are optimal."""
        found = branch_and_cut(p, labels, seconds, callback=lambda *_: self.stopping.check(self.cost))
        # Optimal up to the allowance; twice, for what rounding adds.
        bound = found.lower_bound - 2 * found.info["allowance"]
        return found.labels, bound, found.status == Status.OPTIMAL

    def note(self, cost: float, bound: float) -> None:
        """By how much a tree changed its cost and its bound, in its unit."""
        self.cost += self.unit * cost
        if bound > 0:
            self.bound += self.unit * bound
            self.bounds.append((self.stopping.seconds, self.bound))
        if cost < 0:
            self.stopping.record(self.cost)

    def log(self) -> None:
        """A line, if none was written in this second."""
        second = int(self.stopping.seconds)
        if second > self._logged and LOGGER.isEnabledFor(logging.INFO):
            self._logged = second
            gap = 100 * (self.cost - self.bound) / abs(self.cost or math.nan)
            LOGGER.info(
                "%d s  cost %.10g  lower bound %.10g  gap %.3g%%  %d nodes, %d rounds, %d cuts",
                second, self.cost, self.bound, gap, self.work.nodes, self.work.rounds, self.work.cuts,
            )  # fmt: skip


class Rest(Search):
    """What is left of the problem of one tree: counted as work of the whole, its cost and bound its own."""

    def __init__(self, whole: Search, p: SetPartition, labels: Labels, constant: float, allowance: float) -> None:
        self.whole = whole
        super().__init__(p, labels, whole.stopping, whole.threads, constant, 1.0, whole.partner, allowance)
        self.work = whole.work

    def note(self, cost: float, bound: float) -> None:
        """By how much a tree changed its cost and its bound; the whole learns that at the end."""
        self.cost += cost
        self.bound += max(bound, 0.0)

    def log(self) -> None:
        """The whole does."""


def _attractive_parts(p: SetPartition) -> list[Part]:
    """The components of the pairs with a negative cost, as problems of their own."""
    u, v, cost = p.pairs()
    negative = cost < 0
    component = connected(p.n, u[negative], v[negative])
    if not p.is_dense:
        within = component[u] == component[v]
        p = SetPartition.of_pairs(range(p.n), u[within], v[within], cost[within], dense=False)
    return split(p, component)
