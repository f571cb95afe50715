"""The bound that stored messages prove: below the one of their certificate and all energies; messages of 16 bits."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from reference_crf import all_energies
from trials import trials

import graphpart as gp
from graphpart.crf.bounds import passes as passes_module
from graphpart.crf.bounds.message_passing import Ascent
from graphpart.crf.bounds.passes import Passes
from graphpart.crf.certificates.certificate import certify
from graphpart.crf.certificates.exact_check import exact_bound
from graphpart.stopping import Stopping


def table(rng, rows, columns):
    x, y = np.indices((rows, columns))
    base, slope = rng.standard_normal(2)
    kinds = (
        rng.standard_normal((rows, columns)),
        base + abs(slope) * (x != y),
        base + abs(slope) * (x == y),
        base + abs(slope) * np.minimum(abs(x - y), rng.integers(1, 9)),
        rng.integers(0, 4) * np.minimum(abs(x - y), rng.integers(1, 9)).astype(float),
    )
    return kinds[rng.integers(len(kinds))]


def random_pairs(rng):
    """Pairs over a few variables, in both orders, some twice; costs from 1e-15 to 1e21."""
    n, most = int(rng.integers(2, 5)), int(rng.choice([2, 3, 4, 6, 7, 8, 9]))
    domains = np.full(n, most) if rng.random() < 0.6 else rng.integers(1, most + 1, n)
    scale = float(rng.choice([1.0, 1e-15, 1e-9, 1e12]))
    unary = [rng.standard_normal(d) for d in domains]
    if rng.random() < 0.2:
        unary[0][rng.integers(domains[0])] = 1e9
    groups = [([[v]], scale * unary[v][None]) for v in range(n)]
    for _ in range(rng.integers(1, 7)):
        u, v = rng.choice(n, 2, replace=False)
        groups.append(([[u, v]], scale * table(rng, domains[u], domains[v])[None]))
    return gp.FactorGraph.from_arrays(domains, groups, constant=float(rng.choice([0.0, 1.5, 1e5])))


@pytest.fixture
def narrow(monkeypatch):
    """Messages are of 16 bits from the first one on."""
    monkeypatch.setattr(passes_module, "LARGE", 0)


def scale_of(f):
    return float(np.abs(f.tables).sum()) + abs(f.constant)


@pytest.mark.parametrize("large", [2**27, 0])
def test_stored_messages_prove_no_more_than_their_certificate(large, monkeypatch):
    monkeypatch.setattr(passes_module, "LARGE", large)
    rng, stored = np.random.default_rng(large % 7), set[int]()
    for case in range(trials(500)):
        f = random_pairs(rng)
        monkeypatch.setattr(passes_module, "SOME", 1 + case % 4)  # variables at a time
        monkeypatch.setattr(passes_module, "RING", (2**20, 0, 20)[case % 5 % 3])
        monkeypatch.setattr(passes_module, "FLAT", (64, 1e300, 0)[case % 7 % 3])  # how large entries may be for 16 bits
        passes = Passes(f)
        assert passes.plain and (passes.narrow > 0) == (large == 0)
        stored.add(passes.narrow)
        for half in range(rng.integers(0, 6)):
            passes.half(half % 2 == 0, np.inf, Stopping())
        if case % 3 == 0:  # a pass that was stopped after its first variables
            passes.network.begin(bool(rng.integers(2)))
            passes.network.visit(0, 0.0, Stopping(max_iterations=0))
        proven, messages = passes.proven(), passes.messages()[0]
        exact = exact_bound(f, certify(f, messages, "messages", step=0.0))
        assert Fraction(proven) <= exact
        assert float(exact) - proven <= 2.0**-40 * scale_of(f)
        assert proven <= all_energies(f).min() + 2.0**-50 * scale_of(f)
    assert stored == ({0} if large else {2, 4})


def test_large_tables_of_one_value_are_no_reason_for_a_bound_that_is_too_high():
    """Sums with 1e16 lose the digits of the other costs: the bound must fall by them, and not rise."""
    for low in (0.3, -0.3):
        unary = ([[0], [1]], [[low, 1e16], [0.1, 0.2]])
        f = gp.FactorGraph.from_arrays([2, 2], [unary, ([[0, 1]], [[[1e16, 1e16 + 2.0], [3.0, 1e16]]])])
        passes = Passes(f)
        for _ in range(3):
            passes.iterate(np.inf, Stopping())
        exact = exact_bound(f, certify(f, passes.messages()[0], "messages", step=0.0))
        assert Fraction(passes.proven()) <= exact


@pytest.mark.parametrize("large", [2**27, 0])
def test_certificates_whose_messages_are_written_out_later(large, monkeypatch):
    monkeypatch.setattr(passes_module, "LARGE", large)
    rng = np.random.default_rng(3)
    proven = 0
    for case in range(trials(200)):
        f = random_pairs(rng)
        r = gp.crf.message_passing(f)
        best, c = all_energies(f).min(), r.info["certificate"]
        assert c.bound <= r.lower_bound <= best + 2.0**-36 * scale_of(f) and r.cost >= best - 2.0**-40 * scale_of(f)
        assert c.bound >= r.lower_bound - 2.0**-30 * scale_of(f)
        assert ("seal" in vars(c)) == (r.info["triplets"] > 0)
        if case % 3 == 0:
            c = pickle.loads(pickle.dumps(c))
        assert c.verify(f) and c.verify(f, exact=True) and c.cost == r.cost and vars(c)["seal"]
        assert not replace(c, bound=c.bound + scale_of(f)).verify(f)
        if r.status == "optimal":
            assert r.cost <= best + 2.0**-36 * scale_of(f)
            proven += 1
        for method in ("message-passing", "negative-sum"):
            assert gp.crf.lower_bound(f, method, max_iterations=5).verify(f)
    assert proven > trials(200) // 2
    with pytest.raises(AttributeError, match="no attribute 'seals'"):
        c.seals  # noqa: B018


@pytest.mark.parametrize("large", [2**27, 0])
def test_factors_that_are_added_before_messages_are_written_out_do_not_count(large, monkeypatch):
    monkeypatch.setattr(passes_module, "LARGE", large)
    rng = np.random.default_rng(4)
    for case in range(trials(20)):
        f = grid(rng, (3, 4), 3, 0.5)
        old = pickle.loads(pickle.dumps(f))
        found = [gp.crf.lower_bound(f, method) for method in ("message-passing", "negative-sum")]
        found.append(gp.crf.message_passing(f).info["certificate"])
        f.add_constant(-1.0)
        if case % 2:
            f.add_variable("more", 5)
            f.add_factor(["more", f.variables[0]], rng.normal(size=(5, 3)))
        for c in found:
            assert "seal" not in vars(c) and not c.verify(f) and c.verify(old) and c.verify(old, exact=True)
            assert c.__getattr__("seal") == c.seal  # as in another thread


def test_several_threads_may_write_messages_out_at_once():
    f = grid(np.random.default_rng(7), (90, 90), 6, 0.5)
    passes = Passes(f)
    passes.iterate(np.inf, Stopping())
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: passes.messages()[0], range(8)))
    assert all((one == found[0]).all() for one in found)


def test_a_limit_of_time_has_the_proof_within_it(monkeypatch):
    """Half of the time is kept for a proof that takes long."""
    f = grid(np.random.default_rng(9), (8, 9), 4, 0.5)
    monkeypatch.setattr(gp.crf.bounds.message_passing, "BOUNDING", 1e9)
    limits, run = [], Ascent.run
    monkeypatch.setattr(Ascent, "run", lambda self: limits.append(self.stopping.remaining) or run(self))
    gp.crf.lower_bound(f, time_limit=60.0, max_iterations=3)
    gp.crf.message_passing(f, time_limit=60.0, max_iterations=3)
    assert limits == pytest.approx([30.0, 30.0], abs=2.0)


@pytest.mark.usefixtures("narrow")
@pytest.mark.parametrize("kind", ["forbidden", "three", "none"])
def test_other_factor_graphs_keep_their_certificate(kind):
    groups = [([[0], [1], [2]], [[0.0, 1.0], [2.0, 0.5], [1.0, 0.0]]), ([[0, 1]], [[[0.0, 2.0], [1.0, 0.0]]])]
    if kind == "forbidden":
        groups.append(([[1, 2]], [[[0.0, np.inf], [1.0, 0.0]]]))
    if kind == "three":
        groups.append(([[0, 1, 2]], np.ones((1, 2, 2, 2))))
    f = gp.FactorGraph.from_arrays([2, 2, 2], groups if kind != "none" else [])
    r = gp.crf.message_passing(f)
    assert r.status == "optimal" and r.info["certificate"].verify(f, exact=True)


def grid(rng, shape, labels, most):
    table = np.minimum(most / 3 * abs(np.subtract.outer(*2 * [range(labels)])), most)
    return gp.FactorGraph.pairwise(unary=rng.random((*shape, labels)), pairwise=table)


@pytest.mark.parametrize("numbers", [2**20, 0])
def test_the_proof_makes_up_for_messages_of_16_bits(numbers, monkeypatch):
    """Its messages are those of a pass forward, as far as they are kept; the reference is float64."""
    rng = np.random.default_rng(5)
    f = grid(rng, (20, 30), 12, 0.6)
    exact = Passes(f)
    monkeypatch.setattr(passes_module, "LARGE", 0)
    monkeypatch.setattr(passes_module, "RING", numbers)
    passes = Passes(f)
    assert passes.narrow == 2 and Passes(grid(rng, (3, 4), 12, 1000.0)).narrow == 4  # by the entries of pairs
    for _ in range(10):
        exact.iterate(np.inf, Stopping())
        passes.iterate(np.inf, Stopping())
    assert passes.bound == pytest.approx(exact.bound, rel=1e-5)
    before = exact.proven()
    exact.half(True, np.inf, Stopping())
    share = (passes.proven() - before) / (exact.proven() - before)
    assert 0.5 < share < 1.0 if numbers else -0.1 < share < 0.0  # nothing is kept between two parts of the variables


@pytest.mark.usefixtures("narrow")
def test_rounded_labels_are_a_fixed_point_of_single_changes():
    rng = np.random.default_rng(6)
    lower = 0
    for _ in range(trials(300)):
        f = random_pairs(rng)
        passes = Passes(f)
        for _ in range(rng.integers(1, 4)):
            passes.iterate(np.inf, Stopping())
        rounded = passes.round()
        labels, cost = passes.rounded(Stopping())
        assert cost == f.evaluate_labels(labels) <= f.evaluate_labels(rounded) + 2.0**-45 * scale_of(f)
        lower += cost < f.evaluate_labels(rounded)
        for v in range(f.n):
            for y in range(f.domains[v]):
                other = labels.copy()
                other[v] = y
                assert f.evaluate_labels(other) >= cost - 2.0**-45 * scale_of(f)
    assert lower


@pytest.mark.usefixtures("narrow")
def test_labels_and_bounds_where_halves_are_visited_at_once():
    """Variables are visited in another order then; the reference is float64."""
    rng = np.random.default_rng(7)
    unary = rng.random((120, 130, 10))
    f = gp.FactorGraph.pairwise(unary=unary, pairwise=0.3 * np.minimum(abs(np.subtract.outer(*2 * [range(10)])), 2))
    passes = Passes(f)
    assert passes.order is not None and passes.narrow
    for _ in range(5):
        passes.iterate(np.inf, Stopping())
    labels, cost = passes.rounded(Stopping())
    found = gp.crf.icm(f, initial=labels, order="sweep")
    assert found.cost == pytest.approx(cost) and passes.bound == pytest.approx(passes.proven(), rel=1e-3)
    assert passes.proven() <= float(certify(f, passes.messages()[0], "messages").bound)
    assert passes.proven() <= cost


@pytest.mark.parametrize("flat", [passes_module.FLAT, 0])
def test_narrow_messages_are_loaded_again(flat, monkeypatch):
    """Passes that begin with the messages of others prove nearly their bound, and reductions keep the least energy."""
    for seed in range(trials(60)):
        f = random_pairs(np.random.default_rng(seed))
        with monkeypatch.context() as patch:
            patch.setattr(passes_module, "LARGE", 0)
            patch.setattr(passes_module, "FLAT", flat)
            one, other = Passes(f), Passes(f)
            assert one.iterate(np.inf, Stopping())
            other.load(*one.messages())
            size = np.abs(f.tables).sum()
            assert other.proven() == pytest.approx(one.proven(), abs=1e-4 * size)
            reduction = gp.crf.reduce(f)
            best = reduction.lift(gp.solve(reduction.problem, "brute-force").labels)
            assert f.evaluate(best) == pytest.approx(all_energies(f).min(), abs=1e-9 * size)
