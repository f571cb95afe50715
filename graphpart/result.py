"""The results of solvers: a labeling, its recomputed cost, and a lower bound."""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from graphpart.display import Facts, Shown, frame_of, number, percent, plural, series_of
from graphpart.errors import NO_PROBLEM, InvalidOption, InvalidPartition, deprecated, warn
from graphpart.kernels.overlaps import matched

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["LabelingResult", "PartitionResult", "Result", "Status", "relative_gap", "sizes_of"]


class Status(StrEnum):
    """Why a solver stopped."""

    OPTIMAL = "optimal"  #: proven: no solution has a smaller cost
    LOCAL_OPTIMUM = "local_optimum"  #: no transformation that the method knows lowers the cost
    FEASIBLE = "feasible"  #: the method ended by its own rule, without either of the above
    NOT_FOUND = "not_found"  #: the method ended by its own rule, and a factor forbids the labeling that it has
    TIME_LIMIT = "time_limit"
    ITERATION_LIMIT = "iteration_limit"
    TARGET = "target"  #: the cost asked for was reached
    INTERRUPTED = "interrupted"  #: Ctrl-C


def relative_gap(cost: float, lower_bound: float) -> float:
    """``(cost - lower_bound) / |cost|``: 0 when proven optimal, ``inf`` when no bound is known."""
    difference = cost - lower_bound
    if difference <= 0:
        return 0.0
    return difference / abs(cost) if cost and difference < math.inf else math.inf


def sizes_of(labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """The size of the cluster of each element. O(n) if clusters have small numbers, else O(n log n)"""
    if _are_small(labels):
        return np.asarray(np.bincount(labels)[labels], np.int64)
    _, place, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    return np.asarray(sizes[place], np.int64)


def _are_small(labels: NDArray[np.integer[Any]]) -> bool:
    return len(labels) > 0 and int(labels.min()) >= 0 and int(labels.max()) <= 2 * len(labels)


ROWS = 10  # of clusters or labels that a notebook shows


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """A solution with its cost, and with a lower bound on the cost of all solutions.

    Attributes
    ----------
    labels : ndarray of int32, shape (n,)
        One label for each element or variable, in the order of the problem.
    cost : float
        The cost of `labels`, recomputed from the problem.
    objective : float
        The value of `labels` in the convention of the file or recipe that the problem came from.
    lower_bound : float
        No solution costs less; ``-inf`` if no bound is known.
    status : Status
        Why the solver stopped.
    message : str
        Why the solver stopped and what it proved, in one line of text.
    iterations : int
        Transformations applied or outer iterations made, as the method states.
    seconds : float
        Wall-clock time of the solver.
    history : tuple of (float, float)
        (seconds, cost) pairs, one for each time that the least cost so far fell; the last has the cost of the result.
    bounds : tuple of (float, float)
        (seconds, lower bound) pairs, one for each time that the lower bound rose; the last has that of the result.
        Empty when nothing is known.
    method : str
        The name of the method in the table of methods.
    nodes : sequence
        The names of elements or variables, aligned with `labels`.
    info : mapping
        Further information that the method reports, by name.
    problem : SetPartition, FactorGraph or None
        The problem that was solved, for pictures and graphs; left out when the result is pickled.
    certificate : ProofTree or None
        The proof that the result is optimal, if it was asked for (see :func:`graphpart.solve`) and could be made.
    sense : int
        1 if the objective is to be minimised, as the cost is, -1 if it is to be maximised.
    """

    labels: NDArray[np.int32] = field(repr=False)
    cost: float
    objective: float
    lower_bound: float
    status: Status
    message: str
    iterations: int
    seconds: float
    method: str
    nodes: Sequence[Hashable] = field(repr=False)
    history: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    bounds: tuple[tuple[float, float], ...] = field(default=(), repr=False)
    info: Mapping[str, Any] = field(default_factory=dict, repr=False)
    problem: Any = field(default=None, repr=False, compare=False)
    certificate: Any = field(default=None, repr=False, compare=False)
    sense: int = field(default=1, repr=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "problem": None}

    @property
    def gap(self) -> float:
        """``(cost - lower_bound) / |cost|``: 0 when proven optimal, ``inf`` when no bound is known."""
        return relative_gap(self.cost, self.lower_bound)

    @property
    def objective_bound(self) -> float:
        """`lower_bound` in the convention of `objective`: no solution has a better objective.

        For cluster editing, the least number of edits that is possible; for modularity, the largest value. NaN if the
        cost is infinite.
        """
        return math.nan if self.cost == math.inf else self.objective + self.sense * (self.lower_bound - self.cost)

    # -------------------------------------------------------------------------------------------------------- looking

    def summary(self) -> Facts:
        """Cost, bound, gap, status and more, by name: a dictionary that prints as aligned lines."""
        facts: dict[str, Any] = {"method": self.method, **self._counts(), "cost": self.cost}
        if self.objective != self.cost:
            facts |= {"objective": self.objective, "objective bound": self.objective_bound}
        facts |= {"lower bound": self.lower_bound, "gap": self._gap(), "status": str(self.status)}
        counted = {"iterations": self.iterations} if self.iterations else {}  # methods that count none have 0
        return Facts(facts | {"message": self.message, **counted, "seconds": self.seconds})

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw the solution as a graph, a map of clusters, or a picture, as fits; see the problem's method `plot`.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
        **options
            Of the problem's `plot`.

        Raises
        ------
        InvalidOption
            If the result does not contain its problem. Call ``problem.plot(result)`` instead.

        See Also
        --------
        graphpart.plotting.plot_history : cost and lower bound against time
        graphpart.plotting.plot_changes : two results side by side
        """
        return self._problem().plot(self, ax=ax, **options)

    def _problem(self) -> Any:
        if self.problem is None:
            raise InvalidOption(f"the problem of this result is None; {NO_PROBLEM}, as in problem.plot(result)")
        return self.problem

    def _gap(self) -> str:
        """The gap, and what it is not if the bound is one for other problems, too, as of limits of sizes."""
        beside = self.info.get("bound")
        return percent(self.gap) + (f" to the bound {beside}" if beside else "")

    def _counts(self) -> dict[str, Any]:
        return {"labels": len(self.labels)}

    def _facts(self) -> dict[str, Any]:
        known = {} if self.lower_bound == -math.inf else {"lower bound": self.lower_bound, "gap": self._gap()}
        return {"method": self.method, "status": str(self.status), **known, "seconds": float(f"{self.seconds:.3g}")}


@dataclass(frozen=True, repr=False)
class PartitionResult(Result):
    """A :class:`Result` whose labels name clusters.

    Clusters are called 0, 1, and so on, in order of their first appearance.

    If the start of the method was a result, clusters keep their numbers from it as far as they share elements, so that
    a number may be missing, and new clusters have numbers above all old ones.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0], nodes=["ann", "bob", "cid"])
    >>> r = gp.solve(p)
    >>> r.n_clusters, r.clusters
    (2, [{...}, {'cid'}])
    >>> r.to_frame()
      element  cluster  size
    0     ann        0     2
    1     bob        0     2
    2     cid        1     1
    """

    _keeps_numbers: ClassVar[bool] = False  # whether numbers of clusters are those of an older result

    @property
    def partition(self) -> list[set[Hashable]]:
        """The clusters as a list of sets of nodes, as networkx community functions return them, in order of labels."""
        present, place = np.unique(self.labels, return_inverse=True)
        subsets: list[set[Hashable]] = [set() for _ in present]
        for node, k in zip(self.nodes, place.tolist(), strict=True):
            subsets[k].add(node)
        return subsets

    @property
    def clusters(self) -> list[set[Hashable]]:
        """The same as `partition`."""
        return self.partition

    @property
    def n_clusters(self) -> int:
        """The number of clusters."""
        if _are_small(self.labels):
            return int(np.count_nonzero(np.bincount(self.labels)))
        return len(np.unique(self.labels))

    @property
    def subsets(self) -> int:
        """The former name of `n_clusters`."""
        deprecated("result.subsets", "result.n_clusters")
        return self.n_clusters

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each element, in the order of the problem: `element`, `cluster` and its `size`.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose data frame.

        Raises
        ------
        MissingDependency
            If the library is not installed.
        """
        return frame_of(self._columns(), library)

    def _columns(self) -> dict[str, Any]:
        return {"element": self.nodes, "cluster": self.labels, "size": sizes_of(self.labels)}

    def changes(self, old: Any, library: str = "pandas") -> Any:
        """Which elements are in another cluster than in an old result: a data frame with a row for each.

        Clusters of both results are matched by the elements that they share, most of them first, and those of the same
        number among equally many. If the result is from :func:`graphpart.partition.extend`, and at least half of the
        elements have the number that they had, clusters of the same number come first. An element has moved if its
        cluster is not matched to the one that it was in.

        Parameters
        ----------
        old : PartitionResult, or labels, mapping or list of sets
            Of the same elements or others; they are compared by name. Labels of a result are kept, others are numbered.
        library : {"pandas", "polars", "pyarrow"}
            Whose data frame.

        Returns
        -------
        DataFrame
            With the columns `element`, `before` (the number of the cluster in the old result), `after` (that in this
            one) and `reason`. A number is -1 if an element is in one of the results only. Clusters of both results that
            share elements change together, and have one reason: "required", if the old clusters violate a requirement
            of the problem; else "new elements", if one is among them; else "lower cost", "same cost" or "higher cost"
            of the new clusters: these changes do not follow from what is required. "not known" stands for all of these
            where the result has lost its problem.

        Raises
        ------
        InvalidPartition
            If `old` is no partition, or no result and this one has lost its problem.
        MissingDependency
            If the library is not installed.

        Warns
        -----
        GraphPartWarning
            If an element has moved to a cluster of the same number, because the results number clusters otherwise.

        Examples
        --------
        >>> import graphpart as gp
        >>> p = gp.SetPartition.from_pairs(4, [(0, 1), (2, 3)], [-1.0, -1.0], nodes=["ann", "bob", "cid", "dan"])
        >>> r = gp.solve(p)
        >>> gp.solve(p.require(apart=[("ann", "bob")]), initial=r).changes(r)
          element  before  after    reason
        0     bob       0      2  required
        """
        nodes: Any = list(self.nodes)
        after: Any = self.labels.astype(np.int64)
        if not isinstance(old, PartitionResult):
            if self.problem is None:
                raise InvalidPartition(
                    f"old is of type {type(old).__name__}: expected a result, since this one has lost its problem"
                )
            before: Any = np.asarray(self.problem.labels(old, partial=True), np.int64)
        elif old.nodes is self.nodes or old.nodes == self.nodes:
            before = old.labels.astype(np.int64)
        else:
            was = dict(zip(old.nodes, old.labels.tolist(), strict=True))
            before = np.fromiter((was.pop(node, -1) for node in nodes), np.int64, len(nodes))
            nodes += list(was)
            before = np.concatenate([before, np.array(list(was.values()), np.int64)])
            after = np.concatenate([after, np.full(len(was), -1)])
        mine, place = np.unique(after, return_inverse=True)
        theirs, old_place = np.unique(before, return_inverse=True)
        reasons = np.full(len(nodes), "not known", object)
        if self.problem is not None:
            n = len(self.nodes)
            codes = np.where(before[:n] < 0, -1, old_place[:n])
            reasons[:n] = self.problem._reasons(codes, place[:n].astype(np.int32) - int(after.min(initial=0) < 0))
        reasons[after < 0] = "gone"
        both = (before >= 0) & (after >= 0)
        at = np.minimum(np.searchsorted(theirs, mine), len(theirs) - 1)
        same = np.where(theirs[at] == mine, at, -1) if len(theirs) else at
        kept = self._keeps_numbers and bool(2 * np.count_nonzero(both & (before == after)) >= np.count_nonzero(both))
        counterpart = np.append(theirs, -2)[
            matched(place, np.where(both, old_place, -1), len(mine), len(theirs), same, same_first=kept)
        ]
        moved = np.flatnonzero((counterpart[place] != before) | (after < 0))
        if (before[moved] == after[moved]).any():
            warn(
                "clusters of the two results are numbered otherwise, so that equal numbers before and after mean "
                "different clusters: gp.solve(..., initial=old) keeps the numbers"
            )
        columns = {"before": before[moved], "after": after[moved], "reason": reasons[moved].tolist()}
        return frame_of({"element": [nodes[i] for i in moved.tolist()], **columns}, library)

    def to_series(self) -> Any:
        """A pandas Series of the cluster of each element, indexed by element: ``df["id"].map(result.to_series())``."""
        return series_of(self.labels, self.nodes, "cluster", "element")

    def to_networkx(self) -> nx.Graph:
        """The problem as a networkx graph, its nodes with the attribute `cluster`, its edges with `cost` and `joined`.

        Raises
        ------
        InvalidOption
            If the result has come without its problem.
        """
        import networkx as nx

        G = self._problem().graph
        label = dict(zip(self.nodes, self.labels.tolist(), strict=True))
        nx.set_node_attributes(G, label, "cluster")
        for a, b, data in G.edges(data=True):
            data["joined"] = label[a] == label[b]
        return G

    def to_igraph(self, graph: Any = None) -> Any:
        """The clusters as an ``igraph.VertexClustering``: with `modularity`, `crossing()`, `cluster_graph()`, ...

        Parameters
        ----------
        graph : igraph.Graph, optional
            A graph whose vertices are the elements: by their attribute `name`, if they have it, else in the order of
            the problem. Default: a new graph of the problem, its edges with the attribute `cost`.

        Raises
        ------
        MissingDependency
            If igraph is not installed.
        InvalidPartition
            If the vertices of the graph are not the elements.
        InvalidOption
            If no graph is given, and the result has come without its problem.

        Examples
        --------
        >>> import graphpart as gp
        >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0])
        >>> list(gp.solve(p).to_igraph())  # doctest: +SKIP
        [[0, 1], [2]]
        """
        from graphpart.adapters.igraph import clustering_of, graph_of

        if graph is None:
            problem = self._problem()
            graph = graph_of(self.nodes, *problem._listed())
        return clustering_of(graph, self.nodes, self.labels)

    def _counts(self) -> dict[str, Any]:
        sizes = np.unique(self.labels, return_counts=True)[1]  # labels of an extended result need not be 0, 1, ...
        facts: dict[str, Any] = {"elements": len(self.labels), "clusters": len(sizes)}
        if len(sizes):
            facts |= {"largest": int(sizes.max()), "alone": int((sizes == 1).sum())}
        return facts

    def _title(self) -> str:
        clusters, elements = plural(self.n_clusters, "cluster"), plural(len(self.labels), "element")
        return f"{type(self).__name__}: {clusters} of {elements}, cost {number(self.cost)}"

    def _preview(self) -> tuple[Sequence[str], Any]:
        labels, sizes = np.unique(self.labels, return_counts=True)
        rises = None if self.problem is None else self.problem._move_rises(self.labels)
        rows = []
        for k in np.argsort(-sizes, kind="stable")[:ROWS].tolist():
            members = np.flatnonzero(self.labels == labels[k])[:5].tolist()
            names = ", ".join(str(self.nodes[i]) for i in members)
            row = [int(labels[k]), int(sizes[k]), names + (", ..." if sizes[k] > len(members) else "")]
            if rises is not None:  # which element it would cost least to move
                mine = np.flatnonzero(self.labels == labels[k])
                least = int(mine[np.argmin(rises[mine])])
                rise = f" (+{rises[least]:.4g})" if math.isfinite(rises[least]) else ""
                row.append(f"{self.nodes[least]}{rise}" if rise else "")
            rows.append(tuple(row))
        if len(labels) > ROWS:
            rows.append(("...",) * (3 if rises is None else 4))
        heads = ("cluster", "size", "elements", "least sure (to move it costs)")
        return heads[: 3 if rises is None else 4], rows


@dataclass(frozen=True, repr=False)
class LabelingResult(Result):
    """A :class:`Result` whose labels are indices into the domains of variables.

    `labels` is flat, also for an image: :meth:`to_array` has the shape of the image, and :meth:`plot` draws it.
    """

    @property
    def labeling(self) -> dict[Hashable, int]:
        """The label of each variable by its name."""
        return dict(zip(self.nodes, self.labels.tolist(), strict=True))

    def to_array(self) -> NDArray[np.int32]:
        """The labels as an array of the shape of the grid: those of an image as an image.

        Raises
        ------
        InvalidOption
            If the variables are not the cells of a grid, or the result has come without its problem.
        """
        array: NDArray[np.int32] = self._problem().to_array(self)
        return array

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each variable, in the order of the problem: `variable` and `label`.

        Parameters
        ----------
        library : {"pandas", "polars", "pyarrow"}
            Whose data frame.

        Raises
        ------
        MissingDependency
            If the library is not installed.
        """
        return frame_of({"variable": self.nodes, "label": self.labels}, library)

    def to_series(self) -> Any:
        """A pandas Series of the label of each variable, indexed by variable."""
        return series_of(self.labels, self.nodes, "label", "variable")

    def to_networkx(self) -> nx.Graph:
        """The bipartite graph of the problem, its variables with the attribute `label`.

        Raises
        ------
        InvalidOption
            If the result has come without its problem.
        """
        import networkx as nx

        G = self._problem().graph
        nx.set_node_attributes(G, self.labeling, "label")
        return G

    def _counts(self) -> dict[str, Any]:
        return {"variables": len(self.labels)}

    def _title(self) -> str:
        shape = getattr(self.problem, "shape", None)
        grid = "" if shape is None else f" (to_array() has the shape {' x '.join(map(str, shape))})"
        return f"{type(self).__name__}: {plural(len(self.labels), 'variable')}{grid}, cost {number(self.cost)}"

    def _preview(self) -> tuple[Sequence[str], Any]:
        shape, names = getattr(self.problem, "shape", None), list(self.nodes[:ROWS])
        if shape is not None:  # of the first pixels, their places
            names = [tuple(map(int, np.unravel_index(k, shape))) for k in range(len(names))]
        first = zip(names, self.labels[:ROWS].tolist(), strict=True)
        more = [("...", "...")] if len(self.labels) > ROWS else []
        return ("variable", "label"), [*first, *more]
