"""The problem behind doubts: pairs listed, required joins contracted; and its cheapest changes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns
from graphpart.partition.confidence.changes import Changes, cheapest_changes
from graphpart.partition.confidence.decisions import Examined, decisions_of
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition
from graphpart.partition.problem.forms import source_of
from graphpart.partition.problem.rules import Rules
from graphpart.stopping import Stopping

__all__ = ["Pairs", "cleared", "contracted", "likely_decisions", "rises_of_pairs", "slack_of"]

SLACK = 16  # least factor of the tolerance of the problem; the size of the largest cluster if that is larger


@dataclass(frozen=True)
class Pairs:
    """A problem whose pairs are listed, and the one over its must-join classes.

    Attributes
    ----------
    p, q : SetPartition
    classes, inner : ndarray of int32
        The class of each element, and the cluster of each class.
    """

    p: SetPartition
    q: SetPartition
    classes: Labels
    inner: Labels


def contracted(given: SetPartition, labels: Labels, asked: NDArray[np.int32] | None = None) -> Pairs:
    """The problem with its pairs listed, also those that are asked for, and required joins contracted. O(m)"""
    p = source_of(given) if given.matrix is not None and source_of(given).matrix is None else given
    if asked is not None or p.matrix is not None:
        p = _listed(p, np.zeros((0, 2), np.int32) if asked is None else asked)
    contraction = Contraction(p)
    q, inner = contraction.problem, contraction.project(labels)
    if q.matrix is not None:
        q = q._of_pairs(q.nodes, *q.pairs(), rules=q._rules, dense=False)
    return Pairs(p, q, contraction.sets, inner)


def _listed(p: SetPartition, asked: NDArray[np.int32]) -> SetPartition:
    """The same problem with its listed pairs, and with the requested pairs, which cost no more than if not listed."""
    u, v, cost = p._listed() if p.matrix is not None else p.pairs()
    lifted = None
    if p.lifted is not None:
        lifted = np.concatenate([p.lifted, np.ones(len(asked), bool)])
    return SetPartition._of_pairs(
        range(p.n),
        np.concatenate([u, asked[:, 0]]),
        np.concatenate([v, asked[:, 1]]),
        np.concatenate([cost, np.zeros(len(asked))]),
        p.background,
        rules=Rules(p.must_join, limits=p._limits, lifted=lifted),
        dense=False,
    )


def slack_of(p: SetPartition, labels: Labels) -> float:
    """Doubts that differ by less are equal."""
    return p._tolerance * max(SLACK, int(np.bincount(labels).max(initial=0)))


def rises_of_pairs(
    q: SetPartition, a: Labels, b: Labels, found: Changes
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Rises, and whether they are exact, of pairs of classes; inf for those within a class."""
    rises, exactly = np.full(len(a), np.inf), np.ones(len(a), bool)
    apart = a != b
    qu, qv, _ = q.pairs()
    at = np.searchsorted(keys_of_pairs(qu, qv, q.n), keys_of_pairs(a[apart], b[apart], q.n))
    rises[apart], exactly[apart] = found.pairs[at], found.pairs_exact[at]
    return rises, exactly


def cleared(rises: NDArray[np.float64], slack: float) -> NDArray[np.float64]:
    """Replace values that only rounding makes negative, and -0.0, by 0."""
    return np.where((rises <= 0) & (rises >= -slack), 0.0, rises)


def likely_decisions(given: SetPartition, labels: Labels) -> tuple[Columns, Labels]:
    """The table of decisions (see `Doubts`) by the quickest search, and how many elements leave in each split.

    Elements and clusters are numbers, and `cost` is that of the pair that speaks most for the change. No piece is
    solved exactly, so doubts are upper bounds. O(m log^2 m)
    """
    pairs = contracted(given, labels)
    p, q = pairs.p, pairs.q
    found = cheapest_changes(q, pairs.inner, np.bincount(pairs.classes), False, Stopping())
    u, v, cost = p.pairs()
    if p.background is not None:
        cost = cost + p.background.of_pairs(u, v)
    slack = slack_of(p, labels)
    rises, exactly = rises_of_pairs(q, pairs.classes[u], pairs.classes[v], found)
    rises = cleared(rises, slack)
    order = np.argsort(rises, kind="stable")
    if p.lifted is not None:  # only base pairs can be required together
        order = order[~p.lifted[order]]
    shown = np.arange(int(labels.max(initial=-1)) + 1)
    examined = Examined(labels, pairs.classes, found, slack, range(p.n), shown, None)
    u, v, cost, rises, exactly = u[order], v[order], cost[order], rises[order], exactly[order]
    return decisions_of(u, v, cost, cost, rises, exactly, examined), found.leaving
