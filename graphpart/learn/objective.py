"""The objective of l2-regularised logistic regression with base 2, accumulated block by block.

For samples s with attributes x_s in R^V, decisions y_s in {0, 1} and weights w_s (default 1),

    phi(theta) = sum_s w_s (-y_s f_s + log2(1 + 2^f_s))  +  log2(e) / (2 sigma^2) ||theta - mu||^2,  f_s = <theta, x_s>,

is, up to a constant, the negative logarithm (base 2) of the posterior of theta under
P(y_s = 1 | x_s) = 1 / (1 + 2^-f_s) and a Gaussian prior with mean mu and standard deviation sigma. It is strictly
convex. With the signed margin m = f if y = 0, -f if y = 1, each term is log2(1 + 2^m), which needs one exponential of a
number that is not positive, and loses no digits however far m is from 0.

Samples are read in blocks that stay in the cache, since a pass reads each block two or three times. Each product with a
block is divided into products with slices so small that the BLAS does not use threads for them: on a busy machine,
thousands of synchronisations of threads take far longer than the arithmetic.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem
from graphpart.result import Status
from graphpart.stopping import Stopping

__all__ = ["Blocks", "Ended", "Objective", "check_lengths", "float_rows"]

Array = NDArray[np.float64]
Blocks = Callable[[], Iterator[tuple[Any, ...]]]  #: each call starts a new pass over (X, y) or (X, y, weights) blocks

LN2 = math.log(2.0)
BLOCK = 1 << 17  # numbers in a block, approximately, which stays in the cache
VECTOR_WORK = 1 << 13  # largest number of multiplications of a slice with a vector
MATRIX_WORK = 1 << 18  # largest number of multiplications of a slice with itself


class Ended(Exception):
    """The run has to end in the middle of a pass; the sums of this pass are not used."""


class Objective:
    """phi, its gradient and its Hessian over re-readable blocks of samples.

    Parameters
    ----------
    blocks : callable
        ``blocks()`` starts a pass over tuples ``(X, y)`` or ``(X, y, weights)``; any number of rows each.
    attributes : int
        Number of columns of X.
    sigma : float
    intercept : bool
        Whether a constant attribute 1 is appended to each sample; it is never stored.
    stopping : Stopping
    mean : float or array_like
        mu, one number for all parameters, or one for each.
    """

    def __init__(
        self, blocks: Blocks, attributes: int, sigma: float, intercept: bool, stopping: Stopping, mean: Any = 0.0
    ) -> None:
        self.blocks = blocks
        self.columns = attributes
        self.intercept = intercept
        self.size = attributes + intercept
        self.mean = np.broadcast_to(np.asarray(mean, np.float64), self.size)
        self.prior = 1.0 / (LN2 * sigma * sigma)  # d/dtheta of the regulariser is prior * (theta - mean)
        self.stopping = stopping
        self.slice = min(VECTOR_WORK // self.size, MATRIX_WORK // self.size**2)
        if self.slice < 16:  # products so large that they are worth waking threads for
            self.slice = BLOCK // self.size + 1
        self.rows = max(1, BLOCK // self.size // self.slice) * self.slice
        self.samples = 0
        self.checked = False  # whether a complete pass has found all numbers finite

    def read(self) -> Iterator[tuple[Array, Array, Array | None]]:
        """One pass: blocks of samples as float64, with decisions turned into signs -1 (1), +1 (0).

        Each block has a multiple of `slice` rows, up to `rows`, or fewer than `slice`.
        """
        first = 0
        for block in self.blocks():
            X, y = block[0], block[1]
            weights = block[2] if len(block) > 2 else None
            if np.ndim(X) != 2 or np.shape(X)[1] != self.columns:
                raise InvalidProblem(f"X has shape {np.shape(X)}: expected (samples, {self.columns})")
            check_lengths(len(X), y, weights)
            for part in self._parts(len(X)):
                if self.stopping.remaining == 0.0:
                    self.stopping.stop(Status.TIME_LIMIT)
                    raise Ended
                at = first + part.start
                signs = decision_signs(y[part], at, self.checked)
                w = None if weights is None else _weights(weights[part], at)
                yield float_rows(X[part], at, self.checked), signs, w
            first += len(X)
        self.samples = first
        self.checked = True

    def _parts(self, length: int) -> Iterator[slice]:
        whole = length - length % self.slice
        for start in range(0, whole, self.rows):
            yield slice(start, min(start + self.rows, whole))
        if whole < length:
            yield slice(whole, length)

    def value(self, theta: Array) -> float:
        """phi(theta). O(n V)"""
        total = 0.0
        for X, signs, w in self.read():
            loss = _losses(signs * self._scores(X, theta))
            total += float(loss.sum() if w is None else w @ loss)
        return total + 0.5 * self.prior * float(np.sum((theta - self.mean) ** 2))

    def gradient(self, theta: Array) -> tuple[float, Array]:
        """phi(theta) and its gradient. O(n V)"""
        value, gradient, _ = self._accumulate(theta, None)
        return value, gradient

    def hessian(self, theta: Array) -> tuple[float, Array, Array]:
        """phi(theta), its gradient and its Hessian. O(n V^2)"""
        return self._accumulate(theta, np.zeros((self.size, self.size)))

    def _accumulate(self, theta: Array, hessian: Array | None) -> tuple[float, Array, Array]:
        value, gradient = 0.0, np.zeros(self.size)
        scaled = np.empty((self.rows if hessian is not None else 0, self.size))
        for X, signs, w in self.read():
            m = signs * self._scores(X, theta)
            e = np.exp(np.abs(m) * -LN2)
            loss = np.maximum(m, 0.0) + np.log1p(e) / LN2
            p = 1.0 / (1.0 + e)
            curvature = p * p * e
            slope = np.where(m >= 0, p, p * e) * signs
            if w is not None:
                loss, slope, curvature = w * loss, w * slope, w * curvature
            value += float(loss.sum())
            gradient[: self.columns] += _dot(slope, X, self.slice)
            if self.intercept:
                gradient[-1] += slope.sum()
            if hessian is not None:
                root = np.sqrt(curvature * LN2, out=curvature)
                part = scaled[: len(X)]
                np.multiply(X, root[:, None], out=part[:, : self.columns])
                if self.intercept:
                    part[:, -1] = root
                hessian += _square(part, self.slice)
        value += 0.5 * self.prior * float(np.sum((theta - self.mean) ** 2))
        gradient += self.prior * (theta - self.mean)
        if hessian is None:
            return value, gradient, scaled
        hessian[np.diag_indices(self.size)] += self.prior
        return value, gradient, hessian

    def line(self, theta: Array, direction: Array) -> Callable[[float], tuple[float, float]]:
        """The first two derivatives of ``eta -> phi(theta - eta * direction)``, from one pass. O(n V), then O(n) each.

        Keeps two vectors of n numbers, and a third one if samples have weights.
        """
        margins, rates, weights = [], [], []
        for X, signs, w in self.read():
            margins.append(signs * self._scores(X, theta))
            rates.append(signs * self._scores(X, direction))
            weights.append(w)
        along, across = float((theta - self.mean) @ direction), float(direction @ direction)

        def derivatives(eta: float) -> tuple[float, float]:
            first = second = 0.0
            for m, q, w in zip(margins, rates, weights, strict=True):
                moved = m - eta * q
                e = np.exp(np.abs(moved) * -LN2)
                p = 1.0 / (1.0 + e)
                slope = np.where(moved >= 0, p, p * e) * q
                curvature = p * p * e * q * q
                first -= float(slope.sum() if w is None else w @ slope)
                second += LN2 * float(curvature.sum() if w is None else w @ curvature)
            return first - self.prior * (along - eta * across), second + self.prior * across

        return derivatives

    def _scores(self, X: Array, theta: Array) -> Array:
        scores = (_slices(X, self.slice) @ theta[: self.columns]).reshape(-1)
        if self.intercept:
            scores += theta[-1]
        return scores


def _slices(X: Array, rows: int) -> Array:
    """A block as a stack of slices, without a copy."""
    return X.reshape(-1, min(rows, len(X)), X.shape[1])


def _dot(weights: Array, X: Array, rows: int) -> Array:
    """weights @ X"""
    stack = _slices(X, rows)
    product: Array = (weights.reshape(len(stack), 1, -1) @ stack).sum(axis=(0, 1))
    return product


def _square(X: Array, rows: int) -> Array:
    """X.T @ X"""
    stack = _slices(X, rows)
    product: Array = (stack.transpose(0, 2, 1) @ stack).sum(axis=0)
    return product


def _losses(margins: Array) -> Array:
    losses: Array = np.maximum(margins, 0.0) + np.log1p(np.exp(np.abs(margins) * -LN2)) / LN2
    return losses


def float_rows(X: Any, first: int, checked: bool = False) -> Array:
    """A block of attributes as finite float64 rows; `first` is the number of its first row, for the message."""
    given = np.asarray(X)
    if given.dtype.kind not in "fiubO":
        raise InvalidProblem(f"attributes have dtype {given.dtype}: expected real numbers")
    try:
        rows = np.ascontiguousarray(given, np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidProblem(f"attributes of samples from {first} on: {error}") from None
    if not checked:
        # A sum is finite only if all terms are, and needs no temporary array; but it may overflow.
        with np.errstate(over="ignore", invalid="ignore"):
            finite = np.isfinite(np.add.reduce(rows, axis=None)) or np.isfinite(rows).all()
        if not finite:
            s, v = np.argwhere(~np.isfinite(rows))[0].tolist()
            raise InvalidProblem(f"attribute {v} of sample {first + s} is {rows[s, v]}: expected a finite number")
    return rows


def check_lengths(samples: int, y: Any, weights: Any) -> None:
    """Raise InvalidProblem unless there is one decision and, if there are weights, one weight for each sample."""
    if np.shape(y) != (samples,):
        raise InvalidProblem(f"y has shape {np.shape(y)}: expected ({samples},), one decision for each sample")
    if weights is not None and np.shape(weights) != (samples,):
        raise InvalidProblem(f"weights have shape {np.shape(weights)}: expected ({samples},)")


def decision_signs(y: Any, first: int, checked: bool = False) -> Array:
    """+1 for a decision 0, -1 for a decision 1."""
    decisions = np.asarray(y)
    if not checked:
        bad = (decisions != 0) & (decisions != 1)
        if decisions.dtype.kind not in "fiub" or bad.any():
            s = int(np.argmax(bad))
            raise InvalidProblem(f"decision {first + s} is {decisions[s].item()!r}: expected 0 or 1")
    return 1.0 - 2.0 * decisions.astype(np.float64)


def _weights(weights: Any, first: int) -> Array:
    w = np.asarray(weights, np.float64)
    bad = ~((w >= 0) & (w < np.inf))
    if bad.any():
        s = int(np.argmax(bad))
        raise InvalidProblem(f"weight {first + s} is {w[s]}: expected a finite number of at least 0")
    return w
