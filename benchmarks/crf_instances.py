"""The factor graphs that crf.py measures on, as arrays: generated ones, and real ones from files.

Generated: the domains, and for each group of factors of one shape scopes and tables, s0, t0, s1, t1, ... From files:
the arrays of `FactorGraph.from_csr`, evidence already given.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from measuring import Arrays

import graphpart as gp
from graphpart.files.source import bare_name

SUFFIXES = tuple(suffix for known in gp.io.FORMATS if known.problem == "crf" for suffix in known.suffixes)

# ----------------------------------------------------------------------------------------------------------- generated


def groups(*parts: tuple[np.ndarray, np.ndarray], n: int, labels: int = 2) -> Arrays:
    """Arrays s0, t0, s1, t1, ...: scopes and tables; the domains."""
    named = {f"{letter}{i}": x for i, part in enumerate(parts) for letter, x in zip("st", part, strict=True)}
    return {"domains": np.full(n, labels, np.int32), **named}


def groups_of(arrays: Arrays) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(arrays[f"s{i}"], arrays[f"t{i}"]) for i in range(sum(key[0] == "t" for key in arrays))]


def tables(rng: np.random.Generator, m: int, labels: int, arity: int) -> np.ndarray:
    return rng.standard_normal((m, *[labels] * arity))


def tree(n: int) -> Arrays:
    """A random binary tree: a new variable is joined to an earlier one."""
    rng = np.random.default_rng(0)
    new = np.arange(1, n)
    earlier = (rng.random(n - 1) * new).astype(np.int64)
    return groups((np.column_stack([earlier, new]), tables(rng, n - 1, 2, 2)), n=n)


def path(n: int, labels: int) -> Arrays:
    rng = np.random.default_rng(0)
    at = np.arange(n)
    return groups((np.column_stack([at[:-1], at[1:]]), tables(rng, n - 1, labels, 2)), n=n, labels=labels)


def third_order(m: int) -> Arrays:
    """A tree of m factors over three variables: an earlier one and two new ones."""
    rng = np.random.default_rng(0)
    new = 1 + 2 * np.arange(m)
    earlier = (rng.random(m) * new).astype(np.int64)
    return groups((np.column_stack([earlier, new, new + 1]), tables(rng, m, 2, 3)), n=2 * m + 1)


def sparse(n: int, degree: int) -> Arrays:
    rng = np.random.default_rng(0)
    pairs = rng.integers(n, size=(n * degree // 2, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return groups((np.arange(n)[:, None], tables(rng, n, 2, 1)), (pairs, tables(rng, len(pairs), 2, 2)), n=n)


def neighbours(height: int, width: int) -> np.ndarray:
    """The pairs of a grid, those side by side first."""
    at = np.arange(height * width).reshape(height, width)
    right = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    return np.concatenate([right, np.column_stack([at[:-1].ravel(), at[1:].ravel()])])


def on_grid(height: int, width: int, unary: np.ndarray, pairwise: np.ndarray) -> Arrays:
    """A grid; `pairwise` is one table for each pair, or one for all."""
    n, labels = unary.shape
    pairs = neighbours(height, width)
    pairwise = np.ascontiguousarray(np.broadcast_to(pairwise, (len(pairs), labels, labels)))
    all_of_it = groups((np.arange(n)[:, None], unary), (pairs, pairwise), n=n, labels=labels)
    return {**all_of_it, "shape": np.array([height, width])}


def grid(side: int, labels: int = 2) -> Arrays:
    """Normal tables."""
    rng = np.random.default_rng(0)
    unary = tables(rng, side * side, labels, 1)
    return on_grid(side, side, unary, tables(rng, 2 * side * (side - 1), labels, 2))


def potts(side: int, labels: int) -> Arrays:
    """Normal unary costs, times 2; different labels of neighbours cost 0.9."""
    unary = 2 * np.random.default_rng(0).standard_normal((side * side, labels))
    return on_grid(side, side, unary, 0.9 * (1 - np.eye(labels)))


def couplings(side: int, costs: int) -> Arrays:
    """Normal costs of label 1, or of both labels; different labels of neighbours cost 0.7 times a normal number."""
    rng = np.random.default_rng(0)
    unary = np.zeros((side * side, 2))
    unary[:, 2 - costs :] = rng.standard_normal((side * side, costs))
    weight = 0.7 * rng.standard_normal(2 * side * (side - 1))
    return on_grid(side, side, unary, weight[:, None, None] * (1 - np.eye(2)))


def picture(height: int, width: int) -> Arrays:
    """That of examples/restore_image.py."""
    f = gp.generate.noisy_image(height, width, 0.2, 0.6, seed=1).problem
    n = height * width
    return on_grid(height, width, f.tables[: 2 * n].reshape(n, 2), f.tables[2 * n :].reshape(-1, 2, 2))


# ---------------------------------------------------------------------------------------------------------- from files


class Known(NamedTuple):
    """What best_known.csv says of an instance: an energy, rounded, or else a value in the convention of its file."""

    value: float
    evidence: str  #: a file, or ""
    energy: bool

    def cost(self, sense: float = 1, offset: float = 0) -> float:
        """As an energy, to be minimised."""
        return self.value if self.energy else sense * (self.value - offset)


def best_known(folder: Path) -> dict[str, Known]:
    """What is known by file, from best_known.csv of the folder or its parent."""
    out = {}
    for table in (folder.parent / "best_known.csv", folder / "best_known.csv"):
        if table.exists():
            with open(table, newline="") as file:
                for line in csv.DictReader(file):
                    value = line.get("energy") or line.get("value")
                    if value and (table.parent / line["file"]).parent == folder:
                        known = Known(float(value), line.get("evidence") or "", bool(line.get("energy")))
                        out[Path(line["file"]).name] = known
    return out


def real_instances(
    folders: list[Path], seconds: float, most: int | None = None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """(name, options of `from_file`) of all factor graphs in the folders, or of the `most` smallest files of each.

    Evidence stands beside an instance, under its name with .evid added, if best_known.csv names none.
    """
    for folder in folders:
        known = best_known(folder)
        files = [file for file in folder.glob("*") if bare_name(file).endswith(SUFFIXES)]
        files.sort(key=lambda file: (file.stat().st_size, file))
        for file in sorted(files[:most]):
            best = known.get(file.name)
            beside = folder / (file.name.removesuffix(".gz").removesuffix(".xz") + ".evid")
            evidence = folder / best.evidence if best and best.evidence else beside if beside.exists() else None
            given = {"file": file, "evidence": evidence, "seconds": seconds, "best": best.value if best else None}
            yield f"{folder.name}/{file.name}", given


def from_file(file: Path, evidence: Path | None, seconds: float, best: float | None = None) -> Arrays:
    return {**arrays_of(given(file, evidence)), "seconds": np.array(seconds)}


def given(file: Path, evidence: Path | None) -> gp.FactorGraph:
    """The factor graph in a file, with its evidence; `sense` and `offset` are those of the file."""
    f = gp.read(file)
    return f if evidence is None else f.condition(gp.io.read_evidence(evidence, f))


def arrays_of(f: gp.FactorGraph) -> Arrays:
    return {
        "domains": f.domains,
        "scope_start": f.scope_start,
        "scope": f.scope,
        "table_start": f.table_start,
        "values": f.tables,
        "constant": np.array(f.constant),
    }


def factor_graph(arrays: Arrays) -> gp.FactorGraph:
    if "scope_start" not in arrays:
        return gp.FactorGraph.from_arrays(arrays["domains"], groups_of(arrays))
    parts = (arrays[key] for key in ("domains", "scope_start", "scope", "values"))
    return gp.FactorGraph.from_csr(*parts, constant=float(arrays["constant"]))


def energy(arrays: Arrays, labels: np.ndarray) -> float:
    """The energy of a labeling, recomputed."""
    if "scope_start" not in arrays:
        return sum(float(t[(np.arange(len(t)), *labels[scopes].T)].sum()) for scopes, t in groups_of(arrays))
    start, scope, domains = arrays["scope_start"], arrays["scope"], arrays["domains"]
    entry = np.zeros(len(start) - 1, np.int64)
    for j in range(int(np.diff(start).max(initial=0))):
        some = np.flatnonzero(np.diff(start) > j)
        v = scope[start[some] + j]
        entry[some] = entry[some] * domains[v] + labels[v]
    return float(arrays["constant"]) + float(arrays["values"][arrays["table_start"][:-1] + entry].sum())
