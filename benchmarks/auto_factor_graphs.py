"""Kinds of factor graphs on which `benchmarks/auto.py` compares `auto` with single methods."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import graphpart as gp
from graphpart.generate.factor_grid import grid_pairs

__all__ = ["kinds"]


def _of_tables(height: int, width: int, labels: int, seed: int = 1) -> gp.FactorGraph:
    """A grid whose unary costs and entries of tables are standard Gaussian numbers."""
    rng = np.random.default_rng(seed)
    pairs = grid_pairs(height, width)
    unary = rng.standard_normal((height * width, labels))
    tables = rng.standard_normal((len(pairs), labels, labels))
    every = np.arange(height * width)[:, None]
    return gp.FactorGraph.from_arrays([labels] * (height * width), [(every, unary), (pairs, tables)])


def _random_graph(n: int, degree: int, labels: int, seed: int = 1) -> gp.FactorGraph:
    """Gaussian tables over random pairs."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(n, size=(n * degree // 2, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    groups = [(np.arange(n)[:, None], rng.standard_normal((n, labels)))]
    return gp.FactorGraph.from_arrays(
        [labels] * n, [*groups, (pairs, rng.standard_normal((len(pairs), labels, labels)))]
    )


def _truncated_linear(height: int = 200, width: int = 300, labels: int = 16, seed: int = 0) -> gp.FactorGraph:
    """A disparity map: noisy unary costs, and pairs that cost in proportion to the difference, up to a bound."""
    rng = np.random.default_rng(seed)
    y, x = np.divmod(np.arange(height * width), width)
    truth = (labels / 2 + labels / 3 * np.sin(x / 30.0) * np.cos(y / 25.0)).astype(int)
    level = np.arange(labels)
    unary = np.minimum(np.abs(level[None] - truth[:, None]), 4) + 1.5 * rng.standard_normal((height * width, labels))
    table = np.minimum(np.abs(level[:, None] - level[None]), 2).astype(float)
    pairs = grid_pairs(height, width)
    return gp.FactorGraph.from_arrays(
        [labels] * (height * width),
        [(np.arange(height * width)[:, None], unary), (pairs, np.broadcast_to(table, (len(pairs), labels, labels)))],
    )


def kinds() -> dict[str, Callable[[], gp.FactorGraph]]:
    """Each kind by its name: from 20 to 250,000 variables."""
    generate = gp.generate
    return {
        "random graph, 20 variables, 4 labels": lambda: _random_graph(20, 8, 4),
        "random graph, 100 variables, 5 labels": lambda: _random_graph(100, 6, 5),
        "grid 30 x 30, mixed, 4 labels": lambda: generate.factor_grid(30, 30, "mixed", 4, seed=1).problem,
        "grid 60 x 60, spin glass": lambda: generate.factor_grid(60, 60, "spin-glass", seed=1).problem,
        "spin glass 12 x 12 x 12": lambda: generate.spin_glass(12, 3, seed=1).problem,
        "qubo, 200 variables": lambda: generate.qubo(200, seed=1).problem,
        "qubo, 1000 variables": lambda: generate.qubo(1000, 0.3, seed=1).problem,
        "tree, 100,000 variables, 4 labels": lambda: generate.factor_tree(100_000, 4, seed=1).problem,
        "grid 100 x 100, random tables, 8 labels": lambda: _of_tables(100, 100, 8),
        "grid 200 x 200, attractive, 6 labels": lambda: generate.factor_grid(200, 200, "attractive", 6, seed=1).problem,
        "noisy image 500 x 500": lambda: generate.noisy_image(500, 500, seed=1).problem,
        "grid 300 x 300, mixed, 4 labels": lambda: generate.factor_grid(300, 300, "mixed", 4, seed=1).problem,
        "grid 500 x 500, random tables, 8 labels": lambda: _of_tables(500, 500, 8),
        "disparities 200 x 300, 16 labels": _truncated_linear,
        "grid 500 x 500, attractive, 4 labels": lambda: generate.factor_grid(500, 500, "attractive", 4, seed=1).problem,
    }
