"""Partial optimality: pairs that are joined, or cut, in some optimal partition, found without solving the problem.

A criterion for joining a pair considers all partitions in which the pair is cut, and defines one or several changes
after which the pair is joined. If, for every such partition, one of the changes does not increase the cost, some
optimal partition joins the pair. Criteria for cutting a pair work in the same way.

If subsets have to be connected, most of these changes may be forbidden: a subset that elements leave, or that is split,
may become disconnected. An element that attracts no other element may still link others. So none of the criteria below
applies, except **component**, with paths of base pairs: elements without such a path between them are cut.

**Joins** of a pair {a, b} of negative cost; in the given partition, a and b are apart:

* **edge**: a moves to the subset of b. Each other element x is with a, with b, or elsewhere, so that the move loses at
  most the sum over x of ``|c[a, x]|``. The criterion is that ``-c[a, b]`` is at least this sum (Alush & Goldberger
  2012; Lange, Karrenbauer & Andres 2018).
* **pair**: a and b move to a new subset. This loses at most the sum over x of ``max(0, -c[a, x], -c[b, x])`` ("heavy
  edge, both ends", Böcker, Briesemeister, Bui & Truss 2009, who add the two terms instead of taking the maximum).
* **neighbourhood**: there are three changes: a moves to b, b moves to a, or both move to a new subset. One of them
  loses no more than any weighted mean of the losses of all three. In the mean of the first two, x counts with ``|c[a,
  x] - c[b, x]| / 2`` only. For unit costs, elements whose neighbourhoods differ in at most one element are joined, for
  example critical cliques (Böcker, Briesemeister & Klau 2011).
* **triangle**: for a third element v, such a mean is computed for each of the three cases that v is with a, with b, or
  elsewhere (as in the triangle criterion of Lange, Andres & Swoboda 2019, each case has its own change).
* **subgraph**: a set of elements moves to a new subset. The criterion is that the minimum cut of its attractive pairs
  (Stoer & Wagner 1997) is at least the sum of its repulsive costs plus the sum of the attraction between the set and
  all other elements ("almost clique", Böcker et al. 2009; Lange et al. 2019). The set is grown from an element.
* **cut-set**: the partition is split along a set that contains a but not b, and the parts with a and with b are joined.
  The criterion is that ``-c[a, b]`` is at least the sum of the other ``|c|`` across the border of the set (Lange et al.
  2019). The set is grown from a pair.

**Cuts** of a pair {a, b} of positive cost; in the given partition, a and b are together, and all changes are splits:

* **component**: no path of attractive pairs connects a and b.
* **node**: a moves to a new subset, which loses at most the sum over x of ``max(0, -c[a, x])``, for x that are not cut
  from b.
* **neighbourhood**: the mean of a moving out and b moving out; x counts with ``max(0, -c[a, x] - c[b, x]) / 2``. For
  unit costs, pairs without an edge and with at most one common neighbour are cut.
* **triangle**: the same mean, computed separately for the cases that v is with a and b, and elsewhere.
* **cut-set**: a split along a set grown from a, if ``c[a, b]`` is at least the sum of all attraction across the border
  of the set.

Joined elements are contracted, and their neighbours are examined again, until no criterion is satisfied. Then pairs are
cut in the same way. If cuts lead to further joins, both are repeated. If a criterion is satisfied with equality, it is
used only if sums are exact (all costs are multiples of one number). If it is satisfied with inequality, by more than
rounding, every optimal partition joins (or cuts) the pair.

With a background that repels, and more than some hundred elements, the first five criteria are used for joins. They are
computed from listed pairs, sums of weights and numbers of members of groups: an element that has no listed pair with a
or b, and that repels both equally, contributes nothing to most means. The only cuts are those between components. No
pair is stored that is not listed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import first_of
from graphpart.common.reduction import Reduction
from graphpart.display import Shown, plural
from graphpart.methods import SIZES, check_obeyed
from graphpart.partition.bounds.cycle_packing import DENSE_UP_TO
from graphpart.partition.certificates.certificate import common_step
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.derived import connected
from graphpart.partition.problem.forms import with_matrix
from graphpart.partition.problem.rules import Rules
from graphpart.partition.reduction import _kernels
from graphpart.stopping import Stopping

__all__ = ["PartitionReduction", "Persistency", "persistency", "reduce", "reduced"]

CRITERIA = ("", "edge", "neighbourhood", "pair", "triangle", "subgraph", "cut-set", "node", "component")
COMPONENT = CRITERIA.index("component")
LARGEST_SET = 256  # most elements of a set that grows


@dataclass(frozen=True, repr=False)
class Persistency(Shown):
    """Pairs that are proven to be joined or cut in one and the same optimal partition.

    Attributes
    ----------
    joined, cut : ndarray of int32, shape (k, 2)
        Pairs of indices, smaller first. Joins that follow from others are left out; cuts are pairs with a cost.
    join_criteria, cut_criteria : tuple of str
        The criterion that proves each of them.
    labels : ndarray of int32, shape (n,)
        Canonical labels of the sets that joins and required joins connect.
    """

    joined: NDArray[np.int32] = field(repr=False)
    join_criteria: tuple[str, ...] = field(repr=False)
    cut: NDArray[np.int32] = field(repr=False)
    cut_criteria: tuple[str, ...] = field(repr=False)
    labels: Labels = field(repr=False)

    def _title(self) -> str:
        joined, sets = plural(len(self.joined), "pair"), plural(len(np.unique(self.labels)), "set")
        elements = plural(len(self.labels), "element")
        return f"{type(self).__name__}: {joined} joined, {len(self.cut)} cut; {sets} of {elements}"

    def _facts(self) -> dict[str, Any]:
        return {
            f"{what} by {criterion}": number
            for what, criteria in (("joined", self.join_criteria), ("cut", self.cut_criteria))
            for criterion, number in Counter(criteria).items()
        }


@dataclass(frozen=True)
class PartitionReduction(Reduction[SetPartition]):
    """A smaller problem that has the same optimum up to a constant.

    Attributes
    ----------
    problem : SetPartition
        Its elements are the sets of elements that are joined; pairs proven cut must be cut.
    constant : float
        Cost of a lifted partition minus its cost in the smaller problem.
    persistency : Persistency
    """

    persistency: Persistency = field(repr=False)

    def project(self, labels: Any) -> Labels:
        """Canonical labels in the smaller problem from labels of all elements that agree with the joins."""
        return canonical(np.asarray(labels)[first_of(self.persistency.labels)])

    def lift(self, labels: Any) -> Labels:
        """Labels of all elements from a partition of the smaller problem."""
        return canonical(self.problem.labels(labels)[self.persistency.labels])


def persistency(problem: Any, *, time_limit: float | None = None) -> Persistency:
    """Pairs proven joined or cut in some optimal partition, each with the criterion that proves it.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    time_limit : float, optional
        Seconds, after which the pairs found so far are returned.

    Notes
    -----
    A pair takes time linear in the shorter one of the lists of neighbours of its elements, and less if no criterion is
    satisfied. In all, the time is nearly linear on sparse problems and grids; on complete problems it is O(n^3) at
    worst.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-5.0, 1.0, -1.0, 2.0])
    >>> found = persistency(p)
    >>> found.joined.tolist(), found.join_criteria, found.cut.tolist(), found.cut_criteria
    ([[0, 1]], ('edge',), [[0, 2], [1, 2], [2, 3]], ('component', 'component', 'component'))
    """
    return reduce(problem, time_limit=time_limit).persistency


def reduce(problem: Any, *, time_limit: float | None = None) -> PartitionReduction:
    """A smaller problem with the same optimum, and how to lift its partitions.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    time_limit : float, optional
        Seconds, after which the pairs found so far are used.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2), (2, 3)], [-5.0, 1.0, -1.0, 2.0])
    >>> r = reduce(p)
    >>> r.problem.n, r.constant, r.lift([0, 1, 2]).tolist()
    (3, -5.0, [0, 0, 1, 2])
    """
    p = as_problem(problem)
    check_obeyed(p, SIZES, "persistency")
    return reduced(p, Stopping(time_limit))


def reduced(p: SetPartition, stopping: Stopping) -> PartitionReduction:
    """`reduce`, within a run."""
    classes = p._must_join_classes()
    q = p._contract(classes) if len(p.must_join) else p
    if q.lifted is not None:
        return _with_links(p, q, classes)
    if q.background is not None and p.n > DENSE_UP_TO and q.background.repels:
        return _with_background(p, q, classes, stopping)
    p, q = with_matrix(p), with_matrix(q)
    starts, neighbours, costs = q._rows().arrays
    largest = min(LARGEST_SET, max(q.n, 1))
    exact = common_step(p) > 0
    joins, cuts = _kernels.persistent(q.n, starts, neighbours.copy(), costs.copy(), exact, largest, stopping)
    merged = connected(q.n, joins[0], joins[1])
    labels = merged[classes]
    small, cut, cut_criteria = _cut(p, p._contract(labels), labels, merged[cuts[0]], merged[cuts[1]], cuts[2])
    return PartitionReduction(small, p._evaluate_labels(labels), _proof(classes, joins, cut, cut_criteria, labels))


def _proof(
    classes: Labels, joins: tuple[Any, Any, Any], cut: NDArray[np.int32], cut_criteria: tuple[str, ...], labels: Labels
) -> Persistency:
    first = first_of(classes).astype(np.int32)
    return Persistency(
        np.sort(np.stack([first[joins[0]], first[joins[1]]], 1), axis=1),
        tuple(CRITERIA[why] for why in joins[2].tolist()),
        cut,
        cut_criteria,
        labels,
    )


def _with_background(p: SetPartition, q: SetPartition, classes: Labels, stopping: Stopping) -> PartitionReduction:
    """Joins by criteria that need only listed pairs and sums of weights, and cuts between components."""
    assert q.background is not None and q.u is not None and q.v is not None
    groups = q.background.groups
    starts, neighbours, costs = q._rows().arrays
    beta, g, h = [], [], []
    none = np.zeros(q.n)
    terms = list(zip(q.background.beta.tolist(), q.background.vectors, strict=True)) or [(0.0, (none, none))]
    for b, (x, y) in terms:
        for first, second in [(x, y)] if x is y else [(x, y), (y, x)]:
            beta.append(abs(b))
            g.append(np.abs(first))
            h.append(np.abs(second))
    joins, _ = _kernels.persistent(
        q.n, starts, neighbours.copy(), costs.copy(), common_step(q) > 0, min(LARGEST_SET, max(q.n, 1)), stopping,
        (beta, np.stack(g, 1), np.stack(h, 1)), None if groups is None else (
            groups.starts, groups.group, groups.count, groups.price
        ),
    )  # fmt: skip
    labels = connected(q.n, joins[0], joins[1])[classes]
    small = p._contract(labels)
    component = small._components()[labels]
    u, v, cost = p._listed()
    cut = np.flatnonzero((component[u] != component[v]) & (cost != 0))
    pairs = np.stack([u[cut], v[cut]], 1)
    why = (CRITERIA[COMPONENT],) * len(cut)
    return PartitionReduction(small, p._evaluate_labels(labels), _proof(classes, joins, pairs, why, labels))


def _with_links(p: SetPartition, q: SetPartition, classes: Labels) -> PartitionReduction:
    """Cuts between components of base pairs, if subsets have to be connected."""
    component = q._components()
    assert q.u is not None and q.v is not None and q.cost is not None
    apart = component[q.u] != component[q.v]
    if apart.any():
        cost = np.where(apart, np.inf, q.cost)
        q = SetPartition._of_pairs(range(q.n), q.u, q.v, cost, rules=Rules(lifted=q.lifted), dense=False)
    u, v, cost = p.pairs()
    cut = np.flatnonzero((component[classes[u]] != component[classes[v]]) & (cost != 0))
    none = np.zeros(0, np.int32)
    pairs, why = np.stack([u[cut], v[cut]], 1), (CRITERIA[COMPONENT],) * len(cut)
    return PartitionReduction(q, p._evaluate_labels(classes), _proof(classes, (none,) * 3, pairs, why, classes))


def _cut(
    p: SetPartition,
    q: SetPartition,
    labels: Labels,
    a: NDArray[np.int32],
    b: NDArray[np.int32],
    why: NDArray[np.integer[Any]],
) -> tuple[SetPartition, NDArray[np.int32], tuple[str, ...]]:
    """The problem q with its required cuts; the pairs of p that are cut; and the criterion for each of these pairs."""
    u, v, cost = q.pairs()
    negative = cost < 0
    component = connected(q.n, u[negative], v[negative])
    proven, at = np.unique(keys_of_pairs(a, b, q.n), return_index=True)
    keys = u.astype(np.int64) * q.n + v
    apart = (component[u] != component[v]) | np.isin(keys, proven)
    small = q
    if apart.any():
        small = SetPartition._of_pairs(range(q.n), u, v, np.where(apart, np.inf, cost), dense=q.is_dense)
    u, v, cost = p.pairs()
    a, b = labels[u], labels[v]
    criteria = np.zeros(len(u), np.uint8)
    if len(proven):
        keys = keys_of_pairs(a, b, q.n)
        place = np.minimum(np.searchsorted(proven, keys), len(proven) - 1)
        criteria = np.where(proven[place] == keys, why[at][place], 0).astype(np.uint8)
    criteria[component[a] != component[b]] = COMPONENT
    criteria[cost == 0] = 0
    cut = np.flatnonzero(criteria)
    return small, np.stack([u[cut], v[cut]], 1), tuple(CRITERIA[why] for why in criteria[cut].tolist())
