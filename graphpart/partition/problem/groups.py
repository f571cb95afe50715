"""Groups of elements of which a subset should have at most one: a price for each pair of members in one subset.

A grouping gives each element a group or none, such as the source of a record or the photo of a face. There may be
several groupings. Each group has a price, which each pair of its members in one subset costs in addition, or ``inf``:
then a subset has at most one of its members. So the cost of a pair is

    listed[a, b] + terms[a, b] + sum of price[g] * count[a, g] * count[b, g] over the groups g,

where ``count[a, g]`` is 1 if element a is a member of group g. If the problem is contracted, it is the number of
members among the elements that a stands for. Groups take memory for members, never for pairs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import is_named
from graphpart.common.groups import group as grouped
from graphpart.display import number, plural
from graphpart.errors import InvalidProblem
from graphpart.partition.inputs.arrays import frozen
from graphpart.partition.problem import _groups

__all__ = ["Groups", "NamedGroups", "check_named", "groups_of"]

Integers = NDArray[np.int64]


class Groups:
    """Groups of elements with their prices, as compressed rows; immutable.

    Groups with one member are dropped. Groups of all groupings are numbered together.

    Parameters
    ----------
    n : int
        The number of elements.
    element, group, count : array_like of int
        Memberships: an element, a group, and the number of members that the element stands for; equal ones add up.
    price : array_like of float
        The price of each group, positive or ``inf``.
    names : sequence of hashables, optional
        The names that users gave to the groups, for messages and files.

    Attributes
    ----------
    n : int
        Number of elements.
    starts : ndarray of int64, shape (n + 1,)
        The groups of element a are ``group[starts[a]:starts[a + 1]]``.
    group : ndarray of int32
        In ascending order for each element.
    count : ndarray of int64
        The number of members of the group that the element stands for: 1 unless the problem is contracted.
    price : ndarray of float64
        The price of each group.
    names : list of hashables, or None

    Examples
    --------
    >>> g = Groups(3, [0, 1, 2], [0, 0, 1], [1, 1, 1], [2.5, 1.0], ["A", "B"])
    >>> g
    1 group with 2 members, price 2.5
    >>> g.cost(np.array([0, 0, 1], np.int32))
    2.5
    """

    def __init__(
        self, n: int, element: Any, group: Any, count: Any, price: Any, names: Sequence[Hashable] | None = None
    ) -> None:
        element, group = np.asarray(element, np.int64), np.asarray(group, np.int64)
        count, price = np.asarray(count, np.int64), np.asarray(price, np.float64)
        total = max(1, len(price))
        keys = element * total + group
        if len(keys) > 1 and not (keys[1:] > keys[:-1]).all():
            keys, place = np.unique(keys, return_inverse=True)
            count = np.bincount(place.ravel(), count, len(keys)).astype(np.int64)
            element, group = keys // total, keys % total
        members = np.bincount(group, minlength=len(price))  # elements of each group
        if len(price) and members.min() < 2:
            kept = np.flatnonzero(members > 1)
            number_of = np.full(len(price), -1, np.int64)
            number_of[kept] = np.arange(len(kept))
            inside = number_of[group] >= 0
            element, group, count = element[inside], number_of[group[inside]], count[inside]
            price = price[kept]
            names = None if names is None else [names[g] for g in kept.tolist()]
        self.n = n
        starts = np.zeros(n + 1, np.int64)
        np.cumsum(np.bincount(element, minlength=n), out=starts[1:])
        self.starts = frozen(starts)
        self.group = frozen(np.array(group, np.int32))
        self.count = frozen(np.array(count, np.int64))
        self.price = frozen(np.array(price, np.float64))
        self.names = names

    def __len__(self) -> int:
        return len(self.price)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Groups) and all(
            np.array_equal(getattr(self, name), getattr(other, name)) for name in ("starts", "group", "count", "price")
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        prices = np.unique(self.price).tolist()
        shown = " and ".join("at most one in a cluster" if p == math.inf else f"price {number(p)}" for p in prices[:3])
        more = " and others" if len(prices) > 3 else ""
        return f"{plural(len(self), 'group')} with {len(self.group)} members, {shown}{more}"

    @property
    def element(self) -> Integers:
        """The element of each membership, aligned with `group` and `count`."""
        return np.repeat(np.arange(self.n), np.diff(self.starts))

    @cached_property
    def by_group(self) -> tuple[Integers, NDArray[np.int32], Integers]:
        """The members of group g are ``member[first[g]:first[g + 1]]``: (first, member, count)."""
        order, first = grouped(self.group, len(self))
        return first, self.element.astype(np.int32)[order], self.count[order]

    @cached_property
    def hard(self) -> NDArray[np.bool_]:
        """Whether each group has the price ``inf``."""
        hard: NDArray[np.bool_] = np.isinf(self.price)
        return hard

    @property
    def is_hard(self) -> bool:
        """Whether a group has the price ``inf``."""
        return bool(self.hard.any())

    def name(self, g: int) -> str:
        """The name of a group in messages."""
        return f"group {self.names[g]!r}" if self.names is not None else f"group {g}"

    # ------------------------------------------------------------------------------------------------------ looking

    def cost(self, labels: NDArray[np.int32]) -> float:
        """The cost of all pairs of members within one subset, from labels in ``0..n-1``. O(members)"""
        pairs = _groups.pairs_together(*self.by_group, np.ascontiguousarray(labels, np.int32))
        paid = np.flatnonzero(pairs)
        return math.fsum((self.price[paid] * pairs[paid]).tolist())

    def clash(self, labels: NDArray[np.int32]) -> tuple[int, int, int] | None:
        """Two elements of one subset that are members of a hard group, and the group; None if there are none."""
        if not self.is_hard:
            return None
        first, member, _ = self.by_group
        paid = np.flatnonzero(
            (_groups.pairs_together(*self.by_group, np.ascontiguousarray(labels, np.int32)) > 0) & self.hard
        )
        for g in paid[:1].tolist():
            mine = member[first[g] : first[g + 1]]
            seen: dict[int, int] = {}
            for a, label in zip(mine.tolist(), labels[mine].tolist(), strict=True):
                if label in seen:
                    return seen[label], a, g
                seen[label] = a
        return None

    def of_pairs(self, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> NDArray[np.float64]:
        """The costs of groups of some pairs."""
        u, v = (np.ascontiguousarray(x, np.int32) for x in (u, v))
        return _groups.prices_of_pairs(self.starts, self.group, self.count, self.price, u, v)

    def add_to(self, matrix: NDArray[np.float64]) -> None:
        """Add the costs of groups to a symmetric matrix, in place, also to its diagonal."""
        first, member, count = self.by_group
        for g, price in enumerate(self.price.tolist()):
            mine, times = member[first[g] : first[g + 1]], count[first[g] : first[g + 1]].astype(np.float64)
            matrix[np.ix_(mine, mine)] += price * np.outer(times, times)

    def sums(self) -> NDArray[np.float64]:
        """For each element the sum of the finite prices that it would pay together with all members of its groups."""
        total = np.bincount(self.group, self.count, len(self))
        price = np.where(self.hard, 0.0, self.price)
        with np.errstate(over="ignore"):
            paid = price[self.group] * self.count * (total[self.group] - self.count)
        return np.bincount(self.element, paid, self.n).astype(np.float64, copy=False)

    def members(self, labels: NDArray[np.int32]) -> tuple[Integers, NDArray[np.float64], NDArray[np.float64]]:
        """For each subset and finite group with members there: the subset, the price, and the number of members.
        O(members log)"""
        soft = np.flatnonzero(~self.hard[self.group])
        keys = labels[self.element[soft]].astype(np.int64) * len(self) + self.group[soft]
        keys, place = np.unique(keys, return_inverse=True)
        counts = np.bincount(place.ravel(), self.count[soft], len(keys))
        subset: Integers = keys // max(1, len(self))
        return subset, self.price[keys % max(1, len(self))], counts.astype(np.float64, copy=False)

    # ------------------------------------------------------------------------------------------------------ deriving

    def named(self, nodes: Sequence[Hashable]) -> NamedGroups:
        """The groups by the names of elements."""
        rows = list(zip(self.group.tolist(), self.count.tolist(), strict=True))
        starts = self.starts.tolist()
        members = {node: rows[starts[a] : starts[a + 1]] for a, node in enumerate(nodes)}
        return NamedGroups(members, self.price, self.names)

    def contract(self, labels: NDArray[np.int32], k: int) -> Groups:
        """The groups of subsets, which stand for all members in them."""
        return Groups(k, labels[self.element], self.group, self.count, self.price)

    def restrict(self, elements: NDArray[np.integer[Any]]) -> Groups:
        """The groups of some elements."""
        place = np.full(self.n, -1, np.int64)
        place[elements] = np.arange(len(elements))
        element = place[self.element]
        inside = element >= 0
        return Groups(len(elements), element[inside], self.group[inside], self.count[inside], self.price, self.names)


@dataclass(frozen=True)
class NamedGroups:
    """Groups by the names of elements, independent of their order, as a graph stores them.

    Attributes
    ----------
    members : mapping
        For each element its groups and counts, as tuples ``(group, count)``.
    price : ndarray of float64
    names : list of hashables, or None
    """

    members: Mapping[Hashable, Sequence[tuple[int, int]]]
    price: NDArray[np.float64]
    names: Sequence[Hashable] | None

    def of(self, nodes: Sequence[Hashable]) -> Groups | None:
        """The groups of some elements; None if none of these share a group.

        Raises
        ------
        InvalidProblem
            If an element is not named.
        """
        unknown = next((node for node in nodes if node not in self.members), None)
        if unknown is not None:
            raise InvalidProblem(
                f"the graph attribute groups does not name the node {unknown!r}: expected nodes of the problem that "
                "wrote the graph; delete it from G.graph and give groups= instead"
            )
        rows = [(a, g, count) for a, node in enumerate(nodes) for g, count in self.members[node]]
        element, group, count = np.array(rows, np.int64).reshape(-1, 3).T
        found = Groups(len(nodes), element, group, count, self.price, self.names)
        return found if len(found) else None


def joined(parts: Sequence[Groups]) -> Groups | None:
    """Groups of several groupings of the same elements together; None if there are none."""
    parts = [part for part in parts if len(part)]
    if not parts:
        return None
    if len(parts) == 1:
        return parts[0]
    shift = np.cumsum([0, *(len(part) for part in parts[:-1])]).tolist()
    names: list[Hashable] | None = None
    if all(part.names is not None for part in parts):
        names = [name for part in parts for name in part.names or ()]
    return Groups(
        parts[0].n,
        np.concatenate([part.element for part in parts]),
        np.concatenate([part.group + s for part, s in zip(parts, shift, strict=True)]),
        np.concatenate([part.count for part in parts]),
        np.concatenate([part.price for part in parts]),
        names,
    )


# ---------------------------------------------------------------------------------------------- arguments of users


def groups_of(
    nodes: Sequence[Hashable],
    groups: Any,
    group_cost: Any = math.inf,
    attribute: Callable[[str], Any] | None = None,
) -> Groups | None:
    """The Groups from the arguments of a constructor; None if there are none.

    Parameters
    ----------
    nodes : sequence of n hashables
    groups : one grouping, or a list of groupings
        A grouping is an array or sequence with a group for each element, a mapping or Series from nodes to groups, or a
        name that `attribute` resolves. None, NaN, an empty text and -1 stand for no group. As many tuples as elements
        are names of groups.
    group_cost : float, or list with one for each grouping
        At least 0; a grouping with the price 0 is dropped.
    attribute : callable, optional
        From the name of a node attribute, or column, to a grouping.

    Raises
    ------
    InvalidProblem
        If a grouping does not fit the elements, or a price is negative or no number.
    """
    if groups is None:
        return None
    if isinstance(groups, Groups):
        if groups.n != len(nodes):
            raise InvalidProblem(f"groups are of {groups.n} elements: expected {len(nodes)}")
        return groups if len(groups) else None
    many = isinstance(groups, list | tuple) and bool(groups) and all(map(_is_grouping, groups))
    if many and len(groups) == len(nodes) and all(isinstance(one, tuple) for one in groups):
        if all(len(one) == len(nodes) for one in groups):
            raise InvalidProblem(
                f"groups has {len(nodes)} tuples of length {len(nodes)} for as many elements, which may be groups or "
                "groupings: expected a mapping from elements to groups, or a list of lists"
            )
        many = False  # tuples are names of groups
    if attribute is not None and isinstance(groups, list | tuple) and all(isinstance(name, str) for name in groups):
        many = len(groups) != len(nodes) or _knows(attribute, groups)
    given = list(groups) if many else [groups]
    if hasattr(group_cost, "tolist"):  # of arrays of numpy and columns of pandas
        group_cost = group_cost.tolist()
    prices = list(group_cost) if isinstance(group_cost, list | tuple) else [group_cost] * len(given)
    if len(prices) != len(given):
        raise InvalidProblem(
            f"group_cost has {plural(len(prices), 'price')} for {plural(len(given), 'grouping')}: expected one, or one "
            "for each"
        )
    parts = []
    for grouping, price in zip(given, prices, strict=True):
        if isinstance(price, bool | str) or not isinstance(price, int | float | np.number) or not price >= 0:
            raise InvalidProblem(
                f"group_cost is {price!r}: expected a price of at least 0, or inf for at most one member in a cluster"
            )
        if isinstance(grouping, str):
            if attribute is None:
                raise InvalidProblem(
                    f"groups is {grouping!r}: expected a group for each element, as an array or a mapping; a name "
                    "stands for a node attribute of a graph, or for a column of elements= in from_frame"
                )
            what, values = f"{grouping!r}", attribute(grouping)
        else:
            what, values = "groups", grouping
        codes, names = _codes(nodes, values, what)
        inside = np.flatnonzero(codes >= 0)
        if price and len(inside):
            ones = np.ones(len(inside), np.int64)
            parts.append(Groups(len(nodes), inside, codes[inside], ones, np.full(len(names), float(price)), names))
    return joined(parts)


def check_named(groups: Any) -> None:
    """Raise InvalidProblem if a grouping goes by the order of elements, where users do not know the order."""
    many = isinstance(groups, list | tuple) and bool(groups) and all(map(_is_grouping, groups))
    for one in groups if many else [groups]:
        if not (isinstance(one, Mapping | str | Groups) or is_named(one)):
            raise InvalidProblem(
                f"groups is a {type(one).__name__} that does not name elements, whose order the rows of pairs do not "
                'tell: expected a column of elements, such as elements=t, id="id", groups="source", or a mapping or '
                'Series from elements to groups, such as dict(zip(t["id"], t["source"])); nodes= gives an order'
            )


def _knows(attribute: Callable[[str], Any], names: Sequence[str]) -> bool:
    try:
        return all(attribute(name) is not None for name in names)
    except InvalidProblem:
        return False


def _is_grouping(thing: Any) -> bool:
    """Whether an item of a list is a grouping by itself, and not the group of an element."""
    return isinstance(thing, Mapping | list | tuple | np.ndarray) or (
        hasattr(thing, "__array__") and np.ndim(thing) == 1
    )


def _codes(nodes: Sequence[Hashable], values: Any, what: str) -> tuple[Integers, list[Hashable]]:
    """The number of the group of each element, -1 for none, and the names of the groups."""
    n = len(nodes)
    if is_named(values):
        if not values.index.is_unique:
            twice = values.index[values.index.duplicated()][0]
            raise InvalidProblem(f"{twice!r} is twice in the index of {what}: expected each element once")
        values = values.to_dict()
    if isinstance(values, Mapping):
        place = {node: i for i, node in enumerate(nodes)}
        listed: list[Any] = [None] * n
        for node, value in values.items():
            if node not in place:
                raise InvalidProblem(
                    f"{what} has a group for {node!r}, which is no element of the problem: expected groups of its "
                    "elements; elements= names those that are in no pair"
                )
            listed[place[node]] = value
        values = listed
    if isinstance(values, set | frozenset | str | bytes) or not hasattr(values, "__len__"):
        raise InvalidProblem(f"{what} is a {type(values).__name__}: expected a group for each of {n} elements")
    if len(values) != n or (isinstance(values, np.ndarray) and values.ndim != 1):
        found = f"shape {values.shape}" if isinstance(values, np.ndarray) else f"length {len(values)}"
        raise InvalidProblem(f"{what} has {found}: expected a group for each of {n} elements")
    array = values if isinstance(values, np.ndarray) else None
    if array is not None and array.dtype.kind in "iu":
        names, codes = np.unique(array, return_inverse=True)
        codes = codes.ravel().astype(np.int64)
        if len(names) and names[0] < 0:
            below = int(names[0])
            if below < -1:
                raise InvalidProblem(f"{what} has the group {below}: expected numbers from 0, or -1 for no group")
            codes, names = codes - 1, names[1:]
        return codes, names.tolist()
    numbers: dict[Any, int] = {}
    codes = np.empty(n, np.int64)
    listed = values.tolist() if hasattr(values, "tolist") else list(values)
    for i, value in enumerate(listed):
        try:
            missing = value is None or value == "" or value == -1 or bool(value != value)
        except (TypeError, ValueError):  # such as pandas.NA, of which no comparison is true or false
            missing = True
        try:
            codes[i] = -1 if missing else numbers.setdefault(value, len(numbers))
        except TypeError:
            raise InvalidProblem(
                f"the group of {nodes[i]!r} is {value!r}, which cannot be hashed: expected a name"
            ) from None
    return codes, list(numbers)
