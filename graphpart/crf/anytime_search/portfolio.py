"""All searches that are applicable to a factor graph take turns; each continues from the best labeling of the others.

`LabelingSearch` is applicable to every factor graph, `BinarySearch` to binary quadratic forms (see `binary_quadratic`).
The next round belongs to the search that has done less work so far. Work is estimated without looking at the clock, so
the result after a number of rounds does not depend on the number of threads.

If the energy stays the same when all labels flip, as in maximum cut, message passing and expansions have nothing to
start from. `BinarySearch` then begins, and `LabelingSearch` has turns only when that has found nothing better for
`STUCK` rounds. `BinarySearch` begins, too, if it eliminates all variables. That takes one round and no time, and the
labeling is optimal up to rounding, so `LabelingSearch` then has turns only if a time or a number of rounds is given.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.anytime_search.labeling_search import LabelingSearch
from graphpart.crf.binary_quadratic.form import quadratic_form
from graphpart.crf.binary_quadratic.search import BinarySearch
from graphpart.crf.problem import FactorGraph
from graphpart.stopping import Stopping

__all__ = ["Portfolio"]

Labels = NDArray[np.int32]
STUCK = 8


class Portfolio:
    """All searches on one factor graph.

    Parameters
    ----------
    f, labels, seed, threads, prepared, evaluate
        As for `LabelingSearch`.

    Attributes
    ----------
    labels, cost : ndarray of int32, float
        The best so far, and its energy; ``inf`` as long as no allowed labeling was found.
    evaluate : callable
        The energy of labels.
    idle : int
        Rounds in a row without improvement.
    """

    def __init__(
        self,
        f: FactorGraph,
        labels: Labels | None = None,
        seed: int = 0,
        threads: int | None = None,
        prepared: bool = False,
        evaluate: Callable[[Labels], float] | None = None,
    ) -> None:
        q = quadratic_form(f)
        binary = None if q is None else BinarySearch(f, labels, seed, threads, q, evaluate)
        symmetric = binary is not None and binary.symmetric
        first = LabelingSearch(f, labels, seed, threads, prepared or symmetric, symmetric, evaluate)
        self.searches: list[LabelingSearch | BinarySearch] = [first]
        self.favourite: BinarySearch | None = None
        if binary is not None:
            binary.start(first.labels)
            self.searches.append(binary)
            self.favourite = binary if symmetric or not binary.q.n else None
        self.labels, self.cost, self.evaluate = first.labels, first.cost, first.evaluate
        self.idle = 0

    def offer(self, labels: Labels, cost: float) -> None:
        """Take a labeling that another method found, if it is the best; `cost` is its energy."""
        if cost < self.cost:
            self.labels, self.cost = labels.copy(), cost

    def run(
        self,
        stopping: Stopping,
        patience: int | None = None,
        serve: Callable[[], object] | None = None,
    ) -> None:
        """Go on until stopped, or after so many rounds of each search in a row without improvement.

        Parameters
        ----------
        stopping : Stopping
            Its iterations are rounds.
        patience : int, optional
            Nor does it go on once all variables were eliminated.
        serve : callable, optional
            Called about every 50 ms.
        """
        while not stopping.check(self.cost):
            eliminated = any(one.work == math.inf for one in self.searches)
            if patience is not None and (eliminated or self.idle >= patience * len(self.searches)):
                break
            current = min(self.searches, key=lambda one: one.work)
            favourite = self.favourite
            if favourite is not None and favourite.idle < STUCK and favourite.work < math.inf:
                current = favourite
            if self.cost < current.cost:
                current.offer(self.labels, self.cost)
            inner = stopping.child(iterations=1)
            if isinstance(current, LabelingSearch):
                current.run(inner, serve=serve)
            else:
                current.run(inner)
            improved = current.cost < self.cost
            if improved:
                self.labels, self.cost = current.labels, current.cost
                stopping.record(self.cost)
            if serve is not None:
                serve()
            self.idle = 0 if improved else self.idle + 1
            stopping.step(self.cost)
