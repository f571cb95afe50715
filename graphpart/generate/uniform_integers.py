"""Random integer costs on a complete graph."""

from __future__ import annotations

from graphpart.generate.instance import Instance, check_integer, random_generator, symmetric_matrix
from graphpart.partition.problem import SetPartition

__all__ = ["uniform_integers"]


def uniform_integers(n: int, largest: int = 5, seed: int | None = 0) -> Instance:
    """A complete graph whose costs are integers, uniform in [-largest, largest].

    Parameters
    ----------
    n : int
        Number of elements.
    largest : int
        Largest absolute cost.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    Instance
        The problem (dense); nothing is planted.

    Notes
    -----
    O(n^2). Pairs are drawn in lexicographic order.

    Examples
    --------
    >>> p, _ = uniform_integers(4, largest=1, seed=1)
    >>> sorted(set(p.pairs()[2].tolist()) - {-1.0, 0.0, 1.0})
    []
    """
    n = check_integer("n", n, 0)
    largest = check_integer("largest", largest, 0, 2**40)
    rng = random_generator(seed)
    costs = symmetric_matrix(n, lambda k: rng.integers(-largest, largest + 1, size=k))
    return Instance(SetPartition.from_matrix(costs, dense=True), None)
