"""Factor graphs: variables with finite domains, and factors that each add one table entry to the energy.

A factor graph has variable nodes S and factor nodes F; factor f is adjacent to the tuple S(f) of variables, its scope,
and holds a table h_f. The energy of a labeling y is

    H(y) = constant + sum over f in F of h_f(y restricted to S(f)),

to be minimised over all labelings (Kschischang, Frey & Loeliger 2001). An entry ``inf`` forbids.
Names, networkx graphs and nested arrays come in; contiguous arrays stay inside.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.crf import _structure
from graphpart.crf.checks import LARGEST, group_arrays, integer_array, one_domain, real_array, sizes_of, unique_names
from graphpart.errors import CyclicGraph, InfeasibleProblem, InvalidPartition, InvalidProblem
from graphpart.result import Result

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FactorGraph", "as_factor_graph"]


@dataclass(frozen=True)
class Layout:
    """Where the labels of all variables stand in one flat vector, and what is largest.

    Those of variable v begin at ``width * v`` if all variables have `width` labels, else, where width is 0, at
    ``first[v]``. For `runs` see `_structure.runs`. With `pairs_only` all variables are binary, all factors have at most
    two, and no entry is infinite.
    """

    width: int
    first: NDArray[np.int64]
    size: int
    largest_table: int
    largest_arity: int
    runs: NDArray[np.int64]
    pairs_only: bool


@dataclass(frozen=True)
class Scheme:
    """How the leaves of a factor graph can be eliminated; see `_structure.eliminate`.

    `roots` are the variables that remain of acyclic components, `cyclic` those on cycles and on paths between them.
    `scattered` says that `order` jumps about in memory.
    """

    order: NDArray[np.int32]
    parent: NDArray[np.int32]
    roots: NDArray[np.int32]
    cyclic: NDArray[np.int64]
    scattered: bool


class FactorGraph:
    """A factor graph, built piece by piece, from networkx, or in bulk.

    Parameters
    ----------
    graph : networkx.Graph, optional
        A bipartite graph. A node with the attribute `table` is a factor, every other node is a variable with the
        attribute `domain` (default 2). The scope of a factor is its attribute `scope` if it has one, else its
        neighbours in the order in which their edges were added. ``graph.graph["constant"]`` is added to the energy.
        Default: no variables yet; see :meth:`add_variable` and :meth:`add_factor`.

    Attributes
    ----------
    n, m : int
        Number of variables and of factors.
    variables : sequence of hashables
        Names of the variables, in order.
    domains : ndarray of int32, shape (n,)
        Number of labels of each variable.
    scope_start : ndarray of int64, shape (m + 1,)
    scope : ndarray of int32
        Indices of variables; those of factor f are ``scope[scope_start[f]:scope_start[f + 1]]``.
    table_start : ndarray of int64, shape (m + 1,)
    tables : ndarray of float64
        All tables; that of factor f is ``tables[table_start[f]:table_start[f + 1]]``, the last variable of its scope
        running fastest. Read-only, as all arrays here.
    constant : float
        Added to every energy.
    offset, sense : float, int
        ``objective(cost) = sense * cost + offset``.

    Raises
    ------
    InvalidProblem
        If the graph is directed or not bipartite in this sense, or a domain or table is wrong.

    See Also
    --------
    from_arrays, from_csr, pairwise, potts, ising

    Examples
    --------
    >>> f = FactorGraph()
    >>> f.add_variable("rain")
    >>> f.add_variable("season", domain=3)
    >>> f.add_factor(("rain", "season"), [[0.0, 1.0, 2.0], [3.0, 0.5, 0.0]])
    >>> f.add_factor(("season",), [0.0, 1.0, 1.0])
    >>> f.evaluate({"rain": 1, "season": 2})
    1.0
    >>> sorted(f.graph.edges())
    [('rain', ('factor', 0)), ('season', ('factor', 0)), ('season', ('factor', 1))]
    """

    __slots__ = ("_arrays", "_cache", "_index", "_names", "_new_domains", "_new_factors", "constant", "offset", "sense")

    constant: float
    offset: float
    sense: int
    _names: Sequence[Hashable]
    _arrays: tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]

    # ---------------------------------------------------------------------------------------------- construction

    def __init__(self, graph: nx.Graph | None = None) -> None:
        none = np.zeros(0, np.int32)
        self._set([], none, np.zeros(1, np.int64), none, np.zeros(0), 0.0, 0.0, 1)
        if graph is not None:
            from graphpart.crf.building import fill_from_bipartite

            fill_from_bipartite(self, graph)

    def add_variable(self, name: Hashable, domain: int = 2) -> None:
        """Add a variable with the labels 0, ..., domain - 1.

        Raises
        ------
        InvalidProblem
            If there is a variable of this name, or the domain is not an integer of at least 1.
        """
        index = self._lookup()
        try:
            known = name in index
        except TypeError:
            raise InvalidProblem(f"variable {name!r}: expected a hashable name") from None
        if known:
            raise InvalidProblem(f"variable {name!r} is added twice")
        size = one_domain(name, domain)
        names = self._names if isinstance(self._names, list) else list(self._names)
        index[name] = len(names)
        names.append(name)
        self._names = names
        self._new_domains.append(size)
        self._cache.clear()

    def add_factor(self, scope: Iterable[Hashable], table: ArrayLike) -> None:
        """Add a factor.

        Parameters
        ----------
        scope : sequence of names
            The variables of the factor, each once. A factor with an empty scope adds to the constant.
        table : array_like of float
            Of shape (domain of each variable in the order of the scope); ``inf`` forbids.

        Raises
        ------
        InvalidProblem
            If a variable is unknown or repeated, or the table has the wrong shape, or contains NaN or ``-inf``.
        InfeasibleProblem
            If the scope is empty and the table ``inf``.
        """
        if isinstance(scope, str):
            raise InvalidProblem(f"scope {scope!r} is one text: expected a sequence of names of variables")
        names = tuple(scope)
        where = [self.index(name) for name in names]
        if len(set(where)) != len(where):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise InvalidProblem(f"scope {names!r} repeats variable {twice!r}")
        self._append(where, real_array(f"table of scope {names!r}", table))

    def add_constant(self, value: float) -> None:
        """Add a finite number to the energy of every labeling."""
        self._append([], real_array("constant", value))

    def _append(self, scope: list[int], table: NDArray[np.float64]) -> None:
        names = tuple(self._names[i] for i in scope)
        shape = tuple(self._domain_of(i) for i in scope)
        if table.shape != shape:
            raise InvalidProblem(f"table of scope {names!r} has shape {table.shape}: expected {shape}")
        if not table.min() > -math.inf:  # false for NaN as well
            at = tuple(np.argwhere(~(table > -math.inf))[0].tolist())
            raise InvalidProblem(
                f"table of scope {names!r} has the entry {table[at]} at {at}: expected a number or inf"
            )
        if not scope:
            self._add_constant(float(table), "a factor with an empty scope")
            return
        self._new_factors.append((scope, np.array(table.ravel())))
        self._cache.clear()

    def _add_constant(self, value: float, origin: str) -> None:
        if value == math.inf:
            raise InfeasibleProblem(f"{origin} is inf: it forbids every labeling")
        self.constant += value
        if not math.isfinite(self.constant):
            raise InvalidProblem(f"the constant is {self.constant}: expected a finite number")

    @classmethod
    def from_arrays(
        cls,
        domains: ArrayLike,
        groups: Iterable[tuple[ArrayLike, ArrayLike]],
        variables: Iterable[Hashable] | None = None,
        *,
        constant: float = 0.0,
        offset: float = 0.0,
        sense: int = 1,
    ) -> FactorGraph:
        """Build a factor graph in bulk: groups of factors whose tables have the same shape.

        Parameters
        ----------
        domains : array_like of int, shape (n,)
            Number of labels of each variable.
        groups : iterable of (scopes, tables)
            `scopes` holds the indices of variables, shape (m, k); `tables` has shape (m, d1, ..., dk).
        variables : iterable of n hashables, optional
            Names; default 0, ..., n - 1.
        constant : float
            Added to every energy.
        offset, sense : float, int
            See :meth:`objective`.

        Raises
        ------
        InvalidProblem
            If shapes do not fit each other or the domains, an index is out of range or repeated within a scope, or a
            table contains NaN or ``-inf``. The message names the group and the row.

        Notes
        -----
        O(n + size of all tables), without a Python loop over factors. The tables are copied once.

        Examples
        --------
        >>> import numpy as np
        >>> unary = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 0.5]])
        >>> pairs = np.array([[0, 1], [1, 2]])
        >>> differ = np.array([[0.0, 1.0], [1.0, 0.0]])
        >>> f = FactorGraph.from_arrays([2, 2, 2], [(np.arange(3)[:, None], unary), (pairs, np.stack([differ] * 2))])
        >>> f.n, f.m, f.evaluate([0, 1, 1])
        (3, 5, 1.5)
        """
        sizes = sizes_of(domains)
        scopes, tables, counts, arities = [], [], [], []
        for g, (given_scopes, given_tables) in enumerate(groups):
            rows, values = group_arrays(g, given_scopes, given_tables, sizes)
            if rows.shape[1] == 0:
                constant = constant + float(values.sum())
                continue
            scopes.append(rows.ravel())
            tables.append(values.reshape(-1))
            counts.append(len(rows))
            arities.append(rows.shape[1])
        start = np.zeros(sum(counts) + 1, np.int64)
        done = 0
        for count, arity in zip(counts, arities, strict=True):
            start[done + 1 : done + count + 1] = arity
            done += count
        np.cumsum(start, out=start)
        # One group of float64 is the caller's array: concatenate copies it as well.
        scope = np.concatenate(scopes) if scopes else np.zeros(0, np.int32)
        flat = np.concatenate(tables) if tables else np.zeros(0)
        self = cls.__new__(cls)
        self._set(unique_names(variables, len(sizes)), sizes, start, scope, flat, constant, offset, sense)
        self._layout()
        self._scheme()
        return self

    @classmethod
    def from_csr(
        cls,
        domains: ArrayLike,
        scope_start: ArrayLike,
        scope: ArrayLike,
        tables: ArrayLike,
        variables: Iterable[Hashable] | None = None,
        *,
        constant: float = 0.0,
        offset: float = 0.0,
        sense: int = 1,
    ) -> FactorGraph:
        """Build a factor graph in bulk from the arrays that it holds inside; factors may differ in arity and shape.

        Parameters
        ----------
        domains : array_like of int, shape (n,)
        scope_start : array_like of int, shape (m + 1,)
            Starts of the scopes, from 0 to ``len(scope)``, never descending.
        scope : array_like of int
            Scopes, one after the other. An empty scope adds its one entry to the constant.
        tables : array_like of float
            Tables, one after the other, the last variable of each scope running fastest.
        variables, constant, offset, sense
            As for :meth:`from_arrays`.

        Raises
        ------
        InvalidProblem
            As for :meth:`from_arrays`; the message names the factor.

        Examples
        --------
        >>> f = FactorGraph.from_csr([2, 3], [0, 1, 3], [0, 0, 1], [0.0, 4.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        >>> f.evaluate([1, 0])
        8.0
        """
        sizes = sizes_of(domains)
        start = integer_array("scope_start", scope_start, np.int64)
        if start.ndim != 1 or not len(start) or start[0] != 0 or (np.diff(start) < 0).any():
            raise InvalidProblem("scope_start: expected a vector that starts at 0 and never descends")
        members = integer_array("scope", scope, np.int32)
        if members.shape != (start[-1],):
            raise InvalidProblem(f"scope has shape {members.shape}: expected ({start[-1]},), as scope_start ends")
        values = np.array(real_array("tables", tables), copy=True).reshape(-1)
        self = cls.__new__(cls)
        self._set(unique_names(variables, len(sizes)), sizes, start, members, values, constant, offset, sense)
        self._layout()
        self._scheme()
        return self

    @classmethod
    def pairwise(
        cls, graph: nx.Graph, unary: Any = "unary", pairwise: Any = "pairwise", *, domain: int = 2
    ) -> FactorGraph:
        """Build a factor graph from an undirected networkx graph whose nodes are variables and whose edges are factors.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph
            Nodes are the variables. Tables of parallel edges add up.
        unary : str or mapping from nodes to costs
            Node attribute, or mapping, with one cost for each label; a single number is the cost of label 1 of a
            binary variable. Nodes without it have no unary factor.
        pairwise : str, mapping from edges to tables, array_like or number
            Edge attribute, or mapping, with tables, or one table for all edges. Rows belong to the node that stands
            first in the graph, or first in the key of the mapping. A number is the cost of different labels.
        domain : int
            Number of labels of nodes that have no unary costs for each label and no attribute `domain`.

        Raises
        ------
        InvalidProblem
            If the graph is directed or has a self-loop, an edge has no table, or a table is wrong.

        Examples
        --------
        >>> import networkx as nx
        >>> G = nx.Graph()
        >>> G.add_node("a", unary=[0.0, 2.0])
        >>> G.add_edge("a", "b", pairwise=[[0.0, 1.0], [3.0, 0.0]])
        >>> f = FactorGraph.pairwise(G)
        >>> f.evaluate({"a": 1, "b": 0})
        5.0
        """
        from graphpart.crf.building import from_pairwise

        return from_pairwise(cls, graph, unary, pairwise, domain)

    @classmethod
    def potts(cls, graph: nx.Graph, unary: Any = "unary", weight: Any = "weight", *, labels: int = 2) -> FactorGraph:
        """The Potts model: edge {u, v} costs its weight if the labels of u and v differ.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph
        unary : str or mapping
            As for :meth:`pairwise`.
        weight : str, mapping from edges to numbers, or number
            Weights; an edge without the attribute weighs 1. Positive weights favour equal labels.
        labels : int
            Number of labels of nodes without unary costs.

        Examples
        --------
        >>> import networkx as nx
        >>> FactorGraph.potts(nx.path_graph(3), labels=4).evaluate([0, 3, 3])
        1.0
        """
        from graphpart.crf.building import from_potts

        return from_potts(cls, graph, unary, weight, labels)

    @classmethod
    def ising(cls, graph: nx.Graph, field: Any = "field", coupling: Any = "coupling") -> FactorGraph:
        """The Ising model: ``H = - sum_{u,v} J[u, v] s_u s_v - sum_u b[u] s_u`` with spins ``s = 2 y - 1``.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph
        field : str, mapping from nodes to numbers, or number
            b; a node without the attribute has 0.
        coupling : str, mapping from edges to numbers, or number
            J; an edge without the attribute has 1. Positive couplings favour equal spins.

        Examples
        --------
        >>> import networkx as nx
        >>> FactorGraph.ising(nx.path_graph(3), field=0.5).evaluate([0, 0, 1])
        0.5
        """
        from graphpart.crf.building import from_ising

        return from_ising(cls, graph, field, coupling)

    def _set(
        self,
        names: Sequence[Hashable],
        domains: NDArray[np.int32],
        scope_start: NDArray[np.int64],
        scope: NDArray[np.int32],
        tables: NDArray[np.float64],
        constant: float,
        offset: float,
        sense: int,
    ) -> None:
        """Take over checked names and domains, and arrays that nobody else changes; check scopes and tables."""
        self._names = names
        self._index: dict[Hashable, int] | None = None
        self._cache: dict[str, Any] = {}
        self._new_domains: list[int] = []
        self._new_factors: list[tuple[list[int], NDArray[np.float64]]] = []
        self.constant = 0.0
        self.offset, self.sense = float(offset), sense
        if not math.isfinite(self.offset):
            raise InvalidProblem(f"offset is {offset}: expected a finite number")
        if sense not in (1, -1):
            raise InvalidProblem(f"sense is {sense}: expected 1 (minimise) or -1 (maximise)")
        if not constant > -math.inf:
            raise InvalidProblem(f"the constant is {constant}: expected a finite number")
        self._add_constant(float(constant), "the constant")
        if len(scope_start) - 1 > LARGEST:
            raise InvalidProblem(f"{len(scope_start) - 1} factors: expected at most {LARGEST}")
        start, f, what = _structure.table_starts(domains, scope_start, scope)
        if f >= 0:
            indices = tuple(scope[scope_start[f] : scope_start[f + 1]].tolist())
            raise InvalidProblem(
                (
                    f"factor {f} has the scope {indices}: expected indices of variables from 0 to {len(domains) - 1}",
                    f"factor {f} has the scope {indices}: expected each variable once",
                    f"factor {f} with the scope {indices} has a table larger than any memory",
                )[what]
            )
        if start[-1] != len(tables):
            raise InvalidProblem(f"the tables have {len(tables)} entries in all: the scopes ask for {start[-1]}")
        empty = np.flatnonzero(np.diff(scope_start) == 0)
        if len(empty):
            kept = np.ones(len(tables), bool)
            kept[start[empty]] = False
            values, tables = tables[~kept], tables[kept]
            if not (values > -math.inf).all():
                raise InvalidProblem("a factor with an empty scope is NaN or -inf: expected a number")
            self._add_constant(float(values.sum()), "a factor with an empty scope")
            scope_start = np.delete(scope_start, empty)
            start = _structure.table_starts(domains, scope_start, scope)[0]
        self._arrays = (domains, scope_start, scope, start, tables)
        for array in self._arrays:
            array.flags.writeable = False
        self._measure()

    def _measure(self) -> int:
        """Check the entries of all tables; the number of infinite ones."""
        _, _, _, start, tables = self._arrays
        at, infinite, total = _structure.measure(tables)
        if at >= 0:
            f = int(np.searchsorted(start, at, side="right")) - 1
            raise InvalidProblem(f"the table of factor {f} has the entry {tables[at]}: expected a number or inf")
        if not math.isfinite(total):
            raise InvalidProblem("the sum of absolute costs overflows: expected costs of a smaller magnitude")
        self._cache["infinite"] = infinite
        return infinite

    def _flat(
        self,
    ) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]:
        """The arrays (domains, scope_start, scope, table_start, tables), with all that was added one by one."""
        if self._new_domains or self._new_factors:
            domains, scope_start, scope, start, tables = self._arrays
            new, self._new_factors = self._new_factors, []
            added, self._new_domains = np.array(self._new_domains, np.int32), []
            arities = np.array([len(members) for members, _ in new], np.int64)
            sizes = np.array([len(table) for _, table in new], np.int64)
            self._arrays = (
                np.concatenate([domains, added]),
                np.concatenate([scope_start, scope_start[-1] + np.cumsum(arities)]),
                np.concatenate([scope, np.array([i for members, _ in new for i in members], np.int32)]),
                np.concatenate([start, start[-1] + np.cumsum(sizes)]),
                np.concatenate([tables, *(table for _, table in new)]),
            )
            for array in self._arrays:
                array.flags.writeable = False
            self._cache.clear()
            self._measure()
        return self._arrays

    # ---------------------------------------------------------------------------------------------------- looking

    @property
    def n(self) -> int:
        return len(self._names)

    @property
    def m(self) -> int:
        return len(self._arrays[1]) - 1 + len(self._new_factors)

    @property
    def variables(self) -> Sequence[Hashable]:
        return self._names

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The same as `variables`, by the name that all problems share."""
        return self._names

    @property
    def domains(self) -> NDArray[np.int32]:
        return self._flat()[0]

    @property
    def scope_start(self) -> NDArray[np.int64]:
        return self._flat()[1]

    @property
    def scope(self) -> NDArray[np.int32]:
        return self._flat()[2]

    @property
    def table_start(self) -> NDArray[np.int64]:
        return self._flat()[3]

    @property
    def tables(self) -> NDArray[np.float64]:
        return self._flat()[4]

    @property
    def has_forbidden(self) -> bool:
        """Whether any entry of a table is ``inf``."""
        self._flat()
        return bool(self._cache["infinite"] if "infinite" in self._cache else self._measure())

    def index(self, name: Hashable) -> int:
        """The index of a variable; InvalidProblem if there is none of this name."""
        if self._index is None and isinstance(self._names, range) and isinstance(name, int | np.integer):
            if 0 <= name < len(self._names):
                return int(name)
        else:
            try:
                return self._lookup()[name]
            except (KeyError, TypeError):
                pass
        raise InvalidProblem(f"{name!r} is not a variable of the factor graph")

    def _lookup(self) -> dict[Hashable, int]:
        if self._index is None:
            self._index = {name: i for i, name in enumerate(self._names)}
        return self._index

    def _domain_of(self, i: int) -> int:
        old = len(self._arrays[0])
        return int(self._arrays[0][i]) if i < old else self._new_domains[i - old]

    def factor(self, f: int) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """Scope (indices of variables) and table (read-only, one axis for each variable) of factor f."""
        domains, scope_start, scope, start, tables = self._flat()
        if not 0 <= f < self.m:
            raise InvalidProblem(f"{f} is not a factor: expected 0 to {self.m - 1}")
        members = scope[scope_start[f] : scope_start[f + 1]]
        return tuple(members.tolist()), tables[start[f] : start[f + 1]].reshape(domains[members])

    def factors(self) -> Iterator[tuple[tuple[Hashable, ...], NDArray[np.float64]]]:
        """All factors in order, each as (names of its scope, table)."""
        for f in range(self.m):
            members, table = self.factor(f)
            yield tuple(self._names[i] for i in members), table

    def incidence(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """Where each variable occurs, kept once made: compressed rows (starts, factors, places within scopes)."""
        if "incidence" not in self._cache:
            _, scope_start, scope, _, _ = self._flat()
            self._cache["incidence"] = _structure.incidence(self.n, scope_start, scope)
        rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]] = self._cache["incidence"]
        return rows

    @property
    def graph(self) -> nx.Graph:
        """The factor graph as a new bipartite networkx graph.

        Variables have the attributes ``bipartite=0`` and `domain`; factor i is the node ``("factor", i)`` with
        ``bipartite=1``, `scope` and `table`. ``FactorGraph(f.graph)`` is an equal factor graph.
        """
        from graphpart.crf.building import to_bipartite

        return to_bipartite(self)

    def _scheme(self) -> Scheme:
        """How leaves can be eliminated, kept once made."""
        if "scheme" not in self._cache:
            _, scope_start, scope, _, _ = self._flat()
            order, parent, degree = _structure.eliminate(self.n, scope_start, scope)
            scattered = bool(np.count_nonzero(np.abs(np.diff(order)) > 8) > len(order) // 8)
            roots = np.flatnonzero(degree == 0).astype(np.int32)
            self._cache["scheme"] = Scheme(order, parent, roots, np.flatnonzero(degree > 1), scattered)
        scheme: Scheme = self._cache["scheme"]
        return scheme

    def _layout(self) -> Layout:
        """Where each label of each variable stands in one flat vector, and what is largest; kept once made."""
        if "layout" not in self._cache:
            domains, scope_start, _, start, _ = self._flat()
            least, most = (int(domains.min()), int(domains.max())) if self.n else (1, 1)
            place = np.zeros(0 if least == most else self.n + 1, np.int64)
            if least < most:
                np.cumsum(domains, out=place[1:])
            runs = _structure.runs(scope_start, start)
            shapes = runs[:-1, 1:3] if len(runs) else np.stack([np.diff(scope_start), np.diff(start)], 1)
            largest_arity = int(shapes[:, 0].max(initial=1))
            self._cache["layout"] = Layout(
                width=most if least == most else 0,
                first=place,
                size=most * self.n if least == most else int(place[-1]),
                largest_table=max(most, int(shapes[:, 1].max(initial=1))),
                largest_arity=largest_arity,
                runs=runs,
                pairs_only=least == most == 2 and largest_arity <= 2 and not self.has_forbidden,
            )
        layout: Layout = self._cache["layout"]
        return layout

    @property
    def is_acyclic(self) -> bool:
        """Whether the factor graph is a forest. Two factors that share two variables make a cycle."""
        return not len(self._scheme().cyclic)

    def check_acyclic(self) -> None:
        """Raise CyclicGraph, naming a cycle, unless the factor graph is a forest."""
        if not self.is_acyclic:
            from graphpart.crf.derive import find_cycle

            cycle = find_cycle(self)
            raise CyclicGraph(
                f"the factor graph has a cycle through the variables {cycle}: expected a forest; "
                "if factors share several variables, simplify() may merge them"
            )

    def components(self) -> NDArray[np.int32]:
        """Labels 0, 1, ... of the connected components, in order of first appearance, shape (n,)."""
        _, scope_start, scope, _, _ = self._flat()
        labels: NDArray[np.int32] = _structure.components(self.n, scope_start, scope)[0]
        return labels

    def __repr__(self) -> str:
        return f"FactorGraph(n={self.n}, m={self.m})"

    def __getstate__(self) -> dict[str, Any]:
        self._flat()
        return {
            "names": self._names,
            "arrays": self._arrays,
            "constant": self.constant,
            "offset": self.offset,
            "sense": self.sense,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        domains, scope_start, scope, _, tables = (np.ascontiguousarray(array) for array in state["arrays"])
        rest = (state["constant"], state["offset"], state["sense"])
        self._set(state["names"], domains, scope_start, scope, tables, *rest)

    # -------------------------------------------------------------------------------------------------- labelings

    def labels(self, labeling: Any) -> NDArray[np.int32]:
        """A labeling in any form as a new array of labels.

        Parameters
        ----------
        labeling : Result, array_like of n integers, or mapping from names to labels

        Raises
        ------
        InvalidPartition
            If a variable has no label, an unknown one has, or a label is not in the domain.
        """
        if isinstance(labeling, Result):
            labeling = labeling.labels
        if isinstance(labeling, Mapping):
            labeling = self._labels_of_mapping(labeling)
        try:
            array = np.asarray(labeling)
        except ValueError:
            array = np.zeros((), object)
        if array.shape != (self.n,):
            raise InvalidPartition(f"labels have shape {array.shape}: expected ({self.n},), one for each variable")
        if array.size and array.dtype.kind not in "iub":
            raise InvalidPartition(f"labels have dtype {array.dtype}: expected integers")
        bad = np.flatnonzero((array < 0) | (array >= self.domains))
        if len(bad):
            i = int(bad[0])
            raise InvalidPartition(
                f"variable {self._names[i]!r} has the label {array[i]}: expected 0 to {self.domains[i] - 1}"
            )
        return array.astype(np.int32)

    def _labels_of_mapping(self, mapping: Mapping[Hashable, Any]) -> list[Any]:
        for name in mapping:
            try:
                self.index(name)
            except InvalidProblem as error:
                raise InvalidPartition(str(error)) from None
        try:
            return [mapping[name] for name in self._names]
        except KeyError as error:
            raise InvalidPartition(f"variable {error.args[0]!r} has no label") from None

    def evaluate(self, labeling: Any) -> float:
        """The energy of a labeling in any form that :meth:`labels` takes; ``inf`` if forbidden. O(size of scopes)"""
        return self.evaluate_labels(self.labels(labeling))

    def evaluate_labels(self, labels: NDArray[np.int32]) -> float:
        """The same for an int32 array of n labels, unchecked."""
        layout = self._layout()
        return float(_structure.energy(*self._flat(), labels, self.constant, layout.width, layout.runs))

    def objective(self, cost: float) -> float:
        """A cost in the convention of the file or recipe that the problem came from: ``sense * cost + offset``."""
        return self.sense * cost + self.offset

    # ------------------------------------------------------------------------------------------- derived problems

    def condition(self, evidence: Mapping[Hashable, int]) -> FactorGraph:
        """The factor graph over the other variables, given labels of some.

        Factors shrink to the entries that agree with the evidence; those left without a variable add to the constant.

        Parameters
        ----------
        evidence : mapping from names to labels

        Raises
        ------
        InvalidProblem
            If a variable is unknown or a label is not in its domain.
        InfeasibleProblem
            If the evidence alone is forbidden by a factor; the message names it.

        Examples
        --------
        >>> f = FactorGraph.from_arrays([2, 3], [([[0, 1]], [[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]])])
        >>> f.condition({0: 1}).factor(0)
        ((0,), array([3., 4., 5.]))
        """
        from graphpart.crf.derive import condition

        return condition(self, evidence)

    def simplify(self) -> FactorGraph:
        """An equal factor graph with fewer factors: those over the same variables are merged, unary ones absorbed.

        Each unary factor is added to the first larger factor of its variable, if there is one. The energy of
        every labeling stays the same, up to rounding. O(size of tables * log).

        Examples
        --------
        >>> f = FactorGraph()
        >>> f.add_variable("x")
        >>> f.add_variable("y")
        >>> f.add_factor(("x", "y"), [[0.0, 1.0], [2.0, 3.0]])
        >>> f.add_factor(("y", "x"), [[0.0, 1.0], [2.0, 3.0]])
        >>> f.add_factor(("x",), [0.0, 10.0])
        >>> f.simplify().factor(0)
        ((0, 1), array([[ 0.,  3.], [13., 16.]]))
        """
        from graphpart.crf.derive import simplify

        return simplify(self)


def as_factor_graph(problem: Any) -> FactorGraph:
    """A FactorGraph as it is, or made from a bipartite networkx graph."""
    if isinstance(problem, FactorGraph):
        return problem
    if hasattr(problem, "is_directed"):
        return FactorGraph(problem)
    raise InvalidProblem(f"got {type(problem).__name__}: expected a FactorGraph or a bipartite networkx graph")
