"""Functions that algorithms on factor graphs share: results from labels, and vectors with an entry for each label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from graphpart.common.finishing import MESSAGES, Ending, result_of
from graphpart.crf.problem import _structure
from graphpart.crf.problem.factor_graph import FactorGraph
from graphpart.errors import InfeasibleProblem, InvalidPartition, InvalidProblem
from graphpart.result import LabelingResult, Status
from graphpart.stopping import Stopping

__all__ = ["Found", "LabelVectors", "check_allowed", "finish", "least_entries", "named", "trivial_bound"]

STEP, EXACT = 2.0**-20, 2.0**32  # sums of multiples of the step are exact up to there
WHETHER = "auto or exact finds one, or proves that there is none"


class Found(NamedTuple):
    """The labels and bound that an algorithm found for a factor graph or a part of one; `finish` makes a result of
    it."""

    labels: NDArray[np.int32]
    bound: float  #: no labeling has less energy; -inf if nothing is known
    proven: bool  #: whether the labels are optimal


def finish(
    f: FactorGraph,
    labels: NDArray[np.int32],
    stopping: Stopping,
    method: str,
    status: Status,
    **ending: Unpack[Ending],
) -> LabelingResult:
    """A result for labels, with the cost recomputed; `status` is used unless the run was stopped early.

    A proven labeling is ``optimal`` for any reason of the end, and labels whose cost is the bound are proven.

    If the labels are forbidden, the message starts with "no allowed labeling was found" for all methods. The status of
    a run that was not stopped is `not_found` then, and the message says which methods know whether there is one.
    """
    shown = f.owner
    labels = labels[: shown.n]
    cost = shown.evaluate_labels(labels)
    lower_bound = ending.get("lower_bound", -math.inf)
    if status != Status.OPTIMAL:
        status = Status.OPTIMAL if cost <= lower_bound < math.inf else stopping.reason or status
    if status == Status.OPTIMAL:
        ending["lower_bound"] = cost
    if cost == math.inf and status in (Status.LOCAL_OPTIMUM, Status.FEASIBLE):
        status = Status.NOT_FOUND
    text = ending.get("message") or (WHETHER if status == Status.NOT_FOUND else MESSAGES[status])
    if cost == math.inf:
        text = f"no allowed labeling was found: {first_forbidding(f, f.labels(labels))} forbids this one; {text}"
    ending["message"] = text
    return result_of(LabelingResult, shown, labels, cost, stopping, method, status, **ending)


def named(f: FactorGraph, factor: int) -> str:
    """A factor and its variables, for a message; for a factor of a decomposed function this function."""
    own = f.owner
    if factor >= own.m:
        sizes = [len(one.auxiliaries) + len(one.tables) for one in own.functions]
        k = int(np.searchsorted(np.cumsum(sizes), factor - own.m, "right"))
        scope = tuple(own.variables[i] for i in own.functions[k].scope[:4])
        dots = ", ..." if len(own.functions[k].scope) > 4 else ""
        return f"function {k} ({own.functions[k].name}) over {repr(scope)[:-1]}{dots})"
    return f"factor {factor} over {tuple(f.variables[i] for i in f.factor(factor)[0])!r}"


def first_forbidding(f: FactorGraph, labels: NDArray[np.int32]) -> str:
    """The first factor that forbids int32 labels, for a message; empty if none does."""
    bad = _structure.first_forbidding(*f._flat(), labels)
    return named(f, bad) if bad >= 0 else ""


def check_allowed(f: FactorGraph, labels: NDArray[np.int32]) -> None:
    """Raise InvalidPartition, naming a factor, if one forbids these int32 labels."""
    if bad := first_forbidding(f, labels):
        raise InvalidPartition(f"the labeling is forbidden by {bad}")


def least_entries(f: FactorGraph) -> tuple[NDArray[np.float64], float]:
    """(smallest entry of each table, their sum); InfeasibleProblem if one is inf, naming the factor."""
    least, total = f._cache.get("minima") or _structure.minima(f._flat()[3], f.table_start, f._flat()[4])
    f._cache["minima"] = least, total
    if total == math.inf:
        i = int(np.flatnonzero(np.isposinf(least))[0])
        raise InfeasibleProblem(f"{named(f, i)} forbids every labeling")
    return least, total


def trivial_bound(f: FactorGraph) -> float:
    """A lower bound on the energy: the constant plus the smallest entry of each table, less the error of rounding.

    The sum keeps track of the rounding error of each addition; if all terms are multiples of ``2**-20`` it is exact.
    """
    if "least sum" not in f._cache:
        f._cache["least sum"] = _structure.least_sum(*f._flat(), STEP)
    total: float
    absolute: float
    total, absolute, multiples = f._cache["least sum"]
    if total == math.inf:
        least_entries(f)  # this raises
    absolute += abs(f.constant)
    if absolute < EXACT and multiples and not math.fmod(f.constant, STEP):
        return f.constant + total
    slack = 2.0**-51 * (abs(f.constant) + abs(total)) + 2.0**-74 * absolute
    return math.nextafter(f.constant + total - slack, -math.inf)


class LabelVectors(Mapping[Hashable, NDArray[np.float64]]):
    """A number for each label of each variable: a mapping from names of variables to vectors.

    Attributes
    ----------
    flat : ndarray of float64
        All vectors, one after the other, in the order of the variables.
    whole : ndarray of float64
        The same with those of auxiliary variables, if the factor graph was decomposed.
    """

    def __init__(self, f: FactorGraph, flat: NDArray[np.float64]) -> None:
        self._f = f.owner
        self._start = places(self._f)
        self.flat, self.whole = flat[: self._start[-1]], flat

    def __getitem__(self, name: Hashable) -> NDArray[np.float64]:
        try:
            i = self._f.index(name)
        except InvalidProblem:
            raise KeyError(name) from None
        return self.flat[self._start[i] : self._start[i + 1]]

    def __iter__(self) -> Iterator[Hashable]:
        return iter(self._f.variables)

    def __len__(self) -> int:
        return self._f.n


def places(f: FactorGraph) -> NDArray[np.int64]:
    """The positions of the labels of each variable in one flat vector, shape (n + 1,)."""
    start = np.zeros(f.n + 1, np.int64)
    np.cumsum(f.domains, out=start[1:])
    return start
