"""Programs against enumeration of all 0/1 vectors, with both solvers; bounds against exact arithmetic."""

import copy
import itertools
import math
import subprocess
import sys
from fractions import Fraction
from importlib.machinery import ModuleSpec
from types import ModuleType

import numpy as np
import pulp
import pytest
from scipy.sparse import csr_array

import graphpart as gp
from graphpart import highs
from graphpart.milp.program import Program, common_step
from graphpart.milp.solvers import _bound_in_log, pick_solver
from graphpart.partition.bounds import simplex
from graphpart.stopping import Stopping

SOLVERS = ["cbc", "highs"]


def random_program(rng, solver):
    m, k = int(rng.integers(2, 8)), int(rng.integers(1, 6))
    costs = rng.normal(size=m) if rng.random() < 0.5 else rng.integers(-5, 6, m).astype(float)
    dense = rng.integers(-2, 3, (k, m)).astype(float)
    rhs = rng.integers(0, 3, k).astype(float)  # x = 0 is feasible
    program = Program(costs, pick_solver(solver))
    program.add_rows(csr_array(dense), rhs)
    return program, dense, rhs


def least(program, dense, rhs):
    return min(
        float(program.costs @ x)
        for x in map(np.array, itertools.product((0.0, 1.0), repeat=len(program.costs)))
        if (dense @ x <= rhs).all() and (x >= program.lower).all() and (x <= program.upper).all()
    )


@pytest.mark.parametrize("solver", SOLVERS)
def test_optimum_and_bounds(solver):
    rng = np.random.default_rng(5)
    for _ in range(15):
        program, dense, rhs = random_program(rng, solver)
        optimum = least(program, dense, rhs)
        relaxed = program.solve(Stopping(), 0.0, relaxed=True)
        value = float(program.costs @ relaxed.values)
        assert relaxed.status == "optimal"
        assert program.proven() == pytest.approx(value, abs=1e-6)  # strong duality
        assert program.proven() <= optimum + 1e-9
        assert program.lift(program.proven()) <= optimum + 1e-9
        answer = program.solve(Stopping(), 0.0)
        assert answer.status == "optimal"
        assert program.costs @ np.round(answer.values) == pytest.approx(optimum, abs=1e-6)
        assert answer.bound == pytest.approx(optimum, abs=1e-6)
        assert (dense @ np.round(answer.values) <= rhs).all()


def test_any_multipliers_prove_a_bound_in_exact_arithmetic():
    rng = np.random.default_rng(6)
    for _ in range(20):
        program, dense, rhs = random_program(rng, "cbc")
        program.costs = program.costs * 10.0 ** rng.uniform(-6, 6, len(program.costs))
        program._multipliers = rng.normal(size=len(rhs)) * 3  # positive ones prove nothing and must not count
        optimum = least(program, dense, rhs)
        multipliers = [Fraction(min(x, 0.0)) for x in program._multipliers.tolist()]
        exact = sum((p * Fraction(b) for p, b in zip(multipliers, rhs.tolist(), strict=True)), Fraction(0))
        for j, c in enumerate(program.costs.tolist()):
            paid = sum(p * Fraction(row[j]) for p, row in zip(multipliers, dense.tolist(), strict=True))
            reduced = Fraction(c) - paid
            exact += min(reduced, Fraction(0))
        assert program.proven() == pytest.approx(float(exact), rel=1e-12, abs=1e-9)
        assert Fraction(program.proven()) <= exact
        assert program.proven() <= optimum + 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_equal_rows_bounds_and_dropped_rows(solver):
    program = Program(np.array([1.0, 2.0, 4.0]), pick_solver(solver))
    program.add_rows(csr_array(np.array([[1.0, 1.0, 1.0]])), np.array([1.0]), equal=True)
    program.add_rows(csr_array(np.array([[1.0, 0.0, 0.0]])), np.array([0.0]))
    assert program.solve(Stopping(), 0.0).values == pytest.approx([0, 1, 0])
    program.keep_rows(np.array([True, False]))
    assert program.rows == 1
    assert program.solve(Stopping(), 0.0, relaxed=True).values == pytest.approx([1, 0, 0])
    assert program.proven() == pytest.approx(1.0)
    assert program.slack(np.array([1.0, 0, 0])).tolist() == [0.0]
    program.upper[:2] = 0.0
    assert program.solve(Stopping(), 0.0, start=np.array([0.0, 0, 1])).values == pytest.approx([0, 0, 1])
    program.upper[2] = 0.0
    answer = program.solve(Stopping(), 0.0)
    assert answer.status == "infeasible" and answer.bound == math.inf and answer.values is None


def test_fixed_variables_are_as_in_all_better_solutions():
    rng = np.random.default_rng(8)
    fixed = 0
    for _ in range(60):
        program, dense, rhs = random_program(rng, "highs")
        program._multipliers = np.minimum(rng.normal(size=len(rhs)) - 0.5, 0.0)
        most = least(program, dense, rhs) + 0.5 * rng.random()
        solutions = [np.array(x) for x in itertools.product((0.0, 1.0), repeat=len(program.costs))]
        good = [x for x in solutions if (dense @ x <= rhs).all() and program.costs @ x <= most]
        program.fix(most)
        assert all(program.allows(x) for x in good)
        fixed += np.count_nonzero(program.lower == program.upper)
    assert fixed > 20


def test_excluded_values_are_the_only_ones_that_are_excluded():
    program = Program(np.array([-1.0, -1.0, 1.0, 0.0]), pick_solver("cbc"))
    program.exclude(np.array([1.0, 0.0, 0.0, 1.0]), np.array([True, True, True, False]))
    for x in map(np.array, itertools.product((0.0, 1.0), repeat=4)):
        assert program.allows(x) == (tuple(x[:3]) != (1.0, 0.0, 0.0))
    program.keep_rows(np.zeros(1, bool))
    assert program.rows == 1  # never dropped


def test_common_step():
    assert common_step(np.array([3.0, -6.0, 0.0])) == 3.0
    assert common_step(np.array([0.25, -0.5])) == 0.25
    assert common_step(np.array([2.0**-1000, 3 * 2.0**-1000])) == 2.0**-1000
    assert common_step(np.array([2.0**1000, 3 * 2.0**1000])) == 2.0**1000
    assert common_step(np.array([1.0, 2.0**40 + 1])) == 0.0
    assert common_step(np.array([0.1, 0.3])) == 0.0
    assert common_step(np.array([5e-324])) in (0.0, 5e-324)
    assert common_step(np.zeros(3)) == common_step(np.zeros(0)) == 0.0


def test_lift_goes_up_to_the_next_multiple_only():
    program = Program(np.array([2.0, -4.0]), pick_solver("cbc"))
    assert program.lift(-3.9) == -2.0
    assert program.lift(-4.0) == -4.0
    assert program.lift(-4.0 + 1e-9) == -4.0  # rounding of solvers
    assert program.lift(-math.inf) == -math.inf
    assert Program(np.array([0.1, 0.3]), pick_solver("cbc")).lift(-0.123) == -0.123


def test_bound_in_a_log_of_cbc():
    assert _bound_in_log("nothing") == -math.inf
    log = "Continuous objective value is -148.5 - 0.03 seconds\nbest solution, best possible -135.03737 (1.2 seconds)\n"
    assert -135.05 < _bound_in_log(log) < -135.03737
    assert _bound_in_log("1e+50 best solution, best possible 1e+50 (0.1 seconds)") == -math.inf
    assert -7.002 < _bound_in_log("Lower bound:                    -7.000\n") < -7


@pytest.mark.parametrize(
    ("solver", "options", "error", "message"),
    [
        ("nonsense", None, gp.InvalidOption, "solver is 'nonsense': expected cbc, highs"),
        (7, None, gp.InvalidOption, "solver is 7: expected cbc, highs, or a pulp solver"),
        ("cbc", {"colour": "red"}, gp.InvalidOption, "solver_options for cbc: .*colour"),
        ("cbc", {"path": "/does/not/exist"}, gp.SolverError, "cbc is not installed"),
        ("CPLEX_CMD", None, gp.SolverError, "CPLEX_CMD is not installed"),
        (pulp.COIN_CMD(path="/does/not/exist"), None, gp.SolverError, "COIN_CMD is not installed"),
        (pulp.HiGHS(msg=False), {"threads": 1}, gp.InvalidOption, "solver_options with a pulp solver"),
    ],
)
def test_wrong_solvers(solver, options, error, message):
    with pytest.raises(error, match=message):
        pick_solver(solver, options)


def test_highs_not_installed(monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    with pytest.raises(
        gp.MissingDependency, match=r"highs needs the package highspy: pip install 'graphpart\[highs\]'"
    ):
        pick_solver("highs")


def test_highs_too_old(monkeypatch):
    """As 1.7.2 is, without what came with 1.8; branch and cut then does without."""
    old = ModuleType("highspy")
    old.__spec__ = ModuleSpec("highspy", None)
    old.Highs = type("Highs", (), {"cancelSolve": None})
    monkeypatch.setitem(sys.modules, "highspy", old)
    monkeypatch.setattr(highs, "version", lambda name: "1.7.2")
    with pytest.raises(
        gp.SolverError, match=r"^the solver highs needs highspy 1.8 or newer, found 1.7.2: pip install --upgrade "
    ):
        pick_solver("highs")
    assert not simplex.is_available()
    triangle = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2), (0, 2)], [-2.0, -3.0, 4.0])
    assert gp.partition.exact(triangle).status == "optimal"


def test_highs_damaged(monkeypatch, tmp_path):
    (tmp_path / "highspy.py").write_text("raise OSError('libhighs.so:\\n  cannot open')")
    monkeypatch.delitem(sys.modules, "highspy", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(
        gp.SolverError, match=r"installed but cannot be imported \(OSError: libhighs.so: cannot open\)$"
    ):
        pick_solver("highs")


def test_a_crash_is_one_clear_line(tmp_path):
    broken = tmp_path / "cbc"
    broken.write_text("#!/bin/sh\necho out of luck\nexit 3\n")
    broken.chmod(0o755)
    program = Program(np.array([1.0]), pick_solver("cbc", {"path": str(broken)}))
    with pytest.raises(gp.SolverError, match="CBC ended without a solution: out of luck"):
        program.solve(Stopping(), 0.0)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_gap_asked_for_is_in_the_bound(solver):
    program = Program(np.array([-10.0, -7.0]), pick_solver(solver, {"gapRel": 0.5}))
    program.add_rows(csr_array(np.array([[1.0, 1.0]])), np.array([1.0]))
    answer = program.solve(Stopping(), 0.0)
    assert answer.bound <= -10.0


def test_a_pulp_solver_is_not_changed_and_gets_no_gap():
    mine = pulp.HiGHS(msg=False)
    chosen = pick_solver(mine)
    assert chosen is not mine and chosen.gapRel == 0.0 and mine.gapRel is None


def test_a_limit_of_a_copy_of_a_pulp_solver_reaches_highs():
    """A program runs a copy of the solver, with its own limit of time."""
    chosen = copy.copy(pick_solver(pulp.HiGHS(msg=False)))
    chosen.timeLimit, lp = 7.0, pulp.LpProblem()
    chosen.createAndConfigureSolver(lp)
    assert lp.solverModel.getOptionValue("time_limit")[1] == 7.0


def test_highs_prints_nothing_before_it_is_told_not_to():
    """HiGHS 1.16 does so when it is made; only another process shows what C code left in its buffers."""
    code = (
        "import graphpart as gp; p = gp.generate.uniform_integers(12, 9, seed=3).problem;"
        "gp.partition.ilp(p, solver='highs'); gp.partition.exact(p)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
