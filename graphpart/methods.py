"""The one table of methods, behind `solve`, the command line, the conformance tests and the benchmarks.

A new method is one file, one kernel, one line here. The function is named by text so that this table imports nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from graphpart.errors import InvalidOption
from graphpart.result import Result

__all__ = ["METHODS", "Method", "find_method", "methods_for"]


@dataclass(frozen=True)
class Method:
    """One line of the table.

    Every method is called as ``function(problem, **options)`` with the options `time_limit` and `callback`, further
    those named in `options`, and returns a :class:`~graphpart.Result`.
    """

    name: str
    problem: str  #: "partition" or "crf"
    where: str  #: "module:function"
    summary: str
    options: frozenset[str] = frozenset()  #: of "initial", "seed", "max_iterations", "target"
    exact: bool = False  #: proves optimality when it is given the time
    anytime: bool = False  #: ends only at a limit or target
    restricted: bool = False  #: takes only some problems of its kind, see its docstring; InvalidProblem for others
    largest: int | None = None  #: number of elements or variables from which on it is hopeless

    def run(
        self,
        problem: Any,
        *,
        time_limit: float | None = None,
        initial: Any = None,
        seed: int | None = None,
        max_iterations: int | None = None,
        target: float | None = None,
        callback: Callable[[float, float], object] | None = None,
        **options: Any,
    ) -> Result:
        """Call the function with the options that are given; a seed is left out where nothing is random.

        Raises
        ------
        InvalidOption
            If the method has no such option, or the seed is none.
        """
        given = {"initial": initial, "max_iterations": max_iterations, "target": target}
        options |= {name: value for name, value in given.items() if value is not None}
        known = list(inspect.signature(self.function).parameters)[1:]
        for name in options:
            if name not in known:
                raise InvalidOption(f"method {self.name} takes no {name}: expected one of {', '.join(sorted(known))}")
        if seed is not None:
            if not hasattr(seed, "__index__") or seed < 0:
                raise InvalidOption(f"seed is {seed!r}: expected a whole number of at least 0")
            if "seed" in self.options:
                options["seed"] = seed
        result: Result = self.function(problem, time_limit=time_limit, callback=callback, **options)
        return result

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, imported when first used."""
        return _function(self.where)


@cache
def _function(where: str) -> Callable[..., Any]:
    module, name = where.split(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


LOCAL = frozenset({"initial", "max_iterations", "target"})

METHODS: tuple[Method, ...] = (
    Method("auto", "partition", "graphpart.partition.auto:auto",
           "local search, and a proof where one is within reach", frozenset({"initial", "target", "seed"})),
    Method("greedy-joining", "partition", "graphpart.partition.local_search.greedy_joining:greedy_joining",
           "join the two subsets with the most negative cost between them, while there are any", LOCAL),
    Method("greedy-moving", "partition", "graphpart.partition.local_search.greedy_moving:greedy_moving",
           "apply the best move of one element, while it lowers the cost", LOCAL),
    Method("kernighan-lin", "partition", "graphpart.partition.local_search.kernighan_lin:kernighan_lin",
           "sequences of moves, cut back to their best prefix", LOCAL),
    Method("exact", "partition", "graphpart.partition.exact:exact",
           "branch and cut, with bounds that prove themselves", frozenset({"initial", "target"}), exact=True),
    Method("kernighan-lin-pairs", "partition",
           "graphpart.partition.local_search.kernighan_lin_pairs:kernighan_lin_pairs",
           "chains of moves; sequences of switches between two subsets, joins and splits", LOCAL),
    Method("multilevel", "partition", "graphpart.partition.local_search.multilevel:multilevel",
           "moves of elements, then of sets of them, level by level, as Louvain and Leiden do", LOCAL | {"seed"}),
    Method("search", "partition", "graphpart.partition.anytime_search.search:search",
           "simulated annealing, recombination and populations, for as long as there is time", LOCAL | {"seed"},
           anytime=True),
    Method("ilp", "partition", "graphpart.partition.exact_solvers.ilp:ilp",
           "integer program with triangle inequalities, through PuLP", frozenset({"initial"}), exact=True, largest=100),
    Method("brute-force", "partition", "graphpart.partition.exact_solvers.brute_force:brute_force",
           "enumeration with pruning", exact=True, largest=14),
    Method("auto", "crf", "graphpart.crf.choosing:auto",
           "what is exact where the structure allows it; else bounds, moves and search",
           frozenset({"initial", "seed"})),
    Method("icm", "crf", "graphpart.crf.local_search.icm:icm",
           "apply the best change of one label, while it lowers the energy", LOCAL | {"seed"}),
    Method("min-sum", "crf", "graphpart.crf.exact_solvers.min_sum:min_sum",
           "message passing, exact on acyclic factor graphs", exact=True, restricted=True),
    Method("graph-cut", "crf", "graphpart.crf.graph_cuts.graph_cut:graph_cut",
           "minimum cut, exact where pairs are submodular", exact=True, restricted=True),
    Method("expansion", "crf", "graphpart.crf.graph_cuts.expansion:expansion",
           "moves of any variables to one label, for pairs", LOCAL | {"seed"}, restricted=True),
    Method("message-passing", "crf", "graphpart.crf.bounds.message_passing:message_passing",
           "sequential reweighted message passing: a bound, rounding, and cycles that tighten it", LOCAL),
    Method("elimination", "crf", "graphpart.crf.bucket_elimination.elimination:elimination",
           "sums of tables along an order of the variables: exact where they fit the memory",
           frozenset({"seed"}), exact=True),
    Method("exact", "crf", "graphpart.crf.branch_and_bound.proving:exact",
           "branch and bound with soft local consistency, best first", LOCAL, exact=True),
    Method("search", "crf", "graphpart.crf.anytime_search.search:search",
           "annealing, optimal changes of large blocks of variables, and recombination, for as long as there is time",
           LOCAL | {"seed"}, anytime=True),
    Method("ilp", "crf", "graphpart.crf.exact_solvers.ilp:ilp",
           "local polytope with integer indicators, through PuLP", frozenset({"initial"}), exact=True, largest=100),
    Method("brute-force", "crf", "graphpart.crf.exact_solvers.brute_force:brute_force",
           "enumeration with pruning", exact=True, largest=22),
)  # fmt: skip

_BY_NAME = {(method.problem, method.name): method for method in METHODS}


def methods_for(problem: str) -> tuple[Method, ...]:
    """The methods for one kind of problem, "partition" or "crf"."""
    return tuple(method for method in METHODS if method.problem == problem)


def find_method(name: str, problem: str) -> Method:
    """The method of this name.

    Raises
    ------
    InvalidOption
        If there is none; the message lists those that there are.
    """
    method = _BY_NAME.get((problem, name))
    if method is None:
        known = ", ".join(method.name for method in methods_for(problem))
        raise InvalidOption(f"method is {name!r}: expected one of {known}")
    return method
