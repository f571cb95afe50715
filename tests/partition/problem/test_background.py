"""Costs of pairs that are not listed: the model, against sums over all pairs in exact arithmetic and the dense form."""

import io
import math
import pickle
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from backgrounds import background_problem
from scipy.sparse import coo_array
from trials import trials

import graphpart as gp
from graphpart.partition.bounds.trivial_bound import trivial_bound
from graphpart.partition.certificates.certificate import fingerprint
from graphpart.partition.pieces.components import split
from graphpart.partition.problem import forms
from graphpart.partition.problem.forms import LARGEST_DENSE
from graphpart.partition.problem.forms import explicit as explicit_problem


def exact_cost(p, labels):
    """The cost as a fraction, pair by pair, and the sum of what it consists of in absolute values."""
    listed = {(a, b): c for a, b, c in zip(*(array.tolist() for array in p.pairs()), strict=True)}
    total = size = Fraction(0)
    for a in range(p.n):
        for b in range(a + 1, p.n):
            if labels[a] == labels[b]:
                parts = [Fraction(listed.get((a, b), 0.0))]
                for beta, x, *rest in p.background.terms:
                    f = [[Fraction(float(w[i])) for i in (a, b)] for w in (x, *rest)]
                    product = f[0][0] * f[0][1] if len(f) == 1 else f[0][0] * f[1][1] + f[1][0] * f[0][1]
                    parts.append(Fraction(beta) * product)
                total += sum(parts)
                size += sum(map(abs, parts))
    return total, size


def test_evaluate_is_exact_where_terms_cancel():
    rng = np.random.default_rng(1)
    for _ in range(trials(400)):
        n = int(rng.integers(1, 9))
        u, v = np.triu_indices(n, 1)
        w, x, y = (rng.normal(size=n) * 10.0 ** rng.integers(-8, 8, n) for _ in range(3))
        costs = rng.normal(size=len(u)) * 10.0 ** rng.integers(-5, 9)
        p = gp.SetPartition.from_pairs(n, (u, v), costs, background=[(0.7, w), (-1.3, x, y)], dense=False)
        labels = rng.integers(0, 3, n)
        total, size = exact_cost(p, labels)
        assert abs(Fraction(p.evaluate(labels)) - total) <= abs(total) * Fraction(2) ** -52 + size * Fraction(2) ** -95
        assert p.evaluate(np.arange(n)) == 0.0
        assert p._to_dense().evaluate(labels) == p.evaluate(labels)


def test_what_is_listed_costs_what_is_listed():
    for dense in (True, False, None):
        p = gp.SetPartition.from_pairs(4, [(0, 1), (1, 0), (1, 2)], [0.25, 0.5, -3.0], missing=0.5, dense=dense)
        assert [p.evaluate([0, 0, 1, 2]), p.evaluate([0, 1, 1, 2]), p.evaluate([0, 1, 2, 0])] == [0.75, -3.0, 0.5]
        assert p.evaluate([0] * 4) == 0.75 - 3.0 + 4 * 0.5
    assert p.is_dense  # 4 elements
    G = nx.Graph()
    G.add_edge("a", "b", cost=-1.0)
    G.add_node("c")
    assert gp.SetPartition(G, missing=2.0, dense=False).evaluate([{"a", "b", "c"}]) == 3.0
    frame = {"x": ["a", "b"], "y": ["b", "c"], "p": [0.75, 0.25]}
    p = gp.SetPartition.from_frame(frame, "x", "y", probability="p", missing=0.5, dense=False)
    assert p.evaluate([0, 1, 0]) == 0.5 and p.evaluate([0, 0, 1]) == pytest.approx(-math.log2(3))
    p = gp.SetPartition.from_similarity(
        coo_array(([0.9, 0.9], ([0, 1], [1, 0])), shape=(3, 3)), threshold=0.5, missing=0.5
    )
    assert p.evaluate([0, 1, 0]) == 0.5 and p.evaluate([0, 0, 1]) == pytest.approx(-0.4)
    weights = {"a": 1.0, "b": 2.0, "c": 3.0}
    assert gp.SetPartition(G, background=(0.5, weights), dense=False).evaluate([{"a", "b"}, {"c"}]) == 0.0


def test_requirements_say_nothing_of_costs():
    for dense in (True, False):
        p = gp.SetPartition.from_pairs(
            4, [(0, 1), (2, 3)], [-math.inf, math.inf], must_join=[(0, 2)], missing=0.5, dense=dense
        )
        assert p.evaluate([0, 0, 0, 1]) == 1.5
        assert p.evaluate([0, 0, 1, 2]) == math.inf == p.evaluate([0, 0, 0, 0])


@pytest.mark.parametrize("seed", range(4))
def test_derived_problems_are_those_of_the_dense_form(seed):
    rng = np.random.default_rng(seed)
    for _ in range(trials(60)):
        p = background_problem(rng, repels=bool(rng.integers(2)), requirements=False)
        q = p._to_dense()
        assert q.is_dense and q.background is None and np.array_equal(q.matrix, q.matrix.T)
        blocks = p.labels(rng.integers(0, 4, p.n))
        a, b = p._contract(blocks), q._contract(blocks)
        np.testing.assert_allclose(a._to_dense().matrix, b.matrix, atol=1e-12)
        chosen = np.flatnonzero(rng.random(p.n) < 0.6)
        np.testing.assert_allclose(p._restrict(chosen)._to_dense().matrix, q._restrict(chosen).matrix, atol=1e-12)
        assert p._magnitude >= q._magnitude * (1 - 1e-12)
        again = pickle.loads(pickle.dumps(p))
        assert again.background == p.background and again.evaluate(blocks) == p.evaluate(blocks)
        assert fingerprint(again) == fingerprint(p) != fingerprint(p._restrict(np.arange(0)))
        same = gp.SetPartition(p.graph, dense=False)
        assert len(p.must_join) or (same.background == p.background and same.evaluate(blocks) == p.evaluate(blocks))


def test_components_lose_nothing():
    rng = np.random.default_rng(7)
    apart = 0
    for _ in range(150):
        p = background_problem(rng, repels=rng.random() < 0.7, largest=9)
        optimum = gp.partition.brute_force(p)
        component = p._components()
        labels = optimum.labels * (component.max(initial=0) + 1) + component
        assert p.evaluate(labels) == pytest.approx(optimum.cost, abs=1e-12)
        apart += component.max(initial=0) > 0
        if not len(p.must_join):
            total = sum(gp.partition.brute_force(part).cost for _, part in split(p, component))
            assert total == pytest.approx(optimum.cost, abs=1e-12)
        assert trivial_bound(p) <= optimum.cost
        small, forms.ELEMENTS = forms.ELEMENTS, 0
        try:
            q = explicit_problem(p)
        finally:
            forms.ELEMENTS = small
        if q is not None:
            found = gp.partition.brute_force(q).labels  # what joins components costs nothing there
            pieces = p.labels(found * (component.max(initial=0) + 1) + component)
            assert p.evaluate(pieces) == pytest.approx(optimum.cost, abs=1e-12)
            assert gp.partition.auto(q).cost == pytest.approx(optimum.cost, abs=1e-12)
            assert q.evaluate(np.zeros(p.n, int)) == p.evaluate(np.zeros(p.n, int))
    assert apart > 30


@pytest.mark.parametrize("method", [m.name for m in gp.methods.methods_for("partition")])
@pytest.mark.filterwarnings("ignore::graphpart.GraphPartWarning")
def test_no_method_ignores_a_background(method):
    rng = np.random.default_rng(3)
    for k in range(12):
        p = background_problem(rng, repels=k % 3 > 0, largest=9)
        optimum = gp.partition.brute_force(p._to_dense()).cost
        options = {"max_iterations": 2} if method == "search" else {}
        r = gp.solve(p, method, **options)
        assert r.cost == p.evaluate(r.labels) >= optimum - 1e-12
        assert r.lower_bound <= optimum + 1e-9
        if r.status == "optimal":
            assert r.cost == pytest.approx(optimum, abs=1e-9)
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (3, 4)], [-1.0, -1.0, -0.25], missing=0.75, dense=False)
    assert gp.solve(p, method, **options).cost == -1.5  # {0, 1, 2}, {3, 4}


def test_large_problems_say_what_to_do():
    n = LARGEST_DENSE + 1
    p = gp.SetPartition.from_pairs(n, [(0, 1), (1, 2)], [-1.0, -1.0], missing=0.5)
    with pytest.raises(gp.InvalidProblem, match=r"as a matrix, which has 20001 rows .* or method search"):
        forms.with_matrix(p)
    assert gp.partition.ilp(p).cost == gp.partition.exact(p).cost == -1.5  # of three elements, as a matrix
    native = ("greedy-joining", "greedy-moving", "kernighan-lin", "kernighan-lin-pairs", "multilevel", "auto", "search")
    for method in native:
        assert gp.solve(p, method, **({"max_iterations": 1} if method == "search" else {})).cost == -1.5, method
    attracts = gp.SetPartition.from_pairs(n, [(0, 1), (1, 2)], [1.0, 1.0], missing=-0.5)
    r = gp.solve(attracts)
    assert r.method == "auto" and r.n_clusters == 1 and r.cost == 2.0 - 0.5 * (n * (n - 1) // 2 - 2)
    assert r.cost - 3 <= r.lower_bound <= r.cost  # all that attracts
    for method in native:
        found = gp.solve(attracts, method, **({"max_iterations": 1} if method == "search" else {}))
        assert found.cost == r.cost, method


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"missing": math.inf}, "missing is inf: expected a finite number"),
        ({"missing": "1"}, "missing is '1'"),
        ({"background": (1.0,)}, "background is not as expected"),
        ({"background": 0.5}, "background is not as expected"),
        ({"background": (math.nan, [1.0] * 3)}, "background has the factor nan"),
        ({"background": (1.0, [1.0] * 2)}, r"weights of shape \(2,\): expected a number for each of 3 elements"),
        ({"background": (1.0, ["a"] * 3)}, "expected a number for each of 3"),
        ({"background": (1.0, [1.0, math.inf, 1.0])}, "the weight inf of 1: expected a finite number"),
        ({"background": (1.0, {0: 1.0, 2: 1.0})}, "no weight of 1"),
        ({"background": [(1.0, [1.0] * 3)] * 8}, "background has 8 terms: expected at most 7"),
        ({"background": (1e200, [1e150] * 3)}, "the background overflows"),
    ],
)
def test_bad_backgrounds(options, message):
    with pytest.raises(gp.InvalidProblem, match=message):
        gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], dense=False, **options)


def test_how_it_looks():
    p = gp.SetPartition.from_pairs(3, [(0, 1), (1, 2)], [-1.0, 0.25], missing=0.5, dense=False)
    assert "2 pairs with a cost, 0.5 for each other pair" in repr(p) and "costs -1 to 0.25" in repr(p)
    assert p.background.constant == 0.5 and p.background.repels
    assert "x[a] y[b]" in repr(gp.SetPartition.from_pairs(2, [], [], background=(1.0, [1, 2], [3, 4]), dense=False))
    from graphpart.cli.kinds import describe_partition

    found = describe_partition(p)
    assert (found["background"], found["attractive"], found["repulsive"]) == ("0.5 for each other pair", 1, 1)


def test_no_warning_where_the_background_repels(recwarn):
    gp.solve(gp.SetPartition.from_editing(nx.path_graph(5), dense=False))
    assert not recwarn.list
    p = gp.SetPartition.from_pairs(5, [(0, 1), (1, 2), (2, 3)], [1.0, 2.0, 3.0], missing=0.5, dense=False)
    with pytest.warns(gp.GraphPartWarning, match="positive"):
        gp.solve(p)


def test_two_equal_vectors_are_one_with_twice_the_factor():
    w = np.array([1.0, 2.0, 3.0])
    twice = gp.SetPartition.from_pairs(3, [(0, 1)], [-1.0], background=(1.0, w, w), dense=False)
    assert twice.background == gp.SetPartition.from_pairs(3, [], [], background=(2.0, w), dense=False).background
    assert twice.evaluate([0, 0, 0]) == 2.0 * (2 + 3 + 6) - 1.0
    stream = io.BytesIO()
    gp.write(twice, stream, "npz")
    assert gp.read(io.BytesIO(stream.getvalue()), "npz").background == twice.background


@pytest.mark.parametrize("scale", [1.0, 1e-300])
def test_tiny_backgrounds_count(scale):
    pairs = [(2 * k, 2 * k + 1) for k in range(600)]
    costs = [-5.0 * scale] * 500 + [scale] * 100
    p = gp.SetPartition.from_pairs(1200, pairs, costs, missing=2.0 * scale, dense=False)
    for method in ("greedy-joining", "kernighan-lin", "multilevel", "exact"):
        assert gp.solve(p, method).cost == pytest.approx(-2500.0 * scale, rel=1e-12), method


def test_numbers_beyond_floating_point_are_refused():
    for options in ({"missing": 10**400}, {"background": (10**400, [1, 1, 1])}):
        with pytest.raises(gp.InvalidProblem, match="expected a finite number"):
            gp.SetPartition.from_pairs(3, [(0, 1)], [1.0], **options)
