"""What clusters have to obey, as constructors of problems take it: groups, sizes, and the number of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any

from graphpart.errors import InvalidOption

__all__ = ["obeyed"]


def obeyed(
    nodes: Sequence[Hashable],
    groups: Any = None,
    group_cost: Any = math.inf,
    max_size: Any = None,
    n_clusters: Any = None,
    attribute: Callable[[str], Any] | None = None,
) -> dict[str, Any]:
    """The arguments `groups` and `limits` of `PairCosts.of_pairs` from those of a constructor, see `groups_of`.

    Raises
    ------
    InvalidProblem, InvalidOption
        If an argument does not fit.
    """
    if groups is None and not _is_infinite(group_cost):
        raise InvalidOption("group_cost is given without groups: expected both")
    obey: dict[str, Any] = {"groups": None, "limits": None}
    if groups is not None:
        from graphpart.partition.problem.groups import groups_of

        obey["groups"] = groups_of(nodes, groups, group_cost, attribute)
    if max_size is not None or n_clusters is not None:
        from graphpart.partition.problem.limits import limits_of

        obey["limits"] = limits_of(max_size, n_clusters)
    return obey


def _is_infinite(price: Any) -> bool:
    return isinstance(price, int | float) and price == math.inf
