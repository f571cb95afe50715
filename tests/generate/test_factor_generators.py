"""Each generator of factor graphs against its own definition, on small sizes and at the edges."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphpart as gp
from graphpart.generate import (
    factor_chain,
    factor_grid,
    factor_tree,
    max_cut,
    noisy_image,
    qubo,
    radio_links,
    scene,
    spin_glass,
)


def by_scope(f):
    """Mapping from scopes to tables; every scope occurs once."""
    tables = dict(f.factors())
    assert len(tables) == f.m
    return tables


def is_grid(f, height, width):
    """Whether the pairwise factors are those of a grid."""
    G = nx.Graph([scope for scope in by_scope(f) if len(scope) == 2])
    H = nx.convert_node_labels_to_integers(nx.grid_2d_graph(height, width), ordering="sorted")
    return {frozenset(e) for e in G.edges} == {frozenset(e) for e in H.edges}


@given(n=st.integers(0, 40), labels=st.integers(1, 3), arity=st.integers(2, 5), seed=st.integers(0, 99))
def test_trees_are_trees(n, labels, arity, seed):
    f, truth = factor_tree(n, labels, arity, seed=seed)
    assert truth is None and f.n == n and (f.domains == labels).all()
    if n:
        assert nx.is_tree(f.graph)
    arities = sorted((len(scope) for scope in by_scope(f)), reverse=True)
    assert all(k == arity for k in arities[:-1]) and all(2 <= k <= arity for k in arities)
    assert f.m == -(-max(n - 1, 0) // (arity - 1))
    if labels**n <= 600:
        assert gp.crf.min_sum(f).cost == pytest.approx(gp.crf.brute_force(f).cost, abs=1e-9)


@given(n=st.integers(0, 8), labels=st.integers(1, 3), seed=st.integers(0, 99))
def test_chains_are_chains(n, labels, seed):
    f, truth = factor_chain(n, labels, seed=seed)
    assert truth is None and f.n == n
    assert set(by_scope(f)) == {(i,) for i in range(n)} | {(i, i + 1) for i in range(n - 1)}
    assert gp.crf.min_sum(f).cost == pytest.approx(gp.crf.brute_force(f).cost, abs=1e-9)


@pytest.mark.parametrize(("height", "width"), [(0, 0), (0, 3), (1, 1), (1, 5), (4, 1), (3, 4)])
@pytest.mark.parametrize("couplings", ["attractive", "mixed", "spin-glass"])
def test_grids(height, width, couplings):
    f, truth = factor_grid(height, width, couplings, strength=2.0, seed=1)
    assert truth is None and f.n == height * width and is_grid(f, height, width)
    for scope, table in f.factors():
        if len(scope) == 2:
            assert table[0, 0] == table[1, 1] and table[0, 1] == table[1, 0]
            if couplings == "attractive":
                assert table[0, 0] == 0 <= table[0, 1]
            elif couplings == "spin-glass":
                assert table[0, 1] == -table[0, 0] and abs(table[0, 0]) == 2
    assert all(len(scope) == 2 for scope, _ in f.factors()) or couplings != "spin-glass"


def test_couplings_have_their_signs():
    weights = {}
    for couplings in ("attractive", "mixed", "spin-glass"):
        f, _ = factor_grid(60, 60, couplings, seed=2)
        weights[couplings] = np.array([table[0, 1] - table[0, 0] for scope, table in f.factors() if len(scope) == 2])
    assert (weights["attractive"] > 0).all() and abs((weights["mixed"] > 0).mean() - 0.5) < 0.03
    assert abs(weights["mixed"].std() - 1) < 0.05 and abs((weights["spin-glass"] > 0).mean() - 0.5) < 0.03
    np.testing.assert_array_equal(weights["attractive"], np.abs(weights["mixed"]))


def test_spin_glass_is_that_of_ising():
    f, _ = factor_grid(3, 3, "spin-glass", seed=5)
    G = nx.Graph()
    G.add_nodes_from(range(9))
    G.add_edges_from((*scope, {"coupling": -table[0, 0]}) for scope, table in f.factors())
    g = gp.FactorGraph.ising(G)
    for y in np.random.default_rng(0).integers(0, 2, (50, 9)):
        assert f.evaluate(y) == g.evaluate(y)


def test_noisy_image_follows_its_model():
    f, truth = noisy_image(80, 100, noise=0.1, smoothness=0.7, seed=3)
    assert is_grid(f, 80, 100) and 0.1 < truth.mean() < 0.4
    unary = np.array([table for scope, table in f.factors() if len(scope) == 1])
    np.testing.assert_allclose(np.exp(-unary).sum(axis=1), 1)
    np.testing.assert_allclose(np.sort(np.exp(-unary), axis=1), np.tile([0.1, 0.9], (8000, 1)))
    assert abs((unary.argmin(axis=1) != truth).mean() - 0.1) < 0.015
    for scope, table in f.factors():
        if len(scope) == 2:
            np.testing.assert_array_equal(table, [[0, 0.7], [0.7, 0]])
    r = gp.crf.icm(f, initial=unary.argmin(axis=1))
    assert (r.labels != truth).mean() < 0.07


def test_scene_is_segmented_better_with_the_prior():
    f, truth = scene(30, 40, classes=4, regions=8, sigma=1.0, seed=1)
    assert is_grid(f, 30, 40) and set(truth.tolist()) == {0, 1, 2, 3}
    unary = np.array([table for scope, table in f.factors() if len(scope) == 1])
    np.testing.assert_allclose(np.exp(-unary).sum(axis=1), 1)
    alone = (unary.argmin(axis=1) != truth).mean()
    r = gp.crf.icm(f, initial=unary.argmin(axis=1))
    assert (r.labels != truth).mean() < 0.7 * alone < 0.5


def test_decimals_round_all_costs():
    for f, _ in (factor_tree(9, decimals=1), factor_chain(9, decimals=1), factor_grid(3, 3, decimals=1),
                 noisy_image(3, 3, decimals=1, smoothness=0.123)):  # fmt: skip
        np.testing.assert_array_equal(f.tables, np.round(f.tables, 1))


@pytest.mark.parametrize(
    ("make", "options", "expected"),
    [
        (factor_tree, {"n": -1}, "n is -1: expected an integer at least 0"),
        (factor_tree, {"n": 3, "arity": 1}, "arity is 1: expected an integer from 2 to 20"),
        (factor_tree, {"n": 3, "arity": 20, "labels": 9}, "a table has 9\\^20 entries"),
        (factor_tree, {"n": 3, "sigma": float("nan")}, "sigma is nan"),
        (factor_chain, {"n": 3, "labels": 0}, "labels is 0"),
        (
            factor_grid,
            {"height": 2, "width": 2, "couplings": "weak"},
            "couplings is 'weak': expected one of attractive",
        ),
        (factor_grid, {"height": 2, "width": 2, "couplings": "spin-glass", "labels": 3}, "expected 2, as spins have"),
        (noisy_image, {"height": 2, "width": 2, "noise": 0.0}, "noise is 0.0"),
        (noisy_image, {"height": 2, "width": 2, "noise": 0.6}, "noise is 0.6"),
        (noisy_image, {"height": 2.5, "width": 2}, "height is 2.5: expected an integer"),
        (scene, {"height": 2, "width": 2, "classes": 1}, "classes is 1"),
        (scene, {"height": 2, "width": 2, "classes": 5, "regions": 4}, "regions is 4: expected at least one for each"),
    ],
)
def test_wrong_options(make, options, expected):
    with pytest.raises(gp.InvalidOption, match=expected):
        make(**options)


@given(n=st.integers(0, 12), density=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 99))
def test_qubo(n, density, seed):
    f, truth = qubo(n, density, largest=9, seed=seed)
    assert truth is None and f.n == n and (f.domains == 2).all()
    tables = by_scope(f)
    for scope, table in tables.items():
        assert table.ravel()[:-1].tolist() == [0] * (table.size - 1)
        assert table.ravel()[-1] != 0 and abs(table.ravel()[-1]) <= 9 * len(scope)
        assert len(scope) == 1 or table[1, 1] % 2 == 0
    assert sum(len(scope) == 2 for scope in tables) <= round(density * n * (n - 1) / 2)


def test_qubo_hits_every_entry_alike():
    values = np.array([table[1, 1] / 2 for scope, table in qubo(300, 0.5, 3)[0].factors() if len(scope) == 2])
    found, counts = np.unique(values, return_counts=True)
    assert found.tolist() == [-3, -2, -1, 1, 2, 3] and counts.min() > 0.9 * counts.mean()


@given(n=st.integers(0, 30), graph=st.sampled_from(["random", "torus"]), signs=st.booleans(), seed=st.integers(0, 99))
def test_max_cut(n, graph, signs, seed):
    f, truth = max_cut(n, graph, 0.3, "signs" if signs else "ones", seed)
    assert truth is None and f.n == n
    weights = {scope: -table[0, 1] for scope, table in by_scope(f).items()}
    assert set(weights.values()) <= ({1.0, -1.0} if signs else {1.0})
    assert graph == "torus" or len(weights) == round(0.3 * n * (n - 1) / 2)
    labels = np.random.default_rng(seed).integers(0, 2, n)
    cut = sum(w for (u, v), w in weights.items() if labels[u] != labels[v])
    assert f.objective(f.evaluate(labels)) == cut


def test_a_torus_is_a_grid_with_joined_borders():
    f = max_cut(20, "torus")[0]
    H = nx.convert_node_labels_to_integers(nx.grid_2d_graph(4, 5, periodic=True), ordering="sorted")
    assert {frozenset(scope) for scope in by_scope(f)} == {frozenset(e) for e in H.edges}
    assert {nx.degree(H, v) for v in H} == {4}


@pytest.mark.parametrize(("length", "dimensions"), [(0, 3), (1, 2), (2, 2), (2, 3), (3, 3), (4, 2), (5, 1)])
@pytest.mark.parametrize("periodic", [False, True])
def test_spin_glasses(length, dimensions, periodic):
    f, truth = spin_glass(length, dimensions, periodic=periodic, field=0.5, seed=2)
    assert truth is None and f.n == length**dimensions
    tables = by_scope(f)
    G = nx.grid_graph([length] * dimensions, periodic=periodic and length > 2)
    H = nx.convert_node_labels_to_integers(G, ordering="sorted")
    assert {frozenset(s) for s in tables if len(s) == 2} == {frozenset(e) for e in H.edges}
    for scope, table in tables.items():
        if len(scope) == 2:
            assert abs(table[0, 0]) == 1 and table.tolist() == [
                [table[0, 0], -table[0, 0]],
                [-table[0, 0], table[0, 0]],
            ]
        else:
            assert table[0] == -table[1]
    assert len(spin_glass(length, dimensions, "normal", seed=1).problem.domains) == f.n


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: qubo(-1), "n is -1: expected an integer at least 0"),
        (lambda: qubo(5, 1.5), "density is 1.5: expected a number from 0 to 1"),
        (lambda: max_cut(5, "moon"), "graph is 'moon': expected one of random, torus"),
        (lambda: max_cut(5, weights="two"), "weights is 'two': expected one of ones, signs"),
        (lambda: spin_glass(5, 7), "dimensions is 7: expected an integer from 1 to 6"),
        (lambda: spin_glass(5, couplings="soft"), "couplings is 'soft': expected one of signs, normal"),
        (lambda: spin_glass(2000, 3), "length is 2000: expected an integer from 0 to 1290"),
    ],
)
def test_what_quadratic_generators_refuse(make, message):
    with pytest.raises(gp.InvalidOption, match=message):
        make()


@pytest.mark.parametrize("hard", [False, True])
def test_radio_links(hard):
    f, truth = radio_links(30, 200, hard, seed=3)
    assert truth is None and f.n == 60 and f.m == 230 and set(f.domains.tolist()) <= {44, 36, 24}
    weights = set()
    for k in range(f.m):
        (u, v), table = f.factor(k)
        if k < 30:  # both directions of a link: one frequency follows from the other
            finite = np.isfinite(table)
            assert v == u + 1 and (finite.sum(axis=0) == 1).all() and (finite.sum(axis=1) == 1).all()
        else:
            assert u // 2 != v // 2 and table.min() == 0.0
            weights |= set(np.unique(table[table > 0]).tolist())
    assert weights == {1.0, 10.0, 100.0, np.inf if hard else 1000.0}
    assert radio_links(5, 10**6).problem.m == 5 + 4 * 10 and radio_links(0).problem.n == 0
    assert gp.crf.reduce(f, time_limit=0).problem.n == 60  # nothing is done without time
