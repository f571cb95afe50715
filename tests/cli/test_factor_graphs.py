"""The commands on factor graphs: the same as on set partition problems, with label indices that are never renamed."""

import io
import json
import re

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from trials import trials

import graphpart as gp
from graphpart.io import read_evidence

# Three variables with 2, 2 and 3 labels; the best labeling is 0 1 2 with the product 0.5 * 1; 1 1 0 is forbidden.
UAI = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n\n4\n 0.25 0.5\n 1 0\n\n6\n 0.25 0.5 0.125\n 0.5 0.5 1\n"
# A cycle of four binary variables: cost 1 where neighbours agree on three edges, where they differ on the last one.
WCSP = "cycle 4 2 4 100\n2 2 2 2\n" + "".join(f"2 {u} {v} 0 2\n0 0 1\n1 1 1\n" for u, v in [(0, 1), (1, 2), (2, 3)])
WCSP += "2 0 3 0 2\n0 1 1\n1 0 1\n"
QUBO = "3 4\n1 1 -1\n2 2 -2\n1 2 2\n3 3 1\n"
KEYS = ["file", "n", "method", "cost", "objective", "objective_bound", "lower_bound", "gap", "status"]
KEYS += ["clusters", "subsets", "seconds", "message"]


@pytest.fixture
def folder(tmp_path):
    G = nx.Graph()
    G.add_nodes_from(["rain", "wet"], domain=2)
    G.add_node("f", table=[[1.0, 5.0], [3.0, 0.0]], scope=["rain", "wet"])
    G.add_edges_from([("f", "rain"), ("f", "wet")])
    gp.write(gp.FactorGraph(G), tmp_path / "d.json")
    (tmp_path / "a.uai").write_text(UAI)
    (tmp_path / "b.wcsp").write_text(WCSP)
    (tmp_path / "c.qubo").write_text(QUBO)
    return tmp_path


FILES = ["a.uai", "b.wcsp", "c.qubo", "d.json"]


def brute(f, evidence=()):
    """The least energy of labelings that agree with (variable index, label) pairs, by enumeration."""
    return min(f.evaluate(y) for y in np.ndindex(*f.domains.tolist()) if all(y[v] == k for v, k in evidence))


# -------------------------------------------------------------------------------------------------------------- solve


@pytest.mark.parametrize("file", FILES)
def test_solve_prints_the_energy_that_its_labels_have(run, folder, file):
    f = gp.read(folder / file)
    for name in ("out.labels", "out.mpe", "out.csv"):
        status, out, err = run("solve", folder / file, "--json", "-o", folder / name)
        assert (status, err) == (0, "")
        facts = json.loads(out)
        assert list(facts) == KEYS
        assert facts["subsets"] is None and facts["status"] == "optimal" and facts["n"] == f.n
        assert facts["cost"] == pytest.approx(brute(f)) and facts["objective"] == f.objective(facts["cost"])
        assert f.evaluate(gp.read_labels(folder / name, f)) == facts["cost"]


def test_labels_are_indices_and_never_renamed(run, folder):
    assert run("solve", folder / "a.uai", "-o", "-")[1] == "0\n1\n2\n"
    run("solve", folder / "c.qubo", "-o", folder / "out")
    assert (folder / "out").read_text() == "0\n1\n0\n"
    run("solve", folder / "d.json", "-o", folder / "out.csv")
    assert (folder / "out.csv").read_text() == "variable,label\nrain,1\nwet,1\n"


@pytest.mark.parametrize("method", ["auto", "icm", "min-sum", "ilp", "brute-force"])
def test_every_method_by_name(run, folder, method):
    status, out, _ = run("solve", folder / "a.uai", "--method", method, "--json")
    facts = json.loads(out)
    assert status == 0 and facts["method"] == method
    if method != "icm":
        assert facts["objective"] == pytest.approx(np.log(0.5))


def test_tables_of_both_kinds_in_one_call(run, folder):
    (folder / "p.csv").write_text("u,v,cost\na,b,-2\n")
    status, out, err = run("solve", folder / "p.csv", folder / "a.uai", folder / "b.wcsp")
    rows = [re.split(r"\s{2,}", line) for line in out.splitlines()]
    assert (status, err, len(rows)) == (0, "", 5)
    assert rows[0][:3] == ["instance", "elements", "pairs"] and "clusters" in rows[0]
    assert rows[2][:3] == ["instance", "variables", "factors"] and "clusters" not in rows[2]
    assert rows[3][:3] == ["a.uai", "3", "2"] and rows[4][:3] == ["b.wcsp", "4", "4"]


def test_initial_labels_are_started_from(run, folder):
    (folder / "start.mpe").write_text("MPE\n3 1 0 2\n")
    options = ("--method", "icm", "--max-iterations", 0, "--initial", folder / "start.mpe")
    status, out, _ = run("solve", folder / "a.uai", *options, "--json")
    assert status == 0 and json.loads(out)["objective"] == pytest.approx(np.log(1 * 0.125))
    (folder / "start.mpe").write_text("MPE\n3 1 0 3\n")
    status, out, err = run("solve", folder / "a.uai", *options, "--json")
    assert (status, out) == (1, "") and "variable 2 has the label 3: expected 0 to 2" in err


def test_a_cycle_is_named_where_min_sum_is_asked_for(run, folder):
    status, _, err = run("solve", folder / "b.wcsp", "--method", "min-sum")
    assert status == 1 and err.count("\n") == 1 and "b.wcsp: the factor graph has a cycle" in err


def test_no_labeling_is_possible(run, folder):
    (folder / "x.uai").write_text("MARKOV\n1\n2\n1\n1 0\n2\n 0 0\n")
    status, _, err = run("solve", folder / "x.uai")
    assert status == 1 and err.count("\n") == 1 and "x.uai: " in err and "forbid" in err


# ----------------------------------------------------------------------------------------------------------- evidence


@pytest.mark.parametrize("method", ["auto", "brute-force", "ilp"])
@pytest.mark.parametrize(("text", "pairs"), [("0", []), ("1 1 0", [(1, 0)]), ("2 2 0 0 1", [(2, 0), (0, 1)]),
                                             ("3 0 0 1 1 2 1", [(0, 0), (1, 1), (2, 1)])])  # fmt: skip
def test_evidence_is_kept_and_the_rest_is_best(run, folder, text, pairs, method):
    f = gp.read(folder / "a.uai")
    (folder / "a.evid").write_text(text + "\n")
    options = ("--evidence", folder / "a.evid", "--method", method, "-o", folder / "out.mpe", "--json")
    status, out, err = run("solve", folder / "a.uai", *options)
    assert (status, err) == (0, "")
    facts, labels = json.loads(out), gp.read_labels(folder / "out.mpe", f)
    assert all(labels[v] == k for v, k in pairs)
    assert facts["cost"] == f.evaluate(labels) == pytest.approx(brute(f, pairs))
    assert facts["n"] == 3 and facts["status"] == "optimal" and facts["gap"] == 0


def test_evidence_on_random_factor_graphs():
    rng = np.random.default_rng(0)
    for _ in range(trials(60)):
        n = int(rng.integers(1, 6))
        domains = rng.integers(1, 4, n)
        f = gp.FactorGraph()
        for v in range(n):
            f.add_variable(f"x{v}", int(domains[v]))
        for _ in range(int(rng.integers(0, 8))):
            scope = rng.choice(n, int(rng.integers(1, min(n, 3) + 1)), replace=False)
            f.add_factor([f"x{v}" for v in scope], rng.integers(-9, 9, domains[scope]).astype(float))
        given = {int(v): int(rng.integers(domains[v])) for v in range(n) if rng.random() < 0.5}
        r = gp.crf.solve_given(f, {f"x{v}": k for v, k in given.items()}, initial=np.zeros(n, int))
        assert r.cost == brute(f, given.items()) == f.evaluate(r.labeling) and r.lower_bound <= r.cost
        assert all(r.labeling[f"x{v}"] == k for v, k in given.items())


def test_evidence_with_initial_labels_of_all_variables(run, folder):
    (folder / "a.evid").write_text("1 0 1\n")
    (folder / "start").write_text("0\n0\n2\n")
    options = ("--evidence", folder / "a.evid", "--initial", folder / "start", "--method", "icm")
    status, _, err = run("solve", folder / "a.uai", *options, "--max-iterations", 0, "-o", folder / "out")
    assert (status, err, (folder / "out").read_text()) == (0, "", "1\n0\n2\n")


def test_evidence_in_samples(run, folder):
    (folder / "a.evid").write_text("2\n1 0 1\n2 0 0 1 0\n")
    assert read_evidence(folder / "a.evid") == {0: 1}
    assert read_evidence(folder / "a.evid", sample=1) == {0: 0, 1: 0}
    run("solve", folder / "a.uai", "--evidence", folder / "a.evid", "--sample", 1, "-o", folder / "out")
    assert (folder / "out").read_text().split()[:2] == ["0", "0"]
    status, out, err = run("solve", folder / "a.uai", "--evidence", folder / "a.evid", "--sample", 2)
    assert (status, out) == (2, "") and "sample is 2: expected 0 to 1" in err


@pytest.mark.parametrize(
    ("text", "line", "expected"),
    [
        ("", None, "the file ends: expected k, then k variables"),
        ("\n\n", None, "the file ends: expected k, then k variables"),
        ("1 3 0\n", 1, "found 3: expected a variable, a whole number from 0 to 2"),
        ("1 -1 0\n", 1, "found -1: expected a variable"),
        ("1 2 3\n", 1, "found 3: expected a label of variable 2, a whole number from 0 to 2"),
        ("1 0 -1\n", 1, "found -1: expected a label of variable 0"),
        ("1 0 0.5\n", 1, "found 0.5: expected a label"),
        ("1 0.5 0\n", 1, "found 0.5: expected a variable"),
        ("1 0 nan\n", 1, "found 'nan': expected a number"),
        ("1 0 inf\n", 1, "found inf: expected a label"),
        ("2 0 1 0 1\n", 1, "found 0: expected each variable once"),
        ("2 0 1 0 0\n", 1, "found 0: expected each variable once"),
        ("2 0 1 1\n", 1, "found 2: expected 1.5, the number of pairs"),
        ("2 0 1\n", 1, "found 2: expected 1, the number of pairs"),
        ("1 0 1 1 1\n", 1, "found 1: expected 2, the number of pairs"),
        ("4 0 1 1 1 2 1 3 1\n", 1, "found 4: expected the number of variables with evidence"),
        ("-1\n", 1, "found -1: expected the number of samples"),
        ("1e99\n", 1, "expected the number of samples"),
        ("2\n1 0 1\n", 3, "the file ends: expected 2 lines, one for each sample"),
        ("99999999999\n1 0 1\n", 1, "expected the number of samples"),
        ("1\n1 0 1\n1 0 1\n", 3, "found 1: expected the end of the file, as all 1 samples are read"),
        ("2\n1 0 1\n1 0 2\n", 3, "found 2: expected a label of variable 0"),
        ("0\n1 0 1\n", 2, "expected the end of the file, as there are 0 samples"),
        ("1 0 1\n1 1 1\n", 2, "found 1: expected the end of the file"),
        ("one 0 1\n", 1, "one"),
        ("1 0 1 x\n", 1, "x"),
    ],
)  # fmt: skip
def test_malformed_evidence(run, folder, text, line, expected):
    path = folder / "bad.evid"
    path.write_text(text)
    status, out, err = run("solve", folder / "a.uai", "--evidence", path)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert f"{path}:{line}: " in err if line else f"{path}" in err
    assert expected in err


def test_binary_evidence_is_one_line_too(run, folder):
    path = folder / "bad.evid"
    for data in (b"\x00\xff\xfe", b"\x1f\x8b", b"PK\x03\x04" + bytes(range(256)), b"1 0 1" * 99999):
        path.write_bytes(data)
        status, out, err = run("solve", folder / "a.uai", "--evidence", path)
        assert (status, out, err.count("\n")) == (1, "", 1), data[:8]


def test_evidence_that_a_factor_forbids(run, folder):
    (folder / "a.evid").write_text("2 0 1 1 1\n")
    status, _, err = run("solve", folder / "a.uai", "--evidence", folder / "a.evid")
    assert status == 1 and "the evidence is forbidden: factor 0 over (0, 1) is inf" in err


def test_evidence_where_it_has_no_meaning(run, folder):
    (folder / "p.csv").write_text("u,v,cost\na,b,-2\n")
    (folder / "a.evid").write_text("0\n")
    status, _, err = run("solve", folder / "p.csv", "--evidence", folder / "a.evid")
    assert status == 2 and "--evidence is for factor graphs" in err
    status, _, err = run("solve", folder / "a.uai", folder / "b.wcsp", "--evidence", folder / "a.evid")
    assert status == 2 and "expected one FILE" in err
    status, _, err = run("solve", folder / "a.uai", "--evidence", folder / "none.evid")
    assert status == 1 and "none.evid: No such file" in err


# ------------------------------------------------------------------------------------------------------------- labels


@pytest.mark.parametrize("text", ["MPE\n3 0 1 2\n", "MPE\n1\n3 0 1 2\n", "MPE\r\n3 0\n1 2", "MPE\n3\n0 1 2\n"])
def test_mpe_is_read(folder, text):
    (folder / "x").write_text(text, newline="")
    assert gp.read_labels(folder / "x", gp.read(folder / "a.uai")).tolist() == [0, 1, 2]


def test_mpe_of_one_and_of_no_variable(tmp_path):
    for labels in ([], [1], [0, 0], list(range(1000)) * 100):
        gp.write_labels(np.array(labels, int), tmp_path / "x.mpe")
        assert (tmp_path / "x.mpe").read_text() == "MPE\n" + " ".join(map(str, [len(labels), *labels])) + "\n"
        assert gp.read_labels(tmp_path / "x.mpe").tolist() == labels
    (tmp_path / "x.mpe").write_text("MPE\n1\n1 0\n")
    assert gp.read_labels(tmp_path / "x.mpe").tolist() == [0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MPE\n", ":2: the file ends: expected the number of variables"),
        ("MPE\n3 0 1\n", "the file ends: expected the labels of 3 variables"),
        ("MPE\n3 0 1 2 1\n", ":2: found 1: expected the end of the file, as 3 labels are read"),
        ("MPE\n3 0 1 -2\n", ":2: found -2: expected the labels of 3 variables"),
        ("MPE\n3 0 1 0.5\n", ":2: found 0.5: expected the labels"),
        ("MPE\n3 0 1 3\n", "variable 2 has the label 3: expected 0 to 2"),
        ("MPE\n2 0 1\n", "labels have shape (2,): expected (3,)"),
        ("MPE\n3 1 1 0\n", "the labeling is forbidden by factor 0 over (0, 1)"),
        ("MPE\n3 0 one 0\n", ":2: "),
        ("MPE\n1e12 0\n", ":2: "),
    ],
)
def test_malformed_mpe(run, folder, text, expected):
    (folder / "x.mpe").write_text(text)
    status, out, err = run("evaluate", folder / "a.uai", folder / "x.mpe")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert expected in err and "x.mpe" in err


# ------------------------------------------------------------------------------------------- evaluate, info, convert


def test_evaluate_prints_the_energy(run, folder):
    (folder / "labels").write_text("0\n1\n0\n")
    status, out, err = run("evaluate", folder / "a.uai", folder / "labels")
    assert (status, err) == (0, "")
    assert out.split()[:5] == ["instance", "variables", "factors", "cost", "objective"]
    facts = json.loads(run("evaluate", folder / "a.uai", folder / "labels", "--json")[1])
    assert list(facts) == KEYS
    assert facts["subsets"] is None and facts["status"] == "feasible"
    assert facts["objective"] == pytest.approx(np.log(0.5 * 0.5))


@pytest.mark.parametrize("file", FILES)
def test_info_counts(run, folder, file):
    f = gp.read(folder / file)
    facts = json.loads(run("info", folder / file, "--json")[1])
    assert (facts["n"], facts["factors"], facts["table_entries"]) == (f.n, f.m, sum(t.size for _, t in f.factors()))
    assert facts["largest_domain"] == max(f.domains)
    assert {int(k): c for k, c in facts["arities"].items()} == {
        k: sum(len(scope) == k for scope, _ in f.factors()) for k in {len(scope) for scope, _ in f.factors()}
    }
    assert facts["acyclic"] == nx.is_forest(f.graph)
    assert facts["components"] == nx.number_connected_components(f.graph)
    assert facts["largest_component"] == max(len(c - set(f.graph) | {v for v in c if v in f.variables}) for c in
                                             nx.connected_components(f.graph))  # fmt: skip
    assert facts["forbidden"] == sum(int(np.isinf(t).sum()) for _, t in f.factors())


def test_info_prints_a_table_for_each_kind(run, folder):
    (folder / "p.csv").write_text("u,v,cost\na,b,-2\n")
    (folder / "z.json").write_bytes(b"")
    gp.write(gp.FactorGraph(), folder / "z.json")
    status, out, err = run("info", folder / "a.uai", folder / "b.wcsp", folder / "p.csv", folder / "z.json")
    rows = [re.split(r"\s{2,}", line) for line in out.splitlines()]
    assert (status, err, len(rows)) == (0, "", 7)
    assert rows[0][1:4] == ["variables", "factors", "arities"] and rows[3][1:3] == ["elements", "pairs"]
    acyclic = rows[0].index("acyclic")
    assert (rows[1][3], rows[1][acyclic], rows[2][3], rows[2][acyclic]) == ("2:2", "yes", "2:4", "no")


def test_convert_keeps_energies(run, folder):
    for source, target in [("a.uai", "x.json"), ("b.wcsp", "x.uai"), ("b.wcsp", "x.json"), ("c.qubo", "x.json")]:
        assert run("convert", folder / source, folder / target) == (0, "", "")
        f, g = gp.read(folder / source), gp.read(folder / target)
        for y in np.ndindex(*f.domains.tolist()):
            assert g.evaluate(list(y)) == pytest.approx(f.evaluate(list(y)))


def test_convert_to_what_cannot_hold_it(run, folder):
    status, out, err = run("convert", folder / "a.uai", folder / "x.csv")
    assert (status, out) == (2, "") and "expected .cfn, .json, .uai, .lg, .wcsp, .qubo, .sparse" in err
    status, out, err = run("convert", folder / "a.uai", folder / "x.qubo")
    assert (status, out) == (1, "") and "format qubo holds binary variables" in err
    assert not (folder / "x.qubo").exists()


@pytest.mark.parametrize("suffix", [".json", ".npz"])
def test_verify(run, folder, suffix):
    f = gp.FactorGraph.potts(nx.cycle_graph(5), unary=dict(enumerate(np.arange(15.0).reshape(5, 3) % 4)), labels=3)
    gp.write(f, folder / "x.json")
    certificate = folder / f"c{suffix}"
    status, out, _ = run("solve", folder / "x.json", "-o", folder / "x.labels", "--certificate", certificate)
    assert status == 0
    for exact in ([], ["--exact"]):
        status, out, err = run("verify", folder / "x.json", folder / "x.labels", certificate, "--json", *exact)
        facts = json.loads(out)
        assert (status, err) == (0, "") and facts["message"] == "verified" and facts["lower_bound"] <= facts["cost"]
    for wrong, expected in (
        ((folder / "x.json", folder / "x.labels", folder / "x.labels"), "expected"),
        ((folder / "a.uai", folder / "a.labels", certificate), "another problem"),
    ):
        (folder / "a.labels").write_text("0\n1\n2\n")
        status, out, err = run("verify", *wrong)
        assert status == 1 and out == "" and expected in err and err.count("\n") == 1


# -------------------------------------------------------------------------------------------------------------- bench


def test_bench_of_both_kinds(run, folder):
    (folder / "p.csv").write_text("u,v,cost\na,b,-2\n")
    (folder / "manifest.csv").write_text(f"file,best\na.uai,{np.log(0.5)}\nb.wcsp,0\n")
    table = folder.parent / "bench.csv"
    status, out, err = run("bench", folder, "--csv", table, "--json")
    assert (status, err) == (0, "")
    ran = {}
    for facts in map(json.loads, out.splitlines()):
        ran.setdefault(facts["file"].rsplit("/", 1)[1], []).append(facts["method"])
    ended = ["auto", "icm", "message-passing"]
    assert ran["a.uai"][:3] == ran["b.wcsp"][:3] == ended and "min-sum" in ran["a.uai"] and "ilp" not in ran["b.wcsp"]
    assert "kernighan-lin" in ran["p.csv"] and "icm" not in ran["p.csv"]
    rows = [line.split(",") for line in table.read_text().splitlines()]
    assert ["3", "2", "auto"] in [row[1:4] for row in rows] and len({len(row) for row in rows}) == 1


def test_bench_leaves_out_the_other_kind(run, folder):
    (folder / "p.csv").write_text("u,v,cost\na,b,-2\n")
    status, out, err = run("bench", folder, "--method", "kernighan-lin", "--json")
    assert status == 0 and [json.loads(line)["file"] for line in out.splitlines()] == [str(folder / "p.csv")]
    assert err.count("left out, it is too large or of another kind for kernighan-lin") == len(FILES)


# ------------------------------------------------------------------------------------------ real files, random files


@pytest.mark.parametrize(
    ("file", "objective"), [("qubo/gka1a.sparse", -3414), ("qubo/bqp50-1.sparse", -2098), ("wcsp/warehouse.wcsp", 328)]
)
def test_published_optima(run, shared_instances, tmp_path, file, objective):
    path = shared_instances / file
    status, out, _ = run("solve", path, "--json", "-o", tmp_path / "best.mpe")
    facts = json.loads(out)
    assert (status, facts["objective"], facts["status"]) == (0, objective, "optimal")
    assert json.loads(run("evaluate", path, tmp_path / "best.mpe", "--json")[1])["objective"] == objective


@settings(max_examples=trials(300))
@given(data=st.data())
def test_damaged_evidence_and_labelings_raise_errors_of_their_own(data):
    f = gp.FactorGraph.from_arrays([2, 2, 3], [])
    text = data.draw(st.sampled_from([b"2 0 1 2 2\n", b"2\n1 0 1\n2 2 2 0 0\n", b"MPE\n3 0 1 2\n", b"MPE\n1\n3 1 1 0"]))
    damaged = bytearray(text)
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.integers(0, len(damaged)))
        damaged[at : at + data.draw(st.integers(0, 2))] = data.draw(
            st.sampled_from([b"", b" ", b"\n", b"9", b"-1", b"1e400", b"nan", b"\x00", b"0.5", b"x", b"," * 9, b"\xff"])
        )
    reader = gp.read_labels if text.startswith(b"MPE") else read_evidence
    try:
        found = reader(io.BytesIO(bytes(damaged)), f)
    except gp.GraphPartError as error:
        found, message = None, str(error)
    if found is None:
        assert len(message.splitlines()) == 1
    elif isinstance(found, dict):
        assert all(0 <= label < f.domains[f.index(v)] for v, label in found.items())
    else:
        f.evaluate(found)


# ------------------------------------------------------------------------------------- what cannot be, or is not found

SQUARE = """{problem: {name: square, mustbe: <9}, variables: {a: 3, b: 3, c: 3, d: 3}, functions: {
ab: {scope: [a b], costs: ne}, ac: {scope: [a c], costs: ne}, ad: {scope: [a d], costs: ne},
bc: {scope: [b c], costs: ne}, bd: {scope: [b d], costs: ne},
ne: {scope: [c d], costs: [9 0 0 0 9 0 0 0 9]}, a: {scope: [a], costs: [0.5 0.25 0]}}}"""


@pytest.mark.parametrize("method", ["icm", "expansion", "message-passing"])
def test_no_allowed_labeling_is_found(run, folder, method):
    """Three colours for four vertices of which all are neighbours."""
    (folder / "square.cfn").write_text(SQUARE)
    status, out, err = run("solve", folder / "square.cfn", "--method", method)
    assert status == 1 and len(out.splitlines()) == 2 and "not_found" in out
    assert err.count("\n") == 1 and "square.cfn: no allowed labeling was found: factor " in err
    r = gp.solve(gp.read(folder / "square.cfn"), method)
    assert r.cost == np.inf and r.status == "not_found"
    assert re.match(
        r"no allowed labeling was found: factor \d over \('.', '.'\) forbids this one; (ended|auto)", r.message
    )


@pytest.mark.parametrize("method", ["elimination", "brute-force", "auto"])
def test_no_labeling_is_allowed(run, folder, method):
    """Methods that show it."""
    (folder / "square.cfn").write_text(SQUARE)
    status, out, err = run("solve", folder / "square.cfn", "--method", method)
    assert (status, out) == (1, "") and err.count("\n") == 1 and "square.cfn: every labeling is forbidden: " in err
    with pytest.raises(gp.InfeasibleProblem, match="every labeling is forbidden: "):
        gp.solve(gp.read(folder / "square.cfn"), method)


@pytest.mark.parametrize("name", ["c.txt", "c", "c.npz.gz", "c.json.txt", "c.csv"])
def test_name_of_a_certificate(run, folder, name):
    """Refused before the run starts: nothing is solved, nothing is written."""
    status, out, err = run("solve", folder / "a.uai", "--certificate", folder / name)
    assert (status, out) == (2, "") and "is no name of a certificate: expected one that ends in .json or .npz" in err
    assert not (folder / name).exists()
    with pytest.raises(gp.InvalidOption, match="is no name of a certificate"):
        gp.crf.lower_bound(gp.read(folder / "a.uai")).save(folder / name)
