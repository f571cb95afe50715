"""Images of handwritten digits, compared pixel by pixel (Alpaydin & Kaynak 1998; bundled with scikit-learn)."""

from __future__ import annotations

import numpy as np

from graphpart.errors import MissingDependency
from graphpart.generate.instance import Instance, check_integer, check_number, distinct_integers, random_generator
from graphpart.partition.problem import SetPartition

__all__ = ["digits"]

IMAGES = 1797


def digits(n: int = IMAGES, threshold: float = 38.0, decimals: int | None = None, seed: int | None = 0) -> Instance:
    """Images of handwritten digits: the cost of a pair is the distance of the images minus a threshold.

    Parameters
    ----------
    n : int
        Number of images, chosen at random among all 1797.
    threshold : float
        The Euclidean distance, between images of 8 x 8 pixels with values 0 to 16, at which a pair costs nothing. With
        the default, a local optimum for all images agrees best with the digits.
    decimals : int, optional
        Round costs to this many decimals; default: not at all.
    seed : int, optional
        Seed of the choice; none: another choice at every call.

    Returns
    -------
    Instance
        The problem (dense), whose nodes are the indices of images in the dataset, and the digits that they show.

    Raises
    ------
    MissingDependency
        If scikit-learn is not installed.

    Notes
    -----
    O(64 n^2). The chosen images keep their order.

    Examples
    --------
    >>> p, truth = digits(100)
    >>> p.n, sorted(set(truth.tolist()))
    (100, [0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
    """
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        raise MissingDependency("scikit-learn", "learn", "the family of digit images") from None
    n = check_integer("n", n, 0, IMAGES)
    threshold = check_number("threshold", threshold)
    images, shown = load_digits(return_X_y=True)
    chosen = distinct_integers(IMAGES, n, random_generator(seed))
    images = images[chosen]
    # Pixels are small integers, so squared distances are exact in any order of summation.
    squares = (images * images).sum(axis=1)
    costs = images @ images.T
    costs *= -2.0
    costs += squares[:, None] + squares
    np.sqrt(costs, out=costs)
    costs -= threshold
    if decimals is not None:
        costs = np.round(costs, check_integer("decimals", decimals, 0, 12)) + 0.0
    return Instance(SetPartition.from_matrix(costs, chosen.tolist(), dense=True), shown[chosen].astype(np.int32))
