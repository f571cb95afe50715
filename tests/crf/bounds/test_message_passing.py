"""Sequential reweighted message passing: a naive reference, soundness against enumeration, trees, structured tables."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_crf import all_energies
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.bounds import passes as passes_module
from graphpart.crf.bounds.lower_bound import BOUNDS, lower_bound
from graphpart.crf.bounds.message_passing import Ascent, message_passing
from graphpart.crf.bounds.passes import Passes
from graphpart.generate.factor_grid import grid_pairs
from graphpart.stopping import Stopping


def scale_of(f):
    return float(np.abs(f.tables[np.isfinite(f.tables)]).sum()) + abs(f.constant) + 1.0


def naive_bounds(f, iterations):
    """The bound after each pass, by dense arrays: collect from all factors, send shares to those that reach ahead."""
    unary = [np.zeros(d) for d in f.domains.tolist()]
    factors = []
    for g in range(f.m):
        scope, table = f.factor(g)
        if len(scope) == 1:
            unary[scope[0]] = unary[scope[0]] + table
        else:
            factors.append((scope, table, {v: np.zeros(f.domains[v]) for v in scope}))
    bounds = []
    for k in range(2 * iterations):
        forward = k % 2 == 0
        bound = f.constant
        for v in range(f.n) if forward else range(f.n - 1, -1, -1):
            mine = [(scope, table, sent) for scope, table, sent in factors if v in scope]
            last, first = (max, min) if forward else (min, max)
            for scope, table, sent in mine:
                if v == first(scope):
                    continue
                rest = table.copy()
                for place, u in enumerate(scope):
                    if u != v:
                        rest = rest - sent[u].reshape([-1 if i == place else 1 for i in range(len(scope))])
                sent[v] = rest.min(axis=tuple(i for i, u in enumerate(scope) if u != v))
            belief = unary[v] + sum(sent[v] for _, _, sent in mine)
            bound += belief.min()
            belief = belief - belief.min()
            ahead = [sent for scope, _, sent in mine if v != last(scope)]
            behind = [sent for scope, _, sent in mine if v != first(scope)]
            for sent in ahead:
                sent[v] = sent[v] - belief / max(len(ahead), len(behind))
        bounds.append(bound)
    return bounds


def bounds_of(f, iterations):
    passes, bounds = Passes(f), []
    for k in range(2 * iterations):
        total, whole = passes.half(k % 2 == 0, np.inf, Stopping())
        assert whole
        bounds.append(total + f.constant)
    return bounds


@pytest.mark.parametrize("block", range(3))
def test_the_bounds_are_those_of_the_reference(block):
    rng = np.random.default_rng(block)
    for case in range(trials(150)):
        f = random_factor_graph(rng, max_arity=2 + block, max_domain=(3, 5, 9)[case % 3], whole=bool(case % 2))
        np.testing.assert_allclose(bounds_of(f, 4), naive_bounds(f, 4), atol=1e-9 * scale_of(f))


def structured_table(rng, kind, a, b):
    if kind == "general":
        return rng.standard_normal((a, b))
    if kind == "shared":
        return np.add.outer(np.arange(a) ** 2.0, -np.sqrt(np.arange(b)) * (1 + np.arange(b) % 2))
    x, y = np.indices((a, b))
    base, other = rng.standard_normal(2)
    if kind == "potts":
        return np.where(x == y, base, base + abs(other))
    if kind == "anti-potts":
        return np.where(x == y, base, base - abs(other))
    most = np.inf if kind == "linear" else 2.5
    return base + abs(other) * np.minimum(np.abs(x - y), most)


@pytest.mark.parametrize("kind", ["general", "shared", "potts", "anti-potts", "linear", "truncated"])
@pytest.mark.parametrize("labels", [1, 2, 3, 4, 5, 6, 7, 8, 9, 16, 17])
def test_structured_tables_give_the_bounds_of_general_ones(kind, labels):
    """Every kernel: sizes known to the compiler and not, both ways through a table, tables transposed."""
    rng = np.random.default_rng(labels)
    size = 5
    pairs = grid_pairs(size, size)
    turned = rng.random(len(pairs)) < 0.5
    pairs[turned] = pairs[turned, ::-1]
    tables = np.stack([structured_table(rng, kind, labels, labels) for _ in pairs])
    unary = 2 * rng.standard_normal((size**2, labels))
    groups = [(np.arange(size**2)[:, None], unary), (pairs, tables)]
    f = gp.FactorGraph.from_arrays(np.full(size**2, labels), groups)
    kinds = Passes(f).network.kinds
    if labels > 2 and kind in ("potts", "anti-potts"):
        assert kinds[("general", "potts", "anti-potts").index(kind)] == len(pairs)
    if labels >= 6 and kind in ("linear", "truncated"):
        assert kinds[3] == len(pairs)
    if labels > 1 and kind in ("general", "shared"):
        assert kinds[0] >= len(pairs) - (labels == 2) * len(pairs)
    np.testing.assert_allclose(bounds_of(f, 3), naive_bounds(f, 3), atol=1e-10 * scale_of(f))


def test_tables_with_one_entry_changed_are_not_taken_for_structured_ones():
    x, y = np.indices((7, 7))
    for table in ((x != y) * 1.0, np.minimum(np.abs(x - y), 3.0)):
        for at in np.ndindex(7, 7):
            changed = table.copy()
            changed[at] += 0.25
            groups = [([[0, 1]], [changed]), ([[0], [1]], np.random.default_rng(0).standard_normal((2, 7)))]
            f = gp.FactorGraph.from_arrays([7, 7], groups)
            assert Passes(f).network.kinds == (1, 0, 0, 0)
            np.testing.assert_allclose(bounds_of(f, 1)[-1], all_energies(f).min(), atol=1e-12)


@pytest.mark.parametrize("block", range(4))
def test_sound_on_many_small_problems(block):
    """Arity 1 to 4, ties, forbidden entries: bound, labeling and certificate against enumeration."""
    rng = np.random.default_rng(100 + block)
    optimal = proper = 0
    for case in range(300):
        f = random_factor_graph(
            rng,
            max_arity=(4, 2, 3)[case % 3],
            max_domain=(4, 2, 3, 8)[case % 4] if case % 3 else 3,
            forbidden=(0.0, 0.1, 0.4)[case // 3 % 3],
            whole=bool(case % 2),
        )
        energies = all_energies(f)
        try:
            r = message_passing(f, max_iterations=40)
        except gp.InfeasibleProblem:
            assert energies.min() == np.inf, case
            continue
        proper += 1
        c, scale = r.info["certificate"], scale_of(f)
        assert r.cost == f.evaluate_labels(r.labels)
        assert c.bound <= energies.min() + 1e-10 * scale, case
        assert c.verify(f), case
        if case % 4 == 0:
            assert c.verify(f, exact=True), case
        bounds = [bound for _, bound in r.bounds]
        assert all(b >= a - 1e-11 * scale for a, b in pairwise(bounds)), case
        if bounds:
            assert c.bound >= bounds[-1] - 1e-10 * scale, case
        if r.status == gp.Status.OPTIMAL:
            optimal += 1
            assert r.cost == pytest.approx(energies.min(), abs=1e-9 * scale), case
        elif energies.min() < np.inf:
            assert r.lower_bound <= energies.min() + 1e-10 * scale
    assert proper > 200 and optimal > 0.9 * proper


@pytest.mark.parametrize("forbidden", [0.0, 0.15])
def test_on_forests_the_bound_is_the_optimum_of_min_sum(forbidden):
    rng = np.random.default_rng(5)
    for case in range(trials(200)):
        f = random_factor_graph(rng, n=6, forest=True, max_arity=4, max_domain=4, forbidden=forbidden)
        try:
            best = gp.crf.min_sum(f)
        except gp.InfeasibleProblem:
            continue
        r = message_passing(f)
        assert r.status == gp.Status.OPTIMAL, case
        assert r.cost == pytest.approx(best.cost, abs=1e-12 * scale_of(f))
        assert r.info["certificate"].bound == pytest.approx(best.cost, abs=1e-11 * scale_of(f))


def test_a_chain_in_order_takes_one_iteration():
    rng = np.random.default_rng(3)
    n = 50
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    groups = [(np.arange(n)[:, None], rng.standard_normal((n, 3))), (chain, rng.standard_normal((n - 1, 3, 3)))]
    f = gp.FactorGraph.from_arrays(np.full(n, 3), groups)
    r = message_passing(f)
    assert r.iterations == 1 and r.status == gp.Status.OPTIMAL
    assert r.cost == pytest.approx(gp.crf.min_sum(f).cost)


@pytest.mark.parametrize("exponent", [-1000, -900, 900, 1000])
def test_huge_and_tiny_costs(exponent):
    rng = np.random.default_rng(2)
    for _ in range(20):
        f = random_factor_graph(rng, n=5, max_arity=3, max_domain=3, forbidden=0.1)
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, np.ldexp(f.tables, exponent))
        g.constant = np.ldexp(f.constant, exponent)
        try:
            r, s = message_passing(f, max_iterations=20), message_passing(g, max_iterations=20)
        except gp.InfeasibleProblem:
            with pytest.raises(gp.InfeasibleProblem):
                message_passing(g, max_iterations=20)
            continue
        c = s.info["certificate"]
        assert c.verify(g) and c.verify(g, exact=True)
        assert np.ldexp(c.bound, -exponent) == pytest.approx(r.info["certificate"].bound, abs=1e-9)
        assert r.labels.tolist() == s.labels.tolist()


def test_mixed_magnitudes_stay_sound():
    rng = np.random.default_rng(8)
    for _ in range(trials(60)):
        f = random_factor_graph(rng, n=4, max_arity=3, max_domain=3)
        tables = f.tables * 10.0 ** rng.choice([-200, -5, 0, 8, 200], len(f.tables))
        g = gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, tables)
        c = lower_bound(g, max_iterations=10)
        assert c.verify(g) and c.verify(g, exact=True)
        assert c.bound <= all_energies(g).min() + 1e-9 * scale_of(g)


@pytest.mark.parametrize("domains", [[], [1], [4], [1, 1, 1], [2, 1, 3]])
@pytest.mark.parametrize("method", BOUNDS)
def test_problems_without_factors(domains, method):
    f = gp.FactorGraph.from_arrays(domains, [], constant=-2.5)
    refused = {
        "roof-duality": (max(domains, default=1) > 2, "roof duality expects at most two"),
        "semidefinite": (any(d != 2 for d in domains), "for variables with two labels"),
    }.get(method, (False, ""))
    if refused[0]:
        with pytest.raises(gp.InvalidProblem, match=refused[1]):
            lower_bound(f, method)
        return
    c = lower_bound(f, method)
    assert c.bound == -2.5 and c.verify(f, exact=True)
    r = message_passing(f)
    assert r.cost == r.lower_bound == -2.5 and r.status == gp.Status.OPTIMAL and len(r.labels) == len(domains)


def test_degenerate_problems():
    zero = np.zeros((2, 2))
    for f in (
        gp.FactorGraph.from_arrays([2, 2, 2], [([[0, 1], [1, 2], [0, 2]], [zero] * 3)]),  # all zero
        gp.FactorGraph.from_csr([1, 3, 1], [0, 2, 4], [0, 1, 1, 2], [1.0, 2.0, 0.5, 3.0, 0.0, 1.0]),  # single labels
        gp.FactorGraph.from_arrays([2] * 6, [([[0, 1], [4, 3]], [np.eye(2), -np.eye(2)])]),  # parts, unused variables
    ):
        r = message_passing(f)
        assert r.status == gp.Status.OPTIMAL and r.cost == all_energies(f).min()


def test_several_factors_over_the_same_variables():
    rng = np.random.default_rng(12)
    for _ in range(40):
        pairs = [[0, 1], [1, 0], [0, 1], [1, 2]]
        f = gp.FactorGraph.from_arrays([3, 3, 3], [(pairs, rng.standard_normal((4, 3, 3)))])
        c = lower_bound(f)
        assert c.bound <= all_energies(f).min() + 1e-12 and c.verify(f, exact=True)
        g = f.simplify()
        assert lower_bound(g).bound == pytest.approx(all_energies(f).min())


def test_what_is_forbidden_spreads():
    """A chain of equalities between ends that allow different labels: only messages can tell."""
    n = 40
    equal = np.where(np.eye(3), 0.0, np.inf)
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    ends = [[0.0, np.inf, np.inf], [np.inf, 0.0, 0.0]]
    f = gp.FactorGraph.from_arrays([3] * n, [(chain, [equal] * (n - 1)), ([[0], [n - 1]], ends)])
    with pytest.raises(gp.InfeasibleProblem, match="every labeling is forbidden"):
        lower_bound(f)
    with pytest.raises(gp.InfeasibleProblem):
        message_passing(f)
    g = gp.FactorGraph.from_arrays([2], [([[0]], [[np.inf, 0.0]]), ([[0]], [[0.0, np.inf]])])
    with pytest.raises(gp.InfeasibleProblem, match="no label of variable 0 is possible"):
        message_passing(g)
    with pytest.raises(gp.InfeasibleProblem, match="factor 0 over"):
        message_passing(gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [np.full((2, 2), np.inf)])]))


@given(factor_graphs(max_arity=3), st.integers(0, 5))
@settings(max_examples=trials(60), deadline=None)
def test_limits_and_status(f, iterations):
    energies = all_energies(f)
    before = [array.copy() for array in f._flat()]
    try:
        r = message_passing(f, max_iterations=iterations)
    except gp.InfeasibleProblem:
        assert energies.min() == np.inf
        return
    assert r.iterations <= iterations and r.method == "message-passing"
    assert r.lower_bound <= energies.min() + 1e-9
    assert r.status in (gp.Status.OPTIMAL, gp.Status.FEASIBLE, gp.Status.ITERATION_LIMIT)
    assert all((a == b).all() for a, b in zip(before, f._flat(), strict=True))
    again = message_passing(f, max_iterations=iterations)
    assert again.labels.tolist() == r.labels.tolist() and again.info["certificate"].seal == r.info["certificate"].seal


def grid(size, labels, seed=0):
    rng = np.random.default_rng(seed)
    n, pairs = size * size, grid_pairs(size, size)
    unary, tables = rng.standard_normal((n, labels)), rng.standard_normal((len(pairs), labels, labels))
    return gp.FactorGraph.from_arrays(np.full(n, labels), [(np.arange(n)[:, None], unary), (pairs, tables)])


def test_stopping():
    f = grid(30, 4)
    r = message_passing(f, time_limit=0)
    assert r.status == gp.Status.TIME_LIMIT and r.info["certificate"].verify(f)
    assert r.lower_bound >= lower_bound(f, "negative-sum").bound
    r = message_passing(f, tightening=False)
    assert r.status == gp.Status.FEASIBLE and "hardly rises" in r.message and r.info["triplets"] == 0
    assert r.gap < 0.05
    target = r.cost + 20.0
    assert message_passing(f, target=target).cost <= target
    assert message_passing(f, target=target).status == gp.Status.TARGET
    seen = []
    r = message_passing(f, callback=lambda seconds, cost: seen.append(cost) or len(seen) > 2)
    assert r.status == gp.Status.INTERRUPTED and len(seen) >= 2 and r.info["certificate"].verify(f)
    with pytest.raises(ZeroDivisionError):
        message_passing(f, callback=lambda seconds, cost: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        lower_bound(f, callback=lambda seconds, cost: 1 / 0)


def test_stopping_within_a_pass_leaves_messages_that_prove_a_bound():
    f = grid(40, 3)
    negative = lower_bound(f, "negative-sum").bound
    for k in range(12):
        passes, stopping = Passes(f), Stopping(max_iterations=1)
        # A Stopping looks at its limits at the first poll, and then as often as the clock says: passes over another
        # problem use some polls up, so that the end comes at some other variable, or not within this pass.
        if k % 2:
            chain = gp.FactorGraph.from_arrays([2] * (16 * (160 + 8 * k)), [])
            Passes(chain).half(True, np.inf, stopping)
        for turn in range(k % 4):
            passes.half(turn % 2 == 0, np.inf, Stopping())
        stopping.iterations = 1
        _, whole = passes.half(k % 4 % 2 == 0, np.inf, stopping)
        assert k % 2 or not whole
        c = passes.certificate("stopped")
        assert c.verify(f) and negative - 1e-9 <= c.bound <= gp.crf.icm(f).cost


@pytest.mark.parametrize("large", [2**27, 0])
@pytest.mark.parametrize("visited", [16, 40])
def test_labels_from_a_pass_forward_are_the_best_where_it_has_been(visited, large, monkeypatch):
    """On a chain, given the labels where it has not been: least energies by dynamic programming."""
    monkeypatch.setattr(passes_module, "LARGE", large)
    rng = np.random.default_rng(1)
    for labels in (2, 3, 4):
        unary, tables = rng.random((40, labels)), rng.random((39, labels, labels))
        f = gp.FactorGraph.from_arrays(
            [labels] * 40, [(np.arange(40)[:, None], unary), (np.stack([np.arange(39), np.arange(1, 40)], 1), tables)]
        )
        passes, stopping = Passes(f), Stopping(max_iterations=1)
        stopping.iterations = int(visited < 40)  # it then ends after the first variables between two looks at it
        assert passes.half(True, np.inf, stopping)[1] == (visited == 40)
        start = rng.integers(0, labels, 40, dtype=np.int32)
        kept = start.copy()
        found = passes.round(start)
        assert (start == kept).all() and (found[visited:] == start[visited:]).all()
        least = unary[0]
        for v in range(1, 40):
            least = (least[:, None] + tables[v - 1]).min(axis=0)
            if v >= visited:
                least = np.where(np.arange(labels) == start[v], least, np.inf)
            least = least + unary[v]
        assert f.evaluate_labels(found) == pytest.approx(least.min(), abs=1e-4 if large == 0 else 1e-12)
        assert f.evaluate_labels(found) < f.evaluate_labels(start)


def test_a_first_iteration_that_cannot_end_gives_labels_nevertheless():
    f = grid(60, 4)
    icm = gp.crf.icm(f)
    ascent = Ascent(f, Stopping(1e9), icm.labels)
    ascent.preparing = np.inf  # rounding would take all the time that is left
    assert ascent.run() == "stopped" and ascent.iterations == 0 and ascent.stopping.reason == gp.Status.TIME_LIMIT
    assert ascent.cost < icm.cost and ascent.cost == f.evaluate_labels(ascent.labels)
    assert ascent.certificate("message-passing").verify(f)
    ascent = Ascent(f, Stopping(1e9, 1), icm.labels)
    assert ascent.run() == "stopped" and ascent.iterations == 1 and ascent.cost < icm.cost


@pytest.mark.parametrize("labels", [2, 3])
def test_halves_of_a_large_grid_are_the_same_on_any_number_of_threads(monkeypatch, labels):
    """Also as in a visit of all variables, in the order in which halves are visited, of a problem renamed so."""
    f = grid(330 - 60 * labels, labels)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("GRAPHPART_THREADS", threads)
        passes, bounds = Passes(f), []
        assert passes.order is not None
        for _ in range(3):
            assert passes.iterate(np.inf, Stopping())
            bounds.append(passes.bound)
        found.append((bounds, passes.round().tolist(), passes.messages()[0].tolist()))
    assert found[0] == found[1] == found[2]
    c = passes.certificate("halves")
    assert c.verify(f) and c.bound == pytest.approx(passes.bound) and bounds[0] < bounds[1] < bounds[2]

    domains, start, scope, _, tables = f._flat()
    rank = np.argsort(passes.order)
    alone = start[-1] - 2 * (f.m - f.n)
    pairs = rank[scope[alone:]].reshape(-1, 2)
    unary = tables[: f.n * labels].reshape(f.n, labels)[passes.order]
    tables = tables[f.n * labels :].reshape(-1, labels, labels)
    named = gp.FactorGraph.from_arrays(domains, [(np.arange(f.n)[:, None], unary), (pairs, tables)])
    monkeypatch.setattr(Passes, "_in_halves", lambda self: (None, np.array([0, self.f.n])))
    assert bounds_of(named, 3)[1::2] == pytest.approx(bounds)

    passes.straighten()
    assert passes.order is None and passes.certificate("halves").bound == pytest.approx(c.bound)
    assert passes.iterate(np.inf, Stopping()) and passes.bound > bounds[-1]


def test_halves_that_are_stopped_leave_messages_that_prove_a_bound():
    f = grid(210, 2)
    for k in range(4):
        passes = Passes(f)
        for forward in (True, False)[: 1 + k % 2]:
            passes.network.begin(forward)
            for part in (0, 1, 2) if forward else (2, 1, 0):
                if (part, forward) == (k // 2, k % 2 == 0):
                    break
                stopping = Stopping(max_iterations=1)
                stopping.iterations = int(part == 1)  # ends after some variables
                passes.network.visit(part, np.inf, stopping)
        assert passes.certificate("stopped").verify(f)


def test_an_initial_labeling_is_never_made_worse():
    f = grid(12, 3)
    best = message_passing(f)
    again = message_passing(f, initial=best, max_iterations=1)
    assert again.cost <= best.cost
    assert message_passing(f, initial=best, max_iterations=0).labels.tolist() == best.labels.tolist()
    with pytest.raises(gp.InvalidPartition):
        message_passing(f, initial=[7] * f.n)


def test_options():
    f = grid(3, 2)
    with pytest.raises(gp.InvalidOption, match="method is 'best': expected one of negative-sum, message-passing"):
        lower_bound(f, "best")
    with pytest.raises(gp.InvalidOption):
        message_passing(f, time_limit=-1)
    with pytest.raises(gp.InvalidProblem):
        message_passing(7)


def test_history_of_bound_and_cost():
    f = grid(20, 4, seed=3)
    r = message_passing(f, max_iterations=30)
    seconds = [t for t, _ in r.bounds]
    assert 1 < len(seconds) <= r.iterations + 2 and seconds == sorted(seconds)
    assert r.bounds[-1][1] == r.lower_bound
    assert r.history[-1][1] == r.cost and r.history[0][1] >= r.cost


def test_a_potts_grid_comes_close():
    """The instance of the benchmark, smaller: unaries normal times 2, difference costs 0.9."""
    rng = np.random.default_rng(0)
    n, pairs = 60 * 60, grid_pairs(60, 60)
    groups = [(np.arange(n)[:, None], 2 * rng.standard_normal((n, 8))), (pairs, [0.9 * (1 - np.eye(8))] * len(pairs))]
    f = gp.FactorGraph.from_arrays(np.full(n, 8), groups)
    r = message_passing(f, max_iterations=30, tightening=False)
    assert r.gap < 2e-4 and r.info["certificate"].verify(f)


@pytest.mark.parametrize("method", ["negative-sum", "message-passing"])
def test_negative_sum_is_the_least_and_methods_are_named(method):
    f = grid(6, 3)
    c = lower_bound(f, method)
    assert c.method == method and c.verify(f) and c.verify(f, exact=True)
    assert c.bound >= lower_bound(f, "negative-sum").bound
