"""A leaf for a node of a proof tree: elimination if the width is small, else the messages of a bound.

A candidate is taken only if its bound reaches the goal with every operation rounded towards minus infinity, after the
messages have been rounded to multiples of a unit. Then it does so in exact arithmetic, too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.proof_tree import units, whole
from graphpart.crf.bounds.lower_bound import BOUNDS
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bucket_elimination.elimination import eliminated
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.certificates.certificate import Certificate, Extra, certify, message_starts, proven_bound
from graphpart.crf.graph_cuts.graph_cut import cut_messages
from graphpart.crf.problem import FactorGraph
from graphpart.crf.proof_trees.cycles import by_cycles, suits_cycles
from graphpart.errors import GraphPartError, InfeasibleProblem, InvalidProblem
from graphpart.stopping import Stopping

__all__ = ["Leaves"]

LARGEST = 1 << 22  # entries of a table of elimination
ENTRIES = 1 << 25  # entries of all tables of an elimination; the plain check takes about a microsecond for each
NEARLY = 16  # if an elimination is at most this many times too large, no messages are passed
SMALL_DOMAIN = 12  # most labels of a variable for which nodes below the root add triplets: tables of 1728 entries
ITERATIONS, ROOT_ITERATIONS = 60, 3000  # most iterations of message passing at a node, and at the root


class Leaves:
    """Finds leaves for the nodes of the tree of one problem.

    Parameters
    ----------
    stopping : Stopping

    Attributes
    ----------
    best : float
        The largest value of any candidate of the last call.
    heaviest : int or None
        If the last elimination was only a little too large, the variable that divides it best.
    """

    def __init__(self, stopping: Stopping) -> None:
        self.stopping, self.best = stopping, -math.inf
        self.heaviest: int | None = None

    def find(
        self, f: FactorGraph, names: NDArray[np.int64], goal: float, labels: NDArray[np.int32] | None
    ) -> list[Any] | None:
        """A leaf whose value is at least the goal; None if there is none.

        Parameters
        ----------
        f : FactorGraph
            What is left at the node; its variables have these `names`.
        names : ndarray of int
        goal : float
        labels : ndarray of int32, optional
            The labels that are proven. More effort is spent if there are any: at a root.
        """
        self.best = -math.inf
        if (found := self.eliminated(f)) is not None:
            self.best = found[1]
            return ["eliminate", names[found[0]].tolist()] if self.best >= goal else None
        zeros = np.zeros(int(message_starts(f)[1][-1]))
        self.best = proven_bound(f, zeros, Extra.none())
        if self.best >= goal:
            return ["messages", 0, [0] * len(zeros)]
        for certificate in self._bounds(f, goal, labels):
            self.best = max(self.best, certificate.bound)
            if certificate.bound >= goal and (node := self._rounded(f, certificate, names, goal)) is not None:
                return node
        return None

    def eliminated(self, f: FactorGraph) -> tuple[NDArray[np.int32], float] | None:
        """An order of elimination with small tables, and the least energy; None if there is none, or no time."""
        if not f.n:
            return np.zeros(0, np.int32), float(f.constant)
        order = find_order(f, None, self.stopping.child(), None, ENTRIES)
        fits = order.exact and order.largest <= LARGEST and order.entries <= ENTRIES
        self.heaviest = None
        if not fits:
            if order.exact and order.entries <= NEARLY * ENTRIES:
                self.heaviest = _heaviest(f, order.indices.tolist())
            return None
        try:
            found = eliminated(f, order, self.stopping.child())
        except InfeasibleProblem:
            return order.indices, math.inf
        return (order.indices, f.evaluate_labels(found.labels)) if found.proven else None

    def _bounds(self, f: FactorGraph, goal: float, labels: NDArray[np.int32] | None) -> Iterator[Certificate]:
        """Reparametrisations that prove bounds, the quick ones first."""
        is_binary = bool((f.domains == 2).all()) and f._layout().largest_arity <= 2
        makers = [self._flow, self._roof] if is_binary else [self._flow]
        if labels is not None or self.heaviest is None:
            makers.append(self._cycles if suits_cycles(f) else self._messages)
        for make in makers:
            if self.stopping.check(math.inf):
                return
            try:
                yield make(f, goal, labels)
            except GraphPartError:
                continue  # not for this factor graph, or infeasible, for which there are no messages here

    def _flow(self, f: FactorGraph, goal: float, labels: NDArray[np.int32] | None) -> Certificate:
        """The messages of a minimum cut."""
        simple, _, messages, _ = cut_messages(f, self.stopping.child())
        if simple is not f:
            raise InvalidProblem("factors were merged")
        return certify(f, messages, "cut")

    def _roof(self, f: FactorGraph, goal: float, labels: NDArray[np.int32] | None) -> Certificate:
        return BOUNDS["roof-duality"](f, self.stopping.child())

    def _cycles(self, f: FactorGraph, goal: float, labels: NDArray[np.int32] | None) -> Certificate:
        return by_cycles(f, goal, self.stopping.child())

    def _messages(self, f: FactorGraph, goal: float, labels: NDArray[np.int32] | None) -> Certificate:
        """Messages by message passing, with cycles of not too large tables. They end when they reach the goal."""
        limit = ITERATIONS if labels is None or self.heaviest is not None else ROOT_ITERATIONS
        tightening = labels is not None or int(f.domains.max(initial=0)) <= SMALL_DOMAIN
        ascent = Ascent(f, self.stopping.child(iterations=limit), labels, tightening=tightening)
        if labels is None:
            ascent.offer(ascent.labels, goal)
        ascent.run()
        return ascent.certificate("message-passing")

    @staticmethod
    def _rounded(f: FactorGraph, c: Certificate, names: NDArray[np.int64], goal: float) -> list[Any] | None:
        """The leaf with the messages of a certificate, in units as coarse as possible; None if none is fine enough."""
        extra, count = c.extra, len(c.messages)
        amounts = np.concatenate([c.messages, extra.messages])
        size = np.abs(amounts)
        for exponent in units(float(size[size > 0].mean()) if size.any() else 1.0):
            rounded = np.ldexp(np.floor(np.ldexp(amounts, exponent)), -exponent)
            moved = Extra(extra.start, extra.scope, extra.links, rounded[count:])
            if proven_bound(f, rounded[:count], moved) < goal:
                continue
            ends = zip(extra.start[:-1], extra.start[1:], strict=True)
            scopes = [names[extra.scope[a:b]].tolist() for a, b in ends]
            added = [scopes, extra.links.tolist()] if scopes or len(extra.links) else []
            return ["messages", exponent, whole(amounts, exponent), *added]
        return None


def _heaviest(f: FactorGraph, order: list[int]) -> int:
    """The variable whose label, once it is decided, takes most entries from the tables of an elimination."""
    start, scope, domains = f.scope_start.tolist(), f.scope.tolist(), f.domains.tolist()
    beside: list[set[int]] = [{v} for v in range(f.n)]
    for a, b in pairwise(start):
        for v in scope[a:b]:
            beside[v].update(scope[a:b])
    saved = [0.0] * f.n
    for v in order:
        table = beside[v]
        entries = math.prod(domains[u] for u in table)
        for u in table:
            saved[u] += entries * (1 - 1 / domains[u])
            if u != v:
                beside[u] |= table
                beside[u].discard(v)
    return int(np.argmax(saved))
