"""From attributes of elements to costs of pairs: candidate pairs, training pairs, costs, and the problem to solve.

With a learned theta, the cost of joining a and b is c[a, b] = -<theta, x_ab>. The costs of all pairs are written
directly into a matrix, without an array of all pairs times all attributes. Terms that are linear in products of
attributes are one symmetric update of rank V by the BLAS; sums of absolute or squared differences are one sweep of a
kernel.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from graphpart.common.matrices import mirror_upper
from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.learn._differences import add_differences
from graphpart.learn.attributes import (
    Array,
    Kind,
    attribute_blocks,
    attribute_names,
    element_rows,
    flat,
    pair_attributes,
    pair_indices,
    rows_of,
    total_width,
    unit_rows,
    width,
)
from graphpart.learn.candidates import cut_into_problems, equal_keys, nearest_neighbors, training_pairs
from graphpart.learn.objective import BLOCK, Blocks
from graphpart.learn.rich_attributes import walk_similarities
from graphpart.machine import processors
from graphpart.partition.problem import SetPartition, check_matrix_fits

__all__ = [
    "attribute_names",
    "cost_matrix",
    "cut_into_problems",
    "equal_keys",
    "nearest_neighbors",
    "pair_attributes",
    "pair_costs",
    "pair_indices",
    "problem",
    "sample_blocks",
    "training_pairs",
    "walk_similarities",
]


def __dir__() -> list[str]:
    return sorted(__all__)


def sample_blocks(
    X: ArrayLike,
    pairs: ArrayLike,
    same: ArrayLike,
    kind: Kind = "absolute-difference",
    weights: ArrayLike | None = None,
) -> Blocks:
    """Training samples for `LogisticRegression.fit_blocks`, with the attributes of pairs made anew in each pass.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes of elements.
    pairs, same : array_like, shape (m, 2) and (m,)
        As from :func:`training_pairs`.
    kind
        As for :func:`pair_attributes`.
    weights : array_like, shape (m,), optional
        Weights of the samples.

    Examples
    --------
    >>> from graphpart.learn import LogisticRegression
    >>> X = [[0.0], [0.1], [2.0], [2.2]]
    >>> pairs, same = training_pairs([0, 0, 1, 1])
    >>> model = LogisticRegression(5.0, intercept=True).fit_blocks(sample_blocks(X, pairs, same), 1)
    >>> problem(X, model).evaluate([0, 0, 1, 1]) < 0
    True
    """
    elements = element_rows(X)
    indices, decisions = pair_indices(pairs, len(elements)), np.asarray(same)
    if decisions.shape != (len(indices),):
        raise InvalidProblem(f"{len(indices)} pairs but decisions of shape {decisions.shape}: expected one for each")

    w = None if weights is None else np.asarray(weights)
    if w is not None and w.shape != (len(indices),):
        raise InvalidProblem(f"{len(indices)} pairs but weights of shape {w.shape}: expected one for each")

    def blocks() -> Iterator[tuple[Any, ...]]:
        for first, rows in attribute_blocks(elements, indices, kind):
            part = slice(first, first + len(rows))
            yield (rows, decisions[part]) if w is None else (rows, decisions[part], w[part])

    return blocks


def pair_costs(X: ArrayLike, pairs: ArrayLike, model: Any, kind: Kind = "absolute-difference") -> Array:
    """Costs -<theta, x> of given pairs.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes of elements.
    pairs : array_like of int, shape (m, 2)
    model : LogisticRegression or array_like of W parameters
    kind
        As for :func:`pair_attributes`.

    Returns
    -------
    ndarray of float64, shape (m,)
    """
    elements = element_rows(X)
    indices = pair_indices(pairs, len(elements))
    theta, constant = _parameters(model, total_width(kind, elements))
    costs = np.empty(len(indices))
    with np.errstate(over="ignore", invalid="ignore"):
        for first, rows in attribute_blocks(elements, indices, kind):
            np.matmul(rows, -theta, out=costs[first : first + len(rows)])
    costs -= constant
    return _finite(costs)


def cost_matrix(X: ArrayLike, model: Any, kind: Kind = "absolute-difference") -> Array:
    """Costs -<theta, x> of all pairs.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes of elements.
    model : LogisticRegression or array_like of W parameters
    kind
        As for :func:`pair_attributes`.

    Returns
    -------
    ndarray of float64, shape (n, n)
        Symmetric, with zero diagonal.

    Raises
    ------
    InvalidProblem
        If the number of parameters is not that of the attributes, or a cost overflows.

    Notes
    -----
    O(n^2 V) time, O(n^2 + n V) memory.

    Examples
    --------
    >>> cost_matrix([[0.0], [1.0], [4.0]], [-1.0])
    array([[0., 1., 4.],
           [1., 0., 3.],
           [4., 3., 0.]])
    """
    elements = element_rows(X)
    n = len(elements)
    check_matrix_fits(n)
    theta, constant = _parameters(model, total_width(kind, elements))
    C = np.full((n, n), -constant)
    first = 0
    with np.errstate(over="ignore", invalid="ignore"):
        for part in flat(kind):
            weights = theta[first : first + width(part, elements)]
            first += len(weights)
            _subtract(part, elements, weights, C)
    mirror_upper(C)
    return _finite(C)


def problem(
    X: ArrayLike,
    model: Any,
    kind: Kind = "absolute-difference",
    *,
    pairs: ArrayLike | None = None,
    nodes: Iterable[Hashable] | None = None,
) -> SetPartition:
    """The set partition problem with learned costs.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes of elements.
    model : LogisticRegression or array_like of W parameters
    kind
        As for :func:`pair_attributes`.
    pairs : array_like of int, shape (m, 2), optional
        Candidates, as from :func:`nearest_neighbors` or :func:`equal_keys`; all other pairs cost 0. Default: all pairs.
    nodes : iterable of n hashables, optional
        Names of the elements.
    """
    if pairs is None:
        return SetPartition.from_matrix(cost_matrix(X, model, kind), nodes)
    elements = element_rows(X)
    costs = pair_costs(elements, pairs, model, kind)
    return SetPartition.from_pairs(len(elements), pair_indices(pairs, len(elements)), costs, nodes)


def _parameters(model: Any, width: int) -> tuple[Array, float]:
    """theta without the intercept, and the intercept or 0."""
    if hasattr(model, "fit") and not hasattr(model, "theta_"):
        raise InvalidOption("the model is not fitted: call fit first")
    theta = np.asarray(getattr(model, "theta_", model), np.float64)
    constant = 0.0
    if getattr(model, "intercept", False):
        theta, constant = theta[:-1], float(theta[-1])
    if theta.shape != (width,):
        raise InvalidProblem(f"the model has {theta.size} parameters for {width} attributes of pairs")
    return theta, constant


def _subtract(kind: Any, X: Array, weights: Array, C: Array) -> None:
    """C[a, b] -= <weights, x_ab> for a < b, for one kind of attributes."""
    if callable(kind):
        _subtract_called(kind, X, weights, C)
    elif kind == "absolute-difference":
        _add_differences(X, -weights, False, C)
    elif kind == "squared-difference":
        _add_differences(X, -weights, True, C)
    elif kind == "product":
        _add_products(X, -weights, C)
    elif kind == "cosine":
        rows = unit_rows(X)
        _add_products(rows, np.full(rows.shape[1], -weights[0]), C)
    else:  # concatenated: min and max are half of sum minus and plus absolute difference
        smaller, larger = np.split(weights, 2)
        sums = X @ (0.5 * (smaller + larger))
        C -= sums
        C -= sums[:, None]
        _add_differences(X, 0.5 * (smaller - larger), False, C)


def _add_differences(X: Array, weights: Array, squared: bool, C: Array) -> None:
    """C[a, b] += sum over v of weights_v |X[a, v] - X[b, v]|, or of its square, for a < b."""
    order = np.concatenate([np.flatnonzero(weights > 0), np.flatnonzero(weights < 0)])
    scale = np.abs(weights[order])
    rows = np.ascontiguousarray(X[:, order]) * (np.sqrt(scale) if squared else scale)
    columns = np.ascontiguousarray(rows.T)
    positive, n, step = int((weights > 0).sum()), len(X), 256

    def strip(first: int) -> None:
        add_differences(rows, columns, positive, squared, first, min(first + step, n), C)

    with ThreadPoolExecutor(processors()) as pool:
        for _ in pool.map(strip, reversed(range(0, n, step))):  # the longest strips first
            pass


def _add_products(X: Array, weights: Array, C: Array) -> None:
    """C[a, b] += sum over v of weights_v X[a, v] X[b, v], for a < b."""
    from scipy.linalg.blas import dsyrk

    for sign in (1.0, -1.0):
        chosen = weights * sign > 0
        if chosen.any() and len(X):
            rows = np.ascontiguousarray(X[:, chosen] * np.sqrt(np.abs(weights[chosen])))
            # C.T has the layout of Fortran, and its lower triangle is our upper one
            dsyrk(sign, rows.T, beta=1.0, c=C.T, trans=1, lower=1, overwrite_c=1)


def _subtract_called(kind: Callable[..., ArrayLike], X: Array, weights: Array, C: Array) -> None:
    """C[a, b] -= <weights, kind(a, b)> for a < b, some rows at a time."""
    n = len(X)
    step = max(1, BLOCK // max(1, X.shape[1] + len(weights)))
    for a in range(n - 1):
        for first in range(a + 1, n, step):
            z = X[first : first + step]
            C[a, first : first + step] -= rows_of(np.broadcast_to(X[a], z.shape), z, [kind]) @ weights


def _finite(costs: Array) -> Array:
    # Learned costs are never requirements, so infinite costs are not allowed.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = np.isfinite(np.add.reduce(costs, axis=None)) or np.isfinite(costs).all()
    if not finite:
        where = tuple(np.argwhere(~np.isfinite(costs))[0].tolist())
        raise InvalidProblem(f"cost {where} is {costs[where]}: expected attributes or parameters of smaller size")
    return costs
