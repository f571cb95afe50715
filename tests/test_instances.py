"""The shipped instances: every file comes out of its recipe again, and every value is what the manifest says."""

import csv
import gzip
import hashlib
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import networkx as nx
import numpy as np
import pytest

import graphpart as gp

FOLDER = Path(__file__).resolve().parent.parent / "instances"
SPEC = spec_from_file_location("make_instances", FOLDER / "make.py")
make = module_from_spec(SPEC)
sys.modules["make_instances"] = make  # its dataclasses look here
SPEC.loader.exec_module(make)

with open(FOLDER / "manifest.csv", newline="") as manifest:
    MANIFEST = list(csv.DictReader(manifest))
RECIPES = {recipe.file: recipe for recipe in make.RECIPES}
FACTOR_GRAPHS = {
    family.name for family in gp.generate.FAMILIES if family.function.__annotations__["return"] == "FactorInstance"
}
SLOW = {"spin-glass-0100.json.gz"}
LONG_PROOFS: set[str] = set()
each = pytest.mark.parametrize("line", MANIFEST, ids=lambda line: line["file"].split(".")[0])


def content(file: str) -> bytes:
    data = (FOLDER / file).read_bytes()
    return gzip.decompress(data) if file.endswith(".gz") else data


def best(line: dict[str, str]) -> np.ndarray:
    return gp.read_labels(FOLDER / "best" / f"{line['file'].split('.')[0]}.txt")


def test_manifest_lists_what_is_there():
    files = [line["file"] for line in MANIFEST]
    assert files == [recipe.file for recipe in make.RECIPES]
    there = {path.name for path in FOLDER.iterdir() if path.is_file()}
    assert there == {*files, "make.py", "manifest.csv"}
    names = [recipe.name for recipe in make.RECIPES]
    assert {path.name for path in (FOLDER / "best").iterdir()} == {f"{name}.txt" for name in names}
    assert len(set(names)) == len(names)
    assert {line["family"] for line in MANIFEST} == {family.name for family in gp.generate.FAMILIES}
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 3e6


@each
def test_file_is_what_the_recipe_makes(line):
    recipe = RECIPES[line["file"]]
    assert line["recipe"] == str(recipe) and line["family"] == recipe.family
    stored = content(line["file"])
    assert hashlib.sha256(stored).hexdigest() == line["sha256"]
    assert recipe.content() == stored
    # What is read back is the problem itself, to the last bit; in .uai to the rounding of an exponential.
    p, q = recipe.make().problem, gp.read(FOLDER / line["file"])
    assert (q.n, q.m, q.sense) == (int(line["n"]), int(line["m"]), int(line["sense"]))
    if isinstance(p, gp.SetPartition):
        for made, read in zip(p.pairs(), q.pairs(), strict=True):
            np.testing.assert_array_equal(made, read)
        return
    for name in ("domains", "scope_start", "scope"):
        np.testing.assert_array_equal(getattr(p, name), getattr(q, name))
    np.testing.assert_allclose(p.tables, q.tables, atol=1e-14 if ".uai" in line["file"] else 0, rtol=0)


@each
def test_best_labels_have_the_best_value(line):
    p = gp.read(FOLDER / line["file"])
    cost = p.evaluate(best(line))
    assert make.value(p.objective(cost)) == line["best"]
    if line["planted"]:
        truth = RECIPES[line["file"]].make().truth
        assert make.value(p.objective(p.evaluate(truth))) == line["planted"]
        assert cost <= p.evaluate(truth)
    # No local search ends below; a value found to be better belongs into the manifest.
    if isinstance(p, gp.FactorGraph):
        for start in (None, best(line)):
            assert gp.crf.icm(p, initial=start).cost >= cost - 1e-9 * abs(cost)
        return
    for method in (gp.partition.greedy_joining, gp.partition.greedy_moving, gp.partition.kernighan_lin):
        assert method(p).cost >= cost - 1e-9 * abs(cost)
    assert gp.partition.kernighan_lin(p, initial=best(line)).cost == pytest.approx(cost, rel=1e-9)


PROVEN = [x for x in MANIFEST if x["proven"] != "no" and x["family"] not in FACTOR_GRAPHS]


@pytest.mark.parametrize("line", [x for x in PROVEN if int(x["n"]) <= 40 and x["proven"].startswith("ilp")],
                         ids=lambda line: line["file"].split(".")[0])  # fmt: skip
def test_proven_values_are_proven_again(line):
    p = gp.read(FOLDER / line["file"])
    r = gp.partition.ilp(p, initial=best(line))
    assert r.status == "optimal" and make.value(r.objective) == line["best"]


@pytest.mark.parametrize("line", [x for x in PROVEN if x["file"] not in LONG_PROOFS],
                         ids=lambda line: line["file"].split(".")[0])  # fmt: skip
def test_branch_and_cut_finds_the_same_values(line):
    p = gp.read(FOLDER / line["file"])
    r = gp.partition.exact(p)  # from its own start
    assert r.status == "optimal" and r.objective == pytest.approx(float(line["best"]), rel=1e-9)


@pytest.mark.parametrize("line", [x for x in MANIFEST if x["family"] in FACTOR_GRAPHS],
                         ids=lambda line: line["file"].split(".")[0])  # fmt: skip
def test_values_of_factor_graphs_are_optimal(line):
    """By min-sum, enumeration, branch and bound, or the linear relaxation; what took longer is not repeated here."""
    assert line["proven"] != "no"
    f = gp.read(FOLDER / line["file"])
    if f.is_acyclic:
        r = gp.crf.min_sum(f)
    elif f.n <= 16:
        r = gp.crf.brute_force(f)
    elif line["family"] == "radio-links":
        r = gp.crf.exact(f)  # its tables are too large for an integer program
    elif line["file"] not in SLOW:
        r = gp.crf.ilp(f, solver="highs")  # from its own start
    else:
        return
    assert r.status == "optimal"
    assert r.objective == pytest.approx(float(line["best"]), rel=1e-9)


def test_tiny_values_by_brute_force():
    tiny = [line for line in MANIFEST if int(line["n"]) <= 12 and line["family"] not in FACTOR_GRAPHS]
    assert len(tiny) == 2
    for line in tiny:
        r = gp.partition.brute_force(gp.read(FOLDER / line["file"]))
        assert make.value(r.objective) == line["best"]


@pytest.mark.parametrize(
    ("file", "graph", "modularity"),
    [
        ("modularity-karate.json", nx.karate_club_graph(), 0.419790),
        ("modularity-les-miserables.json.gz", nx.les_miserables_graph(), 0.560008),
    ],
)
def test_modularity_of_known_graphs_with_proof(file, graph, modularity):
    line = next(line for line in MANIFEST if line["file"] == file)
    assert line["proven"] != "no" and round(float(line["best"]), 6) == modularity
    p = gp.generate.modularity(graph, weight=None).problem
    r = gp.partition.ilp(p, solver="highs")  # from its own start
    assert r.status == "optimal" and round(r.objective, 6) == modularity
    assert nx.community.modularity(graph, r.partition, weight=None) == pytest.approx(r.objective, abs=1e-12)
