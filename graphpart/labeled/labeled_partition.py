"""The labelled partition problem: its arrays, its cost, and what clusters must obey.

Also known as asymmetric multiway cut (Kroeger et al. 2014) and node labelling multicut (Levinkov et al. 2017).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidPartition, InvalidProblem, known_arguments
from graphpart.labeled.arrays import checked_arrays, with_pairs
from graphpart.labeled.joint_costs import JointCosts
from graphpart.labeled.results import LabeledResult
from graphpart.labeled.solutions import check_feasible, classes_of
from graphpart.partition.inputs.arrays import names_of
from graphpart.partition.problem.background import pairs_within
from graphpart.partition.problem.labels import labels_of
from graphpart.partition.problem.requirements import RequirementOptions, Requirements, indices_of, with_options

if TYPE_CHECKING:
    import networkx as nx

    from graphpart.partition.problem import SetPartition

__all__ = ["LabeledPartition", "as_labeled"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]
GROUPED_PAIRS = 1_000_000  # most pairs of members of one group: each gets a table
OBEYED = "together, apart, groups and group_cost"
REFUSED = ("max_size", "n_clusters", "connected", "lifted")


class LabeledPartition(JointCosts):
    """Find clusters and classes of elements of least cost, where the costs of pairs depend on both.

    Each element `a` gets a cluster and a class ``l[a]`` from 0 to L - 1. The cost is

        sum over elements of label_costs[a, l[a]]
        + sum over pairs of joined[ab, l[a], l[b]] if a and b are in one cluster, else parted[ab, l[a], l[b]]

    The number of clusters is not given. A pair that is not listed costs 0, together or apart, in any classes.

    Parameters
    ----------
    graph : networkx.Graph
        Undirected, each edge once.
    label_costs : str
        The node attribute with a cost for each class.
    joined, parted : str
        Edge attributes: a number for all classes, or a table ``(L, L)`` with a row for each class of the node that
        comes first in the graph. Edges need not have `parted`; its default is 0.

    Attributes
    ----------
    n, m, n_classes : int
        Numbers of elements, of listed pairs and of classes.
    label_costs : ndarray of float64, shape (n, L)
        The cost of each class of each element; ``inf`` forbids it.
    u, v : ndarray of int32, shape (m,)
        The elements of each pair, ``u < v``, in lexicographic order.
    joined, parted : ndarray of float64, shape (m, L, L)
        The cost of each pair together, and apart; rows are classes of `u`, columns classes of `v`. ``inf`` forbids
        it: with ``inf`` in `parted`, a pair is required together.
    nodes : sequence
        The names of the elements.

    Raises
    ------
    InvalidProblem
        If an attribute is missing or has another shape, or a cost is NaN or ``-inf``.
    InfeasibleProblem
        If all classes of an element, or all possibilities for a pair, cost ``inf``.

    See Also
    --------
    SetPartition : the special case of one class, and of 0 as the cost of pairs apart
    FactorGraph : the special case in which all pairs cost ``inf`` together

    Notes
    -----
    The problem is also known as asymmetric multiway cut (Kroeger, Kappes, Beier, Koethe & Hamprecht 2014) and as node
    labelling multicut (Levinkov et al. 2017); panoptic segmentation is an instance of it (Abbas & Swoboda 2021). If
    `joined` is ``inf`` off the diagonals, all elements of a cluster have one class. Memory: 16 m L^2 bytes.

    Examples
    --------
    Two pixels that look like one object of class 0, and a third one of class 1:

    >>> import networkx as nx
    >>> G = nx.Graph()
    >>> G.add_node("left", costs=[0.0, 2.0])
    >>> G.add_node("right", costs=[0.5, 1.0])
    >>> G.add_node("below", costs=[3.0, 0.0])
    >>> G.add_edge("left", "right", joined=[[-1.0, float("inf")], [float("inf"), -1.0]])
    >>> G.add_edge("right", "below", joined=[[0.5, float("inf")], [float("inf"), 0.5]])
    >>> q = LabeledPartition(G, "costs")
    >>> q
    <LabeledPartition: 3 elements, 2 classes, 2 pairs
     forbidden entries 4>
    >>> q.evaluate([{"left", "right"}, {"below"}], {"left": 0, "right": 0, "below": 1})
    -0.5
    """

    __slots__ = ()

    @known_arguments
    def __init__(
        self, graph: nx.Graph, label_costs: str = "label_costs", joined: str = "joined", parted: str = "parted"
    ) -> None:
        from graphpart.labeled.graphs import arrays_of_graph

        nodes, own, pairs, together, apart = arrays_of_graph(graph, label_costs, joined, parted)
        self._set(nodes, checked_arrays(own, pairs, together, apart))

    @classmethod
    @with_options(RequirementOptions)
    def from_arrays(
        cls,
        label_costs: ArrayLike,
        pairs: ArrayLike,
        joined: ArrayLike,
        parted: ArrayLike = 0.0,
        nodes: Iterable[Hashable] | None = None,
        **options: Unpack[RequirementOptions],
    ) -> LabeledPartition:
        """Build a problem from arrays.

        Parameters
        ----------
        label_costs : array_like of float, shape (n, L)
            The cost of each class of each element, finite or ``inf`` (forbidden).
        pairs : array_like of int, shape (m, 2)
            Indices from 0 to n - 1, each pair once, in either order.
        joined, parted : array_like of float, shape (m,) or (m, L, L), or float
            The cost of each pair together, and apart, finite or ``inf``: one number for all classes, or a table with a
            row for each class of the first element of the pair and a column for each of the second.
        nodes : iterable of n hashables, optional
            Names of the elements; default 0, ..., n - 1.
        together, apart, groups, group_cost
            As :class:`SetPartition` takes them. Members of groups become listed pairs.
        max_size, n_clusters, connected, lifted
            Not possible here: an InvalidProblem.

        Raises
        ------
        InvalidProblem
            If shapes do not fit each other, a pair is out of range, a self-loop or listed twice, or a cost is NaN or
            ``-inf``; the message names the first one.
        InfeasibleProblem
            If all classes of an element, or all possibilities for a pair, cost ``inf``.

        Notes
        -----
        O(n L + m log m + m L^2).

        Examples
        --------
        >>> parted = [[[0.0, 2.0], [2.0, 0.0]]]
        >>> q = LabeledPartition.from_arrays([[0.0, 1.0], [1.0, 0.0]], [(0, 1)], [-3.0], parted)
        >>> q.evaluate([0, 0], [0, 1]), q.evaluate([0, 1], [0, 1])
        (-3.0, 2.0)
        """
        arrays = checked_arrays(label_costs, pairs, joined, parted)
        q = cls._of(names_of(nodes, len(arrays.label_costs)), arrays)
        return q.require(**options) if options else q

    @property
    def graph(self) -> nx.Graph:
        """The problem as a new networkx graph: nodes with ``label_costs``, edges with ``joined`` and ``parted``."""
        from graphpart.labeled.graphs import graph_of

        return graph_of(self)

    # -------------------------------------------------------------------------------------------------------- solutions

    def labels(self, partition: Any, *, partial: bool = False) -> Elements:
        """The clusters of a partition in any form that ``SetPartition.labels`` takes, 0, 1, ... as they first appear.

        Raises
        ------
        InvalidPartition
            If an element is missing or named twice.
        """
        return labels_of(self, partition, partial)  # type: ignore[arg-type]

    def evaluate(self, partition: Any, classes: Any = None) -> float:
        """The cost of clusters and classes; ``inf`` if they are forbidden. O(n + m)

        Parameters
        ----------
        partition : LabeledResult or a partition in any form
            For a result, `classes` may be left out.
        classes : array_like of int, shape (n,), or mapping from names, optional
            From 0 to L - 1.

        Raises
        ------
        InvalidPartition
            If they do not fit the problem.
        """
        return self._evaluate(*self._solution(partition, classes))

    def check(self, partition: Any, classes: Any = None) -> None:
        """Raise InvalidPartition, naming an element or a pair, if clusters and classes are forbidden."""
        check_feasible(self, *self._solution(partition, classes))

    def _solution(self, partition: Any, classes: Any) -> tuple[Elements, Elements]:
        if classes is None:
            if not isinstance(partition, LabeledResult):
                raise InvalidProblem("classes are missing: expected evaluate(labels, classes), or a LabeledResult")
            classes = partition
        return self.labels(partition), classes_of(self, classes)

    def with_classes(self, classes: Any) -> SetPartition:
        """The set partition problem of the clusters if classes are as given; its cost differs by a constant. O(n + m)

        Reports, questions, `extend`, doubts of pairs and pictures take it, with the labels of a result.

        Parameters
        ----------
        classes : LabeledResult, array_like of int, or mapping from names

        Raises
        ------
        InvalidPartition
            If the classes do not fit the problem, or are forbidden whatever the clusters are.

        Examples
        --------
        >>> q = LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0]], [(0, 1)], [[[0.0, -3.0], [0.0, 1.0]]])
        >>> q.with_classes([0, 1]).pairs()[2].tolist(), q.with_classes([1, 1]).pairs()[2].tolist()
        ([-3.0], [1.0])
        """
        from graphpart.labeled.halves import clusters_given

        p, constant = clusters_given(self, classes_of(self, classes))
        if not constant < math.inf:
            raise InvalidPartition("these classes are forbidden, whatever the clusters are: expected allowed ones")
        return p

    # ----------------------------------------------------------------------------------------------------- requirements

    @with_options(RequirementOptions)
    def require(self, **options: Unpack[RequirementOptions]) -> LabeledPartition:
        """The same problem with further requirements.

        Parameters
        ----------
        together, apart : iterable of pairs of nodes
            Pairs required in one cluster, and in different ones, in any classes.
        groups, group_cost
            As :class:`SetPartition` takes them: each pair of elements of one group in one cluster costs `group_cost` in
            addition, by default ``inf``. At most a million pairs.
        max_size, n_clusters, connected, lifted
            Not possible here.

        Raises
        ------
        InvalidProblem
            If a name is no element, groups have more pairs, or the requirement is not possible here.
        InfeasibleProblem
            If a pair is required together and apart.

        Examples
        --------
        >>> q = LabeledPartition.from_arrays([[0.0, 1.0], [1.0, 0.0]], [(0, 1)], [-3.0])
        >>> r = q.require(apart=[(0, 1)])
        >>> q.evaluate([0, 0], [0, 1]), r.evaluate([0, 0], [0, 1])
        (-3.0, inf)
        """
        asked = Requirements.of(options)
        for name in REFUSED:
            if getattr(asked, name) not in (None, False):
                raise InvalidProblem(f"{name} is given: a labelled partition can only require {OBEYED}")
        joins, cuts = (indices_of(self._places, getattr(asked, name), name) for name in ("together", "apart"))
        groups = asked.groups_of(self.nodes)
        made = joins[:0].T if groups is None else pairs_within(np.zeros(self.n, np.int32), groups, GROUPED_PAIRS)
        if made is None:
            raise InvalidProblem(f"groups have more than {GROUPED_PAIRS} pairs of members: expected fewer")
        a, b = made
        pairs = np.concatenate([joins, cuts, np.stack([a, b], 1)])
        joined, parted = np.zeros(len(pairs)), np.zeros(len(pairs))
        parted[: len(joins)] = joined[len(joins) : len(joins) + len(cuts)] = math.inf
        if groups is not None:
            joined[len(joins) + len(cuts) :] = groups.of_pairs(a, b)
        return type(self)._of(self.nodes, with_pairs(self._arrays, self.n, pairs, joined, parted))


def as_labeled(problem: Any) -> LabeledPartition:
    """A LabeledPartition as it is, or one of a networkx graph with its default attributes."""
    if isinstance(problem, LabeledPartition):
        return problem
    if hasattr(problem, "is_directed"):
        return LabeledPartition(problem)
    raise InvalidProblem(f"got {type(problem).__name__}: expected a LabeledPartition or a networkx graph")
