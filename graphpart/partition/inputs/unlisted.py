"""The cost of pairs that a table of scores does not list, from which pairs the table lists.

In a table of scores, a pair without a row was not compared, or its score was too low to be listed. Either says
something only if pairs that belong together were mostly compared. Let q be the share of compared pairs among those that
belong together, and c the mean absolute cost of a listed pair. Then an unlisted pair costs

    c / 3 * q**2.

q is the smaller one of two shares, which need no clusters:

1. of the pairs with two common attracting neighbours, those that are listed. One wrong score does not make such a pair.
   Where few pairs have two, those with one count; of both shares the larger one.
2. of the pairs within groups, those that are listed. Groups are connected by attracting pairs with a common attracting
   neighbour. In lists of nearest neighbours the first share is large, but groups are large and hardly compared.

Where few pairs have a common neighbour, as in small tables, or none is listed, as in chains, the cost is 0. So it is
where all unlisted pairs together would cost less than a thousandth of what the listed ones do.
The factor and the exponent are chosen by measurement (benchmarks/tables.py).

Some requirements keep clusters from becoming chains by themselves; then the cost is 0, too, see
`problem.rules.prevent_chains`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import number, plural
from graphpart.kernels import _pairs
from graphpart.partition.inputs._compared import compared_near

__all__ = [
    "about_unlisted", "cost_of_unlisted", "derived_cost", "hardly_compared", "near_pairs", "told", "told_free",
]  # fmt: skip

UNLISTED, FREE = "pairs that are not in the table cost", "unlisted pairs cost nothing"
CROWD = 256  # attracting neighbours, above which an element is not looked at as a common neighbour
FEW = 0.001  # share of the costs of listed pairs, below which all unlisted pairs together cost nothing
FEWEST = 20  # pairs with common neighbours: the share of fewer says too little


def cost_of_unlisted(
    n: int,
    u: NDArray[np.int32],
    v: NDArray[np.int32],
    costs: NDArray[np.float64],
) -> float:
    """The cost of an unlisted pair, to three digits, from sorted pairs ``u < v`` and their costs.

    Examples
    --------
    >>> u, v = np.triu_indices(8, 1)  # eight elements, of which all pairs are listed, and one that repels one of them
    >>> u, v = np.append(u, 7).astype(np.int32), np.append(v, 8).astype(np.int32)
    >>> cost_of_unlisted(9, u, v, np.append(np.full(28, -3.0), 3.0))
    1.0
    """
    if len(u) == n * (n - 1) // 2 or not (costs < 0).any():
        return 0.0
    counts, group = near_pairs(n, u, v, costs)
    shares = [listed / every for listed, every in counts.tolist() if every >= FEWEST]
    pairs = _pairs_within(group)
    if not shares or not pairs:
        return 0.0
    share = min(max(shares), int((group[u] == group[v]).sum()) / pairs)
    finite = np.isfinite(costs)
    total = float(np.abs(costs).sum(where=finite))
    cost = float(f"{total / int(finite.sum()) / 3 * share**2:.3g}")
    return cost if cost * (n * (n - 1) // 2 - len(u)) >= FEW * total else 0.0


def near_pairs(
    n: int, u: NDArray[np.int32], v: NDArray[np.int32], costs: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """What `compared_near` returns for sorted pairs ``u < v``."""
    attract = costs < 0
    rows = _pairs.adjacency(n, u[attract], v[attract])
    first = np.searchsorted(u, np.arange(n + 1, dtype=np.int32))
    counts, group = compared_near(first, v, rows.starts, rows.neighbours, CROWD)
    return counts, group


def told(derived: float) -> dict[str, str]:
    """The words of a problem about a derived cost; none if it is 0."""
    return {UNLISTED: f"{number(derived)} (derived; missing=0 turns this off)"} if derived else {}


def told_free(limits: Any) -> dict[str, str]:
    """The words of a problem whose unlisted pairs cost nothing, since it has both limits; none with other limits."""
    both = limits is not None and limits.max_size is not None and limits.number
    return {FREE: "beside max_size with n_clusters (missing=... gives them a cost)"} if both else {}


def derived_cost(p: Any) -> str | None:
    """The sentence about a derived cost of unlisted pairs of a problem, if it has one."""
    return _sentence(p, UNLISTED)


def about_unlisted(p: Any) -> str | None:
    """The sentence about a derived cost of unlisted pairs, or about why there is none, if anything is to be told."""
    return _sentence(p, UNLISTED) or _sentence(p, FREE)


def _sentence(p: Any, key: str) -> str | None:
    words = getattr(p, "_told", {}).get(key)
    return None if words is None else f"{key} {words}"


def hardly_compared(p: Any, labels: NDArray[np.integer[Any]]) -> str | None:
    """A sentence about the largest cluster that single pairs of a table of scores hold together, if there is one.

    Such a cluster has at least 30 elements, at most 2.5 listed pairs for each element but one, and less than a third of
    it is connected by attracting pairs with a common attracting neighbour. It is looked for where unlisted pairs cost
    nothing. `benchmarks/tables.py` shows on generated tables how many clusters are such, and how mixed they are.
    """
    scores = p._origin is not None and p._origin.left is not None and p._origin.kind != "cost"
    if not scores or p.background is not None or p.lifted is not None:
        return None
    u, v, costs = p._listed()
    sizes = np.bincount(labels, minlength=1)
    inside = labels[u] == labels[v]
    listed = np.bincount(labels[u[inside]], minlength=len(sizes))
    sparse = (sizes >= 30) & (listed <= 2.5 * (sizes - 1))
    if not sparse.any():
        return None
    inside &= sparse[labels[u]]
    _, group = near_pairs(p.n, u[inside], v[inside], costs[inside])
    tied = np.zeros(len(sizes), np.int64)  # the size of the largest group in each cluster
    first = np.flatnonzero(group == np.arange(p.n))
    np.maximum.at(tied, labels[first], np.bincount(group, minlength=p.n)[first])
    loose = np.flatnonzero(sparse & (3 * tied < sizes))
    if not len(loose):
        return None
    most = int(loose[np.argmax(sizes[loose])])
    size, others = int(sizes[most]), len(loose) - 1
    more = f" ({plural(others, 'other cluster')} likewise)" if others else ""
    return (
        f"few pairs of a cluster of {number(size)} elements were compared{more}: {number(listed[most])} of "
        f"{number(size * (size - 1) // 2)} are in the table, and the others cost nothing, so a single wrong score may "
        "join two clusters; missing=0.5 makes the others repel, max_size=... limits clusters"
    )


def _pairs_within(labels: NDArray[np.integer[Any]]) -> int:
    """The number of pairs of elements with equal labels."""
    sizes = np.bincount(labels.ravel())
    return int((sizes * (sizes - 1) // 2).sum())
