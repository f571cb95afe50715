"""The set partition problem: networkx graphs, matrices or pairs come in, contiguous arrays stay inside.

For a set of n elements and a cost c[a, b] for each unordered pair, find the partition that minimises the sum of the
costs of all pairs within one subset (Grötschel & Wakabayashi 1989; Chopra & Rao 1993; Bansal, Blum & Chawla 2004).
Negative costs attract, positive costs repel, and the number of subsets is not given.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Hashable, Iterable, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InfeasibleProblem, InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition import derived
from graphpart.partition.inputs import (
    LARGEST_N,
    arrays_of_graph,
    check_matrix_fits,
    check_mirrored,
    check_square,
    float_array,
    frozen,
    is_own,
    names_of,
    size_of,
    tidy_pairs,
)
from graphpart.partition.labels import Labels, canonical, check_feasible, labels_of

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LARGEST_N", "Labels", "SetPartition", "as_problem", "canonical", "check_matrix_fits"]

DENSE_FROM = 0.25  # share of pairs stored, from which on a matrix is smaller and faster than rows of neighbours
SYMMETRY = 1e-9  # relative difference between C[a, b] and C[b, a] that counts as rounding


class SetPartition:
    """A set partition problem.

    Build one from a networkx graph with this constructor, or with :meth:`from_matrix`, :meth:`from_pairs` or
    :meth:`from_similarity`. Problems are immutable.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph
        Nodes are the elements, in the order of the graph; each edge is a pair with a cost. Costs of parallel edges
        add up. A pair without an edge costs 0: it is neither forbidden nor repelled.
    cost : str
        The edge attribute that holds the cost: a finite number, ``inf`` for a pair that must be cut, ``-inf`` for a
        pair that must be joined.
    must_join, must_cut : iterable of pairs of nodes
        Pairs required in the same subset, and in different ones. The cost of a pair in `must_join` still counts.
    dense : bool, optional
        Store the costs as a matrix, or as pairs. Default: a matrix if at least a quarter of all pairs is given.

    Attributes
    ----------
    n : int
        Number of elements.
    m : int
        Number of stored pairs.
    nodes : sequence of hashables
        Names of the elements, in order.
    is_dense : bool
        Whether the costs are stored as a matrix.
    matrix : ndarray of float64, shape (n, n), or None
        Symmetric costs with zero diagonal if dense; read-only.
    u, v : ndarray of int32, shape (m,), or None
        The stored pairs if sparse, ``u < v``, in lexicographic order; read-only.
    cost : ndarray of float64, shape (m,), or None
        Their costs; ``inf`` for pairs that must be cut.
    must_join : ndarray of int32, shape (k, 2)
        Pairs of indices required in the same subset.
    offset, sense : float, int
        ``objective(cost) = sense * cost + offset``.

    Raises
    ------
    InvalidProblem
        If the graph is directed, or has a self-loop, or a cost is missing, not a number, or NaN.
    InfeasibleProblem
        If a pair is required together and apart.

    Examples
    --------
    >>> import networkx as nx
    >>> G = nx.Graph()
    >>> G.add_edge("a", "b", cost=-2.0)
    >>> G.add_edge("b", "c", cost=1.0)
    >>> p = SetPartition(G)
    >>> p.n, p.is_dense
    (3, True)
    >>> p.evaluate([{"a", "b"}, {"c"}])
    -2.0
    """

    __slots__ = (
        "_index",
        "_magnitude",
        "_must_cut",
        "_rows",
        "cost",
        "matrix",
        "must_join",
        "n",
        "nodes",
        "offset",
        "sense",
        "u",
        "v",
    )

    n: int
    nodes: Sequence[Hashable]
    matrix: NDArray[np.float64] | None
    u: NDArray[np.int32] | None
    v: NDArray[np.int32] | None
    cost: NDArray[np.float64] | None
    must_join: NDArray[np.int32]
    offset: float
    sense: int

    # ---------------------------------------------------------------------------------------------- construction

    def __init__(
        self,
        graph: nx.Graph,
        cost: str = "cost",
        *,
        must_join: Iterable[tuple[Hashable, Hashable]] = (),
        must_cut: Iterable[tuple[Hashable, Hashable]] = (),
        dense: bool | None = None,
    ) -> None:
        nodes, u, v, costs = arrays_of_graph(graph, cost, float)
        self._set_pairs(nodes, u, v, costs, must_join, must_cut, dense)

    @classmethod
    def from_matrix(
        cls,
        matrix: ArrayLike,
        nodes: Iterable[Hashable] | None = None,
        *,
        must_join: Iterable[tuple[Hashable, Hashable]] = (),
        must_cut: Iterable[tuple[Hashable, Hashable]] = (),
        dense: bool | None = None,
        offset: float = 0.0,
        sense: int = 1,
        copy: bool = True,
    ) -> SetPartition:
        """Build a problem from a symmetric matrix of costs, dense or scipy.sparse; the diagonal is ignored.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            ``matrix[a, b] == matrix[b, a]`` up to a relative difference of 1e-9, which is averaged out.
        nodes : iterable of n hashables, optional
            Names of the elements; default 0, ..., n - 1.
        must_join, must_cut, dense
            As in the constructor.
        offset, sense : float, int
            See :meth:`objective`.
        copy : bool
            False hands the matrix over, if it is a contiguous array of float64: the problem keeps it, and may change
            it.

        Raises
        ------
        InvalidProblem
            If the matrix is not square, not symmetric, or contains NaN; the message names the first such entry.

        Notes
        -----
        O(n^2); one copy of the matrix is made, unless `copy` is false.

        Examples
        --------
        >>> SetPartition.from_matrix([[0, -1], [-1, 0]]).evaluate([0, 0])
        -1.0
        """
        self = cls.__new__(cls)
        if hasattr(matrix, "tocoo"):
            coo = matrix.tocoo(copy=True)
            coo.sum_duplicates()
            check_square(coo.shape)
            data = float_array("matrix", coo.data, copy=False)
            upper, lower = coo.row < coo.col, coo.row > coo.col
            u, v, costs = coo.row[upper], coo.col[upper], data[upper]
            check_mirrored((u, v, costs), (coo.col[lower], coo.row[lower], data[lower]), SYMMETRY)
            self._set_pairs(names_of(nodes, coo.shape[0]), u, v, costs, must_join, must_cut, dense, offset, sense)
            return self
        copied = float_array("matrix", matrix, copy=copy or not is_own(matrix))
        check_square(copied.shape)
        n = len(copied)
        a, b, nonzeros = _pairs.symmetrise(copied, SYMMETRY)
        if a >= 0:
            if math.isnan(copied[a, b]):
                raise InvalidProblem(f"matrix[{a}, {b}] is nan: expected a number, inf (cut) or -inf (join)")
            raise InvalidProblem(
                f"matrix[{a}, {b}] is {copied[a, b]} but matrix[{b}, {a}] is {copied[b, a]}: expected a symmetric "
                "matrix; if both directions carry evidence, pass C + C.T"
            )
        names = names_of(nodes, n)
        if dense is None:
            dense = nonzeros >= DENSE_FROM * (n * (n - 1) // 2)
        if dense:
            self._set_matrix(names, copied, must_join, must_cut, offset, sense)
        else:
            u, v = np.nonzero(np.triu(copied, 1))
            self._set_pairs(names, u, v, copied[u, v], must_join, must_cut, False, offset, sense)
        return self

    @classmethod
    def from_pairs(
        cls,
        n: int,
        pairs: ArrayLike,
        costs: ArrayLike,
        nodes: Iterable[Hashable] | None = None,
        *,
        must_join: Iterable[tuple[Hashable, Hashable]] = (),
        must_cut: Iterable[tuple[Hashable, Hashable]] = (),
        dense: bool | None = None,
        offset: float = 0.0,
        sense: int = 1,
    ) -> SetPartition:
        """Build a problem from pairs of elements and their costs; costs of equal pairs add up.

        Parameters
        ----------
        n : int
            Number of elements.
        pairs : array_like of int, shape (m, 2)
            Indices from 0 to n - 1, in either order. Also two arrays ``(u, v)``, given as a tuple, of shape (m,).
        costs : array_like of float, shape (m,)
            Finite, ``inf`` (cut) or ``-inf`` (join).
        nodes : iterable of n hashables, optional
            Names of the elements; default 0, ..., n - 1.
        must_join, must_cut, dense
            As in the constructor.
        offset, sense : float, int
            See :meth:`objective`.

        Raises
        ------
        InvalidProblem
            If an index is out of range, a pair is a self-loop, or a cost is NaN; the message names the first such pair.

        Notes
        -----
        O(n + m).

        Examples
        --------
        >>> p = SetPartition.from_pairs(1000, [(0, 1), (1, 0), (1, 2)], [-1.0, -1.0, 3.0])
        >>> p.m, p.is_dense, p.cost.tolist()
        (2, False, [-2.0, 3.0])
        """
        self = cls.__new__(cls)
        if isinstance(pairs, tuple) and len(pairs) == 2 and all(isinstance(p, np.ndarray) for p in pairs):
            u, v = pairs
        else:
            try:
                array = np.asarray(pairs)
            except ValueError:
                raise InvalidProblem("pairs has rows of different lengths: expected (m, 2)") from None
            if array.size == 0:
                array = np.zeros((0, 2), np.int64)
            if array.ndim != 2 or array.shape[1] != 2:
                raise InvalidProblem(f"pairs has shape {array.shape}: expected (m, 2)")
            u, v = array[:, 0], array[:, 1]
        for index in (u, v):
            if index.dtype.kind not in "iu":
                raise InvalidProblem(f"pairs has dtype {index.dtype}: expected integers")
        weights = float_array("costs", costs, copy=False)
        if u.ndim != 1 or u.shape != v.shape or weights.shape != u.shape:
            raise InvalidProblem(f"{len(u)} pairs but costs of shape {weights.shape}: expected one cost per pair")
        self._set_pairs(names_of(nodes, size_of(n)), u, v, weights, must_join, must_cut, dense, offset, sense)
        return self

    @classmethod
    def from_similarity(
        cls,
        graph: nx.Graph,
        weight: str = "weight",
        threshold: float = 0.0,
        *,
        must_join: Iterable[tuple[Hashable, Hashable]] = (),
        must_cut: Iterable[tuple[Hashable, Hashable]] = (),
        dense: bool | None = None,
    ) -> SetPartition:
        """Build a problem from similarities: the cost of an edge is ``threshold - weight``.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph
            As in the constructor; for parallel edges the costs add up.
        weight : str
            The edge attribute that holds the similarity.
        threshold : float
            Similarities above it attract, below it repel.
        must_join, must_cut, dense
            As in the constructor.

        Examples
        --------
        >>> import networkx as nx
        >>> G = nx.Graph()
        >>> G.add_edge("a", "b", weight=0.75)
        >>> SetPartition.from_similarity(G, threshold=0.5).evaluate([0, 0])
        -0.25
        """
        if not isinstance(threshold, Real) or not math.isfinite(threshold):
            raise InvalidProblem(f"threshold is {threshold!r}: expected a finite number")
        self = cls.__new__(cls)
        nodes, u, v, costs = arrays_of_graph(graph, weight, lambda similarity: threshold - float(similarity))
        self._set_pairs(nodes, u, v, costs, must_join, must_cut, dense)
        return self

    def _set_pairs(
        self,
        nodes: Sequence[Hashable],
        u: NDArray[Any],
        v: NDArray[Any],
        costs: NDArray[np.float64],
        must_join: Iterable[tuple[Hashable, Hashable]],
        must_cut: Iterable[tuple[Hashable, Hashable]],
        dense: bool | None,
        offset: float = 0.0,
        sense: int = 1,
    ) -> None:
        n = len(nodes)
        self._start(nodes, offset, sense)
        low, high, costs, joins = tidy_pairs(n, u, v, costs, self._indices(must_join), self._indices(must_cut))
        if dense is None:
            dense = len(low) >= DENSE_FROM * (n * (n - 1) // 2)
        if dense:
            matrix = np.zeros((n, n)) if check_matrix_fits(n) else None
            assert matrix is not None
            matrix[low, high] = costs
            matrix[high, low] = costs
            self.matrix = frozen(matrix)
        else:
            self.u, self.v, self.cost = frozen(low), frozen(high), frozen(costs)
        self._require(joins)

    def _set_matrix(
        self,
        nodes: Sequence[Hashable],
        matrix: NDArray[np.float64],
        must_join: Iterable[tuple[Hashable, Hashable]],
        must_cut: Iterable[tuple[Hashable, Hashable]],
        offset: float,
        sense: int,
    ) -> None:
        """Take over a matrix that is already symmetric, without NaN, and nobody else's."""
        self._start(nodes, offset, sense)
        joins, cuts = self._indices(must_join), self._indices(must_cut)
        if len(matrix) and matrix.min() == -np.inf:  # before cuts are entered, which may contradict
            required = np.argwhere(np.triu(np.isneginf(matrix), 1)).astype(np.int32)
            matrix[np.isneginf(matrix)] = 0.0
            joins = np.concatenate([joins, required])
        matrix[cuts[:, 0], cuts[:, 1]] = np.inf
        matrix[cuts[:, 1], cuts[:, 0]] = np.inf
        self.matrix = frozen(matrix)
        self._require(joins)

    def _start(self, nodes: Sequence[Hashable], offset: float, sense: int) -> None:
        self.n = size_of(len(nodes))
        self.nodes = nodes
        self.offset = float(offset)
        if not math.isfinite(self.offset):
            raise InvalidProblem(f"offset is {offset}: expected a finite number")
        if sense not in (1, -1):
            raise InvalidProblem(f"sense is {sense}: expected 1 (minimise) or -1 (maximise)")
        self.sense = sense
        self.matrix = self.u = self.v = self.cost = None
        self._index: dict[Hashable, int] | None = None
        self._magnitude: tuple[float, bool] | None = None
        self._must_cut: NDArray[np.int32] | None = None
        self._rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]] | None = None

    def _indices(self, pairs: Iterable[tuple[Hashable, Hashable]]) -> NDArray[np.int32]:
        """Pairs of nodes as an (k, 2) array of indices, smaller first."""
        rows = []
        if not isinstance(pairs, Iterable):
            raise InvalidProblem(f"must_join or must_cut is {pairs!r}: expected pairs of nodes")
        for pair in pairs:
            try:
                a, b = pair
            except (TypeError, ValueError):
                raise InvalidProblem(f"{pair!r} in must_join or must_cut: expected a pair of nodes") from None
            i, j = self.index(a), self.index(b)
            if i == j:
                raise InvalidProblem(f"({a!r}, {b!r}) in must_join or must_cut: expected two different elements")
            rows.append((min(i, j), max(i, j)))
        return np.array(rows, np.int32).reshape(-1, 2)

    def _require(self, joins: NDArray[np.int32]) -> None:
        """Store the required joins; check that they contradict no required cut, and that sums of costs stay finite."""
        if not math.isfinite(self._measure()[0] * max(1, self.n)):
            raise InvalidProblem("the sum of absolute costs overflows: expected costs of a smaller magnitude")
        self.must_join = frozen(np.unique(joins, axis=0) if len(joins) else np.zeros((0, 2), np.int32))
        if not len(joins):
            return
        blocks = self.blocks()
        cuts = self.must_cut
        bad = cuts[blocks[cuts[:, 0]] == blocks[cuts[:, 1]]]
        if len(bad):
            a, b = (self.nodes[i] for i in bad[0].tolist())
            raise InfeasibleProblem(f"{a!r} and {b!r} must be cut, but required joins connect them")

    # ---------------------------------------------------------------------------------------------------- looking

    @property
    def is_dense(self) -> bool:
        return self.matrix is not None

    @property
    def m(self) -> int:
        return len(self.u) if self.u is not None else self.n * (self.n - 1) // 2

    @property
    def must_cut(self) -> NDArray[np.int32]:
        """Pairs of indices required in different subsets, shape (k, 2)."""
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
        """Whether any pair must be cut."""
        return self._measure()[1]

    @property
    def magnitude(self) -> float:
        """The largest sum of absolute costs over the pairs of one element; required cuts are left out."""
        return self._measure()[0]

    @property
    def tolerance(self) -> float:
        """What counts as zero: a difference of costs is negative if it is below ``-tolerance``.

        It is ``2**-50`` times :attr:`magnitude`: the order of the rounding error in a sum of an element's costs. All
        methods share this rule.
        """
        return 2.0**-50 * self.magnitude

    def _measure(self) -> tuple[float, bool]:
        if self._magnitude is None:
            if self.matrix is not None:
                self._magnitude = _pairs.magnitude_of_dense(self.matrix)
            else:
                self._magnitude = _pairs.magnitude_of_pairs(self.n, self.u, self.v, self.cost)
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
        """The stored pairs ``(u, v, cost)`` in lexicographic order, each of shape (m,); all pairs if dense."""
        if self.matrix is None:
            assert self.u is not None and self.v is not None and self.cost is not None
            return self.u, self.v, self.cost
        u, v = (index.astype(np.int32) for index in np.triu_indices(self.n, 1))
        return u, v, self.matrix[u, v]

    def rows(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """The stored pairs as compressed rows (starts, neighbours, costs) with 2 m entries, kept once made. O(n + m)"""
        if self._rows is None:
            self._rows = _pairs.adjacency(self.n, *self.pairs())
        return self._rows

    @property
    def graph(self) -> nx.Graph:
        """The problem as a new networkx graph with the edge attribute ``cost``; zero costs of a matrix have no edge.

        Required pairs have the cost ``inf`` or ``-inf``.
        """
        import networkx as nx

        G = nx.Graph()
        G.add_nodes_from(self.nodes)
        u, v, cost = self.pairs()
        if self.is_dense:
            stored = np.flatnonzero(cost)
            u, v, cost = u[stored], v[stored], cost[stored]
        names = self.nodes
        G.add_weighted_edges_from(
            ((names[a], names[b], c) for a, b, c in zip(u.tolist(), v.tolist(), cost.tolist(), strict=True)), "cost"
        )
        G.add_weighted_edges_from(((names[a], names[b], -math.inf) for a, b in self.must_join.tolist()), "cost")
        return G

    def __repr__(self) -> str:
        kind = "dense" if self.is_dense else "sparse"
        return f"SetPartition(n={self.n}, m={self.m}, {kind})"

    def __getstate__(self) -> dict[str, Any]:
        kept = ("n", "nodes", "matrix", "u", "v", "cost", "must_join", "offset", "sense")
        return {name: getattr(self, name) for name in kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start(state["nodes"], state["offset"], state["sense"])
        for name in ("matrix", "u", "v", "cost", "must_join"):
            array = state[name]
            setattr(self, name, None if array is None else frozen(np.ascontiguousarray(array)))

    # ------------------------------------------------------------------------------------------------- partitions

    def labels(self, partition: Any) -> Labels:
        """Canonical labels (0, 1, ... in order of first appearance) of a partition in any form.

        Parameters
        ----------
        partition : Result, array_like of n integers, mapping from nodes to labels, or iterable of sets of nodes

        Raises
        ------
        InvalidPartition
            If an element is missing or named twice, a node is unknown, or the length is wrong.
        """
        return labels_of(self, partition)

    def check_feasible(self, labels: Labels) -> None:
        """Raise InvalidPartition, naming a pair, if labels separate a required join or join a required cut."""
        check_feasible(self, labels)

    def evaluate(self, partition: Any) -> float:
        """The cost of a partition: the sum of the costs of all pairs within one subset. O(n^2) or O(m).

        Parameters
        ----------
        partition
            In any form that :meth:`labels` takes.

        Returns
        -------
        float
            ``inf`` if a required pair is violated.
        """
        return self.evaluate_labels(self.labels(partition))

    def evaluate_labels(self, labels: Labels) -> float:
        """The same for an int32 array of n labels, unchecked."""
        joins = self.must_join
        if len(joins) and (labels[joins[:, 0]] != labels[joins[:, 1]]).any():
            return math.inf
        if self.matrix is not None:
            return float(_pairs.cost_of_dense(self.matrix, labels))
        return float(_pairs.cost_of_pairs(self.u, self.v, self.cost, labels))

    def objective(self, cost: float) -> float:
        """A cost in the convention of the file or recipe that the problem came from: ``sense * cost + offset``."""
        return self.sense * cost + self.offset

    # ------------------------------------------------------------------------------------------- derived problems

    def blocks(self) -> Labels:
        """Canonical labels of the sets of elements that required joins connect."""
        if not len(self.must_join):
            return np.arange(self.n, dtype=np.int32)
        return derived.connected(self.n, self.must_join[:, 0], self.must_join[:, 1])

    def components(self) -> Labels:
        """Canonical labels of the connected components of the graph of all pairs with a non-zero cost or a requirement.

        Solving each component apart loses nothing.
        """
        return derived.components(self)

    def contract(self, labels: Labels) -> SetPartition:
        """The problem over the subsets that canonical labels name: costs between them add up, costs within are dropped.

        Its elements are the labels 0, ..., k - 1. Required cuts between elements become required cuts between subsets;
        required joins within subsets are fulfilled, those between subsets remain.
        """
        return derived.contract(self, labels)

    def restrict(self, elements: NDArray[np.integer[Any]]) -> SetPartition:
        """The problem over some elements, given by ascending indices; their nodes keep their names."""
        return derived.restrict(self, elements)


def as_problem(problem: Any) -> SetPartition:
    """A SetPartition as it is, or made from a networkx graph with the edge attribute ``cost``."""
    if isinstance(problem, SetPartition):
        return problem
    if hasattr(problem, "is_directed"):
        return SetPartition(problem)
    raise InvalidProblem(f"got {type(problem).__name__}: expected a SetPartition or a networkx graph")
