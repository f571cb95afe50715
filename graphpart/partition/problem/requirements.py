"""Requirements of clusters, as users state them: one value, one list of names, one documentation.

Constructors of problems, :meth:`SetPartition.require` and :func:`graphpart.solve` take the same keyword arguments.
`rules` has the same by the indices of elements, as a problem stores it.
"""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import chain, combinations, pairwise
from typing import TYPE_CHECKING, Any, ParamSpec, TypedDict, TypeVar

import numpy as np
from numpy.typing import NDArray

from graphpart.display import shortened
from graphpart.errors import InvalidOption, InvalidProblem, position_check, unknown_argument
from graphpart.partition.inputs.arrays import Places
from graphpart.partition.problem.connectedness import asked_for
from graphpart.partition.problem.rules import NO_PAIRS, Rules

if TYPE_CHECKING:
    from graphpart.partition.problem.groups import Groups
    from graphpart.partition.problem.limits import Limits

__all__ = [
    "NAMES",
    "Pairs",
    "ProblemOptions",
    "RequirementOptions",
    "Requirements",
    "indices_of",
    "rows_of",
    "with_options",
]

Pairs = Iterable[tuple[Hashable, Hashable]]
_P = ParamSpec("_P")
_R = TypeVar("_R")


class ClusterOptions(TypedDict, total=False):
    """The fields of :class:`Requirements` as keyword arguments, of single pairs only the older names."""

    groups: Any
    group_cost: Any
    max_size: int | None
    n_clusters: Any
    connected: bool
    lifted: Any
    must_join: Pairs
    must_cut: Pairs


class RequirementOptions(ClusterOptions, total=False):
    """The fields of :class:`Requirements` as keyword arguments, and two older names for pairs."""

    together: Pairs
    apart: Pairs


class ProblemOptions(RequirementOptions, total=False):
    """The arguments of constructors in addition to data: requirements, unlisted pairs, and how costs are stored."""

    dense: bool | None
    missing: float | None
    background: Any


class GridOptions(ProblemOptions, total=False):
    """The same, and what the affinities of a grid mean."""

    threshold: float | None
    prior: float
    clip: float | None


class FrameOptions(GridOptions, total=False):
    """The same, and the column with the values of pairs: one of four, which say what the values mean."""

    cost: Hashable | None
    weight: Hashable | None
    similarity: Hashable | None
    probability: Hashable | None


#: The defaults of options, in the order in which signatures show them.
DEFAULTS: dict[str, Any] = {
    "cost": None, "weight": None, "similarity": None, "probability": None, "threshold": None, "prior": 0.5,
    "clip": None, "together": (), "apart": (), "groups": None, "group_cost": math.inf, "max_size": None,
    "n_clusters": None, "connected": False, "lifted": None, "dense": None, "missing": None, "background": None,
}  # fmt: skip
OLDER = {"must_join": "together", "must_cut": "apart"}  #: accepted in place of the names of fields


@dataclass(frozen=True)
class Requirements:
    """What clusters must obey.

    Attributes
    ----------
    together, apart : iterable of pairs of nodes
        Pairs required in one cluster, and in different ones; also a frame of two columns, or lists and sets of nodes,
        such as families: all of one in one cluster, or each in another. The cost of a pair in `together` still counts.
        Constructors also take them as `must_join` and `must_cut`.
    groups : array_like, mapping, Series or str, or list of such groupings, optional
        A grouping gives each element a group, such as the source of a record or the photo of a face, or none: None,
        NaN, an empty text, -1, or an element that a mapping does not name. A text names a node attribute of a graph, or
        a column of `elements` in ``from_frame``. Each pair of elements of one group in one cluster costs `group_cost`
        in addition, listed or not. Groups take memory for members, not for pairs.
    group_cost : float, or list with one for each grouping
        The price of two members of a group in one cluster. With the default ``inf``, a cluster has at most one member
        of each group.
    max_size : int, optional
        No cluster has more elements.
    n_clusters : int, or pair (least, most), optional
        The number of clusters; in a pair, None stands for no limit.
    connected : bool
        Whether every cluster must be connected by listed pairs of any cost but ``inf``. Pairs that pay something by
        `missing`, `background` or `groups` are listed then, as lifted pairs, at most 5,000,000 of them.
    lifted : optional
        Lifted pairs with their costs, in the form of the data of the constructor. They do not connect; all other listed
        pairs do, and every cluster must be connected by them.

    Raises
    ------
    InvalidOption
        If a value has no meaning for any problem.

    Examples
    --------
    >>> Requirements(max_size=3, n_clusters=(2, None)).limits
    Limits(max_size=3, least=2, most=None)
    """

    together: Pairs = ()
    apart: Pairs = ()
    groups: Any = None
    group_cost: Any = math.inf
    max_size: int | None = None
    n_clusters: Any = None
    connected: bool = False
    lifted: Any = None

    def __post_init__(self) -> None:
        if self.groups is None and not (isinstance(self.group_cost, int | float) and self.group_cost == math.inf):
            raise InvalidOption("group_cost is given without groups: expected both")
        asked_for(self.lifted, self.connected)
        _ = self.limits

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Requirements:
        """The requirements among the options of a constructor."""
        given = {field.name: options[field.name] for field in fields(cls) if field.name in options}
        for old, name in OLDER.items():
            if old in options:
                pairs = options[old]
                if name in given and isinstance(pairs, Iterable) and isinstance(given[name], Iterable):
                    pairs = chain(rows_of(given[name], name), rows_of(pairs, old))
                given[name] = pairs
        return cls(**given)

    @property
    def limits(self) -> Limits | None:
        """The limits of sizes and of the number of clusters; None if there are none."""
        if self.max_size is None and self.n_clusters is None:
            return None
        from graphpart.partition.problem.limits import limits_of

        return limits_of(self.max_size, self.n_clusters)

    @property
    def connects(self) -> bool:
        """Whether clusters must be connected."""
        return bool(self.connected) or self.lifted is not None

    def groups_of(self, nodes: Sequence[Hashable], attribute: Callable[[str], Any] | None = None) -> Groups | None:
        """The groups of elements; `attribute` finds a grouping by its name."""
        if self.groups is None:
            return None
        from graphpart.partition.problem.groups import groups_of

        return groups_of(nodes, self.groups, self.group_cost, attribute)

    def rules(self, place: Places, flags: NDArray[np.bool_] | None = None) -> Rules:
        """The same by indices, without groups; `flags` tells which of the listed pairs are lifted.

        Raises
        ------
        InvalidProblem
            If a pair is no pair of elements.
        """
        joins, cuts = indices_of(place, self.together, "together"), indices_of(place, self.apart, "apart")
        return Rules(joins, cuts, self.limits, flags)

    def beside(self, limits: Limits | None) -> Limits | None:
        """Replace older limits by the given ones."""
        if limits is None or (self.max_size is None and self.n_clusters is None):
            return self.limits if limits is None else limits
        kept = replace(
            self,
            max_size=limits.max_size if self.max_size is None else self.max_size,
            n_clusters=(limits.least, limits.most) if self.n_clusters is None else self.n_clusters,
        )
        found = kept.limits
        return found if found is None or limits.sizes is None else replace(found, sizes=limits.sizes)


#: The names of requirements, in the order of the fields.
NAMES = tuple(field.name for field in fields(Requirements))


def with_options(options: type, *without: str) -> Callable[[Callable[_P, _R]], Callable[_P, _R]]:
    """Decorate a function whose last parameter is ``**options`` of a TypedDict.

    Its signature shows the options one by one, with their defaults. A name that is not among them is an InvalidOption,
    which names the nearest one.

    Parameters
    ----------
    options : type
        The TypedDict.
    *without : str
        Options that this function does not take.
    """

    def decorate(function: Callable[_P, _R]) -> Callable[_P, _R]:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not one.VAR_KEYWORD]
        hints = {name: getattr(hint, "__forward_arg__", hint) for name, hint in options.__annotations__.items()}
        names = [name for name in DEFAULTS if name in hints and name not in without]
        shown = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=DEFAULTS[name], annotation=hints[name])
            for name in names
        ]
        known = [one.name for one in own if one.name not in ("self", "cls")] + names
        takes = frozenset([*known, *(old for old, name in OLDER.items() if name in known)])
        what = function.__qualname__.removesuffix(".__init__").rpartition(".")[2]
        place = position_check(function, names)

        @functools.wraps(function)
        def checked(*args: _P.args, **given: _P.kwargs) -> _R:
            if not takes.issuperset(given):
                name = next(name for name in given if name not in takes)
                raise unknown_argument(what, name, known, given[name])
            place(args, given)
            return function(*args, **given)

        checked.__signature__ = signature.replace(parameters=[*own, *shown])  # type: ignore[attr-defined]
        return checked

    return decorate


def rows_of(pairs: Any, what: str) -> Any:
    """Pairs, which may be the rows of a frame."""
    if hasattr(pairs, "columns"):
        from graphpart.partition.inputs.frames import rows_of_two

        return rows_of_two(pairs, what)
    return pairs


def indices_of(place: Places, pairs: Pairs, what: str) -> NDArray[np.int32]:
    """Pairs of nodes, or a frame of two columns, as an (k, 2) array of indices, smaller first.

    Of requirements, a list or set of other than two nodes is a group: all of it together, or all pairs of it apart. A
    tuple is not, since its third entry may be a cost.

    Raises
    ------
    InvalidProblem
        If they are no pairs of different elements; `what` begins the message.
    """
    if not isinstance(pairs, Iterable):
        raise InvalidProblem(f"{what} is {pairs!r}: expected pairs of nodes")
    pairs = rows_of(pairs, what)
    if isinstance(pairs, tuple | list) and not pairs:
        return NO_PAIRS
    rows: list[tuple[int, int]] = []
    try:
        for pair in pairs:
            if what in ("together", "apart") and isinstance(pair, list | set | frozenset) and len(pair) != 2:
                try:
                    members = sorted(map(place, pair))
                except InvalidProblem as error:
                    raise InvalidProblem(f"{shortened(repr(pair), 60)} in {what}: {error}") from None
                rows += combinations(members, 2) if what == "apart" else pairwise(members)
                if len(set(members)) < len(members):
                    raise InvalidProblem(f"{shortened(repr(pair), 60)} in {what}: expected different elements")
                continue
            try:
                a, b = pair
            except (TypeError, ValueError):
                more = isinstance(pair, tuple) * "; a group of nodes is a list or a set"
                raise InvalidProblem(f"{pair!r} in {what}: expected a pair of nodes{more}") from None
            try:
                i, j = place(a), place(b)
            except InvalidProblem as error:
                raise InvalidProblem(f"({a!r}, {b!r}) in {what}: {error}") from None
            if i == j:
                raise InvalidProblem(f"({a!r}, {b!r}) in {what}: expected two different elements")
            rows.append((min(i, j), max(i, j)))
    except InvalidProblem:
        if isinstance(pairs, tuple | list) and len(pairs) == 2 and all(map(place.has, pairs)):
            a, b = pairs
            raise InvalidProblem(f"{what} is one pair: expected a list of pairs, such as [({a!r}, {b!r})]") from None
        raise
    return np.array(rows, np.int32).reshape(-1, 2)
