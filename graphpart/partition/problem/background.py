"""Costs of all pairs that are not listed: a constant, or a sum of products of weights, kept implicit.

The cost of a pair is ``listed[a, b] + background[a, b]``, where the background is a sum of few terms, each of them

    beta * x[a] * x[b]    or    beta * (x[a] * y[b] + y[a] * x[b]).

With x = 1 the term is a constant: the cost of a pair that is not listed. With the degrees of nodes it is the null model
of modularity, and with the degrees out and in that of directed modularity. The background within a subset is computed
from the sums of weights of its elements, so that no method needs all n^2 pairs. Groups of elements that pay a price
for each pair of members in one subset (groups.py) are part of the background, too.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.groups import distinct, group
from graphpart.display import number
from graphpart.errors import InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import frozen

if TYPE_CHECKING:
    from graphpart.partition.problem.groups import Groups

__all__ = ["SMALL", "Background", "background_of", "pairs_within"]

Vector = NDArray[np.float64]
TERMS = 7  # the kernels have room for 16 vectors: two for each of these, and one for what is missing
SMALL = 1000  # elements up to which a matrix takes less time than thinking about it: 8 MB


class Background:
    """Terms of the cost of every pair; see :func:`background_of` for the forms in which users give them.

    Parameters
    ----------
    terms : list of tuples ``(beta, x)`` or ``(beta, x, y)``
        A finite number, and arrays of float64 of one length.
    groups : Groups, optional
        Groups whose members pay a price.
    missing : float
        See the attribute; the first of the terms is this constant, unless it is 0.

    Attributes
    ----------
    beta : ndarray, shape (k,)
    vectors : list of k pairs ``(x, y)`` of arrays of shape (n,)
        The same array twice if the term is ``beta * x[a] * x[b]``.
    groups : Groups or None
    missing : float
        The constant term that listed pairs do not pay, because their costs are given in place of it. A problem
        subtracts it from these costs when it stores them, and has the background with 0 here.
    """

    __slots__ = ("beta", "groups", "missing", "vectors")

    beta: Vector
    vectors: list[tuple[Vector, Vector]]
    groups: Groups | None
    missing: float

    def __init__(
        self, terms: Iterable[tuple[Any, ...]] = (), groups: Groups | None = None, missing: float = 0.0
    ) -> None:
        self.missing = missing
        self.groups = groups if groups is not None and len(groups) else None
        factors = []
        self.vectors = []
        for beta, x, *rest in terms:
            if beta == 0:
                continue
            first = second = frozen(np.ascontiguousarray(x, np.float64))
            if rest:
                second = frozen(np.ascontiguousarray(rest[0], np.float64))
            if rest and np.array_equal(first, second):  # the same as one vector with twice the factor
                second, beta = first, 2.0 * beta
            factors.append(beta)
            self.vectors.append((first, second))
        self.beta = frozen(np.array(factors, np.float64))

    def __bool__(self) -> bool:
        return len(self.beta) > 0 or self.groups is not None

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Background)
            and np.array_equal(self.beta, other.beta)
            and self.groups == other.groups
            and all(
                np.array_equal(x, v) and np.array_equal(y, w) and (x is y) == (v is w)
                for (x, y), (v, w) in zip(self.vectors, other.vectors, strict=True)
            )
        )

    __hash__ = None  # type: ignore[assignment]

    def __getstate__(self) -> tuple[list[tuple[Any, ...]], Groups | None]:
        return self.terms, self.groups

    def __setstate__(self, state: tuple[list[tuple[Any, ...]], Groups | None]) -> None:
        Background.__init__(self, *state)

    def __repr__(self) -> str:
        if self.groups is not None:
            terms = Background(self.terms)
            return f"{terms!r}, {self.groups!r}" if terms else repr(self.groups)
        if self.constant is not None:
            return f"{number(self.constant)} for each other pair"
        words = ["{} x[a] x[b]", "{} (x[a] y[b] + y[a] x[b])"]
        parts = [words[x is not y].format(number(float(b))) for b, (x, y) in zip(self.beta, self.vectors, strict=True)]
        return " + ".join(parts) + " for each pair"

    def beside_missing(self) -> Background:
        """The cost of listed pairs in addition to their own costs: the background without the cost of a missing
        pair."""
        return Background(self.terms[1:], self.groups) if self.missing else self

    def stored(self) -> Background | None:
        """The background of a problem whose listed costs are differences from the cost of a missing pair."""
        if not self:
            return None
        return Background(self.terms, self.groups) if self.missing else self

    @property
    def terms(self) -> list[tuple[Any, ...]]:
        """The terms, as tuples ``(beta, x)`` or ``(beta, x, y)``."""
        return [
            (float(b), x) if x is y else (float(b), x, y) for b, (x, y) in zip(self.beta, self.vectors, strict=True)
        ]

    @property
    def constant(self) -> float | None:
        """The background of each pair, if it is the same for all pairs; else None."""
        if self.groups is None and all((x == 1.0).all() and x is y for x, y in self.vectors):
            return math.fsum(self.beta.tolist())
        return None

    @property
    def repels(self) -> bool:
        """Whether every term is at least 0 for every pair, so that pairs that are not listed never attract.

        Groups always repel.
        """
        for beta, (x, y) in zip(self.beta.tolist(), self.vectors, strict=True):
            signs = []
            for vector in (x, y):
                low, high = float(vector.min(initial=0.0)), float(vector.max(initial=0.0))
                if low < 0 < high:
                    return False
                signs.append(-1 if low < 0 else 1)
            if beta * signs[0] * signs[1] < 0:
                return False
        return True

    def of_pairs(self, u: NDArray[np.integer[Any]], v: NDArray[np.integer[Any]]) -> Vector:
        """The background of some pairs."""
        total = np.zeros(len(u))
        for beta, (x, y) in zip(self.beta.tolist(), self.vectors, strict=True):
            total += beta * (x[u] * x[v] if x is y else x[u] * y[v] + y[u] * x[v])
        return total if self.groups is None else total + self.groups.of_pairs(u, v)

    def add_to(self, matrix: NDArray[np.float64]) -> None:
        """Add the background to a symmetric matrix, in place; its diagonal becomes 0."""
        n = len(matrix)
        columns = np.arange(n)
        if self.vectors:
            terms = self if self.groups is None else Background(self.terms)
            for a in range(n):
                matrix[a] += terms.of_pairs(np.full(n, a), columns)
        if self.groups is not None:
            self.groups.add_to(matrix)
        matrix[np.diag_indices(n)] = 0.0

    def sums(self, n: int) -> Vector:
        """For each element, an upper bound on the sum of the absolute terms over its pairs, without groups."""
        total = np.zeros(n)
        with np.errstate(over="ignore", invalid="ignore"):
            for beta, (x, y) in zip(self.beta.tolist(), self.vectors, strict=True):
                p, q = np.abs(x), np.abs(y)
                if x is y:
                    total += abs(beta) * p * (p.sum() - p)
                else:
                    total += abs(beta) * (p * (q.sum() - q) + q * (p.sum() - p))
        return total

    def contract(self, labels: NDArray[np.int32], k: int) -> Background:
        """The background between subsets."""
        groups = None if self.groups is None else self.groups.contract(labels, k)
        return self._mapped(lambda x: _pairs.sums_by_label(x, labels, k), groups)

    def restrict(self, elements: NDArray[np.integer[Any]]) -> Background:
        """The background between some elements."""
        groups = None if self.groups is None else self.groups.restrict(elements)
        return self._mapped(lambda x: x[elements], groups)

    def _mapped(self, change: Any, groups: Groups | None) -> Background:
        terms = (
            (beta, change(x)) if x is y else (beta, change(x), change(y))
            for beta, (x, y) in zip(self.beta.tolist(), self.vectors, strict=True)
        )
        return Background(terms, groups)


def background_of(
    nodes: Sequence[Hashable], missing: Any = 0.0, background: Any = None, groups: Groups | None = None
) -> Background | None:
    """The Background from the arguments of a constructor; None if pairs that are not listed cost 0.

    Parameters
    ----------
    nodes : sequence of n hashables
    missing : float
        The cost of a pair that is not listed.
    background : None, Background, tuple ``(beta, w)`` or ``(beta, x, y)``, or list of tuples
        Vectors are arrays with a weight for each element, in order, or mappings from nodes to weights.
    groups : Groups, optional
        In place of those of `background`.

    Raises
    ------
    InvalidProblem
        If a number is not finite, or a vector has not one weight for each element.
    """
    n = len(nodes)
    if not _is_finite(missing):
        raise InvalidProblem(f"missing is {missing!r}: expected a finite number, the cost of a pair that is not listed")
    terms: list[tuple[Any, ...]] = [(float(missing), np.ones(n))] if missing else []
    if isinstance(background, Background):
        given = background.terms
        groups = background.groups if groups is None else groups
    elif background is None:
        given = []
    else:
        given = [background] if isinstance(background, tuple) else background
        if not isinstance(given, list) or not all(isinstance(term, tuple) and len(term) in (2, 3) for term in given):
            raise InvalidProblem("background is not as expected: (beta, w) or (beta, x, y), or a list of such tuples")
    if len(given) > TERMS:
        raise InvalidProblem(f"background has {len(given)} terms: expected at most {TERMS}")
    for beta, *vectors in given:
        if not _is_finite(beta):
            raise InvalidProblem(f"background has the factor {beta!r}: expected a finite number")
        terms.append((float(beta), *(_vector(nodes, vector) for vector in vectors)))
    found = Background(terms, groups, float(missing))
    with np.errstate(over="ignore"):
        for beta, (x, y) in zip(found.beta.tolist(), found.vectors, strict=True):
            if not np.isfinite(beta * np.abs(x).max(initial=0.0) * np.abs(y).max(initial=0.0) * 2.0 * max(n, 1)):
                raise InvalidProblem("the background overflows: expected weights of a smaller magnitude")
    return found or None


def _is_finite(x: Any) -> bool:
    try:
        return not isinstance(x, bool) and isinstance(x, Real) and math.isfinite(x)
    except OverflowError:  # a whole number that no float holds
        return False


def _vector(nodes: Sequence[Hashable], weights: Any) -> Vector:
    n = len(nodes)
    if isinstance(weights, Mapping):
        lacking = next((node for node in nodes if node not in weights), None)
        if lacking is not None:
            raise InvalidProblem(f"background has no weight of {lacking!r}: expected one for each element")
        weights = [weights[node] for node in nodes]
    try:
        array = np.asarray(weights)
    except ValueError:
        array = np.zeros(0)
    if array.shape != (n,) or array.dtype.kind not in "fiub":
        raise InvalidProblem(
            f"background has weights of shape {array.shape}: expected a number for each of {n} elements"
        )
    array = np.array(array, np.float64)
    if not np.isfinite(array).all():
        a = int(np.argmin(np.isfinite(array)))
        raise InvalidProblem(f"background has the weight {array[a]} of {nodes[a]!r}: expected a finite number")
    return array


def pairs_within(
    component: NDArray[np.int32], groups: Groups | None, most: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]] | None:
    """All pairs within components, or only those of one group, each once; None if there are more than `most`."""
    if groups is None:
        member, cell = np.arange(len(component)), component.astype(np.int64)
    else:
        member, cell = groups.element, component[groups.element].astype(np.int64) * len(groups) + groups.group
        cell = np.unique(cell, return_inverse=True)[1].ravel()
    sizes = np.bincount(cell).astype(np.int64)
    if int((sizes * (sizes - 1) // 2).sum()) > most:
        return None
    order, first = group(cell, len(sizes))
    members = member[order]  # ascending in each cell
    u, v = [np.zeros(0, np.int32)], [np.zeros(0, np.int32)]
    for size in np.unique(sizes[sizes > 1]).tolist():
        some = members[first[:-1][sizes == size][:, None] + np.arange(size)]
        a, b = np.triu_indices(size, 1)
        u.append(some[:, a].ravel().astype(np.int32))
        v.append(some[:, b].ravel().astype(np.int32))
    low, high = np.concatenate(u), np.concatenate(v)
    if groups is not None:  # several groups may have the same two members
        n = max(1, len(component))
        keys = distinct(low.astype(np.int64) * n + high)
        low, high = (keys // n).astype(np.int32), (keys % n).astype(np.int32)
    return low, high
