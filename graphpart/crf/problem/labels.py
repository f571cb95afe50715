"""A labeling in any form that people have it in, as an array of labels."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.errors import InvalidPartition, InvalidProblem
from graphpart.result import Result

__all__ = ["labels_of"]


def labels_of(f: FactorTables, labeling: Any) -> NDArray[np.int32]:
    """Labels of a labeling in any of the forms that FactorGraph.labels describes."""
    if isinstance(labeling, Result):
        labeling = labeling.labels
    if isinstance(labeling, Mapping):
        labeling = _labels_of_mapping(f, labeling)
    try:
        array = np.asarray(labeling)
    except ValueError:
        array = np.zeros((), object)
    if array.shape != (f.n,):
        raise InvalidPartition(f"labels have shape {array.shape}: expected ({f.n},), one for each variable")
    if array.size and array.dtype.kind not in "iub":
        raise InvalidPartition(f"labels have dtype {array.dtype}: expected integers")
    bad = np.flatnonzero((array < 0) | (array >= f.domains))
    if len(bad):
        i = int(bad[0])
        raise InvalidPartition(
            f"variable {f.variables[i]!r} has the label {array[i]}: expected 0 to {f.domains[i] - 1}"
        )
    return array.astype(np.int32)


def _labels_of_mapping(f: FactorTables, mapping: Mapping[Hashable, Any]) -> list[Any]:
    for name in mapping:
        try:
            f.index(name)
        except InvalidProblem as error:
            raise InvalidPartition(str(error)) from None
    try:
        return [mapping[name] for name in f.variables]
    except KeyError as error:
        raise InvalidPartition(f"variable {error.args[0]!r} has no label") from None
