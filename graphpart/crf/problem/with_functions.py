"""Functions of many variables in a factor graph: how users add them, and the factor graph of small tables behind them.

Algorithms see tables only. `decomposed` appends the auxiliary variables of all functions to the user's variables, and
remembers the factor graph that it was made from, its owner. Labelings come in and go out as labelings of the owner:
`labels_of` (labels) and `finish` (labeling) translate.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.crf.problem.checks import real_array
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.crf.problem.functions import Circuit, Function
from graphpart.crf.problem.layered import exact
from graphpart.crf.problem.many_variables import (
    Gap,
    all_different,
    automaton,
    chosen,
    linear,
    row_of,
    rows_of_all_different,
)
from graphpart.crf.problem.transitions import transitions_of
from graphpart.errors import InvalidProblem

__all__ = ["WithFunctions"]


class WithFunctions(FactorTables):
    """A factor graph to which functions of many variables can be added."""

    __slots__ = ()

    def add_all_different(
        self, scope: Iterable[Hashable], cost: float = math.inf, *, but: int | Iterable[int] = ()
    ) -> None:
        """Add a function that forbids that two of these variables have the same label.

        Parameters
        ----------
        scope : sequence of names
        cost : float
            Of each pair of variables with the same label, at least 0; ``inf`` forbids.
        but : int or sequence of int
            Labels that several variables may have.

        Raises
        ------
        InvalidProblem
            If a variable is unknown or repeated, or the cost is negative or NaN.

        Notes
        -----
        Up to 2^22 entries there is a table for each pair. Beyond, if the cost is ``inf``, auxiliary variables say for
        each label whether a variable before has it.

        Examples
        --------
        >>> from graphpart import FactorGraph, solve
        >>> f = FactorGraph()
        >>> for i in range(3):
        ...     f.add_variable(i, domain=3)
        ...     f.add_factor((i,), [0.0, 1.0 * i, 3.0 * i])
        >>> f.add_all_different(range(3))
        >>> r = solve(f)
        >>> r.labels.tolist(), r.cost
        ([2, 1, 0], 1.0)
        """
        circuit, where = self._circuit("all different", scope)
        inputs, free = range(len(where)), [but] if isinstance(but, int | np.integer) else list(but)
        price = _price(cost)
        all_different(circuit, inputs, math.inf if price is None else float(price), free)
        if price is None:
            circuit.rows += rows_of_all_different(circuit, inputs, free)
        self.add_function(circuit.function(where))

    def add_linear(
        self,
        scope: Iterable[Hashable],
        weights: Any = 1,
        least: float = -math.inf,
        most: float = math.inf,
        *,
        cost: float = math.inf,
    ) -> None:
        """Add a function that bounds a weighted sum: ``least <= sum of weights <= most``.

        Parameters
        ----------
        scope : sequence of names
        weights : number, or sequence with a number or a sequence of numbers for each variable
            A number is multiplied by the label of the variable. A sequence has the weight of each label.
        least, most : float
            At least one of them is finite; the same number twice makes an equation.
        cost : float
            For each unit by which the sum is outside, at least 0; ``inf`` forbids.

        Raises
        ------
        InvalidProblem
            If a variable is unknown or repeated, or a number is missing or not finite, or the sums take so many values
            that the tables would not fit into memory.

        Notes
        -----
        Numbers are read in decimal notation and added exactly: three times 0.1 is at most 0.3. Auxiliary variables
        have the partial sums as labels, as far as these matter. For sums of n terms that take S values, tables have
        O(n S^2) entries times the number of labels.

        Examples
        --------
        >>> from graphpart import FactorGraph, solve
        >>> f = FactorGraph()
        >>> for name, value in zip("abc", [4.0, 3.0, 3.0]):
        ...     f.add_variable(name)
        ...     f.add_factor((name,), [0.0, -value])
        >>> f.add_linear("abc", [5, 3, 3], most=7)
        >>> solve(f).labeling
        {'a': 0, 'b': 1, 'c': 1}
        """
        circuit, where = self._circuit("linear", scope)
        low, high = _bounds(least, most, "sum")
        gap = Gap(low, high, _price(cost))
        rows = self._weights(circuit, weights)
        self._linear(circuit, where, rows, gap)

    def add_count(
        self,
        scope: Iterable[Hashable],
        labels: int | Iterable[int] = 1,
        least: int = 0,
        most: float = math.inf,
        *,
        cost: float = math.inf,
    ) -> None:
        """Add a function that bounds how many of these variables have one of some labels.

        Parameters
        ----------
        scope : sequence of names
        labels : int or sequence of int
        least, most : int
            The same number twice requires exactly this many.
        cost : float
            For each variable too few or too many, at least 0; ``inf`` forbids.

        Raises
        ------
        InvalidProblem
            If a variable is unknown or repeated, or a label or number makes no sense.

        Examples
        --------
        >>> from graphpart import FactorGraph, solve
        >>> f = FactorGraph()
        >>> for i in range(100):
        ...     f.add_variable(i)
        ...     f.add_factor((i,), [0.0, float(i)])
        >>> f.add_count(range(100), least=10)
        >>> r = solve(f)
        >>> r.cost, str(r.status)
        (45.0, 'optimal')
        """
        circuit, where = self._circuit("count", scope)
        low, high = _bounds(least, most, "count")
        some = {labels} if isinstance(labels, int | np.integer) else set(labels)
        largest = max(circuit.domains, default=1)
        for label in some if where else ():
            if not isinstance(label, int | np.integer) or not 0 <= label < largest:
                raise InvalidProblem(f"count of label {label!r}: expected 0 to {largest - 1}")
        self._linear(circuit, where, chosen(circuit, range(len(where)), some), Gap(low, high, _price(cost)))

    def add_automaton(
        self,
        scope: Sequence[Hashable],
        transitions: Any,
        start: Hashable = 0,
        accepting: Any = None,
        *,
        costs: ArrayLike | None = None,
    ) -> None:
        """Add a function that an automaton defines, which reads the labels of these variables in order.

        Its value is the least cost of a run from the start to an accepting state, ``inf`` if there is none: the labels
        then are no word of the language.

        Parameters
        ----------
        scope : sequence of names
        transitions : array_like of int, shape (states, labels), or mapping
            The state that follows a state and a label; -1 for none. A mapping has keys ``(state, label)``, and as
            values a state, or a list of states if several may follow; states may be of any hashable kind.
        start : hashable
        accepting : sequence of states, or mapping from states to costs, optional
            Default: all states, at no cost.
        costs : array_like of float, shape (states, labels), or mapping with the keys of the transitions, optional
            Of transitions; default 0.

        Raises
        ------
        InvalidProblem
            If a variable is unknown or repeated, a state or label makes no sense, or the automaton needs too many
            states once it is deterministic.

        Notes
        -----
        Nondeterministic automata are made deterministic, layer by layer; states with the same future are merged.

        Examples
        --------
        At most two nights in a row:

        >>> from graphpart import FactorGraph, solve
        >>> f = FactorGraph()
        >>> for day in range(7):
        ...     f.add_variable(day)
        ...     f.add_factor((day,), [0.0, -1.0 - day])
        >>> f.add_automaton(range(7), [[0, 1], [0, 2], [0, -1]])
        >>> solve(f).labels.tolist()
        [1, 0, 1, 1, 0, 1, 1]
        """
        circuit, where = self._circuit("automaton", scope)
        step, final, every = transitions_of(circuit, transitions, start, accepting, costs)
        if where:
            automaton(circuit, range(len(where)), {start: Fraction(0)}, step, final, every)
        else:
            end = final(start)
            circuit.constant = math.inf if end is None else float(end)
        self.add_function(circuit.function(where))

    def add_function(self, function: Function) -> None:
        """Add a function that is decomposed already."""
        if not function.scope:
            self._add_constant(function.constant, f"the function {function.name!r} without variables")
            return
        self._functions.append(function)
        self._cache.clear()

    def _circuit(self, name: str, scope: Iterable[Hashable]) -> tuple[Circuit, list[int]]:
        """A new circuit over variables, and their indices."""
        where = self._indices(scope)
        return Circuit(name, [self._domain_of(i) for i in where]), where

    def _linear(self, circuit: Circuit, where: list[int], weights: list[list[Fraction]], gap: Gap) -> None:
        if where:
            linear(circuit, range(len(where)), weights, gap)
            circuit.rows.append(row_of(weights, gap))
        else:
            cost = gap(Fraction(0))
            circuit.constant = math.inf if cost is None else float(cost)
        self.add_function(circuit.function(where))

    def _weights(self, circuit: Circuit, weights: Any) -> list[list[Fraction]]:
        arity = circuit.arity
        rows = [weights] * arity if isinstance(weights, int | float | np.number) else list(weights)
        if len(rows) != arity:
            raise InvalidProblem(f"weights of {len(rows)} variables: expected {arity}, one for each")
        found = []
        for i, row in enumerate(rows):
            values = real_array(f"weights of variable {i} of the sum", row)
            size = circuit.domains[i]
            if values.shape not in ((), (size,)):
                raise InvalidProblem(
                    f"weights of variable {i} of the sum have shape {values.shape}: expected {(size,)}"
                )
            if not np.isfinite(values).all():
                raise InvalidProblem(f"weights of variable {i} of the sum are not finite: expected numbers")
            each = [exact(w) for w in values.ravel().tolist()]
            found.append(each if values.ndim else [each[0] * label for label in range(size)])
        return found

    # -------------------------------------------------------------------------------------------------------- looking

    @property
    def functions(self) -> tuple[Function, ...]:
        """The functions of many variables, in order."""
        return tuple(self._functions)

    @property
    def owner(self) -> Self:
        """The factor graph that this one was decomposed from; itself if it was not."""
        return self if self._owner is None else self._owner

    def decomposed(self) -> Self:
        """An equal factor graph of tables only: auxiliary variables follow the variables, new factors the factors.

        The names of auxiliary variables are ``("auxiliary", 0)`` and so on. Each labeling of the variables has exactly
        one labeling of the auxiliary variables that is not forbidden by their tables.

        Returns
        -------
        FactorGraph
            This one if it has no functions of many variables.

        Examples
        --------
        >>> from graphpart import FactorGraph
        >>> f = FactorGraph.from_arrays([2] * 4, [])
        >>> f.add_count(range(4), least=2, most=2)
        >>> f.n, f.decomposed().n, f.decomposed().domains.tolist()
        (4, 7, [2, 2, 2, 2, 2, 3, 2])
        """
        if not self._functions:
            return self
        whole: Self | None = self._cache.get("decomposed")
        constant = self.constant + math.fsum(one.constant for one in self._functions)
        if whole is None:
            domains, start, scope, table_start, tables = self._flat()
            more: list[int] = []
            scopes, parts = [], []
            for one in self._functions:
                scopes_of_one = one.factors(self.n + len(more))
                more += [a.size for a in one.auxiliaries]
                scopes += [members for members, _ in scopes_of_one]
                parts += [table for _, table in scopes_of_one]
            names = [*self._names, *(("auxiliary", k) for k in range(len(more)))]
            lengths = np.cumsum([0, *map(len, scopes)])
            sizes = np.array([len(table) for table in parts], np.int64)
            whole = type(self).of_csr(
                names,
                np.concatenate([domains, np.array(more, np.int32)]),
                np.concatenate([start, start[-1] + lengths[1:]]),
                np.concatenate([scope, np.array([i for members in scopes for i in members], np.int32)]),
                np.concatenate([tables, *parts]),
                np.concatenate([table_start, table_start[-1] + np.cumsum(sizes)]),
            )
            whole._owner = self
            self._cache["decomposed"] = whole
        whole.constant, whole.offset, whole.sense = constant, self.offset, self.sense
        return whole

    @property
    def is_acyclic(self) -> bool:
        """Whether the factor graph, decomposed, is a forest. Two factors that share two variables make a cycle."""
        return super(WithFunctions, self.decomposed()).is_acyclic

    def components(self) -> NDArray[np.int32]:
        """Labels 0, 1, ... of the connected components, in order of first appearance, shape (n,)."""
        return super(WithFunctions, self.decomposed()).components()[: self.n]


def _price(cost: float) -> Fraction | None:
    """A cost, None for inf."""
    value = float(real_array("cost", cost))
    if not value >= 0:
        raise InvalidProblem(f"cost is {cost}: expected a number of at least 0, or inf")
    return None if value == math.inf else exact(value)


def _bounds(least: float, most: float, what: str) -> tuple[Fraction | float, Fraction | float]:
    low, high = float(real_array("least", least)), float(real_array("most", most))
    if not low <= high or low == math.inf or high == -math.inf:
        raise InvalidProblem(f"the {what} is to be from {least} to {most}: expected two numbers, ascending")
    if what == "sum" and low == -math.inf and high == math.inf:
        raise InvalidProblem("a sum without bounds: expected least, most, or both")
    return low if math.isinf(low) else exact(low), high if math.isinf(high) else exact(high)
