"""A partition in any of the accepted forms, as canonical labels."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import is_named, labels_in
from graphpart.errors import InvalidPartition, InvalidProblem
from graphpart.kernels import _pairs
from graphpart.partition.problem.connectedness import unlinked
from graphpart.partition.problem.pair_costs import Labels, PairCosts
from graphpart.result import Result

__all__ = ["agreement", "canonical", "check_connected", "check_feasible", "completed", "labels_of", "places_of"]


def canonical(labels: NDArray[np.integer[Any]]) -> Labels:
    """Labels renamed to 0, 1, ... in order of first appearance, as a new int32 array. O(n) if they are in 0..n-1."""
    kind = np.int32 if labels.dtype == np.int32 else np.int64
    renamed, _ = _pairs.canonical_labels(np.ascontiguousarray(labels, kind))
    if renamed is None:
        renamed, _ = _pairs.canonical_labels(np.unique(labels, return_inverse=True)[1].astype(np.int64))
    out: Labels = renamed
    return out


def agreement(x: Labels, y: Labels) -> Labels:
    """Canonical labels of the largest sets of elements that are together in both partitions. O(n log n)"""
    return canonical(x * np.int64(len(x)) + y)


def labels_of(p: PairCosts, partition: Any, partial: bool = False) -> Labels:
    """Labels of a partition in any of the forms that SetPartition.labels describes.

    The labels are canonical. With `partial`, elements that are left out have the label -1, and the labels of the others
    are 0, 1, ... in order of first appearance.
    """
    if isinstance(partition, Result):
        if partition.nodes is not p.nodes and partition.nodes != p.nodes:  # of another problem, perhaps in other order
            if partial:
                return _labels_of_result(p, partition)
            return _labels_of_mapping(p, dict(zip(partition.nodes, partition.labels.tolist(), strict=True)), partial)
        partition = partition.labels
    partition = labels_in(partition)
    if isinstance(partition, Mapping):
        return _labels_of_mapping(p, partition, partial)
    if is_named(partition):  # a Series of pandas: its index names the elements
        if not partition.index.is_unique:
            twice = partition.index[partition.index.duplicated()][0]
            raise InvalidPartition(f"{twice!r} is named twice in the index: expected each element once")
        return _labels_of_mapping(p, partition.to_dict(), partial)
    if not isinstance(partition, np.ndarray):
        partition = list(_iterate(partition))
        if partition and all(isinstance(x, set | frozenset | list | tuple) for x in partition):
            return _labels_of_sets(p, partition, partial)
        if len({isinstance(x, str) for x in partition}) > 1:  # NumPy would take 1 and "1" for the same
            raise InvalidPartition("found text among other labels: expected labels of one kind")
    if np.ma.is_masked(partition):
        raise InvalidPartition("labels have masked entries: expected a label for each element")
    array = np.asarray(partition)
    if array.shape != (p.n,):
        raise InvalidPartition(f"labels have shape {array.shape}: expected ({p.n},)")
    if array.size == 0:
        return np.zeros(0, np.int32)
    left_out = array == -1 if partial and array.dtype.kind == "i" else np.zeros(p.n, bool)
    if array.dtype.kind not in "iu":
        if array.dtype.kind not in "bUSO" or array.dtype.hasobject:
            raise InvalidPartition(f"labels have dtype {array.dtype}: expected integers")
        array = np.unique(array, return_inverse=True)[1]
    return _without(array, left_out)


def completed(p: PairCosts, labels: Labels) -> Labels:
    """Canonical labels of all elements: those with -1 are alone, or with the elements that they must be joined with."""
    classes = p._must_join_classes()
    of_class = np.full(p.n, -1, np.int64)
    np.maximum.at(of_class, classes, labels)
    wanted = np.where(labels < 0, of_class[classes], labels)
    alone = wanted < 0
    wanted[alone] = p.n + classes[alone]
    return canonical(wanted)


def _without(labels: NDArray[np.integer[Any]], left_out: NDArray[np.bool_]) -> Labels:
    """Canonical labels of some elements, -1 for those that are left out."""
    if not left_out.any():
        return canonical(labels)
    kept = np.full(len(labels), -1, np.int32)
    kept[~left_out] = canonical(np.asarray(labels[~left_out]))
    return kept


def _labels_of_result(p: PairCosts, result: Result) -> Labels:
    """Labels from a result for other elements, by name; -1 for elements that it does not have."""
    place = places_of(p, result.nodes)
    known = place >= 0
    if p.n and len(known) and not known.any():
        raise InvalidPartition(f"none of the {len(known)} elements of the result is a node of the problem")
    labels = np.full(p.n, -1, np.int64)
    labels[place[known]] = result.labels[known]
    return _without(labels, labels < 0)


def places_of(p: PairCosts, nodes: Sequence[Hashable]) -> NDArray[np.int64]:
    """The index of each of these nodes in a problem; -1 for those that it does not have."""
    if isinstance(p.nodes, range) and isinstance(nodes, range):  # both count from 0
        return np.where(np.arange(len(nodes)) < p.n, np.arange(len(nodes)), -1)
    if len(nodes) <= p.n and p.nodes[: len(nodes)] == nodes:  # new ones were appended
        return np.arange(len(nodes))
    place = np.empty(len(nodes), np.int64)
    for k, node in enumerate(nodes):
        try:
            place[k] = p.index(node)
        except InvalidProblem:
            place[k] = -1
    return place


def _labels_of_mapping(p: PairCosts, mapping: Mapping[Hashable, Any], partial: bool) -> Labels:
    for node in mapping:
        _known(p, node)
    given = [mapping.get(node) for node in p.nodes]
    for i, label in enumerate(given):
        if label is None or (isinstance(label, float) and label != label):  # as data frames mark missing values
            if not partial:
                raise InvalidPartition(f"{p.nodes[i]!r} has no label")
            given[i] = -1
    names: dict[Any, int] = {-1: -1} if partial else {}
    shift = len(names)
    try:
        return np.array([names.setdefault(label, len(names) - shift) for label in given], np.int32)
    except TypeError:
        raise InvalidPartition("a label cannot be hashed: expected integers or names") from None


def _labels_of_sets(p: PairCosts, subsets: list[Iterable[Hashable]], partial: bool) -> Labels:
    labels = np.full(p.n, -1, np.int64)
    for label, subset in enumerate(subsets):
        for node in subset:
            i = _known(p, node)
            if labels[i] >= 0:
                raise InvalidPartition(f"{node!r} is in two clusters, or twice in one")
            labels[i] = label
    if not partial and len(missing := np.flatnonzero(labels < 0)):
        raise InvalidPartition(f"{p.nodes[int(missing[0])]!r} is in no cluster")
    return _without(labels, labels < 0)


def _known(p: PairCosts, node: Hashable) -> int:
    try:
        return p.index(node)
    except InvalidProblem as error:
        raise InvalidPartition(str(error)) from None


def check_feasible(p: PairCosts, labels: Labels) -> None:
    """Raise InvalidPartition, naming a pair, if labels separate a required join or join a required cut.

    Also if they join two members of a group at price ``inf``, or violate limits of sizes or of the number of subsets,
    or if a subset is not connected and has to be.
    """
    groups = p.groups  # first, since the matrix of a dense problem requires these cuts, too
    if groups is not None and (clash := groups.clash(labels)) is not None:
        a, b = (p.nodes[i] for i in clash[:2])
        raise InvalidPartition(
            f"{a!r} and {b!r} are both in {groups.name(clash[2])}, of which a cluster has at most one, but are joined"
        )
    for pairs, wanted in (
        (p.must_join, True),
        (p._must_cut if p._has_must_cut else p.must_join[:0], False),
    ):
        if len(pairs):
            bad = pairs[(labels[pairs[:, 0]] == labels[pairs[:, 1]]) != wanted]
            if len(bad):
                a, b = (p.nodes[i] for i in bad[0].tolist())
                verb = ("joined", "are separated") if wanted else ("cut", "are joined")
                raise InvalidPartition(f"{a!r} and {b!r} must be {verb[0]} but {verb[1]}")
    check_connected(p, labels)
    if p._limits is not None and (text := p._limits.violation(labels)) is not None:
        raise InvalidPartition(text)


def check_connected(p: PairCosts, labels: Labels) -> None:
    """Raise InvalidPartition, naming two of its elements, if a subset is not connected and has to be."""
    if p.lifted is not None and (apart := unlinked(p, labels)) is not None:
        a, b = (p.nodes[i] for i in apart)
        raise InvalidPartition(
            f"the cluster of {a!r} is not connected: no path of base pairs within it links {a!r} and {b!r}"
        )


def _iterate(partition: Any) -> Iterable[Any]:
    try:
        if isinstance(partition, str | bytes):
            raise TypeError
        elements: Iterable[Any] = iter(partition)
        return elements
    except TypeError:
        kind = type(partition).__name__
        raise InvalidPartition(f"got {kind}: expected labels, sets of nodes, a mapping or a Result") from None
