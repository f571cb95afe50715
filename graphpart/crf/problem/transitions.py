"""The transitions of an automaton in any of the accepted forms."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from graphpart.crf.problem.checks import real_array
from graphpart.crf.problem.functions import Circuit
from graphpart.crf.problem.layered import exact
from graphpart.errors import InvalidProblem

__all__ = ["transitions_of"]

Key = tuple[Hashable, int]
Step = Callable[[int, Hashable, int], Iterable[tuple[Hashable, Fraction]]]


def transitions_of(
    circuit: Circuit, transitions: Any, start: Hashable, accepting: Any, costs: Any
) -> tuple[Step, Callable[[Hashable], Fraction | None], list[Fraction]]:
    """The following states, the costs of ending in a state, and all costs; see `WithFunctions.add_automaton`."""
    following = _mapping(circuit, transitions)
    states = {start, *(s for s, _ in following), *(s for many in following.values() for s in many)}
    if not isinstance(transitions, Mapping):
        states |= set(range(len(transitions)))
    prices = _costs(costs, following)
    if accepting is None:
        ends: dict[Hashable, Fraction] = dict.fromkeys(states, Fraction(0))
    elif isinstance(accepting, Mapping):
        ends = {state: _price(f"accepting state {state!r}", cost) for state, cost in accepting.items()}
    else:
        ends = dict.fromkeys([accepting] if isinstance(accepting, int | str) else accepting, Fraction(0))
    for state in ends:
        if state not in states:
            raise InvalidProblem(f"accepting state {state!r} is in no transition: expected one of the states")

    def step(i: int, state: Hashable, label: int) -> Iterable[tuple[Hashable, Fraction]]:
        key = (state, label)
        return [(s, prices.get(key, Fraction(0))) for s in following.get(key, ())]

    return step, ends.get, [*prices.values(), *ends.values()]


def _mapping(circuit: Circuit, transitions: Any) -> dict[Key, list[Hashable]]:
    """The states that follow each state and label."""
    largest = max(circuit.domains, default=0)
    if not isinstance(transitions, Mapping):
        array = np.asarray(transitions)
        if array.ndim != 2 or array.dtype.kind not in "iu" or not array.size:
            raise InvalidProblem(
                f"transitions have shape {array.shape} and dtype {array.dtype}: expected a table of states by labels"
            )
        if array.shape[1] < largest:
            raise InvalidProblem(f"transitions for {array.shape[1]} labels: expected {largest}, one column for each")
        bad = np.argwhere((array < -1) | (array >= len(array)))
        if len(bad):
            s, x = bad[0].tolist()
            last = len(array) - 1
            raise InvalidProblem(f"transition of state {s} and label {x} is {array[s, x]}: expected -1 to {last}")
        return {(s, x): [int(array[s, x])] for s, x in np.argwhere(array >= 0).tolist()}
    found: dict[Key, list[Hashable]] = {}
    for key, value in transitions.items():
        if not isinstance(key, tuple) or len(key) != 2 or not isinstance(key[1], int | np.integer):
            raise InvalidProblem(f"transition from {key!r}: expected a pair of a state and a label")
        if not 0 <= key[1] < max(largest, 1):
            raise InvalidProblem(f"transition from {key!r}: expected a label from 0 to {largest - 1}")
        found[key] = list(value) if isinstance(value, list | set) else [value]
    return found


def _costs(costs: Any, following: Mapping[Key, Any]) -> dict[Key, Fraction]:
    if costs is None:
        return {}
    if isinstance(costs, Mapping):
        for key in costs:
            if key not in following:
                raise InvalidProblem(f"cost of transition {key!r}, which there is not")
        return {key: _price(f"transition {key!r}", cost) for key, cost in costs.items()}
    array = real_array("costs of transitions", costs)
    if array.ndim != 2:
        raise InvalidProblem(f"costs of transitions have shape {array.shape}: expected that of the transitions")
    found = {}
    for key in following:
        state, label = key
        if not isinstance(state, int) or not (0 <= state < array.shape[0] and label < array.shape[1]):
            raise InvalidProblem(f"costs of transitions have shape {array.shape}, without {key}: expected all of them")
        found[key] = _price(f"transition {key!r}", array[state, label])
    return found


def _price(what: str, cost: Any) -> Fraction:
    value = float(cost)
    if not np.isfinite(value):
        raise InvalidProblem(f"the cost of {what} is {cost}: expected a finite number")
    return exact(value)
