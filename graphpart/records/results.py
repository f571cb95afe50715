"""Results of this room: partitions with one or two further columns of tables, and the data behind them."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.display import frame_of
from graphpart.result import PartitionResult

__all__ = ["Consensus", "Matches", "NearDuplicates", "extended"]

Kind = TypeVar("Kind", bound=PartitionResult)


def extended(kind: type[Kind], result: PartitionResult, **more: Any) -> Kind:
    """A result of another class, with more fields."""
    return kind(**{one.name: getattr(result, one.name) for one in fields(result)} | more)


@dataclass(frozen=True, repr=False)
class NearDuplicates(PartitionResult):
    """A :class:`graphpart.PartitionResult` with a representative of each cluster.

    Attributes
    ----------
    representatives : ndarray of int64, shape (k,)
        The index of the medoid of each cluster: the element with the smallest sum of distances to the others.
    """

    representatives: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)

    @property
    def kept(self) -> list[Hashable]:
        """The names of the representatives, in the order of the elements: all elements but their near duplicates."""
        return [self.nodes[a] for a in np.sort(self.representatives).tolist()]

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each element: `element`, `cluster`, its `size` and its `representative`."""
        names = [self.nodes[a] for a in self.representatives[self.labels].tolist()]
        return frame_of(self._columns() | {"representative": names}, library)


@dataclass(frozen=True, repr=False)
class Consensus(PartitionResult):
    """A :class:`graphpart.PartitionResult` of several labelings, with how far these agree.

    Attributes
    ----------
    disagreement : float
        The sum over labelings, times their weights, of the number of pairs on which the labeling and the result
        disagree: one has them in one cluster, the other has not. Its lower bound is `disagreement_bound`.
    disagreement_bound : float
    stability : ndarray of float64, shape (k,)
        For each cluster, the mean over its pairs of the share of the labelings, by weight, that have the pair in one
        cluster; for a cluster of one element, the share of the labelings that leave it alone.
    agreement : ndarray of float64, shape (n,)
        For each element, the same mean over its pairs with the other elements of its cluster; for one that is alone,
        the share of the labelings that leave it alone: 0 if all of them put it somewhere else.
    problem : SetPartition or None
        The problem whose cost is the disagreement, up to a constant, for `plot`, `report` and
        :func:`graphpart.partition.doubts`. None if more than 3,000 elements have more than 2 million pairs that share a
        label.
    """

    disagreement: float = 0.0
    disagreement_bound: float = 0.0
    stability: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)
    agreement: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0), repr=False)

    def _facts(self) -> dict[str, Any]:
        found = {"disagreement": self.disagreement, "its lower bound": self.disagreement_bound}
        if len(self.agreement):
            found["mean agreement"] = float(f"{self.agreement.mean():.4g}")
        return found | super()._facts()

    def _preview(self) -> tuple[Sequence[str], Any]:
        """The clusters, with the stability of each and the agreement of its least sure element."""
        heads, rows = super()._preview()
        if not len(self.agreement):
            return heads, rows
        present = np.unique(self.labels)
        more = []
        for row in rows:
            mine = np.flatnonzero(self.labels == row[0])
            least = int(mine[np.argmin(self.agreement[mine])])
            stability = self.stability[int(np.searchsorted(present, row[0]))]
            more.append((*row, f"{stability:.4g}", f"{self.nodes[least]} ({self.agreement[least]:.4g})"))
        return (*heads, "stability", "least agreement"), more

    def to_frame(self, library: str = "pandas") -> Any:
        """A data frame with a row for each element: `element`, `cluster`, `size`, and its `agreement`."""
        return frame_of(self._columns() | {"agreement": self.agreement}, library)


@dataclass(frozen=True, repr=False)
class Matches(PartitionResult):
    """A :class:`graphpart.PartitionResult` of records, with the scores of the pairs that were compared.

    Attributes
    ----------
    scores : Table of Arrow
        A row for each pair that was compared: `left`, `right`, `match_weight`, the base-2 logarithm of the odds that
        both are of one entity, `match_probability`, and for each column the part of the weight that comes from it,
        `mw_` and its name, in single precision.
    settings : dict
        The comparisons, by name.
    records : DataFrame
        The table that was given, with a row for each element; left out when the result is pickled.
    first : Matches or None
        The result before weights were learned from answers.
    """

    scores: Any = field(default=None, repr=False)
    settings: dict[str, Any] = field(default_factory=dict, repr=False)
    records: Any = field(default=None, repr=False, compare=False)
    first: Any = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "records": None, "first": None}

    def _design(self) -> Any:
        """From which answers most is learned, if there are candidates; see `designing`."""
        from graphpart.records.designing import Design

        return Design(self if self.first is None else self.first, self) if len(self.scores) else None

    def learned(
        self, answers: Any, *, error: float = 0.0, method: str = "auto", time_limit: float | None = None
    ) -> Matches:
        """The result with match weights learned from answers, which are also required.

        The answers may be about pairs that were chosen, as by ``gp.questions(r.problem, r)``: present weights, which
        say what is known of all other pairs, count as much as an answer for each bit of weight.

        Parameters
        ----------
        answers : DataFrame, mapping or path
            All answers so far, as :func:`graphpart.solve` takes them.
        error : float
            The probability that an answer is wrong. With 0, answers are required, else they are evidence.
        method, time_limit
            As for :func:`graphpart.solve`.

        Returns
        -------
        Matches
            With `first`, the result before any answers were learned from, from which later calls start, too. The
            columns `mw_` of `scores` are as they were.

        Raises
        ------
        InvalidProblem
            If the table is not as described, or the result was pickled, so that it is without its records.
        InfeasibleProblem
            If answers contradict each other and `error` is 0.

        Notes
        -----
        O(m w) for m candidates and w words in a record, and the time to solve.

        Examples
        --------
        >>> import graphpart as gp, numpy as np, pandas as pd
        >>> columns, person = gp.generate.person_records(400)
        >>> r = gp.match(pd.DataFrame(columns), on=["given", "surname", "birth", "street"])
        >>> asked = gp.questions(r.problem, r, 20)
        >>> same = [person[a] == person[b] for a, b in zip(asked["left"], asked["right"])]
        >>> s = r.learned(asked.assign(answer=np.where(same, "together", "apart")))
        >>> before, after = (gp.metrics.compare(person, x.labels).joins_f1 for x in (r, s))
        >>> after > before
        True
        """
        from graphpart.records.relearning import relearned

        first = self if self.first is None else self.first
        result, scores = relearned(first, answers, error, method, time_limit)
        more = {"scores": scores, "settings": first.settings, "records": first.records, "first": first}
        return extended(Matches, result, **more)
