"""The background of a problem as the kernels take it: weights as integers that add up exactly."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.partition.problem import SetPartition
from graphpart.partition.problem.groups import Groups

__all__ = ["Terms", "fits_pairwise", "neighbours_of", "terms_of"]


class Terms(NamedTuple):
    """The background of elements a and b is ``sum(factor[t] * weights[a, partner[t]] * weights[b, t])``."""

    weights: NDArray[np.int64]  #: integer weights, of shape (n, k)
    partner: NDArray[np.int32]  #: index of the other weight of each term, of shape (k,)
    factor: NDArray[np.float64]  #: factor of each term, of shape (k,)
    repels: bool
    groups: Groups | None = None
    sizes: NDArray[np.int64] | None = None  #: sizes of the elements, if subsets have a largest size; else None
    max_size: int = 0  #: largest size of a subset; 0 if there is no limit
    least: int = 1  #: smallest number of subsets
    most: int = 0  #: largest number of subsets; 0 if there is no limit
    lifted: NDArray[np.bool_] | None = None  #: which pairs are lifted; None unless base pairs have to connect subsets
    row_flags: NDArray[np.uint8] | None = None  #: `lifted` for each entry of the compressed rows


def terms_of(p: SetPartition) -> Terms:
    """The terms of a problem, none if it has no background. Weights are rounded at 2**-61 of their absolute sum.

    Weights that are whole numbers, or multiples of another power of two, stay exact. They are rounded more coarsely if
    the factor would be too small for a floating point number otherwise. O(n)
    """
    if p.background is None or not len(p.background.beta):
        return Terms(np.zeros((p.n, 0), np.int64), np.zeros(0, np.int32), np.zeros(0), True, **_demands(p))
    columns: list[NDArray[np.int64]] = []
    partner: list[int] = []
    factor: list[float] = []

    def column(x: NDArray[np.float64], most: int) -> tuple[NDArray[np.int64], int]:
        exponent = math.frexp(math.fsum(np.abs(x).tolist()))[1]
        shift = min(61 - exponent, most)  # the sum of absolute weights has 61 binary digits at most
        return np.rint(np.ldexp(x, shift)).astype(np.int64), shift

    for beta, (x, y) in zip(p.background.beta.tolist(), p.background.vectors, strict=True):
        t = len(columns)
        most = max(0, (math.frexp(beta)[1] + 1020) // 2)  # a factor below 2**-1020 would lose digits
        first, shift = column(x, most)
        if x is y:
            columns.append(first)
            partner.append(t)
            factor.append(math.ldexp(beta, -2 * shift))
        else:
            second, other = column(y, most)
            columns += [first, second]
            partner += [t + 1, t]
            factor += [math.ldexp(beta, -shift - other)] * 2
    return Terms(
        np.ascontiguousarray(np.stack(columns, 1)),
        np.array(partner, np.int32),
        np.array(factor),
        p.background.repels,
        **_demands(p),
    )


def neighbours_of(p: SetPartition) -> float:
    """The stored pairs of an element on average; base pairs only, where these have to connect subsets."""
    pairs = p.m if p.lifted is None else int(np.count_nonzero(~p.lifted))
    return 2 * pairs / max(1, p.n)


def fits_pairwise(p: SetPartition) -> bool:
    """Whether pairwise Kernighan-Lin takes the place of Kernighan-Lin: it ends lower, and takes little longer.

    This is so where elements have few neighbours. On matrices, annealing soon ends lower than both, except where pairs
    must be cut: then few elements can move, and switches between two subsets pass what no single move does.
    """
    return p._has_must_cut and p.n <= 2000 if p.is_dense else neighbours_of(p) <= 16


def _demands(p: SetPartition) -> dict[str, Any]:
    """Groups, limits and lifted pairs, as in Terms."""
    demands: dict[str, Any] = {"groups": None if p.background is None else p.background.groups}
    if p._limits is not None:
        sizes = np.ones(p.n, np.int64) if p._sizes is None else p._sizes
        demands |= {"sizes": sizes, "max_size": p._limits.max_size or 0}
        demands |= {"least": p._limits.least, "most": p._limits.most or 0}
    if p.lifted is not None:
        demands |= {"lifted": p.lifted, "row_flags": p._flags_of_rows()}
    return demands
