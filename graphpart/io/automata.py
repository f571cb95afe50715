"""Functions of many variables as files of toulbar2 write them: as weighted automata, ``wregular``.

Most functions are chains of auxiliary variables, of which each has the one before it and a variable as parents: the
auxiliary variable is the state of an automaton that reads the variables. Other functions are not written in this way.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from graphpart.errors import warn

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.crf.problem.functions import Function

__all__ = ["Automaton", "for_format", "with_automata"]


@dataclass
class Automaton:
    """An automaton that starts in state 0 and accepts in the last state.

    Attributes
    ----------
    scope : list of int
    transitions : list of (state, label, next state, cost)
    states : int
    highest : float
        No run costs more.
    """

    scope: list[int] = field(default_factory=list)
    transitions: list[tuple[int, int, int, float]] = field(default_factory=list)
    states: int = 1
    highest: float = 0.0

    def read(self, variable: int, first: int, costs: np.ndarray, values: np.ndarray, size: int) -> None:
        """Read one more variable, from the states that are numbered from `first`."""
        self.scope.append(variable)
        costs, values = np.atleast_2d(costs), np.atleast_2d(values)
        for s, x in np.argwhere(np.isfinite(costs)).tolist():
            self.transitions.append((first + s, x, self.states + int(values[s, x]), float(costs[s, x])))
        self.states += size
        self.highest += float(costs[np.isfinite(costs)].max(initial=0.0))


def with_automata(problem: FactorGraph) -> tuple[FactorGraph, list[Automaton]] | None:
    """The factor graph with factors in place of simple functions, and automata of the others; None if one has none."""
    from graphpart.crf.problem.derive import condition_on

    plain = condition_on(problem, np.full(problem.n, -1, np.int32))
    plain._functions = []
    automata = []
    for function in problem.functions:
        found = _automata(function)
        if found is None:
            return None
        automata += found[0]
        for members, table in found[1]:
            plain.add_factor([plain.variables[v] for v in members], table)
        plain.add_constant(function.constant)
    return plain, automata


def _automata(function: Function) -> tuple[list[Automaton], list[tuple[list[int], np.ndarray]]] | None:
    """The automata of a function, and its tables over the variables alone."""
    k = len(function.scope)
    chains: dict[int, tuple[Automaton, int]] = {}  # by the auxiliary variable that each ends with
    done, tables = [], []
    for number, one in enumerate(function.auxiliaries, k):
        *before, last = one.parents
        if last >= k or len(before) > 1 or (before and before[0] not in chains):
            return None
        automaton, first = chains.pop(before[0]) if before else (Automaton(), 0)
        reached = automaton.states
        automaton.read(function.scope[last], first, one.costs, one.values, one.size)
        chains[number] = automaton, reached
    for members, table in function.tables:
        if all(v < k for v in members):
            tables.append(([function.scope[v] for v in members], table))
            continue
        if len(members) != 2 or members[1] >= k or members[0] not in chains:
            return None
        automaton, first = chains.pop(members[0])
        automaton.read(function.scope[members[1]], first, table, np.zeros(table.shape, np.int32), 1)
        done.append(automaton)
    return None if chains else (done, tables)


def for_format(problem: FactorGraph, name: str) -> FactorGraph:
    """The problem of tables only; a warning says that a file has auxiliary variables."""
    whole = problem.decomposed()
    if whole is not problem:
        more = whole.n - problem.n
        text = f"format {name} has no such functions of many variables"
        warn(f"{text}: {more} auxiliary variables follow the {problem.n} of the problem")
    return whole
