"""The front door: names, options, kinds of problems."""

import math
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.methods import METHODS, find_method
from graphpart.solve import problem_kind


@pytest.fixture
def problem():
    return gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [-2.0, 1.0, -2.0, 0.5])


def test_a_method_by_name_is_the_function_itself(problem):
    for name, function in (("greedy-joining", gp.partition.greedy_joining), ("ilp", gp.partition.ilp)):
        a, b = gp.solve(problem, name), function(problem)
        assert (a.cost, a.status, a.method) == (b.cost, b.status, name)
        assert np.array_equal(a.labels, b.labels)


def test_options_reach_the_method(problem):
    r = gp.solve(problem, "kernighan-lin", initial=[0, 1, 0, 1], max_iterations=1, target=-100.0, seed=3)
    assert r.status == gp.Status.ITERATION_LIMIT and r.iterations == 1
    assert gp.solve(problem, "ilp", formulation="full", solver="highs").info["solver"] == "HiGHS"
    seen = []
    gp.solve(problem, "greedy-joining", callback=lambda seconds, cost: seen.append(cost))
    assert seen
    assert gp.solve(problem, "kernighan-lin", time_limit=0).status == gp.Status.TIME_LIMIT


@pytest.mark.parametrize(
    ("method", "options", "message"),
    [
        ("magic", {}, "method is 'magic': expected one of auto, .*kernighan-lin"),
        (
            "greedy-joining",
            {"formulation": "full"},
            "method greedy-joining takes no formulation: expected one of .*initial",
        ),
        ("brute-force", {"initial": [0, 0, 0, 0]}, "method brute-force takes no initial"),
        ("ilp", {"max_iterations": 3}, "method ilp takes no max_iterations"),
        ("ilp", {"target": 3}, "method ilp takes no target"),
        ("auto", {"seed": -1}, "seed is -1: expected a whole number of at least 0"),
        ("auto", {"seed": "x"}, "seed is 'x'"),
        ("auto", {"time_limit": -1}, "time_limit is -1"),
        ("auto", {"problem": 1}, "multiple values"),
    ],
)
def test_wrong_options(problem, method, options, message):
    with pytest.raises((gp.InvalidOption, TypeError), match=message):
        gp.solve(problem, method, **options)


@pytest.mark.parametrize("wrong", [None, 3, "file.txt", [[0, 1], [1, 0]], np.zeros((2, 2))])
def test_what_is_no_problem(wrong):
    with pytest.raises(gp.InvalidProblem, match=f"got {type(wrong).__name__}: expected a SetPartition, a FactorGraph"):
        gp.solve(wrong)


def test_kinds(problem):
    assert problem_kind(problem) == problem_kind(nx.Graph()) == "partition"
    assert problem_kind(gp.FactorGraph()) == "crf"


def test_a_directed_graph_gets_advice():
    with pytest.raises(gp.InvalidProblem, match="directed"):
        gp.solve(nx.DiGraph([(0, 1)]))


def test_a_graph_is_solved_in_its_own_names():
    G = nx.Graph()
    G.add_weighted_edges_from([("a", "b", -2.0), ("b", "c", 1.0)], "cost")
    r = gp.solve(G)
    assert {frozenset(s) for s in r.partition} == {frozenset("ab"), frozenset("c")}
    assert r.status == gp.Status.OPTIMAL and r.lower_bound == r.cost == -2.0


def test_the_table_names_what_functions_take():
    import inspect

    for method in METHODS:
        takes = inspect.signature(method.function).parameters
        assert {"time_limit", "callback"} <= set(takes), method.name
        for option in ("initial", "seed", "max_iterations", "target"):
            assert (option in takes) == (option in method.options), (method.name, option)
        assert find_method(method.name, method.problem) is method
        for name in method.also:
            assert find_method(name, method.problem) is method
            assert f"``{name}``" in inspect.getdoc(method.function), name


def test_a_further_name_is_no_name_and_means_one():
    names = {method.name for method in METHODS}
    meant = {(other, method.name) for method in METHODS for other in method.also}
    assert not names & {other for other, _ in meant}
    assert len(dict(meant)) == len(meant)  # the command line asks for the method before it knows the kind


@pytest.mark.parametrize(
    ("name", "method"),
    [
        ("gaec", "greedy-joining"),
        ("klj", "kernighan-lin-pairs"),
        ("KLj", "kernighan-lin-pairs"),
        ("kernighan_lin", "kernighan-lin"),
        ("Branch_And_Cut", "exact"),
    ],
)
def test_partitions_by_further_names(name, method):
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0])
    assert gp.solve(p, name).method == method


@pytest.mark.parametrize(
    ("name", "method"), [("TRW-S", "message-passing"), ("trws", "message-passing"), ("alpha-expansion", "expansion")]
)
def test_labelings_by_further_names(name, method):
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])
    assert gp.solve(f, name).method == method
    assert gp.crf.solve_given(f, {0: 1}, name).method == method


@pytest.mark.parametrize(
    ("name", "near"), [("kernigan-lin", "kernighan-lin"), ("greedy_join", "greedy-joining"), ("gaek", "gaec")]
)
def test_what_is_spelled_wrong_gets_a_suggestion(name, near):
    with pytest.raises(
        gp.InvalidOption, match=f"^method is '{name}': expected one of auto, .*; did you mean '{near}'\\?$"
    ):
        find_method(name, "partition")
    with pytest.raises(gp.InvalidOption, match=r"^format is 'jsonl': expected one of .*; did you mean 'json'\?$"):
        gp.read("x", format="jsonl")


def test_qpbo_is_no_method_and_the_message_says_what_is():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])
    with pytest.raises(gp.InvalidOption, match=r"^method is 'QPBO': .*gp\.crf\.roof_duality\(f\)"):
        gp.solve(f, "QPBO")
    assert gp.crf.lower_bound(f, "qpbo").method == "roof-duality"
    assert gp.crf.lower_bound(f, "TRW-S").method == "message-passing"
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 2.0])
    assert gp.partition.lower_bound(p, "sdp").method == "semidefinite"


def test_solving_by_local_search_loads_no_solver():
    code = (
        "import sys, graphpart as gp; p = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0]);"
        "gp.solve(p, 'kernighan-lin'); gp.solve(p);"
        "print(sorted({'pulp', 'highspy', 'scipy', 'matplotlib', 'sklearn'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_labels_given_beforehand():
    differ = [[0.0, 1.0], [1.0, 0.0]]
    f = gp.FactorGraph.from_arrays([2] * 3, [([[0, 1], [1, 2]], [differ] * 2), ([[0]], [[0.0, 0.5]])])
    r, s = gp.solve(f, evidence={2: 1}), gp.crf.solve_given(f, {2: 1})
    assert r.labels.tolist() == s.labels.tolist() == [1, 1, 1] and r.cost == s.cost == 0.5
    assert gp.solve(f, "icm", evidence={2: 1, 0: 0}, initial=[0, 0, 0]).labels.tolist()[::2] == [0, 1]
    assert gp.solve(f, evidence={}).cost == 0.0
    with pytest.raises(gp.InvalidOption, match="takes no evidence"):
        gp.solve(gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, -1.0]), evidence={0: 1})


@pytest.mark.parametrize("name", ["from_modularity", "from_cpm", "from_editing"])
def test_former_functions_warn_and_work(name):
    with pytest.warns(DeprecationWarning, match=f"use graphpart.SetPartition.{name}"):
        function = getattr(gp, name)
    assert function == getattr(gp.SetPartition, name)


@pytest.mark.parametrize("name", ["editing-040.gr", "modularity-karate.json", "planted-030.json", "tree-0012.uai"])
def test_a_bound_on_the_scale_of_the_objective(run, tmp_path, name):
    """Numbers of edits, modularity, costs, values to be maximised: proven, with a gap, without a bound, pickled."""
    path = Path(__file__).parents[1] / "instances" / name
    p = gp.read(path)
    for method in ("auto", "icm" if name[0] == "t" else "kernighan-lin"):
        r = gp.solve(p, method, time_limit=0.2)
        for found in (r, pickle.loads(pickle.dumps(r)), replace(pickle.loads(pickle.dumps(r)), seconds=1.0)):
            assert found.objective_bound == pytest.approx(p.objective(r.lower_bound), rel=1e-12)
            assert p.sense * found.objective_bound <= p.sense * found.objective
        converted = r.objective != r.cost
        assert converted == (name[0] != "p") == ("objective bound" in r.summary())
        _, out, _ = run("solve", path, "--method", method, "--time-limit", "0.2", "--csv", tmp_path / "t.csv")
        assert ("objective_bound" in out) == converted
        assert "objective_bound" in (tmp_path / "t.csv").read_text()
    nothing = gp.solve(p, "icm" if name[0] == "t" else "greedy-joining")
    if nothing.lower_bound == -math.inf:
        assert nothing.objective_bound == -p.sense * math.inf
    assert math.isnan(replace(nothing, cost=math.inf).objective_bound)


def test_one_table_of_files_with_and_without_an_objective(run):
    """The column begins one further table, and stays."""
    folder = Path(__file__).parents[1] / "instances"
    names = ["planted-006.csv", "editing-020.gr", "planted-006.csv", "editing-020.gr"]
    _, out, _ = run("solve", *(folder / name for name in names), "--method", "kernighan-lin")
    lines = out.splitlines()
    assert [line.split()[0] for line in lines] == ["instance", names[0], "instance", *names[1:]]
    assert ["objective_bound" in line for line in lines if line.startswith("instance")] == [False, True]
