"""Costs of pairs of elements in contiguous arrays, as a matrix or as pairs, with the pairs required together or apart.

These are the arrays of a set partition problem; `set_partition` adds constructors and methods that derive other
problems.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpart.display import Shown
from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import check_matrix_fits, frozen, size_of, tidy_pairs
from graphpart.partition.problem.background import SMALL, Background, background_of
from graphpart.partition.problem.connectedness import check_alone, check_joins, linked_parts

if TYPE_CHECKING:
    from graphpart.partition.inputs.origin import Origin
    from graphpart.partition.problem.groups import Groups
    from graphpart.partition.problem.limits import Limits

__all__ = ["DENSE_FROM", "Labels", "PairCosts"]

Labels = NDArray[np.int32]
Pairs = Iterable[tuple[Hashable, Hashable]]
DENSE_FROM = 0.25  # share of pairs stored, from which on a matrix is smaller and faster than rows of neighbours


class PairCosts(Shown):
    """The arrays of a set partition problem; see :class:`SetPartition` for what its attributes mean."""

    __slots__ = (
        "_implicit",
        "_index",
        "_links",
        "_magnitude",
        "_must_cut",
        "_row_flags",
        "_rows",
        "_told",
        "_zeros",
        "background",
        "cost",
        "lifted",
        "limits",
        "matrix",
        "must_join",
        "n",
        "nodes",
        "offset",
        "origin",
        "sense",
        "sizes",
        "u",
        "v",
    )

    n: int
    nodes: Sequence[Hashable]
    matrix: NDArray[np.float64] | None
    u: NDArray[np.int32] | None
    v: NDArray[np.int32] | None
    cost: NDArray[np.float64] | None
    lifted: NDArray[np.bool_] | None
    background: Background | None
    must_join: NDArray[np.int32]
    offset: float
    sense: int
    limits: Limits | None
    sizes: NDArray[np.int64] | None
    origin: Origin | None
    _implicit: PairCosts | None

    # ---------------------------------------------------------------------------------------------- construction

    @classmethod
    def of_pairs(
        cls,
        nodes: Sequence[Hashable],
        u: NDArray[Any],
        v: NDArray[Any],
        costs: NDArray[np.float64],
        must_join: Pairs = (),
        must_cut: Pairs = (),
        dense: bool | None = None,
        offset: float = 0.0,
        sense: int = 1,
        missing: float = 0.0,
        background: Any = None,
        groups: Groups | None = None,
        limits: Limits | None = None,
        sizes: NDArray[np.int64] | None = None,
        lifted: NDArray[np.bool_] | None = None,
    ) -> Self:
        """From unique names, and arrays of pairs and costs of one length.

        `groups` are in addition to those of a Background. `sizes`: for how many elements each stands, see Limits.
        `lifted`: which of the pairs are lifted, if subsets have to be connected.
        """
        self = cls.__new__(cls)
        self._set_pairs(
            nodes, u, v, costs, must_join, must_cut, dense, offset, sense, missing, background, groups, limits, sizes,
            lifted,
        )  # fmt: skip
        return self

    @classmethod
    def of_matrix(
        cls,
        nodes: Sequence[Hashable],
        matrix: NDArray[np.float64],
        must_join: Pairs = (),
        must_cut: Pairs = (),
        offset: float = 0.0,
        sense: int = 1,
        limits: Limits | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> Self:
        """From unique names, and a matrix that is symmetric, without NaN, and not used elsewhere."""
        self = cls.__new__(cls)
        self._set_matrix(nodes, matrix, must_join, must_cut, offset, sense, limits, sizes)
        return self

    def _set_pairs(
        self,
        nodes: Sequence[Hashable],
        u: NDArray[Any],
        v: NDArray[Any],
        costs: NDArray[np.float64],
        must_join: Pairs,
        must_cut: Pairs,
        dense: bool | None,
        offset: float = 0.0,
        sense: int = 1,
        missing: float = 0.0,
        background: Any = None,
        groups: Groups | None = None,
        limits: Limits | None = None,
        sizes: NDArray[np.int64] | None = None,
        lifted: NDArray[np.bool_] | None = None,
    ) -> None:
        n = len(nodes)
        self._start(nodes, offset, sense, limits, sizes)
        implicit = background_of(nodes, missing, background, groups)
        required = self._indices(must_join), self._indices(must_cut)
        if lifted is not None:
            check_alone(dense, missing, background, groups, limits)
            dense = False
        low, high, costs, joins, lifted = tidy_pairs(n, u, v, costs, *required, lifted)
        if dense is None:
            dense = len(low) >= DENSE_FROM * (n * (n - 1) // 2) or (implicit is not None and n <= SMALL)
        if dense:
            matrix = np.full((n, n), float(missing)) if check_matrix_fits(n) else None
            assert matrix is not None
            matrix[low, high] = costs
            matrix[high, low] = costs
            if implicit is not None:
                (background_of(nodes, 0.0, background, groups) or Background([])).add_to(matrix)
            self.matrix = frozen(matrix)
            if implicit is not None and implicit.groups is not None:  # which a matrix does not tell
                self._implicit = self._without_matrix(low, high, costs, missing, implicit, joins)
            if not costs.all():  # which a matrix does not tell from pairs that were not listed
                self._zeros = frozen(np.stack([low[costs == 0], high[costs == 0]], 1))
        else:
            self.background = implicit  # which has the cost of a missing pair, so that only the difference is stored
            self.u, self.v, self.cost = frozen(low), frozen(high), frozen(costs - missing if missing else costs)
            self.lifted = None if lifted is None else frozen(lifted)
        self._require(joins)

    def _without_matrix(
        self,
        u: NDArray[np.int32],
        v: NDArray[np.int32],
        costs: NDArray[np.float64],
        missing: float,
        background: Background,
        joins: NDArray[np.int32],
    ) -> Self:
        """The problem with tidy pairs and a background of which this one is the matrix."""
        p = type(self).__new__(type(self))
        p._start(self.nodes, self.offset, self.sense, self.limits, self.sizes)
        p.background = background
        p.u, p.v, p.cost = frozen(u), frozen(v), frozen(costs - missing if missing else costs)
        p._require(joins)
        return p

    def _set_matrix(
        self,
        nodes: Sequence[Hashable],
        matrix: NDArray[np.float64],
        must_join: Pairs,
        must_cut: Pairs,
        offset: float,
        sense: int,
        limits: Limits | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        """Take over a matrix that is already symmetric, without NaN, and not used elsewhere."""
        self._start(nodes, offset, sense, limits, sizes)
        joins, cuts = self._indices(must_join), self._indices(must_cut)
        if len(matrix) and matrix.min() == -np.inf:  # before cuts are entered, which may contradict
            required = np.argwhere(np.triu(np.isneginf(matrix), 1)).astype(np.int32)
            matrix[np.isneginf(matrix)] = 0.0
            joins = np.concatenate([joins, required])
        matrix[cuts[:, 0], cuts[:, 1]] = np.inf
        matrix[cuts[:, 1], cuts[:, 0]] = np.inf
        self.matrix = frozen(matrix)
        self._require(joins)

    def _start(
        self,
        nodes: Sequence[Hashable],
        offset: float,
        sense: int,
        limits: Limits | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        self.n = size_of(len(nodes))
        self.nodes = nodes
        self.offset = float(offset)
        if not math.isfinite(self.offset):
            raise InvalidProblem(f"offset is {offset}: expected a finite number")
        if sense not in (1, -1):
            raise InvalidProblem(f"sense is {sense}: expected 1 (minimise) or -1 (maximise)")
        self.sense = sense
        self.limits = limits
        self.sizes = None if sizes is None or limits is None else frozen(np.ascontiguousarray(sizes, np.int64))
        self.origin = None
        self.matrix = self.u = self.v = self.cost = self.background = self.lifted = None
        self._implicit = None  # the problem that this one is the matrix of
        self._index: dict[Hashable, int] | None = None
        self._magnitude: tuple[float, bool, float] | None = None
        self._must_cut: NDArray[np.int32] | None = None
        self._rows: _pairs.CompressedRows | None = None
        self._row_flags: NDArray[np.uint8] | None = None
        self._links: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
        self._zeros = frozen(np.zeros((0, 2), np.int32))
        self._told: dict[str, Any] = {}  # what a constructor chose, for `repr`

    def _indices(self, pairs: Pairs, what: str = "must_join or must_cut") -> NDArray[np.int32]:
        """Pairs of nodes, or a frame of two columns, as an (k, 2) array of indices, smaller first."""
        rows = []
        if not isinstance(pairs, Iterable):
            raise InvalidProblem(f"{what} is {pairs!r}: expected pairs of nodes")
        if hasattr(pairs, "columns"):
            from graphpart.partition.inputs.frames import rows_of_two

            pairs = rows_of_two(pairs, what)
        try:
            for pair in pairs:
                try:
                    a, b = pair
                except (TypeError, ValueError):
                    raise InvalidProblem(f"{pair!r} in {what}: expected a pair of nodes") from None
                i, j = self.index(a), self.index(b)
                if i == j:
                    raise InvalidProblem(f"({a!r}, {b!r}) in {what}: expected two different elements")
                rows.append((min(i, j), max(i, j)))
        except InvalidProblem:
            if isinstance(pairs, tuple | list) and len(pairs) == 2 and all(map(self._has, pairs)):
                a, b = pairs
                raise InvalidProblem(
                    f"{what} is one pair: expected a list of pairs, such as [({a!r}, {b!r})]"
                ) from None
            raise
        return np.array(rows, np.int32).reshape(-1, 2)

    def _has(self, node: Any) -> bool:
        """Whether it is the name of an element."""
        try:
            self.index(node)
        except InvalidProblem:
            return False
        return True

    def _require(self, joins: NDArray[np.int32]) -> None:
        """Store the required joins; check that they contradict no required cut, and that sums of costs are finite."""
        if not math.isfinite(self._measure()[0] * max(1, self.n)):
            raise InvalidProblem("the sum of absolute costs overflows: expected costs of a smaller magnitude")
        self.must_join = frozen(np.unique(joins, axis=0) if len(joins) else np.zeros((0, 2), np.int32))
        if not len(joins) and (self.limits is None or self.sizes is not None):
            return
        classes = self.must_join_classes()
        if len(joins):
            if (groups := self.groups) is not None and (clash := groups.clash(classes)) is not None:
                a, b = (self.nodes[i] for i in clash[:2])
                raise InfeasibleProblem(
                    f"{a!r} and {b!r} are both in {groups.name(clash[2])}, of which a cluster has at most one, but "
                    "required joins connect them"
                )
            cuts = self.must_cut
            bad = cuts[classes[cuts[:, 0]] == classes[cuts[:, 1]]]
            if len(bad):
                a, b = (self.nodes[i] for i in bad[0].tolist())
                raise InfeasibleProblem(f"{a!r} and {b!r} must be cut, but required joins connect them")
            if self.lifted is not None:
                check_joins(self)
        if self.limits is not None and self.sizes is None:  # contractions may be on the way to something better
            self.limits.check(self.nodes, classes, self.groups, self.has_must_cut)

    # ---------------------------------------------------------------------------------------------------- looking

    @property
    def is_dense(self) -> bool:
        return self.matrix is not None

    @property
    def connected(self) -> bool:
        """Whether every subset has to be connected by base pairs."""
        return self.lifted is not None

    @property
    def m(self) -> int:
        return len(self.u) if self.u is not None else self.n * (self.n - 1) // 2

    @property
    def unfolded(self) -> PairCosts:
        """The problem as pairs and groups, if this is a matrix that includes the prices of groups; else itself."""
        return self if self._implicit is None or self.groups is None or self.matrix is None else self._implicit

    @property
    def must_cut(self) -> NDArray[np.int32]:
        """Pairs of indices required in different subsets, shape (k, 2); without those of groups, unless dense."""
        if self._must_cut is None:
            if self.matrix is not None:
                cuts = np.argwhere(np.triu(self.matrix == np.inf, 1)).astype(np.int32)
            else:
                assert self.u is not None and self.v is not None and self.cost is not None
                at = np.flatnonzero(self.cost == np.inf)
                cuts = np.stack([self.u[at], self.v[at]], 1)
            self._must_cut = frozen(cuts)
        return self._must_cut

    @property
    def has_must_cut(self) -> bool:
        """Whether any pair must be cut, by itself or as members of a group."""
        return self._measure()[1]

    @property
    def groups(self) -> Groups | None:
        """The groups of elements that pay a price for each pair of members in one subset, also if a matrix has it."""
        p = self if self._implicit is None else self._implicit
        return None if p.background is None else p.background.groups

    @property
    def magnitude(self) -> float:
        """The largest sum of absolute costs over the pairs of one element; required cuts are left out.

        With a background, this is an upper bound: the sum of the magnitudes of the listed pairs and of the background.
        """
        return self._measure()[0]

    @property
    def attraction(self) -> float:
        """The largest sum of absolute negative costs over the pairs of one element, or an upper bound on it."""
        return self._measure()[2]

    @property
    def tolerance(self) -> float:
        """The tolerance of comparisons: a difference of costs counts as negative if it is below ``-tolerance``.

        It is ``2**-50`` times :attr:`magnitude`: the order of the rounding error in a sum of an element's costs. All
        methods share this rule.
        """
        return 2.0**-50 * self.magnitude

    def _measure(self) -> tuple[float, bool, float]:
        if self._magnitude is None:
            if self.matrix is not None:
                self._magnitude = _pairs.magnitude_of_dense(self.matrix)
            else:
                self._magnitude = _pairs.magnitude_of_pairs(self.n, self.u, self.v, self.cost)
            if self.background is not None:
                more = float(self.background.sums(self.n).max(initial=0.0))
                magnitude, cuts, attraction = self._magnitude
                attraction += more
                if (groups := self.background.groups) is not None:  # prices never attract
                    more += float(groups.sums().max(initial=0.0))
                    cuts |= groups.is_hard
                self._magnitude = magnitude + more, cuts, attraction
        return self._magnitude

    def index(self, node: Hashable) -> int:
        """The index of a node; InvalidProblem if there is no such node."""
        if self._index is None and not isinstance(self.nodes, range):
            self._index = {name: i for i, name in enumerate(self.nodes)}
        try:
            if self._index is not None:
                return self._index[node]
            return self.nodes.index(operator.index(node))  # type: ignore[arg-type]
        except (KeyError, ValueError, TypeError):
            raise InvalidProblem(f"{node!r} is not a node of the problem") from None

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The stored pairs ``(u, v, cost)`` in lexicographic order, each of shape (m,); all pairs if dense.

        With a background, these costs do not include it.
        """
        if self.matrix is None:
            assert self.u is not None and self.v is not None and self.cost is not None
            return self.u, self.v, self.cost
        u, v = (index.astype(np.int32) for index in np.triu_indices(self.n, 1))
        return u, v, self.matrix[u, v]

    def listed(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The stored pairs; from a matrix, those with a cost other than 0, and those listed with the cost 0.

        With a background, the costs of the pairs include it.
        """
        if self.matrix is None:
            u, v, cost = self.pairs()
            return u, v, cost if self.background is None else cost + self.background.of_pairs(u, v)
        found = np.nonzero(np.triu(self.matrix, 1))
        zeros = self._zeros[self.matrix[self._zeros[:, 0], self._zeros[:, 1]] == 0]  # a background may add to them
        u, v = (np.concatenate([a, b]).astype(np.int32) for a, b in zip(found, zeros.T, strict=True))
        order = np.lexsort((v, u))
        u, v = u[order], v[order]
        return u, v, self.matrix[u, v]

    def rows(self) -> _pairs.CompressedRows:
        """The stored pairs as compressed rows with 2 m entries, kept once made. O(n + m)"""
        if self._rows is None:
            self._rows = _pairs.adjacency(self.n, *self.pairs())
        return self._rows

    def row_flags(self) -> NDArray[np.uint8]:
        """For each entry of :meth:`rows` 1 if its pair is lifted, else 0, if subsets have to be connected. O(n + m)"""
        if self._row_flags is None:
            u, v, _ = self.pairs()
            assert self.lifted is not None
            self._row_flags = _pairs.adjacency(self.n, u, v, self.lifted.astype(np.float64)).costs.astype(np.uint8)
        return self._row_flags

    def links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The base pairs ``(u, v)`` that may be joined, which connect subsets: of any cost but ``inf``. O(m)"""
        if self._links is None:
            u, v, cost = self.pairs()
            assert self.lifted is not None
            kept = ~self.lifted & (cost < np.inf)
            self._links = u[kept], v[kept]
        return self._links

    def __getstate__(self) -> dict[str, Any]:
        kept = (
            "n",
            "nodes",
            "matrix",
            "u",
            "v",
            "cost",
            "lifted",
            "background",
            "must_join",
            "offset",
            "sense",
            "limits",
            "sizes",
            "origin",
        )
        state = {name: getattr(self, name) for name in kept} | {"zeros": self._zeros}
        if self.matrix is not None and self.groups is not None:
            state["implicit"] = self._implicit
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start(state["nodes"], state["offset"], state["sense"], state.get("limits"), state.get("sizes"))
        for name in ("matrix", "u", "v", "cost", "must_join", "lifted"):
            array = state.get(name)
            setattr(self, name, None if array is None else frozen(np.ascontiguousarray(array)))
        self.background = state.get("background")
        self._implicit = state.get("implicit")
        self.origin = state.get("origin")
        if "zeros" in state:
            self._zeros = frozen(state["zeros"])

    def evaluate_labels(self, labels: Labels) -> float:
        """The cost of an int32 array of n labels, unchecked."""
        joins = self.must_join
        if len(joins) and (labels[joins[:, 0]] != labels[joins[:, 1]]).any():
            return math.inf
        if self.limits is not None and self.limits.violation(labels, self.sizes) is not None:
            return math.inf
        if self.lifted is not None and linked_parts(self, labels).max(initial=-1) >= len(np.unique(labels)):
            return math.inf
        if self._implicit is not None:  # faster, and to the last digit the same as there
            return self._implicit.evaluate_labels(labels)
        if self.matrix is not None:
            return float(_pairs.cost_of_dense(self.matrix, labels))
        if self.background is not None:
            if self.n and not 0 <= labels.min() <= labels.max() < self.n:
                labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
            terms = self.background
            cost = float(_pairs.cost_of_pairs(self.u, self.v, self.cost, labels, terms.beta, terms.vectors))
            return cost if terms.groups is None else cost + terms.groups.cost(labels)
        return float(_pairs.cost_of_pairs(self.u, self.v, self.cost, labels))

    def objective(self, cost: float) -> float:
        """A cost in the convention of the file or recipe that the problem came from: ``sense * cost + offset``."""
        return self.sense * cost + self.offset

    def must_join_classes(self) -> Labels:
        """Canonical labels of the sets of elements that required joins connect."""
        if not len(self.must_join):
            return np.arange(self.n, dtype=np.int32)
        u, v = (np.ascontiguousarray(column) for column in self.must_join.T)
        return _pairs.connected_components(self.n, u, v)
