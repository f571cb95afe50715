"""The shipped instances: their recipes, how files and manifest are made from them, how best values were found.

    python instances/make.py                      # write all files and the manifest anew, from recipes and best labels
    python instances/make.py --improve 60         # first search for better partitions, 60 seconds for each instance
    python instances/make.py --prove 600 karate   # first try to prove the best value, where the name has karate

A value in the manifest is in the convention of the file, as ``gp.read(file).objective(cost)`` has it. Best labels are
in ``best/NAME.txt``. A checksum is that of the content: of a .gz file, after decompression.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import hashlib
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import graphpart as gp
from graphpart.binary_quadratic.quadratic_search import BinarySearch
from graphpart.crf.problem.quadratic_form import quadratic_form
from graphpart.stopping import Stopping

HERE = Path(__file__).resolve().parent
MANIFEST = HERE / "manifest.csv"
COLUMNS = (
    "file",
    "family",
    "n",
    "m",
    "sense",
    "best",
    "proven",
    "found_by",
    "planted",
    "recipe",
    "sha256",
)  # n, m: variables and factors of a factor graph
EXACT = 1e-9  # a difference of values that is rounding


@dataclass(frozen=True)
class Recipe:
    """A file, and the family and options that make its problem."""

    file: str
    family: str
    options: dict[str, Any]

    @property
    def name(self) -> str:
        return self.file.split(".")[0]

    def make(self) -> gp.generate.Instance:
        return gp.generate.find_family(self.family).function(**self.options)

    def content(self) -> bytes:
        """The content of the file, before compression."""
        stream = io.BytesIO()
        gp.write(self.make().problem, stream, format_of(self.file))
        return stream.getvalue()

    def __str__(self) -> str:
        options = " ".join(f"--{name.replace('_', '-')} {value}".lower() for name, value in self.options.items())
        return f"{self.family} {options}"


def format_of(file: str) -> str:
    suffix = file.removesuffix(".gz").rsplit(".", 1)[1]
    return next(known.name for known in gp.io.FORMATS if f".{suffix}" in known.suffixes)


def recipe(file: str, family: str, **options: Any) -> Recipe:
    return Recipe(file, family, options)


RECIPES = (
    recipe("planted-006.csv", "planted-partition", n=6, subsets=2, sigma=1.0, decimals=2, seed=1),
    recipe("planted-030.json", "planted-partition", n=30, subsets=4, sigma=1.0, decimals=2, seed=2),
    recipe("planted-060.npy", "planted-partition", n=60, subsets=5, sigma=1.5, decimals=2, seed=3),
    recipe("planted-200.cplib.gz", "planted-partition", n=200, subsets=10, sigma=2.5, decimals=2, seed=4),
    recipe("planted-400.cplib.gz", "planted-partition", n=400, subsets=20, sigma=3.0, decimals=1, seed=5),
    recipe("uniform-012.cplib", "uniform-integers", n=12, largest=5, seed=1),
    recipe("uniform-040.cplib", "uniform-integers", n=40, largest=10, seed=2),
    recipe("uniform-100.cplib", "uniform-integers", n=100, largest=100, seed=3),
    recipe("editing-020.gr", "cluster-editing", n=20, p=0.5, seed=1),
    recipe("editing-040.gr", "cluster-editing", n=40, p=0.2, seed=2),
    recipe("editing-150.gr.gz", "cluster-editing", n=150, p=0.5, seed=3),
    recipe("correlations-020.cplib", "correlations", n=20, rows=10, seed=1),
    recipe("correlations-060.cplib", "correlations", n=60, rows=8, seed=2),
    recipe("correlations-150.cplib.gz", "correlations", n=150, rows=30, seed=3),
    recipe("modularity-karate.json", "modularity", graph="karate-club", weight=None),
    recipe("modularity-karate-weighted.json", "modularity", graph="karate-club"),
    recipe("modularity-les-miserables.json.gz", "modularity", graph="les-miserables", weight=None),
    recipe("modularity-davis.json", "modularity", graph="davis-southern-women", weight=None),
    recipe("digits-060.cplib", "digits", n=60, decimals=1, seed=1),
    recipe("digits-300.cplib.gz", "digits", n=300, decimals=1, seed=2),
    recipe("machine-parts-038.cplib", "machine-parts", machines=14, parts=24, cells=7, outside=0.1, seed=1),
    recipe(
        "machine-parts-060.cplib", "machine-parts", machines=24, parts=36, cells=9, within=0.6, outside=0.2, seed=15
    ),
    recipe("soft-requirements-045.cplib", "soft-requirements", n=45, seed=4),
    recipe("grid-0100.csv", "grid", height=10, width=10, decimals=2, seed=1),
    recipe("grid-2000.multicut.gz", "grid", height=40, width=50, regions=12, sigma=1.0, decimals=2, seed=2),
    recipe("grid-10000.multicut.gz", "grid", height=100, width=100, decimals=2, seed=3),
    recipe(
        "lifted-grid-0400.multicut.gz",
        "lifted-grid",
        height=20,
        width=20,
        regions=4,
        sigma=1.2,
        lifted_sigma=1.2,
        decimals=2,
        seed=1,
    ),
    recipe("lifted-random-0064.multicut", "lifted-random", height=8, width=8, radius=2.5, decimals=2, seed=1),
    recipe("volume-1000.multicut.gz", "volume", regions=1000, seed=1),
    recipe("sparse-0300.csv", "sparse-random", n=300, m=600, signs=True, seed=1),
    recipe("sparse-1000.metis.gz", "sparse-random", n=1000, m=3000, negative=0.6, decimals=2, seed=2),
    recipe("sparse-3000.multicut.gz", "sparse-random", n=3000, m=15000, signs=True, seed=3),
    recipe("sparse-10000.csv.gz", "sparse-random", n=10000, m=40000, decimals=2, seed=4),
    recipe("tree-0012.uai", "factor-tree", n=12, labels=3, decimals=2, seed=1),
    recipe("tree-1000.json.gz", "factor-tree", n=1000, labels=3, decimals=2, seed=2),
    recipe("tree-third-order-1001.json.gz", "factor-tree", n=1001, arity=3, decimals=2, seed=3),
    recipe("chain-0300.json.gz", "factor-chain", n=300, labels=6, decimals=2, seed=1),
    recipe("chain-1000.uai.gz", "factor-chain", n=1000, labels=4, decimals=2, seed=2),
    recipe("attractive-0400.json.gz", "factor-grid", height=20, width=20, decimals=2, seed=1),
    recipe("mixed-0144.json.gz", "factor-grid", height=12, width=12, couplings="mixed", decimals=2, seed=2),
    recipe(
        "mixed-four-labels-0100.json.gz",
        "factor-grid",
        height=10,
        width=10,
        couplings="mixed",
        labels=4,
        decimals=2,
        seed=4,
    ),
    recipe("spin-glass-0016.json", "factor-grid", height=4, width=4, couplings="spin-glass", seed=1),
    recipe("spin-glass-0100.json.gz", "factor-grid", height=10, width=10, couplings="spin-glass", seed=3),
    recipe("image-1024.json.gz", "noisy-image", height=32, width=32, noise=0.15, decimals=2, seed=1),
    recipe("image-3072.uai.gz", "noisy-image", height=48, width=64, smoothness=0.6, decimals=2, seed=1),
    recipe("scene-0600.json.gz", "scene", height=20, width=30, decimals=2, seed=1),
    recipe("radio-links-0020.wcsp.gz", "radio-links", links=10, seed=1),
    recipe("qubo-0040.sparse", "qubo", n=40, density=0.3, seed=1),
    recipe("max-cut-0064.maxcut", "max-cut", n=64, graph="torus", weights="signs", seed=1),
    recipe("spin-glass-3d-0064.json", "spin-glass", length=4, couplings="normal", decimals=3, seed=1),
)


# ---------------------------------------------------------------------------------------------------------- best values


def labels_file(recipe: Recipe) -> Path:
    return HERE / "best" / f"{recipe.name}.txt"


def best_labels(recipe: Recipe) -> np.ndarray | None:
    path = labels_file(recipe)
    return np.loadtxt(path, np.int32, ndmin=1) if path.exists() else None


def keep(recipe: Recipe, labels: np.ndarray) -> None:
    path = labels_file(recipe)
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{label}\n" for label in labels.tolist()))


def work_on_partition(
    p: gp.SetPartition, labels: np.ndarray | None, seconds: float, proving: float, known: dict[str, str]
) -> tuple[np.ndarray | None, str, str]:
    """Better labels of a set partition problem, how they were found, and how they were proven to be best."""
    found_by, proven = known.get("found_by", ""), known.get("proven") or "no"
    before = np.inf if labels is None else p.evaluate(labels)
    if seconds and proven == "no":
        r = gp.partition.search(p, labels, time_limit=seconds, seed=1)
        r = gp.partition.kernighan_lin(p, initial=r)
        if r.cost < before - EXACT:
            labels, before, found_by = r.labels, r.cost, "search"
    if proving and proven == "no":
        r = gp.partition.exact(p, initial=labels, time_limit=proving)
        if r.cost < before - EXACT:
            labels, found_by = r.labels, "exact"
        if r.status == "optimal":
            proven = f"exact: {r.info['nodes']} node{'s' * (r.info['nodes'] > 1)}"
        print(f"{r.status}, gap {r.gap:.3%}, {r.seconds:.0f} s")
    return labels, found_by, proven


def work_on_factor_graph(
    f: gp.FactorGraph, labels: np.ndarray | None, seconds: float, proving: float, known: dict[str, str]
) -> tuple[np.ndarray | None, str, str]:
    """Better labels of a factor graph, how they were found, and how they were proven to be best."""
    found_by, proven = known.get("found_by", ""), known.get("proven") or "no"
    before = np.inf if labels is None else f.evaluate(labels)
    if seconds or (f.is_acyclic and labels is None):
        r = gp.solve(f, initial=labels, time_limit=seconds or None)
        if r.cost < before - EXACT:
            labels, before, found_by = r.labels, r.cost, "min-sum" if f.is_acyclic else "auto"
        if r.status == "optimal" and proven == "no":
            proven = r.message.removeprefix("proven optimal: ")
    if seconds and proven == "no" and (q := quadratic_form(f)) is not None:
        search = BinarySearch(q, labels, seed=1, evaluate=f.evaluate_labels)
        search.run(Stopping(time_limit=seconds))
        if search.cost < before - EXACT:
            labels, before, found_by = search.labels, search.cost, "binary quadratic search"
    if proving and proven == "no":
        r = gp.crf.ilp(f, initial=labels, solver="highs", time_limit=proving)
        if r.cost < before - EXACT:
            labels, found_by = r.labels, "ilp"
        if r.status == "optimal":
            proven = "ilp, local polytope, HiGHS"
    return labels, found_by, proven


def manifest() -> dict[str, dict[str, str]]:
    if not MANIFEST.exists():
        return {}
    with open(MANIFEST, newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


def line_of(recipe: Recipe, known: dict[str, str], seconds: float, proving: float) -> dict[str, Any]:
    """Work on a recipe, write its file and its best labels, and make its line of the manifest."""
    p, truth = recipe.make()
    labels = best_labels(recipe)
    before = np.inf if labels is None else p.evaluate(labels)
    work_on = work_on_partition if isinstance(p, gp.SetPartition) else work_on_factor_graph
    labels, found_by, proven = work_on(p, labels, seconds, proving, known)
    if labels is None:
        raise SystemExit(f"{recipe.name}: no best labels; run with --improve")
    if p.evaluate(labels) < before - EXACT:
        keep(recipe, labels)
        if np.isfinite(before) and proven != "no" and not proving:
            raise SystemExit(f"{recipe.name}: found better than a value that was proven optimal")
    content = recipe.content()
    path = HERE / recipe.file
    path.write_bytes(gzip.compress(content, 9, mtime=0) if path.suffix == ".gz" else content)
    q = gp.read(path)
    return {
        "file": recipe.file, "family": recipe.family, "n": q.n, "m": q.m, "sense": q.sense,
        "best": value(q.objective(q.evaluate(labels))), "proven": proven, "found_by": found_by,
        "planted": "" if truth is None else value(q.objective(q.evaluate(truth))),
        "recipe": str(recipe), "sha256": hashlib.sha256(content).hexdigest(),
    }  # fmt: skip


def value(x: float) -> str:
    """A value without the digits that are rounding."""
    return f"{x + 0.0:.12g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="parts of names of instances; default: all")
    parser.add_argument("--improve", type=float, default=0, metavar="SECONDS", help="search so long for better labels")
    parser.add_argument("--prove", type=float, default=0, metavar="SECONDS", help="time limit of proofs")
    options = parser.parse_args()
    for recipe in RECIPES:
        if not options.names or any(name in recipe.name for name in options.names):
            line = line_of(recipe, manifest().get(recipe.file, {}), options.improve, options.prove)
            known = manifest() | {recipe.file: line}  # read again: others may have been written meanwhile
            with open(MANIFEST, "w", newline="") as file:
                writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
                writer.writeheader()
                writer.writerows(known[other.file] for other in RECIPES if other.file in known)
            print(f"{recipe.file:36} {known[recipe.file]['best']:>18}  {known[recipe.file]['proven']}", flush=True)


if __name__ == "__main__":
    main()
