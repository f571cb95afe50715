"""Results of labelled partitions, and the way from the solution of a method to its result."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES, Ending, result_of
from graphpart.display import number, plural
from graphpart.errors import InvalidOption
from graphpart.kernels._pairs import connected_components
from graphpart.partition.inputs.arrays import frozen
from graphpart.partition.problem.labels import canonical
from graphpart.result import PartitionResult, Status, sizes_of
from graphpart.stopping import Stopping

if TYPE_CHECKING:
    import networkx as nx

    from graphpart.labeled.joint_costs import JointCosts

__all__ = ["LabeledResult", "finish"]

Elements = NDArray[np.int32]


@dataclass(frozen=True, repr=False)
class LabeledResult(PartitionResult):
    """A :class:`PartitionResult` of a labelled partition: also the class of each element.

    Attributes
    ----------
    classes : ndarray of int32, shape (n,)
        The class of each element, from 0 to L - 1; `labels` has its cluster.

    Examples
    --------
    >>> import graphpart as gp
    >>> q = gp.LabeledPartition.from_arrays([[0.0, 2.0], [1.0, 0.0], [0.0, 1.0]], [(0, 1), (1, 2)], [-3.0, 1.0])
    >>> r = gp.solve(q)
    >>> r.labels.tolist(), r.classes.tolist(), r.cost
    ([0, 0, 1], [0, 1, 0], -3.0)
    >>> r.to_frame()
       element  cluster  class  size
    0        0        0      0     2
    1        1        0      1     2
    2        2        1      0     1
    """

    classes: Elements = field(default_factory=lambda: np.zeros(0, np.int32), repr=False)

    @property
    def labeling(self) -> dict[Hashable, int]:
        """The class of each element by its name."""
        return dict(zip(self.nodes, self.classes.tolist(), strict=True))

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Not possible: an InvalidOption, which says what to draw instead."""
        raise InvalidOption(
            "there are no pictures of labelled partitions: expected q.with_classes(result).plot(result.labels), or "
            "plt.imshow(result.labels.reshape(shape)) for pixels"
        )

    def to_networkx(self) -> nx.Graph:
        """The problem as a networkx graph, its nodes with `cluster` and `class`, its edges with the flag `together`.

        Raises
        ------
        InvalidOption
            If the result has come without its problem.
        """
        import networkx as nx

        G = self._problem().graph
        label = dict(zip(self.nodes, self.labels.tolist(), strict=True))
        nx.set_node_attributes(G, label, "cluster")
        nx.set_node_attributes(G, self.labeling, "class")
        nx.set_edge_attributes(G, {(a, b): label[a] == label[b] for a, b in G.edges()}, "together")
        return G

    def to_igraph(self, graph: Any = None) -> Any:
        """The clusters as an ``igraph.VertexClustering`` of a graph that is given."""
        if graph is None:
            raise InvalidOption("graph is missing: expected an igraph.Graph whose vertices are the elements")
        return super().to_igraph(graph)

    def _columns(self) -> dict[str, Any]:
        return {"element": self.nodes, "cluster": self.labels, "class": self.classes, "size": sizes_of(self.labels)}

    def _counts(self) -> dict[str, Any]:
        return {**super()._counts(), "classes": len(np.unique(self.classes))}

    def _title(self) -> str:
        clusters, elements = plural(self.n_clusters, "cluster"), plural(len(self.labels), "element")
        classes = plural(len(np.unique(self.classes)), "class", "classes")
        return f"{type(self).__name__}: {clusters} of {elements} in {classes}, cost {number(self.cost)}"

    def _preview(self) -> tuple[Sequence[str], Any]:
        labels, sizes = np.unique(self.labels, return_counts=True)
        rows = []
        for k in np.argsort(-sizes, kind="stable")[:10].tolist():
            members = np.flatnonzero(self.labels == labels[k])
            names = ", ".join(str(self.nodes[i]) for i in members[:5].tolist())
            classes = ", ".join(map(str, np.unique(self.classes[members]).tolist()))
            rows.append((int(labels[k]), int(sizes[k]), classes, names + (", ..." if sizes[k] > 5 else "")))
        return ("cluster", "size", "classes", "elements"), rows


def finish(
    q: JointCosts,
    solution: tuple[NDArray[np.integer[Any]], Elements],
    stopping: Stopping,
    method: str,
    status: Status,
    **ending: Unpack[Ending],
) -> LabeledResult:
    """A result for clusters and classes, with the cost recomputed; `status` is used unless the run was stopped early.

    Clusters are divided where no pair links their parts whose cost depends on being together, which costs nothing. A
    solution whose cost is the bound is optimal. If the solution is forbidden, the message says so, and the status of a
    run that was not stopped is `not_found`.
    """
    classes = np.array(solution[1], np.int32)
    labels = _pieces(q, canonical(solution[0]), classes)
    cost = q._evaluate(labels, classes)
    bound = ending.get("lower_bound", -math.inf)
    if status != Status.OPTIMAL:
        status = Status.OPTIMAL if cost <= bound < math.inf else stopping.reason or status
    if status == Status.OPTIMAL:
        ending["lower_bound"] = cost
    if cost == math.inf:
        status = Status.NOT_FOUND if status in (Status.LOCAL_OPTIMUM, Status.FEASIBLE) else status
        ending["message"] = f"no allowed solution was found: {ending.get('message') or MESSAGES[status]}"
    result = result_of(LabeledResult, q, labels, cost, stopping, method, status, **ending)
    return replace(result, classes=frozen(classes))


def _pieces(q: JointCosts, labels: Elements, classes: Elements) -> Elements:
    """The parts of clusters that pairs link whose cost is not the same together and apart."""
    together, apart = q._entries(classes)
    links = (labels[q.u] == labels[q.v]) & (together != apart)
    return canonical(connected_components(q.n, q.u[links], q.v[links]))
