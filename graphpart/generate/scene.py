"""A scene of regions of several classes, each pixel judged by a learned classifier, to segment with a Potts prior."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.generate.grid import regions_of_points
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)
from graphpart.kernels.elementary import exp, log

__all__ = ["scene"]

Array = NDArray[np.float64]

COLOURS = 3


def scene(
    height: int,
    width: int,
    classes: int = 3,
    regions: int = 12,
    sigma: float = 1.0,
    samples: int = 50,
    smoothness: float = 1.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> FactorInstance:
    """A scene to segment: costs of labels are ``-ln P(class | pixel)`` by a classifier learned from other pixels.

    The scene consists of the regions of nearest seed points, of `classes` classes in turn. A pixel has a colour, three
    numbers: those of its class, which are standard Gaussian, plus Gaussian noise. Multinomial logistic regression
    learns the classes from labelled pixels that are not in the scene. Different labels of neighbours cost `smoothness`.
    Pixel (i, j) is variable ``i * width + j``.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns of pixels.
    classes : int
        Number of classes, the labels of each variable.
    regions : int
        Number of seed points.
    sigma : float
        Standard deviation of the noise of colours.
    samples : int
        Number of labelled pixels of each class to learn from.
    smoothness : float
        Cost of different labels of neighbours.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and the classes of the pixels.

    Notes
    -----
    The classifier minimises the sum of the logistic losses plus half the sum of the squared coefficients, without the
    intercepts. Its parameters are rounded to 8 decimals, of which it has 14, so that costs do not depend on the
    processor that found them. Drawn in this order: seed points, colours of classes, colours of pixels to learn from,
    colours of pixels of the scene.

    Examples
    --------
    >>> f, truth = scene(20, 30, classes=4, seed=1)
    >>> f.n, f.m, int(f.domains.max()), len(set(truth.tolist()))
    (600, 1750, 4, 4)
    """
    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    classes, samples = check_integer("classes", classes, 2, 256), check_integer("samples", samples, 1)
    regions = check_integer("regions", regions, 1)
    if regions < classes:
        raise InvalidOption(f"regions is {regions}: expected at least one for each of {classes} classes")
    sigma, smoothness = check_number("sigma", sigma, 0), check_number("smoothness", smoothness, 0)
    rng = random_generator(seed)
    truth = (regions_of_points((height, width), regions, rng) % classes).astype(np.int32)
    colours = standard_normal(rng, (classes, COLOURS))
    known = np.repeat(np.arange(classes), samples)
    seen = colours[known] + sigma * standard_normal(rng, (len(known), COLOURS))
    pixels = colours[truth] + sigma * standard_normal(rng, (len(truth), COLOURS))
    theta = rounded(_learned(seen, known, classes), 8)
    scores = np.broadcast_to(theta[COLOURS], (len(pixels), classes)).copy()
    for colour, weights in zip(pixels.T, theta[:COLOURS], strict=True):
        scores += colour[:, None] * weights
    unary = _surprise(scores)
    weight = rounded(np.array(smoothness), decimals)
    costs = rounded(unary, decimals).reshape(height, width, classes)
    return FactorInstance(FactorGraph.potts((height, width), costs, weight), truth)


def _surprise(scores: Array) -> Array:
    """``-ln P`` of the classes, whose probabilities are proportional to the exponentials of their scores."""
    below = scores.max(axis=1, keepdims=True, initial=-np.inf) - scores
    total = np.zeros((len(scores), 1))
    for column in exp(-below).T:
        total += column[:, None]
    costs: Array = below + log(total)
    return costs


def _learned(X: Array, y: NDArray[np.int64], classes: int) -> Array:
    """Parameters of multinomial logistic regression by Newton's method, shape (V + 1, classes); the last: intercepts.

    With two classes, the parameters are those of logistic regression, plus and minus one half of them.
    """
    x = np.column_stack([X, np.ones(len(X))])
    wanted = np.eye(classes)[y]
    penalty = np.where(np.arange(x.shape[1]) < X.shape[1], 2.0 if classes == 2 else 1.0, 0.0)[:, None]
    # The loss is the same if a number is added to all intercepts: their sum stays zero by this.
    ridge = np.diag(np.repeat(penalty.ravel(), classes))
    ridge[-classes:, -classes:] += 1.0
    theta = np.zeros((x.shape[1], classes))

    def loss(theta: Array) -> float:
        return float(_surprise(x @ theta)[np.arange(len(y)), y].sum() + 0.5 * (penalty * theta * theta).sum())

    now = loss(theta)
    for _ in range(100):  # about 10 are needed
        p = exp(-_surprise(x @ theta))
        gradient = x.T @ (p - wanted) + penalty * theta
        # d^2 loss / d theta[v, k] d theta[w, l] = sum of x[v] x[w] p[k] ([k = l] - p[l])
        each = (x[:, :, None] * p[:, None, :]).reshape(len(x), -1)
        hessian = ridge - each.T @ each
        for k in range(classes):
            hessian[k::classes, k::classes] += x.T @ (x * p[:, k, None])
        step = np.linalg.solve(hessian, gradient.ravel()).reshape(theta.shape)
        length = 1.0
        while length > 1e-9 and loss(theta - length * step) > now + 1e-12 * abs(now):
            length /= 2.0
        theta -= length * step
        now = loss(theta)
        if np.abs(step).max() < 1e-13 * max(1.0, np.abs(theta).max()):
            break
    return theta
