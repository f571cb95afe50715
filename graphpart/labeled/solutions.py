"""Clusters and classes in any of the accepted forms, as two arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidPartition
from graphpart.labeled.results import LabeledResult
from graphpart.partition.problem.labels import canonical, labels_of

if TYPE_CHECKING:
    from graphpart.labeled.joint_costs import JointCosts

__all__ = ["alone", "check_feasible", "classes_of", "start_of"]

Elements = NDArray[np.int32]


def classes_of(q: JointCosts, classes: Any) -> Elements:
    """The class of each element, from an array, a mapping from names, or a result.

    Raises
    ------
    InvalidPartition
        If there is not one class from 0 to L - 1 for each element.
    """
    if isinstance(classes, LabeledResult):
        classes = dict(zip(classes.nodes, classes.classes.tolist(), strict=True))
    if isinstance(classes, Mapping):
        if len(missing := [a for a in q.nodes if a not in classes]):
            raise InvalidPartition(f"{missing[0]!r} has no class")
        classes = [classes[a] for a in q.nodes]
    array = np.asarray(classes)
    if array.shape != (q.n,):
        raise InvalidPartition(f"classes have shape {array.shape}: expected ({q.n},)")
    if array.size and array.dtype.kind not in "iu":
        raise InvalidPartition(f"classes have dtype {array.dtype}: expected integers")
    if len(bad := np.flatnonzero((array < 0) | (array >= q.n_classes))):
        place = int(bad[0])
        raise InvalidPartition(f"the class of {q.nodes[place]!r} is {array[place]}: expected 0 to {q.n_classes - 1}")
    return array.astype(np.int32)


def start_of(q: JointCosts, initial: Any) -> tuple[Elements, Elements]:
    """Clusters and classes of a start: a result of this kind, a pair (labels, classes), or clusters alone.

    With clusters alone, which may be in any form that ``SetPartition.labels`` takes, classes are those of least label
    cost. Elements that clusters leave out, or give the label -1, are alone.
    """
    if isinstance(initial, LabeledResult):
        return labels_of(q, initial), classes_of(q, initial)  # type: ignore[arg-type]
    given, classes = initial if isinstance(initial, tuple) and len(initial) == 2 else (initial, None)
    labels = labels_of(q, given, partial=True).astype(np.int64)  # type: ignore[arg-type]
    labels = np.where(labels < 0, q.n + np.arange(q.n), labels)
    return canonical(labels), alone(q.label_costs)[1] if classes is None else classes_of(q, classes)


def alone(costs: NDArray[np.float64]) -> tuple[Elements, Elements]:
    """Every element in a cluster of its own, and its class of least cost, the first of equals."""
    n = len(costs)
    return np.arange(n, dtype=np.int32), costs.argmin(axis=1).astype(np.int32) if n else np.zeros(0, np.int32)


def check_feasible(q: JointCosts, labels: Elements, classes: Elements) -> None:
    """Raise InvalidPartition, naming an element or a pair, if a solution has a cost of inf."""
    if len(bad := np.flatnonzero(np.isinf(q.label_costs[np.arange(q.n), classes]))):
        a = int(bad[0])
        raise InvalidPartition(f"{q.nodes[a]!r} must not have the class {classes[a]}")
    together = labels[q.u] == labels[q.v]
    costs = q._pair_costs(labels, classes)
    if len(bad := np.flatnonzero(np.isinf(costs))):
        k = int(bad[0])
        a, b = int(q.u[k]), int(q.v[k])
        what = "together" if together[k] else "apart"
        raise InvalidPartition(
            f"{q.nodes[a]!r} and {q.nodes[b]!r} must not be {what} with the classes {classes[a]} and {classes[b]}"
        )
