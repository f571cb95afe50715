"""How certain the labels of a labeling are: by how much its energy would rise if a variable had another label.

The doubt of a label is its min-marginal, which is the least energy with this label, less the energy of the labeling.
Min-marginals are exact if the width is small (see `bucket_elimination`): for all variables at once or, if this does not
fit into memory, for the smaller connected components. For other variables, the label is changed and held, and iterated
conditional modes change the variables around it as long as this lowers the energy. The rise of the energy that remains
is an upper bound on the doubt. For an optimal labeling, doubts are at least 0. A negative doubt means that a change
lowers the energy.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.common.columns import Columns, named, placed
from graphpart.common.groups import first_of
from graphpart.crf.bucket_elimination.elimination import elimination
from graphpart.crf.bucket_elimination.inference import min_marginals
from graphpart.crf.bucket_elimination.plan import memory_of
from graphpart.crf.certificates.judging import selected_entries
from graphpart.crf.confidence import _changes
from graphpart.crf.problem import FactorGraph, as_factor_graph
from graphpart.crf.problem.derive import split
from graphpart.crf.problem.labeling import check_allowed, places
from graphpart.display import html_of
from graphpart.errors import InvalidOption, known_arguments
from graphpart.result import Result, Status
from graphpart.stopping import Stopping

__all__ = ["LabelDoubts", "doubts"]

METHODS = ("auto", "exact", "local-search")
NAMES = np.array(["local search", "exact"])
TABLES = ("variables", "labels")
MEMORY = "256MiB"
LOOKS = 64  # visits of variables around a change
ATTEMPTS = 16  # largest number of components that are tried one by one

Floats = NDArray[np.float64]
Labels = NDArray[np.int32]


@dataclass(frozen=True, repr=False)
class LabelDoubts:
    """The doubts of a labeling. In each table the rows are sorted by `doubt`, the least first.

    Attributes
    ----------
    variables : Columns
        ``variable``, ``label``, ``other`` (the best other label, -1 if there is none), ``doubt`` (the rise of the
        energy with the other label), ``method``: "exact", or "local search", where the doubt may be less. A doubt of 0
        is exact if the labeling is a result that is proven optimal: no label lowers the energy then.
    labels : Columns
        The same for each label that a variable does not have: ``variable``, ``label``, ``doubt``, ``method``.
    cost : float
        The energy of the labeling.
    gain : float
        The largest amount by which a change that was found lowers the energy; 0 if none does.
    status : Status
        ``optimal`` if all is exact, ``local_optimum`` if not, or why it ended early.
    shape : tuple of int or None
        Of the grid of variables. `to_frame` names them by their places there, such as (row, column).
    """

    variables: Columns = field(repr=False)
    labels: Columns = field(repr=False)
    cost: float
    gain: float
    status: Status
    shape: tuple[int, ...] | None = None

    @property
    def undecided(self) -> int:
        """The number of variables that have another label at the same energy, as far as is found."""
        return int(np.count_nonzero(self.variables["doubt"] == 0))

    def to_frame(self, table: str = "variables", library: str | None = None) -> Any:
        """A table, "variables" or "labels", as a data frame, see `Columns.to_frame`."""
        if table not in TABLES:
            raise InvalidOption(f"table is {table!r}: expected one of {', '.join(TABLES)}")
        return placed(getattr(self, table), self.shape).to_frame(library)

    def __repr__(self) -> str:
        exactly = int(np.count_nonzero(self.variables["method"] == "exact"))
        head = (
            f"LabelDoubts({self.variables.rows} variables, {self.labels.rows} other labels; {exactly} variables exact)"
        )
        if self.gain > 0:
            return f"{head}\n  a change lowers the energy by {self.gain:.6g}: solve again with initial=result"
        if not self.variables.rows:
            return head
        row = {name: array.tolist()[0] for name, array in placed(self.variables[:1], self.shape).items()}
        what = f"{row['variable']!r} has the label {row['label']}, not {row['other']}"
        if self.undecided > 1:
            return f"{head}\n  {self.undecided} variables have another label at the same energy: {what}, for example"
        return f"{head}\n  least sure: {what}, doubt {row['doubt']:.6g}"

    def _repr_html_(self) -> str:
        """For notebooks: the least sure variables."""
        title, _, more = repr(self).partition("\n")
        return html_of(title, {}, tuple(self.variables), placed(self.variables[:11], self.shape)._first(), note=more)


@known_arguments
def doubts(
    problem: Any,
    result: Any,
    *,
    method: str = "auto",
    memory_limit: int | float | str | None = None,
    time_limit: float | None = None,
) -> LabelDoubts:
    """By how much the energy would rise if a variable had another label: min-marginals less the energy.

    Each connected component is treated by itself: improvements that are possible in other components do not count.

    Parameters
    ----------
    problem : FactorGraph or bipartite networkx.Graph
    result : Result, labels or mapping from names to labels
        A labeling of all variables that no factor forbids.
    method : {"auto", "exact", "local-search"}
        ``auto`` is exact where the tables of bucket elimination fit the memory, and looks for changes by local search
        elsewhere; ``exact`` raises an error where they do not fit.
    memory_limit : int, float or str, optional
        Bytes for tables, as for :func:`elimination`; default 256 MiB.
    time_limit : float, optional
        Seconds for local search. For the variables that are left then, only the label of the variable itself is
        changed.

    Returns
    -------
    LabelDoubts

    Raises
    ------
    InvalidPartition
        If the labeling does not fit the problem or is forbidden.
    InvalidOption
        If an option has no meaning, or exact doubts need more memory than allowed.

    Notes
    -----
    Exact doubts take the time of :func:`min_marginals`. Local search examines, for each label of each variable, other
    variables at most 64 times. A label that is forbidden in every labeling has the doubt ``inf``.

    Examples
    --------
    >>> import graphpart as gp
    >>> f = gp.FactorGraph.from_arrays([2, 2], [([[0]], [[0.0, 3.0]]), ([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])
    >>> doubts(f, [0, 0])
    LabelDoubts(2 variables, 2 other labels; 2 variables exact)
      least sure: 1 has the label 0, not 1, doubt 1
    """
    f = as_factor_graph(problem)
    if method not in METHODS:
        raise InvalidOption(f"method is {method!r}: expected one of {', '.join(METHODS)}")
    limit = memory_of(MEMORY if memory_limit is None else memory_limit)
    labels = f.labels(result)
    check_allowed(f, labels)
    stopping = Stopping(time_limit)
    rises, exactly = np.full(int(places(f)[-1]), np.nan), np.zeros(f.n, bool)
    if method == "exact":
        rises[:], exactly[:] = _exactly(f, labels, limit), True
    elif method == "auto":
        _where_it_fits(f, labels, limit, rises, exactly)
    if not exactly.all():
        _by_local_search(f, labels, rises, ~exactly, stopping)
    proven = isinstance(result, Result) and result.status is Status.OPTIMAL and result.problem is problem
    return _tables(f, labels, rises, exactly, proven, stopping)


def _exactly(f: FactorGraph, labels: Labels, limit: int) -> Floats:
    """Min-marginals less the energy of the component, for all labels; InvalidOption if that does not fit the memory."""
    marginals = min_marginals(f, memory_limit=limit)
    if not f.n:
        return marginals.whole
    optimum = float(marginals[f.variables[0]].min())
    rises = marginals.whole - optimum
    if f.evaluate_labels(labels) <= optimum + _zero(f, labels):
        return rises
    # By component: the cost of the labels minus that of an optimum.
    best = f.labels(elimination(f, memory_limit=limit))
    component = f.components()
    more = np.zeros(int(component.max()) + 1)
    owner = component[f.scope[f.scope_start[:-1]]] if f.m else np.zeros(0, np.int32)
    for sign, some in ((1.0, labels), (-1.0, best)):
        more += sign * np.bincount(owner, f._flat()[4][selected_entries(f, some)], len(more))
    return rises - np.repeat(more[component], f.domains)


def _zero(f: FactorGraph, labels: Labels) -> float:
    return 2.0**-46 * (abs(f.constant) + float(np.abs(f._flat()[4][selected_entries(f, labels)]).sum()))


def _where_it_fits(f: FactorGraph, labels: Labels, limit: int, rises: Floats, exactly: NDArray[np.bool_]) -> None:
    """Exact rises of all variables, or of those in components that fit the memory."""
    try:
        rises[:] = _exactly(f, labels, limit)
        exactly[:] = True
        return
    except InvalidOption:
        pass
    component = f.components()
    sizes = np.bincount(component)
    largest = np.argsort(-sizes, kind="stable")
    # The largest components one by one, until one fits; then all others together.
    group = np.zeros(len(sizes), np.int32)
    for k in range(min(ATTEMPTS, len(sizes) - 1)):
        group[largest[k]] = 1
        variables, rest = next(part for part in split(f, group[component]) if group[component[part[0][0]]] == 0)
        try:
            found = _exactly(rest, labels[variables], limit)
        except InvalidOption:
            continue
        start = places(f)
        own = np.zeros(f.n, bool)
        own[variables] = True
        rises[np.repeat(own, np.diff(start))] = found
        exactly[variables] = True
        return


def _by_local_search(
    f: FactorGraph, labels: Labels, rises: Floats, wanted: NDArray[np.bool_], stopping: Stopping
) -> None:
    view, mine = f._view(connected=True), labels.copy()
    done = _changes.rises(view, mine, wanted.view(np.uint8), rises, LOOKS, stopping)
    if done < f.n:
        mine = labels.copy()
        left = wanted.copy()
        left[:done] = False
        if stopping.reason != Status.TIME_LIMIT:
            raise KeyboardInterrupt
        _changes.rises(view, mine, left.view(np.uint8), rises, 0, Stopping())


def _tables(
    f: FactorGraph, labels: Labels, rises: Floats, exactly: NDArray[np.bool_], proven: bool, stopping: Stopping
) -> LabelDoubts:
    rises = np.where(np.abs(rises) <= _zero(f, labels), 0.0, rises)
    f = f.owner  # without auxiliary variables
    place = places(f)
    rises, exactly, labels = rises[: place[-1]], exactly[: f.n], labels[: f.n]
    owner = np.repeat(np.arange(f.n), f.domains)
    method = NAMES[(exactly[owner] | ((rises == 0) & proven)).astype(np.intp)]
    label = np.arange(len(rises)) - place[owner]
    other = np.flatnonzero(label != labels[owner])
    order = other[np.argsort(rises[other], kind="stable")]
    of_labels = {
        "variable": named(f.variables, owner[order]),
        "label": label[order],
        "doubt": rises[order],
        "method": method[order],
    }
    # The first row of each variable, in the order of all rows.
    first = order[np.sort(first_of(owner[order]))]
    single = np.flatnonzero(f.domains == 1)
    variable = np.concatenate([owner[first], single])
    of_variables = {
        "variable": named(f.variables, variable),
        "label": labels[variable].astype(np.int64),
        "other": np.concatenate([label[first], np.full(len(single), -1)]),
        "doubt": np.concatenate([rises[first], np.full(len(single), np.inf)]),
        "method": np.concatenate([method[first], NAMES[exactly[single].astype(np.intp)]]),
    }
    gain = max(0.0, -float(rises.min(initial=0.0)))
    status = Status.OPTIMAL if exactly.all() else stopping.reason or Status.LOCAL_OPTIMUM
    tables = Columns(of_variables), Columns(of_labels)
    return LabelDoubts(*tables, f.evaluate_labels(labels), gain, status, f.shape)
