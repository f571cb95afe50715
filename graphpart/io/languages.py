"""Global cost functions of words: the labels of the variables, in order, are to be a word of a language.

Regular languages are given by automata, context-free ones by grammars in Chomsky's normal form. Both become weighted
automata that read the labels. For a grammar, a state is the sequence of symbols that are still to be derived, leftmost
first. Each symbol derives at least one label, so only states no longer than the rest of the word matter.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from graphpart.errors import InvalidProblem

if TYPE_CHECKING:
    from graphpart.crf.problem.functions import Circuit

__all__ = ["add_grammar", "add_regular", "add_weighted_regular"]

ZERO = Fraction(0)

Steps = Iterable[tuple[Hashable, Fraction]]


def _states(call: Any) -> None:
    for name in ("starts", "ends"):
        for state, *_ in call.values[name]:
            _state(call, state)
    for row in call.transitions:
        _state(call, row[0])
        _state(call, row[2])


def _state(call: Any, state: int) -> None:
    if not 0 <= state < call.nb_states:
        raise InvalidProblem(f"state {state}: expected 0 to {call.nb_states - 1}")


def _read(circuit: Circuit, start: dict[Hashable, Fraction], step: Any, final: Any, costs: Iterable[Fraction]) -> None:
    from graphpart.crf.problem.many_variables import automaton

    automaton(circuit, range(circuit.arity), start, step, final, costs)


def add_weighted_regular(circuit: Circuit, call: Any) -> None:
    """The least cost of a run of a weighted automaton."""
    _states(call)
    rows: dict[tuple[int, int], list[tuple[Hashable, Fraction]]] = defaultdict(list)
    for state, label, following, cost in call.transitions:
        rows[state, label].append((following, cost))
    start: dict[Hashable, Fraction] = {}
    ends: dict[Hashable, Fraction] = {}
    for found, listed in ((start, call.starts), (ends, call.ends)):
        for state, cost in listed:
            found[state] = min(cost, found.get(state, cost))
    costs = [*start.values(), *ends.values(), *(row[3] for row in call.transitions)]
    _read(circuit, start, lambda i, state, label: rows.get((state, label), ()), ends.get, costs)


def add_regular(circuit: Circuit, call: Any) -> None:
    """var: how many labels have to change to make a word. edit: how many have to change, come or go."""
    allowed = ("var", "edit") if call.keyword == "sregular" else ("var",)
    if call.metric not in allowed:
        raise InvalidProblem(f"metric {call.metric!r}: expected {' or '.join(allowed)}")
    _states(call)
    cost = None if call.limit is not None and call.cost >= call.limit else call.cost
    if cost is not None and cost < 0:
        raise InvalidProblem(f"cost {float(cost):g}: expected at least 0")
    moves: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for state, label, following in call.transitions:
        moves[state].append((label, following))
    ends = {state for (state,) in call.ends}
    edit = call.metric == "edit" and cost is not None
    reach = {s: _distances(moves, s) if edit else {s: 0} for s in range(call.nb_states)}

    def step(i: int, state: Any, label: int) -> Steps:
        found: list[tuple[Hashable, Fraction]] = []
        for middle, inserted in reach[state].items():
            for symbol, following in moves[middle]:
                changed = inserted + (symbol != label)
                if not changed:
                    found.append((following, ZERO))
                elif cost is not None:
                    found.append((following, cost * changed))
        if edit:
            assert cost is not None
            found.append((state, cost))
        return found

    def final(state: Any) -> Fraction | None:
        left = [n for s, n in reach[state].items() if s in ends]
        return None if not left else (cost or ZERO) * min(left)

    _read(circuit, {state: ZERO for (state,) in call.starts}, step, final, [cost or ZERO])


def _distances(moves: dict[int, list[tuple[int, int]]], state: int) -> dict[int, int]:
    """The number of transitions to each state."""
    found, layer = {state: 0}, [state]
    while layer:
        layer = [t for s in layer for _, t in moves[s] if t not in found and found.setdefault(t, found[s] + 1)]
    return found


def add_grammar(circuit: Circuit, call: Any) -> None:
    """var: how many labels have to change to make a word. weight: the least cost of the rules that derive the word."""
    if call.metric not in ("var", "weight"):
        raise InvalidProblem(f"metric {call.metric!r}: expected var or weight")
    weighted = call.metric == "weight"
    symbols = [call.start, *(row[0] for row in call.terminals), *(x for row in call.non_terminals for x in row[:3])]
    for symbol in symbols:
        if not 0 <= symbol < call.nb_symbols:
            raise InvalidProblem(f"symbol {symbol}: expected 0 to {call.nb_symbols - 1}")
    change = None if weighted or (call.limit is not None and call.cost >= call.limit) else call.cost
    splits: dict[int, list[tuple[int, int, Fraction]]] = defaultdict(list)
    words: dict[int, list[tuple[int, Fraction]]] = defaultdict(list)
    for row in call.non_terminals:
        splits[row[0]].append((row[1], row[2], row[3] if weighted else ZERO))
    for row in call.terminals:
        words[row[0]].append((row[1], row[2] if weighted else ZERO))
    n = circuit.arity

    def derived(stack: tuple[int, ...], longest: int) -> list[tuple[tuple[int, ...], int, Fraction]]:
        """What the first symbol may begin with: a label, the cost of the rules, and what is left to derive."""
        best: dict[tuple[int, ...], Fraction] = {stack: ZERO}
        waiting = [stack]
        while waiting:
            one = waiting.pop()
            for left, right, cost in splits[one[0]]:
                longer = (left, right, *one[1:])
                total = best[one] + cost
                if len(longer) <= longest and (longer not in best or total < best[longer]):
                    best[longer] = total
                    waiting.append(longer)
            if len(best) > 2**16:
                raise InvalidProblem("the grammar has too many derivations: expected fewer variables or rules")
        return [(one[1:], label, sum_ + cost) for one, sum_ in best.items() for label, cost in words[one[0]]]

    known: dict[tuple[tuple[int, ...], int], list[tuple[tuple[int, ...], int, Fraction]]] = {}

    def step(i: int, stack: Any, label: int) -> Steps:
        if not stack:
            return
        key = (stack, n - i)
        if key not in known:
            known[key] = [entry for entry in derived(stack, n - i) if (len(entry[0]) > 0) == (i < n - 1)]
        for left, symbol, cost in known[key]:
            if symbol == label:
                yield left, cost
            elif change is not None:
                yield left, cost + change

    costs = [change or ZERO, *(row[-1] for row in (*call.terminals, *call.non_terminals) if weighted)]
    _read(circuit, {(call.start,): ZERO}, step, lambda stack: None if stack else ZERO, costs)
