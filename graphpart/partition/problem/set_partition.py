"""The set partition problem, built from networkx graphs, matrices or pairs, and stored in contiguous arrays.

For a set of n elements and a cost c[a, b] for each unordered pair, find the partition that minimises the sum of the
costs of all pairs within one subset (Grötschel & Wakabayashi 1989; Chopra & Rao 1993; Bansal, Blum & Chawla 2004).
Negative costs attract, positive costs repel, and the number of subsets is not given.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import Hinting, InvalidProblem, known_arguments
from graphpart.partition.inputs.arrays import (
    Places,
    advice,
    arrays_of_graph,
    check_cancelled,
    names_of,
    node_attribute,
    pairs_and_costs,
    size_of,
)
from graphpart.partition.problem import derived
from graphpart.partition.problem.from_others import FromOthers
from graphpart.partition.problem.labels import check_connected, check_feasible, labels_of
from graphpart.partition.problem.lifted import lifted_pairs
from graphpart.partition.problem.misreadings import check_lifted, check_name, check_requirements
from graphpart.partition.problem.pair_costs import DENSE_FROM, Labels, Pairs
from graphpart.partition.problem.requirements import ClusterOptions, ProblemOptions, Requirements, with_options

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["SetPartition", "as_problem"]


class SetPartition(FromOthers, metaclass=Hinting):
    """A set partition problem.

    Build one from a graph with this constructor, or with :meth:`from_frame` (a row for each pair), :meth:`from_pairs`,
    :meth:`from_matrix`, :meth:`from_scipy`, :meth:`from_igraph`, :meth:`from_similarity`, :meth:`from_embeddings`,
    :meth:`from_splink` or :meth:`from_affinities`.
    Problems are immutable.

    Parameters
    ----------
    graph : networkx.Graph or MultiGraph, or igraph.Graph
        Nodes are the elements, in the order of the graph; each edge is a pair with a cost. Costs of parallel edges
        add up. A pair without an edge costs `missing`.
    cost : str
        The edge attribute that holds the cost: a finite number, ``inf`` for a pair that must be cut, ``-inf`` for a
        pair that must be joined.
    dense : bool, optional
        Store the costs as a matrix, or as pairs. Default: a matrix if at least a quarter of all pairs is given, or if
        there is a background and at most 1000 elements.
    missing : float, optional
        The cost of a pair that is not listed. The default is 0, except for the scores of :meth:`from_frame` and
        :meth:`from_splink`, where it is derived. With 0, joining the pair is free; with a positive cost, elements
        are kept apart unless listed pairs attract. It is also the cost of a pair in `together`, or with the cost
        ``-inf``, that is not listed with another cost.
    background : tuple ``(beta, w)`` or ``(beta, x, y)``, or list of such tuples, optional
        A term that is added to the cost of every pair, listed or not: ``beta * w[a] * w[b]``, or ``beta * (x[a] * y[b]
        + y[a] * x[b])``. Vectors are arrays with a weight for each element, or mappings from nodes to weights. Neither
        `missing` nor `background` takes memory for pairs. See :meth:`from_modularity`. Default: the graph
        attribute ``background``, which :attr:`graph` writes.
    together, apart, groups, group_cost, max_size, n_clusters, connected, lifted
        What clusters must obey, see :class:`Requirements <graphpart.partition.problem.requirements.Requirements>`. A
        text in `groups` names a node attribute. If the sources of records do contain duplicates, a finite `group_cost`
        says how sure one is that they do not, see :doc:`/how-to/one-of-each-source`. `lifted` is a graph of the same
        library, whose edges have a cost in the same attribute, or triples of two nodes and a cost, a data frame of
        these three columns, or a tuple (pairs, costs): these pairs have a cost, but do not connect. With it, or with
        ``connected=True``, every cluster must be connected by edges of `graph`, also by those of cost 0, see
        :doc:`/how-to/connected-clusters`. An edge of both graphs costs the sum. Default: the graph attribute
        ``lifted``, which :attr:`graph` writes. ``must_join`` and ``must_cut`` are accepted in place of `together` and
        `apart`. Methods that cannot obey something refuse the problem.

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
        The costs of the stored pairs, without the background; ``inf`` for pairs that must be cut.
    lifted : ndarray of bool, shape (m,), or None
        Which of the stored pairs are lifted; all others are base pairs. None if clusters need not be connected.
    background : Background or None
        A term that is part of the cost of every pair: a stored pair costs its entry in `cost` plus its background, any
        other pair costs its background. None if it is 0, or if `matrix` includes it. It has the attributes `terms`,
        `constant` (a number, or None), `repels` and `groups`.
    groups : Groups or None
        The groups with their prices, in all representations.
    must_join : ndarray of int32, shape (k, 2)
        Pairs of indices required in the same cluster.
    offset, sense : float, int
        ``objective(cost) = sense * cost + offset``.

    Raises
    ------
    InvalidProblem
        If the graph is directed, or has a self-loop, or a cost is missing, not a number, or NaN, or groups do not fit.
    InfeasibleProblem
        If a pair is required together and apart, or two elements together of which a cluster has at most one, or limits
        contradict each other or what is required.

    Warns
    -----
    GraphPartWarning
        If `cost` names a weight, sign, similarity, score or probability, or many costs are infinite.

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

    __slots__ = ()

    # ---------------------------------------------------------------------------------------------- construction

    @with_options(ProblemOptions)
    def __init__(self, graph: nx.Graph, cost: str = "cost", **options: Unpack[ProblemOptions]) -> None:
        from graphpart.partition.problem.graphs import with_graph_attributes

        nodes, u, v, costs = arrays_of_graph(graph, cost, float)
        check_name(cost, "attribute")
        lifted, told = None, "lifted" in options
        options = with_graph_attributes(graph, nodes, options)
        if (other := options.get("lifted")) is not None:
            lifted = lifted_pairs(other, len(nodes), Places(nodes), cost)
        self._build(nodes, (u, v, costs), options, lifted, partial(node_attribute, graph))
        if told:
            check_lifted(self, lifted)
        check_requirements(self, costs)

    @classmethod
    @with_options(ProblemOptions, "missing", "background", "connected", "lifted")
    def from_matrix(
        cls,
        matrix: ArrayLike,
        nodes: Iterable[Hashable] | None = None,
        *,
        offset: float = 0.0,
        sense: int = 1,
        copy: bool = True,
        **options: Unpack[ProblemOptions],
    ) -> SetPartition:
        """Build a problem from a symmetric matrix of costs, dense or scipy.sparse; the diagonal is ignored.

        Parameters
        ----------
        matrix : array_like, shape (n, n)
            The matrix, also as a data frame. ``matrix[a, b]`` and ``matrix[b, a]`` have to be equal up to rounding, of
            which the mean is taken: a relative difference of 1e-9, or 1e-5 in single precision, or some units in the
            last place of the largest entry.
        nodes : iterable of n hashables, optional
            Names of the elements; default: the labels of a data frame, else 0, ..., n - 1.
        offset, sense : float, int
            See :meth:`objective`.
        copy : bool
            With False, a contiguous array of float64 is not copied: the problem uses it, and may change it.
        dense, together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor.

        Raises
        ------
        InvalidProblem
            If the matrix is not square, not symmetric, or contains NaN; the message names the first such entry.

        Warns
        -----
        GraphPartWarning
            If entries of the diagonal differ and are larger than all others, or are equal and as large as those of
            similarities.

        Notes
        -----
        O(n^2); one copy of the matrix is made, unless `copy` is false.

        Examples
        --------
        >>> SetPartition.from_matrix([[0, -1], [-1, 0]]).evaluate([0, 0])
        -1.0
        """
        from graphpart.partition.inputs.matrices import check_diagonal, matrix_and_names, sparse_pairs, symmetric

        if hasattr(matrix, "tocoo"):
            n, pairs = sparse_pairs(matrix)
            check_diagonal(matrix)
            p = cls.__new__(cls)._build(names_of(nodes, n), pairs, options)._in_units(offset, sense)
            check_requirements(p, pairs[2])
            return p
        given, nodes = matrix_and_names(matrix, nodes)
        copied, nonzeros = symmetric(given, copy)
        n = len(copied)
        if options.get("dense") is None:
            options["dense"] = nonzeros >= DENSE_FROM * (n * (n - 1) // 2)
        p = cls._of_symmetric(names_of(nodes, n), copied, options)._in_units(offset, sense)
        if copy:
            check_requirements(p, given)
        return p

    @classmethod
    @with_options(ProblemOptions)
    def from_pairs(
        cls,
        n: int,
        pairs: ArrayLike,
        costs: ArrayLike,
        nodes: Iterable[Hashable] | None = None,
        *,
        offset: float = 0.0,
        sense: int = 1,
        **options: Unpack[ProblemOptions],
    ) -> SetPartition:
        """Build a problem from pairs of elements and their costs; costs of equal pairs add up.

        A pair that is not listed costs `missing`: 0 by default, so joining it is free. For identifiers other than
        indices, see :meth:`from_frame`.

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
        dense, missing, background, together, apart, groups, group_cost, max_size, n_clusters
            As in the constructor.
        offset, sense : float, int
            See :meth:`objective`.
        lifted : tuple (pairs, costs), triples or data frame, optional
            Lifted pairs and their costs, by indices. With them, every cluster has to be
            connected by `pairs`, also by those of cost 0, while lifted pairs only have a cost. The costs of a pair
            that is in both add up.
        connected : bool
            Whether every cluster has to be connected by `pairs`, also without lifted pairs.

        Raises
        ------
        InvalidProblem
            If an index is out of range, a pair is a self-loop, or a cost is NaN; the message names the first such pair.

        Warns
        -----
        GraphPartWarning
            If most pairs are listed with opposite costs, which add up to 0.

        Notes
        -----
        O(n + m).

        Examples
        --------
        >>> p = SetPartition.from_pairs(1000, [(0, 1), (1, 0), (1, 2)], [-1.0, -1.0, 3.0])
        >>> p.m, p.is_dense, p.cost.tolist()
        (2, False, [-2.0, 3.0])

        If all that is known of other pairs is that they are probably different:

        >>> p = SetPartition.from_pairs(100_000, [(0, 1), (1, 2)], [-2.0, -1.0], missing=0.5)
        >>> p.evaluate([0, 0, 0] + list(range(1, 99_998)))
        -2.5

        A chain whose ends belong together, so that the second pair is joined although it repels:

        >>> p = SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 0.5], lifted=([(0, 2)], [-2.0]))
        >>> p.lifted.tolist(), p.evaluate([0, 0, 0])
        ([False, True, False], -2.5)
        >>> p.evaluate([0, 1, 1])
        0.5
        """
        listed, lifted = pairs_and_costs(pairs, costs), None
        names = names_of(nodes, size_of(n))
        if (other := options.get("lifted")) is not None:
            lifted = lifted_pairs(other, len(names), None)
        p = cls.__new__(cls)._build(names, listed, options, lifted)._in_units(offset, sense)
        left = np.count_nonzero(np.asarray(p.cost)) if p.matrix is None else np.count_nonzero(p.matrix) // 2
        if lifted is None and 3 * left < len(listed[2]):  # else most pairs are not listed twice, or keep a cost
            check_cancelled(*listed, len(names))
        check_requirements(p, listed[2])
        return p

    @property
    def graph(self) -> nx.Graph:
        """The problem as a new networkx graph with the edge attribute ``cost``; zero costs of a matrix have no edge.

        Required pairs have the cost ``inf`` or ``-inf``. Pairs that must be joined and have a cost besides keep it, and
        are listed in the graph attribute ``together``. A background is stored in the graph attribute ``background``,
        groups in ``groups`` and limits in ``limits``; lifted pairs are the edges of the graph in ``lifted``. The costs
        of edges do not include a background and groups. ``SetPartition(p.graph)`` is the same problem. Weights, groups
        and lifted pairs are stored by the names of nodes, so that subgraphs, and graphs with the nodes in another
        order, keep them.
        """
        from graphpart.partition.problem.graphs import to_graph

        return to_graph(self)

    @known_arguments
    def plot(self, partition: Any = None, ax: Any = None, *, kind: str = "auto") -> Any:
        """Draw the clusters of a partition, as fits their number; without a partition, the costs.

        Parameters
        ----------
        partition : Result or a partition in any form, optional
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure.
        kind : {"auto", "graph", "map", "image", "matrix"}
            What is drawn:

            * "graph": elements, cluster by cluster, with lines for pairs. Blue pairs attract, red ones repel. Pairs
              against the partition are in full colour; of pairs that agree with it, those within clusters are faint.
              Lifted pairs are thin dotted lines.
            * "map": a disc for each cluster, as large as it has members, in the colour of its doubt; lines are summed
              costs.
            * "image": the elements of a grid as a picture, with outlines; planes of a volume side by side.
            * "matrix": the costs, its rows and columns ordered by cluster. White pairs have no cost. A cell that stands
              for several pairs has their mean cost.

            The default is an image for elements of a grid, a graph for at most 60 elements, a map for more, and a
            matrix without a partition.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingDependency
            If matplotlib is not installed.
        """
        from graphpart.plotting import plot_partition

        return plot_partition(self, partition, ax, kind=kind)

    def _title(self) -> str:
        from graphpart.partition.problem.showing import title

        return title(self)

    def _facts(self) -> dict[str, Any]:
        from graphpart.partition.problem.showing import facts

        return facts(self)

    def _preview(self) -> tuple[Sequence[str], Any]:
        from graphpart.partition.problem.showing import preview

        return preview(self)

    # ------------------------------------------------------------------------------------------------- partitions

    def labels(self, partition: Any, *, partial: bool = False) -> Labels:
        """Canonical labels of a partition in any form, numbered from 0 in order of first appearance.

        Parameters
        ----------
        partition : Result, array_like of n integers, mapping from nodes to labels, or iterable of sets of nodes
            Also a Series of pandas: its index names the elements, unless it is 0, 1, ... as by default.
        partial : bool
            Allow elements to be left out: those that a mapping does not name, that are in no set, that have the label
            -1 (in a mapping also None or NaN), or that a result of another problem does not have. They get the label
            -1. Elements of the other problem that this one does not have are ignored.

        Raises
        ------
        InvalidPartition
            If an element is missing or named twice, a node is unknown, or the length is wrong.
        """
        return labels_of(self, partition, partial)

    def _check_feasible(self, labels: Labels) -> None:
        """Raise InvalidPartition, naming a pair, if labels separate a required join or join a required cut."""
        check_feasible(self, labels)

    def evaluate(self, partition: Any) -> float:
        """The cost of a partition: the sum of the costs of all pairs within one cluster.

        O(n^2) for a matrix, else O(n + m).

        Parameters
        ----------
        partition
            In any form that :meth:`labels` takes.

        Returns
        -------
        float
            ``inf`` if a required pair is violated.

        Raises
        ------
        InvalidPartition
            If a cluster is not connected and has to be; the message names two of its elements.
        """
        labels = self.labels(partition)
        if self.lifted is not None and self._evaluate_labels(labels) == math.inf:
            check_connected(self, labels)
        return self._evaluate_labels(labels)

    # ------------------------------------------------------------------------------------------- derived problems

    def _components(self) -> Labels:
        """Canonical labels of the connected components of the graph of all pairs with a non-zero cost or a requirement.

        Solving each component separately gives an optimum. With a background that only repels, these are the components
        of attracting pairs.
        """
        return derived.components(self)

    def _contract(self, labels: Labels) -> SetPartition:
        """The problem over the subsets of canonical labels: costs between subsets add up, costs within are dropped.

        Its elements are the labels 0, ..., k - 1. Required cuts between elements become required cuts between subsets.
        Required joins within subsets are fulfilled; required joins between subsets remain.
        """
        return derived.contract(self, labels)

    def _restrict(self, elements: NDArray[np.integer[Any]]) -> SetPartition:
        """The problem over some elements, given by ascending indices; their nodes keep their names."""
        return derived.restrict(self, elements)

    @with_options(ClusterOptions)
    def require(self, together: Pairs = (), apart: Pairs = (), **options: Unpack[ClusterOptions]) -> SetPartition:
        """The same problem with further requirements, as corrections of a result.

        Parameters
        ----------
        together, apart : iterable of pairs of nodes
            Pairs required in the same cluster, and in different ones, besides those that are required already.
        groups, group_cost, max_size, n_clusters
            As in the constructor. Groups are in addition to those that the problem has, limits in place of them:
            ``n_clusters=(1, None)`` lifts a limit of the number.
        connected : bool
            Whether every cluster must be connected by the pairs that the problem lists.
        lifted : tuple (pairs of nodes, costs), triples, data frame or graph
            Further pairs, which do not connect; their costs are added to those that the pairs have.

        Returns
        -------
        SetPartition
            A new problem, which shares the arrays of this one. ``gp.solve(new, initial=result)`` starts from a result
            for the old one: it is repaired where it violates what is required, and clusters that do not change keep
            their numbers.

        Raises
        ------
        InvalidProblem
            If a name is no element.
        InfeasibleProblem
            If no partition satisfies what is required, as far as simple counts show.

        Examples
        --------
        >>> import graphpart as gp
        >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-2.0, 1.0, -3.0])
        >>> r = gp.solve(p)
        >>> q = p.require(together=[(1, 2)], apart=[(0, 1)])
        >>> s = gp.solve(q, initial=r)
        >>> s.partition, s.cost
        ([{0}, {1, 2, 3}], -2.0)
        """
        asked: dict[str, Any] = {"together": together, "apart": apart, **options}
        return derived.requiring(self, Requirements.of(asked))

    def _move_rises(self, labels: Labels) -> NDArray[np.float64] | None:
        """The cost of moving each element, for displays; see `moves.move_rises`."""
        from graphpart.partition.problem.forms import explicit
        from graphpart.partition.problem.moves import move_rises

        p = self if self.background is None else explicit(self)
        return None if p is None else move_rises(p, labels)

    def _reasons(self, old: NDArray[np.int64], labels: Labels) -> NDArray[Any]:
        """Why the cluster of each element changed; see `staying.reasons`."""
        from graphpart.partition.problem.staying import reasons

        return reasons(self, old, labels)

    def _to_dense(self) -> SetPartition:
        """The same problem with the costs of all pairs in a matrix, a background included; itself if it has one.

        Raises
        ------
        InvalidProblem
            If the matrix does not fit into memory.

        Examples
        --------
        >>> p = SetPartition.from_pairs(3, [(0, 1)], [-2.0], missing=0.5, dense=False)
        >>> p._to_dense().matrix.tolist()
        [[0.0, -2.0, 0.5], [-2.0, 0.0, 0.5], [0.5, 0.5, 0.0]]
        """
        from graphpart.partition.problem.forms import to_dense

        return to_dense(self)


def as_problem(problem: Any) -> SetPartition:
    """A SetPartition as it is, that of an Instance, or one made from a graph with the edge attribute ``cost``.

    Raises
    ------
    InvalidProblem
        If it is none of these.
    """
    if isinstance(problem, SetPartition):
        return problem
    if isinstance(problem, tuple) and isinstance(getattr(problem, "problem", None), SetPartition):
        return problem.problem  # type: ignore[attr-defined, no-any-return]
    if hasattr(problem, "is_directed"):
        return SetPartition(problem)
    raise InvalidProblem(f"got {type(problem).__name__}: expected a SetPartition or a networkx graph{advice(problem)}")
