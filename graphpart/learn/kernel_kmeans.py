"""Weighted kernel k-means, as a local search over moves.

For a positive semi-definite kernel matrix K over n elements with weights w, find k clusters C with the smallest

    J = sum over C, a in C of  w_a ||phi(a) - m_C||^2
      = sum over a of w_a K_aa  -  sum over C of  (1 / s_C) sum over a, b in C of w_a w_b K_ab,

where m_C is the weighted mean of phi over C, and s_C the sum of the weights in C. Moving an element a from C to D
changes J by

    s_D w_a / (s_D + w_a) ||phi(a) - m_D||^2  -  s_C w_a / (s_C - w_a) ||phi(a) - m_C||^2,

and the search applies the best move of one element, as long as it lowers J (Hartigan 1975; with a kernel, Dhillon, Guan
& Kogan 2002). A fixed point of these moves is also a fixed point of Lloyd's algorithm, but not vice versa.

Since the terms of J are divided by the sizes of clusters, J is not a sum of costs of pairs, and this search has its own
element-by-cluster table. With K = D^-1 A D^-1 and w = D 1 for a graph with adjacency matrix A and degrees D, k less the
normalised association (which is the normalised cut) is J up to a constant (Dhillon, Guan & Kulis 2007).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.learn.descent import ROUNDING
from graphpart.partition.problem import canonical
from graphpart.result import PartitionResult, Status
from graphpart.stopping import Stopping

__all__ = ["kernel_kmeans", "kernel_kmeans_objective"]

Array = NDArray[np.float64]


def kernel_kmeans(
    kernel: ArrayLike,
    k: int,
    weights: ArrayLike | None = None,
    *,
    initial: ArrayLike | None = None,
    seed: int | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> PartitionResult:
    """Partition elements into at most k clusters around means in the space of a kernel.

    Parameters
    ----------
    kernel : array_like, shape (n, n)
        Symmetric and positive semi-definite, as from `sklearn.metrics.pairwise.pairwise_kernels`.
    k : int
        Number of clusters.
    weights : array_like, shape (n,), optional
        Positive; default: 1.
    initial : array_like of int, shape (n,), optional
        Labels 0, ..., k - 1 to start from. Default: the nearest of k centers drawn far from each other (k-means++).
    seed : int, optional
        Of the draw.
    time_limit, callback
        As for :func:`graphpart.solve`.
    max_iterations : int, optional
        Number of moves.

    Returns
    -------
    PartitionResult
        `cost` is J; `iterations` counts moves.

    Raises
    ------
    InvalidProblem
        If the kernel is not square, symmetric or finite, or a weight is not positive.
    InvalidOption
        If k is not from 1 to n, or the initial labels do not fit.

    Notes
    -----
    O(n^2) to start, O(n k) for each move.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 10.0, 11.0, 12.0])
    >>> r = kernel_kmeans(np.outer(x, x), 2, seed=0)
    >>> r.partition, r.cost
    ([{0, 1}, {2, 3, 4}], 2.5)
    """
    K = np.array(kernel, np.float64)
    n = len(K)
    if K.shape != (n, n) or not np.isfinite(K).all():
        raise InvalidProblem(f"kernel has shape {K.shape}: expected a finite square matrix")
    if n and abs(K - K.T).max() > 1e-9 * abs(K).max():
        raise InvalidProblem("kernel is not symmetric")
    w = np.ones(n) if weights is None else np.array(weights, np.float64)
    if w.shape != (n,) or not ((w > 0) & (w < np.inf)).all():
        raise InvalidProblem(f"weights have shape {w.shape}: expected {n} finite numbers > 0")
    if not 1 <= k <= max(n, 1):
        raise InvalidOption(f"k is {k}: expected 1 to {n}")
    stopping = Stopping(time_limit, max_iterations, None, callback)
    labels = _far_centers(K, k, w, np.random.default_rng(seed)) if initial is None else np.array(initial)
    if labels.shape != (n,) or labels.dtype.kind not in "iu" or (n and not 0 <= labels.min() <= labels.max() < k):
        raise InvalidOption(f"initial has shape {labels.shape}: expected {n} integers from 0 to {k - 1}")
    labels = _move(K, k, w, labels.astype(np.int64), stopping)
    stopping.reraise()
    cost = kernel_kmeans_objective(K, labels, w)
    status = stopping.reason or Status.LOCAL_OPTIMUM
    message = "no move of one element lowers the objective" if stopping.reason is None else f"ended: {status}"
    return PartitionResult(
        labels=canonical(labels),
        cost=cost,
        objective=cost,
        lower_bound=-np.inf,
        status=status,
        message=message,
        iterations=stopping.iterations,
        seconds=stopping.seconds,
        method="kernel-k-means",
        nodes=range(n),
        history=tuple(stopping.history),
    )


def kernel_kmeans_objective(kernel: ArrayLike, labels: ArrayLike, weights: ArrayLike | None = None) -> float:
    """J of a partition, from its definition. O(n^2)"""
    K, codes = np.asarray(kernel, np.float64), np.asarray(labels)
    w = np.ones(len(K)) if weights is None else np.asarray(weights, np.float64)
    J = float(w @ np.diagonal(K))
    for label in np.unique(codes):
        inside = np.flatnonzero(codes == label)
        v = w[inside]
        J -= float(v @ K[np.ix_(inside, inside)] @ v) / float(v.sum())
    return J


def _move(K: Array, k: int, w: Array, labels: NDArray[np.int64], stopping: Stopping) -> NDArray[np.int64]:
    """The fixed point of moves."""
    n = len(K)
    if not n:
        return labels
    every, diagonal = np.arange(n), np.diagonal(K)
    member = np.zeros((n, k))
    member[every, labels] = w
    table = K @ member  # table[a, C] = sum over b in C of w_b K_ab
    size = member.sum(axis=0)
    count = np.bincount(labels, minlength=k)
    small = ROUNDING * float(w @ np.abs(diagonal))  # of the first term of J
    try:
        while True:
            mass = np.bincount(labels, w * table[every, labels], minlength=k)
            filled = count > 0
            s = np.where(filled, size, 1.0)
            distance = diagonal[:, None] - 2 * table / s + mass / s**2  # ||phi(a) - m_C||^2
            gain = distance * (s * w[:, None] / (s + w[:, None]))
            gain[:, ~filled] = 0.0  # a new cluster of one element costs nothing
            own = distance[every, labels]
            alone = count[labels] == 1
            rest = np.where(alone, 1.0, size[labels] - w)
            loss = np.where(alone, 0.0, own * size[labels] * w / rest)
            delta = gain - loss[:, None]
            delta[every, labels] = np.inf
            best = int(np.argmin(delta))
            a, D = divmod(best, k)
            if not delta[a, D] < -small:
                return labels
            C = int(labels[a])
            column = w[a] * K[:, a]
            table[:, C] -= column
            table[:, D] += column
            labels[a] = D
            count[C] -= 1
            count[D] += 1
            size[C] = float(w[labels == C].sum())
            size[D] = float(w[labels == D].sum())
            # the first term of J is a constant, the others follow from the table
            if stopping.step(float(w @ diagonal - (mass[filled] / s[filled]).sum() + delta[a, D])):
                return labels
    except KeyboardInterrupt:
        stopping.stop(Status.INTERRUPTED)
        return labels


def _far_centers(K: Array, k: int, w: Array, rng: np.random.Generator) -> NDArray[np.int64]:
    """The nearest of k elements, each drawn with probability in proportion to its weighted squared distance so far."""
    n = len(K)
    if not n:
        return np.zeros(0, np.int64)
    diagonal = np.diagonal(K)
    centers = [int(rng.choice(n, p=w / w.sum()))]
    distance = np.full((n, k), np.inf)
    for c in range(k):
        center = centers[c]
        distance[:, c] = np.maximum(0.0, diagonal - 2 * K[:, center] + K[center, center])
        nearest = w * distance.min(axis=1)
        if c + 1 < k:
            total = nearest.sum()
            centers.append(int(rng.choice(n, p=nearest / total if total > 0 else w / w.sum())))
    labels: Any = np.argmin(distance, axis=1)
    return np.asarray(labels, np.int64)
