"""The search that fits a factor graph, as one object that runs in slices and takes labelings of other methods.

A binary factor graph of pairs is a quadratic form, unless entries are forbidden. `BinarySearch` has moves of its own
for it (see `binary_quadratic`). It begins with the labelings of message passing and expansions. These are left out if
the energy stays the same when all labels flip, as in maximum cut, because they then have nothing to start from. If
elimination leaves no variable, the labeling is optimal up to rounding, and the search ends. `LabelingSearch` is for all
other factor graphs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.binary_quadratic.quadratic_search import BinarySearch
from graphpart.crf.anytime_search.labeling_search import LabelingSearch
from graphpart.crf.anytime_search.parameters import LabelingParameters
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.stopping import Stopping

__all__ = ["Portfolio"]

Labels = NDArray[np.int32]


class Portfolio:
    """A search on one factor graph.

    Parameters
    ----------
    f, labels, seed, threads, prepared, evaluate, parameters
        As for `LabelingSearch`.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far, and its energy; ``inf`` as long as no allowed labeling was found.
    evaluate : callable
        The energy of labels.
    binary : BinarySearch or None
        For a quadratic form.
    """

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels | None = None,
        seed: int = 0,
        threads: int | None = None,
        prepared: bool = False,
        evaluate: Callable[[Labels], float] | None = None,
        parameters: LabelingParameters | None = None,
    ) -> None:
        parameters = parameters or LabelingParameters()
        q = quadratic_form(f) if "quadratic form" in parameters else None
        self.labeling = LabelingSearch(f, labels, seed, threads, prepared, evaluate, parameters)
        self.binary: BinarySearch | None = None
        if q is not None:
            self.binary = BinarySearch(
                q, self.labeling.labels, seed, threads, evaluate or f.evaluate_labels, parameters
            )
        first = self.labeling
        self.labels, self.cost, self.evaluate = first.labels, first.cost, first.evaluate

    @property
    def done(self) -> bool:
        """Whether nothing better is to be found, up to rounding: elimination has left no variable."""
        return self.binary is not None and not self.binary.q.n

    def offer(self, labels: Labels, cost: float) -> None:
        """Take a labeling that another method found, if it is the best; `cost` is its energy."""
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost

    def run(
        self, stopping: Stopping, patience: int | None = None, serve: Callable[[], object] | None = None
    ) -> None:  # fmt: skip
        """Search until stopped, or for `patience` rounds in a row without improvement.

        Parameters
        ----------
        stopping : Stopping
            Its iterations are rounds.
        patience : int, optional
        serve : callable, optional
            Called about every 50 ms.
        """
        search: LabelingSearch | BinarySearch = self.labeling
        if self.binary is not None:
            search = self.binary
            if not (self.labeling.begun or self.labeling.prepared or self.binary.symmetric or self.done):
                self._take_turn(self.labeling)
                self.labeling.serve = serve
                self.labeling.begin(stopping, annealing=False)
                self._take_over(self.labeling, stopping)
        self._take_turn(search)
        search.run(stopping, patience, serve)
        self._take_over(search, stopping)

    def rest(self) -> None:
        """Give back memory between two runs."""
        self.labeling.operators.rest()

    def _take_turn(self, search: LabelingSearch | BinarySearch) -> None:
        if self.cost < search.cost:
            search.offer(self.labels, self.cost)

    def _take_over(self, search: LabelingSearch | BinarySearch, stopping: Stopping) -> None:
        if search.cost < self.cost:
            self.labels, self.cost = search.labels, search.cost
            stopping.record(self.cost)
