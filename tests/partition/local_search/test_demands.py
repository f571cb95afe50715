"""Local search and search where clusters have to obey groups, sizes and numbers."""

import math

import numpy as np
import pytest
import reference
from backgrounds import background_problem
from trials import trials

import graphpart as gp
from graphpart.partition.problem.derived import connected_subsets
from graphpart.partition.problem.forms import as_pairs
from graphpart.partition.problem.groups import groups_of

LOCAL = ("greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs", "multilevel")
PRICES = (0.3, 1.7, math.inf)


def with_demands(rng, limits=True, largest=13, numbers=True, dense=False):
    """A small random problem with two groupings, requirements and a background, and limits of two kinds."""
    while True:
        q = background_problem(rng, largest=largest)
        n = q.n
        groups = groups_of(q.nodes, [rng.integers(-1, 4, n), rng.integers(-1, 3, n)], rng.choice(PRICES, 2).tolist())
        least, most = (int(x) for x in np.sort(rng.integers(1, 5, 2)))
        size = int(rng.integers(2, 6)) if rng.random() < 0.5 else None
        number = (least, most) if numbers and rng.random() < 0.6 else (1, None)
        asked = {"max_size": size, "n_clusters": number} if limits else {}
        background = q.background if rng.random() < 0.7 else None
        joins = q.must_join.tolist()
        try:
            u, v, cost = q.pairs()
            return gp.SetPartition.from_pairs(
                n, (u, v), cost, together=joins, dense=dense, background=background, groups=groups, **asked
            )
        except gp.InfeasibleProblem:
            pass


def best_of_all(p):
    """The least cost of all partitions that obey, by enumeration."""
    best, labels = math.inf, np.zeros(p.n, np.int32)

    def extend(a, k):
        nonlocal best
        if a == p.n:
            best = min(best, p._evaluate_labels(labels))
            return
        for U in range(k + 1):
            labels[a] = U
            extend(a + 1, max(k, U + 1))

    extend(0, 0)
    return best


# ------------------------------------------------------------------------------------------------------------- groups


@pytest.mark.parametrize("seed", range(3))
def test_steps_are_those_of_the_dense_form(seed):
    rng = np.random.default_rng(seed)
    for number in range(trials(200)):
        p = with_demands(rng, limits=False)
        q = p._to_dense()
        steps = (None, 1, 2, 3)[number % 4]
        for method in (gp.partition.greedy_joining, gp.partition.greedy_moving):
            a, b = (method(x, max_iterations=steps) for x in (p, q))
            # What no cost ties together may be in one subset of a matrix.
            assert np.array_equal(*(connected_subsets(p, r.labels) for r in (a, b))), (seed, number, method)
            assert a.iterations == b.iterations and a.cost == b.cost == p.evaluate(a.labels)


def test_sequences_are_those_of_the_definition(monkeypatch):
    """Without moves of what is alone to a subset that no listed pair links to it."""

    def best_move(units, current, elements):
        moves = []
        free = next(U for U in range(units.n + 1) if U not in current)
        for a in elements:
            inside = [b for b in range(units.n) if current[b] == current[a] and b != a]
            own = reference._sum([units.between(a, b) for b in inside])
            for U in sorted(set(current)):
                members = [b for b in range(units.n) if current[b] == U]
                cost = reference._sum([units.between(a, b) for b in members])
                if current[a] != U and cost != reference.FORBIDDEN and any((a, b) in listed for b in members):
                    moves.append((cost - own, a, 0, U))
            if inside:
                moves.append((-own, a, 1, free))
        return min(moves, default=None)

    monkeypatch.setattr(reference, "_best_move", best_move)
    rng = np.random.default_rng(11)
    for number in range(trials(80)):
        p = with_demands(rng, limits=False, largest=8)
        q = p._to_dense()
        classes = p._must_join_classes()
        u, v, _ = p.pairs()
        listed = {
            pair for a, b in zip(classes[u].tolist(), classes[v].tolist(), strict=True) for pair in ((a, b), (b, a))
        }
        joined = gp.partition.greedy_joining(p).labels.tolist()
        *_, last = [joined, *reference.kernighan_lin(q, joined)]
        found = gp.partition.kernighan_lin(p)
        assert found.cost == pytest.approx(q.evaluate(last), abs=1e-9), number


@pytest.mark.parametrize("method", LOCAL)
def test_local_optima(method):
    """No move, and no join, of a linked subset lowers the cost; groups and limits are obeyed."""
    rng = np.random.default_rng(5)
    for number in range(trials(60)):
        p = with_demands(rng, dense=bool(number % 2), largest=10)
        if best_of_all(p) == math.inf:
            continue
        r = gp.solve(p, method)
        assert r.cost == pytest.approx(p.evaluate(r.labels)) and r.cost < math.inf, number
        p._check_feasible(r.labels)
        if method == "greedy-joining" or len(p.must_join):
            continue
        u, v, _ = as_pairs(p).pairs()
        linked = set(zip(u.tolist(), v.tolist(), strict=True))
        for a in range(p.n):
            near = {int(r.labels[b]) for b in range(p.n) if (min(a, b), max(a, b)) in linked}
            for U in sorted(near | {r.n_clusters}):
                other = r.labels.copy()
                other[a] = U
                assert p._evaluate_labels(other) >= r.cost - 1e-9, (number, a, U)
        again = gp.solve(p, method, initial=r)
        assert again.cost <= r.cost


def test_a_price_far_above_all_else_is_as_good_as_inf():
    pairs, costs = [(0, 1), (1, 2), (0, 2)], [-1.0, -0.5, -0.25]
    for price in (1e9, 1e200, math.inf):
        p = gp.SetPartition.from_pairs(3, pairs, costs, groups=[0, 0, 1], group_cost=price, dense=False)
        for method in (*LOCAL, "search"):
            assert gp.solve(p, method).cost == -0.5, (price, method)
        assert gp.partition.kernighan_lin(p, initial=[0, 0, 0] if price < math.inf else None).cost == -0.5


# --------------------------------------------------------------------------------------------------- sizes and numbers


def test_search_against_enumeration():
    rng = np.random.default_rng(3)
    optimal = total = 0
    for number in range(60):
        p = with_demands(rng, dense=bool(number % 2), largest=9)
        best = best_of_all(p)
        if best == math.inf:
            with pytest.raises(gp.InfeasibleProblem):
                gp.partition.greedy_joining(p)
            continue
        r = gp.partition.kernighan_lin_pairs(p)
        p._check_feasible(r.labels)
        assert r.cost >= best - 1e-9, number
        optimal += r.cost <= best + 1e-9
        total += 1
    assert optimal > 0.7 * total


def test_maximum_cut():
    """At most two clusters, and only costs of being together."""
    rng = np.random.default_rng(8)
    for n in (16, 18):
        u, v = np.triu_indices(n, 1)
        listed = rng.random(len(u)) < 0.4
        weights = rng.integers(-3, 4, int(listed.sum())).astype(float)
        p = gp.SetPartition.from_pairs(n, (u[listed], v[listed]), weights, n_clusters=(1, 2), dense=False)
        sides = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
        within = sides[:, u[listed]] == sides[:, v[listed]]
        best = float((within * weights).sum(axis=1).min())
        r = gp.partition.search(p, max_iterations=4, seed=1)
        assert r.cost == best and r.n_clusters <= 2


def test_initial_partitions_keep_limits():
    rng = np.random.default_rng(9)
    u, v = np.triu_indices(30, 1)
    p = gp.SetPartition.from_pairs(30, (u, v), rng.normal(size=len(u)), max_size=5, n_clusters=(7, 9))
    start = np.arange(30) % 8
    for method in (*LOCAL, "search"):
        options = {"max_iterations": 2} if method == "search" else {}
        r = gp.solve(p, method, initial=start, **options)
        p._check_feasible(r.labels)
        assert r.cost <= p.evaluate(start)
    assert gp.solve(p, "greedy-joining", time_limit=0.0).cost < math.inf


def test_what_cannot_be_packed():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (0, 2)], [math.inf] * 3, n_clusters=(1, 2), dense=False)
    with pytest.raises(gp.InfeasibleProblem, match="at most 2 clusters was found"):
        gp.partition.greedy_joining(p)
    # Greedy joins leave three subsets of two elements each, which do not fit into two subsets of three.
    q = gp.SetPartition.from_pairs(6, [(0, 1), (2, 3), (4, 5)], [-1.0] * 3, max_size=3, n_clusters=2, dense=False)
    r = gp.partition.greedy_joining(q)
    assert np.bincount(r.labels).tolist() == [3, 3]
    # What must be together stays together, also where the method does not contract it first.
    together = gp.SetPartition.from_pairs(
        6, [(2, 3), (4, 5)], [-2.0] * 2, must_join=[(0, 1)], max_size=3, n_clusters=(1, 2)
    )
    for method in LOCAL:
        assert gp.solve(together, method).cost == -2.0, method


def test_required_pairs_in_a_frame():
    import pandas

    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], ["ann", "bob", "cid"])
    frame = pandas.DataFrame({"left": ["ann"], "right": ["bob"]})
    assert p.require(together=frame).must_join.tolist() == [[0, 1]]
    with pytest.raises(gp.InvalidProblem, match="together is a table of 1 column: expected two"):
        p.require(together=frame[["left"]])
    with pytest.raises(gp.InvalidProblem, match=r"apart is one pair: expected .* \[\('ann', 'bob'\)\]"):
        p.require(apart=("ann", "bob"))
