"""The integer program against brute force; its statuses, bounds and options."""

import math
import signal
from importlib import import_module

import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from strategies import is_close, partitions, wide
from trials import trials

import graphpart as gp
from graphpart.partition import ilp

WAYS = [(formulation, solver) for formulation in ("cutting-plane", "full") for solver in ("cbc", "highs")]


def hard(n=40, seed=3):
    """Costs -1 and 1 at random: the relaxation is far from the optimum."""
    rng = np.random.default_rng(seed)
    C = np.triu(rng.choice([-1.0, 1.0], (n, n)), 1)
    return gp.SetPartition.from_matrix(C + C.T)


def planted(n, subsets, sigma, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, subsets, n)
    C = np.triu(np.where(labels[:, None] == labels, -1.0, 1.0) + sigma * rng.normal(size=(n, n)), 1)
    return gp.SetPartition.from_matrix(C + C.T)


@pytest.mark.parametrize(("formulation", "solver"), WAYS)
def test_proves_the_optimum(formulation, solver):
    # The start is bad, so local search does not always hide what the program finds.
    @given(partitions(min_n=3, max_n=8))
    @settings(max_examples=trials(60))
    def run(p):
        best = gp.partition.brute_force(p)
        r = ilp(p, formulation=formulation, solver=solver, initial=p._must_join_classes())
        assert r.status == gp.Status.OPTIMAL, r.message
        assert is_close(r.cost, best.cost, p) and r.lower_bound == r.cost and r.gap == 0

    run()


def without_local_search(monkeypatch):
    """Replace local search by nothing: then the optimum comes from the program alone."""
    import importlib

    module = importlib.import_module("graphpart.partition.exact_solvers.ilp")

    monkeypatch.setattr(module, "joined", lambda p, stopping: p._must_join_classes())
    monkeypatch.setattr(module, "join", lambda p, labels, stopping: labels)
    monkeypatch.setattr(module, "fixed_point", lambda p, labels, kernel, stopping: labels)


@pytest.mark.parametrize(("formulation", "solver"), WAYS)
def test_proves_the_optimum_without_help_from_local_search(formulation, solver, monkeypatch):
    without_local_search(monkeypatch)

    @given(partitions(min_n=3, max_n=8, density=1.0))
    @settings(max_examples=trials(40))
    def run(p):
        r = ilp(p, formulation=formulation, solver=solver)
        assert r.status == gp.Status.OPTIMAL and is_close(r.cost, gp.partition.brute_force(p).cost, p), r.message

    run()


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_both_formulations_agree_beyond_brute_force(solver, monkeypatch):
    without_local_search(monkeypatch)
    for seed in range(2):
        p = planted(16, 3, 1.0, seed)
        costs = {ilp(p, formulation=formulation, solver=solver).cost for formulation in ("full", "cutting-plane")}
        assert max(costs) - min(costs) < 1e-9


@given(partitions(min_n=3, max_n=6, kinds=("huge", "tiny"), density=1.0))
@settings(max_examples=15)
def test_huge_and_tiny_costs(p):
    r = ilp(p, initial=p._must_join_classes())
    assert r.status == gp.Status.OPTIMAL and is_close(r.cost, gp.partition.brute_force(p).cost, p)


def test_sparse_components_get_variables_for_stored_pairs_only():
    n = 300
    rng = np.random.default_rng(1)
    ring = [(a, (a + 1) % n) for a in range(n)] + [(a, (a + 7) % n) for a in range(n)]
    p = gp.SetPartition.from_pairs(n, ring, rng.integers(-4, 4, 2 * n) * 1.0)
    r = ilp(p, solver="highs")
    assert r.status == gp.Status.OPTIMAL
    assert r.info["inequalities"] < 3 * n  # the complete program has 44850 pairs and 13365300 inequalities


@pytest.mark.parametrize(("formulation", "solver"), WAYS)
def test_costs_of_many_magnitudes(formulation, solver, monkeypatch):
    monkeypatch.setattr(
        import_module("graphpart.partition.exact_solvers.ilp"), "fixed_point", lambda p, labels, *_: labels
    )
    rng, optimal = np.random.default_rng(31), 0
    for k in range(16):
        n = int(rng.integers(5, 9))
        C = np.triu(wide(rng, (n, n), decades=(8, 12)[k % 2], penalties=k % 4 < 2), 1)
        p = gp.SetPartition.from_matrix(C + C.T)
        best = gp.partition.brute_force(p).cost
        r = ilp(p, formulation=formulation, solver=solver, initial=np.arange(n))
        assert r.lower_bound <= best + 1e-7 * abs(best)
        if r.status == gp.Status.OPTIMAL:
            assert r.cost == pytest.approx(best, rel=1e-7)
            optimal += 1
        else:
            assert r.status == gp.Status.FEASIBLE and "costs differ by more than it tells apart" in r.message
    assert optimal >= 12


def test_components_are_solved_apart():
    triangle = [(0, 1), (1, 2), (0, 2)]
    pairs = [(a + 3 * k, b + 3 * k) for k in range(4) for a, b in triangle]
    r = ilp(gp.SetPartition.from_pairs(13, pairs, [-2.0, -2.0, 3.0] * 4))
    assert r.info["components"] == 4 and r.cost == -8.0 and r.status == gp.Status.OPTIMAL


def test_a_problem_without_costs_needs_no_solver():
    r = ilp(gp.SetPartition.from_pairs(5, [], []))
    assert r.status == gp.Status.OPTIMAL and r.lower_bound == r.cost == 0 and r.iterations == 0


@pytest.mark.parametrize(("formulation", "solver"), WAYS)
def test_time_limit(formulation, solver):
    p = hard()
    local = gp.partition.kernighan_lin(p)
    r = ilp(p, formulation=formulation, solver=solver, time_limit=0.5)
    assert r.status == gp.Status.TIME_LIMIT and "time limit" in r.message
    assert r.cost <= local.cost and r.lower_bound < r.cost and 0 < r.gap < math.inf


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_bound_at_the_time_limit_is_below_the_optimum_and_above_the_trivial_one(solver):
    p = planted(30, 3, 2.5, seed=2)
    r = ilp(p, solver=solver, time_limit=2.5)
    best = gp.partition.kernighan_lin(p).cost
    assert r.lower_bound <= best
    assert r.lower_bound > np.minimum(p.pairs()[2], 0).sum()


def test_the_first_component_may_use_up_the_time():
    p, q = hard(), hard(12)
    n = p.n + q.n
    C = np.zeros((n, n))
    C[: p.n, : p.n], C[p.n :, p.n :] = p.matrix, q.matrix
    r = ilp(gp.SetPartition.from_matrix(C), time_limit=0.5)
    optimum = gp.partition.brute_force(q).cost
    assert r.status == gp.Status.TIME_LIMIT and r.lower_bound < r.cost
    assert gp.SetPartition.from_matrix(C[p.n :, p.n :]).evaluate(r.labels[p.n :]) == optimum


def test_no_time_at_all():
    r = ilp(hard(), time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT and math.isfinite(r.cost) and math.isfinite(r.lower_bound)


@pytest.mark.parametrize("together", [[], [(0, 4)]])
def test_no_time_at_all_where_single_elements_are_too_many_clusters(together):
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (2, 3), (0, 4)], [2.0, -1.0, 3.0, 1.0], n_clusters=(1, 3))
    p = p.require(together=together)
    best = gp.partition.brute_force(p).cost
    r = ilp(p, time_limit=0, initial=[{0, 4, 1}, {2}, {3}])
    assert r.lower_bound <= best <= r.cost < math.inf
    assert ilp(p).cost == best


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_the_callback_stops_it(solver):
    seen = []
    r = ilp(hard(), solver=solver, callback=lambda seconds, cost: seen.append(cost) or seconds > 0.3)
    assert r.status == gp.Status.INTERRUPTED
    assert min(seen) >= r.cost and r.lower_bound <= r.cost


def test_an_error_in_the_callback_is_raised():
    def fail(seconds, cost):
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        ilp(hard(), callback=fail)


@pytest.mark.parametrize("solver", ["cbc", "highs"])
def test_ctrl_c_returns_the_best_so_far(solver, ctrl_c):
    import graphpart.milp.solvers  # noqa: F401, PuLP swallows Ctrl-C while it is imported

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        r = ilp(hard(), solver=solver, callback=ctrl_c)
    finally:
        signal.signal(signal.SIGINT, handler)
    assert r.status == gp.Status.INTERRUPTED and r.lower_bound <= r.cost < 0


@pytest.mark.parametrize(
    "solver", ["cbc", "highs", pulp.HiGHS(msg=False), pulp.COIN_CMD(path=pulp.PULP_CBC_CMD.pulp_cbc_path, msg=False)]
)
def test_silent(solver, capfd):
    r = ilp(planted(14, 3, 1.5, seed=4), solver=solver, initial=np.zeros(14, int))
    assert r.status == gp.Status.OPTIMAL
    assert capfd.readouterr() == ("", "")


def test_solver_options():
    p = planted(12, 2, 1.0)
    assert ilp(p, solver="highs", solver_options={"threads": 1}).status == gp.Status.OPTIMAL
    assert ilp(p, solver="cbc", solver_options={"threads": 1, "options": ["cuts off"]}).status == gp.Status.OPTIMAL


def test_a_gap_asked_for_is_not_called_optimal():
    p = planted(30, 3, 2.5, seed=2)
    r = ilp(p, solver="highs", solver_options={"gapRel": 0.9})
    assert r.status == gp.Status.FEASIBLE and r.lower_bound < r.cost and "limit of its own" in r.message


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"formulation": "magic"}, gp.InvalidOption, "formulation is 'magic': expected one of cutting-plane, full"),
        ({"solver": "magic"}, gp.InvalidOption, "solver is 'magic'"),
        ({"solver": None}, gp.InvalidOption, "solver is None"),
        ({"solver_options": {"magic": 1}}, gp.InvalidOption, "magic"),
        ({"time_limit": -1}, gp.InvalidOption, "time_limit is -1"),
        ({"callback": 3}, gp.InvalidOption, "callback is 3"),
        ({"initial": [0]}, gp.InvalidPartition, "shape"),
    ],
)
def test_wrong_options(options, error, message):
    with pytest.raises(error, match=message):
        ilp(planted(5, 2, 1.0), **options)


def test_full_formulation_has_a_largest_size():
    p = planted(61, 3, 1.0)
    with pytest.raises(
        gp.InvalidProblem, match="61 elements: the full formulation takes at most 60; use cutting-plane"
    ):
        ilp(p, formulation="full")


def test_signed_networks(shared_instances):
    for name, disagreements in (("highlandtribes", 2), ("cloister", 25), ("congress", 18)):
        rows = np.genfromtxt(shared_instances / "signed" / f"{name}.csv", delimiter=",", encoding="utf-8-sig").astype(
            int
        )
        ids, pairs = np.unique(rows[:, :2], return_inverse=True)
        first = np.unique(np.sort(pairs.reshape(-1, 2), axis=1), axis=0, return_index=True)[1]
        p = gp.SetPartition.from_pairs(len(ids), pairs.reshape(-1, 2)[first], -rows[first, 2].astype(float))
        r = ilp(p)
        assert r.status == gp.Status.OPTIMAL
        assert r.cost + (rows[first, 2] > 0).sum() == disagreements


def test_cluster_editing_of_the_pace_challenge(shared_instances):
    for name, edits in (("exact001", 3), ("exact003", 42), ("exact005", 46), ("exact011", 81)):
        lines = (shared_instances / "pace" / f"{name}.gr").read_text().splitlines()
        n, m = (int(x) for x in lines[0].split()[2:])
        edges = np.array([line.split() for line in lines[1:]], int) - 1
        C = 1.0 - np.eye(n)
        C[edges[:, 0], edges[:, 1]] = C[edges[:, 1], edges[:, 0]] = -1.0
        for solver in ("cbc", "highs"):
            r = ilp(gp.SetPartition.from_matrix(C), solver=solver)
            assert r.status == gp.Status.OPTIMAL and r.cost + m == edits
