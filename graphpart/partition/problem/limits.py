"""Limits of clusters: the number of elements in each, and how many clusters there are."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.display import plural
from graphpart.errors import InfeasibleProblem, InvalidOption
from graphpart.partition.inputs.arrays import frozen

if TYPE_CHECKING:
    from graphpart.partition.problem.groups import Groups

__all__ = ["Limits", "limits_of"]


@dataclass(frozen=True)
class Limits:
    """Limits of the sizes and the number of clusters.

    Attributes
    ----------
    max_size : int or None
        No cluster has more elements.
    least, most : int, int or None
        There are no fewer clusters, and no more.
    sizes : ndarray of int64, shape (n,), or None
        The number of elements that each element stands for, in a contracted problem.
    """

    max_size: int | None = None
    least: int = 1
    most: int | None = None
    sizes: NDArray[np.int64] | None = field(default=None, compare=False, repr=False)

    @property
    def number(self) -> bool:
        """Whether the number of clusters is limited, so that components cannot be solved apart."""
        return self.least > 1 or self.most is not None

    def is_full(self, n: int) -> bool:
        """Whether all clusters of a problem over n elements have the largest size, so that no element can move."""
        total = n if self.sizes is None else int(self.sizes.sum())
        return self.max_size is not None and self.most is not None and self.max_size * self.most == total

    def without_number(self) -> Limits | None:
        """The limit of sizes alone; None if there is none."""
        return Limits(self.max_size, sizes=self.sizes) if self.max_size is not None else None

    def contract(self, labels: NDArray[np.int32], k: int) -> Limits:
        """The limits of the problem over k subsets."""
        return replace(self, sizes=frozen(np.bincount(labels, self.sizes, k).astype(np.int64)))

    def restrict(self, elements: NDArray[np.integer[Any]]) -> Limits | None:
        """The limits of the problem over some elements, of which the number of clusters is none."""
        limits = self.without_number()
        if limits is None or limits.sizes is None:
            return limits
        return replace(limits, sizes=frozen(limits.sizes[elements]))

    def violation(self, labels: NDArray[np.int32]) -> str | None:
        """The way in which labels violate the limits, for a message; None if they do not."""
        found = sizes_of(labels, self.sizes)
        largest = int(found.max(initial=0))
        if self.max_size is not None and largest > self.max_size:
            return f"a cluster has {largest} elements: expected at most {self.max_size} (max_size)"
        k = max(1, len(found))  # of no elements, too
        if self.number and not self.least <= k <= (k if self.most is None else self.most):
            return f"there are {plural(len(found), 'cluster')}: expected {Limits(None, self.least, self.most)}"
        return None

    def check(
        self,
        nodes: Sequence[Hashable],
        classes: NDArray[np.int32],
        groups: Groups | None,
        has_cuts: bool,
    ) -> None:
        """Raise InfeasibleProblem if simple counts show that no partition obeys them together with requirements.

        Parameters
        ----------
        nodes : sequence of n hashables
        classes : ndarray of int32, shape (n,)
            Must-join classes.
        groups : Groups or None
        has_cuts : bool
            Whether a pair must be cut.
        """
        n = len(nodes)
        found = np.bincount(classes)
        if self.max_size is not None and found.max(initial=0) > self.max_size:
            k = int(np.argmax(found))
            node = nodes[int(np.argmax(classes == k))]
            raise InfeasibleProblem(
                f"max_size is {self.max_size}, but required joins connect {node!r} and {int(found[k]) - 1} other "
                "elements"
            )
        if self.number and self.least > max(1, len(found)):
            left = plural(n, "element")
            if len(found) < n:
                left = f"{plural(len(found), 'set')} of elements that must be joined"
            few = "" if self.least == self.most else "at least "
            raise InfeasibleProblem(f"n_clusters is {few}{self.least}, but there are {left}")
        if self.most is None:
            return
        if self.max_size is not None and n > self.max_size * self.most:
            raise InfeasibleProblem(
                f"{plural(self.most, 'cluster')} of at most {plural(self.max_size, 'element')} hold "
                f"{self.max_size * self.most} of {n} elements: expected a larger max_size or n_clusters"
            )
        if groups is not None and groups.is_hard:
            members = np.where(groups.hard, np.bincount(groups.group, minlength=len(groups)), 0)
            g = int(np.argmax(members))
            if members[g] > self.most:
                raise InfeasibleProblem(
                    f"n_clusters is at most {self.most}, but {groups.name(g)} has {members[g]} elements, of which a "
                    "cluster has at most one"
                )
        if has_cuts and self.most < 2:
            raise InfeasibleProblem("n_clusters is at most 1, but some elements must be cut")

    def __str__(self) -> str:
        parts = [] if self.max_size is None else [f"at most {plural(self.max_size, 'element')} in a cluster"]
        if self.most is not None and self.most == self.least:
            parts.append(f"exactly {plural(self.most, 'cluster')}")
        elif self.most is not None and self.least > 1:
            parts.append(f"{self.least} to {plural(self.most, 'cluster')}")
        elif self.most is not None:
            parts.append(f"at most {plural(self.most, 'cluster')}")
        elif self.least > 1:
            parts.append(f"at least {plural(self.least, 'cluster')}")
        return ", ".join(parts)


def limits_of(max_size: Any, n_clusters: Any) -> Limits | None:
    """The Limits from the arguments of a constructor; None if nothing is limited.

    Parameters
    ----------
    max_size : None or int
    n_clusters : None, int, or pair of ints or None
        A number of clusters, or the least and the most.

    Raises
    ------
    InvalidOption
        If a number is no whole number of at least 1, or the least is more than the most.
    """
    least: Any = 1
    most: Any = None
    if isinstance(n_clusters, tuple | list):
        if len(n_clusters) != 2:
            raise InvalidOption(f"n_clusters is {n_clusters!r}: expected a number, or (least, most)")
        least, most = n_clusters
        least = 1 if least is None else least
    elif n_clusters is not None:
        least = most = n_clusters
    for name, value in (("max_size", max_size), ("n_clusters", least), ("n_clusters", most)):
        if value is not None and (isinstance(value, bool) or not hasattr(value, "__index__") or value < 1):
            given = max_size if name == "max_size" else n_clusters
            more = "" if name == "max_size" else ", or (least, most)"
            raise InvalidOption(f"{name} is {given!r}: expected a whole number of at least 1{more}")
    if most is not None and least > most:
        raise InvalidOption(f"n_clusters is ({least}, {most}): expected the least number first")
    if max_size is None and most is None and least <= 1:
        return None
    return Limits(None if max_size is None else int(max_size), int(least), None if most is None else int(most))


def sizes_of(labels: NDArray[np.int32], sizes: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """The number of elements in each subset, from labels of any non-negative integers, in ascending order of these."""
    if len(labels) and not 0 <= labels.min() <= labels.max() < len(labels):
        labels = np.unique(labels, return_inverse=True)[1].ravel().astype(np.int32)
    counts = np.bincount(labels)
    if sizes is None:
        return counts[counts > 0]
    return np.bincount(labels, sizes)[counts > 0].astype(np.int64)
