"""Spin glasses on lattices of any dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.errors import InvalidOption
from graphpart.generate.instance import (
    FactorInstance,
    check_integer,
    check_number,
    random_generator,
    rounded,
    standard_normal,
)
from graphpart.kernels import LARGEST_INDEX

__all__ = ["lattice_pairs", "spin_glass"]

COUPLINGS = ("signs", "normal")


def spin_glass(
    length: int,
    dimensions: int = 3,
    couplings: str = "signs",
    field: float = 0.0,
    periodic: bool = True,
    decimals: int | None = None,
    seed: int | None = 0,
) -> FactorInstance:
    """The model of Edwards & Anderson (1975): random couplings of neighbours in a cubic lattice.

    The energy is ``- sum J[u, v] s_u s_v - sum b[u] s_u`` with spins ``s = 2 y - 1``.

    Parameters
    ----------
    length : int
        Number of spins along each dimension.
    dimensions : int
        Of the lattice: 2 for a square one, 3 for a cubic one, and so on, up to 6.
    couplings : str
        One of signs (1 or -1, each with probability 1/2), normal (standard Gaussian).
    field : float
        The fields b are Gaussian with this standard deviation.
    periodic : bool
        Whether opposite borders are joined.
    decimals : int, optional
        Round couplings and fields to this many decimals; default: not at all.
    seed : int, optional
        Seed of the random numbers; none: a new instance at every call.

    Returns
    -------
    FactorInstance
        The problem, and None: nothing is planted.

    Notes
    -----
    O(length^dimensions). Drawn in this order: couplings along each dimension, from the last to the first; fields.

    Examples
    --------
    >>> f, _ = spin_glass(6)
    >>> f.n, f.m
    (216, 648)
    """
    if couplings not in COUPLINGS:
        raise InvalidOption(f"couplings is {couplings!r}: expected one of {', '.join(COUPLINGS)}")
    dimensions = check_integer("dimensions", dimensions, 1, 6)
    length = check_integer("length", length, 0, int(LARGEST_INDEX ** (1 / dimensions)))
    field = check_number("field", field, 0)
    rng = random_generator(seed)
    pairs, n = lattice_pairs((length,) * dimensions, periodic), length**dimensions
    J = standard_normal(rng, len(pairs)) if couplings == "normal" else np.where(rng.random(len(pairs)) < 0.5, -1.0, 1.0)
    groups = []
    if field:
        b = rounded(field * standard_normal(rng, n), decimals)
        groups.append((np.arange(n)[:, None], np.stack([b, -b], 1)))
    tables = rounded(J, decimals)[:, None, None] * np.array([[-1.0, 1.0], [1.0, -1.0]])
    groups.append((pairs, tables))
    return FactorInstance(FactorGraph.from_arrays(np.full(n, 2), groups), None)


def lattice_pairs(shape: tuple[int, ...], periodic: bool) -> NDArray[np.int64]:
    """The pairs of neighbours in a lattice, those along the last dimension first, shape (m, 2).

    Opposite borders are joined along dimensions of at least three nodes: where there are two, these are neighbours.
    """
    at = np.arange(int(np.prod(shape)), dtype=np.int64).reshape(shape)
    found = []
    for axis in range(len(shape) - 1, -1, -1):
        a = np.moveaxis(at, axis, 0)
        found.append(np.stack([a[:-1].ravel(), a[1:].ravel()], 1))
        if periodic and shape[axis] > 2:
            found.append(np.stack([a[0].ravel(), a[-1].ravel()], 1))
    return np.concatenate(found)
