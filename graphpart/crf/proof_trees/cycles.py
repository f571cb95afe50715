"""Odd cycles of two labels as a reparametrisation, whose bound is that of the linear program over them.

1. Each table over two variables sends what depends on one of them to this variable, so that a cost of different labels
   is left. The signed graph of the factor graph has these costs as the weights of its edges, and an edge from each
   variable with unary costs to a node that stands for label 0 (see `graphpart.maximum_cut.odd_cycles`).
2. An odd cycle inequality with a multiplier takes ``multiplier * s[e] * x[e]`` out of each of its edges, where x[e] = 1
   if the labels differ, s[e] is 1 or -1, and an odd number of s[e] are -1. The cycle is divided into triangles that
   share a node. A chord has +1 in one triangle and -1 in the next, so that an odd number of -1 is in each of them.
3. A triangle is an added factor over three variables; it sends these amounts to tables over two of them. If one of its
   nodes stands for label 0, it is the table over the other two, which sends the amounts to its variables.
"""

from __future__ import annotations

import math
from collections import defaultdict

import numpy as np

from graphpart.binary_quadratic.two_sides import signed_graph
from graphpart.crf.certificates.certificate import Certificate, Extra, certify, message_starts
from graphpart.crf.problem import FactorGraph
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.errors import InvalidProblem
from graphpart.maximum_cut.branch_and_cut import is_suitable
from graphpart.maximum_cut.odd_cycles import OddCycles
from graphpart.stopping import Stopping

__all__ = ["by_cycles", "suits_cycles"]


def suits_cycles(f: FactorGraph) -> bool:
    """Whether variables have two labels, and pairs are few, each with one table. O(m log m)"""
    arity = np.diff(f.scope_start)
    if (f.domains != 2).any() or arity.max(initial=0) > 2 or f.has_forbidden or not is_suitable(f.n + 1, f.m):
        return False
    pairs = np.sort(f.scope[np.repeat(arity == 2, arity)].reshape(-1, 2).astype(np.int64), axis=1)
    return len(np.unique(pairs[:, 0] * f.n + pairs[:, 1])) == len(pairs)


def by_cycles(f: FactorGraph, goal: float, stopping: Stopping) -> Certificate:
    """The bound of odd cycles, which are added until it reaches the goal or they raise it by little."""
    q = quadratic_form(f)
    if q is None:
        raise InvalidProblem("the sums of costs are beyond what floating point holds")
    relaxation = OddCycles(signed_graph(q), lambda: math.inf if stopping.remaining is None else stopping.remaining)
    relaxation.closes(goal, stopping)
    moves = _Moves(f)
    g, rows, multipliers = relaxation.g, relaxation.program.rows, relaxation.multipliers
    signs, starts = rows.entries * (1.0 - 2.0 * g.negative[rows.columns]), rows.starts.tolist()
    for k in np.flatnonzero(multipliers > 0).tolist():
        edges = rows.columns[starts[k] : starts[k + 1]]
        ends = np.stack([g.u[edges], g.v[edges]], 1).tolist()
        moves.take(ends, signs[starts[k] : starts[k + 1]].tolist(), float(multipliers[k]))
    extra = moves.extra()
    return certify(f, np.append(moves.own, np.zeros(2 * len(extra.scope))), "odd cycles", extra=extra)


class _Moves:
    """The amounts that tables send: `own`, of each pair to the labels of both variables, and `links`."""

    def __init__(self, f: FactorGraph) -> None:
        several = message_starts(f)[0]
        pairs = f.scope[f.scope_start[several][:, None] + np.arange(2)]
        table = f.tables[f.table_start[several][:, None] + np.arange(4)]
        self.own = np.zeros((len(pairs), 2, 2))
        self.own[:, 0, 1] = (table[:, 2] + table[:, 3] - table[:, 0] - table[:, 1]) / 2
        self.own[:, 1, 1] = (table[:, 1] + table[:, 3] - table[:, 0] - table[:, 2]) / 2
        self.ground, self.pairs = f.n, pairs.tolist()
        self.number = {tuple(sorted(pair)): k for k, pair in enumerate(self.pairs)}
        self.links: dict[tuple[int, int], float] = defaultdict(float)

    def take(self, ends: list[list[int]], signs: list[float], amount: float) -> None:
        """One cycle, as the ends of its edges in any order. A walk that visits a node twice is left out."""
        at = defaultdict[int, list[int]](list)
        for k, pair in enumerate(ends):
            for a in pair:
                at[a].append(k)
        if any(len(some) != 2 for some in at.values()):
            return
        nodes, edges = [ends[0][0]], [0]
        while (following := sum(ends[edges[-1]]) - nodes[-1]) != nodes[0]:
            nodes.append(following)
            edges.append(sum(at[following]) - edges[-1])
        if len(nodes) < max(3, len(ends)):
            return
        signs = [signs[k] for k in edges]
        shift = nodes.index(self.ground) if self.ground in nodes else 0
        nodes, signs = nodes[shift:] + nodes[:shift], signs[shift:] + signs[:shift]
        chord = signs[0]
        for k in range(1, len(nodes) - 1):
            last = -chord * signs[k]  # the sign of the next chord, or of the edge that closes the walk
            self._triangle(nodes[0], nodes[k], nodes[k + 1], (chord * amount, signs[k] * amount, last * amount))
            chord = -last

    def _triangle(self, a: int, b: int, c: int, amounts: tuple[float, float, float]) -> None:
        if a == self.ground:
            k = self._factor(b, c)
            for v, amount in ((b, amounts[0]), (c, amounts[2])):
                self.own[k, self.pairs[k].index(v), 1] -= amount
        else:
            large = self._factor(a, b, c)
            for pair, amount in zip(((a, b), (b, c), (a, c)), amounts, strict=True):
                self.links[self._factor(*pair), large] -= amount

    def _factor(self, *members: int) -> int:
        """The number of the factor over some variables, which is added if there is none."""
        return self.number.setdefault(tuple(sorted(members)), len(self.number))

    def extra(self) -> Extra:
        """The added factors and the links."""
        added = list(self.number)[len(self.pairs) :]
        start = np.cumsum([0, *map(len, added)], dtype=np.int64)
        links = np.array(list(self.links), np.int32).reshape(-1, 2)
        amounts = np.zeros((len(links), 4))
        amounts[:, 1:3] = np.array(list(self.links.values()))[:, None]  # where the labels differ
        return Extra(start, np.array([a for some in added for a in some], np.int32), links, amounts.ravel())
