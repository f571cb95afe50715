"""The contestants of crf.py: graphpart's methods for factor graphs, and their peers."""

from __future__ import annotations

import time
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


def binary_quadratic(arrays: Arrays) -> Any:
    """A model of dimod; ValueError if there are other than binary variables, pairs and finite costs."""
    import dimod

    f = factor_graph(arrays)
    arity = np.diff(f.scope_start)
    if (f.domains != 2).any() or arity.max(initial=0) > 2 or f.has_forbidden:
        raise ValueError("expected binary variables, factors of at most two, and finite costs")
    linear = np.zeros(f.n)
    one, two = (np.flatnonzero(arity == k) for k in (1, 2))
    t = f.tables[f.table_start[one][:, None] + np.arange(2)]
    np.add.at(linear, f.scope[f.scope_start[one]], t[:, 1] - t[:, 0])
    offset = f.constant + t[:, 0].sum()
    t = f.tables[f.table_start[two][:, None] + np.arange(4)]
    u, v = f.scope[f.scope_start[two]], f.scope[f.scope_start[two] + 1]
    np.add.at(linear, u, t[:, 2] - t[:, 0])
    np.add.at(linear, v, t[:, 1] - t[:, 0])
    offset += t[:, 0].sum()
    quadratic = (u, v, t[:, 3] - t[:, 2] - t[:, 1] + t[:, 0])
    return dimod.BinaryQuadraticModel.from_numpy_vectors(linear, quadratic, float(offset), "BINARY")


def in_order(sampled: Any) -> tuple[np.ndarray, float]:
    """The best sample, its labels by the numbers of variables, and its energy."""
    best = int(np.argmin(sampled.record.energy))
    labels = np.empty(len(sampled.variables), np.int64)
    labels[list(sampled.variables)] = sampled.record.sample[best]
    return labels, float(sampled.record.energy[best])


def dwave(arrays: Arrays) -> Run:
    """The steepest descent of D-Wave from all zeros, which is that of ICM for binary pairwise energies."""
    from dwave.samplers import SteepestDescentSolver

    model = binary_quadratic(arrays)
    start = (np.zeros((1, model.num_variables), np.int8), list(range(model.num_variables)))
    return lambda: in_order(SteepestDescentSolver().sample(model, initial_states=start, large_sparse_opt=True))[0]


def dwave_tabu(arrays: Arrays) -> Run:
    """The tabu search of D-Wave, one read for as long as there is time."""
    from dwave.samplers import TabuSampler

    model, milliseconds = binary_quadratic(arrays), round(1000 * float(arrays["seconds"]))
    return lambda: in_order(TabuSampler().sample(model, num_reads=1, timeout=milliseconds, seed=1))[0]


def dwave_annealing(arrays: Arrays) -> Run:
    """The simulated annealing of D-Wave, again with twice the sweeps, or what is left of the time; the best of all."""
    from dwave.samplers import SimulatedAnnealingSampler

    model, limit = binary_quadratic(arrays), float(arrays["seconds"])

    def run() -> np.ndarray:
        began, sweeps = time.perf_counter(), 16
        best: tuple[np.ndarray, float] | None = None
        while best is None or sweeps >= 16:
            started = time.perf_counter()
            found = in_order(SimulatedAnnealingSampler().sample(model, num_reads=1, num_sweeps=sweeps, seed=sweeps))
            if best is None or found[1] < best[1]:
                best = found
            now = time.perf_counter()
            sweeps = min(2 * sweeps, int(0.9 * sweeps * (limit - (now - began)) / max(now - started, 1e-6)))
        return best[0]

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
TABU, ANNEALING = "D-Wave tabu", "D-Wave annealing"


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
    TABU: ("dwave.samplers", dwave_tabu, 1),
    ANNEALING: ("dwave.samplers", dwave_annealing, 1),
    PGMPY: ("pgmpy", pgmpy, 1),
    TEN_BY_NUMPY: ("numpy", ten_best_by_numpy, 5),
}
