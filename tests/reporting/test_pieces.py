"""The pieces of reports, against naive ones: words, layouts, grids, sums over pairs, performance profiles."""

import dataclasses
import math

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart.display import percent
from graphpart.display.grids import grid_of
from graphpart.display.layout import parts_in_rows
from graphpart.reporting.pair_totals import pair_totals
from graphpart.reporting.profiles import best_costs, gaps, profile, ratios, times_to
from graphpart.reporting.words import facts_of, gap_of, verdict

RESULT = gp.solve(gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-2.0, 1.0]))


def with_bound(cost, bound, status=gp.Status.TIME_LIMIT):
    return dataclasses.replace(RESULT, cost=cost, lower_bound=bound, status=status)


def test_the_gap_is_one_number_wherever_it_is():
    rng = np.random.default_rng(1)
    for _ in range(trials(200)):
        cost = float(rng.normal() * 10.0 ** rng.integers(-3, 6))
        result = with_bound(cost, cost - abs(float(rng.normal())) * 10.0 ** rng.integers(-8, 3))
        assert gap_of(result) == f"the gap is {result.summary()['gap']}" == f"the gap is {percent(result.gap)}"
        assert dict(facts_of(result, {}))["gap, relative to the cost"] == result.summary()["gap"]


@pytest.mark.parametrize(
    ("cost", "bound", "status", "head"),
    [
        (-12.0, -12.0, gp.Status.OPTIMAL, "Optimal"),
        (-12.0, -12.0, gp.Status.TIME_LIMIT, "Optimal"),
        (-249.0, -250.0, gp.Status.TIME_LIMIT, "Not proven optimal: the gap is 0.402%"),
        (101.0, 100.0, gp.Status.LOCAL_OPTIMUM, "Not proven optimal: the gap is 0.99%"),
        (1.0, -1.0, gp.Status.LOCAL_OPTIMUM, "Not proven optimal: the gap is 200%"),
        (0.0, -0.123, gp.Status.LOCAL_OPTIMUM, "Not proven optimal: the bound is 0.123 below"),
        (-12.0, -math.inf, gp.Status.FEASIBLE, "How good this is has not been proven"),
        (math.inf, 3.0, gp.Status.NOT_FOUND, "No allowed partition was found"),
        (math.inf, math.inf, gp.Status.OPTIMAL, "There is no allowed partition"),
    ],
)
def test_headlines(cost, bound, status, head):
    assert verdict(with_bound(cost, bound, status), "partition")[0] == head


@pytest.mark.parametrize("seed", range(10))
def test_parts_that_no_line_links_do_not_overlap(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 60))
    radius = rng.uniform(0.1, 1.0, n)
    lines = rng.integers(0, n, (2, int(rng.integers(0, n))))
    x, y = parts_in_rows(radius, *lines)
    part = np.arange(n)
    for _ in range(n):
        for a, b in lines.T:
            part[[a, b]] = min(part[a], part[b])
    distance = np.hypot(x[:, None] - x, y[:, None] - y)
    apart = part[:, None] != part
    assert np.isfinite(distance).all() and (distance[apart] > (radius[:, None] + radius)[apart] - 1e-9).all()


def test_grids_are_found_and_nothing_else():
    def neighbours(h, w, diagonal=False):
        index = np.arange(h * w).reshape(h, w)
        pairs = [(index[:, :-1], index[:, 1:]), (index[:-1], index[1:])]
        if diagonal:
            pairs += [(index[:-1, :-1], index[1:, 1:])]
        return tuple(np.concatenate([p[k].ravel() for p in pairs]) for k in (0, 1))

    for h, w in ((3, 3), (5, 9), (9, 5), (2, 12)):
        for diagonal in (False, True) if min(h, w) > 2 and h * w > 9 else (False,):
            row, column = grid_of(range(h * w), *neighbours(h, w, diagonal))
            assert (row * w + column == np.arange(h * w)).all() and row.max() == h - 1
    chain = np.arange(20)
    assert grid_of(range(20), chain[:-1], chain[1:]) is None
    rng = np.random.default_rng(0)
    assert grid_of(range(100), *rng.integers(0, 100, (2, 300))) is None
    none = np.zeros(0, np.int64)
    assert grid_of([f"person {i}" for i in range(30)], none, none) is None
    assert grid_of([f"room 1 bed {i}" for i in range(30)], none, none) is None  # a single row
    assert grid_of([f"p{i}_{i}" for i in range(30)], none, none) is None  # a diagonal
    assert grid_of([("a", i) for i in range(30)], none, none) is None
    assert grid_of([("1", "2")] * 9, none, none) is None


@pytest.mark.parametrize("dense", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_sums_over_pairs(seed, dense, monkeypatch):
    from graphpart.reporting import pair_totals as module

    monkeypatch.setattr(module, "CHUNK", 17)  # several blocks
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 25))
    u, v = np.triu_indices(n, 1)
    cost = rng.integers(-3, 4, len(u)).astype(float)
    kept = rng.random(len(u)) < 0.5
    p = gp.SetPartition.from_pairs(n, np.stack([u[kept], v[kept]], 1), cost[kept], dense=dense)
    labels = gp.solve(p, "greedy-joining").labels
    k = int(labels.max()) + 1
    chosen = np.flatnonzero(rng.random(k) < 0.7)
    between = np.zeros((3, k, k))
    order, cells, most = rng.permutation(n), int(rng.integers(1, n + 1)), 3
    found = pair_totals(p, labels, chosen, order, cells, most)
    inside, outside, own, kinds = np.zeros(k), np.zeros(k), np.zeros(n), np.zeros(4, int)
    lines = [[], [], [], []]
    place = {int(e): i * cells // n for i, e in enumerate(order)}
    mean = {}
    for a, b, c in zip(*(x[kept].tolist() for x in (u, v, cost)), strict=True):
        joined = labels[a] == labels[b]
        if joined:
            inside[labels[a]] += c
            own[[a, b]] += c
        else:
            outside[labels[[a, b]]] += c
            between[:, min(labels[[a, b]]), max(labels[[a, b]])] += (c, 1, c < 0)
        if c:
            kind = (0 if c < 0 else 2) if joined else (1 if c > 0 else 3)
            kinds[kind] += 1
            lines[kind].append(abs(c))
        mean.setdefault(tuple(sorted((place[a], place[b]))), []).append(c)
    assert np.allclose(found.inside, inside) and np.allclose(found.outside, outside) and np.allclose(found.own, own)
    assert (found.kinds == kinds).all()
    assert np.allclose(found.between[::2], between[np.ix_((0, 2), chosen, chosen)])
    assert dense or (found.between[1] == between[1][np.ix_(chosen, chosen)]).all()
    for kind in range(4):
        mine = np.abs(found.links[2][found.links[3] == kind])
        assert sorted(mine.tolist(), reverse=True) == sorted(lines[kind], reverse=True)[:most]
    if not dense:
        for cell, costs in mean.items():
            assert math.isclose(found.cells[cell], sum(costs) / len(costs), abs_tol=1e-12)
        assert np.count_nonzero(~np.isnan(found.cells)) == len(mean)


def test_performance_profiles_against_their_definition():
    rng = np.random.default_rng(3)
    for _ in range(50):
        methods, instances = "abc"[: rng.integers(1, 4)], range(int(rng.integers(1, 8)))
        runs = [
            {"method": m, "instance": i, "cost": float(rng.integers(-9, -3)), "seconds": float(rng.random() + 0.01)}
            for i in instances
            for m in methods
            if rng.random() < 0.9
        ]
        if not runs:
            continue
        tolerance = float(rng.choice([0.0, 0.2]))
        times = {(r["method"], r["instance"]): r for r in runs}
        best = {i: min(r["cost"] for r in runs if r["instance"] == i) for i in {r["instance"] for r in runs}}
        assert best_costs(runs) == best
        found = ratios(times_to(runs, tolerance))
        ran = list(dict.fromkeys(r["method"] for r in runs))
        for method in ran:
            share = profile(found[method])
            for tau in (1.0, 1.5, 4.0, 1e9):
                count = 0
                for i in best:
                    reached = {
                        m: times[m, i]["seconds"]
                        for m in ran
                        if (m, i) in times and times[m, i]["cost"] <= best[i] * (1 - tolerance) + 1e-9
                    }
                    count += method in reached and reached[method] <= tau * min(reached.values()) * (1 + 1e-12)
                below = [s for x, s in zip(*share, strict=True) if x <= tau * (1 + 1e-12)]
                assert math.isclose(below[-1] if below else 0.0, count / len(best))
        for method, relative in gaps(runs).items():
            expected = sorted(
                (times[method, i]["cost"] - best[i]) / abs(best[i]) if (method, i) in times else math.inf for i in best
            )
            assert np.allclose(relative, expected)


def test_time_to_a_cost_is_read_from_the_history():
    run = {
        "method": "a",
        "instance": "i",
        "cost": -10.0,
        "seconds": 5.0,
        "history": ((1.0, -9.0), (2.0, -9.95), (4.0, -10.0)),
    }
    assert times_to([run], 0.0) == {"a": {"i": 4.0}} and times_to([run], 0.01) == {"a": {"i": 2.0}}
    assert times_to([{**run, "best known": -11.0}], 0.0) == {"a": {"i": math.inf}}
