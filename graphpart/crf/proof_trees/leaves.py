"""A leaf for a node of a proof tree: elimination if the width is small, else the messages of a bound.

Every candidate is evaluated by `graphpart.check`, in exact arithmetic. So a leaf is kept only if it proves enough.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.check import Conditioned, Energy, Refused, Value
from graphpart.common.proof_tree import units, whole
from graphpart.crf.bounds.lower_bound import BOUNDS
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bucket_elimination.order import find_order
from graphpart.crf.certificates.certificate import Certificate, certify
from graphpart.crf.graph_cuts.graph_cut import cut_messages, is_cuttable
from graphpart.crf.problem import FactorGraph
from graphpart.errors import GraphPartError
from graphpart.stopping import Stopping

__all__ = ["Leaves"]

LARGEST = 1 << 16  # entries of a table of elimination
ENTRIES = 1 << 21  # entries of all tables of an elimination; the check takes about a microsecond for each
NEAR = 1e-6  # a bound in floating point that misses the goal by more than this share, and a step, is not evaluated
SMALL_DOMAIN = 12  # most labels of a variable for which nodes below the root add triplets: tables of 1728 entries
ITERATIONS, ROOT_ITERATIONS = 60, 3000  # most iterations of message passing at a node, and at the root


class Leaves:
    """Finds leaves for the nodes of the tree of one problem.

    Parameters
    ----------
    energy : Energy
    stopping : Stopping
    """

    def __init__(self, energy: Energy, stopping: Stopping) -> None:
        self.energy, self.stopping = energy, stopping
        self.best: Value = -math.inf  # the largest value of any candidate of the last call

    def value(self, node: list[Any], state: Conditioned) -> Value:
        """The value of a leaf."""
        return self.energy.leaf(node, state)

    def find(self, state: Conditioned, goal: Value, is_root: bool) -> list[Any] | None:
        """A leaf whose value is at least the goal; None if there is none. More effort is spent at the root."""
        self.best = -math.inf
        if state.constant == math.inf or not state.labels:
            node = ["eliminate", []] if not state.labels else ["messages", 0, []]
            self.best = self.value(node, state)
            return node if self.best >= goal else None
        f, names = self.factor_graph(state)
        order = self.small_order(f)
        if order is not None:
            node = ["eliminate", [names[i] for i in order.tolist()]]
            self.best = self.value(node, state)
            return node if self.best >= goal else None
        is_forbidden = any(min(entries) == math.inf for _, entries in state.factors)
        if is_forbidden or all(len(scope) < 2 for scope, _ in state.factors):  # no messages are needed
            node = ["messages", 0, [0] * _count(state)]
            self.best = self.value(node, state)
            if self.best >= goal:
                return node
        costs = self.energy.costs
        room = (state.constant + costs.step) / costs.scale + NEAR * (1.0 + abs(float(goal)))
        for certificate in self._bounds(f, is_root):
            if certificate.bound + room < goal:  # exact arithmetic cannot change that
                continue
            for node in _rounded(certificate, names):
                try:
                    value = self.value(node, state)
                except (Refused, OverflowError):
                    continue
                self.best = max(self.best, value)
                if value >= goal:
                    return node
        return None

    def factor_graph(self, state: Conditioned) -> tuple[FactorGraph, list[int]]:
        """A factor graph of the variables that are left, and their names."""
        names = sorted(state.labels)
        place = {v: i for i, v in enumerate(names)}
        scale = self.energy.costs.scale
        sizes = np.array([len(state.labels[v]) for v in names], np.int32)
        start = np.cumsum([0] + [len(scope) for scope, _ in state.factors], dtype=np.int64)
        scope = np.array([place[v] for scope, _ in state.factors for v in scope], np.int32)
        tables = np.array([x if x == math.inf else x / scale for _, entries in state.factors for x in entries], float)
        return FactorGraph.from_csr(sizes, start, scope, tables), names

    def small_order(self, f: FactorGraph) -> NDArray[np.int32] | None:
        """An order of elimination with small tables; None if none was found."""
        order = find_order(f, None, self.stopping.child(), None, ENTRIES)
        if not order.exact or order.largest > LARGEST or order.entries > ENTRIES:
            return None
        return order.indices

    def _bounds(self, f: FactorGraph, is_root: bool) -> Iterator[Certificate]:
        """Reparametrisations that prove bounds, the quick ones first."""
        is_binary = bool((f.domains == 2).all()) and int(np.diff(f.scope_start).max(initial=0)) <= 2
        methods = ["roof-duality", "message-passing"] if is_binary else ["message-passing"]
        for name in methods:
            if self.stopping.check(math.inf):
                return
            try:
                if name == "message-passing" and is_cuttable(f):
                    simple, _, messages, _ = cut_messages(f, self.stopping.child())
                    if simple is f:  # else factors were merged
                        yield certify(f, messages, "cut")
                if name == "message-passing":
                    yield self._messages(f, is_root)
                else:
                    yield BOUNDS[name](f, self.stopping.child())
            except GraphPartError:
                continue  # not for this factor graph, or infeasible, for which there are no messages here

    def _messages(self, f: FactorGraph, is_root: bool) -> Certificate:
        """Messages by message passing, with cycles of not too large tables."""
        limit = ROOT_ITERATIONS if is_root else ITERATIONS
        tightening = is_root or int(f.domains.max(initial=0)) <= SMALL_DOMAIN
        ascent = Ascent(f, self.stopping.child(iterations=limit), tightening=tightening)
        ascent.run()
        return ascent.certificate("message-passing")


def _count(state: Conditioned) -> int:
    """The number of messages of a reparametrisation without added factors."""
    return sum(len(state.labels[v]) for scope, _ in state.factors if len(scope) > 1 for v in scope)


def _rounded(c: Certificate, names: list[int]) -> Iterator[list[Any]]:
    """Leaves with the messages of a certificate, in finer and finer units."""
    size, extra = np.abs(np.concatenate([c.messages, c.extra.messages])), c.extra
    ends = zip(extra.start[:-1], extra.start[1:], strict=True)
    scopes = [[names[v] for v in extra.scope[a:b].tolist()] for a, b in ends]
    links = extra.links.tolist()
    for exponent in units(float(size[size > 0].mean()) if size.any() else 1.0):
        amounts = whole(np.concatenate([c.messages, extra.messages]), exponent)
        yield ["messages", exponent, amounts, *([scopes, links] if scopes or links else [])]
        if not size.any():
            return
