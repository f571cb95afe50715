"""Branch and bound against enumeration: optima, bounds at any time, forbidden entries, ties, huge and tiny costs."""

import logging
import math
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from reference_crf import all_energies
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.branch_and_bound import proving, shrinking, solver
from graphpart.crf.branch_and_bound.cliques import with_cliques
from graphpart.crf.branch_and_bound.flat import Flat
from graphpart.crf.branch_and_bound.solver import BranchAndBound, Units
from graphpart.crf.problem.derive import merge
from graphpart.crf.problem.labeling import trivial_bound
from graphpart.stopping import Stopping


def scale_of(f):
    return float(np.abs(f.tables[np.isfinite(f.tables)]).sum()) + abs(f.constant) + 1.0


def sparse_graph(rng, n, domain, forbidden=0.0, whole=True):
    """A tree and some more pairs and triples: where variables have few neighbours, they are eliminated."""
    scopes = [(int(rng.integers(i)), i) for i in range(1, n)]
    for _ in range(int(rng.integers(0, n))):
        scopes.append(tuple(rng.choice(n, int(rng.integers(2, 4)), replace=False).tolist()))
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(i, domain)
        f.add_factor((i,), rng.integers(0, 9, domain) if whole else rng.random(domain))
    for scope in scopes:
        shape = (domain,) * len(scope)
        table = rng.integers(0, 9, shape).astype(float) if whole else rng.random(shape)
        table[rng.random(shape) < forbidden] = np.inf
        f.add_factor(scope, table)
    return f


def hard_graph(seed=0, n=60, labels=6):
    """Random pairs, far from solved in a second."""
    rng = np.random.default_rng(seed)
    pairs = np.array([(i, j) for j in range(n) for i in range(j) if rng.random() < 0.4])
    return gp.FactorGraph.from_arrays([labels] * n, [(pairs, rng.random((len(pairs), labels, labels)))])


def check_tree(f, rng, passes=3):
    """Searched in slices of a few nodes: the bound is one at any time, and meets the optimum in the end."""
    best = float(all_energies(f).min())
    close = 2.0**-36 * scale_of(f)
    try:
        tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping(max_iterations=int(rng.integers(0, passes))))
        for _ in range(10_000):
            done = tree.run(Stopping(), int(rng.integers(0, 4)))
            assert tree.bound <= best + close and tree.cost >= best - close
            assert tree.cost == f.evaluate(tree.labels)
            if done:
                break
    except gp.InfeasibleProblem:
        assert best == math.inf
        return
    assert tree.proven and abs(tree.cost - best) <= close
    assert best - close <= tree.bound


@pytest.mark.parametrize("eliminate", [True, False])
@pytest.mark.parametrize("arity", [1, 2, 3, 4])
def test_random_graphs(arity, eliminate, monkeypatch):
    if not eliminate:  # all is left to the search
        monkeypatch.setattr(shrinking, "OPERATIONS", -1)
    for seed in range(trials(220)):
        rng = np.random.default_rng([arity, seed])
        options = {"max_domain": int(rng.integers(1, 6)), "forbidden": float(rng.choice([0.0, 0.0, 0.1, 0.4]))}
        check_tree(random_factor_graph(rng, max_arity=arity, whole=bool(seed % 2), **options), rng)


@pytest.mark.parametrize("eliminate", [True, False])
def test_sparse_graphs(eliminate, monkeypatch):
    if not eliminate:
        monkeypatch.setattr(shrinking, "OPERATIONS", -1)
    for seed in range(trials(120)):
        rng = np.random.default_rng(seed)
        n, domain = [(11, 2), (8, 3), (6, 4)][seed % 3]
        check_tree(sparse_graph(rng, n, domain, float(rng.choice([0.0, 0.2])), bool(seed % 4)), rng)


@given(factor_graphs(max_arity=4))
def test_any_graph(f):
    check_tree(f, np.random.default_rng(0))


def test_the_relaxation_changes_no_optimum(monkeypatch):
    monkeypatch.setattr(solver, "LATER", 1)
    monkeypatch.setattr(shrinking, "OPERATIONS", -1)
    relaxed = 0
    for seed in range(25):
        rng = np.random.default_rng(seed)
        f = sparse_graph(rng, 7, 3, 0.2)
        best = float(all_energies(f).min())
        try:
            tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping(max_iterations=0))
            while not tree.run(Stopping(), 1):
                assert tree.bound <= best + 1e-9
        except gp.InfeasibleProblem:
            assert best == math.inf
            continue
        relaxed += tree._relaxed
        assert tree.cost == best == tree.bound
    assert relaxed >= 5


def test_triplets_change_no_optimum(monkeypatch):
    """Pairs in both orders of their variables, some entries forbidden, and a search that always takes the triplets."""
    monkeypatch.setattr(solver, "LATER", 1)
    monkeypatch.setattr(solver, "RELAXED", 0)
    monkeypatch.setattr(solver, "WORTH", -1e9)
    monkeypatch.setattr(shrinking, "OPERATIONS", -1)
    taken = []
    original = Flat.with_triplets

    def seen(self, *arguments):
        taken.append(original(self, *arguments))
        for _ in range(20):
            labels = rng.integers(0, self.domains, dtype=np.int32)
            assert (value := self.value(labels)) == taken[-1].value(labels) or value >= shrinking.FORBIDDEN
        return taken[-1]

    monkeypatch.setattr(Flat, "with_triplets", seen)
    for seed in range(150):
        rng = np.random.default_rng(seed)
        n, labels = [(7, 2), (6, 3), (5, 4)][seed % 3]
        pairs = [(i, j) if rng.random() < 0.5 else (j, i) for i in range(n) for j in range(i) if rng.random() < 0.8]
        shape = (len(pairs), labels, labels)
        tables = rng.integers(0, 9, shape).astype(float) if seed % 2 else rng.random(shape)
        tables[rng.random(shape) < [0.0, 0.0, 0.0, 0.15][seed % 4]] = np.inf
        unary = (np.arange(n)[:, None], rng.integers(0, 5, (n, labels)))
        check_tree(gp.FactorGraph.from_arrays([labels] * n, [unary, (np.array(pairs), tables)]), rng)
    assert len(taken) >= 8


def test_exact_on_components_and_all_kinds():
    infeasible = 0
    for seed in range(150):
        rng = np.random.default_rng(seed)
        f = random_factor_graph(rng, n=int(rng.integers(0, 8)), max_domain=3, max_arity=4, whole=seed % 2 == 0,
                                forbidden=float(rng.choice([0.0, 0.3])))  # fmt: skip
        best = float(all_energies(f).min())
        try:
            r = gp.crf.exact(f)
        except gp.InfeasibleProblem:
            infeasible += 1
            assert best == math.inf
            continue
        assert r.status == "optimal" and abs(r.cost - best) <= 2.0**-36 * scale_of(f)
        assert r.lower_bound == r.cost == f.evaluate(r.labels)
    assert infeasible >= 3


def test_against_the_integer_program():
    for seed in range(6):
        f = hard_graph(seed, n=9, labels=4)
        assert gp.crf.exact(f).cost == pytest.approx(gp.crf.ilp(f).cost, abs=1e-6)


@pytest.mark.parametrize("unit", [1e-300, 1e-30, 1.0, 1e30, 1e290])
def test_huge_and_tiny_costs(unit):
    rng = np.random.default_rng(3)
    f = hard_graph(3, n=8, labels=3)
    g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables * unit)
    r = gp.crf.exact(g)
    best = all_energies(g).min()
    assert r.status == "optimal" and r.cost <= best + 2.0**-36 * unit * scale_of(f)
    check_tree(
        gp.FactorGraph.from_arrays([3] * 4, [([[0, 1], [1, 2], [2, 3], [3, 0]], unit * np.zeros((4, 3, 3)))]), rng
    )


def test_degenerate():
    assert gp.crf.exact(gp.FactorGraph()).cost == 0.0
    one = gp.FactorGraph.from_arrays([3], [([[0]], [[2.0, 1.0, 1.0]])], constant=0.5)
    assert gp.crf.exact(one).cost == 1.5
    single = gp.FactorGraph.from_arrays([1, 1, 1], [([[0, 1, 2]], [[[[4.0]]]]), ([[0, 1]], [[[2.0]]])])
    assert gp.crf.exact(single).cost == 6.0
    unused = gp.FactorGraph.from_arrays([2, 5, 2], [([[0, 2]], [[[3.0, 1.0], [2.0, 4.0]]])])
    r = gp.crf.exact(unused)
    assert (r.cost, str(r.status)) == (1.0, "optimal")
    twice = gp.FactorGraph.from_arrays(
        [2, 2], [([[0, 1], [1, 0]], [[[0.0, 5.0], [1.0, 9.0]], [[7.0, 0.0], [1.0, 0.0]]])]
    )
    assert gp.crf.exact(twice).cost == float(all_energies(twice).min())


def test_what_is_forbidden():
    none = gp.FactorGraph.from_arrays(
        [2, 2, 2], [([[0, 1], [1, 2], [0, 2]], np.where(np.eye(2), np.inf, 0.0)[None].repeat(3, 0))]
    )
    with pytest.raises(gp.InfeasibleProblem, match="every labeling is forbidden"):
        gp.crf.exact(none)
    with pytest.raises(gp.InfeasibleProblem):
        BranchAndBound(none, np.zeros(3, np.int32), Stopping()).run(Stopping())
    # The only colouring of a chain of triangles, from a start that is forbidden.
    n = 24
    pairs = np.array([(i, i + k) for i in range(n) for k in (1, 2) if i + k < n])
    f = gp.FactorGraph.from_arrays([3] * n, [(pairs, np.where(np.eye(3), np.inf, 0.0)[None].repeat(len(pairs), 0))])
    tree = BranchAndBound(f, np.zeros(n, np.int32), Stopping(max_iterations=0))
    assert tree.run(Stopping()) and tree.cost == 0.0


def test_forbidden_entries_stay_forbidden_beside_negative_costs():
    """Also where tables are added up: an entry that is large instead makes sums overflow, and labelings lost."""
    domains = [2, 3, 2, 3, 2, 3, 2, 3]
    for seed in range(trials(60)):
        rng = np.random.default_rng(seed)
        scopes = [(i, j) for j in range(8) for i in range(j) if rng.random() < 0.6]
        scopes += [tuple(rng.choice(8, int(rng.integers(3, 5)), replace=False).tolist()) for _ in range(8)]
        f = gp.FactorGraph()
        for i, labels in enumerate(domains):
            f.add_variable(i, labels)
            f.add_factor((i,), rng.integers(-5, 1, labels))
        for scope in scopes:
            shape = [domains[v] for v in scope]
            f.add_factor(scope, np.where(rng.random(shape) < 0.2, np.inf, rng.integers(-5, 6, shape)))
        g = merge(f)
        small = shrinking.shrunk(g, Units(g).whole(g.tables), Stopping())
        assert np.abs(small.problem.tables[np.isfinite(small.problem.tables)]).max(initial=0) < 2.0**45
        check_tree(f, rng)


def test_labels_that_exclude_each_other_get_a_variable(monkeypatch):
    monkeypatch.setattr(solver, "LATER", 1)  # the relaxation as well
    monkeypatch.setattr(shrinking, "OPERATIONS", -1)
    for seed in range(60):
        n = 7
        rng = np.random.default_rng(seed)
        f = gp.FactorGraph()
        for i in range(n):
            f.add_variable(i, 2)
            f.add_factor((i,), [float(rng.integers(1, 9)), 0.0])
        for i in range(n):
            for j in range(i):
                if rng.random() < 0.7:
                    f.add_factor((i, j), [[0.0, float(rng.random() < 0.1)], [0.0, np.inf]])
        f = merge(f)
        found = with_cliques(f, Stopping())
        if found is None:
            continue
        p, energies = found.problem, all_energies(f)
        for at in np.ndindex(energies.shape):
            labels = np.array(at, np.int32)
            assert p.evaluate(found.extend(labels)) == energies[at]
        if p.n <= 10:
            assert all_energies(p).min() == energies.min()
        check_tree(f, rng)
    # With them, consistency alone proves what pairs alone do not show.
    pairs = np.array([(i, j) for j in range(20) for i in range(j)])
    table = np.array([[0.0, 0.0], [0.0, np.inf]])
    f = gp.FactorGraph.from_arrays(
        [2] * 20, [(np.arange(20)[:, None], np.array([[3.0, 0.0]] * 20)), (pairs, table[None].repeat(len(pairs), 0))]
    )
    tree = BranchAndBound(f, np.zeros(20, np.int32), Stopping())
    assert tree.run(Stopping(), 2) and tree.cost == tree.bound == 57.0


def test_whole_numbers():
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.1, 0.25], [np.inf, -7.3]]])])
    units = Units(f)
    whole = units.whole(f.tables)
    for entry, units_of in zip(f.tables, whole.tolist(), strict=True):
        if math.isinf(entry):
            assert units_of >= shrinking.FORBIDDEN
        else:
            assert entry - 2.0**-40 <= units.bound(units_of) <= entry
    steps = Units(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[1.5, 3.0], [-4.5, 0.0]]])]))
    assert steps.step == 1.5 and steps.bound(steps.parts + 1) == 3.0 and steps.bound(-1) == 0.0


def test_an_offered_labeling_is_taken():
    f = hard_graph(1)
    tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping(max_iterations=1))
    tree.run(Stopping(), 50)
    better = gp.crf.icm(f, restarts=200, seed=1)
    before = tree.cost
    tree.offer(better.labels)
    assert tree.cost == min(before, better.cost)
    tree.run(Stopping(), 50)
    assert tree.cost <= better.cost and tree.bound <= tree.cost


def test_stopped_at_the_root():
    """Consistency of the root goes on where it was stopped."""
    stops = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        f = sparse_graph(rng, 8, 3, 0.1)
        best = float(all_energies(f).min())
        try:
            tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping(max_iterations=0))
            while True:
                stopping = Stopping()
                stopping.stop(gp.Status.TIME_LIMIT)
                before = tree.nodes
                tree.run(stopping)
                stops += tree.nodes == before
                assert tree.bound <= best + 1e-9
                if tree.run(Stopping(), 1):
                    break
        except gp.InfeasibleProblem:
            assert best == math.inf
            continue
        assert tree.cost == best == tree.bound or not float(best).is_integer()
        assert tree.cost == pytest.approx(best)
    assert stops > 20


def test_the_result_tells_how_it_ended():
    f = hard_graph()
    stopped = gp.crf.exact(f, max_iterations=300)
    assert stopped.status == "iteration_limit" and 300 <= stopped.iterations < 400
    again = gp.crf.exact(f, max_iterations=300)
    apart = {"seconds": 0, "history": (), "bounds": (), "info": {}}
    assert replace(again, labels=stopped.labels, **apart) == replace(stopped, **apart)
    assert (again.labels == stopped.labels).all()
    assert stopped.lower_bound < stopped.cost and stopped.info["open"] > 0
    assert gp.crf.exact(f, target=stopped.cost).status == "target"
    assert gp.crf.exact(f, initial=stopped, max_iterations=0).cost <= stopped.cost
    times, bounds = zip(*stopped.bounds, strict=True)
    assert list(bounds) == sorted(bounds) and list(times) == sorted(times)
    with pytest.raises(gp.InvalidOption):
        gp.crf.exact(f, max_iterations=-1)


def test_limits_and_interrupts(caplog, ctrl_c):
    f = hard_graph(n=80)
    assert gp.crf.exact(f, time_limit=0.3).status == "time_limit"
    calls = []
    r = gp.crf.exact(f, callback=lambda seconds, cost: calls.append(cost) or len(calls) > 10)
    assert r.status == "interrupted" and min(calls) >= r.cost - 1e-9
    r = gp.crf.exact(f, callback=ctrl_c)
    assert r.status == "interrupted" and r.cost < math.inf
    with caplog.at_level(logging.INFO, "graphpart.crf.exact"):
        gp.crf.exact(f, time_limit=1.3)
    assert any("lower bound" in line for line in caplog.messages)


def test_a_torus_of_spins():
    """What pairs alone leave open, triplets close."""
    rng = np.random.default_rng(2)
    side = 9
    at = np.arange(side * side).reshape(side, side)
    pairs = np.concatenate([np.stack([at, np.roll(at, 1, axis)], 2).reshape(-1, 2) for axis in (0, 1)])
    tables = rng.normal(0, 1, len(pairs))[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    unary = rng.normal(0, 0.1, (side * side, 2))
    f = gp.FactorGraph.from_arrays([2] * side**2, [(at.reshape(-1, 1), unary), (pairs, tables)])
    tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping())
    assert tree.run(Stopping(20))
    assert tree.cost == pytest.approx(gp.crf.elimination(f, memory_limit="2GB").cost)


def test_real_instances(shared_instances):
    for name, cost in (("wcsp/celar6sub0.wcsp.gz", 159), ("wcsp/cap131.wcsp", 7934385), ("wcsp/404.wcsp", 114)):
        r = gp.crf.exact(gp.read(shared_instances / name))
        assert (r.cost, str(r.status)) == (cost, "optimal")


def test_the_bound_with_the_constant_is_rounded_down():
    """The sum of constant and bound is no larger than in exact arithmetic."""
    rng, lower = np.random.default_rng(4), 0
    for _ in range(60):
        f = sparse_graph(rng, 8, 3, whole=False)
        f.constant = float(rng.choice([0.1, -0.3, 1e3])) * rng.random()
        tree = BranchAndBound(f, np.zeros(f.n, np.int32), Stopping())
        tree.search, tree._relaxed, tree.cost = SimpleNamespace(run=lambda *_: False, bound=5, nodes=0), True, math.inf
        units = int(rng.integers(1, 2**40))
        tree.search.bound = units - tree._small.constant
        tree.bound = -math.inf
        tree.run(Stopping())
        exact = Fraction(f.constant) + Fraction(tree.units.bound(units))
        assert Fraction(tree.bound) <= exact < Fraction(math.nextafter(tree.bound, math.inf))
        lower += tree.bound < f.constant + tree.units.bound(units)
    assert lower


def test_the_cost_of_a_complete_search_is_no_bound(monkeypatch):
    """What the searches of components prove may be less by rounding, and is what adds up."""
    monkeypatch.setattr(proving._Run, "_eliminate", lambda *_: False)
    rng, less = np.random.default_rng(6), 0
    for _ in range(10):
        f = sparse_graph(rng, 7, 3, whole=False)
        run = proving._Run(f, np.zeros(f.n, np.int32), math.inf, Stopping())
        run.solve()
        assert run.proven
        for part in run.parts:
            assert part.search is None or part.bound <= max(part.search.tree.bound, trivial_bound(part.f))
            less += part.search is not None and part.bound < part.cost
    assert less


def test_an_unfinished_elimination_takes_no_better_labels_away(monkeypatch):
    f = sparse_graph(np.random.default_rng(8), 7, 3)
    best = gp.crf.brute_force(f)
    worst = SimpleNamespace(labels=(best.labels + 1) % 3, proven=False, bound=-math.inf)
    monkeypatch.setattr(proving, "eliminated_soon", lambda *_: worst)
    run = proving._Run(f, best.labels, best.cost, Stopping())
    part = proving._Part(np.arange(f.n), f, best.labels)
    assert not run._eliminate(part)
    assert part.cost == best.cost and part.labels.tolist() == best.labels.tolist()
    assert part.bound == trivial_bound(f)


def test_a_turn_takes_no_better_labels_away():
    """Branch and bound is told of the best labels, and its own are taken only if they are better."""
    f = sparse_graph(np.random.default_rng(8), 7, 3)
    best, offered = gp.crf.brute_force(f), []
    part = proving._Part(np.arange(f.n), f, best.labels)
    worse = {"labels": (best.labels + 1) % 3, "cost": best.cost + 1.0, "certified": -math.inf}
    part.cutting = SimpleNamespace(done=True)
    part.search = SimpleNamespace(
        **worse, done=False, needs=0, tree=None, offer=lambda _, cost: offered.append(cost), run=lambda *_: None
    )
    run = proving._Run(f, best.labels.copy(), best.cost, Stopping())
    run.parts = [part]
    run._turn(part, Stopping())
    assert offered == [best.cost] == [part.cost] == [run.cost] and part.labels.tolist() == best.labels.tolist()


def test_labelings_of_the_search_of_quadratic_forms(monkeypatch):
    """They are those of `exact` long before the bound of branch and cut meets their cost."""
    f = gp.generate.spin_glass(16, 2, "signs", seed=1).problem
    best = gp.crf.exact(f).cost
    monkeypatch.setattr(proving, "WORK", 80)
    part = proving._Part(np.arange(f.n), f, np.zeros(f.n, np.int32))
    run = proving._Run(f, part.labels, part.cost, Stopping())
    run.parts = [part]
    for _ in range(3):
        run._turn(part, Stopping())
    assert not part.proven and part.cost <= best + 0.01 * abs(best)
    assert part.form_search.cost == part.cost == f.evaluate_labels(part.labels)
