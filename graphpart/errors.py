"""The exceptions and warnings of graphpart.

Every exception that graphpart raises on purpose derives from :class:`GraphPartError`, so one ``except`` clause catches
all of them. Each also derives from a built-in exception, so code that knows nothing of graphpart can handle it.
"""

from __future__ import annotations

import functools
import inspect
import os
import sys
import warnings
from abc import ABCMeta
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

__all__ = [
    "ATTRIBUTES",
    "NO_PROBLEM",
    "CyclicGraph",
    "DownloadFailed",
    "FormatError",
    "GraphPartError",
    "GraphPartWarning",
    "Hinting",
    "InfeasibleProblem",
    "InvalidCertificate",
    "InvalidOption",
    "InvalidPartition",
    "InvalidProblem",
    "MissingDependency",
    "MissingFile",
    "NoAttribute",
    "SolverError",
    "TimeLimitReached",
    "check_callback",
    "deprecated",
    "known_arguments",
    "nearest",
    "no_column",
    "position_check",
    "unknown",
    "unknown_argument",
    "warn",
    "ways_of_weights",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")
PACKAGE = os.path.dirname(os.path.abspath(__file__)) + os.sep


class GraphPartError(Exception):
    """Base of all exceptions that graphpart raises on purpose."""


class GraphPartWarning(UserWarning):
    """A call is valid, but probably not meant: for example, similarities seem to be given as costs.

    All warnings of graphpart are of this class. ``warnings.simplefilter("ignore", gp.GraphPartWarning)`` silences them,
    as ``--quiet`` does on the command line; ``"error"`` turns them into exceptions.
    """


class InvalidProblem(GraphPartError, ValueError):
    """The description of a problem is wrong: a NaN, a self-loop, a matrix that is not symmetric, ..."""


class InvalidPartition(GraphPartError, ValueError):
    """A partition or labeling does not fit its problem: wrong length, an element missing or named twice, ..."""


class InvalidCertificate(GraphPartError, ValueError):
    """A certificate does not prove what it claims: altered, made for another problem, or its multipliers fall short."""


class InvalidOption(GraphPartError, ValueError):
    """An option of an algorithm has no meaning: an unknown method, a negative time limit, ..."""


class InfeasibleProblem(GraphPartError, ValueError):
    """No solution satisfies the constraints; the message names a witness."""


class CyclicGraph(GraphPartError, ValueError):
    """An algorithm for acyclic graphs met a cycle; the message names one."""


class SolverError(GraphPartError, RuntimeError):
    """An outside solver failed: it is not installed, it crashed, or its answer contradicts the problem."""


class TimeLimitReached(GraphPartError, TimeoutError):
    """An algorithm that has no result before its end has run out of time; the message says what to do."""


class MissingDependency(GraphPartError, ImportError):
    """An optional package is not installed; the message says how to install it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(f"{purpose} needs the package {package}: pip install 'graphpart[{extra}]'")


class DownloadFailed(GraphPartError, OSError):
    """A file cannot be downloaded; the message says from where, and where to put the file if you have it."""


class FormatError(GraphPartError, ValueError):
    """A file does not have the format it should have.

    Parameters
    ----------
    path : str or path-like
        The file.
    line : int or None
        The line, counted from 1; None when the place is not a line.
    problem : str
        What was found and what was expected, in one line.
    """

    def __init__(self, path: str | os.PathLike[str], line: int | None, problem: str) -> None:
        self.path = os.fspath(path)
        self.line = line
        self.problem = " ".join(problem.split())
        place = self.path if line is None else f"{self.path}:{line}"
        super().__init__(f"{place}: {self.problem}")

    def __reduce__(self) -> tuple[type[FormatError], tuple[str, int | None, str]]:
        return type(self), (self.path, self.line, self.problem)


class MissingFile(FormatError, FileNotFoundError):
    """There is no such file; also a `FormatError`."""

    def __init__(
        self, path: str | os.PathLike[str], line: int | None = None, problem: str = "No such file or directory"
    ) -> None:
        super().__init__(path, line, problem)


def check_callback(callback: object) -> None:
    """Raise InvalidOption unless a callback is None or can be called with two arguments, seconds and cost."""
    if callback is None:
        return
    expected = "expected a callable taking (seconds, cost)"
    if not callable(callback):
        raise InvalidOption(f"callback is {callback!r}: {expected}")
    try:
        signature = inspect.signature(callback)
    except (TypeError, ValueError):  # of a builtin, which does not tell
        return
    try:
        signature.bind(0.0, 0.0)
    except TypeError:
        raise InvalidOption(f"callback takes {signature}: {expected}") from None


def unknown(what: str, name: object, known: Iterable[str], also: Iterable[str] = ()) -> InvalidOption:
    """The exception for an unknown name: the known names, and the nearest one of them or of `also`."""
    known = list(known)
    hint = nearest(str(name).lower().replace("_", "-"), [*known, *also])
    return InvalidOption(f"{what} is {name!r}: expected one of {', '.join(known)}{hint}")


def nearest(name: object, known: Iterable[object]) -> str:
    """The end of a message about a name that is not known: the known one that is spelled most alike, if any is."""
    import difflib

    names = {str(other).lower(): other for other in known}
    near = difflib.get_close_matches(str(name).lower(), names, 1)
    return f"; did you mean {names[near[0]]!r}?" if near else ""


#: Names of arguments in other libraries, for messages, and the names here.
ELSEWHERE = {
    "cannot_link": ("apart",),
    "cut": ("apart",),
    "frozen": ("freeze",),
    "gamma": ("resolution",),
    "init": ("initial",),
    "join": ("together",),
    "k": ("n_neighbors", "n_clusters"),
    "labels": ("domain",),
    "max_cluster_size": ("max_size",),
    "max_iter": ("max_iterations",),
    "max_members": ("max_size",),
    "must_cut": ("apart",),
    "must_join": ("together",),
    "must_link": ("together",),
    "n_jobs": ("jobs", "threads", "workers"),
    "random_state": ("seed",),
    "score": ("probability",),
    "start": ("initial",),
    "time": ("time_limit",),
    "timeout": ("time_limit",),
    "verbose": ("progress",),
    "weight": ("costs",),
    "weights": ("costs",),
}
#: Names of attributes that one may look for, and what does that here.
ATTRIBUTES = {
    "compare": "metrics.compare(truth, labels), or changes() of a result",
    "ChainCRF": "estimators.ChainCRF",
    "CorrelationClustering": "estimators.CorrelationClustering",
    "GridCRF": "estimators.GridCRF",
    "LearnedPartition": "estimators.LearnedPartition",
    "LinearChainCRF": "estimators.ChainCRF",
    "SequenceLabeler": "estimators.ChainCRF",
    "draw": "plot() of a result, or of what segment returns",
    "extend": "partition.extend(problem, old)",
    "from_csv": "gp.read(path, ...), or SetPartition.from_frame",
    "from_dataframe": "SetPartition.from_frame",
    "from_distances": "SetPartition.from_embeddings, or from_matrix of distances less a threshold",
    "from_edges": "SetPartition.from_pairs, or from_frame",
    "from_graph": "SetPartition(G, cost=...), or SetPartition.from_similarity(G, ...)",
    "from_networkx": "SetPartition(G, cost=...), or SetPartition.from_similarity(G, ...)",
    "from_records": "gp.match(frame, on=[...])",
    "from_texts": "SetPartition.from_embeddings(texts), or gp.near_duplicates(texts)",
    "link_detections": "records.link_detections",
    "marginals": "predict_marginals",
    "m_best": "predict_k_best",
    "plot": "plot() of a problem or a result, as p.plot(r)",
    "predict_proba": "predict_marginals",
    "segments": "labels",
    "restore": "FactorGraph.potts(unary=...) and solve",
}
#: What to do with a result that does not hold its problem.
NO_PROBLEM = "results that were pickled do not hold their problem: give that of the result before it was pickled"
#: Names of a smallest size of clusters, which nothing takes, and the end of the message.
SMALLEST_SIZES = ("min_cluster_size", "min_members", "min_samples", "min_size")
NO_SMALLEST_SIZE = (
    "clusters have no smallest size here; limit their number instead, by {0}, or join or drop the small clusters of "
    "the result"
)
#: Names of what tables of pairs are given for in other libraries, and the line that explains how to write them.
TRUNCATIONS = ("max_cost", "truncate", "truncated", "truncation")
TRUNCATED = (
    "expected truncated linear costs as one table for all pairs: FactorGraph.pairwise(unary=costs, pairwise=weight * "
    "np.minimum(abs(np.subtract.outer(range(labels), range(labels))), most))"
)
#: Names of columns of values in tables, and the line that explains them.
COLUMNS_OF_VALUES = ("dist", "distance", "distances", "score", "scores", "sim", "value", "values", "weights")
VALUES = (
    "expected the column of values as one of cost (negative joins), weight (positive joins), similarity (above "
    "threshold=... joins) or probability (of being the same); a distance is a cost after a threshold is subtracted"
)


def ways_of_weights(attribute: object) -> str:
    """The calls for weights of edges, which are similarities or costs; only the user knows which."""
    name = attribute if isinstance(attribute, str) else "weight"
    return (
        f"expected SetPartition.from_similarity(G, {name!r}, threshold=...) if large weights join "
        f"(0 if those below 0 keep apart), SetPartition(G, cost={name!r}) if they keep apart"
    )


class NoAttribute(AttributeError):
    """An attribute is not there: what does the same here, or the name that is spelled alike.

    The message is made when it is shown, since `hasattr` asks for no message.
    """

    def __str__(self) -> str:
        what, name, of, *elsewhere = self.args  # names, or the class that has them; a function that finds it elsewhere
        known = dir(of) if isinstance(of, type) else of
        meant = ATTRIBUTES.get(name, "")
        if found := "".join(find(name) for find in elsewhere):
            return f"{what} has no attribute {name!r}; did you mean {found}?"
        if meant and (meant in known or not meant.isidentifier()):
            hint = f"; did you mean {meant}?"
        else:
            hint = "" if name.startswith("_") else nearest(name, [one for one in known if one[0] != "_"])
        return f"{what} has no attribute {name!r}{hint}"


class Hinting(ABCMeta):
    """The class of classes whose unknown attributes are explained."""

    if not TYPE_CHECKING:

        def __getattr__(cls, name: str) -> Any:
            raise NoAttribute(cls.__name__, name, cls)


def unknown_argument(what: str, name: str, known: Iterable[str], value: object = None) -> InvalidOption:
    """The exception for a keyword argument that a function does not have: those that it has, and the nearest one."""
    known = list(known)
    meant = next((one for one in ELSEWHERE.get(name, ()) if one in known), None)
    hint = f"; did you mean {meant!r}?" if meant else nearest(name, known)
    if name in COLUMNS_OF_VALUES and {"left", "cost", "similarity", "probability"}.issubset(known):
        return InvalidOption(f"{what} takes no {name}: {VALUES}")
    if name in SMALLEST_SIZES and "n_clusters" in known:
        return InvalidOption(f"{what} takes no {name}: {NO_SMALLEST_SIZE.format('n_clusters=(1, most)')}")
    if name in TRUNCATIONS and {"unary", "weight"}.issubset(known):
        return InvalidOption(f"{what} takes no {name}: {TRUNCATED}")
    if name == "weight" and {"graph", "cost"}.issubset(known):
        return InvalidOption(f"{what} takes no weight: {ways_of_weights(value)}")
    if name == "cmap" and "labeling" in known:
        return InvalidOption(
            f"{what} takes no cmap, each label has a colour of its own: matplotlib.pyplot.imshow(result.to_array(), "
            "cmap='gray') draws labels that are grey values"
        )
    if name == "answers":
        return InvalidOption(f"{what} takes no answers: expected a problem with them, gp.answers.answered(p, answers)")
    if name == "threads":
        return InvalidOption(
            f"{what} takes no threads: the environment variable GRAPHPART_THREADS says how many there are, and method "
            "'search' has threads="
        )
    return InvalidOption(f"{what} takes no {name}: expected one of {', '.join(known)}{hint}")


def known_arguments(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Decorate a function so that an unknown keyword argument is an InvalidOption, which names the nearest one."""
    check, place = argument_check(function), position_check(function)

    @functools.wraps(function)
    def checked(*args: _P.args, **options: _P.kwargs) -> _R:
        check(options)
        place(args, options)
        return function(*args, **options)

    return checked


def argument_check(function: Callable[..., object]) -> Callable[[Iterable[str]], None]:
    """A check that raises InvalidOption for names of arguments that a function does not have."""
    parameters = inspect.signature(function).parameters
    if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
        return lambda _: None
    known = [name for name in parameters if name not in ("self", "cls")]
    takes = frozenset(known)
    what = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    def check(options: Iterable[str]) -> None:
        if not takes.issuperset(options):
            raise unknown_argument(what, next(name for name in options if name not in takes), known)

    return check


def position_check(
    function: Callable[..., object], more: Iterable[str] = ()
) -> Callable[[Sequence[object], Mapping[str, object]], None]:
    """A check that raises InvalidOption for missing arguments, too many by position, or one by position and by name.

    Parameters
    ----------
    function : callable
    more : iterable of str
        Names of further arguments, beside those in its signature.
    """
    parameters = inspect.signature(function).parameters.values()
    if any(one.kind is one.VAR_POSITIONAL for one in parameters):
        return lambda *_: None
    places = [one.name for one in parameters if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
    named = [*(one.name for one in parameters if one.kind is one.KEYWORD_ONLY), *more]
    needed = [one.name for one in parameters if one.default is one.empty and one.kind is not one.VAR_KEYWORD]
    bound = int(places[:1] in (["self"], ["cls"]))
    what = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]

    def check(args: Sequence[object], given: Mapping[str, object]) -> None:
        twice = next((name for name in places[: len(args)] if name in given), None)
        missing = [name for name in needed if name not in given and name not in places[: len(args)]]
        if twice is None and len(args) <= len(places) and not missing:
            return
        if twice:
            found = f"has {twice} twice, by position and by name"
        elif len(args) > len(places):
            found = f"has {len(args) - bound} arguments by position"
        else:
            found = f"lacks {' and '.join(missing)}"
        names = [*places[bound:], *(f"{name}=" for name in named[:8]), *(["..."] if len(named) > 8 else [])]
        other = "; if what is by position is something else, name it, too" if twice else ""
        raise InvalidOption(f"{what} {found}: expected {what}({', '.join(names)}){other}")

    return check


def no_column(name: object, columns: Sequence[object], where: str = "") -> str:
    """The message that a table has no such column: those that it has, and the one that is spelled most alike."""
    if not len(columns):
        return f"no column {name!r}{where}: the table is empty, without columns"
    some = ", ".join(map(repr, columns[:20])) + (", ..." if len(columns) > 20 else "")
    return f"no column {name!r}{where}: expected one of {some}{nearest(name, columns)}"


def warn(text: str) -> None:
    """Issue a :class:`GraphPartWarning` that points to the line of the caller outside of this package."""
    _warn(text, GraphPartWarning)


def deprecated(old: str, new: str) -> None:
    """Issue a DeprecationWarning, at the line of the caller outside of this package, that an old name has a new one."""
    _warn(f"{old} will be removed in version 0.4: use {new}", DeprecationWarning)


def _warn(text: str, category: type[Warning]) -> None:
    level = 1
    try:
        while sys._getframe(level).f_code.co_filename.startswith(PACKAGE):
            level += 1
    except ValueError:  # called from nowhere else: the command line
        level = 1
    warnings.warn(text, category, stacklevel=level + 1)
