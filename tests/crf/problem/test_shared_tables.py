"""A factor graph that keeps a table once for several factors gives what one with a table for each factor gives."""

import pickle
import tracemalloc

import networkx as nx
import numpy as np
import pytest
from strategies_crf import random_factor_graph
from trials import trials

import graphpart as gp
from graphpart.crf.certificates.certificate import fingerprint
from graphpart.crf.problem import _structure, shared_tables
from graphpart.crf.problem.derive import merge, simplify, split
from graphpart.crf.problem.grids import grid_pairs
from graphpart.crf.problem.labeling import places
from graphpart.crf.reduction import _kernels
from graphpart.crf.reduction.persistency import _alike
from graphpart.methods import methods_for

METHODS = [method.name for method in methods_for("crf")]


def copied(f):
    """The same factor graph with a table for each factor."""
    return gp.FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables, constant=f.constant)


def random_shared(rng, n=6, binary=False):
    """Groups of factors that share a table, beside factors with tables of their own."""
    domains = np.full(n, 2) if binary else rng.integers(1, 4, n)
    groups = []
    for arity in (1, 2, 2, 2 if binary else 3):
        scopes = np.array([rng.permutation(n)[:arity] for _ in range(5)])
        shapes = domains[scopes]
        shape = tuple(shapes[0])
        scopes = scopes[(shapes == shape).all(axis=1)]
        tables = np.round(rng.normal(size=(len(scopes), *shape)), rng.integers(0, 4))
        tables[rng.random(tables.shape) < 0.1 * rng.integers(0, 2)] = np.inf
        groups.append((scopes, np.broadcast_to(tables[0], tables.shape) if rng.random() < 0.7 else tables))
    return gp.FactorGraph.from_arrays(domains, groups, constant=float(rng.integers(-2, 3)))


def shared_graphs(seed, count, **options):
    made, k = 0, 0
    while made < count:
        rng = np.random.default_rng([seed, k])
        k += 1
        f = random_shared(rng, **options)
        if f.entries > len(f._flat()[4]):
            made += 1
            yield rng, f


def equal(f, g):
    return (
        all((getattr(f, name) == getattr(g, name)).all() for name in ("domains", "scope_start", "scope", "table_start"))
        and (f.tables == g.tables).all()
        and f.entries == len(g.tables)
        and f.constant == g.constant
    )


def outcome(call, *args, **options):
    """(what a call returns, the error that it raises instead), one of them None."""
    try:
        return call(*args, **options), None
    except gp.GraphPartError as error:
        return None, f"{type(error).__name__}: {error}"


def test_arrays_energies_and_derived_factor_graphs():
    shared = 0
    for rng, f in shared_graphs(1, trials(120)):
        g = copied(f)
        assert equal(f, g) and equal(g, f) and fingerprint(f) == fingerprint(g)
        assert all((f.factor(k)[1] == g.factor(k)[1]).all() for k in range(f.m))
        assert f.has_forbidden == g.has_forbidden and f.is_acyclic == g.is_acyclic
        back = pickle.loads(pickle.dumps(f))
        assert equal(back, g) and len(back._flat()[4]) == len(f._flat()[4])
        for _ in range(3):
            labels = rng.integers(0, f.domains)
            assert f.evaluate(labels) == g.evaluate(labels)
        evidence = {v: int(labels[v]) for v in rng.permutation(f.n)[: rng.integers(0, 4)].tolist()}
        for derive in (merge, simplify, lambda h, evidence=evidence: h.condition(evidence)):
            (one, error), (other, its_error) = outcome(derive, f), outcome(derive, g)
            assert error == its_error
            if one is not None:
                assert equal(one, other) and equal(other, one)
                shared += one.entries > len(one._flat()[4])
        for (mine, part), (others, other) in zip(split(f, f.components()), split(g, g.components()), strict=True):
            assert (mine == others).all() and equal(part, other)
        f.add_variable("new", 2)
        g.add_variable("new", 2)
        for h in (f, g):
            h.add_factor(("new",), [1.0, 2.0])
            h.add_count(range(3), labels=0, least=1)
        assert equal(f, g) and equal(f.decomposed(), g.decomposed())
    assert shared > trials(120)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")
def test_methods_give_the_same(method):
    for k, (_, f) in enumerate([*shared_graphs(2, trials(9)), *shared_graphs(3, trials(9), binary=True)]):
        options = {"seed": k} if method in ("auto", "search") else {}
        (a, error), (b, its_error) = (
            outcome(gp.solve, f, method, **options),
            outcome(gp.solve, copied(f), method, **options),
        )
        assert error == its_error
        if error:
            continue
        assert (a.labels == b.labels).all() and (a.cost, a.status, a.iterations) == (b.cost, b.status, b.iterations)
        assert a.lower_bound == b.lower_bound
        if a.certificate is not None:
            assert b.certificate.seal == a.certificate.seal
            a.certificate.check(copied(f))


def test_reduction_shares_the_tables_that_are_left():
    shared = 0
    for rng, f in shared_graphs(6, trials(90), n=8):
        (one, error), (other, its_error) = outcome(gp.crf.reduce, f), outcome(gp.crf.reduce, copied(f))
        assert error == its_error
        if one is not None:
            assert equal(one.problem, other.problem) and (one.labels == other.labels).all()
        alive = (rng.random(int(f.domains.sum())) < 0.8).astype(np.uint8)
        alive[np.cumsum(f.domains) - rng.integers(1, f.domains + 1)] = 1
        own = _kernels.restrict(copied(f)._view(), alive, np.arange(f.m, dtype=np.int32))
        start, scope, begins, tables, constants, bad = _kernels.restrict(f._view(), alive, _alike(f, alive, places(f)))
        assert (start == own[0]).all() and (scope == own[1]).all() and (constants == own[4]).all() and bad == own[5]
        assert (_structure.gather(tables, begins, np.append(own[2], len(own[3]))) == own[3]).all()
        shared += len(tables) < len(own[3])
    assert shared > trials(90) / 2


def test_constructors_keep_one_table():
    rng = np.random.default_rng(4)
    unary, linear = rng.random((3, 4, 3)), np.abs(np.subtract.outer(np.arange(3.0), np.arange(3.0)))
    pairs = np.concatenate(grid_pairs((3, 4)))
    G = nx.grid_2d_graph(3, 4)
    own = dict(zip(G, unary.reshape(12, 3), strict=True))
    groups = [(np.arange(12)[:, None], unary.reshape(12, 3)), (pairs, np.broadcast_to(linear, (17, 3, 3)))]
    for f, kept in (
        (gp.crf.potts(unary=unary, weight=0.5), 9),
        (gp.crf.potts(unary=unary, weight=[0.5, 0.25]), 18),
        (gp.crf.potts(unary=unary, weight=rng.random(17)), 153),
        (gp.FactorGraph.pairwise(unary=unary, pairwise=linear), 9),
        (gp.FactorGraph.pairwise(unary=unary, pairwise=np.broadcast_to(linear, (17, 3, 3))), 9),
        (gp.FactorGraph.pairwise(unary=unary, pairwise=np.stack([linear] * 17)), 153),
        (gp.FactorGraph.from_arrays(np.full(12, 3), groups), 9),
        (gp.crf.potts(G, unary=own, weight=2.0), 9),
        (gp.FactorGraph.pairwise(G, unary=own, pairwise=linear), 9),
        (gp.FactorGraph.ising((3, 4), field=0.5, coupling=-1.0), 4),
    ):
        first = f.n * int(f.domains[0])
        assert len(f._flat()[4]) == first + kept and len(f.tables) == first + 17 * int(f.domains[0]) ** 2
    assert (f.tables[first:] == np.tile([1.0, -1.0, -1.0, 1.0], 17)).all()
    with pytest.raises(gp.InvalidProblem, match=r"tables of group 0 have shape \(3, 2\): expected \(2, d1\)"):
        gp.FactorGraph.from_arrays([2, 2], [([[0], [1]], np.broadcast_to([0.0, 1.0], (3, 2)))])
    table = np.broadcast_to([[0.0, np.nan], [1.0, 0.0]], (2, 2, 2))
    with pytest.raises(gp.InvalidProblem, match="the table of factor 2 has the entry nan"):
        gp.FactorGraph.from_arrays([2, 2, 2], [([[0], [1]], np.zeros((2, 2))), ([[0, 1], [1, 2]], table)])
    with pytest.raises(gp.InvalidProblem, match="overflows"):
        gp.FactorGraph.from_arrays([1] * 4, [([[0], [1], [2], [3]], np.broadcast_to(1e308, (4, 1)))])
    assert (
        gp.FactorGraph.from_arrays([1] * 2, [([[0], [1]], np.broadcast_to(8e307, (2, 1)))]).evaluate([0, 0]) == 1.6e308
    )


def test_memory_of_a_grid_with_one_table():
    """Copies of the table would have 19 MB; tracemalloc counts the bytes of arrays."""
    rng = np.random.default_rng(5)
    unary = rng.random((30, 40, 32))
    table = np.minimum(np.abs(np.subtract.outer(np.arange(32.0), np.arange(32.0))), 4.0) / 8
    tracemalloc.start()
    try:
        f = gp.FactorGraph.pairwise(unary=unary, pairwise=table)
        kept, peak = tracemalloc.get_traced_memory()
        assert 8 * f.entries > 19e6 and kept < 1.5 * unary.nbytes and peak < 3 * unary.nbytes
        for method, options in (
            ("icm", {}),
            ("expansion", {"max_iterations": 3}),
            ("message-passing", {"max_iterations": 2}),
        ):
            r = gp.solve(f, method, **options)
            assert r.cost == f.evaluate(r.labels)
        assert fingerprint(f)
        assert tracemalloc.get_traced_memory()[1] < 10e6
    finally:
        tracemalloc.stop()


def test_memory_of_a_grid_with_many_labels():
    """Unary costs are copied once, as the problem is built; expansion and message passing read them where they are."""
    rng = np.random.default_rng(7)
    unary = rng.random((60, 80, 64), dtype=np.float32)
    table = np.minimum(np.abs(np.subtract.outer(np.arange(64.0), np.arange(64.0))), 4.0) / 8
    pairs = np.concatenate(grid_pairs((60, 80)))
    groups = [
        (np.arange(4800)[:, None], unary.reshape(4800, 64)),
        (pairs, np.broadcast_to(table, (len(pairs), 64, 64))),
    ]
    size = 8 * unary.size
    for build in (
        lambda: gp.FactorGraph.pairwise(unary=unary, pairwise=table),
        lambda: gp.FactorGraph.potts(unary=unary, weight=0.5),
        lambda: gp.FactorGraph.from_arrays(np.full(4800, 64), groups),
    ):
        tracemalloc.start()
        try:
            f = build()
            kept, peak = tracemalloc.get_traced_memory()
            assert size < kept < 1.3 * size and peak < 1.6 * size
            gp.crf.expansion(f, max_iterations=3)
            assert tracemalloc.get_traced_memory()[1] - kept < 0.7 * size
            # A number for each label of each pair, and two in the certificate: for two pairs of each variable, six.
            gp.crf.message_passing(f, max_iterations=2)
            assert tracemalloc.get_traced_memory()[1] - kept < 7.5 * size
        finally:
            tracemalloc.stop()
        assert (f.tables[: unary.size] == unary.ravel()).all()


@pytest.mark.parametrize("block", [1, 7, 50])
def test_absolute_costs_in_blocks(block, monkeypatch):
    monkeypatch.setattr(shared_tables, "BLOCK", block)
    rng = np.random.default_rng(block)
    for case in range(trials(100)):
        f = random_factor_graph(rng, max_arity=3, max_domain=4, forbidden=(0.0, 0.2)[case % 2])
        f._cache.pop("absolute", None)
        assert shared_tables.absolute_costs(f) == pytest.approx(np.abs(f.tables[np.isfinite(f.tables)]).sum())
    one = np.ones((1, 3, 3))
    several = [([[0, 1]], one), ([[2]], [[1.0, 2.0, -3.0]])] * 40  # more runs of equal factors than are kept
    broadcast = ([[0, 1], [1, 2], [0, 2]], np.broadcast_to(one, (3, 3, 3)))
    for f in (
        gp.crf.potts((5, 6), unary=rng.standard_normal((5, 6, 3)), weight=0.5),
        gp.FactorGraph.from_arrays([3, 3, 3], [broadcast, *several]),
    ):
        assert shared_tables.absolute_costs(f) == pytest.approx(np.abs(f.tables).sum())
