"""How certain clusters and classes are: by how much the cost would rise if an element, or a whole cluster, changed.

An element changes its class, moves to a cluster to which a pair leads or to a new one, or both at once. A cluster joins
another one, or all of its members get one class, or both. The least rise over these changes is an upper bound on the
doubt: other elements do not change with it. A negative one means that the change lowers the cost.

`_least_rises` has both: whole clusters are the elements of the contracted tables (see finite.py).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns, named
from graphpart.errors import InvalidOption
from graphpart.labeled.finite import Tables, tables_of
from graphpart.labeled.labeled_partition import LabeledPartition, as_labeled

__all__ = ["LabeledDoubts", "doubts"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class LabeledDoubts:
    """The doubts of a labelled partition. In each table the rows are sorted by `doubt`, the least first.

    Attributes
    ----------
    elements : Columns
        ``element``, ``cluster``, ``class``, and the change that costs least: ``to`` (a cluster, -1 for a new one),
        ``as`` (a class) and ``doubt``, the rise of the cost; ``inf`` if every change is forbidden.
    clusters : Columns
        ``cluster``, ``size``, ``to`` (the cluster that it joins, or itself), ``as`` (the class that all of its members
        get, -1 if they keep theirs) and ``doubt``.
    """

    elements: Columns = field(repr=False)
    clusters: Columns = field(repr=False)

    def to_frame(self, table: str = "elements", library: str | None = None) -> Any:
        """A table, "elements" or "clusters", as a data frame, see `Columns.to_frame`."""
        if table not in ("elements", "clusters"):
            raise InvalidOption(f"table is {table!r}: expected elements or clusters")
        found: Columns = getattr(self, table)
        return found.to_frame(library)


def doubts(problem: LabeledPartition, result: Any, classes: Any = None) -> LabeledDoubts:
    """By how much the cost would rise if an element or a whole cluster changed cluster, class, or both.

    Parameters
    ----------
    problem : LabeledPartition
    result : LabeledResult or a partition in any form
        Allowed clusters; for a result, `classes` may be left out.
    classes : array_like of int, optional

    Returns
    -------
    LabeledDoubts

    Raises
    ------
    InvalidPartition
        If the solution does not fit the problem, or is forbidden.

    Notes
    -----
    O(n L + m L^2) and O((n + m) log m) for L classes. Doubts of pairs, with classes as they are, are those of the set
    partition problem :meth:`LabeledPartition.with_classes`.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [0.5, 0.0], [0.0, 1.0]], [(0, 1), (1, 2)], [-3.0, 1.0])
    >>> doubts(q, gp.solve(q)).to_frame()
       element  cluster  class  to  as  doubt
    0        1        0      1   0   0    0.5
    1        2        1      0   0   0    1.0
    2        0        0      0   0   1    2.0
    """
    q = as_labeled(problem)
    labels, kinds = q._solution(result, classes)
    q.check(labels, kinds)
    tables = tables_of(q)
    cost, wide = tables.cost(labels, kinds), tables.contracted(labels, kinds)
    sizes = np.bincount(labels)
    to, choice, rise = _least_rises(tables, labels, kinds, cost, np.arange(q.n_classes) == kinds[:, None])
    order = np.argsort(rise, kind="stable")
    of_elements = {"element": named(q.nodes, order), "cluster": labels[order], "class": kinds[order]}
    of_elements |= {"to": to[order], "as": choice[order], "doubt": rise[order]}
    k = len(sizes)
    members = np.zeros((k, q.n_classes + 1))
    np.add.at(members, (labels, kinds), 1)
    same = members == sizes[:, None]
    same[:, -1] = True
    to, choice, rise = _least_rises(wide, np.arange(k, dtype=np.int32), np.full(k, q.n_classes), cost, same)
    order = np.argsort(rise, kind="stable")
    to, choice = np.where(to < 0, np.arange(k), to)[order], np.where(choice == q.n_classes, -1, choice)[order]
    of_clusters = {"cluster": order, "size": sizes[order], "to": to, "as": choice, "doubt": rise[order]}
    return LabeledDoubts(Columns(of_elements), Columns(of_clusters))


def _least_rises(
    tables: Tables, labels: Elements, classes: Elements, cost: float, same: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """For each element the cluster (-1 for a new one), the choice and the rise of the change that costs least.

    `same` says which choices of an element change nothing as long as it stays in its cluster.
    """
    n, count = tables.n, int(labels.max(initial=-1)) + 1
    a, b = np.concatenate([tables.u, tables.v]), np.concatenate([tables.v, tables.u])
    together, apart = (
        np.concatenate([x, x.transpose(0, 2, 1)])[np.arange(len(a)), :, classes[b]]
        for x in (tables.joined, tables.parted)
    )
    alone = tables.own.copy()  # the cost of each choice in a new cluster
    np.add.at(alone, a, apart)
    keys, place = np.unique(
        np.concatenate([a, np.arange(n)]) * np.int64(count) + labels[np.concatenate([b, np.arange(n)])],
        return_inverse=True,
    )
    within = np.zeros((len(keys), tables.choices))
    np.add.at(within, place[: len(a)], together - apart)
    owner, cluster = keys // max(1, count), keys % max(1, count)
    within += alone[owner]
    stays = np.flatnonzero(cluster == labels[owner])  # one for each element, in their order
    now = within[stays, classes]
    within[stays[:, None], np.arange(tables.choices)] = np.where(same, np.inf, within[stays])
    single = np.bincount(labels, minlength=count)[labels] == 1
    alone[same & single[:, None]] = np.inf
    rises = np.concatenate([within, alone]) - now[np.concatenate([owner, np.arange(n)])][:, None]
    rises[cost + rises > tables.most] = np.inf
    rises[np.abs(rises) <= tables.tolerance] = 0.0
    choice = rises.argmin(axis=1)
    least = rises[np.arange(len(rises)), choice]
    owners, clusters = np.concatenate([owner, np.arange(n)]), np.concatenate([cluster, np.full(n, -1)])
    best = np.lexsort((least, owners))
    best = best[np.unique(owners[best], return_index=True)[1]]
    return clusters[best], choice[best], least[best]
