"""Conformance checks for solvers of set partition problems, those of graphpart and your own.

``check_method(solver)`` runs a solver on small problems of all kinds, degenerate and random, and asserts what every
solver of graphpart promises: see the ``_check_...`` functions, one promise each.

>>> from graphpart.testing import check_method
>>> check_method("greedy-joining")

``check_certificate(problem, certificate)`` recomputes a lower bound from its multipliers, in exact rational arithmetic.
"""

from __future__ import annotations

import inspect
import math
import pickle
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from typing import Any

import numpy as np

from graphpart.errors import InvalidOption, InvalidPartition, InvalidProblem
from graphpart.methods import find_method
from graphpart.partition.certificates.exact_check import check_certificate
from graphpart.partition.exact_solvers.brute_force import brute_force
from graphpart.partition.problem import SetPartition, canonical
from graphpart.result import PartitionResult, Status

__all__ = ["check_certificate", "check_method", "check_record", "check_result", "partition_problems"]


def __dir__() -> list[str]:
    return sorted(__all__)


Solver = Callable[..., PartitionResult]

TOLERANCE = 1e-7  # of a bound, relative to the largest absolute cost of a pair; far below any difference that is meant


def check_method(
    method: str | Solver,
    *,
    exact: bool | None = None,
    seed: int = 0,
    problems: int = 30,
    connected: bool | None = None,
) -> None:
    """Check all promises of a solver.

    Parameters
    ----------
    method : str or callable
        A name in `graphpart.methods.METHODS`, or a function ``solver(problem, ...)`` that returns a PartitionResult.
        The options `initial` and `time_limit` are checked if the solver takes them.
    exact : bool, optional
        Whether the solver has to prove optimality when it has the time; default: what the table says, else False.
    seed : int
        For the random problems.
    problems : int
        Number of random problems.
    connected : bool, optional
        Whether the solver keeps clusters connected where a problem asks for it, and is checked on such problems, too;
        default: what the table says, else False.

    Raises
    ------
    AssertionError
        At the first promise that is broken; the message names the problem and the promise.
    """
    solver: Solver
    if isinstance(method, str):
        row = find_method(method, "partition")
        solver, name = row.function, row.name
        exact = row.exact if exact is None else exact
        connected = "connected" not in row.refuses if connected is None else connected
    else:
        solver, name = method, getattr(method, "__name__", repr(method))
    cases = [
        partition_problems(seed, problems),
        *([partition_problems(seed, problems // 2, True)] if connected else []),
    ]
    for case, p in chain(*cases):
        try:
            state = pickle.dumps(p)
            r = solver(p)
            check_result(p, r, bool(exact))
            _check_deterministic(solver, p, r)
            _check_initial(solver, p)
            _check_no_time(solver, p)
            check_record(solver, p)
            assert pickle.dumps(p) == state, "the problem was changed"
        except AssertionError as error:
            raise AssertionError(f"{name} on {case}: {error}") from error
        except Exception as error:
            raise AssertionError(f"{name} on {case}: raised {error!r}") from error
    _check_graph(solver)
    _check_wrong_calls(solver)


def check_result(p: SetPartition, r: PartitionResult, exact: bool = False) -> None:
    """Check the promises of one result, by brute force as far as the problem is small.

    Parameters
    ----------
    p : SetPartition
    r : PartitionResult
    exact : bool
        Whether the result has to be proven optimal.

    Raises
    ------
    AssertionError
    """
    assert isinstance(r, PartitionResult), f"got {type(r).__name__}: expected a PartitionResult"
    assert r.labels.shape == (p.n,) and r.labels.dtype == np.int32, "labels: expected n values of type int32"
    assert np.array_equal(r.labels, canonical(r.labels)), "labels are not in order of first appearance"
    p._check_feasible(r.labels)
    assert r.cost == p.evaluate(r.labels), f"cost is {r.cost} but the labels cost {p.evaluate(r.labels)}"
    assert r.objective == p.objective(r.cost), f"objective is {r.objective}: expected {p.objective(r.cost)}"
    assert list(r.nodes) == list(p.nodes), "nodes are not those of the problem"
    assert np.array_equal(p.labels(r.partition), r.labels) or p.n == 0, "partition and labels differ"
    assert len(r.partition) == r.n_clusters and all(r.partition), "a subset is empty or not counted"
    assert r.lower_bound <= r.cost and r.gap >= 0, f"lower bound {r.lower_bound} exceeds the cost {r.cost}"
    assert isinstance(r.status, Status), f"status is {r.status!r}"
    assert r.message and "\n" not in r.message, "the message is not one line"
    assert r.seconds >= 0 and r.iterations >= 0 and r.method, "seconds, iterations or method are missing"
    _check_series(r.history, -1, r.cost, "the history")
    _check_series(r.bounds, 1, r.lower_bound, "the record of bounds")
    if p.n <= 9:
        _check_bound(p, r)
    if exact:
        assert r.status == Status.OPTIMAL, f"status is {r.status} ({r.message}): expected optimal"


def _check_series(series: Sequence[tuple[float, float]], sign: int, last: float, what: str) -> None:
    """Seconds that never fall, and values that fall (sign -1) or rise (1), up to a last one."""
    times, values = [seconds for seconds, _ in series], [sign * value for _, value in series]
    assert times == sorted(times), f"{what} runs backwards"
    assert values == sorted(values), f"{what} gets worse: {series}"
    assert not values or values[-1] == sign * last, f"{what} ends with {sign * values[-1]}: expected {last}"


def check_record(solver: Solver, p: SetPartition, **options: Any) -> PartitionResult | None:
    """Check the calls of a callback, and the history and the bounds of the result; returns the result.

    Parameters
    ----------
    solver : callable
        Nothing is checked if it takes no `callback`.
    p : SetPartition
    **options
        Of the solver.

    Raises
    ------
    AssertionError
        If seconds fall, costs rise, or a cost is below that of the result; if history or bounds do not end with it.
    """
    if not _takes(solver, "callback"):
        return None
    seen: list[tuple[float, float]] = []

    def callback(seconds: float, cost: float) -> None:
        seen.append((seconds, cost))

    r = solver(p, callback=callback, **options)
    least = min(r.cost, seen[-1][1] if seen else r.cost)
    _check_series(seen, -1, least, "what the callback sees")
    assert r.cost - least <= tolerance_of(p) * max(1, p.n), f"the callback saw {least}, the result has {r.cost}"
    assert all(r.seconds + 0.1 >= seconds >= 0 for seconds, _ in seen), "the callback saw other seconds than the result"
    assert r.history and r.history[-1][1] == r.cost, "the history does not end with the result"
    assert math.isfinite(r.lower_bound) == bool(r.bounds), "no record of the bound"
    _check_series(r.history, -1, r.cost, "the history")
    _check_series(r.bounds, 1, r.lower_bound, "the record of bounds")
    return r


def _check_bound(p: SetPartition, r: PartitionResult) -> None:
    optimum = brute_force(p).cost
    tolerance = tolerance_of(p)
    assert r.cost >= optimum - tolerance, f"cost is {r.cost}, below the optimum {optimum}: the oracle is wrong"
    assert r.lower_bound <= optimum + tolerance, f"lower bound is {r.lower_bound}, above the optimum {optimum}"
    if r.status == Status.OPTIMAL:
        assert r.cost <= optimum + tolerance, f"cost {r.cost} is called optimal: the optimum is {optimum}"
        assert r.lower_bound >= r.cost - tolerance, f"optimal, but the lower bound is {r.lower_bound}"


def tolerance_of(p: SetPartition) -> float:
    """The allowed error of bounds."""
    cost = p.pairs()[2]
    return TOLERANCE * float(np.abs(cost[np.isfinite(cost)]).max(initial=0.0))


def _check_deterministic(solver: Solver, p: SetPartition, r: PartitionResult) -> None:
    again = solver(p)
    assert np.array_equal(r.labels, again.labels), "a second run gives other labels"
    assert (r.cost, r.status, r.lower_bound) == (again.cost, again.status, again.lower_bound), "a second run differs"


def _takes(solver: Solver, option: str) -> bool:
    return option in inspect.signature(solver).parameters


def _check_initial(solver: Solver, p: SetPartition) -> None:
    if not _takes(solver, "initial"):
        return
    for start in (p._must_join_classes(), brute_force(p).labels if p.n <= 9 else p._must_join_classes()):
        copy = start.copy()
        r = solver(p, initial=start)
        check_result(p, r)
        assert r.cost <= p.evaluate(start), f"cost {r.cost} is worse than the start, {p.evaluate(start)}"
        assert np.array_equal(start, copy), "the initial partition was changed"
        sets = [{p.nodes[a] for a in np.flatnonzero(start == k).tolist()} for k in range(start.max(initial=-1) + 1)]
        for form in (sets, dict(zip(p.nodes, start.tolist(), strict=True)), r):
            assert solver(p, initial=form).cost <= p.evaluate(start), "worse than the start in another form"


def _check_no_time(solver: Solver, p: SetPartition) -> None:
    if not _takes(solver, "time_limit"):
        return
    started = time.perf_counter()
    r = solver(p, time_limit=0)
    assert time.perf_counter() - started < 10, "time_limit=0 is not obeyed"
    check_result(p, r)


def _check_graph(solver: Solver) -> None:
    import networkx as nx

    G = nx.Graph()
    G.add_weighted_edges_from([("b", (1, 2), -2.0), ((1, 2), frozenset({4}), 1.0), ("b", 3.5, -1.0)], "cost")
    before = pickle.dumps(sorted(map(repr, G.edges(data=True))))
    r = solver(G)
    check_result(SetPartition(G), r)
    assert set().union(*r.partition) == set(G), "the names of nodes are lost"
    assert pickle.dumps(sorted(map(repr, G.edges(data=True)))) == before, "the graph was changed"


def _check_wrong_calls(solver: Solver) -> None:
    p = SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, math.inf])
    calls: list[tuple[type[Exception], Any, dict[str, Any]]] = [(InvalidProblem, 7, {})]
    if _takes(solver, "initial"):
        assert math.isfinite(solver(p, initial=[0, 1, 1]).cost), "a start that joins what must be cut is not repaired"
        calls += [(InvalidPartition, p, {"initial": start}) for start in ([0, 0], [{0, 1}, {1, 2}], 5)]
    if _takes(solver, "time_limit"):
        calls += [(InvalidOption, p, {"time_limit": limit}) for limit in (-1, math.nan, "long", "10")]
    for expected, problem, options in calls:
        error: Exception | None = None
        try:
            solver(problem, **options)
        except expected as caught:
            error = caught
        assert error is not None, f"{problem!r} with {options}: expected {expected.__name__}"
        assert str(error) and "\n" not in str(error), f"{expected.__name__} without a clear message"


def partition_problems(seed: int = 0, random: int = 30, connected: bool = False) -> Iterator[tuple[str, SetPartition]]:
    """Small set partition problems with a description each: the degenerate ones, then random ones.

    Parameters
    ----------
    seed : int
    random : int
        Number of random problems.
    connected : bool
        Whether they are problems whose clusters have to be connected, with lifted pairs.
    """
    yield from _degenerate_connected_problems() if connected else _degenerate_problems()
    rng = np.random.default_rng(seed)
    for number in range(random):
        kind = "random problem with lifted pairs" if connected else "random problem"
        yield f"{kind} {number} of seed {seed}", (_random_connected_problem if connected else _random_problem)(rng)


def _degenerate_problems() -> Iterator[tuple[str, SetPartition]]:
    def pairs(n: int, pairs: list[tuple[int, int]], costs: list[float], **options: Any) -> SetPartition:
        return SetPartition.from_pairs(n, pairs, costs, **options)

    for dense in (True, False):
        kind = "dense" if dense else "sparse"
        for n in (0, 1, 2, 5):
            yield f"{n} elements without pairs ({kind})", pairs(n, [], [], dense=dense)
        for cost in (-1.0, 0.0, 1.0, math.inf, -math.inf):
            yield f"one pair of cost {cost} ({kind})", pairs(2, [(0, 1)], [cost], dense=dense)
        every = [(a, b) for a in range(6) for b in range(a + 1, 6)]
        for cost in (-1.0, 0.0, 1.0):
            yield f"all costs {cost} ({kind})", pairs(6, every, [cost] * 15, dense=dense)
        triangle = [(0, 1), (1, 2), (0, 2)]
        for unit in (1.0, 1e-300, 1e150):
            p = pairs(3, triangle, [-2 * unit, -2 * unit, 3 * unit], dense=dense)
            yield f"a triangle of unit {unit} ({kind})", p
        yield f"huge and tiny costs ({kind})", pairs(4, [*triangle, (2, 3)], [-1e12, 1e12, 1.0, -1e-3], dense=dense)
        path, star = [(0, 1), (1, 2), (2, 3), (3, 4)], [(0, a) for a in range(1, 6)]
        yield f"a path of ties ({kind})", pairs(5, path, [-1.0] * 4, dense=dense)
        yield (
            f"a star with a forbidden rim ({kind})",
            pairs(6, star, [-1.0] * 5, must_cut=[(1, 2), (2, 3)], dense=dense),
        )
        two = [*triangle, (3, 4), (4, 5), (3, 5)]
        yield f"two components ({kind})", pairs(7, two, [-1.0, -1.0, 1.5] * 2, dense=dense)
        yield (
            f"required joins, one against its cost ({kind})",
            pairs(6, path, [3.0, -1.0, 2.0, -1.0], must_join=[(0, 1), (1, 4)], must_cut=[(2, 5)], dense=dense),
        )
        yield f"an attractive pair that must be cut ({kind})", pairs(3, triangle, [-5.0, -5.0, math.inf], dense=dense)
        named = SetPartition.from_pairs(
            3, triangle, [-1.0, 2.0, -1.5], ["x", ("y", 1), 0], dense=dense, offset=2.0, sense=-1
        )
        yield f"named nodes and an offset ({kind})", named


def _random_problem(rng: np.random.Generator) -> SetPartition:
    n = int(rng.integers(3, 9))
    u, v = np.triu_indices(n, 1)
    stored = rng.random(len(u)) < rng.choice([0.3, 0.6, 1.0])
    m = int(stored.sum())
    kinds = (rng.normal(size=m), rng.integers(-3, 4, m) * 1.0, rng.choice([-1.0, 1.0], m), rng.integers(-9, 10, m) / 4)
    costs = kinds[int(rng.integers(4))]
    joins: list[tuple[int, int]] = []
    cuts: list[tuple[int, int]] = []
    if rng.random() < 0.3:
        hidden = rng.integers(0, 3, n)
        for a, b in rng.integers(0, n, (3, 2)).tolist():
            if a != b:
                (joins if hidden[a] == hidden[b] else cuts).append((a, b))
    dense = bool(rng.integers(2))
    return SetPartition.from_pairs(n, (u[stored], v[stored]), costs, must_join=joins, must_cut=cuts, dense=dense)


def _degenerate_connected_problems() -> Iterator[tuple[str, SetPartition]]:
    def lifted(n: int, base: Any, costs: Any, far: Any = (), more: Any = (), **options: Any) -> SetPartition:
        return SetPartition.from_pairs(n, base, costs, lifted=(list(far), list(more)), **options)

    for n in (0, 1, 2, 4):
        yield f"{n} elements without base pairs", lifted(n, [], [])
    yield "a lifted pair without base pairs", lifted(3, [], [], [(0, 2)], [-1.0])
    for cost in (-1.0, 0.0, 1.0, math.inf, -math.inf):
        for more in (-2.0, 2.0):
            p = lifted(3, [(0, 1), (1, 2)], [cost, 0.0], [(0, 2)], [more])
            yield f"a path of costs {cost} and 0 under a lifted pair of cost {more}", p
    yield "a path whose ends must be cut", lifted(3, [(0, 1), (1, 2)], [-1.0, -0.5], [(0, 2)], [math.inf])
    yield "a pair that is base and lifted", lifted(2, [(0, 1)], [1.0], [(1, 0)], [-2.0])
    ring = [(a, (a + 1) % 6) for a in range(6)]
    far = [(a, a + 3) for a in range(3)]
    for cost, more in ((0.0, -1.0), (0.5, -1.0), (0.5, -2.0), (-1.0, 1.5), (-1.0, 3.0), (1.0, -1.0)):
        yield f"a ring of costs {cost} with lifted pairs of cost {more}", lifted(6, ring, [cost] * 6, far, [more] * 3)
    star = [(0, a) for a in range(1, 6)]
    rim = [(a, b) for a in range(1, 6) for b in range(a + 1, 6)]
    for cost, more in ((1.0, -1.0), (1.0, -0.4), (-1.0, 0.4), (-1.0, math.inf)):
        yield f"a star of costs {cost}, lifted pairs of cost {more}", lifted(6, star, [cost] * 5, rim, [more] * 10)
    path = [(0, 1), (1, 2), (2, 3), (3, 4)]
    p = lifted(5, path, [3.0, -1.0, 2.0, -1.0], [(0, 4)], [-3.0], must_join=[(1, 2), (2, 3)], must_cut=[(0, 3)])
    yield "a path with required joins, and a required cut that is not listed", p
    yield "a required join of a lifted pair", lifted(3, [(0, 1), (1, 2)], [1.0, -math.inf], [(0, 2)], [-math.inf],
                                                     must_join=[(0, 1)])  # fmt: skip
    yield "base pairs alone", SetPartition.from_pairs(5, [*path, (0, 4)], [1.0, -2.0, 1.5, -1.0, -0.25], connected=True)
    for unit in (1e-300, 1e150):
        yield f"a path of unit {unit}", lifted(4, path[:3], [unit, unit, -unit], [(0, 3)], [-3.5 * unit])
    yield "huge and tiny costs", lifted(4, path[:3], [-1e-3, 1e12, -1.0], [(0, 3), (0, 2)], [-1e3, 1e12])
    two = [(0, 1), (1, 2), (4, 5), (5, 6)]
    p = lifted(8, two, [0.5] * 4, [(0, 2), (4, 6), (2, 4), (3, 7)], [-2.0, -0.5, -9.0, -9.0])
    yield "lifted pairs between components of base pairs", p
    named = SetPartition.from_pairs(
        3, [(0, 1), (1, 2)], [1.0, 1.0], ["x", ("y", 1), 0], offset=2.0, sense=-1, lifted=([(0, 2)], [-3.0])
    )
    yield "named nodes and an offset, with a lifted pair", named


def _random_connected_problem(rng: np.random.Generator) -> SetPartition:
    n = int(rng.integers(3, 9))
    u, v = np.triu_indices(n, 1)
    base = rng.random(len(u)) < rng.choice([0.25, 0.4, 0.6])
    if rng.random() < 0.5:  # a path through all elements, so that there is one component
        base |= v == u + 1
    far = ~base & (rng.random(len(u)) < rng.choice([0.3, 0.6, 1.0]))
    kind = int(rng.integers(4))
    costs = [
        (rng.normal(size=m), rng.integers(-3, 4, m) * 1.0, rng.choice([-1.0, 0.0, 1.0], m), rng.integers(-9, 10, m) / 4)
        for m in (int(base.sum()), int(far.sum()))
    ]
    local, more = costs[0][kind] + rng.choice([0.0, 0.0, 0.5]), costs[1][kind] - rng.choice([0.0, 0.0, 0.5])
    joins: list[tuple[int, int]] = []
    cuts: list[tuple[int, int]] = []
    if rng.random() < 0.3:
        links = list(zip(u[base].tolist(), v[base].tolist(), strict=True))
        hidden = rng.integers(0, 3, n)
        joins = [pair for pair in links if hidden[pair[0]] == hidden[pair[1]] and rng.random() < 0.3]
        cuts = [(a, b) for a, b in rng.integers(0, n, (2, 2)).tolist() if hidden[a] != hidden[b]]
    return SetPartition.from_pairs(
        n, (u[base], v[base]), local, must_join=joins, must_cut=cuts, lifted=((u[far], v[far]), more)
    )
