"""How certain a partition is: the rise of its cost if a pair, an element or a cluster were decided otherwise.

The rise of the cost is called the doubt. For an optimal partition doubts are at least 0. A small doubt means that
another partition costs only slightly more. A negative doubt means that the change improves the partition. First,
`changes` computes upper bounds on all doubts, many of them exact. Then, if there is time or if exact doubts are
requested, branch and cut solves the problem again for single pairs, with the pair required to be decided otherwise,
beginning with the least doubt.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns, named
from graphpart.common.groups import first_of
from graphpart.display import html_of, plural
from graphpart.errors import InfeasibleProblem, InvalidOption, known_arguments
from graphpart.partition.confidence.changes import Changes, cheapest_changes
from graphpart.partition.confidence.decisions import Examined, as_given, by_place, decisions_of, in_words
from graphpart.partition.confidence.examining import cleared, contracted, rises_of_pairs, slack_of
from graphpart.partition.confidence.pieces import pieces_of
from graphpart.partition.exact_solvers.branch_and_cut import BranchAndCut
from graphpart.partition.exact_solvers.ilp import ilp
from graphpart.partition.inputs.arrays import keys_of_pairs
from graphpart.partition.inputs.origin import chance_of
from graphpart.partition.pieces.contraction import Contraction
from graphpart.partition.problem import Labels, SetPartition, as_problem, canonical
from graphpart.partition.problem.derived import with_costs, with_rules
from graphpart.partition.problem.forms import ELEMENTS, source_of, to_dense
from graphpart.partition.problem.requirements import indices_of
from graphpart.partition.problem.rules import Rules
from graphpart.result import Result, Status
from graphpart.stopping import Stopping

__all__ = ["Doubts", "doubts"]

METHODS = ("auto", "exact", "local-search")
BOUNDS = np.array(["at most", "exact"])
TABLES = ("pairs", "elements", "clusters", "decisions")


@dataclass(frozen=True, repr=False)
class Doubts:
    """The doubts of a partition. In each table the rows are sorted by `doubt`, the least first.

    ``doubts[:10]`` is a table of the ten least certain decisions, as `to_frame` shows them. ``doubts[0]`` is the first
    decision as a dictionary. ``len(doubts)`` is the number of decisions.

    Attributes
    ----------
    decisions : Columns
        Pairs that one and the same change decides otherwise are one row: ``left, right`` (of these pairs, the one that
        speaks most for the change; the left element is the one that moves), ``decision`` (what is: "together" or
        "apart"), their ``score`` (as given to the constructor, if not as a cost) and ``cost``, ``kind`` of the
        change ("join", "split", or "move" of one element from a cluster to another), ``scope`` (what changes:
        "clusters" as a whole, one "element", or what is best with the "pair" decided otherwise), ``cluster, other``
        (the cluster that it would join or move to, or -1), ``pairs`` (how many), ``doubt``, ``chance`` (of the change,
        if it is this or that: 1 / (1 + 2**doubt), above 1/2 if the doubt is negative; if the problem was made from
        probabilities, with threshold 1/2), ``bound``.
    pairs : Columns
        ``left, right`` (names), ``cost``, ``joined`` (bool), ``doubt``, ``bound``: whether the doubt is "exact", or
        "at most" this; ``chance`` as in `decisions`. If the problem has groups, also ``price``: the part of the cost
        that the pair pays for groups that it shares.
    elements : Columns
        ``element``, ``cluster``, ``to`` (the label of the cluster that it would move to, -1 for one of its own),
        ``doubt``, ``bound``.
    clusters : Columns
        ``cluster``, ``size``, ``change`` ("join", "split", or "none" if there is no other way), ``other`` (the cluster
        it is joined with, or -1), ``leaving`` (how many elements leave in a split), ``doubt``, ``bound``.
    cost : float
        The cost of the partition.
    gain : float
        The largest amount by which a found change lowers the cost; 0 if none does.
    status : Status
        ``optimal`` if all pairs are exact, ``local_optimum`` if not, or why it ended early.
    origin : Origin or None
        Where the costs come from: the frame whose columns `to_frame` shows.
    """

    decisions: Columns = field(repr=False)
    pairs: Columns = field(repr=False)
    elements: Columns = field(repr=False)
    clusters: Columns = field(repr=False)
    cost: float
    gain: float
    status: Status
    origin: Any = field(default=None, repr=False, compare=False)

    @property
    def by_price(self) -> Columns:
        """Pairs that are cut because of a finite price of a group: without it, joining them would cost no more."""
        rows = self.pairs
        mine = np.zeros(rows.rows, bool)
        if "price" in rows:
            mine = ~rows["joined"] & (rows["price"] > 0) & (rows["price"] < np.inf) & (rows["doubt"] <= rows["price"])
        return Columns({name: array[mine] for name, array in rows.items()})

    def to_frame(self, table: str = "decisions", library: str | None = None) -> Any:
        """A table as a data frame, with the columns of the frame that the problem was made from.

        Parameters
        ----------
        table : {"decisions", "pairs", "elements", "clusters"}
            If the problem was made by `SetPartition.from_frame`, pairs have the identifiers, their order and all other
            columns of their row there, under the names there, in place of ``left``, ``right`` and ``score``. A column
            of this table that has the name of one of these columns gets ``_of_doubts`` added to it. A pair that is in
            no row has no score. Decisions have a column ``change``, which says in words what would change, such as
            "ann leaves cluster 3". Pixels and voxels are named by their places, such as (row, column).
        library : {"pandas", "polars", "dict"}, optional
            See :meth:`Columns.to_frame`.

        Raises
        ------
        InvalidOption
            If there is no such table, or the library is not installed.
        """
        return self._table(table).to_frame(library)

    def head(self, rows: int = 10) -> Columns:
        """The least sure decisions, as ``doubts[:rows]``."""
        return self[:rows]

    def __len__(self) -> int:
        """The number of decisions."""
        return self.decisions.rows

    def __bool__(self) -> bool:
        return True  # also without decisions

    @overload
    def __getitem__(self, rows: slice) -> Columns: ...

    @overload
    def __getitem__(self, rows: int) -> dict[str, Any]: ...

    def __getitem__(self, rows: slice | int) -> Columns | dict[str, Any]:
        """Rows of the decisions, the least sure first: a table of those in a slice, or one row by column."""
        if isinstance(rows, slice):
            return self._table("decisions", rows)
        if not hasattr(rows, "__index__"):
            tables = ", ".join(f".{name}" for name in TABLES)
            raise InvalidOption(f"rows of doubts are {rows!r}: expected a slice or a number; the tables are {tables}")
        at = range(len(self))[rows]
        return {name: array.tolist()[0] for name, array in self._table("decisions", slice(at, at + 1)).items()}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """The decisions, one row after the other, each by column."""
        table = self[:]
        for row in zip(*(array.tolist() for array in table.values()), strict=True):
            yield dict(zip(table, row, strict=True))

    def _table(self, table: str, rows: slice | None = None) -> Columns:
        """Rows of a table, with the columns that were given."""
        if table not in TABLES:
            raise InvalidOption(f"table is {table!r}: expected one of {', '.join(TABLES)}")
        columns: Columns = getattr(self, table)
        if rows is not None:
            columns = columns[rows]
        columns = by_place(columns, self.origin)
        if table == "decisions":
            names = list(columns)
            at = names.index("decision") + 1
            words = {"change": in_words(columns)}
            columns = Columns({**{k: columns[k] for k in names[:at]}, **words, **{k: columns[k] for k in names[at:]}})
        return as_given(columns, self.origin) if table in ("decisions", "pairs") else columns

    def __repr__(self) -> str:
        exactly = int(np.count_nonzero(self.pairs["bound"] == "exact"))
        counts = ", ".join(plural(getattr(self, name).rows, name.removesuffix("s")) for name in TABLES[:3])
        head = f"Doubts({plural(len(self), 'decision')} about {counts}; {plural(exactly, 'pair')} exact)"
        if self.gain > 0:
            more = "solve again with initial=result, or longer"
            return f"{head}\n  a change lowers the cost by {self.gain:.6g}: {more}"
        if not self.pairs.rows:
            return head
        if len(self):
            (a, b), row = list(self[0].values())[:2], _first_row(self.decisions, self.origin)
            verb = row["decision"]
        else:
            row = _first_row(self.pairs, self.origin)
            a, b, verb = row["left"], row["right"], "together" if row["joined"] else "apart"
        at_most = "at most " if row["bound"] == "at most" else ""
        sure = f"{a!r} and {b!r} are {verb}, doubt {at_most}{row['doubt']:.6g}"
        lines = [head, f"least sure: {sure}"]
        if (decided := self.by_price).rows:
            row = _first_row(decided, self.origin)
            pair = f"{row['left']!r} and {row['right']!r}"
            lines.append(f"the price of a group cuts {plural(decided.rows, 'pair')}, the least sure: {pair}")
        return "\n  ".join(lines)

    def _repr_html_(self) -> str:
        """For notebooks: the least sure decisions."""
        title, _, more = repr(self).partition("\n")
        table = self[:11]  # ten are shown
        kept = [k for k in table if k not in ("kind", "scope", "pairs")]
        shown = Columns({k: table[k] for k in kept})
        return html_of(title, {}, kept, shown._first(), note=more)


@known_arguments
def doubts(
    problem: Any,
    result: Any,
    pairs: Iterable[tuple[Hashable, Hashable]] | None = None,
    *,
    method: str = "auto",
    time_limit: float | None = None,
    callback: Callable[[float, float], object] | None = None,
) -> Doubts:
    """By how much the cost would rise if a pair, an element or a cluster were decided otherwise.

    The doubt of a joined pair is the least cost of all partitions in which the pair is cut, less the cost of this
    partition. The doubt of a cut pair is defined in the same way with the pair joined. All these partitions obey what
    the problem requires. Where the least cost is not known, the doubt is at most the rise of the cost by the best
    change that was found: of the clusters of the two elements, and of neighbours that follow. The column ``bound`` says
    which. Each piece of the problem is treated by itself: improvements that are possible in other pieces do not count.
    Pieces are connected components; if unlisted pairs cost something, components of pairs that attract.

    The doubt of an element is the rise of the cost if it moves to the best other cluster, or is alone, while all other
    elements stay. The doubt of a cluster is the rise of the cost by the best join with another cluster, or by the best
    split in two, while all other elements stay. Only clusters that a listed pair links count as others.

    Parameters
    ----------
    problem : SetPartition or networkx.Graph
        A graph has its costs in the edge attribute ``cost``.
    result : Result, labels, mapping or list of sets
        A partition of all its elements.
    pairs : iterable of pairs of nodes, optional
        The pairs whose doubts are computed, listed in the problem or not. Default: all listed pairs; of a matrix, all
        pairs with a cost other than 0.
    method : {"auto", "exact", "local-search"}
        "auto" is exact for pairs in pieces of at most 15 elements, for pairs of two pieces that have no more together,
        and for splits of clusters of at most 20, within 2^28 steps each (2^25 for two pieces, which begin with the
        least doubts). For other pairs and splits it takes local search. With a time limit, the pairs of least doubt are
        then solved exactly for as long as there is time.
        "exact" solves all pairs exactly, which may take long. "local-search" takes local search only.
    time_limit : float, optional
        Seconds.
    callback : callable, optional
        ``callback(seconds, cost)``, about every 50 ms; a true return value ends the run.

    Returns
    -------
    Doubts

    Raises
    ------
    InvalidPartition
        If the partition does not fit the problem or violates a requirement.
    InvalidProblem, InvalidOption
        If an argument is not as described.

    Notes
    -----
    O(m log^2 m) for all m listed pairs together, which takes seconds for 10^6 pairs. A required pair has the doubt
    ``inf``, and so has an element or a cluster that no pair links to another. Pairs that are not listed do not count as
    links at any cost, and have no row unless they are requested. After a change of a pair, at most 64 neighbours
    follow, and none where the number of clusters is limited or clusters have to be connected. Of very many pairs, this
    is tried for those of the least doubts.

    Examples
    --------
    >>> import graphpart as gp
    >>> p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-3.0, -1.0, 2.0], ["a", "b", "c"])
    >>> d = doubts(p, gp.solve(p))
    >>> d
    Doubts(2 decisions about 3 pairs, 3 elements, 2 clusters; 3 pairs exact)
      least sure: 'b' and 'c' are apart, doubt 1
    >>> d.elements["element"].tolist(), d.elements["doubt"].tolist()
    (['c', 'b', 'a'], [1.0, 2.0, 3.0])
    """
    given = as_problem(problem)
    origin = given._origin
    if method not in METHODS:
        raise InvalidOption(f"method is {method!r}: expected one of {', '.join(METHODS)}")
    names, labels = given.nodes, given.labels(result)
    given._check_feasible(labels)
    asked = None if pairs is None else np.unique(indices_of(given._places, pairs, "pairs"), axis=0).reshape(-1, 2)
    stopping = Stopping(time_limit, None, None, callback)
    among = contracted(given, labels, asked)
    p, q, classes = among.p, among.q, among.classes
    found = cheapest_changes(q, among.inner, np.bincount(classes), method != "local-search", stopping)
    if method == "exact" or (method == "auto" and time_limit is not None):
        _solve_others(q, among.inner, found, _keys_of(asked, classes, q.n), stopping)
    stopping.reraise()
    shown = _shown_labels(names, result, labels)
    examined = Examined(labels, classes, found, slack_of(p, labels), names, shown, origin)
    return _tables(p, q, examined, asked, given, stopping)


# ------------------------------------------------------------------------------------------------------ pairs asked for


def _keys_of(asked: NDArray[np.int32] | None, classes: Labels, n: int) -> NDArray[np.int64] | None:
    """The requested pairs, as keys of pairs of classes."""
    return None if asked is None else keys_of_pairs(classes[asked[:, 0]], classes[asked[:, 1]], n)


# ----------------------------------------------------------------------------------------------------- branch and cut


def _solve_others(
    q: SetPartition, labels: Labels, found: Changes, asked: NDArray[np.int64] | None, stopping: Stopping
) -> None:
    """Solve exactly for pairs that are not exact yet, the most doubtful first."""
    u, v, cost = q.pairs()
    left = ~found.pairs_exact & (cost < np.inf)
    if asked is not None:
        left &= np.isin(keys_of_pairs(u, v, q.n), asked)
    piece = np.zeros(q.n, np.int32) if q._limits is not None and q._limits.number else pieces_of(q, labels)
    plain = q.background is None and q._limits is None
    parts: dict[tuple[int, int], tuple[NDArray[np.int64], SetPartition, Labels, float]] = {}
    at = np.flatnonzero(left)
    for k in at[np.argsort(found.pairs[at], kind="stable")].tolist():
        if stopping.check(math.inf):
            return
        mine = (int(piece[u[k]]), int(piece[v[k]]))
        if mine[0] != mine[1] and plain:
            continue  # joining two components costs no more than the possible gain in each
        if mine not in parts:
            elements = np.flatnonzero(np.isin(piece, mine))
            part = q if len(elements) == q.n else q._restrict(elements)
            own = canonical(labels[elements])
            parts[mine] = elements, part, own, part._evaluate_labels(own)
        elements, part, own, now = parts[mine]
        a, b = np.searchsorted(elements, [u[k], v[k]]).tolist()
        least, proven = _solved(part, a, b, bool(own[a] == own[b]), stopping)
        if least - now < found.pairs[k]:
            found.pairs[k] = least - now
        if proven:
            found.pairs_exact[k] = True


def _solved(part: SetPartition, a: int, b: int, joined: bool, stopping: Stopping) -> tuple[float, bool]:
    """The least cost with a pair decided otherwise, and whether it is proven.

    A lifted pair cannot be required together, since the path that connects it is not known. It attracts more than all
    other costs instead.
    """
    pair = np.array([[a, b]], np.int32)
    limits = part._limits
    try:
        if joined:
            changed = with_rules(part, Rules(cuts=pair, limits=limits))
        elif part.lifted is None or keys_of_pairs(pair[:, 0], pair[:, 1], part.n) in keys_of_pairs(
            *part._links(), part.n
        ):
            changed = with_rules(part, Rules(joins=pair, limits=limits))
        else:
            cost = part.pairs()[2]
            pull = 1.0 + 2.0 * float(np.abs(cost[np.isfinite(cost)]).sum())
            least, proven = _least(with_costs(part, pair, np.array([-pull])), stopping)
            return (least + pull if least < -pull / 2 else math.inf), proven
        return _least(changed, stopping)
    except InfeasibleProblem:
        return math.inf, True


def _least(changed: SetPartition, stopping: Stopping) -> tuple[float, bool]:
    """The least cost of a problem, and whether it is proven."""
    if changed._limits is not None:
        result = ilp(changed, time_limit=stopping.remaining)
        return result.cost, result.status is Status.OPTIMAL
    contraction = Contraction(changed)
    q = contraction.problem
    if q.background is not None:
        if q.n > ELEMENTS:
            return math.inf, False
        q = to_dense(q)
    one = BranchAndCut(q, np.arange(q.n, dtype=np.int32))
    one.run(stopping.child(plus=math.inf), None)
    return changed._evaluate_labels(contraction.lift(one.labels)), one.bound >= one.cost


# --------------------------------------------------------------------------------------------------------------- tables


def _tables(
    p: SetPartition,
    q: SetPartition,
    examined: Examined,
    asked: NDArray[np.int32] | None,
    given: SetPartition,
    stopping: Stopping,
) -> Doubts:
    """The tables of a problem p, whose must-join classes are the elements of q."""
    names, labels, sets, shown = examined.names, examined.labels, examined.classes, examined.shown
    found, slack = examined.found, examined.slack
    sizes = np.bincount(labels, minlength=len(shown))
    u, v, cost = p.pairs()
    if p.background is not None:
        cost = cost + p.background.of_pairs(u, v)
    if asked is not None:
        some = np.isin(keys_of_pairs(u, v, p.n), keys_of_pairs(asked[:, 0], asked[:, 1], p.n))
        u, v, cost = u[some], v[some], cost[some]
    rises, exactly = rises_of_pairs(q, sets[u], sets[v], found)
    rises = cleared(rises, slack)
    exactly |= np.isinf(cost)
    if p._limits is None and p.lifted is None:
        exactly |= np.isinf(rises)
    order = np.argsort(rises, kind="stable")
    u, v = u[order], v[order]
    groups = given.groups
    price = np.zeros(len(u)) if groups is None else groups.of_pairs(u, v)
    columns = {
        "left": named(names, u),
        "right": named(names, v),
        "cost": cost[order],
        "joined": labels[u] == labels[v],
        "doubt": rises[order],
        "bound": BOUNDS[exactly[order].astype(np.intp)],
    }
    if (chance := chance_of(given._origin, columns["doubt"])) is not None:
        columns["chance"] = chance
    if groups is not None:
        columns["price"] = price
    pairs = Columns(columns)
    with np.errstate(invalid="ignore"):
        own = cost[order] - price  # without the costs of groups
    if asked is not None:
        lu, lv, _ = source_of(given)._listed()
        own[~np.isin(keys_of_pairs(u, v, p.n), keys_of_pairs(lu, lv, p.n))] = np.nan
    decisions = decisions_of(u, v, cost[order], own, rises[order], exactly[order], examined)
    moves = cleared(found.elements, slack)[sets]
    to = np.append(shown, -1)[found.to[sets]]  # -1 stays -1
    order = np.argsort(moves, kind="stable")
    elements = Columns(
        {
            "element": named(names, order),
            "cluster": shown[labels[order]],
            "to": to[order],
            "doubt": moves[order],
            "bound": BOUNDS[np.ones(p.n, np.intp)],
        }
    )
    clusters, least = _clusters(found, shown, sizes, slack)
    least = min(least, float(rises.min(initial=0.0)), float(moves.min(initial=0.0)))
    gain = max(found.gain if found.gain > slack else 0.0, -least)
    status = Status.OPTIMAL if exactly.all() else stopping.reason or Status.LOCAL_OPTIMUM
    now = given._evaluate_labels(labels)
    return Doubts(decisions, pairs, elements, clusters, now, gain + 0.0, status, examined.origin)


def _first_row(table: Columns, origin: Any) -> dict[str, Any]:
    return {name: array.tolist()[0] for name, array in by_place(table.head(1), origin).items()}


def _clusters(
    found: Changes, shown: NDArray[np.int64], sizes: NDArray[np.int64], slack: float
) -> tuple[Columns, float]:
    splits, joins = cleared(found.splits, slack), cleared(found.joins, slack)
    splitting = splits < joins
    doubt = np.where(splitting, splits, joins)
    change = np.where(np.isinf(doubt), 0, np.where(splitting, 2, 1))
    other = np.where(change == 1, np.append(shown, -1)[found.with_], -1)
    exactly = found.splits_exact.astype(np.intp)
    order = np.argsort(doubt, kind="stable")
    columns = {
        "cluster": shown,
        "size": sizes,
        "change": np.array(["none", "join", "split"])[change],
        "other": other,
        "leaving": np.where(change == 2, found.leaving, 0),
        "doubt": doubt,
        "bound": BOUNDS[exactly],
    }
    return Columns({name: array[order] for name, array in columns.items()}), float(doubt.min(initial=0.0))


def _shown_labels(names: Sequence[Hashable], result: Any, labels: Labels) -> NDArray[np.int64]:
    """The label that a result gives to each cluster; else 0, 1, ..."""
    first = first_of(labels)
    if isinstance(result, Result) and (result.nodes is names or result.nodes == names):
        return result.labels[first].astype(np.int64)
    return np.arange(len(first))
