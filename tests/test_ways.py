"""One problem said in several ways: the same cost, and the same status."""

import numpy as np
import pulp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.common.judge import Judge
from graphpart.crf.certificates.judging import judge_of_labels
from graphpart.methods import methods_for
from graphpart.partition.certificates.judging import judge_of_partition


def of_groups(n, group, u, v, costs, way):
    """Elements of which no two of one group may be together, said in a way."""
    apart = group[u] != group[v]
    pairs, costs = np.stack([u, v], 1), np.asarray(costs, float)
    if way in ("groups", "groups in a matrix"):
        return gp.SetPartition.from_pairs(n, pairs[apart], costs[apart], groups=group, dense=way != "groups")
    a, b = np.triu_indices(n, 1)
    same = group[a] == group[b]
    cuts = np.stack([a[same], b[same]], 1)
    if way == "cuts":
        return gp.SetPartition.from_pairs(n, pairs[apart], costs[apart], must_cut=cuts, dense=False)
    matrix = np.zeros((n, n))
    matrix[u[apart], v[apart]] = matrix[v[apart], u[apart]] = costs[apart]
    matrix[a[same], b[same]] = matrix[b[same], a[same]] = np.inf
    return gp.SetPartition.from_matrix(matrix, dense=True)


@pytest.mark.filterwarnings("ignore:.*costs are infinite")
@settings(max_examples=trials(60))
@given(st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.1, 0.3333]))
def test_groups_cuts_and_matrices_are_one_problem(n, groups, seed, unit):
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < rng.uniform(0.3, 1.0)
    u, v = u[some], v[some]
    costs = rng.integers(-9, 6, len(u)) * unit
    best = gp.partition.brute_force(of_groups(n, group, u, v, costs, "matrix")).cost
    for way in ("groups", "groups in a matrix", "cuts", "matrix"):
        p = of_groups(n, group, u, v, costs, way)
        for method in ("auto", "exact"):
            r = gp.solve(p, method)
            assert r.cost == pytest.approx(best, abs=1e-9) and str(r.status) == "optimal", (way, method)
            assert p.evaluate(r.labels) == r.cost


@pytest.mark.filterwarnings("ignore:.*costs are infinite")
@pytest.mark.parametrize("groups", [2, 3])
def test_larger_groups_are_proven_in_every_way(groups):
    size = 120 if groups == 2 else 10  # two groups are a matching of any size
    rng = np.random.default_rng(3)
    n, group = groups * size, np.repeat(np.arange(groups), size)
    u, v = np.triu_indices(n, 1)
    costs = rng.normal(0.3, 1.0, len(u))
    found = {
        (way, method): gp.solve(of_groups(n, group, u, v, costs, way), method)
        for way in ("groups", "groups in a matrix", "cuts", "matrix")
        for method in ("auto", "exact")
    }
    assert {str(r.status) for r in found.values()} == {"optimal"}
    costs = [r.cost for r in found.values()]
    assert max(costs) - min(costs) < 1e-9
    if groups == 2:
        assert all("matching" in r.message for (_, method), r in found.items() if method == "auto")


@settings(max_examples=trials(40))
@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.sampled_from([1.0, 0.25, 0.3333]))
def test_two_clusters_labels_spins_and_zeros_and_ones_are_one_problem(n, seed, unit):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    costs = rng.integers(-9, 10, len(u)) * unit
    pairs = list(zip(u.tolist(), v.tolist(), strict=True))
    p = gp.SetPartition.from_pairs(n, pairs, costs, n_clusters=(1, 2))
    labels = gp.FactorGraph.from_arrays([2] * n, [(np.array(pairs), costs[:, None, None] * np.eye(2))])
    spins = gp.FactorGraph.from_ising(
        dict(zip(pairs, -costs / 2, strict=True)), dict.fromkeys(range(n), 0.0), constant=costs.sum() / 2
    )
    each = -np.bincount(np.concatenate([u, v]), np.tile(costs, 2), n)
    Q = dict(zip(pairs, 2 * costs, strict=True)) | {(a, a): each[a] for a in range(n)}
    bits = gp.FactorGraph.from_qubo(Q, constant=costs.sum())
    best = gp.partition.brute_force(p).cost
    for problem in (p, labels, spins, bits):
        for method in ("auto", "exact"):
            r = gp.solve(problem, method)
            assert r.cost == pytest.approx(best, abs=1e-8) and str(r.status) == "optimal", method
            if problem is not p:
                assert p.evaluate(r.labels) == pytest.approx(best, abs=1e-8)


@settings(max_examples=trials(40))
@given(st.integers(2, 9), st.integers(0, 2**32 - 1), st.booleans())
def test_prices_of_groups_are_costs_of_listed_pairs(n, seed, dense):
    rng = np.random.default_rng(seed)
    group, (u, v) = rng.integers(0, 3, n), np.triu_indices(n, 1)
    costs, same = rng.integers(-9, 6, len(u)).astype(float), group[u] == group[v]
    pairs = np.stack([u, v], 1)
    listed = gp.SetPartition.from_pairs(n, pairs, costs + 2.5 * same)
    priced = gp.SetPartition.from_pairs(n, pairs, costs, groups=group, group_cost=2.5, dense=dense)
    best = gp.partition.brute_force(listed).cost
    for p in (listed, priced):
        for method in ("auto", "exact"):
            r = gp.solve(p, method)
            assert r.cost == pytest.approx(best, abs=1e-9) and str(r.status) == "optimal", method
            assert listed.evaluate(r.labels) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_factor_graph_its_integer_program_and_its_file_are_one_problem(seed, tmp_path):
    rng = np.random.default_rng(seed)
    pairs = np.stack(np.triu_indices(6, 1), 1)
    tables = rng.integers(0, 9, (len(pairs), 3, 3)).astype(float)
    f = gp.FactorGraph.from_arrays([3] * 6, [(pairs, tables)])
    best = gp.crf.brute_force(f).cost
    gp.write(f, str(tmp_path / "f.wcsp"))
    for problem in (f, gp.read(str(tmp_path / "f.wcsp"))):
        r = gp.solve(problem)
        assert r.cost == pytest.approx(best) and str(r.status) == "optimal"
        assert f.evaluate(r.labels) == pytest.approx(best)
    lp = gp.crf.to_pulp(f)
    lp.solve(pulp.HiGHS(msg=False))
    assert pulp.value(lp.objective) == pytest.approx(best)


KINDS = ("plain", "matrix", "groups", "two groups", "prices", "sizes", "two clusters", "missing", "connected", "lifted")


@settings(max_examples=trials(40))
@given(st.integers(2, 16), st.integers(0, 3), st.sampled_from(KINDS), st.integers(0, 2**32 - 1))
def test_a_proof_that_is_there_is_said(n, decimals, kind, seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < rng.uniform(0.2, 0.9)
    costs = rng.normal(-0.5, 5.0, some.sum()).round(decimals)
    options = {
        "plain": {"dense": False},
        "matrix": {"dense": True},
        "prices": {"groups": rng.integers(0, 3, n), "group_cost": 0.7},
        "connected": {"connected": True},
        "lifted": {"lifted": (np.stack([u[~some], v[~some]], 1), rng.normal(size=(~some).sum()).round(decimals))},
        "groups": {"groups": rng.integers(0, max(1, n // 3), n)},
        "two groups": {"groups": rng.integers(0, 2, n)},
        "sizes": {"max_size": int(rng.integers(1, 6))},
        "two clusters": {"n_clusters": (1, 2)},
        "missing": {"missing": 0.1},
    }[kind]
    p = gp.SetPartition.from_pairs(n, (u[some], v[some]), costs, **options)
    judge = judge_of_partition(p)
    for method in methods_for("partition"):
        if method.name == "brute-force" and n > 8:
            continue
        try:
            r = gp.solve(p, method.name, time_limit=1.0)
        except gp.GraphPartError:  # a method that refuses such problems
            continue
        if judge.meets(r.lower_bound, r.cost):
            assert r.status == "optimal" and r.gap == 0, method.name
        assert "time limit" not in r.message or r.seconds >= 0.9, method.name


@settings(max_examples=trials(40))
@given(st.integers(2, 20), st.integers(2, 4), st.integers(0, 3), st.integers(0, 2**32 - 1))
def test_a_proof_of_labels_that_is_there_is_said(n, domain, decimals, seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    some = rng.random(len(u)) < rng.uniform(0.1, 0.4)
    pairs = np.stack([u[some], v[some]], 1)
    unary = rng.normal(size=(n, domain)).round(decimals)
    tables = rng.normal(size=(len(pairs), domain, domain)).round(decimals)
    f = gp.FactorGraph.from_arrays([domain] * n, [(np.arange(n)[:, None], unary), (pairs, tables)])
    for method in methods_for("crf"):
        try:
            r = gp.solve(f, method.name, time_limit=1.0)
        except gp.GraphPartError:
            continue
        judge = judge_of_labels(f, r.labels)
        if method.name in ("icm", "expansion"):  # whose bound is the sum of all least entries
            judge = Judge()
        if judge.meets(r.lower_bound, r.cost):
            assert r.status == "optimal" and r.gap == 0, method.name
        assert "time limit" not in r.message or r.seconds >= 0.9, method.name


@settings(max_examples=trials(60))
@given(st.integers(0, 9), st.integers(0, 2**32 - 1))
def test_connectedness_without_lifted_pairs_is_for_free(n, seed):
    rng = np.random.default_rng(seed)
    u, v = np.triu_indices(n, 1)
    drawn = rng.random(len(u))
    listed, cut = drawn < 0.5, drawn > 0.9
    pairs, cuts = np.stack([u[listed], v[listed]], 1), np.stack([u[cut], v[cut]], 1)
    costs = rng.integers(-4, 4, len(pairs)) * 0.1  # with base pairs of cost 0
    plain = gp.SetPartition.from_pairs(n, pairs, costs, must_cut=cuts, dense=False)
    connected = gp.SetPartition.from_pairs(n, pairs, costs, must_cut=cuts, connected=True)
    best = gp.partition.brute_force(connected).cost
    assert gp.partition.brute_force(plain).cost == pytest.approx(best, abs=1e-9)
    start = rng.integers(0, 3, n)
    for method, known in (("auto", None), ("exact", None), ("auto", start)):
        r = gp.solve(connected, method, initial=known, certificate=True)
        assert str(r.status) == "optimal" and r.cost == pytest.approx(best, abs=1e-9)
        assert connected.evaluate(r.labels) == r.cost
        assert r.certificate.verify(connected, exact=True) and r.problem is connected
