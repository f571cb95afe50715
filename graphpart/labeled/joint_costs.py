"""The arrays of a labelled partition problem, and the cost of clusters and classes."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpart.display import Shown, plural
from graphpart.labeled.arrays import Arrays, PairTables, check_allowed
from graphpart.partition.inputs.arrays import Places, frozen

__all__ = ["JointCosts"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]


class JointCosts(PairTables, Shown):
    """The arrays of a labelled partition; see :class:`LabeledPartition` for what its attributes mean."""

    __slots__ = ("_places", "joined", "label_costs", "nodes", "parted", "u", "v")

    label_costs: Floats
    nodes: Sequence[Hashable]

    @classmethod
    def _of(cls, nodes: Sequence[Hashable], arrays: Arrays) -> Self:
        """A problem with these arrays, which are checked already."""
        q = cls.__new__(cls)
        q._set(nodes, arrays)
        return q

    def _set(self, nodes: Sequence[Hashable], arrays: Arrays) -> None:
        check_allowed(arrays, nodes)
        self.nodes, self._places = nodes, Places(nodes)
        for name, array in arrays._asdict().items():
            setattr(self, name, frozen(array))

    def __getstate__(self) -> dict[str, Any]:
        return {"nodes": self.nodes, "arrays": self._arrays}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._set(state["nodes"], state["arrays"])

    @property
    def n(self) -> int:
        """The number of elements."""
        return len(self.label_costs)

    @property
    def m(self) -> int:
        """The number of listed pairs."""
        return len(self.u)

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        return int(self.label_costs.shape[1])

    @property
    def _arrays(self) -> Arrays:
        return Arrays(self.label_costs, self.u, self.v, self.joined, self.parted)

    def index(self, node: Hashable) -> int:
        """The index of an element; InvalidProblem if there is no such element."""
        return self._places(node)

    def _evaluate(self, labels: Elements, classes: Elements) -> float:
        own = self.label_costs[np.arange(self.n), classes]
        return math.fsum(own.tolist()) + math.fsum(self._pair_costs(labels, classes).tolist())

    def objective(self, cost: float) -> float:
        """The cost itself, as results of all kinds of problems have it."""
        return cost

    # ---------------------------------------------------------------------------------------------------------- showing

    def _title(self) -> str:
        classes = plural(self.n_classes, "class", "classes")
        return f"{type(self).__name__}: {plural(self.n, 'element')}, {classes}, {plural(self.m, 'pair')}"

    def _facts(self) -> dict[str, Any]:
        count = sum(int(np.isinf(x).sum()) for x in (self.label_costs, self.joined, self.parted))
        return {"forbidden entries": count} if count else {}

    def _preview(self) -> tuple[Sequence[str], Any]:
        rows = [
            (self.nodes[a], ", ".join(f"{cost:.4g}" for cost in self.label_costs[a].tolist()))
            for a in range(min(10, self.n))
        ]
        return ("element", "costs of the classes"), rows

    def _move_rises(self, labels: Elements) -> None:
        """Nothing: the display of results by elements is for set partition problems."""

    def _reasons(self, old: NDArray[np.int64], labels: Elements) -> NDArray[Any]:
        """Why clusters changed, for ``result.changes``: not known here."""
        return np.full(self.n, "not known", object)
