"""A grid of segments with a class each: costs of classes and of boundaries, both with noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphpart.generate.grid import neighbour_pairs, regions_of_points
from graphpart.generate.instance import check_integer, check_number, random_generator, rounded, standard_normal
from graphpart.labeled.labeled_partition import LabeledPartition
from graphpart.partition.problem import Labels

__all__ = ["LabeledInstance", "labeled_grid"]


class LabeledInstance(NamedTuple):
    """A generated labelled partition, and the planted clusters and classes; unpacks as a triple."""

    problem: LabeledPartition
    labels: Labels
    classes: Labels


def labeled_grid(
    height: int,
    width: int,
    classes: int = 3,
    regions: int = 40,
    sigma: float = 0.7,
    decimals: int | None = None,
    seed: int | None = 0,
) -> LabeledInstance:
    """A grid of pixels in segments of one class each, to segment and classify at once.

    The segments are the regions of nearest seed points, each of a random class. The true class of a pixel costs -1, the
    others 0; neighbours of one segment cost -1 together, others 1. Gaussian noise is added to each of these costs.
    Neighbours of different classes must not be together. Pixel (i, j) is element ``i * width + j``.

    Parameters
    ----------
    height, width : int
        Number of rows and of columns of pixels.
    classes : int
        Number of classes.
    regions : int
        Number of seed points.
    sigma : float
        Standard deviation of the noise.
    decimals : int, optional
        Round costs to this number of decimals.
    seed : int
        Of the random numbers.

    Returns
    -------
    LabeledInstance
        The problem, the planted clusters, and the planted classes.

    Raises
    ------
    InvalidOption
        If a parameter is out of range.

    Notes
    -----
    Draws, in this order: seed points, classes of segments, noise of classes, noise of pairs.

    Examples
    --------
    >>> q, labels, classes = labeled_grid(4, 5, classes=2, regions=3, sigma=0.0)
    >>> q.n, q.m, q.n_classes, q.evaluate(labels, classes) < 0
    (20, 31, 2, True)
    """
    shape = check_integer("height", height, 1), check_integer("width", width, 1)
    n, count = shape[0] * shape[1], check_integer("classes", classes, 1, 1000)
    points = check_integer("regions", regions, 1, n)
    noise = check_number("sigma", sigma, 0)
    rng = random_generator(seed)
    labels = regions_of_points(shape, points, rng)
    truth = rng.integers(0, count, int(labels.max()) + 1).astype(np.int32)[labels]
    down, right = neighbour_pairs(shape)
    pairs = np.concatenate([right, down], axis=1).T
    own = noise * standard_normal(rng, (n, count))
    own[np.arange(n), truth] -= 1.0
    together = np.where(labels[pairs[:, 0]] == labels[pairs[:, 1]], -1.0, 1.0)
    together += noise * standard_normal(rng, len(pairs))
    together = rounded(together, decimals)
    joined = np.where(np.eye(count, dtype=bool), together[:, None, None], np.inf)
    return LabeledInstance(LabeledPartition.from_arrays(rounded(own, decimals), pairs, joined), labels, truth)
