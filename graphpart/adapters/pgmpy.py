"""The factors of discrete models of pgmpy, as costs.

A model has factors, or conditional probability tables that are taken as factors. The cost of an entry is minus its
logarithm, `inf` for 0. Labels number the states of a variable in the order of the first factor that it is in; a factor
that lists the same states in another order is rearranged.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidProblem

__all__ = ["costs_of_model"]

Factors = list[tuple[tuple[Hashable, ...], NDArray[np.float64]]]


def costs_of_model(model: Any) -> tuple[dict[Hashable, int], Factors]:
    """(the number of states of each variable, the scope and the costs of each factor).

    Raises
    ------
    InvalidProblem
        If this is no discrete model, a variable is in no factor, or an entry is negative or NaN.
    """
    if hasattr(model, "get_cpds"):
        factors = [cpd.to_factor() if hasattr(cpd, "to_factor") else cpd for cpd in model.get_cpds()]
    elif hasattr(model, "get_factors"):
        factors = list(model.get_factors())
    else:
        raise InvalidProblem(
            f"got {type(model).__name__}: expected a discrete model of pgmpy, such as a DiscreteBayesianNetwork, "
            "DiscreteMarkovNetwork, FactorGraph or JunctionTree"
        )
    # Nodes that are variables come first, in their order; those of a junction tree are tuples of variables.
    sizes: dict[Hashable, int] = {}
    states: dict[Hashable, list[Any]] = {}
    costs: Factors = []
    for factor in factors:
        if not hasattr(factor, "values") or not hasattr(factor, "cardinality"):
            raise InvalidProblem(f"the model has a {type(factor).__name__}: expected discrete factors")
        scope = tuple(factor.scope())
        values = np.asarray(factor.values, np.float64)
        for axis, name in enumerate(scope):
            own = list(factor.state_names.get(name, range(values.shape[axis])))
            known = states.setdefault(name, own)
            if own != known:
                if len(own) != len(known) or set(own) != set(known):
                    raise InvalidProblem(f"variable {name!r} has the states {own} in one factor, {known} in another")
                values = np.take(values, [own.index(state) for state in known], axis=axis)
            sizes[name] = len(known)
        bad = np.argwhere(~(values >= 0) | np.isposinf(values))
        if len(bad):
            at = ", ".join(f"{name}={states[name][k]}" for name, k in zip(scope, bad[0].tolist(), strict=True))
            raise InvalidProblem(f"the entry for {at} is {values[tuple(bad[0])]}: expected a number of at least 0")
        with np.errstate(divide="ignore"):
            costs.append((scope, 0.0 - np.log(values)))
    nodes = list(model.nodes())
    alone = next((node for node in nodes if hasattr(model, "get_cpds") and node not in sizes), None)
    if alone is not None:
        raise InvalidProblem(f"variable {alone!r} has no conditional probability table: add one by model.add_cpds")
    first = [node for node in nodes if isinstance(node, Hashable) and node in sizes]
    return {name: sizes[name] for name in dict.fromkeys([*first, *sizes])}, costs
