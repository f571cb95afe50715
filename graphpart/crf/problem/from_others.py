"""Factor graphs from the models of pgmpy and dimod, and to those of dimod."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphpart.adapters.dimod import Quadratic, bqm_of, quadratic_of
from graphpart.adapters.pgmpy import costs_of_model
from graphpart.crf.problem.factor_tables import FactorTables
from graphpart.crf.problem.quadratic import assemble
from graphpart.errors import InvalidProblem
from graphpart.kernels import _pairs

__all__ = ["FromOthers"]


class FromOthers(FactorTables):
    """Constructors of :class:`FactorGraph` from the models of other programs."""

    __slots__ = ()

    @classmethod
    def from_pgmpy(cls, model: Any) -> Self:
        """Build a factor graph from a discrete model of pgmpy: least energy is greatest probability.

        Parameters
        ----------
        model : DiscreteBayesianNetwork, DiscreteMarkovNetwork, FactorGraph, JunctionTree or ClusterGraph of pgmpy
            The cost of an entry of a factor, or of a conditional probability table, is minus its natural logarithm; an
            entry 0 is forbidden.

        Raises
        ------
        InvalidProblem
            If this is no discrete model, a node of a Bayesian network has no table, two factors give a variable
            different states, or an entry is negative or not finite.

        Notes
        -----
        Labels number the states of a variable: the state of ``r.labeling[x]`` is ``model.states[x][r.labeling[x]]``.
        ``gp.solve`` finds the most probable explanation, and ``f.condition({x: 0})`` gives evidence. Of a Bayesian
        network, the energy is minus the logarithm of the joint probability.

        Examples
        --------
        >>> import graphpart as gp
        >>> from pgmpy.models import DiscreteMarkovNetwork  # doctest: +SKIP
        >>> from pgmpy.factors.discrete import DiscreteFactor  # doctest: +SKIP
        >>> model = DiscreteMarkovNetwork([("a", "b")])  # doctest: +SKIP
        >>> model.add_factors(DiscreteFactor(["a", "b"], [2, 2], [1, 4, 2, 3]))  # doctest: +SKIP
        >>> gp.solve(gp.FactorGraph.from_pgmpy(model)).labeling  # doctest: +SKIP
        {'a': 0, 'b': 1}
        """
        sizes, factors = costs_of_model(model)
        f = cls()
        for name, states in sizes.items():
            f.add_variable(name, states)
        for scope, costs in factors:
            f.add_factor(scope, costs)
        return f

    @classmethod
    def from_bqm(cls, bqm: Any) -> Self:
        """Build a factor graph from a binary quadratic model of dimod.

        Parameters
        ----------
        bqm : dimod.BinaryQuadraticModel
            Of variables 0 and 1, which are the labels; or of spins -1 and 1, whose labels are 0 and 1. The energy of a
            labeling is that of the model.

        Raises
        ------
        InvalidProblem
            If this is no binary quadratic model, or a number is not finite.

        Notes
        -----
        O(n + m) for m interactions.

        Examples
        --------
        >>> import dimod, graphpart as gp  # doctest: +SKIP
        >>> bqm = dimod.BinaryQuadraticModel({"a": -1.0}, {("a", "b"): 2.0}, 0.5, "SPIN")  # doctest: +SKIP
        >>> r = gp.solve(gp.FactorGraph.from_bqm(bqm))  # doctest: +SKIP
        >>> r.labeling, r.cost  # doctest: +SKIP
        ({'a': 1, 'b': 0}, -2.5)
        """
        q = quadratic_of(bqm)
        numbers = {"linear bias": q.linear, "quadratic bias": q.weight, "offset": np.array([q.offset])}
        for what, values in numbers.items():
            bad = np.flatnonzero(~np.isfinite(values))
            if len(bad):
                raise InvalidProblem(f"a {what} of the model is {values[bad[0]]}: expected a finite number")
        place = np.flatnonzero(q.linear)
        unary = q.linear[place, None] * np.array([-1.0 if q.spin else 0.0, 1.0])
        u, v, weight, *_ = _pairs.sort_pairs(len(q.names), q.row, q.column, q.weight)
        u, v, weight = u[weight != 0], v[weight != 0], weight[weight != 0]
        tables = weight[:, None] * (np.array([1.0, -1.0, -1.0, 1.0]) if q.spin else np.array([0.0, 0.0, 0.0, 1.0]))
        names = range(len(q.names)) if list(q.names) == list(range(len(q.names))) else q.names
        return assemble(cls, names, place, unary, (u, v, weight), tables, q.offset)

    def to_bqm(self, vartype: str = "BINARY") -> Any:
        """The factor graph as a ``dimod.BinaryQuadraticModel``, for the samplers of dimod.

        Parameters
        ----------
        vartype : {"BINARY", "SPIN"}
            Variables are 0 and 1, or -1 and 1. The energy of the model is that of the labeling.

        Raises
        ------
        MissingDependency
            If dimod is not installed.
        InvalidProblem
            If a variable has other labels than 0 and 1, a factor has more than two variables, or an entry is forbidden;
            the message names it.

        Notes
        -----
        O(n + m). :meth:`from_bqm` takes it back, up to rounding.

        Examples
        --------
        >>> import graphpart as gp
        >>> f = gp.FactorGraph.from_qubo({("a", "a"): -1.0, ("a", "b"): 2.0})
        >>> f.to_bqm().energy({"a": 1, "b": 1})  # doctest: +SKIP
        1.0
        """
        other = np.flatnonzero(self.domains != 2)
        if len(other):
            name = self.variables[other[0]]
            raise InvalidProblem(
                f"variable {name!r} has {self.domains[other[0]]} labels: expected 2, as variables of dimod have"
            )
        arity = np.diff(self.scope_start)
        large = np.flatnonzero(arity > 2)
        if len(large):
            raise InvalidProblem(
                f"factor {large[0]} has {arity[large[0]]} variables: expected at most 2; "
                "dimod.make_quadratic makes quadratic models of higher ones"
            )
        if self.has_forbidden:
            bad = np.flatnonzero(np.isinf(self.tables))
            at = np.searchsorted(self.table_start, bad[:1], side="right") - 1
            what = f"factor {at[0]}" if len(bad) else "the constant"
            raise InvalidProblem(f"{what} forbids labelings: expected finite costs, for instance a large one instead")
        offset = self.constant
        one, two = np.flatnonzero(arity == 1), np.flatnonzero(arity == 2)
        u = self.scope[self.scope_start[one]]
        a = self.tables[self.table_start[one][:, None] + np.arange(2)]
        linear = np.asarray(np.bincount(u, a[:, 1] - a[:, 0], self.n), np.float64)
        u, v = self.scope[self.scope_start[two]], self.scope[self.scope_start[two] + 1]
        b = self.tables[self.table_start[two][:, None] + np.arange(4)]
        linear += np.bincount(u, b[:, 2] - b[:, 0], self.n) + np.bincount(v, b[:, 1] - b[:, 0], self.n)
        offset += float(a[:, 0].sum() + b[:, 0].sum())
        weight = b[:, 0] - b[:, 1] - b[:, 2] + b[:, 3]
        ends = [np.asarray(end, np.int64) for end in (u, v)]
        return bqm_of(Quadratic(self.variables, linear, ends[0], ends[1], weight, offset, spin=False), vartype)
