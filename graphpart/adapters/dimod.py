"""Binary quadratic models of dimod as arrays, and back."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency

__all__ = ["VARTYPES", "Quadratic", "bqm_of", "quadratic_of"]

VARTYPES = ("BINARY", "SPIN")


class Quadratic(NamedTuple):
    """``offset + sum_i linear[i] x_i + sum_k weight[k] x_row[k] x_column[k]``; x in {0, 1}, or in {-1, 1} of spins."""

    names: Sequence[Hashable]
    linear: NDArray[np.float64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    weight: NDArray[np.float64]
    offset: float
    spin: bool


def quadratic_of(bqm: Any) -> Quadratic:
    """The arrays of a model.

    Raises
    ------
    InvalidProblem
        If this is no binary quadratic model.
    """
    if not hasattr(bqm, "to_numpy_vectors") or not hasattr(bqm, "vartype"):
        raise InvalidProblem(f"got {type(bqm).__name__}: expected a dimod.BinaryQuadraticModel")
    names = list(bqm.variables)
    linear, (row, column, weight), offset = bqm.to_numpy_vectors(variable_order=names)
    ends = np.asarray(row, np.int64), np.asarray(column, np.int64)
    numbers = np.asarray(linear, np.float64), *ends, np.asarray(weight, np.float64)
    return Quadratic(names, *numbers, float(offset), bqm.vartype.name == "SPIN")


def bqm_of(q: Quadratic, vartype: str) -> Any:
    """A model of 0 and 1, or of spins.

    Raises
    ------
    MissingDependency
        If dimod is not installed.
    InvalidOption
        If there is no such vartype.
    """
    name = getattr(vartype, "name", vartype)
    if name not in VARTYPES:
        raise InvalidOption(f"vartype is {vartype!r}: expected one of {', '.join(VARTYPES)}")
    try:
        import dimod
    except ImportError:
        raise MissingDependency("dimod", "adapters", "a binary quadratic model") from None
    pairs = (q.row, q.column, q.weight)
    own, asked = (getattr(dimod, one) for one in (VARTYPES[q.spin], name))
    bqm = dimod.BinaryQuadraticModel.from_numpy_vectors(q.linear, pairs, q.offset, own, variable_order=list(q.names))
    return bqm if asked is own else bqm.change_vartype(asked, inplace=False)
