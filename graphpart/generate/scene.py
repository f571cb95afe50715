"""A scene of regions of several classes, each pixel judged by a learned classifier, to segment with a Potts prior."""

from __future__ import annotations

import numpy as np

from graphpart.errors import InvalidOption, MissingDependency
from graphpart.generate.factor_grid import potts_grid
from graphpart.generate.grid import regions_of_points
from graphpart.generate.instance import FactorInstance, check_integer, check_number, random_generator, rounded

__all__ = ["scene"]

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

    Raises
    ------
    MissingDependency
        If scikit-learn is not installed.

    Notes
    -----
    The classifier is the minimiser of a strictly convex function, found to a small tolerance: costs may differ between
    versions of scikit-learn in late digits, which `decimals` rounds away. Drawn in this order: seed points, colours of
    classes, colours of pixels to learn from, colours of pixels of the scene.

    Examples
    --------
    >>> f, truth = scene(20, 30, classes=4, seed=1)
    >>> f.n, f.m, int(f.domains.max()), len(set(truth.tolist()))
    (600, 1750, 4, 4)
    """
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise MissingDependency("scikit-learn", "learn", "the family of scenes") from None
    from graphpart.learn.unary import unary_costs

    height, width = check_integer("height", height, 0), check_integer("width", width, 0)
    classes, samples = check_integer("classes", classes, 2, 256), check_integer("samples", samples, 1)
    regions = check_integer("regions", regions, 1)
    if regions < classes:
        raise InvalidOption(f"regions is {regions}: expected at least one for each of {classes} classes")
    sigma, smoothness = check_number("sigma", sigma, 0), check_number("smoothness", smoothness, 0)
    rng = random_generator(seed)
    truth = (regions_of_points(height, width, regions, rng) % classes).astype(np.int32)
    colours = rng.standard_normal((classes, COLOURS))
    known = np.repeat(np.arange(classes), samples)
    seen = colours[known] + sigma * rng.standard_normal((len(known), COLOURS))
    pixels = colours[truth] + sigma * rng.standard_normal((len(truth), COLOURS))
    model = LogisticRegression(tol=1e-10, max_iter=10000).fit(seen, known)
    unary = unary_costs(model, pixels) if len(pixels) else np.zeros((0, classes))
    weight = rounded(np.array(smoothness), decimals)
    return FactorInstance(potts_grid(height, width, rounded(unary, decimals), weight), truth)
