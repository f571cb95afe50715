"""A labeling in any of the accepted forms, as an array of labels."""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import is_named
from graphpart.crf.problem.derive import condition_on
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.crf.problem.shared_tables import entries_of
from graphpart.display.grids import grid_of
from graphpart.errors import InfeasibleProblem, InvalidOption, InvalidPartition, InvalidProblem
from graphpart.result import Result

__all__ = ["better_start", "in_grid", "labels_of", "start_of"]


def labels_of(f: FactorTables, labeling: Any, partial: bool = False) -> NDArray[np.int32]:
    """Labels of a labeling in any of the forms that FactorGraph.labels describes; if `partial`, -1 for none.

    For a decomposed factor graph the labeling is one of its owner, and the auxiliary variables get their labels. An
    array that also has labels of these is taken unchanged.
    """
    if f._owner is not None and not (isinstance(labeling, np.ndarray) and labeling.shape == (f.n,)):
        return f._owner.complete(labels_of(f._owner, labeling, partial))
    if isinstance(labeling, Result):
        if labeling.nodes is f.variables or labeling.nodes == f.variables:
            labeling = labeling.labels
        elif partial:
            labeling = _labels_of_other(f, labeling)
        else:  # of another factor graph, perhaps in other order
            labeling = dict(zip(labeling.nodes, labeling.labels.tolist(), strict=True))
    if is_named(labeling):  # a Series of pandas: its index names the variables
        labeling = labeling.to_dict()
    if isinstance(labeling, Mapping):
        labeling = _labels_of_mapping(f, labeling, partial)
    try:
        array = np.asarray(labeling)
    except ValueError:
        array = np.zeros((), object)
    if array.ndim > 1 and array.shape == f.shape:
        array = array.ravel()
    if array.shape != (f.n,):
        raise InvalidPartition(f"labels have shape {array.shape}: expected ({f.n},), one for each variable")
    if array.size and array.dtype.kind not in "iub":
        raise InvalidPartition(f"labels have dtype {array.dtype}: expected integers")
    wrong = (array < 0) | (array >= f.domains)
    bad = np.flatnonzero(wrong & (array != -1) if partial else wrong)
    if len(bad):
        i = int(bad[0])
        raise InvalidPartition(
            f"variable {f.variables[i]!r} has the label {array[i]}: expected 0 to {f.domains[i] - 1}"
        )
    return array.astype(np.int32)


def in_grid(f: FactorTables, labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Labels as an array of the shape of the grid; that of a graph is seen from its names or its pairs."""
    if f.shape is not None and math.prod(f.shape) == f.n:
        return labels.reshape(f.shape)
    first = f.scope_start[:-1][np.diff(f.scope_start) == 2]
    place = grid_of(f.variables, f.scope[first], f.scope[first + 1])
    if place is not None:
        row, column = place
        shape = int(row.max()) + 1, int(column.max()) + 1
        if math.prod(shape) == f.n:
            out = np.empty(shape, np.int32)
            out[row, column] = labels
            return out
    raise InvalidOption("the variables are not the cells of a grid: result.labels has their labels in order")


def start_of(f: FactorTables, initial: Any) -> NDArray[np.int32]:
    """The labeling that a method starts from, in any form; some variables may have no label.

    A variable without a label (a mapping does not name it, or its label is -1) gets the label of least cost given the
    labels of the others. The cost of a label is the sum of its unary factors and of the factors whose other variables
    all have labels. Of labels of equal cost, it gets the smallest.
    """
    if f._owner is not None and not (isinstance(initial, np.ndarray) and initial.shape == (f.n,)):
        return f._owner.complete(start_of(f._owner, initial))
    labels = labels_of(f, initial, partial=True)
    if not f.n or labels.min() >= 0:
        return labels
    free = np.flatnonzero(labels < 0)
    try:
        rest: FactorTables = condition_on(f, labels)
    except InfeasibleProblem:  # the given labels alone are forbidden, which is for the method to say
        rest = f
    place = np.zeros(f.n + 1, np.int64)
    np.cumsum(rest.domains, out=place[1 : rest.n + 1])
    unary = np.flatnonzero(np.diff(rest.scope_start) == 1)
    _, values = entries_of(rest, unary)
    size = np.diff(rest.table_start)[unary]
    begin = place[rest.scope[rest.scope_start[unary]]]
    at = np.repeat(begin - np.cumsum(size) + size, size) + np.arange(len(values))
    own = np.bincount(at, values, int(place[rest.n]))
    variables = np.arange(rest.n) if rest.n == len(free) else free
    for i, v in zip(variables.tolist(), free.tolist(), strict=True):
        labels[v] = int(np.argmin(own[place[i] : place[i + 1]]))
    return labels


def better_start(f: FactorTables, initial: Any, checkpoint: str | os.PathLike[str] | None) -> NDArray[np.int32] | None:
    """The better one of the initial labeling and that of a checkpoint; either may be missing."""
    given = [] if initial is None else [start_of(f, initial)]
    if checkpoint is not None and os.path.exists(checkpoint):
        from graphpart.files.labels import read_labels

        given.append(labels_of(f, read_labels(os.fspath(checkpoint), f if f._owner is None else f._owner)))
    return min(given, key=f.evaluate_labels, default=None)


def _labels_of_other(f: FactorTables, result: Result) -> NDArray[np.int64]:
    """Labels from a result for other variables, by name; -1 for other names, and for labels not in the domain."""
    labels = np.full(f.n, -1, np.int64)
    known = 0
    for name, label in zip(result.nodes, result.labels.tolist(), strict=True):
        try:
            i = f.index(name)
        except InvalidProblem:
            continue
        known += 1
        labels[i] = label if label < f.domains[i] else -1
    if f.n and len(result.labels) and not known:
        raise InvalidPartition(f"none of the {len(result.labels)} variables of the result is one of the factor graph")
    return labels


def _labels_of_mapping(f: FactorTables, mapping: Mapping[Hashable, Any], partial: bool) -> list[Any]:
    for name in mapping:
        try:
            f.index(name)
        except InvalidProblem as error:
            raise InvalidPartition(str(error)) from None
    try:
        return [mapping.get(name, -1) for name in f.variables] if partial else [mapping[name] for name in f.variables]
    except KeyError as error:
        raise InvalidPartition(f"variable {error.args[0]!r} has no label") from None
