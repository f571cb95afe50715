"""Functions that read the labels of their variables one after the other, as automata do, as auxiliary variables.

A weighted automaton has states, in which it is before it reads the next label, and transitions with costs. The function
is the least cost of all runs that end in an accepting state. Its states may be of any kind, and are met one by one:

1. Forwards, layer by layer, the automaton is made deterministic: a new state is a set of old ones, each with the cost
   that it has more than the cheapest of the set (Mohri 1997). Deterministic automata stay as they are.
2. Backwards, the least cost to come is moved to the front; states without a future are dropped, and states with the
   same future are merged. The result has the fewest states for this order of the variables.
3. The state after each variable is an auxiliary variable, unless there is only one.

All costs are whole multiples of a unit, so that sums are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from graphpart.crf.problem.functions import Circuit, too_large

__all__ = ["exact", "read_in_order", "whole"]

STEPS = 2**20  # largest number of transitions that are computed

State = Hashable
Step = Callable[[int, State, int], Iterable[tuple[State, int]]]
Final = Callable[[State], int | None]


def exact(value: float) -> Fraction:
    """A number as it is printed: 0.1 is a tenth."""
    return Fraction(repr(float(value)))


def whole(values: Iterable[Fraction]) -> tuple[list[int], Fraction]:
    """Numbers as whole multiples of a unit, and the unit."""
    numbers = list(values)
    denominator = math.lcm(*(number.denominator for number in numbers))
    return [int(number * denominator) for number in numbers], Fraction(1, denominator)


def read_in_order(
    circuit: Circuit, inputs: Sequence[int], start: Mapping[State, int], step: Step, final: Final, unit: Fraction
) -> None:
    """Add the function to a circuit.

    Parameters
    ----------
    circuit : Circuit
    inputs : sequence of int
        Its variables in the order in which they are read, at least one.
    start : mapping from states to costs
    step : callable
        ``step(i, state, label)``: the states after input i has this label, and the costs of these transitions.
    final : callable
        The cost to end in a state; None if that is not allowed.
    unit : Fraction
        Of all costs.
    """
    sizes = [circuit.domains[v] for v in inputs]
    base = min(start.values(), default=0)
    layers, sets = _forwards(circuit.name, sizes, {s: c - base for s, c in start.items()}, step)
    ends = [_least(c + f for s, c in one if (f := final(s)) is not None) for one in sets]
    rows, rest = _backwards(layers, ends)
    if rest is None:
        circuit.cost(inputs[:1], np.full(sizes[0], np.inf))
        return
    state: int | None = None
    floats: dict[int, float] = {}
    for i, layer in enumerate(rows):
        shape = (len(layer), sizes[i]) if state is not None else (sizes[i],)
        following = len(rows[i + 1]) if i + 1 < len(rows) else 1
        costs, values = np.full(len(layer) * sizes[i], np.inf), np.zeros(len(layer) * sizes[i], np.int32)
        for k, entry in enumerate(entry for row in layer for entry in row):
            if entry is not None:
                values[k], cost = entry
                if cost not in floats:
                    floats[cost] = float(cost * unit)
                costs[k] = floats[cost]
        if i == 0:
            circuit.constant += float((rest + base) * unit)
        parents = [inputs[i]] if state is None else [state, inputs[i]]
        if following > 1:
            state = circuit.auxiliary(parents, values.reshape(shape), following, costs.reshape(shape))
        else:
            circuit.cost(parents, costs.reshape(shape))
            state = None


Set = Collection[tuple[State, int]]  # hashable
Layer = list[list[tuple[int, int] | None]]


def _forwards(
    name: str, sizes: Sequence[int], start: dict[State, int], step: Step
) -> tuple[list[Layer], list[Set]]:  # fmt: skip
    """For each layer, set and label the next set and the cost of going there; and the sets after the last layer."""
    sets: list[Set] = [frozenset(start.items())]
    layers, taken = [], 0
    for i, size in enumerate(sizes):
        index: dict[Set, int] = {}
        layer: Layer = []
        for members in sets:
            taken += size * len(members)
            if taken > STEPS:
                raise too_large(name, f"more than {STEPS} transitions")
            row: list[tuple[int, int] | None] = []
            for label in range(size):
                reached: dict[State, int] = {}
                for state, cost in members:
                    for following, more in step(i, state, label):
                        if following not in reached or cost + more < reached[following]:
                            reached[following] = cost + more
                if not reached:
                    row.append(None)
                    continue
                least = min(reached.values())
                if len(reached) == 1:
                    found: Set = ((following, 0),)
                else:
                    found = frozenset((s, c - least) for s, c in reached.items())
                row.append((index.setdefault(found, len(index)), least))
            layer.append(row)
        layers.append(layer)
        sets = list(index)
    return layers, sets


def _backwards(layers: list[Layer], ends: list[int | None]) -> tuple[list[Layer], int | None]:
    """The layers without unneeded states, and the least cost of all; None if nothing is allowed."""
    to_come, new = ends, [0] * len(ends)
    reduced: list[Layer] = []
    for layer in reversed(layers):
        known: dict[tuple[tuple[int, int] | None, ...], int] = {}
        costs: list[int | None] = []
        place = []
        for row in layer:
            moved = [
                None if entry is None or (rest := to_come[entry[0]]) is None else (new[entry[0]], entry[1] + rest)
                for entry in row
            ]
            least = _least(entry[1] for entry in moved if entry is not None)
            costs.append(least)
            if least is None:
                place.append(-1)
                continue
            future = tuple(None if entry is None else (entry[0], entry[1] - least) for entry in moved)
            place.append(known.setdefault(future, len(known)))
        reduced.append([list(future) for future in known])
        to_come, new = costs, place
    return reduced[::-1], to_come[0] if to_come else None


def _least(values: Iterable[int]) -> int | None:
    return min(values, default=None)
