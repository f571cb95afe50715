"""Grids of variables with attractive or mixed couplings, or as a spin glass, without a planted labeling."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.grids import grid_pairs as pairs_along_axes
from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)

__all__ = ["factor_grid", "grid_pairs"]

COUPLINGS = ("attractive", "mixed", "spin-glass")


def factor_grid(
    height: int,
    width: int,
    couplings: str = "attractive",
    labels: int = 2,
    strength: float = 1.0,
    decimals: int | None = None,
    seed: int | None = 0,
) -> FactorInstance:
    """A grid of height * width variables, each coupled with its four neighbours.

    Attractive: each label of each variable costs a standard Gaussian number; different labels of neighbours cost
    `strength` times the absolute value of another one. Mixed: the same without taking absolute values, so about half of
    the neighbours repel each other. Spin glass (Edwards & Anderson 1975): binary, without unary costs; equal labels of
    neighbours cost ``-strength`` and different ones ``+strength``, or the other way round, with probability 1/2 each.
    Variable (i, j) is ``i * width + j``.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns.
    couplings : str
        One of attractive, mixed, spin-glass.
    labels : int
        Number of labels of each variable; 2 in a spin glass.
    strength : float
        Scale of the couplings.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(height width labels^2). Drawn in this order: unary costs, couplings down, to the right.

    Examples
    --------
    >>> f, _ = factor_grid(20, 30, couplings="spin-glass")
    >>> f.n, f.m
    (600, 1150)
    """
    if couplings not in COUPLINGS:
        raise InvalidOption(f"couplings is {couplings!r}: expected one of {', '.join(COUPLINGS)}")
    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    labels = check_integer("labels", labels, 1, 4096)
    strength = check_number("strength", strength, 0)
    rng = random_generator(seed)
    count = len(grid_pairs(height, width))
    if couplings == "spin-glass":
        if labels != 2:
            raise InvalidOption(f"labels is {labels}: expected 2, as spins have")
        signs = np.where(rng.random(count) < 0.5, -strength, strength)
        tables = rounded(signs[:, None, None] * np.array([[-1.0, 1.0], [1.0, -1.0]]), decimals)
        f = FactorGraph.from_arrays(np.full(height * width, 2), [(grid_pairs(height, width), tables)])
        return FactorInstance(f, None)
    unary = rounded(standard_normal(rng, (height * width, labels)), decimals)
    weights = strength * standard_normal(rng, count)
    if couplings == "attractive":
        weights = np.abs(weights)
    costs = unary.reshape(height, width, labels)
    return FactorInstance(FactorGraph.potts((height, width), costs, rounded(weights, decimals)), None)


def grid_pairs(height: int, width: int) -> NDArray[np.int32]:
    """The pairs of neighbours, those down, then those to the right, shape (m, 2)."""
    return np.concatenate(pairs_along_axes((height, width)))
