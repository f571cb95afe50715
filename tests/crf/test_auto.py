"""Whatever way auto takes, what it claims holds; and it uses the time that it is given, and no more."""

import time
from fractions import Fraction
from importlib import import_module

import numpy as np
import pytest
from reference_crf import all_energies
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf import auto, brute_force, graph_cut, icm, reduce
from graphpart.crf.problem.derive import merge
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.stopping import Stopping

AUTO = import_module("graphpart.crf.choosing")
HARD = import_module("graphpart.crf.hard_component")
CONTESTANTS = import_module("graphpart.crf.contestants")


def frustrated(side, seed=3, labels=2, scattered=False):
    """A grid with random tables; scattered: nobody sees from the order of its variables that it is one."""
    rng = np.random.default_rng(seed)
    v = np.arange(side * side).reshape(side, side)
    v = np.random.default_rng(seed).permutation(side * side).reshape(side, side) if scattered else v
    pairs = np.concatenate(
        [np.stack([v[:, :-1], v[:, 1:]], -1).reshape(-1, 2), np.stack([v[:-1], v[1:]], -1).reshape(-1, 2)]
    )
    unary = (v.reshape(-1, 1), rng.standard_normal((side * side, labels)))
    return gp.FactorGraph.from_arrays(
        np.full(side * side, labels), [unary, (pairs, rng.standard_normal((len(pairs), labels, labels)))]
    )


def exact_cost(f, labels):
    total = Fraction(f.constant)
    for i in range(f.m):
        scope, table = f.factor(i)
        total += Fraction(float(table[tuple(labels[v] for v in scope)]))
    return total


def exact_optimum(f):
    """In rational numbers, for factor graphs that do not forbid everything."""
    energies = all_energies(f)
    near = np.argwhere(energies <= energies.min() + 1e-9 * (1 + abs(energies.min())))
    return min(exact_cost(f, labels) for labels in near[:200])


@pytest.mark.parametrize("seconds", [None, 0, 0.003, 0.05])
@pytest.mark.parametrize("passing", [False, True])
def test_every_way_against_enumeration(monkeypatch, seconds, passing):
    """Nothing exact before message passing; with `passing` False not even that, so that all the rest is reached."""
    monkeypatch.setattr(AUTO, "FEW", 0)
    monkeypatch.setattr(AUTO._Solver, "_by_elimination", lambda self, part: None)
    monkeypatch.setattr(AUTO._Solver, "_by_graph_cut", lambda self, part: None)
    first = HARD.ContestantParameters(visited=1.0 if passing else 2.0**11)
    monkeypatch.setattr(AUTO, "PARAMETERS", first)
    monkeypatch.setattr(CONTESTANTS, "DEFAULT_MEMORY", 100)
    few = HARD.ContestantParameters(idle=1, visited=2.0**11)
    monkeypatch.setattr(HARD, "ContestantParameters", lambda: few)
    if not passing:
        monkeypatch.setattr(CONTESTANTS.Ascent, "run", lambda self: "stopped")
    rng = np.random.default_rng(17)
    ways = set()
    for _ in range(60):
        f = random_factor_graph(rng, forbidden=rng.choice([0, 0, 0.1, 0.3]), whole=bool(rng.random() < 0.5))
        if all_energies(f).min() == np.inf:
            continue
        initial = [int(rng.integers(d)) for d in f.domains]
        r = auto(f, initial=initial, time_limit=seconds, seed=1)
        best, size = exact_optimum(f), Fraction(float(np.abs(f.tables[np.isfinite(f.tables)]).sum())) + 1
        assert r.cost == f.evaluate(r.labels) <= f.evaluate(initial)
        if r.status == gp.Status.OPTIMAL:
            assert Fraction(r.cost) - best <= size * Fraction(2) ** -22
        else:
            assert -np.inf < r.lower_bound and Fraction(r.lower_bound) <= best
        ways |= set(r.info["components"]) if "components" in r.info else set()
    assert seconds == 0 or ways


def test_what_was_stopped_is_not_called_optimal(monkeypatch):
    """Enumeration that is stopped returns some labels: they prove nothing."""
    f = frustrated(3)
    calls = []

    def callback(seconds, cost):
        calls.append(cost)
        return True

    r = auto(f, callback=callback)
    assert calls and r.status == gp.Status.INTERRUPTED and r.lower_bound < brute_force(f).cost
    with pytest.raises(ZeroDivisionError):
        auto(frustrated(20), callback=lambda seconds, cost: 1 / 0)


def test_messages():
    chain = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [1.0, 0.0]]])])
    assert auto(chain).message == "proven optimal: acyclic, by min-sum"
    assert auto(frustrated(3)).message == "proven optimal: 1 cyclic component by enumeration"
    assert auto(frustrated(6)).message == "proven optimal: 1 cyclic component by elimination"
    none = auto(frustrated(40, labels=4), time_limit=0)
    assert (
        none.message == "stopped at the time limit: 1 cyclic component without time"
        and none.status == gp.Status.TIME_LIMIT
    )


def test_without_a_time_limit_no_clock_counts(monkeypatch):
    """Bound and labels are good, and the same again."""
    f = frustrated(24, labels=6, scattered=True)
    few = HARD.ContestantParameters(idle=1, visited=2.0**19, passed=2.0**20)
    monkeypatch.setattr(AUTO, "PARAMETERS", few)
    monkeypatch.setattr(HARD, "ContestantParameters", lambda: few)
    r, again = auto(f, seed=1), auto(f, seed=1)
    assert r.status == gp.Status.FEASIBLE and r.message.startswith(
        "ended: 1 cyclic component by bound and local search"
    )
    assert trivial_bound(f) < r.lower_bound and r.gap < 0.08
    assert r.cost < icm(f, order="sweep", restarts=20, seed=0).cost
    assert (again.labels == r.labels).all() and again.lower_bound == r.lower_bound


def test_asking_for_what_is_known_changes_nothing(monkeypatch):
    monkeypatch.setattr(AUTO._Solver, "_by_elimination", lambda self, part: None)
    few = HARD.ContestantParameters(idle=1, visited=2.0**13)
    monkeypatch.setattr(AUTO, "PARAMETERS", few)
    monkeypatch.setattr(HARD, "ContestantParameters", lambda: few)
    solvers = []
    solve = AUTO._Solver.solve
    monkeypatch.setattr(AUTO._Solver, "solve", lambda self, start: solvers.append(self) or solve(self, start))
    r = auto(frustrated(12, labels=3))
    root = solvers[0].root
    first = root.labels, root.cost, root.bound, root.roundings
    second = root.labels, root.cost, root.bound, root.roundings
    assert (first[0] == second[0]).all() and first[1:] == second[1:]
    assert (first[0] == r.labels).all() and (solvers[0].bound == r.lower_bound or r.status == gp.Status.OPTIMAL)


def test_history_is_of_the_whole_energy():
    """Also where several components remain open, and parts of others are known."""
    parts = [frustrated(side, seed, 3) for side, seed in ((14, 1), (16, 2))]
    groups, first = [], 0
    for part in parts:
        for i in range(part.m):
            scope, table = part.factor(i)
            groups.append(([[first + v for v in scope]], [table]))
        first += part.n
    f = gp.FactorGraph.from_arrays(np.full(first, 3), groups, constant=1000.0)
    monkey = pytest.MonkeyPatch()
    with monkey.context() as m:
        m.setattr(AUTO._Solver, "_by_elimination", lambda self, part: None)
        r = auto(f, time_limit=0.6)
    known = [cost for _, cost in r.history if cost < np.inf]
    assert min(known) == pytest.approx(r.cost) and max(known) < 1000.0


def test_forbidden_labelings_are_left():
    """Colourings of a grid with diagonals by four colours: no single change leads from all equal to one."""
    side = 12
    v = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate(
        [np.stack(p, -1).reshape(-1, 2) for p in ((v[:, :-1], v[:, 1:]), (v[:-1], v[1:]), (v[:-1, :-1], v[1:, 1:]))]
    )
    differ = np.where(np.eye(4, dtype=bool), np.inf, np.random.default_rng(1).random((len(pairs), 4, 4)))
    f = gp.FactorGraph.from_arrays(np.full(side * side, 4), [(pairs, differ)])
    r = auto(f, time_limit=1.0, initial=np.zeros(side * side, int))
    assert r.cost < np.inf and r.gap < np.inf
    assert auto(f, time_limit=0, initial=np.zeros(side * side, int)).gap == np.inf


def test_project_inverts_lift():
    rng = np.random.default_rng(4)
    for _ in range(trials(100)):
        f = random_factor_graph(rng)
        small = reduce(f)
        inner = rng.integers(0, small.problem.domains) if small.problem.n else np.zeros(0, int)
        assert small.project(small.lift(inner)).tolist() == list(inner)


def test_sum_of_least_entries_is_rounded_down():
    rng = np.random.default_rng(5)
    for _ in range(300):
        tables = rng.standard_normal((6, 2)) * 10.0 ** rng.integers(-8, 9, (6, 1))
        f = gp.FactorGraph.from_arrays(
            [2] * 6, [(np.arange(6)[:, None], tables)], constant=float(rng.standard_normal())
        )
        assert Fraction(trivial_bound(f)) <= Fraction(f.constant) + sum(Fraction(float(x)) for x in tables.min(axis=1))
    whole = gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], [[3.0, 5.0], [0.5, 1.0]])], constant=-2.0)
    assert trivial_bound(whole) == 1.5


def test_a_stopped_cut_of_merged_tables_is_rounded_down():
    rng = np.random.default_rng(6)
    for _ in range(trials(200)):
        f = gp.FactorGraph()
        for name in "uv":
            f.add_variable(name)
        for scope in ("uv", "vu", "uv"):
            off = rng.random()
            f.add_factor(tuple(scope), [[0.1 * rng.random(), off], [off, -0.1 * rng.random()]])
        assert Fraction(graph_cut(f, time_limit=0).lower_bound) <= exact_optimum(f)


def test_merge_keeps_energies_and_tables():
    rng = np.random.default_rng(8)
    for _ in range(100):
        f = random_factor_graph(rng)
        g = merge(f)
        assert np.allclose(all_energies(f), all_energies(g))
        scopes = [tuple(sorted(g.factor(i)[0])) for i in range(g.m) if len(g.factor(i)[0]) > 1]
        assert len(set(scopes)) == len(scopes)
        assert merge(g) is g
    plain = frustrated(4)
    assert merge(plain) is plain


def test_iterations_of_structured_tables_count_as_the_labels_that_they_read():
    steps = np.abs(np.subtract.outer(np.arange(6.0), np.arange(6.0)))
    for table, read in ((np.minimum(steps, 2.0), 3 * 12 + 18), (np.random.default_rng(0).random((6, 6)), 3 * 36 + 18)):
        f = gp.FactorGraph.from_arrays(
            [6] * 3, [(np.array([[0, 1], [1, 2], [0, 2]]), [table] * 3), ([[0], [1], [2]], np.eye(3, 6))]
        )
        passing = CONTESTANTS.Passing(f, np.zeros(3, np.int32), f.evaluate([0, 0, 0]), HARD.ContestantParameters())
        passing.run(Stopping(), None)
        assert passing._read(passing.ascent) == read


def test_message_passing_ends_without_a_limit_if_it_does_not_come_up_to_the_bound_before_it():
    """On spin glasses of 6,400 spins it took three quarters of the time, below the bound of odd cycles."""
    f = frustrated(40, scattered=True)
    labels, cost = np.zeros(f.n, np.int32), f.evaluate(np.zeros(f.n, np.int32))
    ended = []
    for other in (-np.inf, np.inf):
        passing = CONTESTANTS.Passing(f, labels, cost, HARD.ContestantParameters(), True, lambda other=other: other)
        passing.run(Stopping(), None)
        assert passing.done
        ended.append(passing.ascent.iterations)
    assert ended[1] <= 2 * CONTESTANTS.WINDOW < ended[0]


def test_message_passing_has_to_close_a_share_of_the_gap_of_the_bound_before_it(monkeypatch):
    """On 12 x 12 x 12 spins it took 34 s for a twentieth of the gap of odd cycles."""
    place, rng = np.arange(512).reshape(8, 8, 8), np.random.default_rng(0)
    pairs = np.concatenate([np.stack([place.ravel(), np.roll(place, -1, axis).ravel()], axis=1) for axis in range(3)])
    tables = rng.choice([-1.0, 1.0], len(pairs))[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    f = gp.FactorGraph.from_arrays(np.full(512, 2), [(pairs, tables)])
    labels = gp.crf.icm(f).labels

    def ended(other, gain):
        monkeypatch.setattr(CONTESTANTS, "GAIN", gain)
        parameters = HARD.ContestantParameters(passed=2.0**23)
        passing = CONTESTANTS.Passing(f, labels, f.evaluate_labels(labels), parameters, True, lambda: other)
        passing.run(Stopping(), None)
        return passing.ascent.iterations, passing.bound

    whole, bound = ended(-np.inf, 0.3)
    assert ended(bound - 5.0, 0.0)[0] == whole > ended(bound - 5.0, 0.3)[0]


def test_factor_graphs_that_are_too_large_for_the_memory_of_search(monkeypatch):
    monkeypatch.setattr(CONTESTANTS, "MOST", 100)
    rng = np.random.default_rng(0)
    several = gp.crf.potts(unary=rng.random((30, 30, 4)), weight=0.4)
    binary = gp.generate.factor_grid(20, 20, "spin-glass", seed=1).problem
    for f, done in ((several, True), (binary, False)):
        labels = np.zeros(f.n, np.int32)
        searching = CONTESTANTS.Searching(f, labels, f.evaluate_labels(labels), HARD.ContestantParameters(), 0)
        assert searching.done == done
    for limit in (None, 30.0):  # which ends by proof
        r = gp.solve(several, time_limit=limit)
        assert r.lower_bound <= r.cost <= 1.01 * r.lower_bound


def test_expansions_begin_with_the_least_unary_costs():
    """Their result is not above that of the method, whatever labeling the race has; without a limit it ends there."""
    rng = np.random.default_rng(0)
    apart = np.minimum(abs(np.subtract.outer(*2 * [range(6)])), 2)
    better = 0
    for _ in range(trials(20)):
        f = gp.FactorGraph.pairwise(unary=4 * rng.random((8, 8, 6)), pairwise=apart)
        labels = rng.integers(0, 6, f.n).astype(np.int32)
        for until in (None, -1.0):  # which is one turn, or turns of a move
            one = CONTESTANTS.Expanding(f, labels, f.evaluate_labels(labels), HARD.ContestantParameters(), rng)
            for _ in range(1 if until is None else 200):
                one.run(Stopping(), until)
            assert one.cost == f.evaluate_labels(one.labels) <= gp.crf.expansion(f).cost + 1e-9
            assert one.done == (until is None) and one.again == (until is not None)
        better += one.cost < gp.crf.expansion(f).cost - 1e-9
        best = gp.solve(f)
        one = CONTESTANTS.Expanding(f, best.labels, best.cost, HARD.ContestantParameters(), rng)
        one.run(Stopping(), None)
        assert one.done and one.cost <= best.cost
    assert better


def test_message_passing_may_be_interrupted_before_an_iteration(monkeypatch):
    f, run, calls = frustrated(40, scattered=True), CONTESTANTS.Ascent.run, []

    def interrupted(ascent):
        calls.append(ascent.iterations)
        return run(ascent) if len(calls) == 1 else "stopped"

    monkeypatch.setattr(CONTESTANTS.Ascent, "run", interrupted)
    labels = np.zeros(f.n, np.int32)
    passing = CONTESTANTS.Passing(f, labels, f.evaluate(labels), HARD.ContestantParameters())
    passing.run(Stopping(), None)
    assert calls == [0, CONTESTANTS.WINDOW] and passing.done and passing.bound > trivial_bound(f)


def test_branch_and_bound_of_many_variables_needs_a_limit():
    """A first dive through a grid of 200 x 200 took half a minute, three times."""
    parameters = HARD.ContestantParameters()
    assert HARD.Branching.suits(frustrated(60), parameters)
    large = frustrated(120)
    assert not HARD.Branching.suits(large, parameters)
    for stopping, begins in ((Stopping(), False), (Stopping(time_limit=60), True)):
        labels, rng = np.zeros(large.n, np.int32), np.random.default_rng(0)
        hard = HARD.HardComponent(large, labels, stopping, rng, lambda *_: None)
        assert hard._too_large is not begins


def test_the_first_labeling_is_improved_at_last_if_nothing_else_has_time(monkeypatch):
    monkeypatch.setattr(HARD, "SOON", 0.0)
    rng = np.random.default_rng(4)
    pairs = np.unique(np.sort(rng.integers(0, 300, (900, 2)), axis=1), axis=0)
    f = gp.crf.potts(pairs[pairs[:, 0] < pairs[:, 1]], unary=rng.normal(size=(300, 5)), weight=0.5)
    labels, stopping = np.zeros(f.n, np.int32), Stopping(time_limit=60)
    slow = HARD.ContestantParameters(entry=1e3, proof=0.0, moved=1e3, affordable=0.0)
    hard = HARD.HardComponent(f, labels, stopping, rng, lambda *_: None, slow)
    assert hard.cost == f.evaluate_labels(labels)
    hard.run(stopping)
    assert sum(hard.race.spent().values()) < 1
    assert hard.cost == f.evaluate_labels(hard.labels) == icm(f, labels, order="sweep").cost


def test_counting_the_labelings_of_many_variables_takes_no_time():
    n = 10**6
    f = gp.FactorGraph.from_arrays(np.full(n, 3), [(np.array([[0, 1], [1, 2], [0, 2]]), np.zeros((3, 3, 3)))])
    began = time.process_time()
    with pytest.raises(gp.InvalidProblem, match="more than 1e308 labelings"):
        brute_force(f)
    assert auto(f).cost == 0.0
    assert time.process_time() - began < 5


def test_only_certified_bounds_prove_what_a_race_has_found():
    """A bound of message passing that holds up to rounding proves nothing, whoever found the labels that it meets."""
    f = frustrated(5)
    hard = HARD.HardComponent(f, np.zeros(f.n, np.int32), Stopping(), np.random.default_rng(0), lambda *_: None)
    hard.race.bound, hard.race.prover, hard.passing.bound = hard.cost, "search", hard.cost
    assert hard.race.proven and not hard.proven
    hard.searching.certified = hard.cost
    assert hard.proven
    hard.searching.certified, hard.branching.done = -np.inf, True
    assert hard.proven


@pytest.mark.parametrize("fails", [True, False])
def test_what_runs_in_other_threads_is_ended_on_every_way_out(monkeypatch, fails):
    begun, closed = [], []

    class Watched(HARD.HardComponent):
        def run(self, stopping):
            begun.append(self)
            if fails:
                raise KeyError("mine")
            return super().run(stopping)

        def close(self):
            closed.append(self)
            super().close()

    monkeypatch.setattr(AUTO, "HardComponent", Watched)
    rng = np.random.default_rng(1)
    pairs = np.stack(np.triu_indices(80, 1), 1)[rng.random(80 * 79 // 2) < 0.3]
    f = gp.FactorGraph.from_arrays([4] * 80, [(pairs, rng.normal(size=(len(pairs), 4, 4)))])
    if fails:
        with pytest.raises(KeyError, match="mine"):
            auto(f, time_limit=0.5)
    else:
        auto(f, time_limit=0.5)
    assert begun and set(begun) <= set(closed)
