"""Thresholds on costs: partitions for many thresholds, and the choice of a threshold by cross-validation over classes.

A threshold t is subtracted from the cost of each pair that has a cost. If a partition has the cost c and joins m such
pairs, it costs c - t m with threshold t, which is a line in t. The best partitions for all thresholds are those on the
lower envelope of all lines. The thresholds are visited twice:

    upwards: greedy joining and Kernighan-Lin start from the partition for the previous threshold downwards: if a
    partition found for another threshold is better, Kernighan-Lin starts from it

So no threshold starts from scratch, and the partition for a threshold is never worse than that for another threshold.
Between two thresholds few elements move, and a step takes a fraction of the time of a start from scratch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.methods import CONNECTEDNESS, SIZES, check_obeyed
from graphpart.metrics import adjusted_rand_index, compare, label_codes
from graphpart.partition.local_search.greedy_joining import join
from graphpart.partition.local_search.kernighan_lin import improve_by_sequences
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import with_matrix
from graphpart.stopping import Stopping

__all__ = ["ThresholdSelection", "cross_validate_threshold", "shifted", "threshold_path"]

Array = NDArray[np.float64]
SPREAD = np.concatenate([-np.geomspace(2.0, 1 / 32, 13), [0.0], np.geomspace(1 / 32, 2.0, 13)])
SCORES: dict[str, Callable[[Any, Any], float]] = {
    "adjusted-rand": adjusted_rand_index,
    "joins-f1": lambda truth, labels: compare(truth, labels).joins_f1,
}


def shifted(problem: SetPartition, threshold: float) -> SetPartition:
    """The problem with a threshold subtracted from the costs of all pairs that have one."""
    if problem.matrix is not None:
        matrix = np.asarray(problem.matrix) - threshold
        np.fill_diagonal(matrix, 0.0)
        return SetPartition.from_matrix(matrix)
    u, v, cost = problem.pairs()
    return SetPartition.from_pairs(problem.n, np.stack([u, v], axis=1), cost - threshold)


def _matrix_of(given: Any) -> SetPartition:
    """A problem without limits and background, from a matrix or a problem."""
    if isinstance(given, np.ndarray):
        return SetPartition.from_matrix(given)
    p = as_problem(given)
    check_obeyed(p, (*SIZES, *CONNECTEDNESS), "cross-validation of a threshold")
    return with_matrix(p)


def threshold_path(
    problem: Any,
    thresholds: ArrayLike,
    *,
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> list[Labels]:
    """Partitions of small cost for each of several thresholds that are subtracted from the costs.

    Parameters
    ----------
    problem : SetPartition, networkx.Graph, or ndarray of shape (n, n)
        In a matrix, every pair has a cost; in a problem with listed pairs, only these have a cost. A problem made from
        so many pairs that it is stored as a matrix (`is_dense`) counts as a matrix, unless it was made with
        ``dense=False``.
    thresholds : array_like of float, shape (T,)
        In any order.
    time_limit, callback
        As for :func:`graphpart.solve`. When the time is over, each remaining threshold gets the partition of the
        nearest lower threshold.

    Returns
    -------
    list of T ndarray of int64, shape (n,)
        Labels 0, 1, ... in order of first appearance, in the order of the thresholds.

    Notes
    -----
    O(T n^2) expected time for complete problems, with a small factor: after the first one, each threshold takes one
    contraction and usually one or two passes of Kernighan-Lin.

    Examples
    --------
    >>> D = np.abs(np.subtract.outer([0.0, 1.0, 5.0, 6.0], [0.0, 1.0, 5.0, 6.0]))
    >>> [labels.tolist() for labels in threshold_path(D, [0.5, 2.0, 9.0])]
    [[0, 1, 2, 3], [0, 0, 1, 1], [0, 0, 0, 0]]
    """
    p = _matrix_of(problem)
    given = np.asarray(thresholds, np.float64)
    if given.ndim != 1 or not np.isfinite(given).all():
        raise InvalidOption(f"thresholds have shape {given.shape}: expected a list of finite numbers")
    if len(p.must_join):
        raise InvalidProblem("the problem has required joins: expected costs only")
    stopping = Stopping(time_limit, None, None, callback)
    order = np.argsort(given, kind="stable")
    found: list[Labels] = []
    labels: Labels = np.arange(p.n, dtype=np.int32)
    for t in given[order].tolist():
        if stopping.reason is None and p.n > 1:
            q = shifted(p, t)
            labels = canonical(join(q, labels, stopping))
            if stopping.reason is None:
                labels = canonical(improve_by_sequences(q, labels, stopping))
        found.append(labels)
    _walk_down(p, given[order], found, stopping)
    stopping.reraise()
    out: list[Labels] = [labels] * len(given)
    for k, labels in zip(order.tolist(), found, strict=True):
        connected = connected_subsets(shifted(p, float(given[k])), labels)  # as from every method
        out[k] = connected.astype(np.int64)
    return out


def _walk_down(p: SetPartition, thresholds: Array, found: list[Labels], stopping: Stopping) -> None:
    """Replace partitions by better ones found for other thresholds, improved."""
    if p.n < 2:
        return
    cost, joined = np.array([_line(p, labels) for labels in found]).reshape(-1, 2).T
    for k in range(len(found) - 1, -1, -1):
        if stopping.reason is not None:
            return
        t = float(thresholds[k])
        values = cost - t * joined
        best = int(np.argmin(values))
        if values[best] < values[k] - p._tolerance:
            found[k] = canonical(improve_by_sequences(shifted(p, t), found[best], stopping))
            cost[k], joined[k] = _line(p, found[k])


def _line(p: SetPartition, labels: Labels) -> tuple[float, float]:
    """The cost of a partition, and the number of pairs with a cost that it joins."""
    if p.is_dense:
        sizes = np.bincount(labels)
        return p._evaluate_labels(labels), float((sizes * (sizes - 1) // 2).sum())
    u, v, _ = p.pairs()
    return p._evaluate_labels(labels), float((labels[u] == labels[v]).sum())


@dataclass
class ThresholdSelection:
    """A threshold chosen by cross-validation, and the scores by which it was chosen.

    Attributes
    ----------
    threshold : float
    thresholds : ndarray of float64, shape (T,)
        In ascending order.
    scores : ndarray of float64, shape (R, T)
        The score of each split and threshold.
    mean : ndarray of float64, shape (T,)
        The mean over splits of the scores of each threshold.
    held_out : list of R tuples
        The classes left out in each split.
    """

    threshold: float
    thresholds: Array
    scores: Array
    held_out: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def mean(self) -> Array:
        mean: Array = self.scores.mean(axis=0)
        return mean


def cross_validate_threshold(
    costs: Callable[[NDArray[np.int64], NDArray[np.int64]], Any],
    y: ArrayLike,
    thresholds: ArrayLike | None = None,
    *,
    splits: int = 10,
    score: str | Callable[[Any, Any], float] = "adjusted-rand",
    seed: int | None = 0,
    time_limit: float | None = None,
) -> ThresholdSelection:
    """Choose the threshold to subtract from learned costs by leaving classes out.

    Costs that are learned from some classes are used to partition elements of other classes. Therefore, in each split,
    half of the classes are left out, the costs are learned from the others, and the elements of the classes left out
    are partitioned for all thresholds. A threshold is acceptable if its mean score is below the best mean score by at
    most the standard error of the difference. Of all acceptable thresholds, the one nearest to 0 is chosen: learned
    costs are changed only if there is evidence for it.

    Parameters
    ----------
    costs : callable
        ``costs(learn, held)`` learns from the elements with the indices `learn` and returns the costs of the elements
        `held`: a matrix in their order, or a SetPartition.
    y : array_like, shape (n,)
        Classes of the elements; elements of the class -1 or None are left out.
    thresholds : array_like of float, shape (T,), optional
        Default: 27 values from -2 to 2 times the root of the mean square of the costs, denser near 0.
    splits : int
        The number of splits; if there are fewer ways to leave classes out, all of these are used. At least 2 classes
        are left out. At least 2 classes are learned from if there are 4 or more, otherwise 1.
    score : {"adjusted-rand", "joins-f1"} or callable
        ``score(truth, labels)``, larger is better.
    seed : int, optional
        Of the splits.
    time_limit : float, optional
        Seconds. After half of them, no other split is begun. Splits whose partitions are not found in time do not
        count, except for the first one.

    Returns
    -------
    ThresholdSelection
        With threshold 0 and no scores if there are fewer than 3 classes: then none can be left out.

    Examples
    --------
    >>> x = np.array([0.0, 0.1, 0.2, 5.0, 5.1, 5.2, 9.0, 9.1, 9.2, 14.0, 14.1])
    >>> y = [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3]
    >>> def distances(learn, held):
    ...     return np.abs(np.subtract.outer(x[held], x[held]))
    >>> chosen = cross_validate_threshold(distances, y, [0.0, 0.05, 0.5, 1.0, 2.0, 20.0])
    >>> chosen.threshold, chosen.mean.round(2).tolist()
    (0.5, [0.0, 0.0, 1.0, 1.0, 1.0, 0.0])
    """
    if not callable(score) and score not in SCORES:
        raise InvalidOption(f"score is {score!r}: expected a callable or one of {', '.join(SCORES)}")
    measure = score if callable(score) else SCORES[score]
    if splits < 1:
        raise InvalidOption(f"splits is {splits!r}: expected at least 1")
    if thresholds is not None and not np.size(thresholds):
        raise InvalidOption("thresholds are empty: expected at least one number")
    codes = label_codes(y)
    classes = np.unique(codes[codes >= 0])
    if len(classes) < 3:
        return ThresholdSelection(0.0, np.zeros(1), np.zeros((0, 1)))
    least = 2 if len(classes) >= 4 else 1
    size = int(np.clip(round(0.5 * len(classes)), 2, len(classes) - least))
    stopping = Stopping(time_limit)
    learning = stopping.child(None if time_limit is None else time_limit / 2)
    problems = []
    for held in _choices(classes, size, splits, seed):
        outside = np.isin(codes, held)
        learn, left = np.flatnonzero((codes >= 0) & ~outside), np.flatnonzero(outside)
        given = costs(learn, left)
        problem = _matrix_of(given)
        if problem.n != len(left):
            raise InvalidProblem(f"costs are those of {problem.n} elements: expected {len(left)}")
        problems.append((held, left, problem))
        if learning.check(0.0):
            break
    stopping.reraise()
    if thresholds is None:
        listed = [problem.pairs()[2] for _, _, problem in problems]
        squares = [float(np.mean(np.square(cost))) for cost in listed if len(cost)]
        grid = np.unique(SPREAD * np.sqrt(np.mean(squares))) if squares else np.zeros(1)
    else:
        grid = np.unique(np.asarray(thresholds, np.float64))
    rows: list[list[float]] = []
    names: list[tuple[Any, ...]] = []
    for held, left, problem in problems:
        path = threshold_path(problem, grid, time_limit=stopping.remaining if rows else None)
        if rows and stopping.check(0.0):
            break  # partitions for some thresholds are missing
        rows.append([measure(codes[left], labels) for labels in path])
        names.append(tuple(_names(y, codes, held)))
    stopping.reraise()
    scores = np.array(rows)
    return ThresholdSelection(_select(grid, scores), grid, scores, names)


def _choices(classes: NDArray[np.int64], size: int, splits: int, seed: int | None) -> list[NDArray[np.int64]]:
    """Different sets of classes to leave out, such that all classes are left out about equally often."""
    from itertools import combinations
    from math import comb

    if comb(len(classes), size) <= splits:
        return [np.array(chosen) for chosen in combinations(classes.tolist(), size)]
    rng = np.random.default_rng(seed)
    often = np.zeros(len(classes))
    out: list[NDArray[np.int64]] = []
    seen: set[tuple[int, ...]] = set()
    for _ in range(100 * splits):
        if len(out) == splits:
            break
        chosen = np.argsort(often + rng.random(len(classes)), kind="stable")[:size]
        key = tuple(sorted(chosen.tolist()))
        if key in seen:
            chosen = np.sort(rng.choice(len(classes), size, replace=False))
            key = tuple(chosen.tolist())
        if key not in seen:
            seen.add(key)
            often[chosen] += 1
            out.append(np.sort(classes[chosen]))
    return out


def _select(thresholds: Array, scores: Array) -> float:
    """The threshold nearest to 0 among those that are not clearly behind the best one."""
    best = int(np.argmax(scores.mean(axis=0)))
    behind = scores[:, [best]] - scores
    error = behind.std(axis=0) / np.sqrt(len(scores))
    good = np.flatnonzero(behind.mean(axis=0) <= error + 1e-12)
    return float(thresholds[good[int(np.argmin(np.abs(thresholds[good])))]])


def _names(y: Any, codes: NDArray[np.int64], held: NDArray[np.int64]) -> Sequence[Any]:
    listed = np.asarray(y, object)
    return [listed[int(np.argmax(codes == code))] for code in held.tolist()]
