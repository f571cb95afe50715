"""The contestants of crf.py: graphpart's methods for factor graphs, and their peers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from crf_instances import factor_graph, groups_of
from measuring import Arrays, Contestant, Found, Run, limited

import graphpart as gp

TINY = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])

# ----------------------------------------------------------------------------------------------------------- graphpart


def numpy_sum(arrays: Arrays) -> Run:
    """The floor: one pass over all tables."""
    parts = [values for _, values in groups_of(arrays)]
    return lambda: [values.sum() for values in parts] and None


def building(arrays: Arrays) -> Run:
    return lambda: factor_graph(arrays) and None


def found(r: gp.LabelingResult) -> Found:
    return Found(r.labels, r.lower_bound, {"proven": float(r.status == gp.Status.OPTIMAL)})


def running(method: Callable[..., gp.LabelingResult], arrays: Arrays, **options: Any) -> Run:
    """Run a method on the factor graph of the arrays."""
    f = factor_graph(arrays)
    method(TINY, **options)  # what is imported at the first call does not count
    return lambda: found(method(f, **options))


def timed(method: Callable[..., gp.LabelingResult], arrays: Arrays, seconds: float) -> Run:
    f = factor_graph(arrays)
    method(TINY)
    return lambda: found(method(f, **limited(seconds)))


def min_sum(arrays: Arrays) -> Run:
    return running(gp.crf.min_sum, arrays)


def icm(arrays: Arrays, order: str) -> Run:
    f = factor_graph(arrays)
    gp.crf.icm(TINY)
    return lambda: gp.crf.icm(f, order=order).labels


def integer_program(arrays: Arrays, solver: str) -> Run:
    return running(gp.crf.ilp, arrays, solver=solver)


def graph_cut(arrays: Arrays) -> Run:
    return running(gp.crf.graph_cut, arrays)


def roof_duality(arrays: Arrays) -> Run:
    f = factor_graph(arrays)
    gp.crf.roof_duality(TINY)

    def run() -> Found:
        r = gp.crf.roof_duality(f, weak=False)
        return Found(bound=r.lower_bound, more={"labelled": float((r.strong >= 0).mean())})

    return run


def one_pass(arrays: Arrays) -> Run:
    """One iteration of message passing, forward and in reverse; the messages are there."""
    from graphpart.crf.bounds.passes import Passes
    from graphpart.stopping import Stopping

    passes = Passes(factor_graph(arrays))
    stopping = Stopping()
    passes.iterate(np.inf, stopping)
    return lambda: passes.iterate(np.inf, stopping) and None


def message_passing(arrays: Arrays, seconds: float) -> Run:
    return timed(gp.crf.message_passing, arrays, seconds)


def expansion(arrays: Arrays) -> Run:
    return running(gp.crf.expansion, arrays)


def elimination(arrays: Arrays) -> Run:
    return running(gp.crf.elimination, arrays)


def ten_best(arrays: Arrays) -> Run:
    f = factor_graph(arrays)
    gp.crf.m_best(TINY)

    def run() -> Found:
        best = gp.crf.m_best(f, 10)
        return Found(best.labels[0], more={"tenth": float(best.costs[9])})

    return run


def auto(arrays: Arrays, seconds: float) -> Run:
    """Wall-clock seconds in any case: `auto` plans with them."""
    return running(gp.crf.auto, arrays, time_limit=seconds)


# --------------------------------------------------------------------------------------------------------------- peers


def ten_best_by_numpy(arrays: Arrays) -> Run:
    """The ten least energies of a chain, by dynamic programming that keeps ten for each label."""
    ((_, values),) = groups_of(arrays)

    def run() -> Found:
        best = np.zeros((1, values.shape[1]))
        for table in values:
            longer = (best[:, :, None] + table).reshape(-1, table.shape[1])
            best = np.sort(longer, axis=0)[:10]
        least = np.sort(best, axis=None)
        return Found(more={"cost": float(least[0]), "tenth": float(least[9])})

    return run


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


def toulbar2_limited(arrays: Arrays) -> Run:
    """pytoulbar2 with virtual arc consistency in preprocessing, on an instance from a file, with its time limit."""
    import pytoulbar2

    start, scope, table_start = (arrays[key].tolist() for key in ("scope_start", "scope", "table_start"))
    values, constant = arrays["values"], float(arrays["constant"])
    finite = values[np.isfinite(values)]
    model = pytoulbar2.CFN(resolution=0 if (finite == np.floor(finite)).all() else 6, vac=1, verbose=-1)
    for i, labels in enumerate(arrays["domains"].tolist()):
        model.AddVariable(f"x{i}", range(labels))
    for i in range(len(start) - 1):
        table = values[table_start[i] : table_start[i + 1]].tolist()
        model.AddFunction(scope[start[i] : start[i + 1]], table)
    seconds = max(1, round(float(arrays["seconds"])))

    def run() -> Found:
        found = model.Solve(timeLimit=seconds)
        if found is None:
            raise RuntimeError("pytoulbar2 found no labeling")
        proven = not model.Option.limited
        return Found(np.array(found[0]), model.GetDDualBound() + constant, {"proven": float(proven)})

    return run


def maxflow(arrays: Arrays) -> Run:
    """PyMaxflow: building its network, and the flow; pairs all have the same table."""
    import maxflow

    (_, unary), (_, pairs) = groups_of(arrays)
    height, width = arrays["shape"].tolist()
    if pairs.shape[1:] != (2, 2) or (pairs != pairs[0]).any() or pairs[0].diagonal().any():
        raise ValueError("expected one table of pairs, 0 for equal labels")
    weight = float(pairs[0, 0, 1])
    zero, one = (np.ascontiguousarray(unary[:, label].reshape(height, width)) for label in (0, 1))
    structure = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0]])

    def run() -> Found:
        graph = maxflow.GraphFloat(height * width, 2 * height * width)
        nodes = graph.add_grid_nodes((height, width))
        graph.add_grid_edges(nodes, weights=weight, structure=structure, symmetric=True)
        graph.add_grid_tedges(nodes, one, zero)
        flow = graph.maxflow()
        return Found(graph.get_grid_segments(nodes).ravel(), flow)

    return run


def maxflow_expansion(arrays: Arrays) -> Run:
    """PyMaxflow's expansion, from the label of least unary cost of each variable, as graphpart's."""
    from maxflow.fastmin import aexpansion_grid

    (_, unary), (_, pairs) = groups_of(arrays)
    height, width = arrays["shape"].tolist()
    if (pairs != pairs[0]).any():
        raise ValueError("expected one table of pairs")
    costs = unary.reshape(height, width, -1)
    table = pairs[0].copy()
    return lambda: aexpansion_grid(costs, table).ravel()


def thinqpbo(arrays: Arrays) -> Run:
    """thinqpbo: solving alone, that is, the labels that all optimal labelings share."""
    from thinqpbo import QPBODouble

    (_, unary), (scopes, pairs) = groups_of(arrays)
    model = QPBODouble()
    model.add_node(len(unary))
    for i, costs in enumerate(unary.tolist()):
        model.add_unary_term(i, *costs)
    for (i, j), costs in zip(scopes.tolist(), pairs.reshape(-1, 4).tolist(), strict=True):
        model.add_pairwise_term(i, j, *costs)

    def ask() -> Found:
        labelled = sum(model.get_label(i) >= 0 for i in range(len(unary)))
        return Found(bound=model.compute_twice_lower_bound() / 2, more={"labelled": labelled / len(unary)})

    def run() -> Callable[[], Found]:
        model.solve()
        return ask

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
CUT, MAXFLOW, ROOF, QPBO = (
    "graphpart graph cut",
    "PyMaxflow",
    "graphpart roof duality",
    "thinqpbo, solving",
)
PASS, EXPANSION, MAXFLOW_EXPANSION = "graphpart, 1 iteration", "graphpart expansion", "PyMaxflow expansion"
ELIMINATION, TEN_BEST, TEN_BY_NUMPY = "graphpart elimination", "graphpart ten best", "NumPy ten best"
AUTO, LIMITED = "auto", "toulbar2"


def passing(seconds: float) -> str:
    """The name of message passing for so long."""
    return f"message passing, {seconds:g} s"


def auto_for(seconds: float) -> str:
    return f"auto, {seconds:g} s"


def contestants_for(*limits: float) -> dict[str, Contestant]:
    """Message passing and `auto`, for each time limit."""
    out: dict[str, Contestant] = {}
    for seconds in limits:
        out[passing(seconds)] = ("graphpart", lambda arrays, s=seconds: message_passing(arrays, s), 1)
        out[auto_for(seconds)] = ("graphpart", lambda arrays, s=seconds: auto(arrays, s), 1)
    return out


#: name: (module that must be importable, function, times it is run in one process)
CONTESTANTS: dict[str, Contestant] = {
    FLOOR: ("numpy", numpy_sum, 5),
    MIN_SUM: ("graphpart", min_sum, 5),
    BUILD: ("graphpart", building, 5),
    ICM: ("graphpart", lambda arrays: icm(arrays, "best"), 5),
    SWEEP: ("graphpart", lambda arrays: icm(arrays, "sweep"), 5),
    CUT: ("graphpart", graph_cut, 3),
    ROOF: ("graphpart", roof_duality, 1),
    PASS: ("graphpart", one_pass, 5),
    EXPANSION: ("graphpart", expansion, 1),
    ELIMINATION: ("graphpart", elimination, 1),
    TEN_BEST: ("graphpart", ten_best, 5),
    **contestants_for(0.2, 1, 20, 30),
    AUTO: ("graphpart", lambda arrays: auto(arrays, float(arrays["seconds"])), 1),
    CBC: ("pulp", lambda arrays: integer_program(arrays, "cbc"), 1),
    HIGHS: ("highspy", lambda arrays: integer_program(arrays, "highs"), 1),
    TOULBAR2: ("pytoulbar2", toulbar2, 1),
    LIMITED: ("pytoulbar2", toulbar2_limited, 1),
    MAXFLOW: ("maxflow", maxflow, 3),
    MAXFLOW_EXPANSION: ("maxflow", maxflow_expansion, 1),
    QPBO: ("thinqpbo", thinqpbo, 1),
    DWAVE: ("dwave.samplers", dwave, 5),
    PGMPY: ("pgmpy", pgmpy, 1),
    TEN_BY_NUMPY: ("numpy", ten_best_by_numpy, 5),
}
