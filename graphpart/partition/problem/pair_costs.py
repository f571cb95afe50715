"""Costs of pairs of elements in contiguous arrays, as a matrix or as pairs, with the pairs required together or apart.

These are the arrays of a set partition problem; `set_partition` adds constructors and methods that derive other
problems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from graphpart.display import Shown
from graphpart.errors import InvalidProblem, NoAttribute, deprecated
from graphpart.kernels import _pairs
from graphpart.partition.inputs.arrays import Places, Triples, check_matrix_fits, frozen, size_of, tidy_pairs
from graphpart.partition.inputs.unlisted import cost_of_unlisted, told, told_free
from graphpart.partition.problem.background import SMALL, Background, background_of
from graphpart.partition.problem.connectedness import linked_parts, with_background, with_lifted
from graphpart.partition.problem.requirements import Pairs, Requirements
from graphpart.partition.problem.rules import FREE, NO_PAIRS, Rules, check_rules, prevent_chains

if TYPE_CHECKING:
    from graphpart.partition.inputs.origin import Origin
    from graphpart.partition.problem.groups import Groups
    from graphpart.partition.problem.limits import Limits

__all__ = ["DENSE_FROM", "Labels", "PairCosts", "Pairs"]

Labels = NDArray[np.int32]
DENSE_FROM = 0.25  # share of pairs stored, from which on a matrix is smaller and faster than rows of neighbours
KEPT = (  # by pickling
    "nodes", "matrix", "u", "v", "cost", "lifted", "background", "must_join", "offset", "sense", "_limits", "_origin",
    "_zeros", "_told",
)  # fmt: skip
#: Public names of version 0.2, each with its replacement. The members themselves are private now.
FORMER = {
    "attraction": "the negative costs of pairs()",
    "check_feasible": "evaluate(labels), which is inf if a required pair is violated",
    "components": "networkx.connected_components(problem.graph)",
    "connected": "lifted, which is None if clusters need not be connected",
    "contract": "from_pairs with the summed costs of pairs of clusters",
    "evaluate_labels": "evaluate(labels)",
    "has_must_cut": "pairs(), where pairs that must be cut cost inf",
    "limits": 'problem.graph.graph["limits"]',
    "links": "pairs() and lifted",
    "listed": "pairs()",
    "magnitude": "the absolute costs of pairs()",
    "must_cut": "pairs(), where pairs that must be cut cost inf",
    "must_join_classes": "the connected components of must_join",
    "origin": "repr(problem)",
    "restrict": "SetPartition(problem.graph.subgraph(nodes))",
    "rows": "to_scipy()",
    "rules": "must_join and lifted",
    "sizes": "the elements of the problem that was contracted",
    "to_dense": "SetPartition(problem.graph, dense=True)",
    "tolerance": "a tolerance of your own, such as math.isclose has",
}


class PairCosts(Shown):
    """The arrays of a set partition problem; see :class:`SetPartition` for what its attributes mean."""

    __slots__ = (
        "_base",
        "_cuts",
        "_limits",
        "_measured",
        "_neighbours",
        "_origin",
        "_places",
        "_row_flags",
        "_source",
        "_step",
        "_told",
        "_unusual",
        "_zeros",
        "background",
        "cost",
        "lifted",
        "matrix",
        "must_join",
        "n",
        "nodes",
        "offset",
        "sense",
        "u",
        "v",
    )

    n: int
    nodes: Sequence[Hashable]
    matrix: NDArray[np.float64] | None
    u: NDArray[np.int32] | None
    v: NDArray[np.int32] | None
    cost: NDArray[np.float64] | None
    lifted: NDArray[np.bool_] | None
    background: Background | None
    must_join: NDArray[np.int32]
    offset: float
    sense: int
    _limits: Limits | None
    _origin: Origin | None
    _told: dict[str, Any]  #: what a constructor chose, for `repr`
    _source: PairCosts | None  #: of which this is another form, see `forms`
    _unusual: PairCosts | None  #: the form with a background that `forms.without_usual` has made
    #: Pairs listed with the cost 0 or -inf that the arrays do not show; None if a matrix has costs of unlisted pairs.
    _zeros: NDArray[np.int32] | None

    # ---------------------------------------------------------------------------------------------- construction

    @classmethod
    def _of_pairs(
        cls,
        nodes: Sequence[Hashable],
        u: NDArray[Any],
        v: NDArray[Any],
        costs: NDArray[np.float64],
        background: Background | None = None,
        rules: Rules = FREE,
        *,
        dense: bool | None = None,
    ) -> Self:
        """From unique names, and arrays of pairs and costs of one length."""
        return cls.__new__(cls)._set_pairs(nodes, u, v, costs, background, rules, dense)

    @classmethod
    def _of_matrix(cls, nodes: Sequence[Hashable], matrix: NDArray[np.float64], rules: Rules = FREE) -> Self:
        """From unique names, and a matrix that is symmetric, without NaN, and not used elsewhere."""
        self = cls.__new__(cls)
        self._start(nodes, rules.limits)
        joins, cuts = rules.joins, rules.cuts
        if len(matrix) and matrix.min() == -np.inf:  # before cuts are entered, which may contradict
            required = np.argwhere(np.triu(np.isneginf(matrix), 1)).astype(np.int32)
            matrix[np.isneginf(matrix)] = 0.0
            joins = np.concatenate([joins, required])
            self._zeros = frozen(required)
        matrix[cuts[:, 0], cuts[:, 1]] = np.inf
        matrix[cuts[:, 1], cuts[:, 0]] = np.inf
        self.matrix = frozen(matrix)
        self._require(joins)
        return self

    def _build(
        self,
        nodes: Sequence[Hashable],
        pairs: Triples,
        options: Mapping[str, Any],
        lifted: Triples | None = None,
        attribute: Callable[[str], Any] | None = None,
        scores: bool = False,
        own: bool = False,
    ) -> Self:
        """From unique names, pairs ``(u, v, costs)``, and the options of a constructor (`ProblemOptions`).

        `lifted`: lifted pairs in the same form. `attribute`: a function that finds a grouping by its name. `scores`:
        whether the costs come from scores, so that by default those of unlisted pairs are derived from the listed ones.
        `own`: whether the arrays are used nowhere else, as those of scores are.
        """
        asked, flags = Requirements.of(options), None
        u, v, costs = pairs
        if asked.connects:
            more = () if lifted is None else (lifted,)
            u, v, costs, flags = with_lifted(pairs, np.zeros(len(u), bool), *more)
        groups = asked.groups_of(nodes, attribute)
        rules = asked.rules(Places(nodes), flags)
        missing, dense = options.get("missing"), options.get("dense")
        derived, words = 0.0, {}
        if scores and missing is None and options.get("background") is None:
            forbidden = costs == np.inf
            cuts = np.concatenate([rules.cuts, np.stack([u[forbidden], v[forbidden]], 1)])
            if not prevent_chains(len(nodes), groups is not None, asked.connects, rules.limits, cuts):
                u, v, costs, joins, _ = tidy_pairs(len(nodes), u, v, costs, rules.joins, NO_PAIRS, copy=False)
                rules = Rules(joins, rules.cuts, rules.limits)
                derived = cost_of_unlisted(len(nodes), u, v, costs)
                dense = False if dense is None and derived else dense  # a matrix does not tell which pairs are listed
                words = told(derived)
            elif len(u) < len(nodes) * (len(nodes) - 1) // 2:
                words = told_free(rules.limits)
        background = background_of(nodes, derived if missing is None else missing, options.get("background"), groups)
        self._set_pairs(nodes, u, v, costs, background, rules, dense, copy=not (scores or own))
        self._told = words
        return self

    @classmethod
    def _of_symmetric(
        cls, nodes: Sequence[Hashable], matrix: NDArray[np.float64], options: Mapping[str, Any], zeros: bool = False
    ) -> Self:
        """From unique names, a symmetric matrix that is not used elsewhere, and the options of a constructor.

        `zeros`: whether entries of 0 are listed, too, if the costs are not stored as a matrix.
        """
        if options.get("dense") and options.get("groups") is None:
            return cls._of_matrix(nodes, matrix, Requirements.of(options).rules(Places(nodes)))
        u, v = np.triu_indices(len(matrix), 1) if zeros else np.nonzero(np.triu(matrix, 1))
        return cls.__new__(cls)._build(nodes, (u, v, matrix[u, v]), options)

    def _set_pairs(
        self,
        nodes: Sequence[Hashable],
        u: NDArray[Any],
        v: NDArray[Any],
        costs: NDArray[np.float64],
        background: Background | None,
        rules: Rules,
        dense: bool | None,
        copy: bool = True,
    ) -> Self:
        n = len(nodes)
        self._start(nodes, rules.limits)
        background = background or None
        if rules.lifted is not None:
            if dense:
                raise InvalidProblem(
                    "connected or lifted together with dense=True is not possible: expected pairs, since a matrix has "
                    "no base pairs"
                )
            dense = False
        low, high, costs, joins, lifted = tidy_pairs(n, u, v, costs, rules.joins, rules.cuts, rules.lifted, copy)
        if lifted is not None and background is not None:
            u, v, costs, lifted = with_background(n, (low, high, costs), lifted, background)
            low, high, costs, _, lifted = tidy_pairs(n, u, v, costs, NO_PAIRS, NO_PAIRS, lifted)
            background = None
        if dense is None:
            dense = len(low) >= DENSE_FROM * (n * (n - 1) // 2) or (background is not None and n <= SMALL)
        if dense and background is not None and len(low) == n * (n - 1) // 2:
            background = background.beside_missing() or None  # no pair is missing, and differences would be rounded
        missing = 0.0 if background is None else background.missing
        if dense:
            matrix = np.full((n, n), missing) if check_matrix_fits(n) else None
            assert matrix is not None
            matrix[low, high] = costs
            matrix[high, low] = costs
            if background is not None:
                background.beside_missing().add_to(matrix)
            self.matrix = frozen(matrix)
            if background is not None:  # a matrix tells neither groups nor which pairs are listed
                tidy = Rules(joins, limits=rules.limits)
                self._source = type(self)._of_pairs(nodes, low, high, costs, background, tidy, dense=False)
            unlisted = background is not None and len(background.beta)
            self._zeros = None if unlisted else np.stack([low[costs == 0], high[costs == 0]], 1)
        else:
            self.background = None if background is None else background.stored()
            self.u, self.v, self.cost = frozen(low), frozen(high), frozen(costs - missing if missing else costs)
            self.lifted = None if lifted is None else frozen(lifted)
        if self._zeros is not None and self.lifted is None:
            self._zeros = frozen(np.concatenate([self._zeros, joins[len(rules.joins) :]]))
        self._require(joins)
        return self

    def _in_units(self, offset: float, sense: int = 1) -> Self:
        """This problem, when it is made, with the units of :meth:`objective`.

        Raises
        ------
        InvalidProblem
            If a number has no meaning.
        """
        self.offset = float(offset)
        if not math.isfinite(self.offset):
            raise InvalidProblem(f"offset is {offset}: expected a finite number")
        if sense not in (1, -1):
            raise InvalidProblem(f"sense is {sense}: expected 1 (minimise) or -1 (maximise)")
        self.sense = sense
        return self

    def _as(self, p: PairCosts) -> Self:
        """This problem, made from another one, with the attributes of the other one that users know: units, origin,
        choices."""
        self.offset, self.sense, self._origin, self._told = p.offset, p.sense, p._origin, p._told
        return self

    def _start(self, nodes: Sequence[Hashable], limits: Limits | None) -> None:
        self.n = size_of(len(nodes))
        self.nodes = nodes
        self.offset, self.sense = 0.0, 1
        self._limits = limits
        self._origin = None
        self.matrix = self.u = self.v = self.cost = self.background = self.lifted = None
        self._source = self._unusual = None
        self._places = Places(nodes)
        self._measured: tuple[float, bool, float] | None = None
        self._step: float | None = None  # see `common_step`
        self._cuts: NDArray[np.int32] | None = None
        self._neighbours: _pairs.CompressedRows | None = None
        self._row_flags: NDArray[np.uint8] | None = None
        self._base: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
        self._zeros = NO_PAIRS
        self._told = {}

    def _require(self, joins: NDArray[np.int32]) -> None:
        """Store the required joins; check that rules do not contradict, and that sums of costs are finite."""
        if not math.isfinite(self._measure()[0] * max(1, self.n)):
            raise InvalidProblem("the sum of absolute costs overflows: expected costs of a smaller magnitude")
        self.must_join = frozen(np.unique(joins, axis=0) if len(joins) else NO_PAIRS)
        check_rules(self)

    # ---------------------------------------------------------------------------------------------------- looking

    @property
    def is_dense(self) -> bool:
        return self.matrix is not None

    @property
    def _connected(self) -> bool:
        """Whether every subset has to be connected by base pairs."""
        return self.lifted is not None

    @property
    def m(self) -> int:
        return len(self.u) if self.u is not None else self.n * (self.n - 1) // 2

    @property
    def _sizes(self) -> NDArray[np.int64] | None:
        """The number of elements that each element stands for, in a contracted problem with limits; else None."""
        return None if self._limits is None else self._limits.sizes

    @property
    def _rules(self) -> Rules:
        """What clusters must obey, by indices; required cuts are part of the costs, and groups of the background."""
        return Rules(self.must_join, NO_PAIRS, self._limits, self.lifted)

    @property
    def _must_cut(self) -> NDArray[np.int32]:
        """Pairs of indices required in different subsets, shape (k, 2); without those of groups, unless dense."""
        if self._cuts is None:
            if self.matrix is not None:
                cuts = np.argwhere(np.triu(self.matrix == np.inf, 1)).astype(np.int32)
            else:
                assert self.u is not None and self.v is not None and self.cost is not None
                at = np.flatnonzero(self.cost == np.inf)
                cuts = np.stack([self.u[at], self.v[at]], 1)
            self._cuts = frozen(cuts)
        return self._cuts

    @property
    def _has_must_cut(self) -> bool:
        """Whether any pair must be cut, by itself or as members of a group."""
        return self._measure()[1]

    @property
    def groups(self) -> Groups | None:
        """The groups of elements that pay a price for each pair of members in one cluster, also if a matrix has it."""
        p = self if self._source is None else self._source
        return None if p.background is None else p.background.groups

    @property
    def _magnitude(self) -> float:
        """The largest sum of absolute costs over the pairs of one element; required cuts are left out.

        With a background, this is an upper bound: the sum of the magnitudes of the listed pairs and of the background.
        """
        return self._measure()[0]

    @property
    def _attraction(self) -> float:
        """The largest sum of absolute negative costs over the pairs of one element, or an upper bound on it."""
        return self._measure()[2]

    @property
    def _tolerance(self) -> float:
        """The tolerance of comparisons: a difference of costs counts as negative if it is below ``-tolerance``.

        It is ``2**-50`` times `_magnitude`: the order of the rounding error in a sum of an element's costs. All
        methods share this rule.
        """
        return 2.0**-50 * self._magnitude

    def _measure(self) -> tuple[float, bool, float]:
        if self._measured is None:  # set once, at the end: other threads may ask meanwhile
            if self.matrix is not None:
                magnitude, cuts, attraction = _pairs.magnitude_of_dense(self.matrix)
            else:
                magnitude, cuts, attraction = _pairs.magnitude_of_pairs(self.n, self.u, self.v, self.cost)
            if self.background is not None:
                more = float(self.background.sums(self.n).max(initial=0.0))
                attraction += more
                if (groups := self.background.groups) is not None:  # prices never attract
                    more += float(groups.sums().max(initial=0.0))
                    cuts |= groups.is_hard
                magnitude += more
            self._measured = magnitude, cuts, attraction
        return self._measured

    def index(self, node: Hashable) -> int:
        """The index of a node; InvalidProblem if there is no such node."""
        return self._places(node)

    def pairs(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The stored pairs ``(u, v, cost)`` in lexicographic order, each of shape (m,); all pairs if dense.

        With a background, these costs do not include it.
        """
        if self.matrix is None:
            assert self.u is not None and self.v is not None and self.cost is not None
            return self.u, self.v, self.cost
        u, v = (index.astype(np.int32) for index in np.triu_indices(self.n, 1))
        return u, v, self.matrix[u, v]

    def _listed(self) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
        """The stored pairs; from a matrix, those with a cost other than 0, and those listed with the cost 0.

        With a background, the costs of the pairs include it.
        """
        if self.matrix is None:
            u, v, cost = self.pairs()
            return u, v, cost if self.background is None else cost + self.background.of_pairs(u, v)
        found = np.nonzero(np.triu(self.matrix, 1))
        zeros = NO_PAIRS if self._zeros is None else self._zeros
        zeros = zeros[self.matrix[zeros[:, 0], zeros[:, 1]] == 0]  # groups may add to them
        u, v = (np.concatenate([a, b]).astype(np.int32) for a, b in zip(found, zeros.T, strict=True))
        order = np.lexsort((v, u))
        u, v = u[order], v[order]
        return u, v, self.matrix[u, v]

    def _rows(self, keep: bool = True) -> _pairs.CompressedRows:
        """The stored pairs as compressed rows with 2 m entries, kept once made. O(n + m)"""
        rows = self._neighbours or _pairs.adjacency(self.n, *self.pairs())
        if keep:
            self._neighbours = rows
        return rows

    def _flags_of_rows(self) -> NDArray[np.uint8]:
        """For each entry of `_rows` 1 if its pair is lifted, else 0, if subsets have to be connected. O(n + m)"""
        if self._row_flags is None:
            u, v, _ = self.pairs()
            assert self.lifted is not None
            self._row_flags = _pairs.adjacency(self.n, u, v, self.lifted.astype(np.float64)).costs.astype(np.uint8)
        return self._row_flags

    def _links(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """The base pairs ``(u, v)`` that may be joined, which connect subsets: of any cost but ``inf``. O(m)"""
        if self._base is None:
            u, v, cost = self.pairs()
            assert self.lifted is not None
            kept = ~self.lifted & (cost < np.inf)
            self._base = u[kept], v[kept]
        return self._base

    if not TYPE_CHECKING:  # mypy is to find the former names

        def __getattr__(self, name: str) -> Any:
            if name not in FORMER:
                raise NoAttribute(type(self).__name__, name, type(self))
            deprecated(f"SetPartition.{name}", FORMER[name])
            return getattr(self, f"_{name}")

    def __getstate__(self) -> dict[str, Any]:
        state = {name: getattr(self, name) for name in KEPT}
        if self.matrix is not None and (self.groups is not None or self._zeros is None):
            state["_source"] = self._source
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._start(state["nodes"], state["_limits"])
        for name, value in state.items():
            setattr(self, name, frozen(np.ascontiguousarray(value)) if isinstance(value, np.ndarray) else value)

    def _evaluate_labels(self, labels: Labels) -> float:
        """The cost of an int32 array of n labels, unchecked."""
        joins = self.must_join
        if len(joins) and (labels[joins[:, 0]] != labels[joins[:, 1]]).any():
            return math.inf
        if self._limits is not None and self._limits.violation(labels) is not None:
            return math.inf
        if self.lifted is not None and linked_parts(self, labels).max(initial=-1) >= len(np.unique(labels)):
            return math.inf
        return self._cost_within(labels)

    def _cost_within(self, labels: Labels) -> float:
        """The cost of pairs with equal labels, without regard to requirements."""
        if self._source is not None:  # faster, and to the last digit the same as there
            return self._source._cost_within(labels)
        if self.matrix is not None:
            return float(_pairs.cost_of_dense(self.matrix, labels))
        if self.background is not None:
            if self.n and not 0 <= labels.min() <= labels.max() < self.n:
                labels = np.unique(labels, return_inverse=True)[1].astype(np.int32)
            terms = self.background
            cost = float(_pairs.cost_of_pairs(self.u, self.v, self.cost, labels, terms.beta, terms.vectors))
            return cost if terms.groups is None else cost + terms.groups.cost(labels)
        return float(_pairs.cost_of_pairs(self.u, self.v, self.cost, labels))

    def objective(self, cost: float) -> float:
        """A cost in the convention of the file or recipe that the problem came from: ``sense * cost + offset``."""
        return self.sense * cost + self.offset

    def _must_join_classes(self) -> Labels:
        """Canonical labels of the sets of elements that required joins connect."""
        if not len(self.must_join):
            return np.arange(self.n, dtype=np.int32)
        u, v = (np.ascontiguousarray(column) for column in self.must_join.T)
        return _pairs.connected_components(self.n, u, v)
