"""Global and shared cost functions in files: random ones of each kind against their definitions, and mistakes."""

import io
import itertools

import networkx as nx
import pytest
from reference_functions import KINDS, ONLY_WCSP, compare, random_file

import graphpart as gp


def read(text, format="wcsp"):
    return gp.read(io.BytesIO(text.encode()), format)


@pytest.mark.parametrize("kind", KINDS)
def test_files_mean_what_is_defined(kind):
    for seed in range(1000, 1003):
        compare(random_file(kind, seed), "wcsp")
    if kind not in ONLY_WCSP:
        compare(random_file(kind, 1003), "cfn")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore:format .* has no such functions:graphpart.errors.GraphPartWarning")
def test_round_trips(kind):
    file = random_file(kind, 2000)
    try:
        f = read(file.wcsp())
    except gp.InfeasibleProblem:
        return
    for format in ("json", "wcsp", "cfn"):
        stream = io.BytesIO()
        gp.write(f, stream, format)
        g = read(stream.getvalue().decode(), format)
        assert format != "json" or g.n == f.n
        for x in itertools.product(*map(range, file.domains)):
            a, b = f.evaluate(x), g.evaluate(g.owner.labels([*x, *[0] * (g.n - f.n)])) if g.n == f.n else None
            assert b is None or a == b or min(a, b) >= file.top, (format, x)


def test_other_formats_get_auxiliary_variables():
    f = gp.FactorGraph.from_arrays([2] * 4, [([[0]], [[0.0, 1.0]])])
    f.add_count(range(4), least=2)
    stream = io.BytesIO()
    with pytest.warns(gp.GraphPartWarning, match="format uai has no such functions .*: 3 auxiliary variables follow"):
        gp.write(f, stream, "uai")
    g = read(stream.getvalue().decode(), "uai")
    assert g.n == 7 and gp.solve(g).labels[:4].sum() >= 2


def test_shared_tables():
    f = read("shared 4 3 4 100\n3 3 3 3\n-2 0 1 0 2\n0 0 5\n1 1 7\n2 2 3 0 -1\n-1 3 1 0\n2 0 3 -1 clique 1 1 1 1 1\n")
    assert f.m == 4 and f.evaluate([0, 0, 1, 1]) == 5 + 7 + 1
    assert f.factor(3)[0] == (2, 3) or f.factor(2)[0] == (2, 3)


def test_trees():
    n = 4
    f = read(f"t {n} {n} 1 10\n{'4 ' * n}\n4 0 1 2 3 -1 MST\n")
    for x in itertools.product(range(n), repeat=n):
        graph = nx.Graph((i, parent) for i, parent in enumerate(x) if i != parent)
        graph.add_nodes_from(range(n))
        tree = sum(i == parent for i, parent in enumerate(x)) == 1 and nx.is_tree(graph)
        assert (f.evaluate(x) == 0) == tree, x


def test_problems_within_problems():
    inner = "inner 2 2 2 90\n2 2\n2 0 1 0 1\n1 1 4\n1 0 1 1\n1 3"
    f = read(f"t 3 2 2 100\n2 2 2\n2 0 2 -1 wcsp 1 5 0 0 {inner}\n1 1 0 1\n0 3\n")
    for x in itertools.product(range(2), repeat=3):
        cost = 4 * x[0] * x[2] + (3 if x[0] else 1)
        assert f.evaluate(x) == (3 * (x[1] == 0) if 1 <= cost < 5 else float("inf"))
    network = (
        "{problem: {name: i, mustbe: <9} variables: {a: [p q], b: 2} functions: {{scope: [a b] costs: [0 1.5 2 3]}}}"
    )
    params = f"{{cfn: {network}, lb: 1.5, ub: 3.0, duplicatehard: 0, strongduality: 0}}"
    g = read(f"{{problem: {{name: t, mustbe: <9}} variables: {{a: [p q], b: 2}} functions: {{{{scope: [a b] "
             f"type: cfnconstraint params: {params}}}}}}}", "cfn")  # fmt: skip
    assert [g.evaluate(x) for x in itertools.product(range(2), repeat=2)] == [float("inf"), 0.0, 0.0, float("inf")]


def test_words_of_labels_and_variables_and_maximisation():
    head = "{problem: {name: t, mustbe: >-100} variables: {x: [lo hi], y: [lo hi]} functions: {"
    f = read(head + "{scope: [x y] type: wregular params: {nb_states: 1 starts: [[0 0.5]] ends: [[0 0]] transitions: "
             "[[0 hi 0 2.5] [0 lo 0 -1]]}} {scope: [x y] type: knapsackv params: {capacity: 1 weightedvalues: "
             "[[x hi -1] [y hi 2]]}}}}", "cfn")  # fmt: skip
    r = gp.solve(f)
    assert (r.labeling, r.objective) == ({"x": 1, "y": 1}, 5.5)
    with pytest.raises(gp.FormatError, match="salldiff: its costs cannot be maximised: expected one of wregular"):
        read(head + "{scope: [x y] type: salldiff params: {metric: var cost: 1}}}}", "cfn")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("2 0 1 -1 knapsackc 1 1 1 0", ":3: found the global cost function 'knapsackc': expected one of MST, cfncons"),
        ("2 0 1 -1 wsum any 5 <= 1", ":3: wsum: metric 'any': expected hard or lin or quad"),
        ("2 0 1 -1 wsum hard 5 =< 1", ":3: wsum: comparator '=<': expected one of == != <= < >= >"),
        ("2 0 1 -1 wsum hard x <= 1", ":3: wsum: cost has 'x': expected a cost"),
        ("2 0 1 -1 sgcc var 1 1 0 2 1", ":3: sgcc: bounds 2 and 1 of label 0: expected ascending"),
        ("3 0 1 2 -1 wsame hard 1", ":3: wsame: 3 variables: expected two lists of the same length"),
        ("2 0 1 -1 ssame 1 1 1 0 2", ":3: ssame: variables has '2': expected a variable of the scope"),
        ("2 0 1 -1 sregular var 1 1 1 0 1 4 0", ":3: sregular: state 4: expected 0 to 0"),
        ("2 0 1 -1 wregular 1 1 0 -9999999999 x", ":3: wregular: the length of ends has 'x': expected a whole"),
        ("2 0 1 -1 max 3 1 0 5 1", ":3: max: tuples has '5': expected a label"),
        ("2 0 1 -1 MST", ":3: MST: 2 variables with .* labels: expected 2, one for each"),
        ("1 0 -1 < 0 0", ":3: <: 1 variables: expected 2"),
        ("2 0 1 -1 salldiff var 1e3", ":3: salldiff: cost has '1e3': expected a cost"),
        ("2 0 1 -1 wcsp 0 1 0 1 i 2 3 0 9 3 3", ":3: wcsp: strongduality is not 0"),
    ],
)
def test_mistakes(line, message):
    with pytest.raises(gp.FormatError, match=message):
        read(f"t 3 3 1 100\n3 3 3\n{line}\n")
