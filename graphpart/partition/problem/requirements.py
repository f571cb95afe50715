"""A problem with further requirements: pairs together or apart, groups, limits; and with further elements.

Arrays are shared with the problem that they come from, except for costs if pairs are required apart.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, TypeVar

import numpy as np

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.partition.inputs.arrays import frozen
from graphpart.partition.problem.background import Background
from graphpart.partition.problem.connectedness import check_alone
from graphpart.partition.problem.groups import Groups, joined
from graphpart.partition.problem.limits import Limits, limits_of
from graphpart.partition.problem.pair_costs import PairCosts, Pairs

__all__ = ["merged_limits", "requiring", "with_elements"]

Problem = TypeVar("Problem", bound=PairCosts)


def requiring(
    p: Problem, together: Pairs = (), apart: Pairs = (), groups: Groups | None = None, limits: Limits | None = None
) -> Problem:
    """The same problem with more pairs required, more groups, and limits in place of those that it has.

    `limits`: None keeps those, ``Limits()`` lifts them.

    Raises
    ------
    InvalidProblem, InfeasibleProblem
        If a pair is no pair of elements, or no partition satisfies what is required.
    """
    joins, cuts = p._indices(together, "together"), p._indices(apart, "apart")
    asked, limits = limits, p.limits if limits is None else limits if limits != Limits() else None
    if p.lifted is not None:
        check_alone(False, 0.0, None, groups, limits)
    if groups is not None and p.matrix is not None and p.groups is None:
        u, v, cost = p.listed()
        names = [(p.nodes[a], p.nodes[b]) for a, b in np.concatenate([p.must_join, joins]).tolist()]
        q = p.of_pairs(
            p.nodes, u, v, cost, names, apart, True, p.offset, p.sense, groups=groups, limits=limits, sizes=p.sizes
        )
        q.origin, q._told = p.origin, p._told
        return q
    q = type(p).__new__(type(p))
    q._start(p.nodes, p.offset, p.sense, limits, p.sizes)
    q._index, q._zeros, q.origin, q._told = p._index, p._zeros, p.origin, p._told
    if p.matrix is not None:
        q.matrix = p.matrix
        if len(cuts) or groups is not None:
            matrix = p.matrix.copy()
            matrix[cuts[:, 0], cuts[:, 1]] = matrix[cuts[:, 1], cuts[:, 0]] = np.inf
            if groups is not None:
                groups.add_to(matrix)
                matrix[np.diag_indices(p.n)] = 0.0
            q.matrix = frozen(matrix)
        if p._implicit is not None:
            q._implicit = requiring(p._implicit, together, apart, groups, asked)
    else:
        assert p.u is not None and p.v is not None and p.cost is not None
        terms, known = (p.background.terms, p.background.groups) if p.background is not None else ([], None)
        q.background = p.background
        if groups is not None:
            q.background = Background(terms, joined([known, groups] if known is not None else [groups]))
        q.u, q.v, q.cost, q.lifted = p.u, p.v, p.cost, p.lifted
        if len(cuts):
            stored = p.u.astype(np.int64) * p.n + p.v
            wanted = np.unique(cuts[:, 0].astype(np.int64) * p.n + cuts[:, 1])
            at = np.searchsorted(stored, wanted)
            listed = stored[np.minimum(at, len(stored) - 1)] == wanted if len(stored) else np.zeros(len(wanted), bool)
            cost = p.cost.copy()
            cost[at[listed]] = np.inf
            new, at = wanted[~listed], at[~listed]
            if len(new):
                q.u = frozen(np.insert(p.u, at, (new // p.n).astype(np.int32)))
                q.v = frozen(np.insert(p.v, at, (new % p.n).astype(np.int32)))
                cost = np.insert(cost, at, np.inf)
                q.lifted = None if p.lifted is None else frozen(np.insert(p.lifted, at, True))
            q.cost = frozen(cost)
    q._require(np.concatenate([p.must_join, joins]))
    return q


def with_elements(p: Problem, names: Sequence[Hashable]) -> Problem:
    """The same problem over all these elements in this order, some of which may be new.

    Raises
    ------
    InvalidProblem
        If an element of the problem is not among them.
    """
    place = {name: i for i, name in enumerate(names)}
    for node in p.nodes:
        if node not in place:
            raise InvalidProblem(f"{node!r} is in a pair but not among the elements")
    if p.background is not None or p.groups is not None or p.limits is not None:
        raise InvalidOption("elements cannot be added to a problem with a background, groups or limits")
    to = np.fromiter((place[node] for node in p.nodes), np.int64, p.n)
    u, v, cost = p.listed()
    joins = [(p.nodes[a], p.nodes[b]) for a, b in p.must_join.tolist()]
    q = p.of_pairs(names, to[u], to[v], cost, joins, (), None, p.offset, p.sense, lifted=p.lifted)
    q.origin, q._told = p.origin, p._told
    return q


def merged_limits(old: Limits | None, max_size: Any, n_clusters: Any) -> Limits:
    """Old limits, with those arguments of users in their place that are not None."""
    new, old = limits_of(max_size, n_clusters) or Limits(), old or Limits()
    number = old if n_clusters is None else new
    return Limits(old.max_size if max_size is None else new.max_size, number.least, number.most)
