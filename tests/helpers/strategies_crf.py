"""Small random factor graphs: hypothesis strategies, and a fast generator for thousands of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

import graphpart as gp


def random_factor_graph(
    rng: np.random.Generator,
    *,
    n: int | None = None,
    max_domain: int = 4,
    max_arity: int = 3,
    forest: bool = False,
    forbidden: float = 0.0,
    whole: bool = False,
) -> gp.FactorGraph:
    """A factor graph with up to 6 variables, scopes in random order, named ("v", i).

    Parameters
    ----------
    forest : bool
        Only factors that close no cycle.
    forbidden : float
        Share of infinite entries.
    whole : bool
        Small whole entries, with many ties, instead of normal ones.
    """
    n = int(rng.integers(0, 7)) if n is None else n
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(("v", i), int(rng.integers(1, max_domain + 1)))
    component = np.arange(n)
    for _ in range(int(rng.integers(0, 2 * n + 1))):
        arity = int(rng.integers(0, min(n, max_arity) + 1))
        scope = rng.choice(n, arity, replace=False)
        if forest:
            if len(set(component[scope])) < arity:
                continue
            component[np.isin(component, component[scope])] = component[scope[0]] if arity else 0
        shape = tuple(int(f.domains[i]) for i in scope)
        table = rng.integers(-4, 5, shape).astype(float) if whole else rng.standard_normal(shape)
        if arity:
            table[rng.random(shape) < forbidden] = np.inf
        f.add_factor([("v", int(i)) for i in scope], table)
    return f


@st.composite
def factor_graphs(draw: Any, **options: Any) -> gp.FactorGraph:
    """Any of the above; shrinks by its seed only."""
    options.setdefault("forbidden", draw(st.sampled_from([0.0, 0.0, 0.1, 0.4])))
    options.setdefault("whole", draw(st.booleans()))
    options.setdefault("max_domain", draw(st.integers(1, 4)))
    return random_factor_graph(np.random.default_rng(draw(st.integers(0, 2**32))), **options)
