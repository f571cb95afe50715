"""Variables, scopes and tables of a factor graph in contiguous arrays, built piece by piece or in bulk.

`FactorGraph` adds constructors from other data, and methods that derive other factor graphs.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.crf.problem import _structure
from graphpart.crf.problem._view import View
from graphpart.crf.problem.checks import integer_array, one_domain, real_array, sizes_of, unique_names
from graphpart.crf.problem.functions import Function
from graphpart.crf.problem.layout import Layout, Scheme, layout_of, scheme_of
from graphpart.display import Shown
from graphpart.errors import InfeasibleProblem, InvalidProblem, known_arguments
from graphpart.kernels import LARGEST_INDEX

__all__ = ["FactorTables"]

Arrays = tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64], NDArray[np.float64]]


class Stored(NamedTuple):
    """What a factor graph stores; replaced as one, so that an interrupt or another thread meets all or nothing."""

    arrays: Arrays
    entries: int  # of a table for each factor of the arrays
    domains: list[int]  # of variables that were added later, one by one
    factors: list[tuple[list[int], NDArray[np.float64]]]  # and of factors: scopes and tables


def frozen_all(*arrays: NDArray[Any]) -> Any:
    """Arrays that nothing can change any more."""
    for array in arrays:
        array.flags.writeable = False
    return arrays


class FactorTables(Shown):
    """The arrays of a factor graph; see :class:`FactorGraph` for what its attributes mean."""

    __slots__ = (
        "_cache", "_functions", "_index", "_names", "_owner", "_stored", "constant", "offset", "sense", "shape",
    )  # fmt: skip

    constant: float
    offset: float
    sense: int
    shape: tuple[int, ...] | None
    _names: Sequence[Hashable]
    _stored: Stored

    # ---------------------------------------------------------------------------------------------- construction

    def __init__(self) -> None:
        none = np.zeros(0, np.int32)
        self._set([], none, np.zeros(1, np.int64), none, np.zeros(0))

    @classmethod
    def of_csr(
        cls,
        names: Sequence[Hashable],
        domains: NDArray[np.int32],
        scope_start: NDArray[np.int64],
        scope: NDArray[np.int32],
        tables: NDArray[np.float64],
        table_start: NDArray[np.int64] | None = None,
        constant: float = 0.0,
    ) -> Self:
        """From unique names, checked domains, and arrays in compressed rows that no other object changes.

        `table_start` is for tables that factors share, see `shared_tables`.
        """
        self = cls.__new__(cls)
        self._set(names, domains, scope_start, scope, tables, table_start)
        self._begin_with(constant)
        self._layout()
        return self

    @known_arguments
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
        self._stored.domains.append(size)
        self._cache.clear()

    @known_arguments
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
        self._append(self._indices(names), real_array(f"table of scope {names!r}", table))

    def _indices(self, scope: Iterable[Hashable]) -> list[int]:
        """The indices of variables, each of which is named once."""
        names = tuple(scope)
        where = [self.index(name) for name in names]
        if len(set(where)) != len(where):
            twice = next(name for i, name in enumerate(names) if name in names[:i])
            raise InvalidProblem(f"scope {names!r} repeats variable {twice!r}")
        return where

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
        self._stored.factors.append((scope, np.array(table.ravel())))
        self._cache.clear()

    def _add_constant(self, value: float, origin: str) -> None:
        if value == math.inf:
            raise InfeasibleProblem(f"{origin} is inf: it forbids every labeling")
        self.constant += value
        if not math.isfinite(self.constant):
            raise InvalidProblem(f"the constant is {self.constant}: expected a finite number")

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
    ) -> Self:
        """Build a factor graph in bulk from arrays in compressed rows; factors may differ in arity and shape.

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
        >>> from graphpart import FactorGraph
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
        names = unique_names(variables, len(sizes))
        return cls.of_csr(names, sizes, start, members, values, None, constant)._in_units(offset, sense)

    def _in_units(self, offset: float, sense: int) -> Self:
        """Take over the units of a file or the caller, see `objective`; returns the same object."""
        self.offset, self.sense = float(offset), sense
        if not math.isfinite(self.offset):
            raise InvalidProblem(f"offset is {offset}: expected a finite number")
        if sense not in (1, -1):
            raise InvalidProblem(f"sense is {sense}: expected 1 (minimise) or -1 (maximise)")
        return self

    def _begin_with(self, constant: float) -> None:
        if not constant > -math.inf:
            raise InvalidProblem(f"the constant is {constant}: expected a finite number")
        self._add_constant(float(constant), "the constant")

    def _set(
        self,
        names: Sequence[Hashable],
        domains: NDArray[np.int32],
        scope_start: NDArray[np.int64],
        scope: NDArray[np.int32],
        tables: NDArray[np.float64],
        table_start: NDArray[np.int64] | None = None,
    ) -> None:
        """Take over checked names and domains, and arrays that no other object changes; check scopes and tables."""
        self._names = names
        self._index: dict[Hashable, int] | None = None
        self._cache: dict[str, Any] = {}
        self._functions: list[Function] = []
        self._owner: Self | None = None
        self.constant, self.shape = 0.0, None
        self.offset, self.sense = 0.0, 1
        if len(scope_start) - 1 > LARGEST_INDEX:
            raise InvalidProblem(f"{len(scope_start) - 1} factors: expected at most {LARGEST_INDEX}")
        start, f, what = _structure.table_starts(domains, scope_start, scope, table_start is None)
        if f >= 0:
            indices = tuple(scope[scope_start[f] : scope_start[f + 1]].tolist())
            raise InvalidProblem(
                (
                    f"factor {f} has the scope {indices}: expected indices of variables from 0 to {len(domains) - 1}",
                    f"factor {f} has the scope {indices}: expected each variable once",
                    f"factor {f} with the scope {indices} has a table larger than any memory",
                )[what]
            )
        if start[-1] != len(tables) and table_start is None:
            raise InvalidProblem(f"the tables have {len(tables)} entries in all: the scopes ask for {start[-1]}")
        entries = int(start[-1])
        if table_start is not None:
            start = table_start
        empty = np.flatnonzero(scope_start[1:] == scope_start[:-1])
        if len(empty):
            kept = np.ones(len(tables), bool)
            kept[start[empty]] = False
            values, tables = tables[~kept], tables[kept]
            if not (values > -math.inf).all():
                raise InvalidProblem("a factor with an empty scope is NaN or -inf: expected a number")
            self._add_constant(float(values.sum()), "a factor with an empty scope")
            scope_start = np.delete(scope_start, empty)
            start = _structure.table_starts(domains, scope_start, scope)[0]
            entries = int(start[-1])
        self._stored = Stored(frozen_all(domains, scope_start, scope, start, tables), entries, [], [])
        self._measure()

    def _measure(self) -> int:
        """Check the entries of all tables; return the number of infinite entries."""
        _, _, _, start, tables = self._stored.arrays
        at, infinite, total = _structure.measure(tables)
        if at >= 0:
            f = int(np.argmax(np.where(start[:-1] <= at, start[:-1], -1)))
            raise InvalidProblem(f"the table of factor {f} has the entry {tables[at]}: expected a number or inf")
        if self._stored.entries > len(tables) and math.isinf(total * self.m):
            total = _structure.measure(self.tables)[2]
        if not math.isfinite(total):
            raise InvalidProblem("the sum of absolute costs overflows: expected costs of a smaller magnitude")
        self._cache["infinite"], self._cache["absolute"] = infinite, total
        return infinite

    def _flat(self) -> Arrays:
        """(domains, scope_start, scope, table_start, tables), with everything that was added one by one.

        The tables are those that are kept: several factors may have the same, see `shared_tables`.
        """
        stored = self._stored
        if stored.domains or stored.factors:
            domains, scope_start, scope, start, tables = stored.arrays
            new = stored.factors
            arities = np.array([len(members) for members, _ in new], np.int64)
            sizes = np.array([len(table) for _, table in new], np.int64)
            arrays = frozen_all(
                np.concatenate([domains, np.array(stored.domains, np.int32)]),
                np.concatenate([scope_start, scope_start[-1] + np.cumsum(arities)]),
                np.concatenate([scope, np.array([i for members, _ in new for i in members], np.int32)]),
                np.concatenate([start, start[-1] + np.cumsum(sizes)]),
                np.concatenate([tables, *(table for _, table in new)]),
            )
            self._stored = Stored(arrays, stored.entries + int(sizes.sum()), [], [])
            self._measure()
        return self._stored.arrays

    def _now(self) -> Self:
        """A factor graph that stays as this one is now, with the same arrays; functions are not taken along."""
        arrays, one = self._flat(), type(self)()
        names = self._names
        one._names = list(names) if isinstance(names, list) else names
        one._stored, one._cache = Stored(arrays, self._stored.entries, [], []), dict(self._cache)
        one.constant, one.shape = self.constant, self.shape
        one.offset, one.sense = self.offset, self.sense
        return one

    # ---------------------------------------------------------------------------------------------------- looking

    @property
    def n(self) -> int:
        return len(self._names)

    @property
    def m(self) -> int:
        stored = self._stored
        return len(stored.arrays[1]) - 1 + len(stored.factors)

    @property
    def variables(self) -> Sequence[Hashable]:
        return self._names

    @property
    def nodes(self) -> Sequence[Hashable]:
        """The same as `variables`, under the name that all kinds of problems have."""
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
        domains, scope_start, scope, start, tables = self._flat()
        if self._stored.entries > len(tables):
            start = _structure.table_starts(domains, scope_start, scope)[0]
            start.flags.writeable = False
        return start

    @property
    def tables(self) -> NDArray[np.float64]:
        _, _, _, start, tables = self._flat()
        if self._stored.entries > len(tables):
            tables = _structure.gather(tables, start, self.table_start)
            tables.flags.writeable = False
        return tables

    @property
    def entries(self) -> int:
        self._flat()
        return self._stored.entries

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
        domains = self._stored.arrays[0]
        return int(domains[i]) if i < len(domains) else self._stored.domains[i - len(domains)]

    def factor(self, f: int) -> tuple[tuple[int, ...], NDArray[np.float64]]:
        """Scope (indices of variables) and table (read-only, one axis for each variable) of factor f."""
        domains, scope_start, scope, start, tables = self._flat()
        if not 0 <= f < self.m:
            raise InvalidProblem(f"{f} is not a factor: expected 0 to {self.m - 1}")
        members = scope[scope_start[f] : scope_start[f + 1]]
        sizes = domains[members].tolist()
        return tuple(members.tolist()), tables[start[f] : start[f] + math.prod(sizes)].reshape(sizes)

    def factors(self) -> Iterator[tuple[tuple[Hashable, ...], NDArray[np.float64]]]:
        """All factors in order, each as (names of its scope, table)."""
        for f in range(self.m):
            members, table = self.factor(f)
            yield tuple(self._names[i] for i in members), table

    def incidence(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
        """The occurrences of each variable: compressed rows (starts, factors, places within scopes), computed once."""
        if "incidence" not in self._cache:
            _, scope_start, scope, _, _ = self._flat()
            self._cache["incidence"] = _structure.incidence(self.n, scope_start, scope)
        rows: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]] = self._cache["incidence"]
        return rows

    def _scheme(self) -> Scheme:
        """The elimination of leaves, computed once."""
        if "scheme" not in self._cache:
            self._cache["scheme"] = scheme_of(self.n, *self._flat()[1:3])
        scheme: Scheme = self._cache["scheme"]
        return scheme

    def _layout(self) -> Layout:
        """The position of each label of each variable in one flat vector, and largest sizes; computed once."""
        if "layout" not in self._cache:
            self._cache["layout"] = layout_of(*self._flat()[:4], self.has_forbidden)
        layout: Layout = self._cache["layout"]
        return layout

    def _view(self, connected: bool = False) -> View:
        """The view of the arrays for kernels, made once; with the factors of each variable if it is connected."""
        if "view" not in self._cache:
            arrays, layout = self._flat(), self._layout()
            self._cache["view"] = View(arrays, layout, self.has_forbidden)
        view: View = self._cache["view"]
        if connected and not view.connected:
            view.connect(self.incidence())
        return view

    @property
    def is_acyclic(self) -> bool:
        """Whether the factor graph is a forest. Two factors that share two variables make a cycle."""
        return not len(self._scheme().cyclic)

    def components(self) -> NDArray[np.int32]:
        """Labels 0, 1, ... of the connected components, in order of first appearance, shape (n,)."""
        _, scope_start, scope, _, _ = self._flat()
        labels: NDArray[np.int32] = _structure.components(self.n, scope_start, scope)[0]
        return labels

    def __getstate__(self) -> dict[str, Any]:
        self._flat()
        return {
            "names": self._names,
            "arrays": self._stored.arrays,
            "constant": self.constant,
            "offset": self.offset,
            "sense": self.sense,
            "shape": self.shape,
            "functions": self._functions,
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        domains, scope_start, scope, start, tables = (np.ascontiguousarray(array) for array in state["arrays"])
        self._set(state["names"], domains, scope_start, scope, tables, start)
        self._begin_with(state["constant"])
        self._in_units(state["offset"], state["sense"])
        self.shape = state.get("shape")
        self._functions = state["functions"]

    def evaluate_labels(self, labels: NDArray[np.int32]) -> float:
        """The energy of an int32 array of n labels, unchecked."""
        layout = self._layout()
        cost = float(_structure.energy(*self._flat(), labels, self.constant, layout.width, layout.runs))
        return cost + math.fsum(one.complete(labels[list(one.scope)].tolist())[1] for one in self._functions)

    def complete(self, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Labels of the decomposed factor graph, from labels of this one, -1 for none."""
        known: list[int] = []
        for one in self._functions:
            own = labels[list(one.scope)].tolist()
            known += one.complete(own)[0] if min(own) >= 0 else [-1] * len(one.auxiliaries)
        return np.concatenate([labels, np.array(known, np.int32)]).astype(np.int32)

    def objective(self, cost: float) -> float:
        """A cost in the convention of the file or recipe that the problem came from: ``sense * cost + offset``."""
        return self.sense * cost + self.offset
