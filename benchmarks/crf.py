"""Factor graphs: graphpart and its peers side by side on the same instances, in the manner of peers.py.

    python benchmarks/crf.py                         # all rows, 5 rounds (pip install -e '.[bench-crf]' first)
    python benchmarks/crf.py --quick --rounds 1      # small sizes: does everything run?

The options and the manner of measuring are those of peers.py. "build" is what it takes to make from NumPy arrays what
the contestant works on. Energies are recomputed here from the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from peers import Arrays, Figure, Measurements, Row, Run, main

import graphpart as gp

# ------------------------------------------------------------------------------------------------------------ instances


def groups(*parts: tuple[np.ndarray, np.ndarray], n: int, labels: int = 2) -> Arrays:
    """Arrays s0, t0, s1, t1, ...: scopes and tables; the domains."""
    named = {f"{letter}{i}": x for i, part in enumerate(parts) for letter, x in zip("st", part, strict=True)}
    return {"domains": np.full(n, labels, np.int32), **named}


def groups_of(arrays: Arrays) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(arrays[f"s{i}"], arrays[f"t{i}"]) for i in range((len(arrays) - 1) // 2)]


def tables(rng: np.random.Generator, m: int, labels: int, arity: int) -> np.ndarray:
    return rng.standard_normal((m, *[labels] * arity))


def tree(n: int) -> Arrays:
    """A random binary tree: a new variable is joined to an earlier one."""
    rng = np.random.default_rng(0)
    new = np.arange(1, n)
    earlier = (rng.random(n - 1) * new).astype(np.int64)
    return groups((np.column_stack([earlier, new]), tables(rng, n - 1, 2, 2)), n=n)


def path(n: int, labels: int) -> Arrays:
    rng = np.random.default_rng(0)
    at = np.arange(n)
    return groups((np.column_stack([at[:-1], at[1:]]), tables(rng, n - 1, labels, 2)), n=n, labels=labels)


def third_order(m: int) -> Arrays:
    """A tree of m factors over three variables: an earlier one and two new ones."""
    rng = np.random.default_rng(0)
    new = 1 + 2 * np.arange(m)
    earlier = (rng.random(m) * new).astype(np.int64)
    return groups((np.column_stack([earlier, new, new + 1]), tables(rng, m, 2, 3)), n=2 * m + 1)


def grid(side: int) -> Arrays:
    rng = np.random.default_rng(0)
    at = np.arange(side * side).reshape(side, side)
    right = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    pairs = np.concatenate([right, np.column_stack([at[:-1].ravel(), at[1:].ravel()])])
    n = side * side
    return groups((np.arange(n)[:, None], tables(rng, n, 2, 1)), (pairs, tables(rng, len(pairs), 2, 2)), n=n)


def sparse(n: int, degree: int) -> Arrays:
    rng = np.random.default_rng(0)
    pairs = rng.integers(n, size=(n * degree // 2, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return groups((np.arange(n)[:, None], tables(rng, n, 2, 1)), (pairs, tables(rng, len(pairs), 2, 2)), n=n)


def energy(arrays: Arrays, labels: np.ndarray) -> float:
    """The energy of a labeling, recomputed."""
    total = 0.0
    for scopes, values in groups_of(arrays):
        total += float(values[(np.arange(len(values)), *labels[scopes].T)].sum())
    return total


# ---------------------------------------------------------------------------------------------------------- contestants


def numpy_sum(arrays: Arrays) -> Run:
    """The floor: one pass over all tables."""
    parts = [values for _, values in groups_of(arrays)]
    return lambda: [values.sum() for values in parts] and None


TINY = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])


def factor_graph(arrays: Arrays) -> gp.FactorGraph:
    return gp.FactorGraph.from_arrays(arrays["domains"], groups_of(arrays))


def min_sum(arrays: Arrays) -> Run:
    f = factor_graph(arrays)
    gp.crf.min_sum(TINY)
    return lambda: gp.crf.min_sum(f).labels


def building(arrays: Arrays) -> Run:
    return lambda: factor_graph(arrays) and None


def icm(arrays: Arrays, order: str) -> Run:
    f = factor_graph(arrays)
    gp.crf.icm(TINY)  # what is imported at the first call does not count
    return lambda: gp.crf.icm(f, order=order).labels


def integer_program(arrays: Arrays, solver: str) -> Run:
    f = factor_graph(arrays)
    gp.crf.ilp(TINY, solver=solver)
    return lambda: gp.crf.ilp(f, solver=solver).labels


def toulbar2(arrays: Arrays) -> Run:
    """pytoulbar2 through its bulk interface, costs with six decimals."""
    import pytoulbar2

    model = pytoulbar2.CFN(resolution=6, verbose=-1)
    domains = arrays["domains"]
    model.AddVariables(len(domains), "x", 0, int(domains[0]) - 1)
    for scopes, values in groups_of(arrays):
        model.AddFunctions(np.ascontiguousarray(scopes.astype(np.int32).squeeze()), values)

    def run() -> np.ndarray:
        found = model.Solve()
        if found is None:
            raise RuntimeError("pytoulbar2 found nothing")
        return np.array(found[0])

    return run


def dwave(arrays: Arrays) -> Run:
    """The steepest descent of D-Wave from all zeros, which is that of ICM for binary pairwise energies."""
    import dimod
    from dwave.samplers import SteepestDescentSolver

    linear, quadratic, offset = np.zeros(len(arrays["domains"])), None, 0.0
    for scopes, t in groups_of(arrays):
        if scopes.shape[1] == 1:
            np.add.at(linear, scopes[:, 0], t[:, 1] - t[:, 0])
            offset += t[:, 0].sum()
        else:
            np.add.at(linear, scopes[:, 0], t[:, 1, 0] - t[:, 0, 0])
            np.add.at(linear, scopes[:, 1], t[:, 0, 1] - t[:, 0, 0])
            offset += t[:, 0, 0].sum()
            quadratic = (scopes[:, 0], scopes[:, 1], t[:, 1, 1] - t[:, 1, 0] - t[:, 0, 1] + t[:, 0, 0])
    model = dimod.BinaryQuadraticModel.from_numpy_vectors(linear, quadratic, offset, "BINARY")
    names = list(range(len(linear)))
    start = (np.zeros((1, len(linear)), np.int8), names)

    def run() -> np.ndarray:
        sampled = SteepestDescentSolver().sample(model, initial_states=start, large_sparse_opt=True)
        where = np.empty(len(names), np.int64)
        where[list(sampled.variables)] = np.arange(len(names))
        return sampled.record.sample[0][where]

    return run


def pgmpy(arrays: Arrays) -> Run:
    """The MAP query of pgmpy by variable elimination."""
    from pgmpy.factors.discrete import DiscreteFactor
    from pgmpy.inference import VariableElimination
    from pgmpy.models import DiscreteMarkovNetwork

    ((scopes, values),) = groups_of(arrays)
    model = DiscreteMarkovNetwork()
    model.add_nodes_from(map(str, range(len(arrays["domains"]))))
    for scope, table in zip(scopes.tolist(), values, strict=True):
        model.add_edge(*map(str, scope))
        model.add_factors(DiscreteFactor([str(v) for v in scope], list(table.shape), np.exp(-table)))
    names = [str(v) for v in range(len(arrays["domains"]))]

    def run() -> np.ndarray:
        found: dict[str, Any] = VariableElimination(model).map_query(variables=names, show_progress=False)
        return np.array([found[name] for name in names])

    return run


FLOOR, MIN_SUM, BUILD, TOULBAR2 = "tables.sum()", "graphpart min-sum", "graphpart building", "pytoulbar2"
ICM, SWEEP, DWAVE, PGMPY = "graphpart ICM", "graphpart ICM, sweeps", "D-Wave steepest descent", "pgmpy"
CBC, HIGHS = "CBC through PuLP", "HiGHS through PuLP"

CONTESTANTS = {
    FLOOR: ("numpy", numpy_sum, 5),
    MIN_SUM: ("graphpart", min_sum, 5),
    BUILD: ("graphpart", building, 5),
    ICM: ("graphpart", lambda arrays: icm(arrays, "best"), 5),
    SWEEP: ("graphpart", lambda arrays: icm(arrays, "sweep"), 5),
    CBC: ("pulp", lambda arrays: integer_program(arrays, "cbc"), 1),
    HIGHS: ("highspy", lambda arrays: integer_program(arrays, "highs"), 1),
    TOULBAR2: ("pytoulbar2", toulbar2, 1),
    DWAVE: ("dwave.samplers", dwave, 5),
    PGMPY: ("pgmpy", pgmpy, 1),
}


def extra_in_tables(who: str, entries: int) -> Figure:
    return Figure(f"{who}: extra memory in tables", lambda r: r.extra(who) / (8 * entries), "<=", 2)


def seconds(r: Measurements, who: str) -> float:
    return float(np.median(r.of(who).seconds))


ROWS = (
    Row(
        "tree", "random binary tree, binary variables, normal tables", tree,
        {"n=1000000": {"n": 10**6}}, {"n=2000": {"n": 2000}},
        (FLOOR, BUILD, MIN_SUM, TOULBAR2),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 10),
            Figure("min-sum: times faster than pytoulbar2", lambda r: 1 / r.ratio(MIN_SUM, TOULBAR2), ">=", 50),
            Figure("building: seconds", lambda r: seconds(r, BUILD), "<=", 1.5),
            Figure("min-sum: energy above pytoulbar2's", lambda r: r.excess(MIN_SUM, TOULBAR2), "<=", 1e-6),
            extra_in_tables(MIN_SUM, 4 * 10**6),
        ),
        energy,
    ),
    Row(
        "path", "path, binary variables, normal tables", path,
        {"n=1000000": {"n": 10**6, "labels": 2}}, {"n=2000": {"n": 2000, "labels": 2}},
        (FLOOR, BUILD, MIN_SUM),
        (Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 20),),
        energy,
    ),
    Row(
        "chain", "chain, 20 labels, normal tables", path,
        {"n=100000": {"n": 10**5, "labels": 20}}, {"n=200": {"n": 200, "labels": 20}},
        (FLOOR, BUILD, MIN_SUM),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 5),
            extra_in_tables(MIN_SUM, 400 * (10**5 - 1)),
        ),
        energy,
    ),
    Row(
        "third-order", "tree of third-order factors, binary variables, normal tables", third_order,
        {"m=100000": {"m": 10**5}}, {"m=1000": {"m": 1000}},
        (FLOOR, BUILD, MIN_SUM, TOULBAR2),
        (
            Figure("min-sum: time over tables.sum()", lambda r: r.ratio(MIN_SUM, FLOOR), "<=", 20),
            Figure("min-sum: energy above pytoulbar2's", lambda r: r.excess(MIN_SUM, TOULBAR2), "<=", 1e-6),
            extra_in_tables(MIN_SUM, 8 * 10**5),
        ),
        energy,
    ),
    Row(
        "grid", "grid, binary variables, normal tables", grid,
        {"500x500": {"side": 500}}, {"30x30": {"side": 30}},
        (ICM, SWEEP, DWAVE),
        (
            Figure("ICM: energy off D-Wave's, relative", lambda r: abs(r.excess(ICM, DWAVE)), "<=", 1e-12),
            Figure("ICM: times faster than D-Wave", lambda r: 1 / r.ratio(ICM, DWAVE), ">=", 10),
        ),
        energy,
    ),
    Row(
        "sparse", "sparse random graph, average degree 6, binary variables, normal tables", sparse,
        {"n=1000000": {"n": 10**6, "degree": 6}}, {"n=1000": {"n": 1000, "degree": 6}},
        (ICM, SWEEP),
        (Figure("ICM: seconds", lambda r: seconds(r, ICM), "<=", 3), extra_in_tables(ICM, 14 * 10**6)),
        energy,
    ),
    Row(
        "small", "random binary tree, for contestants that are not for large ones", tree,
        {"n=20": {"n": 20}}, {"n=20": {"n": 20}},
        (MIN_SUM, PGMPY, TOULBAR2, HIGHS, CBC),
        (
            Figure("min-sum: energy above HiGHS's", lambda r: r.excess(MIN_SUM, HIGHS), "<=", 1e-9),
            Figure("min-sum: times faster than pgmpy", lambda r: 1 / r.ratio(MIN_SUM, PGMPY), ">=", 1),
            Figure("min-sum: times faster than HiGHS", lambda r: 1 / r.ratio(MIN_SUM, HIGHS), ">=", 1),
        ),
        energy,
    ),
)  # fmt: skip

if __name__ == "__main__":
    packages = ("numpy", "pytoulbar2", "dimod", "dwave-samplers", "pgmpy", "pulp", "highspy")
    main(ROWS, CONTESTANTS, packages, __doc__, __file__)
