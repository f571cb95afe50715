"""Each generator against its own definition, on small sizes and at the edges."""

import hashlib

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import graphpart as gp
from graphpart.generate import FAMILIES, find_family
from graphpart.generate.instance import distinct_integers, standard_normal, symmetric_matrix, unrank_pairs

SMALL = {
    "planted-partition": {"n": 20, "subsets": 3},
    "grid": {"height": 12, "width": 9, "regions": 4},
    "lifted-grid": {"height": 6, "width": 5, "depth": 3, "regions": 2},
    "lifted-random": {"height": 7, "width": 6, "radius": 2.5},
    "volume": {"regions": 60, "bodies": 4},
    "sparse-random": {"n": 60, "m": 100},
    "uniform-integers": {"n": 15},
    "cluster-editing": {"n": 15},
    "correlations": {"n": 15},
    "modularity": {"graph": "karate-club"},
    "digits": {"n": 40},
    "machine-parts": {"machines": 6, "parts": 9},
    "soft-requirements": {"n": 15},
    "factor-tree": {"n": 20, "arity": 3},
    "factor-chain": {"n": 9, "labels": 3},
    "factor-grid": {"height": 4, "width": 5},
    "noisy-image": {"height": 14, "width": 11},
    "scene": {"height": 6, "width": 7},
    "qubo": {"n": 20},
    "max-cut": {"n": 30, "density": 0.3},
    "spin-glass": {"length": 4},
    "radio-links": {"links": 6},
}


def arrays_of(problem):
    """All numbers of a problem."""
    if isinstance(problem, gp.FactorGraph):
        return problem.domains, problem.scope_start, problem.scope, problem.tables
    return problem.pairs()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_same_seed_same_instance(family):
    options = SMALL[family.name]
    first, again = family.function(**options), family.function(**options)
    for a, b in zip(arrays_of(first.problem), arrays_of(again.problem), strict=True):
        np.testing.assert_array_equal(a, b)
    assert (first.truth is None) == (again.truth is None)
    if first.truth is not None:
        np.testing.assert_array_equal(first.truth, again.truth)
        assert len(first.truth) == first.problem.n
    if "seed" in [parameter.name for parameter in family.parameters]:
        other = arrays_of(family.function(**options, seed=1).problem)
        assert any(not np.array_equal(a, b) for a, b in zip(arrays_of(first.problem), other, strict=True))


# Of the numbers of each problem, without rounding, and of its truth. Sizes are such that rare normal variates occur.
CHECKSUMS = {
    "planted-partition": ({"n": 150, "subsets": 3}, "2870efc93ee1c74e"),
    "grid": ({"height": 60, "width": 50, "regions": 9}, "a632ccaa26dc7da8"),
    "lifted-grid": ({"height": 20, "width": 15, "depth": 4, "regions": 6}, "1c118550101ff585"),
    "lifted-random": ({"height": 30, "width": 20}, "53b4c6544a57e48d"),
    "volume": ({"regions": 2000, "bodies": 30}, "79f843c580f8558f"),
    "sparse-random": ({"n": 600, "m": 9000}, "b475188a67a39b44"),
    "uniform-integers": ({"n": 15}, "25ec93e70da8c693"),
    "cluster-editing": ({"n": 15}, "79d99f1585378a59"),
    "correlations": ({"n": 60, "rows": 150}, "fb844876b2fc8bed"),
    "modularity": ({"graph": "karate-club"}, "454848aee01bc516"),
    "digits": ({"n": 40}, "f8c4df59acbfb8bc"),
    "machine-parts": ({"machines": 14, "parts": 24}, "da92b53731302538"),
    "soft-requirements": ({"n": 45}, "afe04d682fe4da0c"),
    "factor-tree": ({"n": 900, "arity": 4}, "1c17a5abf68a2ffc"),
    "factor-chain": ({"n": 900, "labels": 3}, "24e634daafb926c1"),
    "factor-grid": ({"height": 40, "width": 50, "labels": 3}, "d3ff0fb969478832"),
    "noisy-image": ({"height": 14, "width": 11}, "82cc19a39ec4f22e"),
    "scene": ({"height": 30, "width": 20}, "fc8905d24bc664b4"),
    "qubo": ({"n": 60, "density": 0.5}, "415e6c0ae6c546ae"),
    "max-cut": ({"n": 100, "weights": "signs"}, "24d142231888cbcc"),
    "spin-glass": ({"length": 18, "couplings": "normal", "field": 0.5}, "01553b89c42d6c04"),
    "radio-links": ({"links": 12, "hard": True}, "077cf99c123fd7eb"),
}


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_same_instance_on_every_processor(family):
    options, expected = CHECKSUMS[family.name]
    problem, truth = family.function(**options)
    parts = [*arrays_of(problem), np.array([problem.offset if isinstance(problem, gp.SetPartition) else 0.0])]
    parts += [] if truth is None else [truth]
    found = hashlib.sha256()
    for part in parts:
        found.update(part.astype("<f8").tobytes())
    assert found.hexdigest()[:16] == expected


def test_rare_normal_variates_are_rounded():
    ours = standard_normal(np.random.default_rng(1), (200, 1000))
    theirs = np.random.default_rng(1).standard_normal((200, 1000))
    rare = np.abs(theirs) > 3.65
    assert 20 < rare.sum() < 90  # of 200000, 2.6 in 10000 are expected
    np.testing.assert_array_equal(ours[~rare], theirs[~rare])
    np.testing.assert_array_equal(ours[rare] * 2.0**26, np.round(theirs[rare] * 2.0**26))


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_table_describes_every_parameter(family):
    assert family.summary.endswith(".") and find_family(family.name) is family
    for parameter in family.parameters:
        assert parameter.help.endswith("."), parameter.name
        if not parameter.required and parameter.default is not None:
            assert parameter.parse(str(parameter.default)) == parameter.default
        if parameter.optional:
            assert parameter.parse("none") is None
        if parameter.type != "str":
            with pytest.raises(gp.InvalidOption, match=f"{parameter.name} is 'x': expected"):
                parameter.parse("x")


def test_unknown_family_lists_those_there_are():
    with pytest.raises(gp.InvalidOption, match=r"'nothing': expected one of planted-partition, .*digits, .*scene"):
        find_family("nothing")


# ------------------------------------------------------------------------------------------------------ the families


def test_planted_partition_without_noise():
    p, truth = gp.generate.planted_partition(11, 3, sigma=0)
    together = truth[:, None] == truth
    np.testing.assert_array_equal(p.matrix, np.where(together, -1.0, 1.0) - np.diag(np.full(11, -1.0)))
    assert sorted(np.bincount(truth)) == [3, 4, 4]
    assert gp.partition.brute_force(p).cost == p.evaluate(truth)


def test_planted_partition_noise_is_normal():
    p, truth = gp.generate.planted_partition(300, 4, sigma=2.0, seed=5)
    u, v, cost = p.pairs()
    noise = (cost - np.where(truth[u] == truth[v], -1.0, 1.0)) / 2.0
    assert abs(noise.mean()) < 0.02 and abs(noise.std() - 1.0) < 0.02


def test_decimals_round():
    p, _ = gp.generate.planted_partition(20, 2, sigma=0.7, decimals=2)
    cost = p.pairs()[2]
    np.testing.assert_array_equal(cost, np.round(cost, 2))
    exact = gp.generate.planted_partition(20, 2, sigma=0.7).problem.pairs()[2]
    assert 0 < abs(cost - exact).max() <= 0.005 + 1e-12


def test_uniform_integers_hit_every_value_alike():
    cost = gp.generate.uniform_integers(200, largest=3).problem.pairs()[2]
    values, counts = np.unique(cost, return_counts=True)
    assert values.tolist() == [-3, -2, -1, 0, 1, 2, 3]
    assert abs(counts / len(cost) - 1 / 7).max() < 0.02


@given(machines=st.integers(1, 5), parts=st.integers(1, 6), seed=st.integers(0, 99))
def test_machine_parts_objective_counts_exceptions_and_voids(machines, parts, seed):
    p, truth = gp.generate.machine_parts(machines, parts, min(machines, parts), 0.8, 0.3, seed=seed)
    kind = np.arange(p.n) < machines
    matrix = np.zeros((p.n, p.n))
    u, v, cost = p.pairs()
    matrix[u, v] = matrix[v, u] = cost
    assert not matrix[np.equal.outer(kind, kind)].any() and set(matrix[np.not_equal.outer(kind, kind)]) <= {-1.0, 1.0}
    works = matrix[:machines, machines:] < 0
    together = np.equal.outer(truth[:machines], truth[machines:])
    assert p.objective(p.evaluate(truth)) == (works != together).sum()
    assert len(set(truth[:machines])) == len(set(truth[machines:])) == min(machines, parts)


def test_machine_parts_follow_their_shares():
    p, truth = gp.generate.machine_parts(100, 150, 5, 0.6, 0.1, seed=4)
    u, v, cost = p.pairs()
    mixed = (u < 100) & (v >= 100)
    same = truth[u] == truth[v]
    assert abs((cost[mixed & same] < 0).mean() - 0.6) < 0.03 and abs((cost[mixed & ~same] < 0).mean() - 0.1) < 0.01


def test_soft_requirements_follow_their_shares():
    cost = gp.generate.soft_requirements(
        200, largest=10, attracting=0.7, apart=0.2, penalty=50, seed=3
    ).problem.pairs()[2]
    assert set(cost.tolist()) == {*range(-10, 11), 50}
    assert abs((cost == 50).mean() - 0.2) < 0.01 and abs((cost < 0).mean() - 0.7 * 10 / 11) < 0.02
    assert not (gp.generate.soft_requirements(9, attracting=0, apart=0, largest=0).problem.pairs()[2]).any()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: gp.generate.machine_parts(3, 5, cells=4), "cells is 4: expected at most"),
        (lambda: gp.generate.machine_parts(3, 5, cells=0), "cells is 0: expected an integer at least 1"),
        (lambda: gp.generate.soft_requirements(5, attracting=0.9, apart=0.2), "expected a sum of at most 1"),
        (lambda: gp.generate.soft_requirements(5, penalty=-1), "penalty is -1: expected"),
    ],
)
def test_wrong_options_of_machine_parts_and_soft_requirements(call, message):
    with pytest.raises(gp.InvalidOption, match=message):
        call()


@given(n=st.integers(0, 9), p=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 99))
def test_cluster_editing_objective_counts_edits(n, p, seed):
    problem, _ = gp.generate.cluster_editing(n, p, seed=seed)
    G = nx.Graph()
    G.add_nodes_from(range(n))
    G.add_edges_from((a, b) for a, b, c in zip(*(x.tolist() for x in problem.pairs()), strict=True) if c < 0)
    labels = np.arange(n) // 3
    cliques = nx.Graph()
    cliques.add_nodes_from(range(n))
    cliques.add_edges_from((a, b) for a in range(n) for b in range(a) if labels[a] == labels[b])
    edits = nx.symmetric_difference(G, cliques).number_of_edges()
    assert problem.objective(problem.evaluate(labels)) == edits


def test_correlations_match_numpy():
    p, _ = gp.generate.correlations(12, rows=5, seed=3)
    samples = np.random.default_rng(3).standard_normal((5, 12))
    w = np.round(100 * np.corrcoef(samples, rowvar=False))
    np.fill_diagonal(w, 0)
    np.testing.assert_array_equal(-p.matrix, w)
    assert p.objective(p.evaluate(np.zeros(12, int))) == w.sum() / 2


def test_sparse_random_pairs_are_distinct_and_signs_follow_the_share():
    p, _ = gp.generate.sparse_random(3000, 20000, negative=0.3, seed=2)
    assert p.m == 20000 and not p.is_dense  # equal pairs would have been added up
    assert abs((p.cost < 0).mean() - 0.3) < 0.01
    assert abs(np.abs(p.cost).mean() - np.sqrt(2 / np.pi)) < 0.02
    signs, _ = gp.generate.sparse_random(3000, 20000, negative=1.0, signs=True)
    assert set(signs.cost.tolist()) == {-1.0}


@given(height=st.integers(0, 8), width=st.integers(0, 8), reach=st.integers(2, 9), seed=st.integers(0, 99))
def test_grid_edges(height, width, reach, seed):
    long_range = 0.3 if min(height, width) > 2 else 0.0
    p, _ = gp.generate.grid(height, width, long_range=long_range, reach=reach, seed=seed)
    pairs = {(a, b) for a, b, c in zip(*(x.tolist() for x in p.pairs()), strict=True) if c != 0}
    index = {pixel: k for k, pixel in enumerate(np.ndindex(height, width))}
    near = {tuple(sorted((index[a], index[b]))) for a, b in nx.grid_2d_graph(height, width).edges}
    assert near <= pairs
    far = pairs - near
    assert len(far) == round(long_range * len(near))
    for a, b in far:
        apart = max(abs(a // width - b // width), abs(a % width - b % width))
        assert 1 < apart <= reach


def test_grid_long_range_edges_reach_all_offsets_alike():
    p, _ = gp.generate.grid(200, 200, long_range=0.5, reach=3)
    u, v = p.u.astype(int), p.v.astype(int)
    di, dj = v // 200 - u // 200, v % 200 - u % 200
    far = np.maximum(di, abs(dj)) > 1
    offsets, counts = np.unique(np.stack([di[far], dj[far]]), axis=1, return_counts=True)
    assert offsets.shape[1] == (7 * 7 - 3 * 3) // 2
    assert counts.min() > 0.85 * counts.mean()


def test_lifted_random_lists_all_pairs_within_the_radius():
    for shape, radius in (((5, 6, 1), 2.5), ((3, 4, 3), 2.0), ((1, 4, 1), 9.0)):
        p, _ = gp.generate.lifted_random(*shape, radius=radius, seed=3)
        size = (shape[2], shape[0], shape[1])
        place = np.stack(np.unravel_index(np.arange(p.n), size), 1)
        apart = ((place[:, None] - place) ** 2).sum(axis=2)
        a, b = np.nonzero(np.triu((apart > 0) & (apart <= radius**2)))
        assert list(zip(p.u.tolist(), p.v.tolist(), strict=True)) == list(zip(a.tolist(), b.tolist(), strict=True))
        assert p.lifted.tolist() == (apart[a, b] > 1).tolist()


def test_lifted_grids_plant_connected_regions():
    for shape in ((9, 7, 1), (4, 5, 3), (0, 3, 1)):
        p, truth = gp.generate.lifted_grid(*shape, regions=3, lifted=1.0, reach=3, sigma=0.0, lifted_sigma=0.0, seed=2)
        p._check_feasible(truth)
        assert p.n == np.prod(shape) and p.lifted.sum() == p.n
        u, v, cost = p.pairs()
        assert (cost[truth[u] == truth[v]] == -1).all() and set(cost) <= {-1.0, 1.0}
    with pytest.raises(gp.InvalidOption, match="lifted asks for 4 edges: expected at most 0"):
        gp.generate.lifted_grid(2, 2, lifted=1.0)


def test_grid_regions_are_those_of_nearest_points():
    height, width, regions = 15, 20, 5
    p, truth = gp.generate.grid(height, width, regions=regions, sigma=0, seed=9)
    points = np.random.default_rng(9).random((regions, 2)) * (height, width)
    centres = np.indices((height, width)).reshape(2, -1).T + 0.5
    nearest = ((centres[:, None] - points) ** 2).sum(axis=2).argmin(axis=1)
    assert p.labels(nearest).tolist() == truth.tolist()
    u, v, cost = p.pairs()
    np.testing.assert_array_equal(cost, np.where(truth[u] == truth[v], -1.0, 1.0))


def graphs():
    yield nx.karate_club_graph()
    yield nx.les_miserables_graph()
    yield nx.gnm_random_graph(20, 40, seed=1)
    loops = nx.path_graph(6)
    loops.add_edge(2, 2, weight=3.0)
    yield loops
    multi = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 3), (3, 3)])
    multi.add_edge(0, 2, weight=0.5)
    yield multi
    yield nx.gnm_random_graph(15, 40, seed=2, directed=True)
    yield nx.MultiDiGraph([(0, 1), (1, 0), (0, 1), (2, 3), (3, 0), (3, 3)])


@pytest.mark.parametrize("graph", list(graphs()))
@pytest.mark.parametrize("weight", ["weight", None])
@pytest.mark.parametrize("resolution", [1.0, 0.4])
def test_modularity_is_that_of_networkx(graph, weight, resolution):
    p, _ = gp.generate.modularity(graph, weight, resolution)
    rng = np.random.default_rng(0)
    for k in (1, 2, 4):
        labels = rng.integers(k, size=len(graph))
        sets = [{node for node, a in zip(graph, labels, strict=True) if a == b} for b in set(labels.tolist())]
        expected = nx.community.modularity(graph, sets, weight=weight, resolution=resolution)
        assert p.objective(p.evaluate(sets)) == pytest.approx(expected, abs=1e-12)


def test_digits_costs_are_distances():
    from sklearn.datasets import load_digits

    p, truth = gp.generate.digits(30, threshold=20.0)
    data = load_digits()
    chosen = np.array(p.nodes)
    assert truth.tolist() == data.target[chosen].tolist() and (np.diff(chosen) > 0).all()
    images = data.data[chosen]
    distance = np.sqrt(((images[:, None] - images) ** 2).sum(axis=2))
    np.testing.assert_array_equal(p.matrix, distance - 20.0 + np.diag(np.full(30, 20.0)))


def test_digits_without_scikit_learn(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sklearn.datasets", None)
    with pytest.raises(gp.MissingDependency, match=r"pip install 'graphpart\[learn\]'"):
        gp.generate.digits(5)


# --------------------------------------------------------------------------------------------------- edges and errors


@pytest.mark.parametrize("n", [0, 1, 2])
def test_tiny(n):
    assert gp.generate.planted_partition(n, 2).problem.n == n
    assert gp.generate.sparse_random(n, 0).problem.n == n
    assert gp.generate.uniform_integers(n).problem.n == n
    assert gp.generate.cluster_editing(n).problem.n == n
    assert gp.generate.correlations(n).problem.n == n
    assert gp.generate.digits(n).problem.n == n
    assert gp.generate.grid(1, n, long_range=0).problem.n == n
    assert gp.generate.grid(n, 2, long_range=0, regions=2).problem.n == 2 * n


@pytest.mark.parametrize(
    ("family", "options", "text"),
    [
        ("planted-partition", {"n": -1, "subsets": 2}, "n is -1: expected an integer at least 0"),
        ("planted-partition", {"n": 5.5, "subsets": 2}, "n is 5.5: expected an integer"),
        ("planted-partition", {"n": 5, "subsets": 0}, "subsets is 0: expected an integer at least 1"),
        ("planted-partition", {"n": 5, "subsets": 2, "sigma": -1}, "sigma is -1.0: expected a number at least 0"),
        ("planted-partition", {"n": 5, "subsets": 2, "sigma": "x"}, "sigma is 'x': expected a number"),
        ("planted-partition", {"n": 5, "subsets": 2, "seed": -3}, "seed is -3: expected an integer at least 0"),
        ("planted-partition", {"n": 5, "subsets": 2, "decimals": 40}, "decimals is 40: expected an integer from"),
        ("grid", {"height": 5, "width": 5, "long_range": float("inf")}, "long_range is inf: expected a number at"),
        ("grid", {"height": 2, "width": 5, "long_range": 9}, "long_range asks for 117 edges: expected at most "),
        ("grid", {"height": 2, "width": 5, "regions": 0}, "regions is 0: expected an integer at least 1"),
        ("sparse-random", {"n": 5, "m": 11}, "m is 11: expected an integer from 0 to 10"),
        ("sparse-random", {"n": 5, "m": 1, "negative": 1.5}, "negative is 1.5: expected a number from 0 to 1"),
        ("sparse-random", {"n": 2**40, "m": 1}, "n is 1099511627776: expected an integer from 0 to "),
        ("uniform-integers", {"n": 5, "largest": -1}, "largest is -1: expected an integer from 0"),
        ("cluster-editing", {"n": 5, "p": float("nan")}, "p is nan: expected a number from 0 to 1"),
        ("correlations", {"n": 5, "rows": 1}, "rows is 1: expected an integer at least 2"),
        ("modularity", {"graph": "petersen"}, "graph is 'petersen': expected a networkx graph or one of davis-"),
        ("modularity", {"graph": 3}, "graph is a int: expected a networkx graph"),
        ("digits", {"n": 1798}, "n is 1798: expected an integer from 0 to 1797"),
        ("digits", {"threshold": float("nan")}, "threshold is nan: expected a finite number"),
    ],
)
def test_wrong_options(family, options, text):
    with pytest.raises(gp.InvalidOption) as error:
        find_family(family).function(**options)
    assert str(error.value).startswith(text)


def test_modularity_needs_weight():
    with pytest.raises(gp.InvalidProblem, match="the graph has no nodes"):
        gp.generate.modularity(nx.Graph())
    with pytest.raises(gp.InvalidProblem, match=r"the sum of weights is 0.0: expected a positive number"):
        gp.generate.modularity(nx.empty_graph(3))
    G = nx.Graph()
    G.add_edge(0, 1, weight="heavy")
    with pytest.raises(gp.InvalidProblem, match="attribute 'weight' of an edge is not a number"):
        gp.generate.modularity(G)
    G.add_edge(0, 1, weight=float("nan"))
    with pytest.raises(gp.InvalidProblem, match="the sum of weights is nan"):
        gp.generate.modularity(G)


def test_too_large_for_memory_is_refused_before_anything_is_allocated():
    for make in (gp.generate.uniform_integers, gp.generate.cluster_editing, gp.generate.correlations):
        with pytest.raises(gp.InvalidProblem, match="needs a matrix of"):
            make(10**8)


# ------------------------------------------------------------------------------------------------------------- pieces


@given(n=st.integers(2, 40))
def test_unrank_pairs(n):
    u, v = unrank_pairs(n, np.arange(n * (n - 1) // 2))
    expected = np.triu_indices(n, 1)
    np.testing.assert_array_equal((u, v), expected)


@given(n=st.integers(2**20, 2**31 - 2), back=st.integers(0, 2**31), seed=st.integers(0, 99))
def test_unrank_huge(n, back, seed):
    total = n * (n - 1) // 2
    ranks = np.append(np.random.default_rng(seed).integers(total, size=20), [0, total - 1, total - 1 - back])
    u, v = unrank_pairs(n, ranks)
    assert ((u >= 0) & (u < v) & (v < n)).all()
    for rank, a, b in zip(ranks.tolist(), u.tolist(), v.tolist(), strict=True):
        assert a * n - a * (a + 1) // 2 + b - a - 1 == rank


@given(total=st.integers(0, 30), share=st.floats(0, 1), seed=st.integers(0, 99))
def test_distinct_integers(total, share, seed):
    count = int(share * total)
    drawn = distinct_integers(total, count, np.random.default_rng(seed))
    assert len(drawn) == count and (np.diff(drawn) > 0).all()
    assert count == 0 or (drawn[0] >= 0 and drawn[-1] < total)


def test_distinct_integers_are_uniform():
    rng = np.random.default_rng(1)
    counts = np.zeros(10)
    for _ in range(4000):
        counts[distinct_integers(10, 4, rng)] += 1
    assert abs(counts / 4000 - 0.4).max() < 0.03


@pytest.mark.parametrize("n", [0, 1, 2, 511, 512, 513, 1200])
def test_symmetric_matrix(n):
    rng, same = np.random.default_rng(1), np.random.default_rng(1)
    matrix = symmetric_matrix(n, rng.random)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(matrix[np.triu_indices(n, 1)], same.random(n * max(n - 1, 0) // 2))
    assert not matrix.diagonal().any()
