"""Attributes of pairs that carry over to other classes: nearness in a learned linear map, and walks among neighbours.

1. Attributes of elements are centred and divided by the root of their variance within classes. What is added to it
   keeps attributes that hardly vary small: a hundredth of the whole variance, and the median variance within classes
   times the share of the variance that is within them. Then a linear map makes the mean scatter within classes that of
   independent attributes (the whitening of linear discriminant analysis). After the map, directions in which elements
   of one class differ count little. In the directions of the scatter of class means b, which is larger where classes
   differ, distances are multiplied by the root of b / (1 + b): where classes do not differ, distances say nothing. Both
   scatters are shrunk to their means (Friedman 1989), as if there were V more elements, and `CLASSES` more classes.
2. Two attributes measure the nearness of a pair after the map: minus the Euclidean distance, in units of the mean
   distance of training pairs, and the cosine.
3. For each of these two measures, a graph joins every element with its k nearest neighbours and with itself, where k is
   half of the median size that classes of the training elements would have among as many elements, from 4 to 10. Let
   M = D^-1/2 A D^-1/2 be the normalised matrix of the random walk on this graph. For t = 2, 4, 8, 16, a further
   attribute compares the distribution of a walk of t / 2 steps from a with that of a walk of t / 2 steps from b:

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
CLASSES = 5  # as how many classes the mean of the scatter of class means counts
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
    share_ : float
        Half of the median size of training classes, as a share of all training elements.
    least_ : float
        4, or half of the median size of training classes if that is smaller: the new classes may be few.

    Notes
    -----
    For n elements, the time is O(n V^2 + n^2 (V + k sum of steps)), and the memory is that of some matrices of n times
    n numbers.
    """

    mean_: Array
    scale_: Array
    map_: Array
    unit_: float
    share_: float
    least_: float

    def fit(self, X: Array, y: NDArray[Any], weights: Array | None = None) -> RichAttributes:
        """Learn the map from elements of known classes; `weights` are those of the elements."""
        X = element_rows(X)
        w: Array = np.ones(len(X)) if weights is None else weights
        w = w / w.sum()
        codes = np.unique(y, return_inverse=True)[1].reshape(-1)
        self.mean_ = w @ X
        share = np.bincount(codes, w)
        whole = w @ np.square(X - self.mean_)
        within = w @ np.square(X - _means(X, codes, w)[codes])
        positive = within[within > 0]
        usual = np.median(positive) if len(positive) else 0.0
        variances = within + 0.01 * whole + usual * within / np.where(whole > 0, whole, 1.0)
        self.scale_ = np.where(variances > 0, np.sqrt(variances), 1.0)
        Z = (X - self.mean_) / self.scale_
        n, V, classes = *Z.shape, len(share)
        means = _means(Z, codes, w)
        residual = Z - means[codes]
        free = max(1, n - classes)
        scatter = (residual * w[:, None]).T @ residual * (n / free)
        values, axes = np.linalg.eigh(_shrunk(scatter, free, V) if scatter.any() else np.eye(V))
        whiten = axes / np.sqrt(values)
        centred = (means - share @ means) @ whiten
        between = (centred * share[:, None]).T @ centred * (classes / max(1, classes - 1))
        error = float((np.bincount(codes, w * w) / np.where(share > 0, share, 1.0)).sum())  # of the means of classes
        values, axes = np.linalg.eigh(between - error * np.eye(V))
        b = np.maximum(values, 0.0)
        b = ((classes - 1) * b + CLASSES * b.mean()) / (classes - 1 + CLASSES)
        self.map_ = whiten @ axes * np.sqrt(b / (1.0 + b) if b.any() else np.ones(V))
        half = float(np.median(np.bincount(codes))) / 2
        self.share_, self.least_ = half / n, min(4.0, half)
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
            yield from walk_similarities(near, int(np.clip(max(self.share_ * len(X), self.least_), 2, 10)))

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


def _means(X: Array, codes: NDArray[np.int64], w: Array) -> Array:
    """The mean of each class."""
    share = np.bincount(codes, w)
    sums: Array = np.stack([np.bincount(codes, w * column) for column in X.T], axis=1)
    return sums / np.where(share > 0, share, 1.0)[:, None]


def _shrunk(scatter: Array, number: float, more: float) -> Array:
    """A scatter of so many observations, and its mean as so many more."""
    V = len(scatter)
    shrunk: Array = (number * scatter + more * np.trace(scatter) / V * np.eye(V)) / (number + more)
    return shrunk


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
