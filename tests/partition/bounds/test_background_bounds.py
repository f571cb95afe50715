"""Lower bounds, reductions and proofs with a background, against the dense form, brute force and exact arithmetic."""

import importlib
import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from backgrounds import background_problem
from trials import trials

import graphpart as gp
from graphpart.errors import InvalidCertificate, InvalidProblem
from graphpart.generate.networks import clustered_network
from graphpart.partition.bounds import _kernels
from graphpart.partition.bounds.background_packing import ImplicitPacking, centres
from graphpart.partition.bounds.bounding import Bounding
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.certificates.exact_check import check_certificate
from graphpart.partition.certificates.inequalities import TWO_PARTITION
from graphpart.partition.problem.background import Background
from graphpart.result import Status
from graphpart.stopping import Stopping

bounds = importlib.import_module("graphpart.partition.bounds.lower_bound")
reduction = importlib.import_module("graphpart.partition.reduction.persistency")
exact_solver = importlib.import_module("graphpart.partition.proving")
METHODS = ("negative-sum", "cycle-packing", "message-passing", "lp", "auto")


@pytest.fixture(autouse=True)
def never_dense(monkeypatch):
    monkeypatch.setattr(bounds, "DENSE_UP_TO", 0)
    monkeypatch.setattr(reduction, "DENSE_UP_TO", 0)
    monkeypatch.setattr(exact_solver, "DENSE_UP_TO", 0)


def whole_numbers(p, rng):
    """The same pairs with small whole costs."""
    cost = np.where(np.isfinite(p.cost), np.round(2 * np.nan_to_num(p.cost, posinf=0)) - 1, p.cost)
    joins = p.must_join.tolist()
    return gp.SetPartition.from_pairs(
        p.n, (p.u, p.v), cost, missing=float(rng.integers(1, 3)), dense=False, must_join=joins
    )


def problems(seed, count, **options):
    print(f"seed {seed}")
    for k in range(count):
        rng = np.random.default_rng([seed, k])
        p = background_problem(rng, **options)
        yield rng, (whole_numbers(p, rng) if k % 3 == 0 and options.get("repels", True) else p)


# -------------------------------------------------------------------------------------------------------- certificates


@pytest.mark.parametrize("repels", [True, False])
def test_bounds_hold_and_certificates_verify(repels):
    for k, (_, p) in enumerate(problems(11, 100, repels=repels, largest=9)):
        optimum = gp.partition.brute_force(p._to_dense())
        for method in METHODS[:3] if k % 4 else METHODS[3:]:
            c = gp.partition.lower_bound(p, method)
            assert c.bound <= optimum.cost + 1e-9
            assert c.verify(p) and c.verify(p, exact=True)
            assert check_certificate(p, c.with_cost(optimum.cost), optimum.labels.tolist()) >= Fraction(c.bound)
            if method == "lp" and repels and c.step:
                assert c.bound == optimum.cost  # the relaxation of so few elements is tight up to less than a step


def test_lazy_relaxation_is_as_good_as_cycles_of_all_pairs():
    for _, p in problems(5, 30, largest=8, requirements=False):
        if p.background is None or p.n < 3:
            continue
        optimum = gp.partition.brute_force(p._to_dense()).cost
        lp = gp.partition.lower_bound(p, "lp").bound
        packed = gp.partition.lower_bound(p, "cycle-packing").bound
        assert trivial_bound(p) - 1e-9 <= packed <= lp + 1e-3 * (1 + abs(optimum))
        dense = gp.SetPartition.from_matrix(p._to_dense().matrix)
        u, v, cost = dense.pairs()
        cycles_only = gp.partition.lower_bound(gp.SetPartition.from_pairs(p.n, (u, v), cost, dense=False), "lp").bound
        assert lp >= cycles_only - 1e-3 * (1 + abs(optimum))


def naive_bound(p, certificate):
    """What multipliers prove, over all pairs in fractions."""
    listed = {(a, b): Fraction(c) for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True) if c < math.inf}
    cut = {tuple(pair) for pair in p._must_cut.tolist()}
    reduced = {}
    for a in range(p.n):
        for b in range(a + 1, p.n):
            total = listed.get((a, b), Fraction(0))
            for beta, x, *y in p.background.terms:
                f = [[Fraction(float(w[i])) for i in (a, b)] for w in (x, *y)]
                total += Fraction(beta) * (f[0][0] * f[0][1] if not y else f[0][0] * f[1][1] + f[0][1] * f[1][0])
            reduced[a, b] = total
    constant = Fraction(0)
    starts, keys, signs, rhs = certificate.inequalities.terms(p.n)
    for k, multiplier in enumerate(certificate.multipliers.tolist()):
        constant -= Fraction(multiplier) * Fraction(float(rhs[k]))
        for i in range(starts[k], starts[k + 1]):
            reduced[divmod(int(keys[i]), p.n)] += int(signs[i]) * Fraction(multiplier)
    return constant + sum((r for pair, r in reduced.items() if r < 0 and pair not in cut), Fraction(0))


def test_what_multipliers_prove_is_never_more_than_all_pairs_say():
    for k, (rng, p) in enumerate(problems(3, 100, largest=8, requirements=False, repels=False)):
        if p.background is None:
            continue
        if k % 4 == 0:  # very different magnitudes
            w = rng.normal(size=p.n) * 10.0 ** rng.integers(-9, 9, p.n)
            p = gp.SetPartition.from_pairs(p.n, (p.u, p.v), p.cost, background=[(0.3, w), (-0.1, w, -w)], dense=False)
        c = gp.partition.lower_bound(p, "cycle-packing")
        proven = naive_bound(p, c)
        assert Fraction(c.bound) <= proven or c.step
        # Of pairs that no inequality names, and that are not listed, each negative term counts.
        if p.background.repels or (len(p.background.terms) == 1 and len(p.background.terms[0]) == 2):
            assert float(proven) == pytest.approx(c.bound, rel=1e-9, abs=1e-9 * p._magnitude) or c.step


def test_altered_certificates_are_refused():
    p = gp.SetPartition.from_editing(nx.gnp_random_graph(60, 0.1, seed=1), dense=False)
    c = gp.partition.lower_bound(p, "message-passing")
    assert c.step == 1.0 and c.verify(p)
    other = gp.SetPartition.from_pairs(60, (p.u, p.v), p.cost, background=Background([(2.0, np.ones(60))]), dense=False)
    assert not c.verify(other) and not c.verify(other, exact=True)
    with pytest.raises(InvalidCertificate, match="belongs to another problem"):
        c.check(other)
    for change in ({"bound": c.bound + 1}, {"multipliers": c.multipliers * 2 + 1}):
        forged = importlib.import_module("dataclasses").replace(c, **change)
        forged = importlib.import_module("graphpart.partition.certificates.certificate").sealed(forged)
        assert not forged.verify(p) and not forged.verify(p, exact=True)


def test_certificates_in_files(tmp_path):
    p = gp.SetPartition.from_modularity(nx.karate_club_graph(), dense=False)
    c = gp.partition.lower_bound(p, "lp")
    for name in ("c.json", "c.npz"):
        c.save(tmp_path / name)
        assert gp.partition.Certificate.load(tmp_path / name).verify(p, exact=True)


@pytest.mark.parametrize("n", [0, 1, 2, 3])
@pytest.mark.parametrize("missing", [1.0, -1.0, 1e300, 1e-300, -1e-300])
def test_degenerate(n, missing):
    for cost in (-1.0, -1e300, 0.0, math.inf):
        if n > 2 and abs(missing) == 1e300 and abs(cost) == 1e300:
            continue
        pairs = [(0, 1)] if n > 1 else []
        p = gp.SetPartition.from_pairs(n, pairs, [cost] * len(pairs), missing=missing, dense=False)
        optimum = gp.partition.brute_force(p).cost
        for method in METHODS:
            c = gp.partition.lower_bound(p, method)
            assert c.bound <= optimum and c.verify(p) and c.verify(p, exact=True)
        assert gp.partition.exact(p).cost == optimum
        r = gp.partition.reduce(p)
        assert p.evaluate(r.lift(gp.partition.brute_force(r.problem).labels)) == optimum


# ------------------------------------------------------------------------------------------------------------- packing


def test_packing_is_feasible_and_small():
    rng = np.random.default_rng(2)
    for n, m in ((100, 300), (150, 200), (75, 1000)):
        pairs = np.unique(np.sort(rng.integers(0, n, (m, 2)), axis=1), axis=0)
        pairs = pairs[pairs[:, 0] < pairs[:, 1]]
        cost = np.where(rng.random(len(pairs)) < 0.8, -1.0, 1.0) * rng.exponential(size=len(pairs))
        p = gp.SetPartition.from_pairs(n, pairs, cost, background=(0.5, rng.random(n)), dense=False)
        packing = ImplicitPacking(p, Stopping(None, None, None, None))
        packing.pack()
        list(packing.improve())
        starts, keys, signs, rhs = packing.rows.terms(n)
        full = p._to_dense().matrix[keys // n, keys % n]
        assert ((full < 0) == (signs > 0)).all()  # what attracts has a plus, what repels a minus
        names, at = np.unique(keys, return_inverse=True)
        load = np.bincount(at, np.repeat(packing.amounts, np.diff(starts)))
        assert (load <= np.abs(p._to_dense().matrix[names // n, names % n]) * (1 + 1e-9) + 1e-12).all()
        worth = np.add.reduceat(signs > 0, starts[:-1], dtype=np.int64) - rhs
        assert packing.value == pytest.approx(float(packing.amounts @ worth))
        bound = gp.partition.lower_bound(p, "cycle-packing").bound
        assert bound >= trivial_bound(p) and packing.value > 0.1 * -trivial_bound(p)
        assert len(packing.pairs.made()) <= packing.most


def test_stars_where_no_triangle_is():
    p = gp.SetPartition.from_editing(nx.star_graph(9), dense=False)
    c = gp.partition.lower_bound(p, "cycle-packing")
    assert p.objective(c.bound) == 8.0 and set(c.inequalities.kinds) == {TWO_PARTITION}
    cycle = gp.SetPartition.from_editing(nx.cycle_graph(9), dense=False)
    assert cycle.objective(gp.partition.lower_bound(cycle, "lp").bound) == 5.0  # that of matching four edges
    path = gp.SetPartition.from_pairs(4, [(0, 1), (1, 2), (2, 3)], [-5.0] * 3, missing=0.5, dense=False)
    assert gp.partition.lower_bound(path, "cycle-packing").bound == -13.5  # also the pair at distance 3


def test_limits():
    rng = np.random.default_rng(0)
    pairs = np.unique(np.sort(rng.integers(0, 3000, (15000, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    p = gp.SetPartition.from_pairs(3000, pairs, -np.ones(len(pairs)), missing=1.0, dense=False)
    for method in METHODS:
        c = gp.partition.lower_bound(p, method, time_limit=0.0)
        assert c.bound >= -len(pairs) and c.verify(p)
    calls = []
    c = gp.partition.lower_bound(p, "lp", callback=lambda *_: calls.append(1) or len(calls) > 3)
    assert c.verify(p) and calls
    again = gp.partition.lower_bound(p, "message-passing")
    assert gp.partition.lower_bound(p, "message-passing").seal == again.seal
    assert gp.partition.lower_bound(p, "cycle-packing").bound <= again.bound


# ---------------------------------------------------------------------------------------------- reductions and proofs


def test_reduction_keeps_an_optimum():
    joined = 0
    for _, p in problems(21, 250, largest=10):
        optimum = gp.partition.brute_force(p._to_dense()).cost
        r = gp.partition.reduce(p)
        assert r.problem.background is not None or p.background is None
        best = gp.partition.brute_force(r.problem._to_dense())
        lifted = r.lift(best.labels)
        assert p.evaluate(lifted) == pytest.approx(optimum, abs=1e-9 * (1 + abs(optimum)))
        assert best.cost + r.constant == pytest.approx(optimum, abs=1e-9 * (1 + abs(optimum)))
        joined += len(r.persistency.joined)
        apart = r.problem._components()[r.persistency.labels]
        cut = r.persistency.cut
        assert (apart[cut[:, 0]] != apart[cut[:, 1]]).all() and set(r.persistency.cut_criteria) <= {"component"}
    assert joined > 200


def test_reduction_solves_what_is_nearly_clusters():
    rng = np.random.default_rng(8)
    labels = np.repeat(np.arange(60), rng.integers(3, 9, 60))
    u, v = np.triu_indices(len(labels), 1)
    together = labels[u] == labels[v]
    kept = together & (rng.random(len(u)) < 0.97) | (rng.random(len(u)) < 0.0005)
    p = gp.SetPartition.from_pairs(len(labels), (u[kept], v[kept]), -np.ones(kept.sum()), missing=1.0, dense=False)
    r = gp.partition.reduce(p)
    assert r.problem.n < 0.4 * p.n
    assert gp.partition.exact(p).cost == gp.partition.exact(p._to_dense()).cost


def test_exact_in_parts(monkeypatch):
    parts = importlib.import_module("graphpart.partition.races")
    for k, (_, p) in enumerate(problems(31, 60, largest=11)):
        monkeypatch.setattr(parts, "TOGETHER", 4 if k % 2 else 400)
        monkeypatch.setattr(parts, "PAIRS", 3 if k % 3 else 10**6)
        optimum = gp.partition.brute_force(p._to_dense()).cost
        r = gp.partition.exact(p)
        assert r.cost == p.evaluate(r.labels) == pytest.approx(optimum, abs=1e-9 * (1 + abs(optimum)))
        assert r.status == "optimal" and r.lower_bound <= r.cost
    monkeypatch.setattr(parts, "TOGETHER", 4)
    monkeypatch.setattr(parts, "ELEMENTS", 4)
    for _, p in problems(32, 40, largest=11):
        optimum = gp.partition.brute_force(p._to_dense()).cost
        r = gp.partition.exact(p)
        assert r.cost >= optimum - 1e-9 and r.lower_bound <= optimum + 1e-9
        assert r.status != "optimal" or r.cost == pytest.approx(optimum, abs=1e-9)
    assert gp.partition.exact(p, time_limit=0.0).status in ("time_limit", "optimal")
    assert gp.partition.exact(p, initial=[0] * p.n if not p._has_must_cut else None).cost <= 1e9


def test_small_networks_are_proven():
    known = {"karate": 0.4197896, "les-miserables": 0.5666880}
    graphs = {
        "karate": (nx.karate_club_graph(), None),
        "les-miserables": (nx.les_miserables_graph(), "weight"),
        "as many as dolphins": (nx.random_partition_graph([13, 20, 7, 12, 10], 0.32, 0.02, seed=1), None),
        "as many as football teams": (nx.random_partition_graph([10] * 11 + [5], 0.75, 0.035, seed=1), None),
    }
    for name, (G, weight) in graphs.items():
        p = gp.SetPartition.from_modularity(G, weight=weight)
        r = gp.partition.exact(p)
        assert r.status == "optimal" and p.is_dense, name
        if name in known:
            assert r.objective == pytest.approx(known[name], abs=1e-6), name
        assert gp.partition.exact(gp.SetPartition.from_modularity(G, weight=weight, dense=False)).cost == pytest.approx(
            r.cost
        )
        c = gp.partition.lower_bound(gp.SetPartition.from_modularity(G, weight=weight, dense=False), "negative-sum")
        assert c.bound <= r.cost


def test_large_and_not_repelling_is_refused_in_one_line(monkeypatch):
    set_partition = importlib.import_module("graphpart.partition.problem.forms")
    monkeypatch.setattr(set_partition, "LARGEST_EXPLICIT", 10)
    monkeypatch.setattr(set_partition, "ELEMENTS", 10)
    monkeypatch.setattr(set_partition, "PAIRS", 10)
    monkeypatch.setattr(set_partition, "TIMES", 0)
    ring = [(k, (k + 1) % 30) for k in range(30)]
    attracts = gp.SetPartition.from_pairs(30, ring, [1.0] * 30, missing=-0.5, dense=False)
    with pytest.raises(InvalidProblem, match=r"exact needs .* the background attracts some pairs"):
        gp.partition.exact(attracts)
    repels = gp.SetPartition.from_pairs(30, ring, [-2.0] * 30, missing=0.5, dense=False)
    with pytest.raises(InvalidProblem, match="30 elements hang together by pairs that attract"):
        gp.partition.ilp(repels)
    near = importlib.import_module("graphpart.partition.extending.near")
    monkeypatch.setattr(near, "ELEMENTS", 10)
    with pytest.raises(InvalidProblem, match=r"extend needs .* near what is new"):
        gp.partition.extend(repels, {})
    kept = gp.partition.extend(repels, {a: a // 2 for a in range(30)}, freeze=True)
    assert kept.cost == -30.0 and gp.partition.extend(repels, {a: a // 2 for a in range(29)}, freeze=True).cost == -30.0


@pytest.mark.parametrize("freeze", [True, False])
def test_extending_is_that_of_the_dense_form(freeze, monkeypatch):
    near = importlib.import_module("graphpart.partition.extending.near")
    better = 0
    for k in range(60):
        rng = np.random.default_rng([41, k])
        p = background_problem(rng, largest=12, requirements=False)
        if p.background is None:
            continue
        old = {a: int(label) for a, label in enumerate(rng.integers(0, 4, p.n)) if rng.random() < 0.6}
        dense = gp.partition.extend(p._to_dense(), old, freeze=freeze)
        monkeypatch.setattr(near, "ELEMENTS", 0)
        r = gp.partition.extend(p, old, freeze=freeze)
        monkeypatch.setattr(near, "ELEMENTS", 3000)
        assert r.cost == p.evaluate(r.labels)
        if freeze:
            assert r.cost == pytest.approx(dense.cost, abs=1e-9)
            assert all(r.labels[a] == label for a, label in old.items())
        else:  # what only repels is not looked at, unless it is in the way
            optimum = gp.partition.brute_force(p._to_dense()).cost
            assert r.cost >= optimum - 1e-9 and r.lower_bound <= optimum + 1e-9
            better += r.cost <= dense.cost + 1e-9
    assert freeze or better > 30


def test_shares_of_stars_are_a_least_fractional_vertex_cover():
    rng = np.random.default_rng(11)
    for _ in range(trials(300)):
        n = int(rng.integers(1, 8))
        u, v = np.triu_indices(n, 1)
        some = rng.random(len(u)) < rng.random()
        u, v = u[some].astype(np.int32), v[some].astype(np.int32)
        whole, halves = centres(n, u, v, Stopping())
        share = np.bincount(whole, minlength=n) + 0.5 * np.bincount(halves, minlength=n)
        assert (share[u] + share[v] >= 1).all()
        all_shares = np.stack(np.meshgrid(*[[0.0, 0.5, 1.0]] * n, indexing="ij"), -1).reshape(-1, n)
        covers = all_shares[(all_shares[:, u] + all_shares[:, v] >= 1).all(axis=1)]
        assert share.sum() == covers.sum(axis=1).min()  # some least cover has no other shares


def test_hubs_have_whole_stars():
    # Halves would leave half of the attraction of each leaf: the bound of a hub with 40 leaves is 39 edits.
    hubs, leaves = 5, 40
    pairs = [(h, hubs + h * leaves + k) for h in range(hubs) for k in range(leaves)]
    pairs += [(h, h + 1) for h in range(hubs - 1)]
    p = gp.SetPartition.from_pairs(hubs * (leaves + 1), pairs, [-1.0] * len(pairs), missing=1.0, dense=False)
    certificate = gp.partition.lower_bound(p, "cycle-packing")
    assert certificate.bound == -hubs


def test_a_vertex_cover_that_is_stopped_leaves_halves():
    u, v = np.triu_indices(60, 1)
    stopping = Stopping()
    stopping.stop(Status.TIME_LIMIT)
    whole, halves = centres(60, u.astype(np.int32), v.astype(np.int32), stopping)
    assert not len(whole) and halves.tolist() == list(range(60))


def test_a_matrix_of_cluster_editing_has_the_bound_of_its_pairs():
    edges = clustered_network(500, 2000, "cliques", seed=2).edges
    matrix = np.where(np.eye(500, dtype=bool), 0.0, 1.0)
    matrix[edges[:, 0], edges[:, 1]] = matrix[edges[:, 1], edges[:, 0]] = -1.0
    p = gp.SetPartition.from_matrix(matrix)
    prover = Bounding(p, np.arange(500, dtype=np.int32))
    prover.run(Stopping(), None)
    assert prover.p.background is not None and prover.bound > 0.5 * matrix[matrix < 0].sum() / 2
    assert prover.bound <= gp.partition.kernighan_lin_pairs(p).cost


def test_a_long_step_waits_for_a_turn_of_its_own():
    prover = Bounding(gp.generate.uniform_integers(30, 9, seed=1).problem, np.arange(30, dtype=np.int32))
    prover._steps = iter([1e6, None])
    prover.run(Stopping(), 1e3)
    assert prover.needs == 1e6 and list(prover._steps) == [None]


def test_messages_between_inequalities_stay_within_capacities_and_end_once_two_sweeps_gain_nothing():
    rng, ended = np.random.default_rng(0), []
    for number in range(trials(200)):
        m, count = int(rng.integers(2, 12)), int(rng.integers(1, 8))
        rows = [rng.choice(m, rng.integers(2, min(m, 4) + 1), replace=False) for _ in range(count)]
        starts, pairs = np.cumsum([0, *map(len, rows)]), np.concatenate(rows).astype(np.int64)
        capacity, worth = rng.random(m) if number % 2 else np.ones(m), rng.integers(1, 3, count).astype(float)
        value = 0.0
        for sweeps in range(1, 9):
            amounts = np.zeros(count)
            done = _kernels.share(starts, pairs, capacity, worth, amounts, sweeps, Stopping())
            load = np.bincount(pairs, np.repeat(amounts, np.diff(starts)), m)
            assert amounts.min() >= 0 and (load <= capacity + 1e-12).all()
            assert amounts @ worth >= value - 1e-12  # no sweep loses
            assert done == sweeps or amounts @ worth <= value + 1e-9
            value = amounts @ worth
        ended.append(done)
    assert min(ended) == 2 and max(ended) == 8
