"""Branch and cut: the best partition, with a proof that there is no better one.

1. Pairs that are known to be joined or cut in some optimal partition are fixed first (see `persistency`). Then some
   optimal partition joins no elements between components of the attractive pairs. So each component is solved
   separately, the smallest first, and so are its blocks, which share at most one element with each other (see
   `blocks`). If subsets have to be connected, the components are those of base pairs, because an element that attracts
   no other element may still link others.
2. Local search finds a first partition. The relaxation (see `relaxation`) proves a lower bound, and cutting planes
   raise it. Points of the relaxation are rounded to partitions, which local search improves.
3. If the bound plus the absolute reduced cost of a pair reaches the cost of the best partition, all better partitions
   agree on this pair, and it is fixed.
4. If few pairs have a cost, and many of these are fixed at the root, the remaining problem is contracted and reduced,
   and steps 1 to 4 are applied to it.
5. Otherwise the problem is divided into two nodes: in one, a pair is joined, in the other, it is cut, with all
   consequences for other pairs. The node with the least bound comes first.

A node is closed once its bound shows that it contains no better partition. Bounds are computed from multipliers (see
`certificate`), less the largest possible rounding error. If all costs are multiples of one number, a better partition
costs less by at least this number.

The roots of all components come first, then the rest of each tree, so that no small component uses up the time of the
others.

The proof is one sequence of steps, which pauses after each round of a relaxation and after each region. So others can
search in turn with it (see `graphpart.common.race`), and it takes over the partitions that they find.

This module has steps 1 and 4; `tree` has the others. The logger ``graphpart.partition.exact`` gets a line per second,
at level INFO.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from graphpart.common.groups import first_of
from graphpart.partition.bounds.trivial_bound import lowered, trivial_bound
from graphpart.partition.certificates.kept import Kept
from graphpart.partition.exact_solvers.tree import Tree
from graphpart.partition.exact_solvers.whole import TreeParameters, Work
from graphpart.partition.local_search.greedy_joining import join
from graphpart.partition.local_search.improve import fixed_point
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.local_search.kernighan_lin_pairs import improve_by_pairs
from graphpart.partition.local_search.sums import fits_pairwise
from graphpart.partition.pieces.blocks import glued, split_at_articulations
from graphpart.partition.pieces.components import Part, split
from graphpart.partition.problem import Labels, SetPartition, canonical
from graphpart.partition.problem.derived import connected, pairs_with_cost
from graphpart.partition.problem.forms import cut_huge, in_fitting_unit
from graphpart.partition.reduction.persistency import PartitionReduction, reduced
from graphpart.stopping import Stopping

__all__ = ["BranchAndCut", "Smaller"]

LOGGER = logging.getLogger("graphpart.partition.exact")
MANY, FAR = 500, 0.4  # elements of a block, and the share of its gap that is left, from which its first bound is far


class Smaller(NamedTuple):
    """The undecided part of a problem. Each better partition of the problem corresponds to a partition of this part."""

    problem: SetPartition
    constant: float  #: cost in the whole problem minus cost in `problem`
    labels: Labels  #: the best known partition of `problem`
    lift: Callable[[Labels], Labels]  #: turns labels of `problem` into labels of the whole problem


class BranchAndCut:
    """A prover for the races of `graphpart.common.race`.

    Parameters
    ----------
    p : SetPartition
        Without required joins and background.
    labels : ndarray of int32, shape (n,)
        Canonical labels of the partition to start from.
    bound : float
        A lower bound that is already known.
    improved : bool
        Whether local search has improved the labels. If not, local search on the reduced problem comes first.
    threads : int
        Number of threads for HiGHS.
    raised : callable, optional
        Called with the bound whenever it is better.
    parameters : TreeParameters, optional

    Attributes
    ----------
    work : Work
    allowance : float
        Largest amount by which a partition may cost less than the best one, although that is proven.
    """

    name, proves = "branch and cut", True

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        bound: float = -math.inf,
        improved: bool = False,
        threads: int = 1,
        raised: Callable[[float], None] | None = None,
        parameters: TreeParameters | None = None,
    ) -> None:
        self.parameters = parameters or TreeParameters()
        self.p, self.labels, self.cost, self.improved = p, labels, p._evaluate_labels(labels), improved
        self.threads, self.raised = threads, raised
        self.bound, self.done, self.work = bound, False, Work()
        self.needs = self.needed(p)
        self.allowance = 0.0
        self._small: PartitionReduction | None = None
        self._search: Search | None = None
        self._largest: Tree | None = None  # once it has a bound
        self._steps: Iterator[None] | None = None

    @staticmethod
    def needed(p: SetPartition) -> float:
        """Estimated seconds until the first relaxation of a problem stands.

        12 microseconds for each pair with a cost, and 1 for each two pairs of an element that attract, or of which one
        attracts and the other one must be cut in a matrix: the packing and the messages before it work on cycles, of
        which there are about as many.
        """
        if p.matrix is None:
            u, v, cost = p._listed()
            attracting = others = np.bincount(np.concatenate([u[cost < 0], v[cost < 0]]), minlength=p.n)
        else:
            attracting = (p.matrix < 0).sum(axis=1)
            others = attracting + np.isinf(p.matrix).sum(axis=1)
        return 12e-6 * pairs_with_cost(p) + 1e-6 * float(attracting @ others)

    def generates_columns(self) -> bool:
        """Whether column generation has begun for some block."""
        return self.work.columns > 0

    def offer(self, labels: Labels, cost: float) -> None:
        """Take over a better partition."""
        self.labels, self.cost, self.improved = labels, cost, True
        if self._search is not None and self._small is not None:
            self._search.offer(canonical(labels[_first(self._small.persistency.labels)]))

    def run(self, stopping: Stopping, until: float | None) -> None:
        """Go on step by step."""
        if self._steps is None:
            self._steps = self._all_steps(stopping)
        began, needs = stopping.seconds, self.needs
        for _ in self._steps:
            # until the first relaxation stands
            self.needs = 0.0 if self.work.rounds else max(0.0, needs - (stopping.seconds - began))
            if until is not None and (stopping.seconds >= until or self._turns_out_far()):
                break
        else:
            self.done = stopping.reason is None or self._proven
        self._collect()

    def _turns_out_far(self) -> bool:
        """Whether this is the first bound of the largest block, so far away that relaxations are of little use."""
        if self._search is None or self._largest is not None:
            return False
        tree = self._search.largest
        if tree is None or not tree.has_begun:
            return False
        self._largest = tree
        return tree.p.n >= MANY and tree.cost - tree.bound > FAR * (tree.cost - trivial_bound(tree.p))

    @property
    def smaller(self) -> Smaller | None:
        """The undecided problem; None before the problem is reduced."""
        if self._search is None or self._small is None or self._search.unit != 1.0:
            return None
        small, inner = self._small, self._search.smaller()
        return inner._replace(lift=lambda labels: small.lift(inner.lift(labels)))

    def kept(self) -> list[Kept]:
        """What the roots of all blocks have proven, if that was wanted; one element stands for all that are joined."""
        if self._search is None or self._small is None:
            return []
        first = first_of(self._small.persistency.labels)
        unit = self._search.unit
        return [k._replace(elements=first[k.elements]).scaled(unit) for k in self._search.kept()]

    def open_elements(self) -> Labels:
        """The elements of all blocks that are not proven."""
        if self._search is None or self._small is None:
            return np.arange(self.p.n, dtype=np.int32)
        is_open = np.zeros(self._search.p.n, bool)
        for elements in self._search.open_elements():
            is_open[elements] = True
        found: Labels = np.flatnonzero(is_open[self._small.persistency.labels]).astype(np.int32)
        return found

    @property
    def _proven(self) -> bool:
        return self._search is not None and self._search.proven

    def _all_steps(self, stopping: Stopping) -> Iterator[None]:
        apart = stopping.child(plus=math.inf)  # costs belong to the reduced problem, or have another unit
        self._small = small = reduced(self.p, apart)
        yield
        q, exponent = in_fitting_unit(cut_huge(small.problem))
        labels = _start_of(q, self.labels, small, self.cost if self.improved else None, apart)
        slack = -lowered(self.p, 0.0)  # largest rounding error

        def told(search: Search, is_better: bool) -> None:
            if is_better:
                stopping.record(search.cost)
            bound = search.bound - slack - search.allowance
            if bound > self.bound:
                self.bound = bound
                if self.raised is not None:
                    self.raised(bound)

        def ends(search: Search) -> bool:
            if stopping.plus < math.inf:  # not a region of another problem
                search.log()
            return stopping.check(search.cost)

        self._search = search = Search(
            q, labels, apart, self.threads, small.constant, 2.0**exponent, told, ends, parameters=self.parameters
        )
        search.work = self.work
        self.allowance = search.allowance
        yield
        yield from search.steps()

    def _collect(self) -> None:
        """The best partition of the blocks as one of the problem."""
        if self._search is None or self._small is None:
            return
        if not self.improved or self._search.cost < self.cost:
            labels = self._small.lift(self._search.labels)
            cost = self.p._evaluate_labels(labels)
            if cost < self.cost:
                self.labels, self.cost, self.improved = labels, cost, True
        if self._proven:
            self.bound = max(self.bound, self.cost)


def _first(labels: Labels) -> Labels:
    """The first element of each set."""
    return first_of(labels).astype(np.int32)


def _start_of(
    q: SetPartition, labels: Labels, small: PartitionReduction, cost: float | None, stopping: Stopping
) -> Labels:
    """A partition of the smaller problem to start from, improved by local search.

    Each set of joined elements takes the label of its first element. If local search has improved the labels before,
    to this `cost`, and the reduction makes them no worse, they are not improved again.
    """
    given = canonical(labels[_first(small.persistency.labels)]) if q.n else np.zeros(0, np.int32)
    paid = q._evaluate_labels(given)
    if cost is not None and math.isfinite(paid) and paid + small.constant <= cost + 1e-9 * abs(cost):
        return given
    if (int(given.max(initial=-1)) + 1 == q.n and cost is None) or not math.isfinite(paid):
        given = join(q, q._must_join_classes(), stopping)
    kernel = improve_by_pairs if fits_pairwise(q) else improve_by_sequences
    return fixed_point(q, canonical(given), kernel, stopping)


class Search:
    """All blocks of all components of a problem without required joins: the best labels, cost and bound as sums.

    Parameters
    ----------
    p : SetPartition
    labels : ndarray of int32, shape (n,)
    stopping : Stopping
        Only for kernels; costs are not reported to it.
    threads : int
    constant, unit : float
        Added to the cost in p; unit of the costs of p.
    told : callable
        Called as ``told(search, is_better)`` after each change of the cost or the bound.
    ends : callable
        ``ends(search)`` is true if the run has to end.
    allowance : float
        Largest amount by which a partition may cost less than a proven one.
    parameters : TreeParameters
    """

    def __init__(
        self,
        p: SetPartition,
        labels: Labels,
        stopping: Stopping,
        threads: int,
        constant: float,
        unit: float,
        told: Callable[[Search, bool], None],
        ends: Callable[[Search], bool],
        allowance: float = math.inf,
        *,
        parameters: TreeParameters,
    ) -> None:
        self.p, self.stopping, self.threads, self.parameters = p, stopping, threads, parameters
        self.constant, self.unit, self._told, self._ends = constant, unit, told, ends
        self.work = Work()
        self._parts: list[Part] = []
        self._trees: list[Tree] = []
        components = [(elements, split_at_articulations(part)) for elements, part in _attractive_parts(p)]
        count = sum(len(blocks) for _, blocks in components)
        for elements, blocks in components:
            for inner, block in blocks:  # the allowances of all blocks add up
                mine = elements[inner]
                self._parts.append((mine, block))
                self._trees.append(Tree(block, canonical(labels[mine]), self, 1 / len(blocks), allowance / count))
        self.allowance = self.unit * math.fsum(tree.allowance for tree in self._trees)
        self._logged = 0
        self._add_up()

    def _add_up(self) -> None:
        self.cost = self.constant + self.unit * math.fsum(tree.cost for tree in self._trees)
        self.bound = self.constant + self.unit * math.fsum(tree.value for tree in self._trees)

    def steps(self) -> Iterator[None]:
        """Solve the components, the smallest first: the roots of all, then the rest of each tree."""
        self._told(self, True)
        trees = sorted(self._trees, key=lambda tree: tree.p.n)
        for nodes in (1.0, math.inf):
            for tree in trees:
                yield from tree.steps(nodes)
        self._add_up()
        self._told(self, True)

    @property
    def largest(self) -> Tree | None:
        """The tree of the largest block."""
        return max(self._trees, key=lambda tree: tree.p.n, default=None)

    @property
    def labels(self) -> Labels:
        """The best partition."""
        return self._glued({})

    @property
    def proven(self) -> bool:
        """Whether all trees are."""
        return all(tree.proven for tree in self._trees)

    def offer(self, labels: Labels) -> None:
        """Take over a partition where it is better."""
        for (elements, _), tree in zip(self._parts, self._trees, strict=True):
            if not tree.proven:
                tree.offer(canonical(labels[elements]))

    def open_elements(self) -> Iterator[Labels]:
        """Elements of each tree that is not proven."""
        for (elements, _), tree in zip(self._parts, self._trees, strict=True):
            if not tree.proven:
                yield elements.astype(np.int32)

    def kept(self) -> Iterator[Kept]:
        """What the root of each tree has proven, if that was wanted."""
        for (elements, _), tree in zip(self._parts, self._trees, strict=True):
            if (known := tree.known()) is not None:
                yield known._replace(elements=elements)

    def smaller(self) -> Smaller:
        """The undecided problem. If only one tree is not proven: the remaining problem of this tree."""
        left = [k for k, tree in enumerate(self._trees) if not tree.proven]
        rest = self._trees[left[0]].rest if len(left) == 1 else None
        inner = rest.smaller if isinstance(rest, Rest) and self.unit == 1.0 else None
        if inner is None:
            return Smaller(self.p, self.constant, self.labels, lambda labels: labels)
        k, lift = left[0], inner.lift
        constant = inner.constant + self.cost - self._trees[k].cost
        return inner._replace(constant=constant, lift=lambda labels: self._glued({k: lift(labels)}))

    def _glued(self, other: dict[int, Labels]) -> Labels:
        """The best labels of all trees; those in `other` replace the labels of their tree."""
        found = [(elements, other.get(k, self._trees[k].labels)) for k, (elements, _) in enumerate(self._parts)]
        return glued(self.p.n, found)

    def rest_of(self, tree: Tree, p: SetPartition, labels: Labels, merged: Labels) -> Rest:
        """The remaining problem of a tree, with elements merged."""
        return Rest(self, tree, p, labels, merged)

    def solve_region(self, p: SetPartition, labels: Labels, seconds: float) -> tuple[Labels, float, bool]:
        """Labels of a small problem, a lower bound of its cost, and whether the labels are optimal."""
        one = BranchAndCut(p, labels, parameters=self.parameters)
        one.run(self.stopping.child(seconds=seconds, plus=math.inf), None)
        # Optimal up to the allowance; twice, because of rounding.
        return one.labels, one.bound - 2 * one.allowance, one.bound >= one.cost

    def note(self, cost: float, bound: float) -> None:
        """The changes of the cost and of the bound of a tree, in its unit."""
        self.cost += self.unit * cost
        self.bound += self.unit * max(bound, 0.0)
        if cost < 0 or bound > 0:
            self._told(self, cost < 0)

    def ends(self) -> bool:
        """Whether the run has to end."""
        return self._ends(self)

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


class Rest:
    """The remaining problem of one tree. Its work counts for the whole, its cost and bound for the tree."""

    def __init__(self, whole: Search, tree: Tree, p: SetPartition, labels: Labels, merged: Labels) -> None:
        self._whole, self._tree, self._p, self._labels, self._merged = whole, tree, p, labels, merged
        self._small: PartitionReduction | None = None
        self._search: Search | None = None

    @property
    def bound(self) -> float:
        """No partition of it costs less, in the tree's problem."""
        return -math.inf if self._search is None else self._search.bound - self._search.allowance

    @property
    def proven(self) -> bool:
        """Whether its best partition is optimal."""
        return self._search is not None and self._search.proven

    @property
    def smaller(self) -> Smaller | None:
        """Its undecided problem."""
        if self._search is None:
            return None
        inner = self._search.smaller()
        return inner._replace(lift=lambda labels: self._lift(inner.lift(labels)))

    def steps(self) -> Iterator[None]:
        """Solve it, with pauses."""
        whole, tree = self._whole, self._tree
        self._small = small = reduced(self._p, whole.stopping)
        labels = _start_of(small.problem, self._labels, small, self._p._evaluate_labels(self._labels), whole.stopping)
        constant = small.constant + tree.p._evaluate_labels(self._merged)

        def told(search: Search, is_better: bool) -> None:
            if self._search is not None:
                tree.hear(self._lift(search.labels) if is_better else tree.labels, search.bound - search.allowance)

        self._search = Search(
            small.problem, labels, whole.stopping, whole.threads, constant, 1.0, told, lambda _: whole.ends(),
            tree.allowance or math.inf, parameters=whole.parameters,
        )  # fmt: skip
        self._search.work = whole.work
        yield from self._search.steps()

    def offer(self, labels: Labels) -> None:
        """Take over a partition of the tree's problem, where it is better."""
        if self._search is not None and self._small is not None:
            known = canonical(labels[_first(self._merged)])
            self._search.offer(canonical(known[_first(self._small.persistency.labels)]))

    def _lift(self, labels: Labels) -> Labels:
        """Labels of the tree's problem."""
        assert self._small is not None
        return canonical(self._small.lift(labels)[self._merged])


def _attractive_parts(p: SetPartition) -> list[Part]:
    """The components of the pairs with a negative cost, or of base pairs, as problems of their own."""
    if p.lifted is not None:
        return split(p, p._components())
    u, v, cost = p.pairs()
    negative = cost < 0
    component = connected(p.n, u[negative], v[negative])
    if not p.is_dense:
        within = component[u] == component[v]
        p = SetPartition._of_pairs(range(p.n), u[within], v[within], cost[within], dense=False)
    return split(p, component)
