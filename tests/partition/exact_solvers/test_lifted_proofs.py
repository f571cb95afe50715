"""Bounds, certificates and exact solvers where subsets have to be connected."""

from dataclasses import replace
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

import graphpart as gp
from graphpart.partition import proving
from graphpart.partition.bounds import relaxation
from graphpart.partition.bounds.connecting import Connecting
from graphpart.partition.certificates.certificate import certify
from graphpart.partition.certificates.exact_check import check_certificate, exact_bound
from graphpart.partition.certificates.inequalities import CUT, Inequalities
from graphpart.partition.exact_solvers import tree
from graphpart.partition.exact_solvers.whole import TreeParameters
from graphpart.partition.pieces.blocks import glued, split_at_articulations
from graphpart.partition.problem.rules import Rules
from graphpart.stopping import Stopping
from graphpart.testing import partition_problems

METHODS = ("negative-sum", "cycle-packing", "message-passing", "lp")


def problems(seed, random):
    return [p for _, p in partition_problems(seed, random, connected=True)]


def grid(height, width, seed, radius=2.0):
    return gp.generate.lifted_random(height, width, radius=radius, seed=seed).problem


def use_stored_pairs_only(monkeypatch):
    """Let relaxations have no other variables, as those of large problems."""
    sparse = replace(relaxation.PARAMETERS, complete_up_to=0, complete_from=2.0)
    monkeypatch.setattr(relaxation, "PARAMETERS", sparse)
    monkeypatch.setattr(tree, "PARAMETERS", sparse)


@pytest.mark.parametrize("sparse", [False, True])
def test_bounds_are_below_the_optimum_and_are_verified(sparse, monkeypatch):
    if sparse:
        use_stored_pairs_only(monkeypatch)
    cuts = tight = 0
    some = problems(5 + sparse, 60)
    for k, p in enumerate(some):  # "auto" is the semidefinite relaxation here
        r = gp.partition.brute_force(p)
        for method in (*METHODS, *(["auto"] if k % 15 == 14 else [])):
            proof = gp.partition.lower_bound(p, method)
            assert proof.bound <= r.cost + p._tolerance * p.n
            assert proof.verify(p)
            assert proof.verify(p, exact=True)
            cuts += int((proof.inequalities.kinds == CUT).sum())
            if method == "lp":
                check_certificate(p, proof.with_cost(r.cost), r.labels.tolist())
                tight += proof.bound >= r.cost - 1e-3 * max(1.0, abs(r.cost))
    assert cuts > 100
    assert tight > 0.8 * len(some)  # which needs cuts: connectedness dropped, fewer are


def test_connectedness_raises_the_bound():
    pairs, far = [(0, 1), (1, 2), (2, 3), (3, 0)], [(0, 2)]
    p = gp.SetPartition.from_pairs(4, pairs, [3.0] * 4, lifted=(far, [-2.0]))
    assert [gp.partition.lower_bound(p, method).bound for method in ("message-passing", "lp")] == [-2.0, 0.0]


def test_cuts_of_a_point_are_minimum_cuts():
    found = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        p = problems(seed, 1)[-1] if seed % 2 else grid(3, 4, seed)
        if len(p.must_join):
            continue
        u, v, cost = p.pairs()
        y = np.where(cost == np.inf, 0.0, rng.random(p.m) * (rng.random(p.m) < 0.8))
        connecting = Connecting(
            p, u, v, lambda keys, u=u, v=v, n=p.n: np.searchsorted(u.astype(np.int64) * n + v, keys)
        )
        value = {(a, b): x for a, b, x in zip(u.tolist(), v.tolist(), y.tolist(), strict=True)}
        wanted = {pair for pair, link in zip(value, connecting.links.tolist(), strict=True) if not link}
        cuts, amounts = connecting.cuts(y, np.ones(p.m, bool), 1e-6, 1000, np.inf, Stopping())
        starts, keys, signs, _ = cuts.terms(p.n)
        violations = {}
        for k, amount in enumerate(amounts.tolist()):
            kind, split, elements = cuts.item(k)
            assert (kind, split) == (CUT, 2)
            violations[tuple(elements[:2])] = amount
            some = slice(starts[k], starts[k + 1])
            left = sum(
                s * value[key // p.n, key % p.n]
                for key, s in zip(keys[some].tolist(), signs[some].tolist(), strict=True)
            )
            assert left == pytest.approx(amount)  # of an inequality whose right-hand side is 0
        for a, b in wanted:
            least = naive_minimum_cut(p, value, a, b)
            violation = value[a, b] - least
            assert (
                (violations.get((a, b), 0.0) == pytest.approx(violation))
                if violation > 2e-6
                else (a, b) not in violations
            )
        certify(p, "cuts", cuts, np.ones(len(cuts)))  # which raises an error unless each is one
        found += len(amounts)
    assert found > 50


def naive_minimum_cut(p, value, a, b):
    """By networkx, in a graph in which each element is an arc."""
    graph = nx.DiGraph()
    graph.add_nodes_from([("out", a), ("in", b)])
    for x in set(range(p.n)) - {a, b}:
        beside = [value[pair] for pair in (tuple(sorted((a, x))), tuple(sorted((b, x)))) if pair in value]
        graph.add_edge(("in", x), ("out", x), **({"capacity": min(beside)} if beside else {}))
    for x, y in zip(*(array.tolist() for array in p._links()), strict=True):
        for s, t in ((x, y), (y, x)):
            graph.add_edge(("out", s), ("in", t), capacity=value[x, y])
    graph.remove_nodes_from([("in", a), ("out", b)])
    return nx.minimum_cut_value(graph, ("out", a), ("in", b))


def test_sets_that_are_no_cuts_are_rejected():
    tried = rejected = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p = problems(seed, 1)[-1]
        classes = p._must_join_classes()
        a, b = rng.choice(p.n, 2, replace=False).tolist() if p.n > 1 else (0, 0)
        apart = {tuple(sorted((classes[x], classes[y]))) for x, y in p._must_cut.tolist()}
        links = {tuple(sorted((int(classes[x]), int(classes[y])))) for x, y in zip(*p._links(), strict=True)} - apart
        pairs = [
            pair for pair in combinations(range(p.n), 2) if rng.random() < 0.4 and classes[pair[0]] != classes[pair[1]]
        ]
        if classes[a] == classes[b]:
            continue
        pairs = [pair for pair in pairs if {classes[x] for x in pair} != {classes[a], classes[b]}]
        row = Inequalities.of([(CUT, 2, [a, b, *(x for pair in pairs for x in pair)])])
        graph = nx.Graph(pair for pair in links if pair[0] != pair[1])
        graph.add_nodes_from(classes.tolist())
        for pair in pairs:
            s, t = (int(classes[x]) for x in pair)
            ends = {classes[a], classes[b]} & {s, t}
            if ends:
                graph.remove_nodes_from({s, t} - ends)
            elif graph.has_edge(s, t):
                graph.remove_edge(s, t)
        is_cut = not nx.has_path(graph, int(classes[a]), int(classes[b]))
        tried, rejected = tried + 1, rejected + (not is_cut)
        if is_cut:
            proof = certify(p, "test", row, np.ones(1))
            assert proof.verify(p, exact=True)
            continue
        with pytest.raises(gp.errors.InvalidCertificate, match="cut"):
            certify(p, "test", row, np.ones(1))
        claimed = certify(p, "test", Inequalities.none(), np.zeros(0))
        with pytest.raises(gp.errors.InvalidCertificate, match="base pairs"):
            exact_bound(p, replace(claimed, inequalities=row, multipliers=np.ones(1)))
    assert 5 < rejected < tried - 5


def test_malformed_cuts_are_rejected():
    p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [1.0] * 3, lifted=([(0, 3)], [-1.0]))
    for split, elements in (
        (2, [0]),
        (2, [0, 3, 1]),
        (1, [0, 3, 1, 2]),
        (2, [0, 0]),
        (2, [0, 3, 1, 1]),
        (2, [0, 3, 1, 4]),
    ):
        row = Inequalities.of([(CUT, split, elements)])
        with pytest.raises(gp.errors.InvalidCertificate):
            certify(p, "test", row, np.ones(1))
        claimed = certify(p, "test", Inequalities.none(), np.zeros(0))
        with pytest.raises(gp.errors.InvalidCertificate):
            exact_bound(p, replace(claimed, inequalities=row, multipliers=np.ones(1)))
    plain = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3), (0, 3)], [1.0, 1.0, 1.0, -1.0], dense=False)
    row = Inequalities.of([(CUT, 2, [0, 3, 1, 2])])
    assert certify(p, "test", row, np.ones(1)).verify(p, exact=True)
    with pytest.raises(gp.errors.InvalidCertificate, match="does not ask for connected clusters"):
        certify(plain, "test", row, np.ones(1))


def test_labels_that_are_not_connected_fail_the_check():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], lifted=([(0, 2)], [-1.5]))
    proof = gp.partition.lower_bound(p, "negative-sum")
    check_certificate(p, proof, [0, 0, 0])
    with pytest.raises(gp.errors.InvalidCertificate, match="which no base pairs connect"):
        check_certificate(p, proof, [0, 1, 0])


@pytest.mark.parametrize("suffix", ["json", "npz"])
def test_certificates_with_cuts_are_saved_for_one_problem(suffix, tmp_path):
    p = grid(3, 4, 1)
    proof = gp.partition.lower_bound(p, "lp")
    assert (proof.inequalities.kinds == CUT).any()
    path = tmp_path / f"proof.{suffix}"
    proof.save(path)
    assert gp.partition.Certificate.load(path).verify(p, exact=True)
    u, v, cost = p.pairs()
    other = gp.SetPartition._of_pairs(range(p.n), u, v, cost, dense=False, rules=Rules(lifted=np.zeros(p.m, bool)))
    assert not proof.verify(other)
    zero = gp.SetPartition._of_pairs(range(p.n), u[1:], v[1:], cost[1:], dense=False, rules=Rules(lifted=p.lifted[1:]))
    more = gp.SetPartition._of_pairs(range(p.n), u, v, np.r_[0.0, cost[1:]], dense=False, rules=Rules(lifted=p.lifted))
    assert not gp.partition.lower_bound(zero, "negative-sum").verify(more)  # a base pair more, whose cost is 0


VARIANTS = [
    (False, TreeParameters()),
    (True, TreeParameters()),
    (True, TreeParameters(shrunk=0.01)),
    (True, TreeParameters(regions=5, shrunk=0.01)),
]


@pytest.mark.parametrize(("sparse", "parameters"), VARIANTS)
def test_branch_and_cut_agrees(sparse, parameters, monkeypatch):
    if sparse:
        use_stored_pairs_only(monkeypatch)
    monkeypatch.setattr(proving, "PARAMETERS", replace(proving.PARAMETERS, tree=parameters))
    for p in [*problems(11 + sparse, 30), *(grid(3, 4, seed) for seed in range(3))]:
        best, r = gp.partition.brute_force(p), gp.partition.exact(p)
        assert r.status == "optimal"
        assert r.cost == pytest.approx(best.cost, abs=1e-6 * max(1.0, p._magnitude))
        assert p.evaluate(r.labels) == r.cost
        assert r.lower_bound <= best.cost + p._tolerance


def test_what_exact_and_the_integer_program_find_beyond_enumeration():
    for seed in range(2):
        p = grid(4, 4, seed)
        r, s, t = gp.partition.ilp(p), gp.partition.exact(p), gp.solve(p)
        assert r.status == s.status == t.status == "optimal"
        assert r.cost == pytest.approx(s.cost) == pytest.approx(t.cost)


def test_the_integer_program_agrees():
    for p in problems(21, 20):
        best, r = gp.partition.brute_force(p), gp.partition.ilp(p)
        assert r.status == "optimal"
        assert r.cost == pytest.approx(best.cost, abs=1e-6 * max(1.0, p._magnitude))
    with pytest.raises(gp.errors.InvalidProblem, match="use cutting-plane"):
        gp.partition.ilp(grid(2, 2, 0), formulation="full")


def test_reduction_keeps_the_optimum():
    """Elements that attract nobody may link others, so nothing but components of base pairs is decided."""
    path = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [1.0, 1.0], lifted=([(0, 2)], [-5.0]))
    assert not len(gp.partition.persistency(path).cut)
    assert gp.partition.reduce(path).problem is path
    cut = 0
    for p in problems(31, 60):
        small = gp.partition.reduce(p)
        best = gp.partition.brute_force(small.problem)
        assert best.cost + small.constant == pytest.approx(gp.partition.brute_force(p).cost, abs=p._tolerance * p.n)
        assert p.evaluate(small.lift(best.labels)) == pytest.approx(best.cost + small.constant, abs=p._tolerance * p.n)
        cut += len(small.persistency.cut)
    assert cut


def test_blocks_give_an_optimum():
    divided = 0
    for p in problems(41, 80):
        if len(p.must_join) or p.n < 3:
            continue
        parts = [(mine, part, gp.partition.brute_force(part)) for mine, part in split_at_articulations(p)]
        divided += len(parts) > 1
        labels = glued(p.n, [(mine, r.labels) for mine, _, r in parts])
        best = gp.partition.brute_force(p).cost
        assert sum(r.cost for *_, r in parts) == pytest.approx(best, abs=p._tolerance * p.n)
        assert p.evaluate(labels) == pytest.approx(best, abs=p._tolerance * p.n)
    assert divided > 10


def test_planted_regions_are_proven():
    p = gp.generate.lifted_grid(20, 20, sigma=1.0, lifted_sigma=1.0, seed=0).problem
    r = gp.partition.exact(p, time_limit=60)
    assert r.status == "optimal"
    assert gp.partition.lower_bound(p, "lp").verify(p)
