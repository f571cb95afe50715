"""Requirements of clusters by indices of elements, as a problem stores them; and the check for contradictions.

Users say it by the names of elements, see `requirements`. Groups are part of the background, since members of a group
may share a cluster at a price.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InfeasibleProblem
from graphpart.partition.problem.connectedness import check_joins, linked_parts

if TYPE_CHECKING:
    from graphpart.partition.problem.groups import Groups
    from graphpart.partition.problem.limits import Limits

__all__ = ["FREE", "NO_PAIRS", "Rules", "check_rules", "prevent_chains"]

NO_PAIRS = np.zeros((0, 2), np.int32)
NO_PAIRS.flags.writeable = False


@dataclass(frozen=True, eq=False)
class Rules:
    """What clusters must obey, by indices.

    Attributes
    ----------
    joins, cuts : ndarray of int32, shape (k, 2)
        Pairs required together, and apart; the smaller index first.
    limits : Limits or None
        Limits of the sizes and of the number of clusters.
    lifted : ndarray of bool, shape (m,), or None
        Which of the listed pairs are lifted, if clusters must be connected by the others; None if they need not be.
    """

    joins: NDArray[np.int32] = field(default_factory=lambda: NO_PAIRS)
    cuts: NDArray[np.int32] = field(default_factory=lambda: NO_PAIRS)
    limits: Limits | None = None
    lifted: NDArray[np.bool_] | None = None


FREE = Rules()


class Ruled(Protocol):
    """The attributes that the check of rules reads of a problem."""

    n: int
    must_join: NDArray[np.int32]
    _limits: Limits | None
    lifted: NDArray[np.bool_] | None

    @property
    def nodes(self) -> Sequence[Hashable]: ...
    @property
    def groups(self) -> Groups | None: ...
    @property
    def _must_cut(self) -> NDArray[np.int32]: ...
    @property
    def _has_must_cut(self) -> bool: ...
    def _must_join_classes(self) -> NDArray[np.int32]: ...
    def _links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]: ...


def check_rules(p: Ruled) -> None:
    """Raise InfeasibleProblem if simple counts show that the requirements of a problem contradict each other.

    Limits of a contracted problem are not checked: its elements may still be divided in another way.
    """
    limits = None if p._limits is None or p._limits.sizes is not None else p._limits
    if not len(p.must_join) and limits is None:
        return
    classes = p._must_join_classes()
    if len(p.must_join):
        if (groups := p.groups) is not None and (clash := groups.clash(classes)) is not None:
            a, b = (p.nodes[i] for i in clash[:2])
            raise InfeasibleProblem(
                f"{a!r} and {b!r} are both in {groups.name(clash[2])}, of which a cluster has at most one, but "
                "required joins connect them"
            )
        cuts = p._must_cut
        bad = cuts[classes[cuts[:, 0]] == classes[cuts[:, 1]]]
        if len(bad):
            a, b = (p.nodes[i] for i in bad[0].tolist())
            raise InfeasibleProblem(f"{a!r} and {b!r} must be cut, but required joins connect them")
        if p.lifted is not None:
            check_joins(p)
    if limits is not None:
        limits.check(p.nodes, classes, p.groups, p._has_must_cut)
        if p.lifted is not None and limits.most is not None:
            parts = int(linked_parts(p, np.zeros(p.n, np.int32)).max(initial=-1)) + 1
            if parts > limits.most:
                raise InfeasibleProblem(
                    f"n_clusters is at most {limits.most}, but clusters must be connected, and no base pair leads from "
                    f"one of {parts} parts to another"
                )


def prevent_chains(n: int, grouped: bool, connects: bool, limits: Limits | None, cuts: NDArray[np.int32]) -> bool:
    """Whether the requirements of a problem keep its clusters from becoming chains, so that no cost of unlisted
    pairs is derived from scores.

    This is the only place that decides it, for constructors, `require` and the command line: groups, connected
    clusters, a largest size together with a limit of the number of clusters, and `cuts`, shape (k, 2), that make up
    groups. Other cuts, such as corrections of single pairs, and one of both limits change nothing.
    """
    seats = limits is not None and limits.max_size is not None and limits.number
    return grouped or connects or seats or _are_groups(n, cuts)


def _are_groups(n: int, cuts: NDArray[np.int32]) -> bool:
    """Whether at least half of n elements are in sets of three or more of which all pairs are cut.

    Elements are in one set if they are cut from each other and from the same others. Then sums of random numbers over
    an element and all that it is cut from are equal.

    Examples
    --------
    >>> _are_groups(4, np.array([[0, 1], [0, 2], [1, 2]])), _are_groups(4, np.array([[0, 1], [1, 2], [2, 3]]))
    (True, False)
    """
    if 2 * len(cuts) < n or not len(cuts):
        return False
    low, high = np.divmod(np.unique(cuts.min(axis=1).astype(np.int64) * n + cuts.max(axis=1)), n)
    mark = np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64)
    total = mark.copy()
    np.add.at(total, low, mark[high])
    np.add.at(total, high, mark[low])
    sizes = np.unique(total, return_counts=True)[1]
    return bool(2 * sizes[sizes >= 3].sum() >= n)
