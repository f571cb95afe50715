"""Certificates of optimal partitions: they check for problems of all forms, and altered ones are refused."""

import dataclasses
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from strategies import partitions

import graphpart as gp
from graphpart import check as checker
from graphpart.common import proof_tree
from graphpart.common.proof_tree import Unproven
from graphpart.partition.bounds.relaxation import Relaxation
from graphpart.partition.certificates.inequalities import Inequalities
from graphpart.partition.certificates.kept import Kept, is_keeping, keeping
from graphpart.partition.proof_trees import PartitionProof, making
from graphpart.partition.proof_trees.making import prove


def proven(p, **options):
    r = gp.solve(p, certificate=True, **options)
    assert r.status == "optimal" and r.certificate is not None, r.message
    report = r.certificate.report(p, r.labels.tolist())
    assert report.optimal and r.certificate.bound == r.cost and r.certificate.verify(p, exact=True)
    return r


@settings(max_examples=25)
@given(p=partitions(max_n=7, kinds=("integer", "sign", "quarter", "real")))
def test_optimal_results_have_certificates(p):
    proven(p)


REQUIREMENTS = st.fixed_dictionaries(
    {},
    optional={
        "max_size": st.integers(2, 4),
        "n_clusters": st.integers(1, 4),
        "groups": st.lists(st.integers(0, 2), min_size=6, max_size=6),
        "missing": st.sampled_from([-1.0, 0.5, 2.0]),
        "background": st.just((-0.5, np.array([1.0, -1.0, 2.0, 1.0, 0.0, -2.0]))),
        "connected": st.just(True),
    },
)


@settings(max_examples=25)
@given(options=REQUIREMENTS, price=st.sampled_from([np.inf, 1.5]), seed=st.integers(0, 10**6))
def test_requirements(options, price, seed):
    rng = np.random.default_rng(seed)
    pairs = [(a, b) for a in range(6) for b in range(a) if rng.random() < 0.7]
    if "groups" in options:
        options["group_cost"] = price
    try:
        p = gp.SetPartition.from_pairs(6, pairs, rng.integers(-5, 6, len(pairs)), dense=False, **options)
    except (gp.InfeasibleProblem, gp.InvalidProblem):
        return  # requirements that contradict, or cannot be combined
    try:
        r = gp.solve(p, certificate=True)
    except gp.InfeasibleProblem:
        return
    assert r.status == "optimal" and r.certificate.report(p, r.labels.tolist()).optimal


@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_lifted_pairs(seed):
    rng = np.random.default_rng(seed)
    base = [(i, i + 1) for i in range(5)] + [(0, 5)]
    lifted = [(a, b) for a in range(6) for b in range(a - 1) if rng.random() < 0.5]
    costs = rng.integers(-4, 5, len(lifted)).astype(float)
    proven(gp.SetPartition.from_pairs(6, base, rng.integers(-4, 5, 6), lifted=(lifted, costs)))


def odd_wheel():
    """A cycle of 5 that repels and its centre that attracts: triangles alone do not prove the optimum."""
    rim = [(1 + i, 1 + (i + 1) % 5) for i in range(5)]
    return gp.SetPartition.from_pairs(6, [(0, i) for i in range(1, 6)] + rim, [-1.0] * 5 + [1.0] * 5)


def branching():
    """A problem whose proof divides, with all kinds of nodes."""
    rng = np.random.default_rng(2)
    pairs = [(a, b) for a in range(10) for b in range(a)]
    return gp.SetPartition.from_pairs(10, pairs, rng.integers(-3, 4, len(pairs)), n_clusters=2, max_size=6)


def test_a_tree_that_divides():
    r = proven(branching())
    assert {node[0] for node in r.certificate.nodes} == {"branch", "inequalities", "contradiction"}
    assert r.certificate.leaves == sum(node[0] == "branch" for node in r.certificate.nodes) + 1
    assert proven(odd_wheel()).cost == -2.0


def test_two_clusters_are_proven_by_odd_sets():
    for seed, n in enumerate((9, 12, 27, 60)):
        rng = np.random.default_rng(seed)
        u, v = np.triu_indices(n, 1)
        kept = rng.random(len(u)) < (0.6 if n < 50 else 0.08)
        costs = rng.choice([-1.0, 1.0], np.count_nonzero(kept))
        p = gp.SetPartition.from_pairs(n, (u[kept], v[kept]), costs, n_clusters=(1, 2))
        certificate = prove(p, gp.partition.exact(p).labels, "exact")
        assert certificate.verify(p, exact=True), seed
        if n > 9:
            assert {row[0] for node in certificate.nodes if node[0] == "inequalities" for row in node[2]} == {6}
        assert not certificate.verify(p.require(n_clusters=(1, 3)))


def test_odd_sets_hold_for_two_clusters_only_and_for_even_degrees():
    triangle = [0, 1, 1, 2, 0, 2]
    two = checker.Partition(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)], 0, limits=(None, 1, 2))
    three = checker.Partition(3, [(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0)], 0)
    assert two._inequality(6, 3, triangle)[0] == -1 and two._inequality(6, 1, triangle)[0] == 1
    for problem, split, some in [
        (three, 3, triangle), (two, 2, triangle), (two, 0, triangle), (two, 3, triangle[:4]), (two, 5, triangle),
        (two, 1, [0, 1, 1, 2]), (two, 1, [0, 0]), (two, 1, [0, 1, 1]),
    ]:  # fmt: skip
        with pytest.raises(checker.Refused, match="does not hold for every partition"):
            problem._inequality(6, split, some)


def test_costs_without_a_common_step():
    rng = np.random.default_rng(2)
    r = proven(gp.SetPartition.from_matrix(np.triu(x := rng.normal(size=(12, 12)), 1) + np.triu(x, 1).T))
    assert 0 < r.certificate.tolerance < 1e-7


@pytest.mark.parametrize("size", [1e-300, 1e-11, 1e11, 1e200])
def test_costs_of_any_size(size):
    costs = size * np.random.default_rng(0).normal(size=15)
    proven(gp.SetPartition.from_pairs(6, [(a, b) for a in range(6) for b in range(a)], costs))


def test_elements_that_are_none_and_costs_that_no_relaxation_adds_up_exactly():
    empty = gp.SetPartition.from_pairs(0, [], [], n_clusters=(1, 2))
    assert gp.solve(empty, certificate=True).certificate.verify(empty, exact=True)
    rng = np.random.default_rng(0)
    u, v = np.triu_indices(7, 1)
    cost = np.where(rng.random(len(u)) < 0.4, rng.choice([-1.0, 1.0], len(u)) * 1e13, rng.integers(-5, 6, len(u)))
    p = gp.SetPartition.from_pairs(7, (u, v), cost, n_clusters=(1, 3))
    result = gp.solve(p, certificate=True)
    assert result.certificate.verify(p, exact=True) and result.certificate.bound == result.cost


def test_what_is_not_optimal_has_none():
    r = gp.solve(branching(), "search", time_limit=0.2, certificate=True)
    if r.status != "optimal":
        assert r.certificate is None and "no certificate, since" in r.message
    p = odd_wheel()
    with pytest.raises(Unproven, match="costs less"):
        prove(p, np.zeros(6, np.int32), "wrong")
    with pytest.raises(Unproven, match="time was over"):
        prove(branching(), gp.solve(branching()).labels, "auto", time_limit=0.0)


def test_memory_is_limited(monkeypatch):
    p, found = branching(), gp.solve(branching()).labels
    for name, most, text in (("NODES", 3, "more than 3 nodes"), ("DEPTH", 1, "more than 1 decisions on a path")):
        with monkeypatch.context() as patch:
            patch.setattr(proof_tree, name, most)
            with pytest.raises(Unproven, match=text):
                prove(p, found, "auto")
    monkeypatch.setattr(making, "WRITTEN_OUT", 5)
    p = gp.SetPartition.from_pairs(6, [(0, 1)], [-2.0], missing=0.5, dense=False)
    r = gp.solve(p, certificate=True)
    assert r.certificate is None and r.message.endswith("there are 6 elements: expected at most 5")


def altered(certificate, nodes, **fields):
    return dataclasses.replace(certificate, nodes=nodes, **fields).sealed()


def test_altered_certificates_are_refused():
    p = branching()
    c = proven(p).certificate
    refused = 0
    rng = np.random.default_rng(1)
    for k, node in enumerate(c.nodes):
        cases = [[*c.nodes[:k], *c.nodes[k + 1 :]], c.nodes[:k]]  # a missing node, a tree that ends early
        if node[0] == "inequalities":
            cases.append([*c.nodes[:k], ["inequalities", node[1] + 40, node[2]], *c.nodes[k + 1 :]])  # weaker
            cases.append([*c.nodes[:k], ["inequalities", 10**9, node[2]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["inequalities", 0, [[0, 0, -1, 0, 1, 2]]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["inequalities", 0, [[0, 0, 1, 0, 1, 99]]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["inequalities", 0, [[7, 0, 1, 0, 1, 2]]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["inequalities", 0, [[0, 0, 1.5, 0, 1, 2]]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["contradiction", [0, 1]], *c.nodes[k + 1 :]])
        elif node[0] == "contradiction":
            for shown in ([[0]], [[0, 1]], ["none"], [[0, 99]], []):
                cases.append([*c.nodes[:k], ["contradiction", *shown], *c.nodes[k + 1 :]])
        else:
            cases.append([*c.nodes[:k], ["branch", node[1], node[1]], *c.nodes[k + 1 :]])
            cases.append([*c.nodes[:k], ["branch", -1, 2], *c.nodes[k + 1 :]])
        for which in rng.permutation(len(cases))[:3]:
            other = altered(c, cases[which])
            refused += not other.verify(p)
            if other.verify(p):  # a weaker node may still prove enough where much more was proven
                assert cases[which][k][0] in ("inequalities", "contradiction")
    assert refused > len(c.nodes)
    with pytest.raises(gp.InvalidCertificate, match="another problem"):
        c.check(p.require(apart=[(0, 1)]))
    with pytest.raises(gp.InvalidCertificate, match="seal"):
        dataclasses.replace(c, bound=c.bound + 1).check(p)
    with pytest.raises(gp.InvalidCertificate, match="proves"):
        altered(c, c.nodes, bound=c.bound + 1).check(p)
    with pytest.raises(gp.InvalidCertificate, match="tolerance"):
        altered(c, c.nodes, bound=c.bound + 1, tolerance=1.0).check(p)


def test_labels_that_cost_more_are_not_optimal():
    p = odd_wheel()
    c = proven(p).certificate
    assert not c.report(p, [0, 1, 2, 3, 4, 5]).optimal
    with pytest.raises(gp.InvalidCertificate, match="6"):
        c.report(p, [0, 1])


@pytest.mark.parametrize("suffix", ["json", "json.gz"])
def test_files(tmp_path, suffix):
    r = proven(branching())
    path = tmp_path / f"c.{suffix}"
    r.certificate.save(path)
    assert PartitionProof.load(path) == r.certificate
    text = json.dumps(r.certificate.document())
    for wrong in (
        text[:-20],
        text.replace('"n": 10', '"n": 1e400'),
        text.replace('"version": 1', '"version": 2'),
        "[]",
    ):
        (tmp_path / "w.json").write_text(wrong)
        with pytest.raises(gp.FormatError) as error:
            PartitionProof.load(tmp_path / "w.json")
        assert "\n" not in str(error.value)
    with pytest.raises(gp.InvalidOption, match="is no name of a proof tree"):
        r.certificate.save(tmp_path / "c.txt")


EDITING = "c a path and a triangle\np cep 6 6\n1 2\n2 3\n1 3\n3 4\n4 5\n5 6\n"
CSV = 'u,v,cost\na,b,-0.3\nb,c,0.1\na,c,-0.2\n"c",d,0.7\nd,a,-0.6\n'
LIFTED = "MULTICUT\n0 1 1.5\n1 2 -1\n2 3 0.5\n0 3 -2\nLIFTED\n0 2 3\n1 3 -1\n"
CLIQUES = "4\n1 -2 3\n4 -1\n2\n"


@pytest.mark.parametrize(
    ("name", "text"), [("x.gr", EDITING), ("x.csv", CSV), ("x.multicut", LIFTED), ("x.cplib", CLIQUES)]
)
def test_the_file_runs_alone(tmp_path, name, text, capsys):
    instance, labels, certificate = (tmp_path / each for each in (name, "labels.csv", "c.json"))
    instance.write_text(text)
    p = gp.read(instance)
    r = proven(p)
    gp.write_labels(r, labels)
    r.certificate.save(certificate)
    assert checker.main([str(instance), str(labels), str(certificate)]) == 0
    said = capsys.readouterr().out
    assert said.endswith("optimal\n") and f"the bound is {r.objective:.12g}, the labels cost {r.objective:.12g}" in said
    instance.write_text(text.replace("3", "2", 1) if name != "x.gr" else text.replace("5 6\n", "4 6\n"))
    assert checker.main([str(instance), str(labels), str(certificate)]) == 1
    captured = capsys.readouterr()
    assert (captured.out + captured.err).count("\n") == 1


def test_the_command(tmp_path):
    (tmp_path / "x.gr").write_text(EDITING)
    r = proven(gp.read(tmp_path / "x.gr"))
    gp.write_labels(r, tmp_path / "l.csv")
    r.certificate.save(tmp_path / "c.json.gz")
    command = [sys.executable, "-I", checker.__file__, "x.gr", "l.csv", "c.json.gz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.endswith(
        "the bound is 2, the labels cost 2: optimal\n"
    )
    done = subprocess.run(command[:-1], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("usage")


def test_the_check_imports_the_standard_library_only():
    text = Path(checker.__file__).read_text()
    modules = {line.split()[1].partition(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert modules <= {*sys.stdlib_module_names, "__future__"}


def test_a_proof_begins_with_what_the_method_has_proven():
    rng = np.random.default_rng(5)
    costs = np.triu(rng.integers(-4, 7, (16, 16)), 1).astype(float)
    for p in (gp.SetPartition.from_matrix(costs + costs.T), gp.generate.grid(5, 5, sigma=1.0, seed=1).problem):
        assert not is_keeping()
        with keeping() as known:
            assert is_keeping()
            r = gp.partition.exact(p)
        assert known and r.status == "optimal"
        wrong = [one._replace(multipliers=9.0 * one.multipliers) for one in known]  # valid, but far too large
        for some in (known, wrong):
            assert prove(p, r.labels, "exact", known=some).verify(p)


def test_a_proof_divides_where_branch_and_cut_has_divided(monkeypatch):
    costs = np.triu(np.random.default_rng(1).integers(-3, 4, (30, 30)), 1).astype(float)
    p = gp.SetPartition.from_matrix(costs + costs.T)
    with keeping() as known:
        r = gp.partition.exact(p)
    assert len(known) == 1 and r.status == "optimal" and frozenset() in known[0].nodes  # its root was divided
    rounds = []
    monkeypatch.setattr(Relaxation, "round", lambda self, plain=Relaxation.round: rounds.append(plain(self)))
    tree = prove(p, r.labels, "exact", known=known)
    assert tree.verify(p) and tree.leaves > 1 and len(rounds) < 20  # they are some 50 from the beginning


def test_general_inequalities_are_not_in_certificates():
    p = gp.generate.correlations(20, seed=0).problem
    r = gp.solve(p, "exact")
    general = Inequalities.general(np.random.default_rng(0).integers(-2, 3, (4, 20)).astype(np.int32))
    known = [Kept(np.arange(20), general, np.full(4, 0.5), np.zeros(p.m), {})]
    assert prove(p, r.labels, "exact", known=known).report(p, r.labels.tolist()).optimal
