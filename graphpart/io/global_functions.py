"""The global cost functions of toulbar2 as functions of many variables; the readers of wcsp and cfn share this table.

`global_parameters` reads their parameters. Each function is described at the function that adds it (Lee & Leung 2012;
Allouche et al. 2016; the manual of toulbar2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from graphpart.io.global_parameters import check
from graphpart.io.languages import add_grammar, add_regular, add_weighted_regular

if TYPE_CHECKING:
    from graphpart.crf.problem import FactorGraph
    from graphpart.crf.problem.functions import Circuit
    from graphpart.crf.problem.many_variables import Gap

__all__ = ["Call", "add_global", "negated"]

COMPARATORS = ("==", "!=", "<=", "<", ">=", ">")
METRICS = ("hard", "lin", "quad")


@dataclass(frozen=True)
class Call:
    """A global cost function as a file has it.

    Attributes
    ----------
    keyword : str
    scope : list of int
    values : dict
        The parameters by their names; lists are lists of rows.
    line : int
    limit : Fraction or None
        Costs of at least this are forbidden.
    """

    keyword: str
    scope: list[int]
    values: dict[str, Any]
    line: int
    limit: Fraction | None = None

    def __getattr__(self, name: str) -> Any:
        try:
            return self.values[name]
        except KeyError:
            raise AttributeError(name) from None


def add_global(f: FactorGraph, call: Call) -> None:
    """Add the function to a factor graph; InvalidProblem says what is wrong with its parameters."""
    from graphpart.crf.problem.functions import Circuit

    circuit = Circuit(call.keyword, [int(f.domains[v]) for v in call.scope])
    ADD[call.keyword](circuit, call)
    function = circuit.function(call.scope)
    if function.auxiliaries or len(function.tables) > 1 or not function.tables or function.constant:
        f.add_function(function)
    else:  # a table, as any other
        ((members, table),) = function.tables
        f.add_factor([f.variables[call.scope[v]] for v in members], table)


def negated(call: Call) -> Call:
    """A weighted automaton with other signs: of values that are to be maximised."""
    values = dict(call.values)
    for name in ("starts", "ends", "transitions"):
        values[name] = [[*row[:-1], -row[-1]] for row in values[name]]
    return replace(call, values=values)


def _metric(call: Call, allowed: Sequence[str]) -> str:
    check(call.metric in allowed, f"metric {call.metric!r}: expected {' or '.join(allowed)}")
    return str(call.metric)


def _cost(call: Call) -> Fraction | None:
    """Of one violation; None forbids."""
    check(call.cost >= 0, f"cost {float(call.cost):g}: expected at least 0")
    return None if call.limit is not None and call.cost >= call.limit else call.cost


def _gap(call: Call, least: Any, most: Any, kind: str, but: Any = None) -> Gap:
    from graphpart.crf.problem.many_variables import Gap

    low, high = (x if isinstance(x, float) else Fraction(x) for x in (least, most))
    return Gap(low, high, _cost(call), kind, but, call.limit)


def _compared(call: Call, number: int) -> Gap:
    """The cost of a number that does not compare as it has to."""
    kind, infinite = _metric(call, METRICS), float("inf")
    check(call.comparator in COMPARATORS, f"comparator {call.comparator!r}: expected one of {' '.join(COMPARATORS)}")
    if call.comparator == "!=":
        return _gap(call, -infinite, infinite, kind, Fraction(number))
    least: float = number + (call.comparator == ">") if call.comparator in ("==", ">", ">=") else -infinite
    most: float = number - (call.comparator == "<") if call.comparator in ("==", "<", "<=") else infinite
    return _gap(call, least, most, kind)


def _labels(circuit: Circuit, v: int) -> list[Fraction]:
    """The labels of a variable, as weights."""
    return [Fraction(label) for label in range(circuit.domains[v])]


def _halves(call: Call) -> tuple[range, range]:
    n = len(call.scope)
    check(n % 2 == 0, f"{n} variables: expected two lists of the same length")
    return range(n // 2), range(n // 2, n)


# ----------------------------------------------------------------------------------------------------- two variables


def _compare_two(circuit: Circuit, call: Call) -> None:
    """The violation of an inequality ``x >= y + constant``; more than `delta` is forbidden."""
    check(len(call.scope) == 2, f"{len(call.scope)} variables: expected 2")
    x, y = np.ogrid[: circuit.domains[0], : circuit.domains[1]]
    c, sign = call.constant, call.keyword
    if sign == "=":
        gap = np.abs(y + c - x)
    elif sign in (">=", ">"):
        gap = np.maximum(0, y + c + (sign == ">") - x)
    else:
        gap = np.maximum(0, x - c + (sign == "<") - y)
    circuit.cost((0, 1), np.where(gap <= call.delta, gap, np.inf).astype(float))


def _disjunction(circuit: Circuit, call: Call) -> None:
    """One of two comes first, by a given distance, or else a penalty. The special one has values for "not at all"."""
    check(len(call.scope) == 2, f"{len(call.scope)} variables: expected 2")
    x, y = np.ogrid[: circuit.domains[0], : circuit.domains[1]]
    apart = (x >= y + call.constant_y) | (y >= x + call.constant_x)
    if call.keyword == "disj":
        penalty = np.inf if call.limit is not None and call.penalty >= call.limit else float(call.penalty)
        circuit.cost((0, 1), np.where(apart, 0.0, penalty))
        return
    last_x, last_y = call.largest_x, call.largest_y
    good = (x <= last_x) & (y <= last_y) & (apart | (x == last_x) | (y == last_y))
    costs = (x == last_x) * float(call.cost_x) + (y == last_y) * float(call.cost_y)
    circuit.cost((0, 1), np.where(good, costs, np.inf))


# ------------------------------------------------------------------------------------------------- sums and counts


def _clique(circuit: Circuit, call: Call) -> None:
    """At most one variable has one of its listed labels: a table for each pair."""
    check(call.rhs == 1, f"at most {call.rhs} of the labels: expected at most 1")
    for j in range(len(call.scope)):
        for i in range(j):
            table = np.zeros((circuit.domains[i], circuit.domains[j]))
            table[np.ix_([x for (x,) in call.values["values"][i]], [x for (x,) in call.values["values"][j]])] = np.inf
            circuit.cost((i, j), table)


def _knapsack(circuit: Circuit, call: Call) -> None:
    """A sum of weights is at least the capacity."""
    from graphpart.crf.problem.many_variables import Gap, linear, row_of

    weights = [[Fraction(0)] * size for size in circuit.domains]
    if call.keyword == "knapsack":
        for row, (weight,) in zip(weights, call.weights, strict=True):
            if len(row) > 1:
                row[1] = Fraction(weight)
    elif call.keyword == "knapsackp":
        for row, listed in zip(weights, call.weightedvalues, strict=True):
            for label, weight in listed:
                row[label] += Fraction(weight)
    else:
        for variable, label, weight in call.weightedvalues:
            weights[variable][label] += Fraction(weight)
    gap = Gap(Fraction(call.capacity), float("inf"), None)
    linear(circuit, range(len(weights)), weights, gap)
    circuit.rows.append(row_of(weights, gap))


def _all_different(circuit: Circuit, call: Call) -> None:
    """var, lin: the number of variables that have to change. dec: the number of equal pairs. quad: squares of labels.

    hard: the number of labels that several variables have.
    """
    from graphpart.crf.problem.many_variables import all_different, chosen, linear, rows_of_all_different

    metrics = {"walldiff": METRICS, "walldifferent": METRICS, "salldiffdp": ("var",), "salldiffkp": ("hard",)}
    metric = _metric(call, metrics.get(call.keyword, ("var", "dec", "decbi")))
    inputs = range(len(call.scope))
    cost = None if call.keyword == "salldiffkp" else _cost(call)
    if cost is None or metric in ("dec", "decbi"):
        all_different(circuit, inputs, float("inf") if cost is None else float(cost))
        if cost is None:
            circuit.rows += rows_of_all_different(circuit, inputs)
        return
    for label in range(max(circuit.domains, default=0)):
        gap = _gap(call, float("-inf"), 1, "lin" if metric == "var" else metric)
        linear(circuit, inputs, chosen(circuit, inputs, [label]), gap)


def _cardinalities(circuit: Circuit, call: Call) -> None:
    """The number of variables of each label is bounded. var: variables that have to change; else the sum over labels.

    wdec: each label has weights of its own for those missing and too many. wsamegcc: in both halves, which are to be
    the same.
    """
    from graphpart.crf.problem.many_variables import cardinalities

    metrics = {"sgcc": ("var", "dec", "wdec"), "sgccdp": ("var",)}
    metric = _metric(call, metrics.get(call.keyword, METRICS))
    for row in call.bounds:
        check(0 <= row[1] <= row[2], f"bounds {row[1]} and {row[2]} of label {row[0]}: expected ascending numbers")
    check(len({row[0] for row in call.bounds}) == len(call.bounds), "a label with bounds twice: expected each once")
    if call.keyword == "sgcc" and metric == "var" and (cost := _cost(call)) is not None:
        cardinalities(circuit, range(len(call.scope)), [tuple(row) for row in call.bounds], cost, call.limit)
        return
    parts: tuple[Sequence[int], ...] = (range(len(call.scope)),)
    if call.keyword == "wsamegcc":
        parts = _halves(call)
        _same(circuit, call)
    for inputs in parts:
        for row in call.bounds:
            _count_one(circuit, call, inputs, row, metric)


def _count_one(circuit: Circuit, call: Call, inputs: Sequence[int], row: Sequence[Any], metric: str) -> None:
    """The number of inputs with the label of one row is within its bounds."""
    from graphpart.crf.problem.many_variables import Gap, chosen, linear

    label, least, most = row[:3]
    kind = metric if metric in METRICS else "lin"
    weights = chosen(circuit, inputs, [label])
    if metric != "wdec":
        linear(circuit, inputs, weights, _gap(call, least, most, kind))
        return
    for low, high, cost in ((Fraction(least), float("inf"), row[3]), (float("-inf"), Fraction(most), row[4])):
        linear(circuit, inputs, weights, Gap(low, high, Fraction(cost), "lin", None, call.limit))


def _same(circuit: Circuit, call: Call) -> None:
    """One list is a permutation of the other. ssame: variables that have to change; else differences of labels."""
    from graphpart.crf.problem.many_variables import Gap, same

    if call.keyword == "ssame":
        first, second = [v for (v,) in call.vars1], [v for (v,) in call.vars2]
        check(len(first) == len(second), f"lists of {len(first)} and {len(second)} variables: expected the same length")
        cost = _cost(call)
        gap = Gap(float("-inf"), Fraction(0), cost, "lin", None, call.limit)  # the same amount is in excess elsewhere
    else:
        first, second = (list(half) for half in _halves(call))
        gap = _gap(call, 0, 0, _metric(call, METRICS))
    same(circuit, first, second, gap)


def _among(circuit: Circuit, call: Call) -> None:
    """The number of variables with one of the labels is within bounds, or the last variable of the scope."""
    from graphpart.crf.problem.many_variables import chosen, linear

    inputs = range(len(call.scope))
    some = [x for (x,) in call.values["values"]]
    if call.keyword == "wvaramong":
        _metric(call, METRICS)
        weights = [*chosen(circuit, inputs[:-1], some), [-w for w in _labels(circuit, inputs[-1])]]
        linear(circuit, inputs, weights, _gap(call, 0, 0, "hard"))
        return
    low, high = call.values["min"], call.values["max"]
    metric = _metric(call, METRICS if call.keyword == "wamong" else ("var",))
    check(low <= high, f"bounds {low} and {high}: expected ascending numbers")
    linear(circuit, inputs, chosen(circuit, inputs, some), _gap(call, low, high, "lin" if metric == "var" else metric))


def _sum(circuit: Circuit, call: Call) -> None:
    """A comparison of the sum of the labels with a number, or with the last variable of the scope."""
    from graphpart.crf.problem.many_variables import linear, row_of

    inputs = range(len(call.scope))
    weights = [_labels(circuit, v) for v in inputs]
    if call.keyword == "wvarsum":
        weights[-1] = [-w for w in weights[-1]]
    gap = _compared(call, 0 if call.keyword == "wvarsum" else call.to)
    linear(circuit, inputs, weights, gap)
    if gap.but is None and (gap.cost is None or gap.kind == "lin"):
        circuit.rows.append(row_of(weights, gap))


def _overlap(circuit: Circuit, call: Call) -> None:
    """A comparison of the number of places at which two lists have the same label other than 0."""
    from graphpart.crf.problem.many_variables import overlap

    overlap(circuit, *_halves(call), _compared(call, call.to))


def _diverse(circuit: Circuit, call: Call) -> None:
    """At least a given number of labels differ from the given ones."""
    from graphpart.crf.problem.many_variables import Gap, linear

    given = [x for (x,) in call.values["values"]]
    weights = [[Fraction(x != a) for x in range(size)] for size, a in zip(circuit.domains, given, strict=True)]
    linear(circuit, range(len(given)), weights, Gap(Fraction(call.distance), float("inf"), None))


def _tree(circuit: Circuit, call: Call) -> None:
    """Each variable has its parent as label, the root itself."""
    from graphpart.crf.problem.many_variables import tree

    n = len(call.scope)
    check(circuit.domains == [n] * n, f"{n} variables with {circuit.domains[:8]} labels: expected {n}, one for each")
    tree(circuit, range(n))


def _network(circuit: Circuit, call: Call) -> None:
    """The cost of a problem over the same variables is at least lb and less than ub."""
    from graphpart.crf.problem.layered import exact, whole
    from graphpart.crf.problem.many_variables import Gap, bounded

    inner = call.values["network"]
    check(not inner.functions, "global cost functions in the inner problem: expected tables")
    check(call.strongduality == 0, "strongduality is not 0: expected 0, a bound on the cost of the whole labeling")
    check(inner.domains.tolist() == circuit.domains, f"{inner.n} inner variables: expected the same as of the scope")
    tables = [inner.factor(k) for k in range(inner.m)]
    values = {float(x) for _, table in tables for x in table.ravel() if np.isfinite(x)}
    shift = exact(inner.constant)
    _, unit = whole([*map(exact, values), shift, call.lb, call.ub])
    sense = inner.sense
    low, high = (call.lb, call.ub - unit) if sense > 0 else (-call.ub + unit, -call.lb)
    bounded(circuit, tables, Gap(low - shift, high - shift, None))


def _maximum(circuit: Circuit, call: Call) -> None:
    """The largest cost of a label."""
    from graphpart.crf.problem.many_variables import maximum

    costs: list[list[Any]] = [[call.defaultcost] * size for size in circuit.domains]
    for variable, label, cost in call.tuples:
        costs[variable][label] = cost
    limit = call.limit
    maximum(circuit, range(len(costs)), [[None if limit and c >= limit else c for c in row] for row in costs])


ADD: dict[str, Callable[[Circuit, Call], None]] = {
    **dict.fromkeys((">=", ">", "<=", "<", "="), _compare_two),
    **dict.fromkeys(("disj", "sdisj"), _disjunction),
    "clique": _clique,
    **dict.fromkeys(("knapsack", "knapsackp", "knapsackv"), _knapsack),
    **dict.fromkeys(("salldiff", "salldiffdp", "salldiffkp", "walldiff", "walldifferent"), _all_different),
    **dict.fromkeys(("sgcc", "sgccdp", "wgcc", "wsamegcc"), _cardinalities),
    **dict.fromkeys(("ssame", "wsame"), _same),
    **dict.fromkeys(("sregular", "sregulardp"), add_regular),
    **dict.fromkeys(("sgrammar", "sgrammardp"), add_grammar),
    **dict.fromkeys(("samong", "samongdp", "wamong", "wvaramong"), _among),
    **dict.fromkeys(("max", "smaxdp"), _maximum),
    "wregular": add_weighted_regular,
    **dict.fromkeys(("wsum", "wvarsum"), _sum),
    "woverlap": _overlap,
    **dict.fromkeys(("MST", "smstdp"), _tree),
    **dict.fromkeys(("wcsp", "cfnconstraint"), _network),
    **dict.fromkeys(("wdiverse", "whdiverse", "wtdiverse"), _diverse),
}
