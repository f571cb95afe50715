"""Connected subsets: base pairs, which link elements, and lifted pairs, which only have a cost.

Every subset has to be connected by base pairs within it, of any cost except ``inf`` (Keuper et al. 2015; Horňáková,
Lange & Andres 2017). Sets of elements that required joins connect have to be connected by themselves, so that they can
be contracted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem, InvalidOption, InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.problem.background import Background, pairs_within

__all__ = ["asked_for", "check_joins", "linked_parts", "shortest_path", "unlinked", "with_background", "with_lifted"]

Triples = tuple[NDArray[Any], NDArray[Any], NDArray[np.float64]]
Integers = NDArray[np.int32]
LISTED = 5_000_000  # pairs of a background, at most, that become lifted pairs
SHOWN = 6  # elements of a path that a message names at most


class Linked(Protocol):
    """The attributes that this module reads of a problem whose subsets have to be connected."""

    n: int
    must_join: Integers

    @property
    def nodes(self) -> Sequence[Hashable]: ...
    def _must_join_classes(self) -> Integers: ...
    def _links(self) -> tuple[Integers, Integers]: ...


def asked_for(lifted: Any, connected: Any) -> bool:
    """Whether subsets have to be connected, by the arguments of a constructor; `connected` has to be a bool."""
    if isinstance(connected, bool | np.bool_):
        return bool(connected) or lifted is not None
    if hasattr(connected, "is_directed"):
        raise InvalidOption(
            f"connected is a {type(connected).__name__}: expected True or False; give the graph whose pairs connect "
            "first, and the other pairs as lifted="
        )
    plain = connected is None or isinstance(connected, int | float | str)
    found = repr(connected)[:40] if plain else f"of type {type(connected).__name__}"
    raise InvalidOption(f"connected is {found}: expected True or False; lifted= takes pairs that do not connect")


def with_lifted(
    pairs: Triples, flags: NDArray[np.bool_], *lifted: Triples
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
    """Pairs ``(u, v, cost)``, then lifted ones, and for each pair whether it is lifted."""
    u, v, costs = (np.concatenate(arrays) for arrays in zip(pairs, *lifted, strict=True))
    return u, v, costs, np.concatenate([flags, np.ones(len(u) - len(flags), bool)])


def with_background(
    n: int, pairs: Triples, flags: NDArray[np.bool_], background: Background
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64], NDArray[np.bool_]]:
    """The same, with the cost of a background for pairs that are not listed, and for groups, as lifted pairs.

    Only pairs of elements that some path of base pairs links are listed; others are in different clusters anyway. A
    pair at price ``inf`` must be apart, so it does not connect, also if it is a base pair.

    Raises
    ------
    InvalidProblem
        If there are more than `LISTED`.
    """
    u, v, costs = pairs
    links = ~flags & (costs < np.inf)
    part = _pairs.connected_components(n, *(np.ascontiguousarray(x[links], np.int32) for x in (u, v)))
    made = pairs_within(part, background.groups if not len(background.beta) else None, LISTED)
    if made is None:
        what = "groups" if not len(background.beta) else "missing or background"
        raise InvalidProblem(
            f"connected clusters with {what} list more than {LISTED} pairs of elements that base pairs link: expected "
            "fewer, or lifted pairs in their place"
        )
    price = background.of_pairs(*made)
    if background.missing:  # which pairs with a cost of their own do not pay
        known = np.isin(keys_of_pairs(*made, n), keys_of_pairs(u, v, n))
        price[known] = background.beside_missing().of_pairs(made[0][known], made[1][known])
    paid = price != 0
    return with_lifted(pairs, flags, (made[0][paid], made[1][paid], price[paid]))


def linked_parts(p: Linked, labels: Integers) -> Integers:
    """Canonical labels of the parts of subsets that base pairs within them connect. Near O(n + m)"""
    return _pairs.connected_subsets_of_pairs(labels, np.zeros((0, 2), np.int32), *p._links())


def unlinked(p: Linked, labels: Integers) -> tuple[int, int] | None:
    """Two elements of one subset that no path of base pairs within it links: the first of two of its parts; or None."""
    parts = linked_parts(p, labels)
    first_part, first = np.unique(parts, return_index=True)  # the first element of each part, in ascending order
    del first_part
    whole = labels[first]
    order = np.argsort(whole, kind="stable")
    same = np.flatnonzero(whole[order][1:] == whole[order][:-1])
    if not len(same):
        return None
    starts = np.searchsorted(whole[order], whole[order][same])  # where each subset begins
    k = int(np.argmin(first[order][starts]))
    return int(first[order][starts[k]]), int(first[order][same[k] + 1])


def check_joins(p: Linked) -> None:
    """Raise an error if a set of elements that required joins connect is not connected by base pairs.

    InfeasibleProblem if no partition connects them, InvalidProblem if others could connect them: they have to be named.
    """
    joins = p.must_join
    if not len(joins):
        return
    parts = linked_parts(p, p._must_join_classes())
    bad = joins[parts[joins[:, 0]] != parts[joins[:, 1]]]
    if not len(bad):
        return
    a, b = bad[0].tolist()
    path = shortest_path(p, a, b)
    if path is None:
        raise InfeasibleProblem(
            f"{p.nodes[a]!r} and {p.nodes[b]!r} must be joined, but no path of base pairs links them"
        )
    between = ", ".join(repr(p.nodes[i]) for i in path[1:-1][:SHOWN]) + (", ..." if len(path) - 2 > SHOWN else "")
    raise InvalidProblem(
        f"{p.nodes[a]!r} and {p.nodes[b]!r} must be joined, but no path of base pairs links them among the elements "
        f"that must be joined with them: expected them to be joined with the elements of a path, too, such as {between}"
    )


def shortest_path(p: Linked, a: int, b: int) -> list[int] | None:
    """The elements of a path of base pairs with the fewest pairs, both ends included; None if there is no path."""
    u, v = p._links()
    starts, near, _ = _pairs.adjacency(p.n, u, v).arrays
    before = {a: a}
    queue = deque([a])
    while queue and b not in before:
        here = queue.popleft()
        for other in near[starts[here] : starts[here + 1]].tolist():
            if other not in before:
                before[other] = here
                queue.append(other)
    if b not in before:
        return None
    path = [b]
    while path[-1] != a:
        path.append(before[path[-1]])
    return path[::-1]
