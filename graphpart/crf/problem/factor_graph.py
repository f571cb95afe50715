"""Factor graphs: variables with finite domains, and factors that each add one table entry to the energy.

A factor graph has variable nodes S and factor nodes F; factor f is adjacent to the tuple S(f) of variables, its scope,
and holds a table h_f. The energy of a labeling y is

    H(y) = constant + sum over f in F of h_f(y restricted to S(f)),

to be minimised over all labelings (Kschischang, Frey & Loeliger 2001). An entry ``inf`` forbids a combination of
labels. Users give names, networkx graphs and nested arrays; they are converted to contiguous arrays.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.crf.problem.building import fill_from_bipartite, from_ising, from_pairwise, from_potts, to_bipartite
from graphpart.crf.problem.checks import group_arrays, sizes_of, unique_names
from graphpart.crf.problem.derive import condition, find_cycle, simplify
from graphpart.crf.problem.from_others import FromOthers
from graphpart.crf.problem.given_labels import in_grid, labels_of
from graphpart.crf.problem.quadratic import field_comes_first, from_ising_model, from_qubo
from graphpart.crf.problem.with_functions import WithFunctions
from graphpart.display import plural
from graphpart.errors import NO_PROBLEM, CyclicGraph, InvalidProblem, deprecated, known_arguments

if TYPE_CHECKING:
    import networkx as nx

__all__ = ["FactorGraph", "as_factor_graph"]


class FactorGraph(FromOthers, WithFunctions):
    """A factor graph, built piece by piece, from a networkx graph, or in bulk from arrays.

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
        running fastest. Read-only, as all arrays here. If factors share tables, each access makes the array anew.
    entries : int
        Number of entries of all tables, ``len(tables)``.
    constant : float
        Added to every energy.
    offset, sense : float, int
        ``objective(cost) = sense * cost + offset``.
    shape : tuple of int or None
        Of the grid that the variables are the cells of, in row-major order, if the factor graph was made from one.

    Raises
    ------
    InvalidProblem
        If the graph is directed or not bipartite in this sense, or a domain or table is wrong.

    See Also
    --------
    from_arrays, from_csr, pairwise, potts, ising, from_ising, from_qubo, from_pgmpy, from_bqm

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

    __slots__ = ()

    # ---------------------------------------------------------------------------------------------- construction

    def __init__(self, graph: nx.Graph | None = None) -> None:
        super().__init__()
        if graph is not None:
            fill_from_bipartite(self, graph)

    @classmethod
    @known_arguments
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
        O(n + size of all tables), without a Python loop over factors. The tables are copied once. If all factors of a
        group have one table, give ``np.broadcast_to(table, (m, d1, ..., dk))``: it is kept once.

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
        scopes, tables, counts, arities, begins = [], [], [], [], []
        kept = 0
        for g, (given_scopes, given_tables) in enumerate(groups):
            rows, values = group_arrays(g, given_scopes, given_tables, sizes)
            if rows.shape[1] == 0:
                constant = constant + float(values.sum(dtype=np.float64))
                continue
            scopes.append(rows.ravel())
            tables.append(values.reshape(-1))
            step = 0 if len(values) < len(rows) else math.prod(values.shape[1:])
            begins.append(kept + step * np.arange(len(rows)))
            kept += values.size
            counts.append(len(rows))
            arities.append(rows.shape[1])
        start = np.zeros(sum(counts) + 1, np.int64)
        done = 0
        for count, arity in zip(counts, arities, strict=True):
            start[done + 1 : done + count + 1] = arity
            done += count
        np.cumsum(start, out=start)
        # One group of float64 is the caller's array: concatenate copies it as well, and converts other numbers.
        scope = np.concatenate(scopes) if scopes else np.zeros(0, np.int32)
        flat = np.concatenate(tables, dtype=np.float64) if tables else np.zeros(0)
        names = unique_names(variables, len(sizes))
        table_start = np.concatenate([*begins, [kept]], dtype=np.int64)
        return cls.of_csr(names, sizes, start, scope, flat, table_start, constant)._in_units(offset, sense)

    @classmethod
    def pairwise(
        cls, graph: Any = None, unary: Any = "unary", pairwise: Any = "pairwise", *, domain: int = 2
    ) -> FactorGraph:
        """Build a factor graph from a grid, or a graph whose nodes are variables and whose edges are factors.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph, shape of a grid, array_like of int with shape (m, 2), or None
            Nodes, cells of the grid, or 0 to n - 1 are the variables. Tables of parallel edges add up. None is a grid
            with the first axes of `unary`, all but the last.
        unary : str, mapping from nodes to costs, or array_like of float, shape (..., labels)
            Costs of the labels: an array with the cells of the grid, or the nodes in their order, along the first axes.
            For a networkx graph also a node attribute, or a mapping; nodes without it have no unary factor. A single
            number for a variable is the cost of label 1 of two.
        pairwise : str, mapping from edges to tables, array_like or number
            One table for all pairs, shape (labels, labels), or one for each pair: first those of neighbours along the
            first axis of the grid in row-major order, then those along the next one. For a networkx graph also an edge
            attribute, or a mapping. Rows belong to the variable that comes first. A number is the cost of different
            labels.
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
        return from_pairwise(cls, graph, unary, pairwise, domain)

    @classmethod
    @known_arguments
    def potts(cls, graph: Any = None, unary: Any = "unary", weight: Any = "weight", *, labels: int = 2) -> FactorGraph:
        """The Potts model: a pair of neighbours costs its weight if its labels differ.

        Parameters
        ----------
        graph : shape of a grid, networkx.Graph or MultiGraph, array_like of int with shape (m, 2), or None
            As for :meth:`pairwise`: an image of shape (height, width), a volume, a graph, or pairs of variables.
        unary : array_like of float, shape (..., labels), str or mapping
            As for :meth:`pairwise`.
        weight : number, array_like, str, or mapping from edges to numbers
            Weights; positive ones favour equal labels. For a grid: one number, one for each axis, a list with an array
            for each axis, such as ``[down, right]`` of the shapes (height - 1, width) and (height, width - 1), or an
            array with a number for each pair. For a networkx graph: an edge attribute or a mapping; an edge without it
            weighs 1.
        labels : int
            Number of labels of variables without unary costs.

        Raises
        ------
        InvalidProblem
            If shapes do not fit each other, or a cost or weight is no number; the message names its place.

        Warns
        -----
        GraphPartWarning
            If the unary costs look like an image: integers of 8 bits, a chain whose costs are few small integers, or an
            image of integers as costs of label 1, none of them negative. If, without a graph, the first axis looks like
            that of the labels.

        Examples
        --------
        A picture of two grey values, restored. ``r.to_array()`` has the shape of the picture.

        >>> import graphpart as gp
        >>> import numpy as np
        >>> picture = np.array([[0.1, 0.7, 0.9], [0.0, 0.2, 0.7], [0.2, 0.1, 0.9]])
        >>> f = FactorGraph.potts(picture.shape, unary=(picture[..., None] - [0.0, 1.0]) ** 2, weight=0.3)
        >>> r = gp.solve(f)
        >>> r.to_array().tolist(), str(r.status)
        ([[0, 1, 1], [0, 0, 1], [0, 0, 1]], 'optimal')

        >>> import networkx as nx
        >>> FactorGraph.potts(nx.path_graph(3), labels=4).evaluate([0, 3, 3])
        1.0
        """
        return from_potts(cls, graph, unary, weight, labels)

    @classmethod
    def ising(cls, graph: Any, field: Any = "field", coupling: Any = "coupling") -> FactorGraph:
        """The Ising model: ``H = - sum_{u,v} J[u, v] s_u s_v - sum_u b[u] s_u`` with spins ``s = 2 y - 1``.

        Parameters
        ----------
        graph : networkx.Graph or MultiGraph, shape of a grid, or array_like of int with shape (m, 2)
        field : number, array_like with a number for each variable, str, or mapping from nodes to numbers
            b; a node without the attribute has 0.
        coupling : number, array_like, str, or mapping from edges to numbers
            J, in the forms of the weights of :meth:`potts`; an edge without the attribute has 1. Positive couplings
            favour equal spins.

        Examples
        --------
        >>> import networkx as nx
        >>> FactorGraph.ising(nx.path_graph(3), field=0.5).evaluate([0, 0, 1])
        0.5
        """
        return from_ising(cls, graph, field, coupling)

    @classmethod
    @known_arguments
    def from_ising(
        cls,
        coupling: Any,
        field: Any = 0.0,
        *,
        weight: str = "weight",
        constant: float = 0.0,
        offset: float = 0.0,
        sense: int = 1,
    ) -> FactorGraph:
        """The Ising model in bulk: ``H = constant - sum_{i,j} J[i, j] s_i s_j - sum_i b[i] s_i``, ``s = 2 y - 1``.

        Parameters
        ----------
        coupling : array_like of float, shape (n, n), scipy.sparse matrix, mapping from pairs, or networkx graph
            J, in any form that :meth:`from_qubo` takes for Q, with zeros on the diagonal. Every entry counts once: the
            coupling of a pair stands above the diagonal or below it, or half of it in both places.
        field : array_like of float, shape (n,), mapping from names to numbers, or number
            b.
        weight, constant, offset, sense
            See :meth:`from_qubo`.

        Raises
        ------
        InvalidProblem
            If an entry is not a finite number, or on the diagonal, or shapes are wrong; the message names it.

        Notes
        -----
        As in :meth:`ising` and :meth:`potts`, the argument with the pairs comes first. Up to version 0.2 the field came
        first. This order is recognised, with a DeprecationWarning.

        Examples
        --------
        >>> import numpy as np
        >>> J = np.triu(np.ones((3, 3)), 1)
        >>> FactorGraph.from_ising(J, [0.5, 0.5, 0.5]).evaluate([0, 0, 1])
        1.5
        """
        if field_comes_first(coupling, field):
            deprecated(
                "FactorGraph.from_ising(field, coupling)",
                "from_ising(coupling, field), or, as dimod has the opposite signs, from_bqm for its models",
            )
            coupling, field = field, coupling
        return from_ising_model(cls, coupling, field, weight, constant, offset, sense)

    @classmethod
    @known_arguments
    def from_qubo(
        cls, Q: Any, *, weight: str = "weight", constant: float = 0.0, offset: float = 0.0, sense: int = 1
    ) -> FactorGraph:
        """Quadratic unconstrained binary optimisation: minimise ``constant + x' Q x`` over x in {0, 1}^n.

        Parameters
        ----------
        Q : array_like of float, shape (n, n), scipy.sparse matrix, mapping from pairs, or networkx graph
            Entries above and below the diagonal add up, so Q may be symmetric or triangular. Duplicate entries add up,
            too. A mapping is ``{(i, j): value}``, with ``(i, i)`` for linear terms; its variables are the names that
            occur, ascending if all are integers, else in order of appearance. An edge of a graph is an entry, a
            self-loop is a linear term.
        weight : str
            Edge attribute of a graph that has the entries; an edge without it has 1.
        constant : float
            Added to every energy.
        offset, sense : float, int
            See :meth:`objective`; to maximise, give ``-Q`` and ``sense=-1``.

        Raises
        ------
        InvalidProblem
            If an entry is not a finite number, or Q is not square; the message names it.

        Notes
        -----
        O(n + m) for m entries, without a Python loop for matrices.

        Examples
        --------
        >>> f = FactorGraph.from_qubo([[-1.0, 2.0], [1.0, -3.0]])
        >>> f.evaluate([1, 1]), f.evaluate([0, 1])
        (-1.0, -3.0)
        >>> FactorGraph.from_qubo({("a", "a"): -1.0, ("a", "b"): 2.0}).variables
        ['a', 'b']
        """
        return from_qubo(cls, Q, weight, constant, offset, sense)

    @property
    def graph(self) -> nx.Graph:
        """The factor graph as a new bipartite networkx graph.

        Variables have the attributes ``bipartite=0`` and `domain`; factor i is the node ``("factor", i)`` with
        ``bipartite=1``, `scope` and `table`. ``FactorGraph(f.graph)`` is an equal factor graph. Functions of many
        variables are decomposed.
        """
        return to_bipartite(self.decomposed())

    def check_acyclic(self) -> None:
        """Raise CyclicGraph, naming a cycle, unless the factor graph is a forest."""
        if not self.is_acyclic:
            cycle = find_cycle(self.decomposed())
            raise CyclicGraph(
                f"the factor graph has a cycle through the variables {cycle}: expected a forest; "
                "if factors share several variables, simplify() may merge them"
            )

    # -------------------------------------------------------------------------------------------------- labelings

    def labels(self, labeling: Any, *, partial: bool = False) -> NDArray[np.int32]:
        """A labeling in any form as a new array of labels.

        Parameters
        ----------
        labeling : Result, array_like of n integers or of the shape of the grid, or mapping from names to labels
        partial : bool
            Allow variables without a label: those that a mapping does not name, those with the label -1, and those that
            a result of another factor graph does not have. They get the label -1. Variables of the other factor graph
            that this one does not have are ignored.

        Raises
        ------
        InvalidPartition
            If a variable has no label, an unknown one has, or a label is not in the domain.
        """
        return labels_of(self, labeling, partial)

    def evaluate(self, labeling: Any) -> float:
        """The energy of a labeling in any form that :meth:`labels` takes; ``inf`` if forbidden. O(size of scopes)"""
        return self.evaluate_labels(self.labels(labeling))

    def to_array(self, labeling: Any) -> NDArray[np.int32]:
        """A labeling of the cells of a grid, in any form that :meth:`labels` takes, as an array of the grid's shape.

        Raises
        ------
        InvalidOption
            If the variables are not the cells of a grid.
        """
        return in_grid(self, self.labels(labeling))

    # ------------------------------------------------------------------------------------------- derived problems

    def condition(self, evidence: Mapping[Hashable, int]) -> FactorGraph:
        """The factor graph over the remaining variables, given the labels of some variables.

        Tables are reduced to the entries that agree with the evidence; factors without remaining variables are added to
        the constant.

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
        return condition(self, evidence)

    def simplify(self) -> FactorGraph:
        """An equal factor graph with fewer factors: factors over the same variables are merged, unary factors absorbed.

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
        return simplify(self)

    # ----------------------------------------------------------------------------------------------------- looking

    @known_arguments
    def plot(self, labeling: Any = None, ax: Any = None) -> Any:
        """Draw a labeling of variables on a grid as a picture; else a graph of at most 400 variables and factors.

        Circles are variables, squares are factors.

        Parameters
        ----------
        labeling : Result or a labeling in any form, optional
            Gives the colours of the variables.
        ax : matplotlib.axes.Axes, optional
            Where to draw; default: a new figure.

        Returns
        -------
        matplotlib.axes.Axes

        Raises
        ------
        MissingDependency
            If matplotlib is not installed.
        InvalidOption
            If the factor graph is too large for a drawing.
        """
        from graphpart.plotting import plot_factor_graph

        return plot_factor_graph(self, labeling, ax)

    def _title(self) -> str:
        more = f", {plural(len(self.functions), 'function')} of many variables" if self.functions else ""
        return f"{type(self).__name__}: {plural(self.n, 'variable')}, {plural(self.m, 'factor')}{more}"

    def _facts(self) -> dict[str, Any]:
        if not self.n:
            return {}
        labels = sorted({int(self.domains.min()), int(self.domains.max())})
        arity = int(np.diff(self.scope_start).max(initial=0))
        facts: dict[str, Any] = {} if self.shape is None else {"grid": " x ".join(map(str, self.shape))}
        facts |= {"labels": " to ".join(map(str, labels)), "largest arity": arity, "table entries": self.entries}
        return facts | ({"forbidden entries": "some"} if self.has_forbidden else {})


def as_factor_graph(problem: Any) -> FactorGraph:
    """A FactorGraph of tables only, or one made from a bipartite networkx graph; see `FactorGraph.decomposed`."""
    if isinstance(problem, FactorGraph):
        return problem.decomposed()
    if hasattr(problem, "is_directed"):
        return FactorGraph(problem)
    hint = f"; {NO_PROBLEM}, as in gp.crf.doubts(problem, result)" if problem is None else ""
    raise InvalidProblem(f"got {type(problem).__name__}: expected a FactorGraph or a bipartite networkx graph{hint}")
