"""Files of factor graphs: conventions, round trips, and every mistake with its line."""

import contextlib
import io
import json
import math
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp

FORMATS = ("uai", "lg", "wcsp", "cfn", "qubo", "json")


def read(text, format):
    return gp.read(io.BytesIO(text.encode() if isinstance(text, str) else text), format)


def written(f, format):
    stream = io.BytesIO()
    gp.write(f, stream, format)
    return stream.getvalue()


@st.composite
def factor_graphs(draw, largest=4, binary=False, whole=False, forbid=True, arity=3):
    n = draw(st.integers(0, 5))
    f = gp.FactorGraph()
    for i in range(n):
        f.add_variable(i, 2 if binary else draw(st.integers(1, largest)))
    entry = st.integers(0, 9).map(float) if whole else st.floats(-5, 5, width=32).map(float)
    if forbid:
        entry = st.one_of(entry, st.just(math.inf))
    for _ in range(draw(st.integers(0, 5)) if n else 0):
        scope = draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=min(arity, n), unique=True))
        shape = tuple(f.domains[list(scope)].tolist())
        table = draw(st.lists(entry, min_size=math.prod(shape), max_size=math.prod(shape)))
        if binary:
            table[0] = 0.0
        f.add_factor(scope, np.array(table).reshape(shape))
    return f


def labelings(f):
    return np.ndindex(*f.domains.tolist())


def same_energies(f, g, tolerance=0.0):
    assert f.domains.tolist() == g.domains.tolist()
    for labels in labelings(f):
        expected, found = f.evaluate(list(labels)), g.evaluate(list(labels))
        assert expected == found or found == pytest.approx(expected, abs=tolerance)


@settings(max_examples=trials(150))
@given(f=factor_graphs())
def test_uai_round_trip(f):
    same_energies(f, read(written(f, "uai"), "uai"), 1e-9)


@settings(max_examples=trials(150))
@given(f=factor_graphs(), constant=st.floats(-5, 5))
def test_lg_round_trip(f, constant):
    f.add_constant(constant)
    same_energies(f, read(written(f, "lg"), "lg"), 1e-12)


@settings(max_examples=trials(150))
@given(f=factor_graphs(), constant=st.floats(-5, 5), sense=st.sampled_from([1, -1]))
@example(f=gp.FactorGraph.from_arrays([2], [([[0]], [[1.0, np.inf]])]), constant=-sys.float_info.min, sense=1)
def test_cfn_round_trip(f, constant, sense):
    f.add_constant(constant)
    f.sense = sense
    g = read(written(f, "cfn"), "cfn")
    same_energies(f, g)
    assert g.sense == sense


@settings(max_examples=trials(150))
@given(f=factor_graphs(whole=True), constant=st.integers(0, 5))
def test_wcsp_round_trip(f, constant):
    f.add_constant(constant)
    same_energies(f, read(written(f, "wcsp"), "wcsp"))


@settings(max_examples=trials(150))
@given(f=factor_graphs(binary=True, whole=True, forbid=False, arity=2))
def test_qubo_round_trip(f):
    same_energies(f, read(written(f, "qubo"), "qubo"), 1e-9)


@settings(max_examples=trials(150))
@given(f=factor_graphs(), constant=st.floats(-5, 5))
def test_json_round_trip(f, constant):
    f.add_constant(constant)
    same_energies(f, read(written(f, "json"), "json"))


@settings(max_examples=trials(60))
@given(f=factor_graphs())
def test_json_is_what_networkx_reads(f):
    data = json.loads(written(f, "json"))
    G = nx.node_link_graph(data, edges="edges")
    assert nx.is_bipartite(G)
    assert sum("table" in data for _, data in G.nodes(data=True)) == f.m


UAI = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n\n4\n 0.5 0.25\n 1 0\n\n6\n 1 1 1\n 0.5 0.5 1\n"


def test_uai_convention():
    f = read(UAI, "uai")
    assert f.evaluate([0, 1, 0]) == pytest.approx(-math.log(0.25 * 0.5))
    assert f.evaluate([1, 1, 0]) == math.inf
    assert f.objective(f.evaluate([0, 1, 0])) == pytest.approx(math.log(0.125))


def test_lg_convention():
    """Natural logarithms of what a .uai file has."""
    text = "MARKOV\n2\n2 2\n2\n1 0\n2 0 1\n\n2\n {} {}\n\n4\n {} {}\n {} {}\n"
    entries = [0.5, 0.25, 3.0, 1.0, 0.0, 0.125]
    logs = [math.log(x) if x else -math.inf for x in entries]
    f, g = read(text.format(*entries), "uai"), read(text.format(*logs), "lg")
    same_energies(f, g, 1e-12)
    assert g.objective(g.evaluate([0, 1])) == math.log(0.5) and g.evaluate([1, 0]) == math.inf


def test_toulbar2_takes_logarithms_as_natural_ones(tmp_path):
    """In a process of its own: what it has read before decides how it reads."""
    pytest.importorskip("pytoulbar2")
    f = gp.FactorGraph.from_arrays([2], [([[0]], [[0.75, 2.0]])])
    script = "import sys, pytoulbar2; c = pytoulbar2.CFN(); c.Read(sys.argv[1]); c.Dump(sys.argv[2])"
    for name in ("x.uai", "x.LG"):
        gp.write(f, tmp_path / name)
        dump = tmp_path / f"{name}.wcsp"
        subprocess.run([sys.executable, "-c", script, tmp_path / name, dump], check=True, capture_output=True)
        lines = dump.read_text().split("\n")
        (cost,) = (int(line.split()[1]) for line in lines if line.startswith("1 ") and line.count(" ") == 1)
        assert cost == pytest.approx(1.25e7, abs=2)  # what label 1 costs more, in units of 1e-7


def test_bayes_files_read_the_same():
    assert read(UAI.replace("MARKOV", "BAYES"), "uai").evaluate([0, 0, 0]) == pytest.approx(-math.log(0.5))


def test_wcsp_convention():
    f = read("small 2 3 3 10\n2 3\n2 0 1 5 2\n0 0 1\n1 2 10\n1 0 0 1\n1 7\n0 4 0\n", "wcsp")
    assert f.evaluate([0, 0]) == 1 + 0 + 4
    assert f.evaluate([1, 0]) == 5 + 7 + 4
    assert f.evaluate([1, 2]) == math.inf


def test_the_later_of_equal_tuples_counts():
    assert read("twice 1 2 1 10\n2\n1 0 0 2\n1 7\n1 8\n", "wcsp").evaluate([1]) == 8


def test_a_clique_is_read_as_pairs():
    f = read("cliques 3 3 2 10\n2 2 3\n3 0 1 2 -1 clique 1 1 1 1 1 2 0 2\n1 0 0 1\n1 4\n", "wcsp")
    for labels in labelings(f):
        marked = (labels[0] == 1) + (labels[1] == 1) + (labels[2] in (0, 2))
        assert f.evaluate(list(labels)) == (math.inf if marked > 1 else 4.0 * labels[0])


def test_qubo_convention():
    f = read("# comment\n3 3\n1 1 -5\n1 2 2\n3 1 1.5\n", "qubo")
    assert f.evaluate([1, 1, 1]) == -5 + 4 + 3
    assert f.evaluate([0, 1, 1]) == 0


def test_max_cut_convention():
    f = read("# comment\n3 4\n1 2 5\n2 3 -1.5\n3 1 2\n2 1 1\n", "maxcut")
    assert f.sense == -1 and f.m == 3
    assert [f.objective(f.evaluate(labels)) for labels in ([0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1])] == [
        0,
        8,
        4.5,
        0.5,
    ]


def test_max_cut_round_trip():
    for seed in range(20):
        f = gp.generate.max_cut(seed, density=0.5, weights="signs", seed=seed).problem
        g = read(written(f, "maxcut"), "maxcut")
        assert (f.n, f.m, f.sense) == (g.n, g.m, g.sense)
        np.testing.assert_array_equal(f.scope, g.scope)
        np.testing.assert_array_equal(f.tables, g.tables)


def test_equal_entries_add_up():
    assert read("2 3\n1 2 1\n2 1 1\n1 2 1\n", "qubo").evaluate([1, 1]) == 6


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "lg"])
def test_content_tells_the_format(format):
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [2.0, 3.0]]]), ([[0]], [[0.0, 4.0]])])
    same_energies(f, gp.read(io.BytesIO(written(f, format))), 1e-9)


@pytest.mark.parametrize("format", FORMATS)
def test_suffix_tells_the_format(format, tmp_path):
    f = gp.FactorGraph.from_arrays([2, 2], [([[0, 1]], [[[0.0, 1.0], [2.0, 3.0]]])])
    for suffix in ("", ".gz", ".xz", ".XZ"):
        gp.write(f, tmp_path / f"model.{format}{suffix}")
        same_energies(f, gp.read(tmp_path / f"model.{format}{suffix}"), 1e-9)


MISTAKES = [
    ("uai", "", None, "found the end of the file: expected MARKOV or BAYES"),
    ("uai", "MARKOW\n1\n2\n0\n", 1, "found 'MARKOW': expected MARKOV or BAYES"),
    ("uai", "MARKOV\n", 2, "the file ends: expected the number of variables"),
    ("uai", "MARKOV\n-1\n", 2, "found -1: expected the number of variables, a whole number from 0"),
    ("uai", "MARKOV\n1.5\n", 2, "found 1.5: expected the number of variables"),
    ("uai", "MARKOV\n3\n2 2\n", 4, "the file ends: expected the domains of 3 variables"),
    ("uai", "MARKOV\n1000000000\n2 2\n", 4, "the file ends: expected the domains of 1000000000 variables"),
    ("uai", "MARKOV\n1e12\n2 2\n", 2, "found 1000000000000: expected the number of variables"),
    ("uai", "MARKOV\n2\n2 0\n0\n", 3, "found 0: expected the domains of 2 variables, a whole number from 1"),
    ("uai", "MARKOV\n1\n2\n1\n1 1\n2\n1 1\n", 5, "found 1: expected a variable, a whole number from 0 to 0"),
    ("uai", "MARKOV\n1\n2\n1\n1 -1\n2\n1 1\n", 5, "found -1: expected a variable"),
    ("uai", "MARKOV\n2\n2 2\n1\n2 0 0\n4\n1 1 1 1\n", None, "has the scope (0, 0): expected each variable once"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n", 6, "found 3: expected 2 entries for the scope of table 0"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1\n", 8, "the file ends: expected a table, its number of entries first"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 -1\n", 7, "found -1: expected a factor of a product, at least 0"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n", 7, "nan"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 inf\n", 7, "found inf: expected a finite number"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 x\n", 7, "found 'x': expected"),
    ("uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 1\n9\n", 8, "found 9: expected the end of the file"),
    ("uai", "MARKOV\n1\n2\n99999999\n1 0\n2\n1 1\n", 8, "the file ends: expected a scope, its size first"),
    ("lg", "MARKOV\n1\n2\n1\n1 0\n2\n1 inf\n", 7, "found inf: expected a logarithm, a number or -inf"),
    ("lg", "MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n", 7, "nan"),
    ("lg", "MARKOV\n1\n2\n1\n1 0\n3\n1 1 1\n", 6, "found 3: expected 2 entries for the scope of table 0"),
    ("lg", "MARKOV\n1\n2\n1\n1 0\n2\n1\n", 8, "the file ends: expected a table"),
    ("lg", "LOG\n1\n", 1, "found 'LOG': expected MARKOV or BAYES"),
    ("wcsp", "", None, "the file ends without a header: expected name n largest-domain m top"),
    ("wcsp", "name 1 2\n", 1, "found 'name 1 2': expected name n largest-domain m top"),
    ("wcsp", "name 99999999999 2 1 10\n", 1, "99999999999 variables: expected at most 2147483646"),
    ("wcsp", "name 1 2 0 10\n3\n", 2, "found 3: expected the domains of 1 variables, a whole number from 1 to 2"),
    ("wcsp", "name 1 2 1 10\n2\n1 0 0 1\n2 5\n", 4, "found 2: expected a label of its variable's domain"),
    (
        "wcsp",
        "name 1 2 1 10\n2\n1 0 0 1\n1 -5\n",
        4,
        "found -5: expected a label of its variable's domain, or a finite",
    ),
    (
        "wcsp",
        "name 1 2 1 10\n2\n1 0 -5 0\n",
        3,
        "found -5: expected a label of its variable's domain, or a finite cost",
    ),
    ("wcsp", "name 1 2 1 10\n2\n1 1 0 0\n", 3, "found 1: expected a variable, a whole number from 0 to 0"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 0 2\n0 0 5\n", 5, "the file ends: expected arity, variables, default cost"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 0 99999999\n0 0 5\n", 5, "the file ends: expected arity"),
    ("wcsp", "name 2 2 2 10\n2 2\n1 0 0 0\n", 4, "the file ends: expected arity"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 0 0 0\n", None, "has the scope (0, 0): expected each variable once"),
    ("wcsp", "name 2 2 1 10\n2 2\n1 0 0 0\n7\n", 4, "found 7: expected the end of the file, as all functions are read"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 -1 salldif var 10\n", 3, "found the global cost function 'salldif'"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 -1 salldiff any 10\n", 3, "salldiff: metric 'any': expected var or dec"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 -1 salldiff var\n", None, "the file ends: expected the parameters"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 0 -1\n", 3, "found the table of shared function 1: expected 1 to 0"),
    ("wcsp", "name 2 2 2 10\n2 2\n-1 0 0 0\n2 0 1 0 -1\n", 4, "for a shared table of shape (2,)"),
    (
        "wcsp",
        f"name 40 9 1 10\n{'9 ' * 40}\n40 {' '.join(map(str, range(40)))} 0 0\n",
        3,
        "tables that fit into memory",
    ),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 -1 clique 2 1 1 1 1\n", 3, "clique: at most 2 of the labels"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 1 -1 clique 1 1 5 1 1\n", 3, "clique: values has '5': expected a label"),
    ("wcsp", "name 2 2 1 10\n2 2\n2 0 9 -1 clique 1 1 1 1 1\n", 3, "found the scope [0, 9]"),
    ("wcsp", "name 2 2 0 10\n2 2\n2 0 1 -1 clique 1 1 1 1 1\n", 3, "found more than 0 functions"),
    ("qubo", "", 1, "the file ends: expected n, the number of variables"),
    ("qubo", "2\n", 2, "the file ends: expected m, the number of entries"),
    ("qubo", "2 2\n1 1 1\n", 3, "the file ends: expected 2 lines i j q"),
    ("qubo", "2 999999999\n1 1 1\n", 3, "the file ends: expected 999999999 lines i j q"),
    ("qubo", "222222201 1\n1 1 1\n", None, "222222201 variables but 1 entries: expected at most 1001000 variables"),
    ("qubo", "2 1\n0 1 1\n", 2, "found 0: expected a variable, a whole number from 1 to 2"),
    ("qubo", "2 1\n1 3 1\n", 2, "found 3: expected a variable, a whole number from 1 to 2"),
    ("qubo", "2 1\n1 2 inf\n", 2, "found inf: expected a finite number"),
    ("qubo", "2 1\n1 2 one\n", 2, "found 'one'"),
    ("qubo", "2 1\n1 2 3\n4\n", 3, "found 4: expected the end of the file, as all 1 entries are read"),
    ("qubo", "2 2\n1 2 1e308\n1 2 1e308\n", None, "overflows"),
    ("maxcut", "", 1, "the file ends: expected n, the number of nodes"),
    ("maxcut", "2\n", 2, "the file ends: expected m, the number of edges"),
    ("maxcut", "2 2\n1 2 1\n", 3, "the file ends: expected 2 lines i j w"),
    ("maxcut", "222222201 1\n1 2 1\n", None, "222222201 nodes but 1 edges: expected at most 1001000 nodes"),
    ("maxcut", "2 1\n0 1 1\n", 2, "found 0: expected a node, a whole number from 1 to 2"),
    ("maxcut", "2 1\n1 1 1\n", 2, "found 1: expected a node other than the first one of the line"),
    ("maxcut", "2 1\n1 2 inf\n", 2, "found inf: expected a finite number"),
    ("maxcut", "2 1\n1 2 3\n4\n", 3, "found 4: expected the end of the file, as all 1 edges are read"),
    ("maxcut", "2 2\n1 2 1e308\n1 2 1e308\n", None, "overflows"),
    ("json", '{"nodes": [{"id": 0, "domain": 0}], "edges": []}', None, "domain"),
    ("json", '{"nodes": [{"id": 0, "domain": 2.5}], "edges": []}', None, "the domain of nodes[0] is 2.5"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}, {"id": 0, "domain": 2}]}', None, "added twice"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}, {"id": 1, "scope": [0], "table": [1]}]}', None, "shape (1,)"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}, {"id": 1, "scope": [0], "table": [1, null]}]}', None, "missing"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}, {"id": 1, "scope": [7], "table": [1, 2]}]}', None, "7"),
    (
        "json",
        '{"nodes": [{"id": 0, "domain": 2}, {"id": 1, "scope": 0, "table": [1, 2]}]}',
        None,
        "the scope of factor 1",
    ),
    ("json", '{"nodes": [{"id": 0, "domain": 2}, 5]}', None, "nodes[1] is 5"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}], "edges": [{"source": 0, "target": 0}]}', None, "expected an edge of"),
    ("json", '{"nodes": [{"id": 0, "domain": 2}], "graph": {"sense": 3}}', None, "the sense of the graph is 3"),
]


@pytest.mark.parametrize(("format", "text", "line", "message"), MISTAKES)
def test_mistakes(format, text, line, message, tmp_path):
    path = tmp_path / f"model.{format}"
    path.write_text(text)
    with pytest.raises(gp.FormatError) as caught:
        gp.read(path)
    assert message in str(caught.value)
    if line is not None:
        assert caught.value.line == line
    assert "\n" not in str(caught.value)


@settings(max_examples=trials(250))
@given(data=st.data(), format=st.sampled_from(FORMATS))
def test_damaged_files_end_in_an_exception_of_ours(data, format):
    f = data.draw(factor_graphs(binary=format == "qubo", whole=True, forbid=format != "qubo", arity=2))
    content = bytearray(written(f, format))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, max(0, len(content) - 1)))
        piece = data.draw(
            st.sampled_from([b"", b" ", b"-1 ", b"9999999999 ", b"nan ", b"\x00", b"x", b"1e400 ", b"\n"])
        )
        content[at : at + data.draw(st.integers(0, 3))] = piece
    with contextlib.suppress(gp.FormatError, gp.InfeasibleProblem):
        read(bytes(content), format)


@pytest.mark.parametrize(
    ("format", "table", "message"),
    [
        ("uai", [0.0, 1e5], "format uai holds exp"),
        ("wcsp", [0.0, 0.5], "format wcsp holds whole costs"),
        ("wcsp", [0.0, -1.0], "format wcsp holds whole costs"),
        ("qubo", [0.0, math.inf], "format qubo holds binary variables"),
        ("qubo", [1.0, 2.0], "format qubo holds no constant"),
        ("maxcut", [0.0, 2.0], "format maxcut holds binary variables and pairwise factors"),
        ("multicut", [0.0, 1.0], "format multicut does not hold a FactorGraph"),
    ],
)
def test_what_a_format_cannot_hold(format, table, message):
    f = gp.FactorGraph.from_arrays([2], [([[0]], [table])])
    with pytest.raises(gp.InvalidProblem, match=message):
        written(f, format)


@pytest.mark.parametrize(
    ("file", "cost"),
    [
        ("qubo/gka6a.sparse", -3980),
        ("qubo/bqp50-1.sparse", -2098),
        ("wcsp/example.wcsp", 27),
        ("wcsp/warehouse.wcsp", 328),
    ],
)
def test_real_instances(shared_instances, file, cost):
    f = gp.read(shared_instances / file)
    result = gp.solve(f, method="ilp")
    assert (result.cost, str(result.status)) == (pytest.approx(cost), "optimal")
