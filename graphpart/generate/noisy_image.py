"""A binary picture of a few shapes, seen through noise, to restore with an Ising prior (Geman & Geman 1984)."""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.generate.instance import FactorInstance, check_integer, check_number, random_generator, rounded

__all__ = ["noisy_image"]

EXACTLY = Context(prec=400)  # 400 decimal digits, as many as 1 - noise has


def noisy_image(
    height: int,
    width: int,
    noise: float = 0.2,
    smoothness: float = 0.8,
    decimals: int | None = None,
    seed: int | None = 0,
) -> FactorInstance:
    """A picture of a disc, a ring, a box and a bar, in which each pixel is flipped with some probability, to restore.

    Label k of a pixel costs ``-ln P(noisy pixel | k)``: ``-ln(1 - noise)`` if the noisy pixel is k, else
    ``-ln(noise)``. Different labels of neighbours cost `smoothness`. A labeling of least energy is a maximum a
    posteriori picture. The label with the smaller cost is that of the noisy pixel. Pixel (i, j) is variable ``i * width
    + j``.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns of pixels.
    noise : float
        Probability that a pixel is flipped, between 0 and 1/2.
    smoothness : float
        Cost of different labels of neighbours.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and the picture without noise, 1 inside the shapes.

    Notes
    -----
    O(height width). Drawn in this order: the places of the shapes, one number for each pixel.

    Examples
    --------
    >>> f, truth = noisy_image(40, 60, seed=1)
    >>> f.n, f.m, sorted(set(truth.tolist()))
    (2400, 7100, [0, 1])
    """
    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    noise, smoothness = check_number("noise", noise, 0, 0.5), check_number("smoothness", smoothness, 0)
    if noise in (0.0, 0.5):
        raise InvalidOption(f"noise is {noise}: expected a number between 0 and 0.5, and neither of them")
    rng = random_generator(seed)
    truth = _shapes(height, width, rng)
    seen = truth ^ (rng.random(height * width) < noise)
    unary = np.full((height * width, 2), _surprise(Decimal(noise)))
    unary[np.arange(height * width), seen] = _surprise(EXACTLY.subtract(Decimal(1), Decimal(noise)))
    weight = rounded(np.array(smoothness), decimals)
    costs = rounded(unary, decimals).reshape(height, width, 2)
    return FactorInstance(FactorGraph.potts((height, width), costs, weight), truth)


def _surprise(p: Decimal) -> float:
    """``-ln p`` as the nearest number, where the C library's logarithm may be the next one."""
    return -float(EXACTLY.ln(p))


def _shapes(height: int, width: int, rng: np.random.Generator) -> NDArray[np.int32]:
    """A shape in each quarter of the picture, each at a random place near the middle of the quarter."""
    y, x = (np.indices((height, width)) + 0.5) / np.array([max(height, 1), max(width, 1)])[:, None, None]
    (a, b), (c, d), (e, f), (g, h) = np.array([[1, 1], [1, 3], [3, 1], [3, 3]]) / 4 + (rng.random((4, 2)) - 0.5) / 10
    picture: NDArray[np.bool_] = np.sqrt((y - a) ** 2 + (x - b) ** 2) < 0.16
    picture |= np.abs(np.sqrt((y - c) ** 2 + (x - d) ** 2) - 0.13) < 0.04
    picture |= (np.abs(y - e) < 0.14) & (np.abs(x - f) < 0.11)
    picture |= (np.abs((y - g) + (x - h)) < 0.07) & (np.abs((y - g) - (x - h)) < 0.28)
    pixels: NDArray[np.int32] = picture.ravel().astype(np.int32)
    return pixels
