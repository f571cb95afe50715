"""The two problems that are left of a labelled partition if its classes, or its clusters, are fixed.

If classes are fixed, each pair has a cost together and a cost apart, and their difference is the cost of the pair in a
set partition problem. If clusters are fixed, each pair has one table, and the energy of the factor graph of these
tables is the cost of the whole.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem import FactorGraph
from graphpart.labeled.finite import Tables
from graphpart.labeled.joint_costs import JointCosts
from graphpart.partition.problem import SetPartition

__all__ = ["classes_half", "clusters_given", "clusters_half", "factor_graph", "only_classes", "only_clusters"]

Elements = NDArray[np.int32]
Floats = NDArray[np.float64]


def factor_graph(own: Floats, u: Elements, v: Elements, tables: Floats) -> FactorGraph:
    """The factor graph with these unary costs, shape (n, L), and a table for each pair, shape (m, L, L)."""
    n, classes = own.shape
    return FactorGraph.from_arrays(
        np.full(n, classes), [(np.arange(n)[:, None], own), (np.stack([u, v], axis=1), tables)]
    )


def clusters_half(tables: Tables, classes: Elements) -> tuple[SetPartition, float]:
    """The set partition problem of given classes, and the cost of all elements apart. O(n + m)"""
    together, apart = tables._entries(classes)
    constant = math.fsum(tables.own[np.arange(tables.n), classes].tolist()) + math.fsum(apart.tolist())
    return SetPartition.from_pairs(tables.n, (tables.u, tables.v), together - apart, dense=False), constant


def classes_half(tables: Tables, labels: Elements) -> FactorGraph:
    """The factor graph of given clusters. O(n L + m L^2)"""
    together = (labels[tables.u] == labels[tables.v])[:, None, None]
    return factor_graph(tables.own, tables.u, tables.v, np.where(together, tables.joined, tables.parted))


def only_clusters(q: JointCosts) -> tuple[SetPartition, Elements, float] | None:
    """The set partition problem, the classes and a constant, if each element has one allowed class; else None."""
    allowed = np.isfinite(q.label_costs)
    if not (np.count_nonzero(allowed, axis=1) == 1).all():
        return None
    classes = allowed.argmax(axis=1).astype(np.int32) if q.n else np.zeros(0, np.int32)
    p, constant = clusters_given(q, classes)
    return p, classes, constant


def clusters_given(q: JointCosts, classes: Elements) -> tuple[SetPartition, float]:
    """The set partition problem of given classes, with required pairs, and the constant beside its cost. O(n + m)"""
    together, apart = q._entries(classes)
    must = np.isinf(apart)
    with np.errstate(invalid="ignore"):
        costs = np.where(must, -math.inf, together - apart)
    constants = [*q.label_costs[np.arange(q.n), classes].tolist(), *np.where(must, together, apart).tolist()]
    return SetPartition.from_pairs(q.n, (q.u, q.v), costs, q.nodes, dense=False), math.fsum(constants)


def only_classes(q: JointCosts) -> tuple[FactorGraph, Elements] | None:
    """The factor graph and the clusters, if some optimum has all pairs apart, or all together; else None."""
    if (q.joined >= q.parted).all():
        return factor_graph(q.label_costs, q.u, q.v, q.parted), np.arange(q.n, dtype=np.int32)
    if (q.joined <= q.parted).all():
        return factor_graph(q.label_costs, q.u, q.v, q.joined), np.zeros(q.n, np.int32)
    return None
