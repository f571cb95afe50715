"""Naive algorithms on factor graphs, sharing nothing with those of the library but `FactorGraph.factors`."""

from __future__ import annotations

import numpy as np

import graphpart as gp


def all_energies(f: gp.FactorGraph) -> np.ndarray:
    """The energies of all labelings as one array with an axis for each variable."""
    place = {name: i for i, name in enumerate(f.variables)}
    total = np.full(tuple(f.domains.tolist()), f.constant)
    for names, table in f.factors():
        axes = [place[name] for name in names]
        shape = [1] * f.n
        for axis in axes:
            shape[axis] = int(f.domains[axis])
        total = total + np.transpose(table, np.argsort(axes)).reshape(shape)
    return total


def naive_icm(f: gp.FactorGraph, labels: np.ndarray) -> list[tuple[int, ...]]:
    """The labelings that best-improvement ICM goes through, from the array of all energies."""
    energies = all_energies(f)
    at = tuple(int(y) for y in labels)
    path = [at]
    while True:
        best, chosen = 0.0, None
        for i in range(f.n):
            for y in range(int(f.domains[i])):
                other = (*at[:i], y, *at[i + 1 :])
                delta = energies[other] - energies[at]
                if delta < best:
                    best, chosen = delta, other
        if chosen is None:
            return path
        at = chosen
        path.append(at)


def is_local_optimum(f: gp.FactorGraph, labels: np.ndarray, tolerance: float = 1e-9) -> bool:
    energies = all_energies(f)
    at = tuple(int(y) for y in labels)
    lowest = energies[at] - tolerance
    return all(energies[(*at[:i], slice(None), *at[i + 1 :])].min() >= lowest for i in range(f.n))
