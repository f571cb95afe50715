"""FactorGraph: every way to build one, energies against naive sums, derived graphs, and what is refused."""

import itertools
import pickle
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference_crf import all_energies
from strategies_crf import factor_graphs
from trials import trials

import graphpart as gp
from graphpart import FactorGraph


def small():
    f = FactorGraph()
    f.add_variable("x")
    f.add_variable(("y", 1), domain=3)
    f.add_factor(("x", ("y", 1)), [[0.0, 1.0, 2.0], [3.0, np.inf, 5.0]])
    f.add_factor((("y", 1),), [0.5, 0.0, 0.25])
    return f


def energies(f):
    return np.array([f.evaluate(y) for y in itertools.product(*(range(d) for d in f.domains.tolist()))])


# --------------------------------------------------------------------------------------------------------- the energy


@given(factor_graphs())
@settings(max_examples=trials(200))
def test_every_equal_factor_graph_has_the_same_energies(f):
    expected = all_energies(f).ravel()
    np.testing.assert_allclose(energies(f), expected, atol=1e-9)
    np.testing.assert_array_equal(energies(FactorGraph(f.graph)), energies(f))
    np.testing.assert_array_equal(energies(pickle.loads(pickle.dumps(f))), energies(f))
    again = FactorGraph.from_csr(f.domains, f.scope_start, f.scope, f.tables, f.variables, constant=f.constant)
    np.testing.assert_array_equal(energies(again), energies(f))
    simple = f.simplify()
    np.testing.assert_allclose(energies(simple), expected, atol=1e-9)
    scopes = [frozenset(scope) for scope, _ in simple.factors()]
    assert len(set(scopes)) == len(scopes)
    larger = set().union(*(scope for scope in scopes if len(scope) > 1))
    assert not any(scope <= larger for scope in scopes if len(scope) == 1)


@given(factor_graphs(), st.data())
@settings(max_examples=trials(200))
def test_conditioning_fixes_labels(f, data):
    evidence = {
        name: data.draw(st.integers(0, int(d) - 1))
        for name, d in zip(f.variables, f.domains, strict=True)
        if data.draw(st.booleans())
    }
    at = tuple(evidence.get(name, slice(None)) for name in f.variables)
    expected = all_energies(f)[at]
    try:
        rest = f.condition(evidence)
    except gp.InfeasibleProblem:
        assert expected.min() == np.inf
        return
    assert list(rest.variables) == [name for name in f.variables if name not in evidence]
    np.testing.assert_allclose(energies(rest), expected.ravel(), atol=1e-9)


@given(factor_graphs())
@settings(max_examples=trials(200))
def test_structure_against_networkx(f):
    G = f.graph
    assert f.is_acyclic == (not len(G) or nx.is_forest(G))
    variables = set(f.variables)
    groups = {frozenset(part & variables) for part in nx.connected_components(G)}
    labels = f.components()
    ours = {frozenset(name for name, k in zip(f.variables, labels, strict=True) if k == c) for c in set(labels)}
    assert ours == groups
    first = [labels.tolist().index(c) for c in sorted(set(labels.tolist()))]
    assert first == sorted(first)
    rows, factors, places = f.incidence()
    for i, name in enumerate(f.variables):
        mine = [(k, scope.index(name)) for k, (scope, _) in enumerate(f.factors()) if name in scope]
        here = slice(rows[i], rows[i + 1])
        assert list(zip(factors[here].tolist(), places[here].tolist(), strict=True)) == mine
    if not f.is_acyclic:
        with pytest.raises(gp.CyclicGraph, match="cycle through the variables") as error:
            f.check_acyclic()
        cycle = str(error.value).split("variables ")[1].split(": expected")[0].split(" - ")
        names = {repr(name): name for name in f.variables}
        for a, b in itertools.pairwise(cycle):
            assert any({names[a], names[b]} <= set(scope) for scope, _ in f.factors())


def test_huge_and_tiny_entries_are_summed_exactly():
    f = FactorGraph.from_arrays([1], [([[0]] * 5, [[1e20], [1.0], [-1e20], [1e-3], [3.0]])])
    assert f.evaluate([0]) == pytest.approx(4.001, rel=1e-15)


# ------------------------------------------------------------------------------------------------------------ building


def test_piece_by_piece_and_looking_in_between():
    f = small()
    assert (f.n, f.m) == (2, 2) and f.has_forbidden
    assert f.evaluate({"x": 1, ("y", 1): 1}) == np.inf
    f.add_variable("z", 1)
    f.add_constant(2.0)
    f.add_factor((), 0.5)
    f.add_factor(("z",), [1.0])
    assert f.evaluate([0, 0, 0]) == 4.0
    assert repr(f).startswith("<FactorGraph: 3 variables, 3 factors")
    assert f.factor(0)[0] == (0, 1) and f.factor(0)[1].shape == (2, 3)
    for array in (f.tables, f.scope, f.domains, f.factor(0)[1]):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0
    assert (f.objective(3.0), f.offset, f.sense) == (3.0, 0.0, 1)


def test_nothing_at_all():
    for f in (FactorGraph(), FactorGraph.from_arrays([], []), FactorGraph(nx.Graph())):
        assert (f.n, f.m, f.is_acyclic, f.evaluate([]), f.evaluate({})) == (0, 0, True, 0.0, 0.0)
        assert len(f.graph) == 0 and f.components().tolist() == []
        assert f.simplify().n == f.condition({}).n == 0


def test_arrays_are_copied_and_not_changed():
    domains, scopes, tables = np.array([2, 2]), np.array([[0, 1]]), np.arange(4.0).reshape(1, 2, 2)
    f = FactorGraph.from_arrays(domains, [(scopes, tables)])
    tables[0, 0, 0] = 99.0
    assert f.evaluate([0, 0]) == 0.0 and tables.flags.writeable and scopes.flags.writeable
    f.add_variable("new")
    assert list(f.variables) == [0, 1, "new"]


def test_groups_of_every_arity():
    f = FactorGraph.from_arrays(
        [2, 3, 2],
        [
            (np.zeros((2, 0), int), [1.0, 2.0]),
            ([[1]], [[0.0, 1.0, 2.0]]),
            ([[0, 1], [2, 1]], np.arange(12.0).reshape(2, 2, 3)),
            ([[2, 1, 0]], np.arange(12.0).reshape(1, 2, 3, 2)),
        ],
        variables="abc",
        constant=10.0,
        offset=5.0,
        sense=-1,
    )
    assert f.evaluate({"a": 1, "b": 2, "c": 1}) == 10 + 3 + 2 + 5 + 11 + 11
    assert f.objective(2.0) == 3.0


def test_bipartite_graph_with_scope_from_edges():
    G = nx.Graph(constant=1.0)
    G.add_node("f", table=[[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    G.add_node("b", domain=3)
    G.add_node("a")
    G.add_edge("f", "a")
    G.add_edge("b", "f")
    assert FactorGraph(G).evaluate({"a": 1, "b": 2}) == 6.0


def test_a_variable_with_the_name_of_a_factor():
    f = FactorGraph()
    f.add_variable(("factor", 0))
    f.add_factor((("factor", 0),), [0.0, 1.0])
    assert FactorGraph(f.graph).evaluate([1]) == 1.0


def test_pairwise_orientation_and_parallel_edges():
    G = nx.MultiGraph()
    G.add_nodes_from(["a", "b"], unary=[0.0, 0.0, 1.0])
    G.add_edge("b", "a", pairwise=np.arange(9.0).reshape(3, 3))  # rows belong to a, the first node
    G.add_edge("a", "b", pairwise=np.full((3, 3), 100.0))
    f = FactorGraph.pairwise(G)
    assert f.m == 3 and f.evaluate({"a": 2, "b": 1}) == 1 + 7 + 100
    g = FactorGraph.pairwise(G, unary={"a": [0, 0, 1]}, pairwise={("b", "a"): np.arange(9.0).reshape(3, 3)}, domain=3)
    assert g.evaluate({"a": 2, "b": 1}) == 1 + 5
    assert FactorGraph.pairwise(G, pairwise=2.0).evaluate({"a": 0, "b": 1}) == 4.0


def test_potts_and_ising():
    G = nx.cycle_graph(4)
    G.edges[0, 1]["weight"] = 5.0
    f = FactorGraph.potts(G, unary={0: [0.0, 1.0, 2.0]}, labels=3)
    assert f.evaluate([2, 1, 1, 1]) == 2 + 5 + 1
    ising = FactorGraph.ising(G, field={0: 0.5, 2: -1.0}, coupling={(0, 1): 2.0, (1, 2): -1.0})
    for y in itertools.product((0, 1), repeat=4):
        s = 2 * np.array(y) - 1
        assert ising.evaluate(y) == -(2 * s[0] * s[1] - s[1] * s[2]) - (0.5 * s[0] - s[2])


# ---------------------------------------------------------------------------------------------- what is refused

ZERO = np.zeros((2, 2))

REFUSED = [
    (lambda f: f.add_variable("x"), "variable 'x' is added twice"),
    (lambda f: f.add_variable("z", 0), "variable 'z' has a domain of 0 labels: expected 1 to"),
    (lambda f: f.add_variable("z", -3), "domain of -3 labels"),
    (lambda f: f.add_variable("z", 2.5), "variable 'z' has the domain 2.5: expected an integer"),
    (lambda f: f.add_variable("z", 2**40), "domain of 1099511627776 labels"),
    (lambda f: f.add_variable([1]), "expected a hashable name"),
    (lambda f: f.add_factor(("x", "q"), ZERO), "'q' is not a variable"),
    (lambda f: f.add_factor(("x", []), ZERO), r"\[\] is not a variable"),
    (lambda f: f.add_factor("x", [0, 0]), "scope 'x' is one text"),
    (lambda f: f.add_factor(("x", "x"), ZERO), "repeats variable 'x'"),
    (lambda f: f.add_factor(("x", ("y", 1)), ZERO), r"has shape \(2, 2\): expected \(2, 3\)"),
    (lambda f: f.add_factor(("x",), 1.0), r"has shape \(\): expected \(2,\)"),
    (lambda f: f.add_factor(("x",), [0, np.nan]), r"has the entry nan at \(1,\): expected a number or inf"),
    (lambda f: f.add_factor(("x",), [-np.inf, 0]), r"has the entry -inf at \(0,\)"),
    (lambda f: f.add_factor(("x",), ["a", "b"]), "has dtype <U1: expected real numbers"),
    (lambda f: f.add_factor(("x",), [[1], [1, 2]]), "rows have different lengths"),
    (lambda f: f.add_factor(("x",), [1j, 0]), "expected real numbers"),
    (lambda f: f.add_constant(np.nan), "has the entry nan"),
    (lambda f: f.add_factor((), -np.inf), "has the entry -inf"),
    (lambda f: f.factor(7), "7 is not a factor: expected 0 to 1"),
    (lambda f: f.condition({"q": 0}), "'q' is not a variable"),
    (lambda f: f.condition({"x": 2}), "variable 'x' the label 2: expected 0 to 1"),
    (lambda f: f.condition({"x": 0.5}), "label 0.5: expected 0 to 1"),
    (lambda f: FactorGraph.from_arrays([2, 0], []), "variable 1 has a domain of 0 labels"),
    (lambda f: FactorGraph.from_arrays([[2]], []), r"domains have shape \(1, 1\)"),
    (lambda f: FactorGraph.from_arrays([2.0], []), "dtype float64: expected n integers"),
    (lambda f: FactorGraph.from_arrays([2], [([0], [[0, 0]])]), r"scopes of group 0 have shape \(1,\): expected"),
    (lambda f: FactorGraph.from_arrays([2], [([[0]], [0, 0])]), r"tables of group 0 have shape \(2,\)"),
    (lambda f: FactorGraph.from_arrays([2], [([[0]], [[0, 0], [0, 0]])]), r"expected \(1, d1\)"),
    (lambda f: FactorGraph.from_arrays([2], [([[1]], [[0, 0]])]), r"group 0, row 0 has the scope \(1,\)"),
    (lambda f: FactorGraph.from_arrays([2], [([[2**40]], [[0, 0]])]), "1099511627776 is out of range"),
    (lambda f: FactorGraph.from_arrays([2], [([[0.0]], [[0, 0]])]), "dtype float64: expected integers"),
    (lambda f: FactorGraph.from_arrays([2, 3], [([[0, 1]], [ZERO])]), "2 entries along axis 1, but variable 1 has 3"),
    (lambda f: FactorGraph.from_arrays([2, 2], [([[0, 0]], [ZERO])]), "a variable repeated"),
    (lambda f: FactorGraph.from_arrays([2], [([[0]], [[0, np.nan]])]), "table of factor 0 has the entry nan"),
    (lambda f: FactorGraph.from_arrays([2], [([[0]], [[1e308, 1e308]])]), "overflows"),
    (lambda f: FactorGraph.from_arrays([2], [], variables="ab"), "2 names for 1 variables"),
    (lambda f: FactorGraph.from_arrays([2, 2], [], variables="aa"), "variable 'a' is named twice"),
    (lambda f: FactorGraph.from_arrays([2], [], constant=np.nan), "constant is nan"),
    (lambda f: FactorGraph.from_arrays([2], [], sense=2), "sense is 2"),
    (lambda f: FactorGraph.from_csr([2], [0, 2], [0, 0], [0, 0]), "expected each variable once"),
    (lambda f: FactorGraph.from_csr([2], [0, 1], [1], [0, 0]), "expected indices of variables from 0 to 0"),
    (lambda f: FactorGraph.from_csr([2], [0, 1], [0], [0.0]), "1 entries in all: the scopes ask for 2"),
    (lambda f: FactorGraph.from_csr([2], [1, 1], [], []), "starts at 0"),
    (lambda f: FactorGraph.from_csr([2], [0, 5], [0], [0, 0]), r"scope has shape \(1,\): expected \(5,\)"),
    (lambda f: FactorGraph.from_csr([10**9] * 3, [0, 3], [0, 1, 2], []), "a table larger than any memory"),
    (lambda f: FactorGraph(nx.DiGraph([(0, 1)])), "the graph is directed"),
    (lambda f: FactorGraph(nx.path_graph(2)), "joins two variables"),
    (lambda f: FactorGraph(7), "got int: expected a networkx graph"),
    (lambda f: FactorGraph.pairwise(nx.path_graph(2)), r"edge \(0, 1\) has no attribute 'pairwise'"),
    (lambda f: FactorGraph.pairwise(nx.Graph([(0, 0)]), pairwise=1.0), "node 0 has a self-loop"),
    (lambda f: FactorGraph.pairwise(nx.DiGraph([(0, 1)]), pairwise=1.0), "the graph is directed"),
    (lambda f: FactorGraph.pairwise(nx.path_graph(2), pairwise=np.zeros((3, 2))), "expected .2, 2., rows for 0"),
    (lambda f: FactorGraph.potts(nx.path_graph(2), weight=np.nan), "is nan: expected a finite number"),
    (lambda f: FactorGraph.potts(nx.path_graph(2), unary={5: [0, 1]}), "5 has a value but is not a node"),
    (lambda f: FactorGraph.ising(nx.path_graph(2), coupling={(0, 9): 1.0}), "is not an edge of the graph"),
]


@pytest.mark.parametrize(("wrong", "message"), REFUSED, ids=[message for _, message in REFUSED])
def test_refused(wrong, message):
    f = small()
    before = pickle.dumps(f)
    with pytest.raises(gp.InvalidProblem, match=message):
        wrong(f)
    assert pickle.dumps(f) == before


@pytest.mark.parametrize(
    ("labeling", "message"),
    [
        ([0], r"labels have shape \(1,\): expected \(2,\)"),
        ([0, 3], r"variable \('y', 1\) has the label 3: expected 0 to 2"),
        ([-1, 0], "variable 'x' has the label -1"),
        ([0.0, 1.0], "dtype float64: expected integers"),
        ([[0], [0, 1]], "labels have shape"),
        ("01", "labels have shape"),
        ({"x": 0}, r"variable \('y', 1\) has no label"),
        ({"x": 0, ("y", 1): 0, "z": 0}, "'z' is not a variable"),
        ([0, 2**40], "has the label 1099511627776"),
        (None, "labels have shape"),
    ],
)
def test_labelings_refused(labeling, message):
    with pytest.raises(gp.InvalidPartition, match=message):
        small().evaluate(labeling)


def test_forbidden_evidence_and_constants():
    with pytest.raises(gp.InfeasibleProblem, match=r"factor 0 over \('x', \('y', 1\)\) is inf"):
        small().condition({"x": 1, ("y", 1): 1})
    with pytest.raises(gp.InfeasibleProblem, match="forbids every labeling"):
        small().add_factor((), np.inf)


# ------------------------------------------------------------------------------------------------- quadratic forms


def quadratic_inputs(Q):
    """The same matrix in every form that from_qubo takes."""
    import scipy.sparse

    n = len(Q)
    G = nx.DiGraph()
    G.add_nodes_from(range(n))
    G.add_weighted_edges_from((i, j, Q[i, j]) for i in range(n) for j in range(n) if Q[i, j])
    half = scipy.sparse.coo_matrix(Q / 2)
    twice = scipy.sparse.coo_matrix(
        (np.tile(half.data, 2), (np.tile(half.row, 2), np.tile(half.col, 2))), shape=half.shape
    )
    everything = {(i, j): Q[i, j] for i in range(n) for j in range(n)}
    return [Q, Q.tolist(), scipy.sparse.csr_array(Q), scipy.sparse.csc_matrix(Q), twice, everything, G]


def test_qubo_in_every_form():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        Q = rng.integers(-4, 5, (n, n)).astype(float)
        before = Q.copy()
        for form in quadratic_inputs(Q):
            f = FactorGraph.from_qubo(form, constant=2.0)
            assert f.n == n
            for x in rng.integers(0, 2, (5, n)):
                assert f.evaluate(x) == x @ Q @ x + 2.0, (seed, type(form))
        np.testing.assert_array_equal(Q, before)


def test_ising_in_every_form():
    for seed in range(30):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        J = rng.integers(-4, 5, (n, n)).astype(float)
        np.fill_diagonal(J, 0)
        b = rng.integers(-4, 5, n).astype(float)
        for form in quadratic_inputs(J):
            f = FactorGraph.from_ising(form, b if seed % 2 else dict(enumerate(b)))
            for y in rng.integers(0, 2, (5, n)):
                s = 2 * y - 1
                assert f.evaluate(y) == -(s @ J @ s) - b @ s, (seed, type(form))


def test_quadratic_forms_keep_names_and_agree_with_ising():
    f = FactorGraph.from_qubo({("b", "a"): 1.0, ("a", "b"): 2.0, ("c", "c"): -1.0})
    assert f.variables == ["b", "a", "c"] and f.m == 2 and f.factor(1)[1].tolist() == [[0, 0], [0, 3]]
    assert list(FactorGraph.from_qubo({(7, 3): 1.0}).variables) == [3, 7]
    assert FactorGraph.from_qubo(np.zeros((3, 3))).m == 0 and FactorGraph.from_qubo(np.zeros((0, 0))).n == 0
    assert FactorGraph.from_qubo({}).n == 0
    f = FactorGraph.from_ising({("x", "y"): 1.0}, {"z": 1.5})
    assert f.variables == ["x", "y", "z"] and f.evaluate({"x": 0, "y": 0, "z": 0}) == 0.5
    G = nx.path_graph(4)
    one, other = FactorGraph.ising(G, field=0.5), FactorGraph.from_ising(G, 0.5)
    assert all(one.evaluate(y) == other.evaluate(y) for y in np.ndindex(2, 2, 2, 2))
    f = FactorGraph.from_qubo([[-1.0]], offset=3.0, sense=-1)
    assert f.objective(f.evaluate([1])) == 4.0


@pytest.mark.parametrize(
    ("Q", "message"),
    [
        (np.zeros((2, 3)), r"Q has shape \(2, 3\): expected a square matrix"),
        (np.zeros(3), r"Q has shape \(3,\): expected a square matrix"),
        ([[0.0, np.nan], [0.0, 0.0]], r"entry \(0, 1\) of Q is nan: expected a finite number"),
        ({("a", "b"): np.inf}, r"entry \('a', 'b'\) of Q is inf: expected a finite number"),
        ({("a", "b"): "one"}, r"entry \('a', 'b'\) of Q is 'one': expected a number"),
        ({"ab": 1.0}, r"'ab' is a key of Q: expected pairs of variables"),
        ([["a"]], "Q has dtype <U1: expected real numbers"),
        ([[0.0, 1e308], [1e308, 0.0]], "overflows"),
    ],
)
def test_bad_quadratic_forms(Q, message):
    with pytest.raises(gp.InvalidProblem, match=message):
        FactorGraph.from_qubo(Q)


def test_the_field_may_still_come_first():
    couplings = {((0, 0), (0, 1)): 1.0, ((0, 1), (1, 1)): -2.0}
    field = {(0, 0): 0.5, (1, 1): -1.0}
    for first, second in (
        (couplings, field),
        ({("x", "y"): 1.0}, {"x": 2.0}),
        (nx.path_graph(3), 0.5),
        (np.triu(np.ones((3, 3)), 1), [1.0, 2.0, 3.0]),
        ({("x", "y"): 1.0}, {}),
    ):
        f = FactorGraph.from_ising(first, second)
        with pytest.warns(DeprecationWarning, match="from_ising"):
            g = FactorGraph.from_ising(second, first)
        assert list(f.variables) == list(g.variables) and f.tables.tolist() == g.tables.tolist()


def test_bad_ising_models():
    for arguments, message in [
        ((np.zeros((2, 2)), [1.0, 2.0, 3.0]), r"field has shape \(3,\): expected \(2,\) or a number"),
        ((np.zeros((2, 2)), [1.0, np.nan]), "field of variable 1 is nan: expected a finite number"),
        ((np.eye(2), 0.0), r"coupling \(0, 0\) is 1.0: expected two variables"),
    ]:
        with pytest.raises(gp.InvalidProblem, match=message):
            FactorGraph.from_ising(*arguments)


def test_an_interrupt_while_factors_are_merged_leaves_the_factor_graph_as_it_was():
    """Ctrl-C before each line of the merge, as a trace function raises it."""

    def graph():
        f = gp.FactorGraph.from_arrays([2], [])
        for name in "ab":
            f.add_variable(name, 3)
        f.add_factor(("a", "b"), np.arange(9.0).reshape(3, 3))
        f.add_factor(("b",), [0.0, -1.0, 2.0])
        return f

    code = gp.FactorGraph._flat.__code__
    whole, interrupted = graph()._flat(), 0
    for line in sorted({line for _, _, line in code.co_lines() if line is not None}):

        def interrupt(frame, event, _, line=line):
            if event == "line" and frame.f_lineno == line:
                raise KeyboardInterrupt
            return interrupt

        f, before = graph(), sys.gettrace()
        sys.settrace(lambda frame, *_, interrupt=interrupt: interrupt if frame.f_code is code else None)
        try:
            f._flat()
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(before)
        assert (f.n, f.m, f.entries) == (3, 2, 12)
        assert all((a == b).all() for a, b in zip(f._flat(), whole, strict=True))
    assert interrupted > 5
