"""Proofs with groups, sizes and numbers of clusters against brute force, and each part of them against a reference."""

import math
from dataclasses import replace

import numpy as np
import pytest
from grouped import grouped_problem, seeds
from scipy.optimize import linear_sum_assignment

import graphpart as gp
from graphpart.partition import beforehand, default, proving, races, within_limits
from graphpart.partition.bounds import _kernels, lower_bound
from graphpart.partition.bounds.assignment import assign, sides_of
from graphpart.partition.bounds.group_stars import GroupStars
from graphpart.partition.certificates.certificate import Certificate, proven_bound
from graphpart.partition.certificates.exact_check import check_certificate
from graphpart.partition.certificates.inequalities import GROUP_STAR, Inequalities
from graphpart.partition.problem import canonical, forms
from graphpart.partition.problem.groups import Groups
from graphpart.partition.reduction import persistency
from graphpart.stopping import Stopping

pytestmark = pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")  # of few costs, all may be negative


@pytest.fixture
def nothing_listed(monkeypatch):
    """Small problems are treated as large ones are: no matrix, and no pairs of groups that are listed."""
    modules = {"DENSE_UP_TO": (lower_bound, persistency, proving), "ELEMENTS": (forms, races)}
    for name, some in (modules | {"FEW": (forms,), "MORE": (forms,)}).items():
        for module in some:
            monkeypatch.setattr(module, name, 0)


def close(a, b):
    return abs(a - b) <= 1e-9 * max(1.0, abs(b))


# -------------------------------------------------------------------------------------------------------------- bounds


def test_bounds_and_reductions(nothing_listed, tmp_path):
    tight = joined = 0
    for seed in seeds(100):
        p = grouped_problem(seed)
        if p is None:
            continue
        best = gp.partition.brute_force(p)
        for method in ("negative-sum", "cycle-packing", "message-passing", "lp"):
            c = gp.partition.lower_bound(p, method)
            assert c.bound <= best.cost + 1e-12 * max(1.0, abs(best.cost)), (seed, method)
            c.check(p)
            assert check_certificate(p, c, best.labels.tolist()) >= c.bound
        tight += c.bound >= best.cost - 1e-3 * abs(best.cost) - 1e-9
        if seed % 20 == 0:
            for name in ("c.json", "c.npz"):
                c.save(tmp_path / name)
                assert Certificate.load(tmp_path / name).verify(p, exact=True)
        small = gp.partition.reduce(p)
        joined += len(small.persistency.joined)
        left = gp.partition.brute_force(small.problem)
        assert close(left.cost + small.constant, best.cost), seed
        assert close(p.evaluate(small.lift(left.labels)), best.cost), seed
    assert tight > 80 and joined > 60


def test_group_stars_are_checked():
    """A certificate with a group star over elements of no common group at price inf proves nothing."""
    costs = [-3.0, -2.0, -1.0]
    p = gp.SetPartition.from_pairs(4, [(0, 1), (0, 2), (0, 3)], costs, groups=["x", "A", "A", "B"], dense=False)
    star = Inequalities.of([(GROUP_STAR, 1, [0, 1, 2])])
    assert proven_bound(p, star, np.array([2.0])) == -4.0
    c = replace(gp.partition.lower_bound(p, "lp"), inequalities=star, multipliers=np.array([2.0]), bound=-4.0)
    assert check_certificate(p, c) == -4
    for bad in ([0, 1, 3], [0, 1, 2, 3], [0, 1, 1], [0]):
        wrong = Inequalities.of([(GROUP_STAR, 1, bad)])
        with pytest.raises(gp.GraphPartError):
            proven_bound(p, wrong, np.array([2.0]))
        with pytest.raises(gp.GraphPartError):
            check_certificate(p, replace(c, inequalities=wrong))
    soft = gp.SetPartition.from_pairs(
        4, [(0, 1), (0, 2), (0, 3)], costs, groups=list("xAAB"), group_cost=9, dense=False
    )
    for check in (lambda: proven_bound(soft, star, np.array([2.0])), lambda: check_certificate(soft, c)):
        with pytest.raises(gp.GraphPartError, match="members of one group at price inf"):
            check()
    assert not gp.partition.lower_bound(soft, "lp").verify(p)  # another price is another problem


def test_multipliers_of_group_stars_prove_what_they_say():
    for seed in seeds(40):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 12))
        u, v = np.triu_indices(n, 1)
        groups = Groups(n, np.arange(n), rng.integers(0, 3, n), np.ones(n, np.int64), np.full(3, math.inf))
        cost = np.where(np.isinf(groups.of_pairs(u, v)), 1.0, rng.normal(size=len(u)))
        stars = GroupStars(u.astype(np.int32), v.astype(np.int32), cost, groups)
        attraction = np.maximum(-cost, 0.0)
        stars.improve(attraction, Stopping())
        p = gp.SetPartition.from_pairs(n, (u, v), cost, groups=groups, dense=False)
        assert close(stars.value(attraction) - attraction.sum(), proven_bound(p, *stars.found()))
        values = [stars.value(attraction)]
        for k in range(5):  # each sweep gains what it says
            gained = _kernels.sweep_group_stars(
                stars.starts, stars.pair, attraction, stars.multipliers, stars.load, k % 2 == 0, Stopping()
            )
            values.append(stars.value(attraction))
            assert gained >= -1e-12 and close(values[-1] - values[-2], gained)


# ------------------------------------------------------------------------------------------------------------ matchings


def test_matching_against_scipy():
    for seed in seeds(300):
        rng = np.random.default_rng(seed)
        left, right = rng.integers(1, 9, 2).tolist()
        weights = rng.integers(0, rng.integers(2, 20), (left, right)) * (rng.random((left, right)) < rng.random())
        rows, columns = np.nonzero(weights)
        starts = np.searchsorted(rows, np.arange(left + 1)).astype(np.int64)
        each = weights[rows, columns].astype(float)
        mate, u, v = _kernels.matching(starts, columns.astype(np.int32), each, right, Stopping())
        matched = np.flatnonzero(mate >= 0)
        assert len(np.unique(mate[matched])) == len(matched)
        assert (u >= 0).all() and (v >= 0).all() and (u[rows] + v[columns] >= each).all()
        value = weights[matched, mate[matched]].sum()
        assert value == u.sum() + v.sum() == weights[linear_sum_assignment(-weights)].sum(), seed


def test_sides():
    """The components in which two groups have all elements, found by trying all pairs of groups."""
    for seed in seeds(100):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 10))
        groups = Groups(n, np.arange(n), rng.integers(0, 4, n), np.ones(n, np.int64), rng.choice([1.0, math.inf], 4))
        component = canonical(rng.integers(0, 3, n))
        of = [set(groups.group[groups.starts[a] : groups.starts[a + 1]].tolist()) for a in range(n)]
        side = sides_of(groups, component)
        for k in range(component.max() + 1):
            mine = np.flatnonzero(component == k).tolist()
            hard = [g for g in range(len(groups)) if groups.hard[g]]
            two = len(mine) > 1 and any(all(of[a] & {g, h} for a in mine) for g in hard for h in hard)
            assert (side[mine] >= 0).all() if two else (side[mine] < 0).all(), seed
            for s in (0, 1):
                some = [of[a] for a in mine if side[a] == s]
                assert not some or set.intersection(*some)


@pytest.mark.parametrize("seed", range(4))
def test_two_groups_are_an_assignment_problem(seed, nothing_listed):
    rng = np.random.default_rng(seed)
    n = 60
    a, b = rng.integers(0, n, (2, 300))
    weight = rng.random(300) if seed % 2 else rng.integers(1, 9, 300).astype(float)
    p = gp.SetPartition.from_pairs(2 * n, (a, n + b), -weight, groups=np.repeat([0, 1], n), dense=False)
    table = np.zeros((n, n))
    np.add.at(table, (a, b), weight)
    best = -table[linear_sum_assignment(-table)].sum()
    found = assign(p, Stopping())
    assert found is not None and found.is_all and close(found.cost, best) and close(found.bound, best)
    assert found.allowance == 0.0 if seed % 2 == 0 else found.allowance < 1e-12
    certificate = gp.partition.lower_bound(p, "lp")
    assert close(certificate.bound, best) and certificate.verify(p) and certificate.verify(p, exact=True)
    for method in ("auto", "exact"):
        r = gp.solve(p, method)
        assert r.status == "optimal" and close(r.cost, best)
    assert "by matching" in gp.solve(p).message


# ------------------------------------------------------------------------------------------------------ auto and exact


def agrees_with_brute_force(p, seed, methods, best):
    for method in methods:
        options = {"initial": p._must_join_classes()} if seed % 3 == 0 and p._limits is None else {}
        r = gp.solve(p, method, **options)
        assert p.evaluate(r.labels) == r.cost >= best.cost - 1e-9 * max(1.0, abs(best.cost)), (seed, method)
        assert r.lower_bound <= best.cost + 1e-9 * max(1.0, abs(best.cost)), (seed, method)
        assert r.status != "optimal" or close(r.cost, best.cost), (seed, method)
        assert r.status == "optimal" or method == "auto"


@pytest.mark.parametrize("implicit", [False, True])
def test_auto_and_exact_with_groups(implicit, request):
    if implicit:
        request.getfixturevalue("nothing_listed")
    # In the last two, a required cut links components between which pairs are not listed, but cost something.
    for seed in [*seeds(50), 505, 1751]:
        p = grouped_problem(seed)
        if p is not None:
            agrees_with_brute_force(p, seed, ("auto", "exact"), gp.partition.brute_force(p))


@pytest.mark.parametrize("raced", [False, True])
def test_auto_and_exact_within_limits(raced, monkeypatch):
    if raced:
        monkeypatch.setattr(within_limits, "ENUMERATED_ELEMENTS", 0)
        monkeypatch.setattr(within_limits, "PATIENCE", 0.2)
    infeasible = 0
    for seed in seeds(20 if raced else 60):
        p = grouped_problem(seed, limits=True)
        if p is None:
            continue
        try:
            best = gp.partition.brute_force(p)
        except gp.InfeasibleProblem:
            infeasible += 1
            if not raced:
                with pytest.raises(gp.InfeasibleProblem):
                    gp.solve(p)
            continue
        agrees_with_brute_force(p, seed, ("auto", "exact"), best)
        c = gp.partition.lower_bound(p, "lp")  # without the limits, which is valid within them
        assert c.bound <= best.cost + 1e-9 and c.verify(p, exact=True)
    assert raced or infeasible < 20


def test_two_clusters_are_a_maximum_cut():
    rng = np.random.default_rng(0)
    n = 16  # more than are enumerated
    u, v = np.triu_indices(n, 1)
    weight = rng.integers(-3, 6, len(u)).astype(float)
    p = gp.SetPartition.from_pairs(n, (u, v), weight, n_clusters=(1, 2))
    sides = (np.arange(2 ** (n - 1))[:, None] >> np.arange(n)) & 1
    least = min(float(weight[side[u] == side[v]].sum()) for side in sides)
    r = gp.solve(p, time_limit=1)
    assert r.cost == least >= r.lower_bound


def test_first_bound_and_joins_beforehand(nothing_listed):
    """What is left of a problem has the same optimum, up to the constant."""
    for seed in seeds(60):
        p = grouped_problem(seed)
        if p is None:
            continue
        best = gp.partition.brute_force(p).cost
        left = beforehand.Beforehand(p, Stopping())
        r = gp.solve(left.problem, "exact")
        assert close(r.cost + left.constant, best) and left.bound <= best + 1e-9
        assert close(p.evaluate(left.lift(canonical(r.labels))), best)
        if left.assigned is not None:
            rest = left.problem._restrict(left.assigned.elements)
            assert close(gp.partition.brute_force(rest).cost, left.assigned.cost)


# ------------------------------------------------------------------------------------------------ changes and extension


def test_doubts_with_groups():
    decided = 0
    for seed in seeds(25):
        p = grouped_problem(seed, largest=7, requirements=False)
        best = gp.partition.brute_force(p)
        d = gp.partition.doubts(p, best, method="exact")
        assert d.gain <= 1e-9
        rows = zip(*(d.pairs[name].tolist() for name in ("left", "right", "joined", "doubt")), strict=True)
        for a, b, joined, doubt in rows:
            try:
                q = p.require(apart=[(a, b)]) if joined else p.require(together=[(a, b)])
                other = gp.partition.brute_force(q).cost - best.cost
            except gp.InfeasibleProblem:
                other = math.inf
            assert other == doubt or abs(other - doubt) < 1e-8, (seed, a, b)
        decided += d.by_price.rows
    assert decided > 0


def test_doubts_name_what_the_price_decides():
    pairs, costs = [(0, 1), (1, 2), (0, 2), (2, 3)], [-3.0, -2.0, -0.5, -1.0]
    p = gp.SetPartition.from_pairs(4, pairs, costs, list("abcd"), groups=["A", "B", "A", "B"], group_cost=4.0)
    d = gp.partition.doubts(p, gp.solve(p))
    assert (d.by_price["left"].tolist(), d.by_price["right"].tolist()) == (["a"], ["c"])
    assert "the price of a group cuts 1 pair, the least sure: 'a' and 'c'" in repr(d)


def test_extend_with_groups():
    for seed in seeds(40):
        p = grouped_problem(seed, requirements=False)
        if p.n < 3:
            continue
        rng = np.random.default_rng(seed)
        old = np.sort(rng.choice(p.n, int(rng.integers(1, p.n)), replace=False))
        part = p._restrict(old)
        known = gp.solve(part).labels
        if seed % 3 == 0:  # clusters that no attraction holds together
            other = canonical(rng.integers(0, 2, part.n))
            known = other if np.isfinite(part._evaluate_labels(other)) else known
        given = dict(zip(part.nodes, known.tolist(), strict=True))
        frozen = gp.partition.extend(p, given)
        assert p.evaluate(frozen.labels) == pytest.approx(frozen.cost)
        assert np.array_equal(canonical(frozen.labels[old]), canonical(known))
        free = gp.partition.extend(p, given, freeze=False, before=part)
        best = gp.partition.brute_force(p).cost
        assert best - 1e-9 <= free.cost <= frozen.cost + 1e-9 and free.lower_bound <= best + 1e-9


def test_frozen_clusters_with_a_clash_are_named():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, -1.0], list("abc"), groups=["A", "B", "A"], dense=False)
    with pytest.raises(gp.InvalidPartition, match="'a' and 'c' must be cut but are in one frozen cluster"):
        gp.partition.extend(p, {"a": 0, "c": 0})
    assert len(gp.partition.extend(p, {"a": 0, "b": 0, "c": 0}, freeze=False).partition) == 2


# --------------------------------------------------------------------------------- pairs of components are not listed


@pytest.mark.parametrize("method", ["auto", "exact", "ilp"])
def test_required_cuts_do_not_connect_components(method):
    """Pairs between components of attracting pairs are not listed, so nothing may be proven for their union."""
    pairs = [(0, 3), (1, 4), (1, 5), (2, 3), (4, 5), (4, 6), (5, 6)]
    costs, groups, cuts = [-4.0, 5.0, -0.5, 3.0, -1.0, -0.6, 5.0], [-1, -1, -1, 2, 2, -1, -1], [(2, 4), (0, 1)]
    p = gp.SetPartition.from_pairs(7, pairs, costs, groups=groups, group_cost=2.0, must_cut=cuts, dense=False)
    for initial in (None, [0] * 7, [0, 1, 2, 3, 2, 1, 0]):  # the last ones join pairs that must be cut
        r = gp.solve(p, method, initial=initial)
        assert r.status == "optimal"
        assert close(r.cost, -5.1) and close(r.lower_bound, -5.1) and close(p.evaluate(r), -5.1)


@pytest.mark.parametrize(("method", "limit"), [("auto", None), ("auto", 1e-9), ("exact", None), ("ilp", 1e-9)])
def test_cost_of_pieces_of_a_start(method, limit):
    """Pieces of a cluster that no listed pair connects may cost less than the cluster."""
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [3.0, 2.0], groups=[0, 1, 0], dense=False)
    r = gp.solve(p, method, initial=[0, 1, 1], time_limit=limit)
    assert r.cost == p.evaluate(r)
    assert r.lower_bound <= 0.0


@pytest.mark.parametrize("chunk", range(4))
def test_starts_and_cuts_against_brute_force(chunk):
    for seed in range(1000 + 30 * chunk, 1030 + 30 * chunk):
        p = grouped_problem(seed)
        if p is None:
            continue
        rng = np.random.default_rng(seed)
        cuts = [(a, b) for a, b in rng.integers(0, p.n, (3, 2)).tolist() if a != b]
        try:
            p = p.require(apart=cuts)
        except gp.InfeasibleProblem:
            continue
        best = gp.partition.brute_force(p).cost
        for method in ("auto", "exact"):
            r = gp.solve(p, method, initial=rng.integers(0, p.n, p.n))
            assert close(r.cost, p.evaluate(r)), (seed, method)
            assert close(r.cost, best), (seed, method)
            assert r.lower_bound <= best + 1e-9 * max(1.0, abs(best)), (seed, method)


def test_matching_that_takes_all_of_the_time_is_the_result(monkeypatch):
    class Late(beforehand.Beforehand):
        def __init__(self, p, stopping):
            super().__init__(p, stopping)
            stopping.stop("time_limit")

    monkeypatch.setattr(default, "Beforehand", Late)
    p = gp.SetPartition.from_pairs(4, [(0, 2), (0, 3), (1, 2), (1, 3)], [-3.0, -2.0, -2.5, -0.5], groups=[0, 0, 1, 1])
    r = gp.solve(p, time_limit=60)
    assert (r.cost, str(r.status)) == (-4.5, "optimal")
