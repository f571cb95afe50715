"""The available functions of many variables: sums, counts, all different, automata, and combinations of these.

Each function is added to a circuit (see `functions`). Most functions read their variables in order (see `layered`). The
state is then the sum so far, the numbers of labels so far, the state of an automaton, or the largest cost so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from graphpart.crf.problem.functions import Circuit, Row
from graphpart.crf.problem.layered import State, exact, read_in_order, whole

__all__ = [
    "Gap",
    "all_different",
    "automaton",
    "bounded",
    "cardinalities",
    "linear",
    "maximum",
    "overlap",
    "same",
    "tree",
]

PAIRWISE = 2**22  # largest number of entries of pairwise tables for labels that must differ; above, labels are counted
ONE = Fraction(1)


@dataclass(frozen=True)
class Gap:
    """The cost of a number by how far it is outside an interval.

    Parameters
    ----------
    least, most : Fraction or float
        The interval; ``-inf`` and ``inf`` for none.
    cost : Fraction or None
        For each unit outside; None forbids.
    kind : str
        "lin"; "quad" squares the distance; "hard" takes any distance for one.
    but : Fraction, optional
        A number within that counts as one outside.
    limit : Fraction, optional
        Costs of at least this are forbidden.
    """

    least: Fraction | float
    most: Fraction | float
    cost: Fraction | None
    kind: str = "lin"
    but: Fraction | None = None
    limit: Fraction | None = None

    def __call__(self, number: Fraction) -> Fraction | None:
        """The cost; None if it is forbidden."""
        if number < self.least:
            distance = Fraction(self.least) - number
        elif number > self.most:
            distance = number - Fraction(self.most)
        else:
            distance = Fraction(number == self.but)
        if not distance or self.cost is None:
            return None if distance else Fraction(0)
        cost = self.cost * (1 if self.kind == "hard" else distance * distance if self.kind == "quad" else distance)
        return None if self.limit is not None and cost >= self.limit else cost

    def flat_beyond(self, number: Fraction) -> bool:
        """Whether numbers that are further outside than this one cost the same."""
        return self.cost is None or self.kind == "hard" or self(number) is None


def linear(circuit: Circuit, inputs: Sequence[int], weights: Sequence[Sequence[Fraction]], gap: Gap) -> None:
    """The cost of a sum of weights, which the labels of the inputs select."""
    sizes = [len(row) for row in weights]
    bounds = [bound for bound in (gap.least, gap.most, gap.but) if isinstance(bound, Fraction)]
    numbers, scale = whole([*(w for row in weights for w in row), *bounds])
    at = np.cumsum([0, *sizes]).tolist()
    table = [numbers[at[i] : at[i + 1]] for i in range(len(sizes))]
    low, high = [0], [0]
    for row in reversed(table):
        low.append(low[-1] + min(row))
        high.append(high[-1] + max(row))
    low, high = low[::-1], high[::-1]
    costs: dict[int, Fraction | None] = {}

    def value(number: int) -> Fraction | None:
        if number not in costs:
            costs[number] = gap(number * scale)
        return costs[number]

    price = Fraction(0) if gap.cost is None else gap.cost
    _, unit = whole([price, price * scale, price * scale * scale])
    settled: dict[tuple[int, int], State] = {}
    least = int(gap.least / scale) if isinstance(gap.least, Fraction) else gap.least
    most = int(gap.most / scale) if isinstance(gap.most, Fraction) else gap.most
    but = math.nan if gap.but is None else int(gap.but / scale)

    def name(number: int) -> str:
        """A state for all numbers of this cost."""
        cost = value(number)
        return "" if cost is None else str(cost)

    def step(i: int, state: State, label: int) -> Iterable[tuple[State, int]]:
        if isinstance(state, str):
            return ((state, 0),)
        assert isinstance(state, int)
        number = state + table[i][label]
        key = (i, number)
        found = settled.get(key)
        if found is None:
            a, b = number + low[i + 1], number + high[i + 1]
            found = number
            if (
                a == b
                or (least <= a and b <= most and not a <= but <= b)
                or ((b < least or a > most) and gap.flat_beyond((b if b < least else a) * scale))
            ):
                found = name(a)
            settled[key] = found
        return () if found == "" else ((found, 0),)

    def final(state: State) -> int | None:
        cost = Fraction(state) if isinstance(state, str) else value(state)  # type: ignore[arg-type]
        return None if cost is None else int(cost / unit)

    read_in_order(circuit, inputs, {0: 0}, step, final, unit)


def row_of(weights: Sequence[Sequence[Fraction]], gap: Gap) -> Row:
    """The same as a row of an integer program; not for squares and gaps of one."""
    floats = tuple(np.array([float(w) for w in row]) for row in weights)
    return Row(floats, float(gap.least), float(gap.most), math.inf if gap.cost is None else float(gap.cost))


def chosen(circuit: Circuit, inputs: Sequence[int], labels: Iterable[int]) -> list[list[Fraction]]:
    """Weights that count which inputs have one of these labels."""
    some = set(labels)
    return [[Fraction(label in some) for label in range(circuit.domains[v])] for v in inputs]


def automaton(
    circuit: Circuit,
    inputs: Sequence[int],
    start: Mapping[Hashable, Fraction],
    step: Callable[[int, State, int], Iterable[tuple[State, Fraction]]],
    final: Callable[[State], Fraction | None],
    costs: Iterable[Fraction],
) -> None:
    """The least cost of a run; `costs` are all costs that start, transitions and end may have."""
    _, unit = whole(costs)

    def scaled(i: int, state: State, label: int) -> Iterable[tuple[State, int]]:
        return [(s, int(c / unit)) for s, c in step(i, state, label)]

    def end(state: State) -> int | None:
        cost = final(state)
        return None if cost is None else int(cost / unit)

    read_in_order(circuit, inputs, {s: int(c / unit) for s, c in start.items()}, scaled, end, unit)


def all_different(circuit: Circuit, inputs: Sequence[int], cost: float, but: Iterable[int] = ()) -> None:
    """Each pair of inputs with the same label has a cost, except for the labels `but`.

    A table for each pair, if these are not too large. If they are, and the cost is ``inf``, each label is counted.
    """
    free = set(but)
    sizes = [circuit.domains[v] for v in inputs]
    pairs = list(combinations(range(len(inputs)), 2))
    if cost < math.inf or sum(sizes[i] * sizes[j] for i, j in pairs) <= PAIRWISE:
        for i, j in pairs:
            table = np.zeros((sizes[i], sizes[j]))
            same = [x for x in range(min(sizes[i], sizes[j])) if x not in free]
            table[same, same] = cost
            circuit.cost((inputs[i], inputs[j]), table)
        return
    for label in range(max(sizes)):
        users = [v for v, size in zip(inputs, sizes, strict=True) if label < size]
        if label not in free and len(users) > 1:
            linear(circuit, users, chosen(circuit, users, [label]), Gap(-math.inf, ONE, None))


def rows_of_all_different(circuit: Circuit, inputs: Sequence[int], but: Iterable[int] = ()) -> list[Row]:
    """A row for each label: at most one input has it."""
    free = set(but)
    labels = [x for x in range(max((circuit.domains[v] for v in inputs), default=0)) if x not in free]
    return [row_of(chosen(circuit, inputs, [x]), Gap(-math.inf, ONE, None)) for x in labels]


def cardinalities(
    circuit: Circuit,
    inputs: Sequence[int],
    bounds: Sequence[tuple[int, int, int]],
    cost: Fraction,
    limit: Fraction | None = None,
) -> None:
    """Bounds on the number of inputs with each label; the cost is for each input that has to change its label.

    The number of these inputs is the larger one of two sums over labels: of the missing inputs, and of the excess ones.
    """
    most = [high for _, _, high in bounds]
    place = {label: k for k, (label, _, _) in enumerate(bounds)}

    def step(i: int, state: State, label: int) -> Iterable[tuple[State, Fraction]]:
        assert isinstance(state, tuple)
        if label not in place:
            return ((state, Fraction(0)),)
        counts, excess, k = list(state[:-1]), state[-1], place[label]
        if counts[k] == most[k]:
            excess += 1
        else:
            counts[k] += 1
        return (((*counts, excess), Fraction(0)),)

    def final(state: State) -> Fraction | None:
        assert isinstance(state, tuple)
        shortage = sum(max(0, low - n) for n, (_, low, _) in zip(state[:-1], bounds, strict=True))
        total = cost * max(shortage, state[-1])
        return None if limit is not None and total >= limit else total

    automaton(circuit, inputs, {(0,) * (len(bounds) + 1): Fraction(0)}, step, final, [cost])


def same(circuit: Circuit, first: Sequence[int], second: Sequence[int], gap: Gap) -> None:
    """For each label, the cost of the difference between the numbers of inputs of two lists that have it."""
    inputs = [v for pair in zip(first, second, strict=True) for v in pair]
    for label in range(max((circuit.domains[v] for v in inputs), default=0)):
        weights = chosen(circuit, inputs, [label])
        linear(circuit, inputs, [row if i % 2 == 0 else [-w for w in row] for i, row in enumerate(weights)], gap)


def overlap(circuit: Circuit, first: Sequence[int], second: Sequence[int], gap: Gap) -> None:
    """The cost of the number of places at which two lists have the same label, which is not 0."""
    equal = []
    for u, v in zip(first, second, strict=True):
        shape = (circuit.domains[u], circuit.domains[v])
        values: NDArray[np.int32] = np.zeros(shape, np.int32)
        common = np.arange(1, min(shape))
        values[common, common] = 1
        equal.append(circuit.auxiliary((u, v), values, 2, None))
    linear(circuit, equal, chosen(circuit, equal, [1]), gap)


def tree(circuit: Circuit, inputs: Sequence[int]) -> None:
    """Each input names its parent, the root itself: the inputs are one tree.

    Auxiliary variables say which ancestor is 1, 2, 4, ... steps above, up to at least as many steps as there are
    inputs. There is one tree, and no cycle, if all end at the same input.
    """
    n = len(inputs)
    above = list(inputs)
    steps = 1
    while steps < n:
        above = [_ancestor(circuit, above, one) for one in above]
        steps *= 2
    differ = np.where(np.eye(n, dtype=bool), 0.0, np.inf)
    for one in above[1:]:
        circuit.cost((above[0], one), differ)


def _ancestor(circuit: Circuit, above: Sequence[int], which: int) -> int:
    """The label of that variable of a list which another variable names."""
    n = len(above)
    found = circuit.auxiliary((above[0],), np.arange(n), n, None)
    for j in range(1, n):
        here = circuit.auxiliary((which,), (np.arange(n) == j).astype(np.int32), 2, None)
        values = np.empty((n, 2, n), np.int32)
        values[:, 0, :] = np.arange(n)[:, None]
        values[:, 1, :] = np.arange(n)[None, :]
        found = circuit.auxiliary((found, here, above[j]), values, n, None)
    return found


def bounded(circuit: Circuit, tables: Sequence[tuple[Sequence[int], NDArray[np.float64]]], gap: Gap) -> None:
    """The cost of a sum of tables."""
    inputs, weights = [], []
    for members, table in tables:
        finite = np.isfinite(table)
        costs, values = np.unique(np.where(finite, table, 0.0), return_inverse=True)
        forbidden = np.where(finite, 0.0, np.inf)
        size = max(len(costs), 2)
        inputs.append(circuit.auxiliary(members, values.reshape(table.shape), size, forbidden))
        weights.append([exact(c) for c in costs.tolist()] + [exact(costs[0])] * (size - len(costs)))
    if inputs:
        linear(circuit, inputs, weights, gap)


def maximum(circuit: Circuit, inputs: Sequence[int], costs: Sequence[Sequence[Fraction | None]]) -> None:
    """The largest of the costs that the labels of the inputs select; None forbids."""
    every = sorted({c for row in costs for c in row if c is not None})

    def step(i: int, state: State, label: int) -> Iterable[tuple[State, Fraction]]:
        cost = costs[i][label]
        if cost is None:
            return ()
        return ((cost if state is None or cost > state else state, Fraction(0)),)  # type: ignore[operator]

    automaton(circuit, inputs, {None: Fraction(0)}, step, lambda state: state, every)  # type: ignore[arg-type,return-value]
