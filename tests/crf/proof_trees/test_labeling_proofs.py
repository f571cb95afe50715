"""Certificates of optimal labelings: they check for factor graphs of all kinds, and altered ones are refused."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from strategies_crf import factor_graphs

import graphpart as gp
from graphpart import check as checker
from graphpart.binary_quadratic.two_sides import signed_graph
from graphpart.common.proof_tree import Unproven
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.crf.proof_trees import LabelingProof, leaves, making, prove_labels
from graphpart.crf.proof_trees.cycles import by_cycles, suits_cycles
from graphpart.maximum_cut.odd_cycles import OddCycles
from graphpart.stopping import Stopping


def proven(f):
    r = gp.solve(f, certificate=True)
    assert r.status == "optimal" and r.certificate is not None, r.message
    assert r.certificate.report(f, r.labels.tolist()).optimal
    assert r.certificate.bound == r.cost and r.certificate.verify(f, exact=True)
    return r


@settings(max_examples=30)
@given(f=factor_graphs())
def test_optimal_results_have_certificates(f):
    try:
        gp.solve(f)
    except gp.InfeasibleProblem:
        return
    proven(f)


@pytest.mark.parametrize("size", [1e-300, 1e-11, 1e11, 1e200])
def test_costs_of_any_size(size):
    tables = size * np.random.default_rng(0).normal(size=(10, 3, 3))
    proven(gp.FactorGraph.from_arrays([3] * 5, [([(a, b) for a in range(5) for b in range(a)], tables)]))


def spin_glass(n=10, seed=0):
    """Couplings of all pairs, for which small tables and cycles do not prove the optimum."""
    rng = np.random.default_rng(seed)
    pairs = [(i, j) for i in range(n) for j in range(i)]
    J = np.round(rng.normal(size=len(pairs)), 1)
    tables = J[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
    return gp.FactorGraph.from_arrays([2] * n, [(pairs, tables)])


def test_leaves_of_each_kind(monkeypatch):
    f = spin_glass()
    assert [node[0] for node in proven(f).certificate.nodes] == ["eliminate"]
    monkeypatch.setattr(leaves, "LARGEST", 8)
    assert [node[0] for node in proven(f).certificate.nodes] == ["messages"]  # odd cycles
    monkeypatch.setattr(leaves, "suits_cycles", lambda _: False)
    kinds = {node[0] for node in proven(f).certificate.nodes}
    assert {"branch", "messages"} <= kinds
    rng = np.random.default_rng(0)
    unary = np.round(rng.normal(size=(9, 2)), 2)
    differ = [[0.0, 0.4], [0.4, 0.0]]
    pairs = [(i, i + 1) for i in range(9) if i % 3 < 2] + [(i, i + 3) for i in range(6)]
    grid = gp.FactorGraph.from_arrays([2] * 9, [(np.arange(9)[:, None], unary), (pairs, [differ] * len(pairs))])
    assert [node[0] for node in proven(grid).certificate.nodes] == ["messages"]  # a flow


def test_parts(monkeypatch):
    f, g = spin_glass(), gp.FactorGraph.from_arrays([3], [([[0]], [[1.5, 0.25, 2.0]])])
    scopes = [f.factor(k)[0] for k in range(f.m)]
    both = gp.FactorGraph.from_arrays(
        [2] * 10 + [3], [(scopes, [f.factor(k)[1] for k in range(f.m)]), ([[10]], [g.factor(0)[1]])], constant=2.0
    )
    monkeypatch.setattr(leaves, "LARGEST", 4)
    assert proven(both).certificate.nodes[0][0] == "parts"


def test_functions_of_many_variables():
    f = gp.FactorGraph.from_arrays([3] * 4, [(np.arange(4)[:, None], np.arange(12.0).reshape(4, 3) % 5)])
    f.add_all_different([0, 1, 2])
    proven(f)


def test_what_cannot_be_proven(monkeypatch):
    f = spin_glass()
    labels = gp.solve(f).labels.copy()
    with pytest.raises(Unproven, match="costs less"):
        prove_labels(f, np.where(np.arange(10) == 0, 1 - labels, labels).astype(np.int32), "wrong")
    r = gp.solve(f, evidence={0: 1}, certificate=True)
    assert r.certificate is None and "evidence" in r.message
    monkeypatch.setattr(making, "LARGEST_PROBLEM", 100)
    r = gp.solve(f, certificate=True)
    assert r.certificate is None and r.message.endswith(
        "no certificate: the tables have 180 entries: expected at most 100"
    )


def test_altered_certificates_are_refused(monkeypatch):
    monkeypatch.setattr(leaves, "LARGEST", 8)
    monkeypatch.setattr(leaves, "suits_cycles", lambda _: False)
    f = spin_glass()
    c = proven(f).certificate
    for k, node in enumerate(c.nodes):
        cases = [[], c.nodes[:k] + c.nodes[k + 1 :], [*c.nodes, c.nodes[-1]]]
        if node[0] == "messages":
            for other in (
                ["messages", node[1], node[2][:-1], *node[3:]],
                ["messages", node[1], [*node[2], 1], *node[3:]],
                ["messages", node[1], [x + 10**6 * (i % 2) for i, x in enumerate(node[2])], *node[3:]],
                ["messages", 10**6, *node[2:]],
                ["messages", node[1], node[2], [[0, 0]], []],
                ["messages", node[1], node[2], [list(range(10)) * 10], []],
                ["eliminate", [0]],
                ["squares"],
            ):
                cases.append([*c.nodes[:k], other, *c.nodes[k + 1 :]])
        elif node[0] == "branch":
            cases += [[*c.nodes[:k], other, *c.nodes[k + 1 :]] for other in (["branch", 99, 0], ["branch", 0, 5], [])]
        for nodes in cases:
            with pytest.raises(gp.InvalidCertificate) as error:
                dataclasses.replace(c, nodes=nodes).sealed().check(f)
            assert "\n" not in str(error.value)
    with pytest.raises(gp.InvalidCertificate, match="another problem"):
        c.check(spin_glass(seed=4))


def test_files(tmp_path, capsys):
    f = gp.FactorGraph.from_arrays(
        [2, 3, 2],
        [([[0, 1]], [np.arange(6.0).reshape(1, 2, 3)[0] / 10]), ([[1, 2]], [[[0.3, 0.0], [0.0, 0.2], [0.7, 0.1]]])],
    )
    gp.write(f, tmp_path / "x.uai")
    f = gp.read(tmp_path / "x.uai")
    r = proven(f)
    r.certificate.save(tmp_path / "c.json")
    assert LabelingProof.load(tmp_path / "c.json") == r.certificate
    gp.write_labels(r, tmp_path / "l.mpe")
    assert checker.main([str(tmp_path / name) for name in ("x.uai", "l.mpe", "c.json")]) == 0
    assert capsys.readouterr().out.endswith("optimal\n")


@pytest.mark.parametrize("seed", range(6))
def test_messages_prove_what_odd_cycles_prove(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(3, 9))
    pairs = [(a, b) if rng.random() < 0.5 else (b, a) for a in range(n) for b in range(a) if rng.random() < 0.7]
    unary = ([[v] for v in range(n)], rng.integers(-9, 10, (n, 2)) * float(seed % 2))
    f = gp.FactorGraph.from_arrays([2] * n, [(pairs, rng.integers(-9, 10, (len(pairs), 2, 2))), unary], constant=1.5)
    assert suits_cycles(f)
    least = gp.crf.brute_force(f).cost
    relaxation = OddCycles(signed_graph(quadratic_form(f)), lambda: np.inf)
    relaxation.closes(least, Stopping())
    c = by_cycles(f, least, Stopping())
    assert relaxation.bound - 1e-9 <= c.bound <= least and c.verify(f, exact=True)
