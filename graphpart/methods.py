"""The one table of methods, behind `solve`, the command line, the conformance tests and the benchmarks.

A new method is one file, one kernel, one line here. The function is named by text so that this table imports nothing.
Methods are found by further names, too: those that papers and other software use (`Method.also`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from graphpart.errors import InvalidOption, InvalidProblem, unknown, unknown_argument
from graphpart.result import Result

__all__ = ["METHODS", "Method", "find_method", "find_name", "methods_for", "other_names"]


@dataclass(frozen=True)
class Method:
    """One line of the table.

    Every method is called as ``function(problem, **options)`` with the options `time_limit` and `callback`, further
    those named in `options`, and returns a :class:`~graphpart.Result`.
    """

    name: str
    problem: str  #: "partition", "crf" or "labeled"
    where: str  #: "module:function"
    summary: str
    options: frozenset[str] = frozenset()  #: of "initial", "seed", "max_iterations", "target"
    exact: bool = False  #: proves optimality when it is given the time
    anytime: bool = False  #: ends only at a limit or target
    restricted: bool = False  #: takes only some problems of its kind, see its docstring; InvalidProblem for others
    largest: int | None = None  #: number of elements or variables from which on it is hopeless
    refuses: frozenset[str] = frozenset()  #: the requirements of set partition problems that it cannot obey, by name
    also: tuple[str, ...] = ()  #: further names of the method, as papers and other software call it

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
        """Call the function with the given options; the seed is not passed to methods that draw no random numbers.

        Raises
        ------
        InvalidOption
            If the method has no such option, or the seed is not a valid seed.
        """
        given = {"initial": initial, "max_iterations": max_iterations, "target": target}
        options |= {name: value for name, value in given.items() if value is not None}
        self.check(options)
        if seed is not None:
            if not hasattr(seed, "__index__") or seed < 0:
                raise InvalidOption(f"seed is {seed!r}: expected a whole number of at least 0")
            if "seed" in self.options:
                options["seed"] = seed
        result: Result = self.function(problem, time_limit=time_limit, callback=callback, **options)
        return result

    def takes(self, problem: Any) -> bool:
        """Whether the method obeys all that a problem requires."""
        return not self.refuses & required_by(problem).keys()

    def check_problem(self, problem: Any) -> None:
        """Raise InvalidProblem if the problem has a requirement that the method refuses."""
        check_obeyed(problem, self.refuses, f"method {self.name}")

    def check(self, options: Iterable[str]) -> None:
        """Raise InvalidOption if the method has no option of one of these names."""
        for name in options:
            if name not in (known := self.parameters):
                if self.problem == "crf" and name in SEVERAL:
                    raise InvalidOption(f"method {self.name} takes no {name}: {K_BEST}")
                raise unknown_argument(f"method {self.name}", name, sorted(known))

    @property
    def function(self) -> Callable[..., Any]:
        """The function itself, imported when first used."""
        return _function(self.where)

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters of the function, without the problem."""
        return _parameters(self.where)


@cache
def _function(where: str) -> Callable[..., Any]:
    module, name = where.split(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


@cache  # a tenth of the time of solving ten elements
def _parameters(where: str) -> tuple[str, ...]:
    return tuple(inspect.signature(_function(where)).parameters)[1:]


#: Requirements that some methods and functions refuse.
SIZES, CONNECTEDNESS = ("max_size", "n_clusters"), ("connected",)


def required_by(problem: Any) -> dict[str, str]:
    """The requirements of a set partition problem on sizes, numbers and connectedness: by name, with words for a
    message."""
    limits = getattr(problem, "_limits", None)
    found = {}
    if limits is not None:
        text = f"limit the sizes or the number of clusters, but the problem has the limit {limits}"
        found = {name: text for name, given in zip(SIZES, (limits.max_size, limits.number), strict=True) if given}
    if getattr(problem, "lifted", None) is not None:
        found["connected"] = "keep clusters connected, but the problem has base pairs and lifted pairs"
    return found


def check_obeyed(problem: Any, refuses: Iterable[str], what: str, instead: str | None = None) -> None:
    """Raise InvalidProblem if a problem has a refused requirement.

    Parameters
    ----------
    problem : SetPartition
    refuses : iterable of str
        Names of requirements.
    what : str
        What refuses them, for the message.
    instead : str, optional
        Advice to users; default: the methods that do not refuse it.
    """
    required = required_by(problem)
    for name in refuses:
        if name in required:
            can = ", ".join(method.name for method in methods_for("partition") if name not in method.refuses)
            raise InvalidProblem(f"{what} cannot {required[name]}: expected {instead or f'one of the methods {can}'}")


LOCAL = frozenset({"initial", "max_iterations", "target"})
ENUMERATED_ELEMENTS = 14  # of a set partition problem that brute force takes, at most: it takes a second at worst
ENUMERATED_BITS = 22  # brute force goes through at most 2**22 labelings of a factor graph
ENUMERATED_SOLUTIONS = 10**9  # most solutions of a labelled partition that brute force takes; pruning leaves a part

METHODS: tuple[Method, ...] = (
    Method("auto", "partition", "graphpart.partition.default:auto",
           "local search, and a proof where one is within reach", frozenset({"initial", "target", "seed"})),
    Method("greedy-joining", "partition", "graphpart.partition.local_search.greedy_joining:greedy_joining",
           "join the two clusters with the most negative cost between them, while there are any", LOCAL,
           also=("gaec",)),
    Method("greedy-moving", "partition", "graphpart.partition.local_search.greedy_moving:greedy_moving",
           "apply the best move of one element, while it lowers the cost", LOCAL,
           also=("boem",)),
    Method("kernighan-lin", "partition", "graphpart.partition.local_search.kernighan_lin:kernighan_lin",
           "sequences of moves, cut back to their best prefix", LOCAL,
           also=("kl",)),
    Method("exact", "partition", "graphpart.partition.proving:exact",
           "branch and cut, with bounds that prove themselves", frozenset({"initial", "target"}), exact=True,
           also=("branch-and-cut",)),
    Method("kernighan-lin-pairs", "partition",
           "graphpart.partition.local_search.kernighan_lin_pairs:kernighan_lin_pairs",
           "chains of moves; sequences of switches between two clusters, joins and splits", LOCAL,
           also=("klj", "kernighan-lin-joins")),
    Method("multilevel", "partition", "graphpart.partition.local_search.multilevel:multilevel",
           "moves of elements, then of sets of them, level by level, as Louvain and Leiden do", LOCAL | {"seed"},
           also=("louvain", "leiden")),
    Method("mutex-watershed", "partition", "graphpart.partition.local_search.mutexes:mutex_watershed",
           "the strongest pairs first: those that attract join, those that repel exclude that",
           refuses=frozenset({*SIZES, *CONNECTEDNESS}), also=("mws",)),
    Method("search", "partition", "graphpart.partition.anytime_search.search:search",
           "simulated annealing, recombination and restarts, for as long as there is time", LOCAL | {"seed"},
           anytime=True),
    Method("ilp", "partition", "graphpart.partition.exact_solvers.ilp:ilp",
           "integer program with triangle inequalities, through PuLP", frozenset({"initial"}), exact=True, largest=100,
           also=("mip", "integer-program")),
    Method("brute-force", "partition", "graphpart.partition.exact_solvers.brute_force:brute_force",
           "enumeration with pruning", exact=True, largest=ENUMERATED_ELEMENTS,
           also=("enumeration",)),
    Method("auto", "crf", "graphpart.crf.choosing:auto",
           "what is exact where the structure allows it; else bounds, moves and search",
           frozenset({"initial", "seed"})),
    Method("icm", "crf", "graphpart.crf.local_search.icm:icm",
           "apply the best change of one label, while it lowers the energy", LOCAL | {"seed"},
           also=("iterated-conditional-modes",)),
    Method("min-sum", "crf", "graphpart.crf.exact_solvers.min_sum:min_sum",
           "message passing, exact on acyclic factor graphs", exact=True, restricted=True,
           also=("max-product", "belief-propagation", "viterbi")),
    Method("graph-cut", "crf", "graphpart.crf.graph_cuts.graph_cut:graph_cut",
           "minimum cut, exact where pairs are submodular", exact=True, restricted=True,
           also=("max-flow", "min-cut")),
    Method("expansion", "crf", "graphpart.crf.graph_cuts.expansion:expansion",
           "moves of any variables to one label, for pairs", LOCAL, restricted=True,
           also=("alpha-expansion",)),
    Method("message-passing", "crf", "graphpart.crf.bounds.message_passing:message_passing",
           "sequential reweighted message passing: a bound, rounding, and cycles that tighten it", LOCAL,
           also=("trw-s", "trws", "srmp")),
    Method("elimination", "crf", "graphpart.crf.bucket_elimination.elimination:elimination",
           "sums of tables along an order of the variables: exact where they fit the memory",
           frozenset({"seed"}), exact=True,
           also=("bucket-elimination", "variable-elimination")),
    Method("exact", "crf", "graphpart.crf.branch_and_bound.proving:exact",
           "branch and bound with soft local consistency, best first", LOCAL, exact=True,
           also=("branch-and-bound",)),
    Method("search", "crf", "graphpart.crf.anytime_search.searching:search",
           "annealing, optimal changes of regions, and recombination, for as long as there is time",
           LOCAL | {"seed"}, anytime=True),
    Method("ilp", "crf", "graphpart.crf.exact_solvers.ilp:ilp",
           "local polytope with integer indicators, through PuLP", frozenset({"initial"}), exact=True, largest=100,
           also=("mip", "integer-program")),
    Method("brute-force", "crf", "graphpart.crf.exact_solvers.brute_force:brute_force",
           "enumeration with pruning", exact=True, largest=ENUMERATED_BITS,
           also=("enumeration",)),
    Method("auto", "labeled", "graphpart.labeled.choosing:auto",
           "local search over clusters and classes, a bound by both halves, and a proof where one is within reach",
           frozenset({"initial", "target", "seed"})),
    Method("greedy-joining", "labeled", "graphpart.labeled.joining:greedy_joining",
           "join the two clusters whose join, with a choice of classes, lowers the cost most", LOCAL),
    Method("kernighan-lin", "labeled", "graphpart.labeled.moving:kernighan_lin",
           "moves to other clusters and classes, sequences of them, and joins of clusters", LOCAL),
    Method("alternating", "labeled", "graphpart.labeled.alternating:alternating",
           "clusters given the classes, then classes given the clusters, in turns", LOCAL),
    Method("search", "labeled", "graphpart.labeled.choosing:search",
           "change random regions and repair them, for as long as there is time", LOCAL | {"seed"},
           anytime=True),
    Method("ilp", "labeled", "graphpart.labeled.ilp:ilp",
           "integer program with separated inequalities of cycles, through PuLP", frozenset({"initial"}), exact=True,
           largest=100, also=("mip", "integer-program")),
    Method("brute-force", "labeled", "graphpart.labeled.brute_force:brute_force",
           "enumeration with pruning", exact=True, largest=9,
           also=("enumeration",)),
)  # fmt: skip

#: Names of methods that do not exist here, with the function to call instead.
ELSEWHERE = dict.fromkeys(
    ("qpbo", "roof-duality"),
    "expected one that labels all variables; gp.crf.roof_duality(f) labels those for which roof duality has an answer",
)
K_BEST = "the k labelings of least energy are from gp.crf.m_best(f, k)"
QUESTIONS = dict.fromkeys(("k-best", "m-best", "n-best"), K_BEST)  # that no single labeling answers
QUESTIONS["marginals"] = "probabilities of labels are from gp.crf.marginals(f) or gp.crf.approximate_marginals(f)"
SEVERAL = ("k", "m", "k_best", "m_best", "n_best", "n_solutions")  # names for the number of labelings


def methods_for(problem: str) -> tuple[Method, ...]:
    """The methods for one kind of problem: "partition", "crf" or "labeled"."""
    return tuple(method for method in METHODS if method.problem == problem)


def other_names(methods: Iterable[Method]) -> dict[str, tuple[str, ...]]:
    """The further names of methods, by name; those of both kinds where a name stands for a method of each."""
    found: dict[str, tuple[str, ...]] = {}
    for method in methods:
        found[method.name] = tuple(dict.fromkeys([*found.get(method.name, ()), *method.also]))
    return found


def find_method(name: str, problem: str) -> Method:
    """The method of this name, which may be one of its further names.

    Raises
    ------
    InvalidOption
        If there is none; the message lists the names of all methods.
    """
    methods = {method.name: method for method in methods_for(problem)}
    if isinstance(name, str) and name in methods:
        return methods[name]
    return methods[find_name(name, methods, other_names(methods.values()))]


def find_name(name: str, known: Iterable[str], also: Mapping[str, Sequence[str]], what: str = "method") -> str:
    """The name among those known that is meant by a name, or by one of the further names of each.

    Capitals count as small letters and ``_`` as ``-``: ``TRW-S`` is ``trw-s``.

    Raises
    ------
    InvalidOption
        If there is none; the message lists those known, and says which name is nearest.
    """
    known = list(known)
    names = {other: own for own in known for other in (*also.get(own, ()), own)}
    plain = str(name).lower().replace("_", "-")
    if plain in names:
        return names[plain]
    if plain in ELSEWHERE or plain in QUESTIONS:
        raise InvalidOption(f"{what} is {name!r}: {(ELSEWHERE | QUESTIONS)[plain]}")
    raise unknown(what, name, known, names)
