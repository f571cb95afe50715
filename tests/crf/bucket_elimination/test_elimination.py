"""Elimination against enumeration: minima, bounds, min-marginals, marginals, samples, the m best; and its memory."""

import itertools
import math
import tracemalloc
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from reference_crf import all_energies
from strategies_crf import factor_graphs, random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf import marginals as forest_marginals
from graphpart.crf import min_sum
from graphpart.crf.bucket_elimination import (
    elimination,
    elimination_order,
    log_partition,
    m_best,
    marginals,
    min_marginals,
    samples,
)
from graphpart.crf.bucket_elimination import order as order_module
from graphpart.crf.bucket_elimination.elimination import _relaxations
from graphpart.crf.bucket_elimination.plan import Plan, collect, make_plan
from graphpart.stopping import Stopping

ALL = (elimination, min_marginals, marginals, log_partition, m_best, samples)


def grid(height, width, labels, seed=0, whole=False):
    rng = np.random.default_rng(seed)
    at = np.arange(height * width).reshape(height, width)
    pairs = np.concatenate(
        [np.stack([at[:, :-1].ravel(), at[:, 1:].ravel()], 1), np.stack([at[:-1].ravel(), at[1:].ravel()], 1)]
    )
    unary, tables = rng.standard_normal((at.size, labels)), rng.standard_normal((len(pairs), labels, labels))
    if whole:
        unary, tables = np.rint(9 * unary), np.rint(9 * tables)
    return gp.FactorGraph.from_arrays(np.full(at.size, labels), [(np.arange(at.size)[:, None], unary), (pairs, tables)])


def chain(n, labels, seed=0):
    return grid(1, n, labels, seed)


def naive_width(f, order):
    """The most neighbours that a variable has when it is eliminated, by sets; and the sizes of all messages."""
    near = {v: set() for v in range(f.n)}
    for k in range(f.m):
        for a, b in itertools.permutations([v for v in f.factor(k)[0] if f.domains[v] > 1], 2):
            near[a].add(b)
    width, sizes = 0, []
    for v in order:
        mine = near.pop(v)
        width = max(width, len(mine))
        sizes.append(math.prod(int(f.domains[u]) for u in mine))
        for a in mine:
            near[a] |= mine
            near[a] -= {a, v}
    return width, sizes


@pytest.mark.parametrize("block", range(8))
def test_thousands_of_random_factor_graphs(block):
    rng = np.random.default_rng(block)
    for _ in range(trials(250)):
        f = random_factor_graph(
            rng, forbidden=rng.choice([0, 0, 0.2, 0.5]), whole=block % 2 == 0, max_domain=block % 5 + 1, max_arity=4
        )
        energies = all_energies(f)
        least = energies.min()
        if least == np.inf:
            for function in ALL:
                with pytest.raises(gp.InfeasibleProblem, match="forbid"):
                    function(f)
            continue
        order = None if block < 4 else [f.variables[i] for i in rng.permutation(f.n)]
        r = elimination(f, order=order)
        assert r.status == gp.Status.OPTIMAL and r.lower_bound == r.cost
        assert r.cost == pytest.approx(least, abs=1e-9)
        assert energies[tuple(r.labels)] == pytest.approx(r.cost, abs=1e-9)
        assert r.info["order"].width == naive_width(f, r.info["order"].indices.tolist())[0]

        weights = np.exp(least - energies)
        distribution = marginals(f, order=order)
        assert distribution.log_z == pytest.approx(np.log(weights.sum()) - least, abs=1e-9)
        assert log_partition(f, order=order) == pytest.approx(distribution.log_z, abs=1e-9)
        lowest = min_marginals(f, order=order)
        assert list(lowest) == list(distribution.probabilities) == list(f.variables)
        for i, name in enumerate(f.variables):
            others = tuple(j for j in range(f.n) if j != i)
            np.testing.assert_allclose(lowest[name], energies.min(axis=others), atol=1e-9)
            np.testing.assert_allclose(
                distribution.probabilities[name], weights.sum(axis=others) / weights.sum(), rtol=1e-9, atol=1e-12
            )

        best = m_best(f, 12, order=order)
        np.testing.assert_allclose(best.costs, np.sort(energies[energies < np.inf])[:12], atol=1e-9)
        assert len({tuple(row) for row in best.labels.tolist()}) == len(best) == len(best.costs)
        np.testing.assert_allclose([energies[tuple(row)] for row in best.labels], best.costs, atol=1e-9)

        drawn = samples(f, 5, seed=1, order=order)
        assert drawn.shape == (5, f.n) and all(energies[tuple(row)] < np.inf for row in drawn)


@pytest.mark.parametrize("block", range(4))
def test_mini_buckets_bound_from_below(block):
    """With exact arithmetic as the judge: energies of all labelings are compared as fractions."""
    rng = np.random.default_rng([7, block])
    bounds = 0
    for _ in range(150):
        f = random_factor_graph(rng, n=6, forbidden=rng.choice([0, 0.1]), whole=block == 0, max_domain=3, max_arity=4)
        energies = all_energies(f)
        if energies.min() == np.inf:
            continue
        near = np.argwhere(energies <= energies.min() + 1e-6)
        least = min(exact_energy(f, labels) for labels in near.tolist())
        gaps = []
        for limit in (0, 100, 400, 1000, 10**6):
            r = elimination(f, memory_limit=limit)
            assert r.info["memory"] <= limit and r.lower_bound <= r.cost
            assert r.cost == np.inf or r.cost == pytest.approx(energies[tuple(r.labels)], abs=1e-9)
            if r.status == gp.Status.FEASIBLE:
                assert Fraction(r.lower_bound) <= least
                assert f"the limit is {limit} bytes" in r.message and "width" in r.message
                bounds += 1
            gaps.append(energies.min() - r.lower_bound)
        assert gaps[-1] == pytest.approx(0, abs=1e-9)
    assert bounds > 150  # the others are proven by their bound


def exact_energy(f, labels):
    return sum(
        (Fraction(float(table[tuple(labels[v] for v in scope)])) for scope, table in map(f.factor, range(f.m))),
        Fraction(f.constant),
    )


def test_mini_buckets_close_in_as_memory_grows():
    f = grid(9, 9, 3, whole=True)
    optimum = elimination(f).cost
    order = elimination_order(f)
    results = [elimination(f, memory_limit=limit, order=order) for limit in (0, "60kB", "150kB", "400kB")]
    bounds = [r.lower_bound for r in results]
    assert bounds[0] < min(bounds[1:]) and max(bounds[1:3]) < bounds[3] <= optimum
    assert all(r.cost >= optimum and r.status == gp.Status.FEASIBLE for r in results)
    assert results[-1].cost - optimum < 0.1 * abs(optimum)
    assert all(bound == round(bound) for bound in bounds[1:])  # whole numbers need no slack


def test_blocks_levels_and_packed_choices():
    """Tables of more than one block, of domains whose choices take 1, 2, 4, 8 and 32 bits, against smaller orders."""
    rng = np.random.default_rng(3)
    for domains in ([2] * 15, [3] * 9, [5, 2, 3, 4, 7, 2, 2, 3], [17, 16, 5, 20], [300, 3, 40], [1, 2, 260, 1, 257]):
        n = len(domains)
        f = gp.FactorGraph()
        for i, d in enumerate(domains):
            f.add_variable(i, d)
        for _ in range(2 * n):
            scope = rng.choice(n, min(n, int(rng.integers(1, 5))), replace=False).tolist()
            f.add_factor(scope, rng.standard_normal([domains[i] for i in scope]))
        scope = rng.permutation(n).tolist()
        f.add_factor(scope, rng.standard_normal([domains[i] for i in scope]))
        energies = all_energies(f)
        for order in (None, rng.permutation(n).tolist(), rng.permutation(n).tolist()):
            r = elimination(f, order=order)
            assert tuple(r.labels) == np.unravel_index(energies.argmin(), energies.shape)
            lowest, weights = min_marginals(f, order=order), np.exp(energies.min() - energies)
            distribution = marginals(f, order=order)
            for i in range(n):
                others = tuple(j for j in range(n) if j != i)
                np.testing.assert_allclose(lowest[i], energies.min(axis=others), atol=1e-9)
                np.testing.assert_allclose(
                    distribution.probabilities[i], weights.sum(axis=others) / weights.sum(), rtol=1e-8
                )
            best = m_best(f, 100, order=order)
            np.testing.assert_allclose(best.costs, np.sort(energies.ravel())[:100], atol=1e-9)


@given(factor_graphs(forest=True))
@settings(max_examples=trials(100))
def test_forests_agree_with_min_sum(f):
    try:
        expected = min_sum(f, min_marginals=True)
    except gp.InfeasibleProblem:
        with pytest.raises(gp.InfeasibleProblem, match="forbid"):
            elimination(f)
        return
    assert elimination(f).cost == pytest.approx(expected.cost, abs=1e-12)
    lowest, distribution, other = min_marginals(f), marginals(f), forest_marginals(f)
    np.testing.assert_allclose(lowest.flat, expected.info["min_marginals"].flat, atol=1e-9)
    np.testing.assert_allclose(distribution.probabilities.flat, other.probabilities.flat, rtol=1e-9, atol=1e-12)
    assert type(lowest) is type(expected.info["min_marginals"]) and type(distribution) is type(other)


def test_ties_do_not_mix_optima():
    equal = [[0.0, 1.0], [1.0, 0.0]]
    ring = np.stack([np.arange(40), (np.arange(40) + 1) % 40], 1)
    f = gp.FactorGraph.from_arrays(np.full(40, 2), [(ring, [equal] * 40)])
    r = elimination(f)
    assert r.cost == 0.0 and len(set(r.labels.tolist())) == 1
    best = m_best(f, 3)
    assert best.costs.tolist() == [0.0, 0.0, 2.0] and set(best[0].values()) != set(best[1].values())


@pytest.mark.parametrize("scale", [1e300, 1e-300, 1e150])
def test_huge_and_tiny_energies(scale):
    rng = np.random.default_rng(5)
    small = [random_factor_graph(rng, n=5, whole=True, max_arity=3, forbidden=0.1, max_domain=3) for _ in range(60)]
    for f in small:
        energies = all_energies(f)
        if energies.min() == np.inf:
            continue
        scaled = gp.FactorGraph.from_csr(
            f.domains, f.scope_start, f.scope, f.tables * scale, constant=f.constant * scale
        )
        assert elimination(scaled).cost == pytest.approx(energies.min() * scale, rel=1e-12)
        assert m_best(scaled, 3).costs == pytest.approx(np.sort(energies[energies < np.inf])[:3] * scale, rel=1e-12)
        least = min_marginals(scaled)
        distribution = marginals(scaled)
        for i in range(f.n):
            expected = energies.min(axis=tuple(j for j in range(f.n) if j != i))
            np.testing.assert_allclose(least[i], expected * scale, rtol=1e-12, atol=1e-12 * scale)
            assert distribution.probabilities[i].sum() == pytest.approx(1)
        assert np.isfinite(distribution.log_z)
        assert all(np.isfinite(scaled.evaluate_labels(row)) for row in samples(scaled, 3, seed=0))


def test_sums_near_the_largest_number_do_not_overflow():
    f = gp.FactorGraph.from_arrays(
        [2] * 3, [([[0, 1], [1, 2], [0, 2]], np.array([[[8e306, -5e306], [-5e306, 8e306]]] * 3))]
    )
    energies = all_energies(f)
    r = elimination(f)
    assert r.status == gp.Status.OPTIMAL and r.cost == energies.min()
    assert elimination(f, memory_limit=0).lower_bound <= energies.min()


def test_large_offsets_keep_precision():
    n = 20_000
    rng = np.random.default_rng(5)
    tables = rng.standard_normal((n - 1, 2, 2))
    scopes = np.stack([np.arange(n - 1), np.arange(1, n)], 1)
    small = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, tables)])
    large = gp.FactorGraph.from_arrays(np.full(n, 2), [(scopes, 1e6 + tables)])
    assert log_partition(large) + 1e6 * (n - 1) == pytest.approx(log_partition(small), abs=1e-3)
    assert elimination(large).cost - 1e6 * (n - 1) == pytest.approx(elimination(small).cost, abs=1e-3)


def test_degenerate_problems():
    empty = gp.FactorGraph.from_arrays([], [], constant=2.0)
    assert elimination(empty).cost == 2.0 and elimination(empty, memory_limit=0).cost == 2.0
    assert marginals(empty).log_z == -2.0 and len(min_marginals(empty)) == 0
    assert samples(empty, 3).shape == (3, 0) and m_best(empty, 5).costs.tolist() == [2.0]
    alone = gp.FactorGraph.from_arrays([1, 3, 1], [([[0, 2]], [[[4.0]]])])
    assert elimination(alone).cost == 4.0 and elimination_order(alone).width == 0
    assert min_marginals(alone)[1].tolist() == [4.0] * 3
    np.testing.assert_allclose(marginals(alone).probabilities[1], 1 / 3)
    assert m_best(alone, 10).labels.tolist() == [[0, 0, 0], [0, 1, 0], [0, 2, 0]]
    assert m_best(alone, 0).labels.shape == (0, 3) and samples(alone, 0).shape == (0, 3)
    same = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]] * 3, np.ones((3, 2, 2))), ([[1, 0]], [[[0.0, 1], [2, 3]]])])
    assert elimination(same).cost == 3.0
    for limit in (0, 10**9):
        impossible = gp.FactorGraph.from_arrays(
            [2, 2, 2], [([[0, 1], [1, 2], [0, 2]], [[[math.inf, 0.0], [0.0, math.inf]]] * 3)]
        )
        if limit:
            with pytest.raises(gp.InfeasibleProblem, match="no label of variable"):
                elimination(impossible, memory_limit=limit)
        else:
            r = elimination(impossible, memory_limit=limit)
            assert r.cost == math.inf and "no allowed labeling was found: factor" in r.message and r.lower_bound <= 0.0


# ------------------------------------------------------------------------------------------------- orders and memory


def test_orders_of_known_graphs():
    assert elimination_order(chain(1000, 5)).width == 1
    star = np.stack([np.zeros(5000, int), np.arange(1, 5001)], 1)
    f = gp.FactorGraph.from_arrays(np.full(5001, 2), [(star, np.zeros((5000, 2, 2)))])
    assert elimination_order(f).width == 1 and elimination(f).cost == 0.0
    for k in (3, 5, 8):
        assert k <= elimination_order(grid(k, 40, 2)).width <= k + 3
    assert elimination_order(grid(20, 20, 2)).width == 20
    clique = gp.FactorGraph.from_arrays([3] * 9, [(list(itertools.combinations(range(9), 2)), np.zeros((36, 3, 3)))])
    assert elimination_order(clique).width == 8 and elimination_order(clique).largest == 3**9


def test_width_and_sizes_against_sets():
    rng = np.random.default_rng(11)
    for _ in range(trials(300)):
        f = random_factor_graph(rng, n=int(rng.integers(0, 12)), max_arity=4, max_domain=4)
        found = elimination_order(f)
        assert sorted(found.indices.tolist()) == list(range(f.n))
        width, sizes = naive_width(f, found.indices.tolist())
        assert found.width == width and found.plan.size.tolist() == sizes
        assert found.largest == max(
            (size * int(f.domains[v]) for v, size in zip(found.indices, sizes, strict=True)), default=0
        )
        assert found.memory_kept >= 8 * sum(size for size in sizes if size > 1)


def test_the_connected_view_of_a_large_factor_graph_is_not_kept(monkeypatch):
    for kept in (True, False):
        monkeypatch.setattr(order_module, "LARGE", 2**20 if kept else 0)
        f = gp.generate.factor_grid(5, 6, "mixed", 3, seed=1).problem
        indices = elimination_order(f).indices
        assert ("incidence" in f._cache) == kept
        if kept:
            expected = indices
    assert np.array_equal(indices, expected)


def test_the_first_order_is_min_fill():
    """Against counts from sets, with the same rule for ties."""
    from graphpart.crf.bucket_elimination import _kernels

    rng = np.random.default_rng(12)
    for _ in range(trials(300)):
        f = random_factor_graph(rng, n=int(rng.integers(2, 12)), max_arity=3, max_domain=3)
        start, neighbour = _kernels.interactions(f._view(connected=True))
        near = {v: set(neighbour[start[v] : start[v + 1]].tolist()) for v in range(f.n)}
        logs = np.rint(np.log2(f.domains) * 65536).astype(np.int64)
        zero, rank = np.zeros(f.n, np.int64), np.arange(f.n, dtype=np.int32)
        graph = _kernels.VariableGraph(f.domains, start, neighbour, logs)
        order = graph.greedy(zero, rank, 0, 10**9, math.inf, Stopping())[0]
        for v in order.tolist():
            missing = {u: sum(b not in near[a] for a, b in itertools.combinations(near[u], 2)) for u in near}
            weight = {u: int(logs[u] + sum(logs[w] for w in near[u])) for u in near}
            assert v == min((missing[u], weight[u], u) for u in near)[2]
            mine = near.pop(v)
            for a in mine:
                near[a] |= mine
                near[a] -= {a, v}


def test_schedules_hold_what_is_alive_and_no_more():
    rng = np.random.default_rng(13)
    for _ in range(trials(200)):
        f = random_factor_graph(rng, n=int(rng.integers(1, 12)), max_arity=4, max_domain=4)
        plan = elimination_order(f).plan
        order, place, entries = plan.scheduled
        alive, highest = {}, 0
        for node in order.tolist():
            children = np.flatnonzero(plan.parent == node).tolist()
            assert all(child in alive for child in children)
            if plan.parent[node] >= 0:
                mine = range(int(place[node]), int(place[node] + plan.size[node]))
                assert mine[0] >= 0 and mine[-1] < entries
                assert all(mine[-1] < other[0] or other[-1] < mine[0] for other in alive.values())
                alive[node] = mine
            highest = max(highest, sum(map(len, alive.values())))
            for child in children:
                del alive[child]
        assert not alive and highest == entries


def test_memory_is_as_predicted_and_within_the_limit():
    f = grid(11, 11, 3)
    found = elimination_order(f)
    assert found.exact and found.memory < found.memory_kept
    for limit in (found.memory, found.memory - 1, found.memory // 10):
        tracemalloc.start()
        r = elimination(f, order=found, memory_limit=limit)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert r.status == (gp.Status.OPTIMAL if limit == found.memory else gp.Status.FEASIBLE)
        assert r.info["memory"] <= limit
        assert 0.9 * r.info["memory"] < peak < r.info["memory"] + 800_000
    plan = found.plan
    messages = collect(f, plan, Stopping(), keep=True)
    assert messages.values.nbytes + 8 * plan.workspace == plan.bytes_to_keep


def test_what_does_not_fit_is_said_before_it_is_allocated():
    f = grid(36, 36, 2)
    found = elimination_order(f)
    assert found.exact and found.width >= 36 and found.memory > 2**40
    tracemalloc.start()
    r = elimination(f, order=found, memory_limit="1MB")
    for function in ALL[1:]:
        with pytest.raises(gp.InvalidOption, match=r"memory_limit is .* along an order of width .* need"):
            function(f, order=found)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000_000
    assert r.status == gp.Status.FEASIBLE and -math.inf < r.lower_bound < r.cost < 0
    assert "needs" in r.message and "the limit is 977 KiB" in r.message


def test_plans_use_every_table_once():
    rng = np.random.default_rng(14)
    for _ in range(trials(200)):
        f = random_factor_graph(rng, n=8, max_arity=4, max_domain=3)
        order = rng.permutation(f.n).astype(np.int32)
        for limit in (None, 1, 3, 9):
            plan = make_plan(f, order, limit)
            assert isinstance(plan, Plan)
            used = plan.uses.tolist()
            assert sorted(k for k in used if k >= 0) == list(range(f.m))
            assert sorted(~k for k in used if k < 0) == np.flatnonzero(plan.parent >= 0).tolist()
            assert (plan.divided == 0) or limit is not None
            position = np.argsort(order)
            for k in range(len(plan.variable)):
                axes = plan.axes[plan.axes_start[k] : plan.axes_start[k + 1]]
                assert (position[axes] > position[plan.variable[k]]).all()
                uses = plan.uses[plan.uses_start[k] : plan.uses_start[k + 1]]
                assert limit is None or plan.size[k] <= limit or len(uses) == 1


# ------------------------------------------------------------------------------------------- samples and the m best


def test_samples_have_their_distribution():
    f = grid(3, 2, 3, seed=2)
    energies = all_energies(f)
    expected = np.exp(-energies)
    expected /= expected.sum()
    size = 20_000
    drawn = samples(f, size, seed=5)
    assert drawn.dtype == np.int32
    counts = np.zeros(energies.shape)
    np.add.at(counts, tuple(drawn.T), 1)
    common = expected * size >= 5
    statistic = ((counts - expected * size) ** 2 / (expected * size))[common].sum()
    freedom = int(common.sum()) - 1
    assert abs(statistic - freedom) < 6 * math.sqrt(2 * freedom)
    rest = 1 - expected[common].sum()
    assert abs(counts[~common].sum() - rest * size) < 6 * math.sqrt(rest * size + 1)
    # Independent of each other: pairs of successive samples agree as often as they should.
    same = (drawn[1:] == drawn[:-1]).all(axis=1).mean()
    assert same == pytest.approx((expected**2).sum(), abs=6 * math.sqrt((expected**2).sum() / size))
    np.testing.assert_array_equal(samples(f, 100, seed=5), drawn[:100])
    assert (samples(f, 100, seed=6) != drawn[:100]).any()


def test_the_m_best_of_a_chain_against_dynamic_programming():
    """Keeping the ten best partial sums of each label."""
    n, d, m = 1000, 5, 10
    f = chain(n, d, seed=9)
    unary, pairs = f.tables[: n * d].reshape(n, d), f.tables[n * d :].reshape(n - 1, d, d)
    kept = [[float(x)] for x in unary[0]]
    for t in range(1, n):
        kept = [sorted(x + pairs[t - 1, a, b] + unary[t, b] for a in range(d) for x in kept[a])[:m] for b in range(d)]
    best = m_best(f, m)
    np.testing.assert_allclose(best.costs, sorted(itertools.chain(*kept))[:m], rtol=1e-12)
    assert len({tuple(row) for row in best.labels.tolist()}) == m
    assert elimination(f).cost == pytest.approx(best.costs[0])


def test_all_labelings_in_order():
    f = grid(2, 4, 2, seed=1, whole=True)
    best = m_best(f, 10**4)
    np.testing.assert_array_equal(best.costs, np.sort(all_energies(f).ravel()))
    assert len({tuple(row) for row in best.labels.tolist()}) == 2**8


def test_grids_against_transfer_matrices():
    """Min-marginals, log Z of a grid of 6 rows by whole columns as one variable."""
    h, w = 6, 9
    f = grid(h, w, 2, seed=4)
    column = np.array(list(itertools.product([0, 1], repeat=h)))
    unary = f.tables[: h * w * 2].reshape(h, w, 2)
    across = f.tables[h * w * 2 :][: h * (w - 1) * 4].reshape(h, w - 1, 2, 2)
    down = f.tables[h * w * 2 :][h * (w - 1) * 4 :].reshape(h - 1, w, 2, 2)
    own = [
        sum(unary[i, j, column[:, i]] for i in range(h))
        + sum(down[i, j, column[:, i], column[:, i + 1]] for i in range(h - 1))
        for j in range(w)
    ]
    low, soft = own[0], own[0]
    for j in range(1, w):
        step = sum(across[i, j - 1][np.ix_(column[:, i], column[:, i])] for i in range(h)) + own[j]
        low = (low[:, None] + step).min(axis=0)
        soft = -np.logaddexp.reduce(-(soft[:, None] + step), axis=0)
    assert elimination(f).cost == pytest.approx(low.min())
    assert log_partition(f) == pytest.approx(np.logaddexp.reduce(-soft))
    last = [low[column[:, i] == y].min() for i in range(h) for y in (0, 1)]
    found = min_marginals(f)
    np.testing.assert_allclose([x for i in range(h) for x in found[i * w + w - 1]], last)


# ---------------------------------------------------------------------------------------------------------- the rest


def test_same_input_same_output_and_nothing_changed():
    f = grid(7, 7, 3)
    before = f.tables.copy()
    for function in ALL[:-1]:
        first, second = function(f), function(f)
        if hasattr(first, "labels"):
            np.testing.assert_array_equal(first.labels, second.labels)
    np.testing.assert_array_equal(f.tables, before)
    assert elimination(f, seed=3).cost == pytest.approx(elimination(f).cost)


def test_limits_on_time_and_callbacks():
    f = grid(16, 60, 2)
    full = elimination(f)
    for limit in (0.0, 0.01, 0.05):
        r = elimination(f, time_limit=limit)
        assert r.status in (gp.Status.TIME_LIMIT, gp.Status.OPTIMAL)
        assert r.lower_bound <= full.cost + 1e-9 and full.cost - 1e-9 <= r.cost < math.inf
    calls = []
    r = elimination(grid(40, 40, 2), callback=lambda seconds, cost: calls.append(seconds) or True)
    assert r.status == gp.Status.INTERRUPTED and calls and r.lower_bound < r.cost
    with pytest.raises(ZeroDivisionError):
        elimination(grid(40, 40, 2), callback=lambda seconds, cost: 1 / 0)


def test_wrong_options():
    f = chain(3, 2)
    for limit in (-1, "4 GBit", "", None, "many", math.nan, [], True):
        if limit is not None:
            with pytest.raises(gp.InvalidOption, match=r"memory_limit is .*: expected a number of bytes"):
                elimination(f, memory_limit=limit)
    for order, text in (
        ([0, 1], "order lacks variable 2"),
        ([0, 1, 1], "order names variable 1 twice"),
        ([0, 1, 7], "order: 7 is not a variable"),
        ("012", "order is '012'"),
        (3, "order is 3"),
        (elimination_order(chain(4, 2)), "order has variable 3"),
    ):
        with pytest.raises(gp.InvalidOption, match=text):
            elimination(f, order=order)
    with pytest.raises(gp.InvalidOption, match="m is -1"):
        m_best(f, -1)
    with pytest.raises(gp.InvalidOption, match=r"size is 1\.5"):
        samples(f, 1.5)
    with pytest.raises(gp.InvalidOption, match="seed is -1"):
        samples(f, 1, seed=-1)


def test_pedigrees(shared_instances):
    f = gp.read(shared_instances / "uai" / "pedigree1.uai.gz")
    r = elimination(f)
    assert r.status == gp.Status.OPTIMAL and r.info["order"].width <= 17
    best = m_best(f, 3)
    assert best.costs[0] == pytest.approx(r.cost) and (np.diff(best.costs) >= 0).all()


def test_relaxations_fit():
    f = grid(9, 9, 3)
    order = elimination_order(f).indices
    for limit in (0, 5000, 50_000, 10**6):
        plans = _relaxations(f, order, limit, Stopping())
        assert all(plan.bytes_to_keep <= limit for plan in plans)
        assert plans or limit <= 5000
