"""Attributes of pairs that carry over to other classes: nearness in a learned linear map, and walks among neighbours.

1. Attributes of elements are centred and divided by the root of (their variance plus the median variance of all
   attributes), so that attributes that hardly vary do not become large. Then a linear map makes the mean scatter within
   classes that of independent attributes (the whitening of linear discriminant analysis; the scatter is shrunk half-way
   to its mean, Friedman 1989). After the map, directions in which elements of one class differ count little.
2. Two attributes measure the nearness of a pair after the map: minus the Euclidean distance, in units of the mean
   distance of training pairs, and the cosine.
3. For each of these two measures, a graph joins every element with its k nearest neighbours and with itself. Let M =
   D^-1/2 A D^-1/2 be the normalised matrix of the random walk on this graph. For t = 2, 4, 8, 16, a further attribute
   compares the distribution of a walk of t / 2 steps from a with that of a walk of t / 2 steps from b:

       M^t[a, b] / sqrt(M^t[a, a] M^t[b, b]),        t = 2, 4, 8, 16,

   This is the cosine of diffusion maps (Coifman & Lafon 2006). It adapts to the density around each element, and
   elements at the two ends of an elongated class are near in it. For both reasons, costs that are learned from some
   classes also suit others.

The attributes of 3 depend on all elements, not only on those of the pair.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.learn.attributes import element_rows, unit_rows
from graphpart.partition.problem import check_matrix_fits

__all__ = ["RichAttributes", "walk_similarities"]

Array = NDArray[np.float64]
STEPS = (2, 4, 8, 16)
NEARNESS = ("distance", "cosine")
NAMES = tuple(
    f"{near}{suffix}" for near in NEARNESS for suffix in ("", *(f", walks of {steps} steps" for steps in STEPS))
)


class RichAttributes:
    """The attributes of pairs described above.

    Attributes
    ----------
    mean_, scale_ : ndarray of float64, shape (V,)
    map_ : ndarray of float64, shape (V, V)
    unit_ : float
        The mean distance of training elements in the map.
    neighbors_ : int
        k: 10, or half of the median size of training classes if that is smaller, at least 2.

    Notes
    -----
    For n elements, the time is O(n V^2 + n^2 (V + k sum of steps)), and the memory is that of some matrices of n times
    n numbers.
    """

    mean_: Array
    scale_: Array
    map_: Array
    unit_: float
    neighbors_: int

    def fit(self, X: Array, y: NDArray[Any], weights: Array | None = None) -> RichAttributes:
        """Learn the map from elements of known classes; `weights` are those of the elements."""
        X = element_rows(X)
        w: Array = np.ones(len(X)) if weights is None else weights
        w = w / w.sum()
        codes = np.unique(y, return_inverse=True)[1].reshape(-1)
        self.mean_ = w @ X
        variances = w @ np.square(X - self.mean_)
        positive = variances[variances > 0]
        scale = np.sqrt(variances + (np.median(positive) if len(positive) else 0.0))
        self.scale_ = np.where(scale > 0, scale, 1.0)
        Z = (X - self.mean_) / self.scale_
        share = np.bincount(codes, w)
        means: NDArray[np.float64] = np.stack([np.bincount(codes, w * column) for column in Z.T], axis=1)
        means = means / np.where(share > 0, share, 1.0)[:, None]
        residual = Z - means[codes]
        scatter = (residual * w[:, None]).T @ residual
        variance = float(np.trace(scatter)) / len(scatter)
        target = (variance if variance > 0 else 1.0) * np.eye(len(scatter))
        values, axes = np.linalg.eigh(0.5 * (scatter + target))
        self.map_ = axes / np.sqrt(values)
        sizes = np.bincount(codes)
        self.neighbors_ = int(np.clip(np.median(sizes) / 2, 2, 10))
        mapped = Z @ self.map_
        squares = np.einsum("nv,nv->n", mapped, mapped)
        mean = mapped.mean(axis=0)
        spread = 2.0 * (float(squares.mean()) - float(mean @ mean))  # the mean squared distance
        self.unit_ = float(np.sqrt(spread)) if spread > 0 else 1.0
        return self

    def mapped(self, X: Array) -> Array:
        """The elements in the learned map, shape (n, V)."""
        mapped: Array = ((element_rows(X) - self.mean_) / self.scale_) @ self.map_
        return mapped

    def matrices(self, X: Array) -> Iterator[Array]:
        """The attributes of all pairs, one symmetric matrix of shape (n, n) after the other, in the order of `NAMES`.

        A matrix is valid only until the next one is requested.
        """
        check_matrix_fits(len(X), copies=4)
        Z = self.mapped(X)
        for near in (self._distances(Z), self._cosines(Z)):
            yield near
            yield from walk_similarities(near, self.neighbors_)

    def of_pairs(self, X: Array, pairs: NDArray[np.integer[Any]]) -> Array:
        """The attributes of some pairs, shape (m, 10)."""
        out = np.empty((len(pairs), len(NAMES)))
        u, v = pairs.T
        for k, matrix in enumerate(self.matrices(X)):
            out[:, k] = matrix[u, v]
        return out

    def cost_matrix(self, X: Array, theta: Array, constant: float) -> Array:
        """The costs -<theta, x> - constant of all pairs, symmetric, with zero diagonal."""
        C = np.full((len(X), len(X)), -constant)
        for weight, matrix in zip(theta.tolist(), self.matrices(X), strict=True):
            C -= weight * matrix
        costs: Array = 0.5 * (C + C.T)
        np.fill_diagonal(costs, 0.0)
        return costs

    def _distances(self, Z: Array) -> Array:
        squares = np.einsum("nv,nv->n", Z, Z)
        near = Z @ Z.T
        near *= -2.0
        near += squares
        near += squares[:, None]
        np.sqrt(np.maximum(near, 0.0, out=near), out=near)
        near *= -1.0 / self.unit_
        np.fill_diagonal(near, 0.0)
        distances: Array = near
        return distances

    def _cosines(self, Z: Array) -> Array:
        rows = unit_rows(Z)
        cosines: Array = rows @ rows.T
        return cosines


def walk_similarities(near: Array, k: int) -> Iterator[Array]:
    """For each pair, the similarity of the distributions of random walks from both of its elements.

    Parameters
    ----------
    near : ndarray of float64, shape (n, n)
        Symmetric; larger is nearer. The diagonal does not matter.
    k : int
        Number of neighbours. An element is linked to itself, to its k nearest elements, and to the elements that have
        it among their k nearest.

    Yields
    ------
    ndarray of float64, shape (n, n)
        For walks of 2, 4, 8 and 16 steps: between 0 and 1, see the module.

    Notes
    -----
    O(n^2 k) for each step.

    Examples
    --------
    >>> near = -np.abs(np.subtract.outer([0.0, 1.0, 2.0, 9.0, 10.0, 11.0], [0.0, 1.0, 2.0, 9.0, 10.0, 11.0]))
    >>> first, *_, last = walk_similarities(near, 1)
    >>> last[0].round(2).tolist()
    [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    """
    from scipy.sparse import csr_array, eye

    n = len(near)
    k = min(k, n - 1)
    if k < 1:
        for _ in STEPS:
            yield np.ones((n, n))
        return
    others = near.copy()
    np.fill_diagonal(others, -np.inf)
    nearest = np.argpartition(-others, k - 1, axis=1)[:, :k]
    ends = (np.repeat(np.arange(n), k), nearest.ravel())
    A = csr_array((np.ones(n * k), ends), shape=(n, n))
    A = A.maximum(A.T) + csr_array(eye(n))
    root = 1.0 / np.sqrt(np.asarray(A.sum(axis=1)).ravel())
    M = csr_array(A.multiply(root[:, None]).multiply(root))
    K, steps = M.toarray(), 1
    for wanted in STEPS:
        while steps < wanted:
            K = M @ K
            steps += 1
        diagonal = 1.0 / np.sqrt(np.diagonal(K))
        yield K * diagonal * diagonal[:, None]
