"""Functions of many variables: against their definitions on all labelings, through all methods, hidden everywhere."""

import itertools
import math
import pickle

import numpy as np
import pytest
from trials import trials

import graphpart as gp
from graphpart import FactorGraph
from graphpart.crf.problem.functions import Circuit

INF = math.inf


def some_functions(rng, n=5, d=3):
    """A factor graph with random functions of each kind, and a function with the energy of a labeling."""
    unary = rng.integers(0, 9, (n, d)).astype(float)
    pair = rng.integers(0, 9, (1, d, d)).astype(float)
    f = FactorGraph.from_arrays([d] * n, [(np.arange(n)[:, None], unary), ([[0, 1]], pair)], constant=0.5)
    parts = [lambda x: 0.5 + unary[np.arange(n), list(x)].sum() + pair[0, x[0], x[1]]]

    def scope():
        return rng.permutation(n)[: rng.integers(1, n + 1)].tolist()

    def price():
        return float(rng.choice([0.25, 1.5, INF]))

    def fine(cost, amount):
        return cost * amount if amount else 0.0

    s, cost, but = scope(), price(), int(rng.integers(d))
    f.add_all_different(s, cost, but=but)
    parts.append(lambda x, s=s, c=cost, but=but: fine(
        c, sum(x[a] == x[b] != but for a, b in itertools.combinations(s, 2))))  # fmt: skip
    s, cost, k = scope(), price(), int(rng.integers(0, 3))
    f.add_count(s, [0, 2], k, k + 1, cost=cost)
    parts.append(lambda x, s=s, c=cost, k=k: fine(c, outside(sum(x[v] != 1 for v in s), k, k + 1)))
    s, cost, most = scope(), price(), float(rng.integers(0, 20)) / 10
    w = rng.integers(-5, 10, (len(s), d)) / 10
    f.add_linear(s, w, most=most, cost=cost)
    parts.append(lambda x, s=s, c=cost, w=w, most=most: fine(
        c, max(0, round(10 * (sum(w[i, x[v]] for i, v in enumerate(s)) - most))) / 10))  # fmt: skip
    s, table = scope(), rng.integers(-1, 3, (3, d))
    costs = rng.integers(0, 5, (3, d)).astype(float)
    f.add_automaton(s, table, 0, {1: 0.5, 2: 0.0, 0: 0.0}, costs=costs)
    parts.append(lambda x, s=s, t=table, c=costs: run([x[v] for v in s], t, c))
    return f, lambda x: sum(part(x) for part in parts)


def outside(number, least, most):
    return max(0, least - number, number - most)


def run(word, table, costs):
    state, total = 0, 0.0
    for x in word:
        total += costs[state, x]
        state = table[state, x]
        if state < 0:
            return INF
    return total + 0.5 * (state == 1)


def labelings(f):
    return list(itertools.product(*map(range, f.domains.tolist())))


@pytest.mark.parametrize("seed", range(trials(12)))
def test_energies_optima_and_their_number(seed):
    rng = np.random.default_rng(seed)
    f, energy = some_functions(rng)
    expected = {x: energy(x) for x in labelings(f)}
    for x, value in expected.items():
        assert f.evaluate(x) == pytest.approx(value), x
    finite = sorted(value for value in expected.values() if value < INF)
    if not finite:
        with pytest.raises(gp.InfeasibleProblem):
            gp.solve(f, "brute-force")
        return
    for method in ("auto", "brute-force", "elimination", "exact", "ilp"):
        r = gp.solve(f, method)
        assert (r.cost, str(r.status)) == (pytest.approx(finite[0]), "optimal"), method
        assert r.nodes == f.variables and set(r.labeling) == set(range(5)) and r.problem is f
    best = gp.crf.m_best(f, 10**6)
    assert best.labels.shape == (len(finite), 5)
    np.testing.assert_allclose(best.costs, finite)
    weights = {x: math.exp(-value) for x, value in expected.items()}
    total = sum(weights.values())
    assert gp.crf.log_partition(f) == pytest.approx(math.log(total))
    probabilities = gp.crf.marginals(f).probabilities
    assert list(probabilities) == list(range(5)) and probabilities.flat.shape == (15,)
    assert probabilities[2][1] == pytest.approx(sum(w for x, w in weights.items() if x[2] == 1) / total)
    least = gp.crf.min_marginals(f)
    assert least[3][0] == pytest.approx(min(value for x, value in expected.items() if x[3] == 0))


@pytest.mark.parametrize("seed", range(6))
def test_everything_speaks_of_the_variables(seed):
    rng = np.random.default_rng(100 + seed)
    f, energy = some_functions(rng)
    expected = {x: energy(x) for x in labelings(f)}
    least = min(expected.values())
    if least == INF:
        return
    best = min(expected, key=expected.get)
    copied = pickle.loads(pickle.dumps(f))
    assert copied.evaluate(best) == f.evaluate(best) and len(copied.functions) == len(f.functions)
    assert f.simplify().evaluate(best) == pytest.approx(least)
    assert f.graph.number_of_nodes() > f.n + f.m
    given = f.condition({0: best[0], 3: best[3]})
    assert given.variables == [1, 2, 4]
    for x in itertools.product(range(3), repeat=3):
        full = (best[0], x[0], x[1], best[3], x[2])
        assert given.evaluate(x) == pytest.approx(expected[full])
    r = gp.crf.solve_given(f, {0: best[0]}, initial=best)
    assert r.cost == pytest.approx(least) and len(r.labels) == 5
    assert gp.crf.samples(f, 7, seed=1).shape == (7, 5)
    d = gp.crf.doubts(f, best)
    assert len(d.variables["variable"]) == 5 and d.gain == pytest.approx(0, abs=1e-9)
    reduced = gp.crf.reduce(f)
    inner = gp.solve(reduced.problem) if reduced.problem.n else []
    lifted = reduced.lift(inner)
    assert lifted.shape == (5,) and f.evaluate(lifted) == pytest.approx(least)
    assert reduced.persistency.weak.shape == (5,) and reduced.persistency.remaining.shape == (15,)
    assert gp.crf.lower_bound(f).verify(f)
    for method in ("search", "icm", "message-passing"):
        r = gp.solve(f, method, initial={0: best[0], 1: best[1]}, max_iterations=3)
        assert r.cost >= least - 1e-9 and r.cost == f.evaluate(r.labels) and len(r.labels) == 5
    assert gp.solve(f, "icm", initial=dict(enumerate(best))).cost == pytest.approx(least)


@pytest.mark.parametrize("seed", range(6))
def test_integer_programs_have_the_same_optimum(seed):
    from scipy.optimize import milp

    f, energy = some_functions(np.random.default_rng(200 + seed))
    least = min(energy(x) for x in labelings(f))
    program = gp.crf.to_milp(f)
    r = milp(**program.arguments())
    assert r.success == (least < INF)
    if r.success:
        assert r.fun + program.constant == pytest.approx(least)
        assert f.evaluate(program.labels(r.x)) == pytest.approx(least)
    lp = gp.crf.to_pulp(f)
    assert lp.numVariables() == len(program.c)


@pytest.mark.parametrize("seed", range(8))
def test_from_an_integer_program_and_back(seed):
    from scipy.optimize import Bounds, LinearConstraint, milp

    rng = np.random.default_rng(seed)
    c, A = rng.integers(-9, 9, 5).astype(float), rng.integers(-4, 5, (3, 5)).astype(float)
    arguments = {
        "c": c, "constraints": LinearConstraint(A, [-5, -np.inf, 1], [6, 4, np.inf]), "integrality": np.ones(5),
        "bounds": Bounds([-1, 0, 0, 2, 0], [1, 2, 1, 3, 0]),
    }  # fmt: skip
    r, f = milp(**arguments), gp.crf.from_milp(**arguments)
    try:
        own = gp.solve(f)
    except gp.InfeasibleProblem:
        assert not r.success
        return
    assert own.cost == pytest.approx(r.fun)
    values = own.labels + np.array([-1, 0, 0, 2, 0])
    assert c @ values == pytest.approx(r.fun) and (A[0] @ values >= -5) and (A[2] @ values >= 1)
    again = gp.crf.to_milp(f)
    assert milp(**again.arguments()).fun + again.constant == pytest.approx(r.fun)


def test_programs_that_are_no_factor_graphs():
    import pulp

    for arguments, message in [
        ({"integrality": [1, 0]}, "variable 1 has the integrality 0"),
        ({"bounds": (0, np.inf)}, "variable 0 has the bounds"),
        ({"constraints": ([[1, 1, 1]], 0, 1)}, "3 columns: expected 2"),
    ]:
        with pytest.raises(gp.InvalidProblem, match=message):
            gp.crf.from_milp([1.0, 2.0], **arguments)
    lp = pulp.LpProblem("p")
    x = lp.add_variable("x", 0, 1)
    lp += x
    with pytest.raises(gp.InvalidProblem, match="variable 'x' is continuous"):
        gp.crf.from_pulp(lp)
    with pytest.raises(gp.InvalidPartition, match="no label of variable 0 is chosen"):
        gp.crf.to_milp(FactorGraph.from_arrays([2], [])).labels([0.0, 0.0])


# ---------------------------------------------------------------------------------------------------------------- size


@pytest.mark.parametrize("n", [50, 200])
def test_many_variables(n):
    rng = np.random.default_rng(n)
    unary = rng.integers(0, 100, (n, 2)).astype(float)
    f = FactorGraph.from_arrays([2] * n, [(np.arange(n)[:, None], unary)])
    f.add_count(range(n), least=n // 2, most=n // 2)
    r = gp.solve(f)
    rises = np.sort(unary[:, 1] - unary[:, 0])
    assert r.cost == unary[:, 0].sum() + rises[: n // 2].sum() and r.labels.sum() == n // 2
    f.add_automaton(range(n), [[0, 1], [0, 2], [0, 3], [0, -1]])
    r = gp.solve(f)
    assert str(r.status) == "optimal" and "111" + "1" not in "".join(map(str, r.labels))


def test_an_assignment_of_50():
    from scipy.optimize import linear_sum_assignment

    costs = np.random.default_rng(5).integers(0, 100, (50, 50)).astype(float)
    f = FactorGraph.from_arrays([50] * 50, [(np.arange(50)[:, None], costs)])
    f.add_all_different(range(50))
    r = gp.solve(f)
    assert (r.cost, str(r.status)) == (costs[linear_sum_assignment(costs)].sum(), "optimal")


def test_all_different_counts_labels_where_pairs_are_too_many(monkeypatch):
    import graphpart.crf.problem.many_variables as many

    monkeypatch.setattr(many, "PAIRWISE", 1)
    f = FactorGraph.from_arrays([4] * 4, [])
    f.add_all_different(range(4))
    assert f.functions[0].auxiliaries
    for x in labelings(f):
        assert (f.evaluate(x) == 0) == (len(set(x)) == 4)


def test_what_is_too_large_says_so(monkeypatch):
    import graphpart.crf.problem.layered as layered

    monkeypatch.setattr(layered, "STEPS", 2**12)
    f = FactorGraph.from_arrays([2] * 60, [])
    weights = (2 ** np.arange(60) % 1000003 + 7).tolist()
    with pytest.raises(gp.InvalidProblem, match="linear needs more than 4096 transitions: expected fewer variables"):
        f.add_linear(range(60), weights, most=sum(weights) // 2)
    assert not f.functions


# -------------------------------------------------------------------------------------------------------------- limits


def test_functions_without_variables_and_of_one():
    f = FactorGraph()
    f.add_count([], least=0)
    f.add_linear([], [], most=0)
    f.add_automaton([], [[0]], accepting=[0])
    with pytest.raises(gp.InfeasibleProblem, match="function 'count' without variables"):
        f.add_count([], least=1)
    f.add_variable("x", 3)
    f.add_all_different(["x"])
    f.add_linear(["x"], 2, least=3, most=3.5, cost=1)
    assert [f.evaluate([x]) for x in range(3)] == [3.0, 1.0, 0.5]
    assert f.decomposed().n == 1
    f.add_count(["x"], 2, most=0)
    assert f.condition({"x": 1}).constant == 1.0
    with pytest.raises(gp.InfeasibleProblem, match="the evidence is forbidden by function 2, count"):
        f.condition({"x": 2})


def test_a_function_that_forbids_everything():
    f = FactorGraph.from_arrays([2] * 6, [])
    f.add_count(range(6), least=7)
    for method in ("auto", "elimination", "exact"):
        with pytest.raises(gp.InfeasibleProblem):
            gp.solve(f, method)
    with pytest.raises(gp.InfeasibleProblem, match=r"function 0 \(count\) over \(0, 1, 2, 3, ...\) forbids every"):
        gp.solve(f, "ilp")
    with pytest.raises(gp.InvalidPartition, match=r"forbidden by function 0 \(count\)"):
        gp.crf.doubts(f, [0] * 6)


def test_nondeterministic_automata():
    # the last but one label is 1
    moves = {("any", 0): "any", ("any", 1): ["any", "one"], ("one", 0): "end", ("one", 1): "end"}
    f = FactorGraph.from_arrays([2] * 7, [])
    f.add_automaton(range(7), moves, "any", ["end"], costs={("one", 1): 2.5})
    for x in labelings(f):
        assert f.evaluate(x) == (INF if x[5] == 0 else 2.5 * x[6])
    found = gp.crf.m_best(f, 1000)
    assert len(found.costs) == 64


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda f: f.add_count("ab", 5), "count of label 5: expected 0 to 1"),
        (lambda f: f.add_count("ab", 1, 2, 1), "from 2 to 1: expected two numbers, ascending"),
        (lambda f: f.add_count("aa", 1), "repeats variable 'a'"),
        (lambda f: f.add_count("az", 1), "'z' is not a variable"),
        (lambda f: f.add_count("ab", cost=-1), "cost is -1: expected a number of at least 0"),
        (lambda f: f.add_linear("ab"), "a sum without bounds"),
        (lambda f: f.add_linear("ab", [1], most=1), "weights of 1 variables: expected 2"),
        (lambda f: f.add_linear("ab", [[1, 2, 3], 1], most=1), r"weights of variable 0 of the sum have shape \(3,\)"),
        (lambda f: f.add_linear("ab", [math.nan, 1], most=1), "weights of variable 0 of the sum are not finite"),
        (lambda f: f.add_automaton("ab", [[0]]), "transitions for 1 labels: expected 2"),
        (lambda f: f.add_automaton("ab", [[0, 7]]), "transition of state 0 and label 1 is 7: expected -1 to 0"),
        (lambda f: f.add_automaton("ab", [0, 1]), r"transitions have shape \(2,\)"),
        (lambda f: f.add_automaton("ab", [[0, 0]], accepting=[3]), "accepting state 3 is in no transition"),
        (lambda f: f.add_automaton("ab", [[0, 0]], costs=[[math.inf, 1]]), "cost of transition .* is inf"),
        (lambda f: f.add_automaton("ab", {0: 1}), "transition from 0: expected a pair"),
        (lambda f: f.add_automaton("ab", {(0, 4): 1}), "transition from .* expected a label from 0 to 1"),
    ],
)
def test_mistakes(call, message):
    f = FactorGraph()
    f.add_variable("a")
    f.add_variable("b")
    with pytest.raises(gp.InvalidProblem, match=message):
        call(f)


def test_tables_are_few():
    circuit = Circuit("sum", [2] * 3)
    assert circuit.function([0, 1, 2]).factors(3) == []
    f = FactorGraph.from_arrays([2] * 30, [])
    f.add_count(range(30), most=2)  # saturates: three states, and none for "too many"
    assert f.decomposed().domains.max() == 3
    f = FactorGraph.from_arrays([2] * 30, [])
    f.add_count(range(30), most=2, cost=1.5)
    assert f.decomposed().domains.max() == 3


def test_ilp_goes_on_where_the_relaxation_chooses_no_label():
    """Where the indicators of all labels of a variable are below a half."""
    rng, n, d = np.random.default_rng(33), 6, 4
    pairs = list(itertools.combinations(range(n), 2))
    for _ in range(5):
        f = FactorGraph.from_arrays([d] * n, [(pairs, rng.normal(size=(len(pairs), d, d)))])
        f.add_linear(range(n), [rng.integers(0, 4, d) for _ in range(n)], most=9)
        r = gp.crf.ilp(f, solver="highs")
        assert str(r.status) == "optimal" and r.cost == pytest.approx(gp.solve(f, method="brute-force").cost)
