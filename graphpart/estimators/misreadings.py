"""Data for `CorrelationClustering` that probably mean something else: pairs, distances, similarities."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem, warn
from graphpart.partition.inputs.frames import is_frame, table_of
from graphpart.partition.problem import SetPartition

__all__ = ["check_distances", "check_elements", "check_points", "check_threshold"]


def check_elements(X: Any) -> None:
    """Raise InvalidProblem for a problem, a graph or pairs in place of elements; warn of a table of numbered pairs."""
    if isinstance(X, SetPartition) or hasattr(X, "is_directed"):
        raise InvalidProblem(f"X is a {type(X).__name__}: expected a row for each element; gp.solve(X) partitions it")
    if not is_frame(X):
        return
    table = table_of(X)
    names = table.columns
    if len(names) != 3:
        return
    call = "gp.SetPartition.from_frame(X, {!r}, {!r}, probability={!r})".format(*names)
    if table.numbers(names[2]) is None:
        return
    if table.numbers(names[0]) is None and table.numbers(names[1]) is None:
        raise InvalidProblem(f"X is a table of pairs by name: expected a row for each element; for pairs {call}")
    left, right = (table.values(name) for name in names[:2])
    if not all(isinstance(ends, np.ndarray) and ends.dtype.kind in "iu" for ends in (left, right)):
        return
    values = np.asarray(table.numbers(names[2]), np.float64)
    shared = len(np.intersect1d(left, right))
    as_pairs = (left != right).all() and 2 * shared >= min(len(np.unique(left)), len(np.unique(right)))
    if len(values) > 2 and as_pairs and ((values >= 0) & (values <= 1)).all():
        warn(f"X looks like a table of pairs, but is read as a row for each element; for pairs {call}")


def check_points(X: NDArray[np.float64]) -> None:
    """Warn if points are a symmetric matrix with equal values on the diagonal."""
    if X.shape[0] == X.shape[1] > 2 and (X.diagonal() == X[0, 0]).all() and np.array_equal(X, X.T):
        warn("X is a symmetric matrix, but is read as points: of distances or similarities, say metric='precomputed'")


def check_distances(D: Any) -> None:
    """Raise InvalidProblem if the values of a square matrix, dense or sparse, are similarities or costs."""
    low = float(D.min()) if min(D.shape) else 0.0
    if low < -1e-6 * float(abs(D).max()):  # less is rounding: 1 - a similarity of 1
        raise InvalidProblem(
            f"a precomputed distance is {low:g}: expected 0 or more; of similarities, say kind='similarity', or give "
            "distances such as 1 - S; of costs, say kind='cost'"
        )
    if min(D.shape) and np.allclose(D.diagonal(), 1.0):
        raise InvalidProblem(
            "the diagonal of precomputed distances is 1, as that of similarities: say kind='similarity', or give "
            "distances such as 1 - S"
        )


def check_threshold(values: NDArray[np.float64], threshold: float, kind: str) -> None:
    """Warn if no pair attracts, or every pair; values are a matrix of all pairs, or those of the nearest pairs.

    That all of the nearest pairs attract is nothing special, and neither is either among fewer than 10 elements.
    """
    is_distance, square = kind == "distance", values.ndim == 2
    attract, pairs = 0, values.size - len(values) * square  # without the diagonal
    for i, row in enumerate(np.atleast_2d(values)):
        near = (row < threshold) == is_distance
        attract += int(np.count_nonzero(near)) - (square and bool(near[i]))
    if pairs < 90 or (attract and not (square and attract == pairs)):
        return
    others = values
    if square:
        others = values[:2000][np.logical_not(np.eye(*values[:2000].shape))]
    low, middle, high = np.quantile(others, [0.0, 0.5, 1.0])
    told = (
        "all elements attract each other and are one cluster"
        if attract
        else "no two elements attract each other, so each is a cluster of its own"
    )
    what = "distances" if is_distance else "similarities"
    warn(f"threshold is {threshold:g}: {told}; {what} are {low:.2g} to {high:.2g}, half of them below {middle:.2g}")
