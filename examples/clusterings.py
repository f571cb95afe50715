"""Records, vectors, near duplicates and labelings to clusters, beside what others do: generated data and digits.

    python examples/clusterings.py [--figures FOLDER]

1. Records of persons, without labels: `gp.records.match`, and connected components of the same scores, which is
   Splink's clustering: at the thresholds 0.5 and 0.95, and at the one that is best in hindsight.
2. Points: `SetPartition.from_embeddings`, HDBSCAN and agglomerative clustering, all with their defaults, and components
   of the pairs that attract. Adjusted Rand indices.
3. Near duplicates, some of them in chains: `gp.near_duplicates`, and components of near pairs. F1 of pairs.
4. Several noisy labelings: `gp.consensus`, and the best of the labelings. Adjusted Rand indices.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import graphpart as gp

ON = ["given", "surname", "birth", "street", "phone"]
Labels = NDArray[Any]


def components(n: int, u: NDArray[Any], v: NDArray[Any]) -> Labels:
    """The connected components of pairs."""
    return connected_components(coo_array((np.ones(len(u)), (u, v)), shape=(n, n)), directed=False)[1]


def f1(truth: Labels, labels: Labels) -> float:
    return gp.metrics.compare(truth, labels).joins_f1


def records(n: int, seed: int) -> dict[str, Any]:
    """F1 of pairs of one generated table."""
    import pandas as pd

    columns, person = gp.generate.person_records(n, seed=seed)
    begin = time.perf_counter()
    r = gp.records.match(pd.DataFrame(columns), ON)
    seconds = time.perf_counter() - begin
    u, v, p, w = (r.scores.column(k).to_numpy() for k in ("left", "right", "match_probability", "match_weight"))
    row: dict[str, Any] = {"seed": seed, "match": f1(person, r.labels)}
    for limit in (0.5, 0.95):
        row[f"components at {limit}"] = f1(person, components(n, u[p >= limit], v[p >= limit]))
    limits = np.quantile(w, np.linspace(0, 1, 120))
    best = max(f1(person, components(n, u[w >= x], v[w >= x])) for x in limits)
    row["components, best in hindsight"] = max(best, row["components at 0.5"], row["components at 0.95"])
    return row | {"seconds": seconds}


def blobs(noise: float, size: int = 50, seed: int = 0) -> tuple[NDArray[np.float64], Labels]:
    """8 clusters of points in 64 dimensions; noise in units of the spread of the centres."""
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(8), size)
    return rng.normal(size=(8, 64))[truth] + noise * rng.normal(size=(len(truth), 64)), truth


def points(name: str, X: NDArray[np.float64], truth: Labels) -> dict[str, Any]:
    """Adjusted Rand indices of methods with their defaults."""
    from sklearn.cluster import HDBSCAN, AgglomerativeClustering

    p = gp.SetPartition.from_embeddings(X)
    u, v, cost = p._listed()
    near = u[cost < 0], v[cost < 0]
    found = {
        "from_embeddings": gp.solve(p, time_limit=20).labels,
        "HDBSCAN": HDBSCAN(copy=True).fit_predict(X),
        "agglomerative": AgglomerativeClustering().fit_predict(X),
        "components": components(len(X), *near),
    }
    index = gp.metrics.adjusted_rand_index
    return {"points": name, **{method: index(truth, labels) for method, labels in found.items()}}


def chains(n: int, seed: int = 0) -> NDArray[np.float64]:
    """Vectors of which a fifth has a near duplicate, and chains of 30 in which only neighbours are near."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 32))
    copies = X[: n // 5] + 0.05 * rng.normal(size=(n // 5, 32))
    steps = [X[k] + 0.09 * np.cumsum(rng.normal(size=(30, 32)), axis=0) for k in range(n // 5, n // 5 + n // 100)]
    return np.concatenate([X, copies, *steps])


def near_duplicates(n: int, threshold: float = 0.02) -> dict[str, Any]:
    """Of chains, neighbours are near: what counts is the largest distance within a cluster."""
    from scipy.spatial.distance import pdist, squareform

    X = chains(n)
    D = squareform(pdist(X, "cosine"))
    u, v = np.nonzero(np.triu(threshold >= D, 1))
    found = {"near_duplicates": gp.near_duplicates(X, threshold).labels, "components": components(len(X), u, v)}
    row: dict[str, Any] = {"vectors": len(X)}
    for name, labels in found.items():
        widest = max(D[np.ix_(labels == k, labels == k)].max() for k in np.flatnonzero(np.bincount(labels) > 1))
        row |= {f"{name}: largest cluster": int(np.bincount(labels).max()), f"{name}: widest": float(widest)}
    return row


def consensus(noise: float, n: int = 500, seed: int = 0) -> dict[str, Any]:
    """10 labelings of elements in 8 clusters, each with such a share of elements in any cluster."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 8, n)
    runs = [np.where(rng.random(n) < noise, rng.integers(0, 8, n), truth) for _ in range(10)]
    index = gp.metrics.adjusted_rand_index
    r = gp.consensus(runs, time_limit=20)
    return {"noise": noise, "consensus": index(truth, r.labels), "best run": max(index(truth, run) for run in runs)}


def study(quick: bool = False, figures: Path | None = None) -> dict[str, list[dict[str, Any]]]:
    """All tables; with `figures`, one picture for each in that folder."""
    from sklearn.datasets import load_digits

    X, y = load_digits(return_X_y=True)
    tables = {
        "records": [records(300 if quick else 2000, seed) for seed in range(1 if quick else 5)],
        "points": [
            points(f"noise {noise}", *blobs(noise, 12 if quick else 50))
            for noise in ((0.6,) if quick else (0.6, 1.0, 1.4))
        ],
        "near-duplicates": [near_duplicates(200 if quick else 2000)],
        "consensus": [consensus(0.1, 100)] if quick else [consensus(noise) for noise in (0.1, 0.2, 0.3, 0.5)],
    }
    if not quick:
        tables["points"].append(points("digits", X.astype(np.float64), y))
    if figures is not None:
        draw(tables, figures)
    return tables


def draw(tables: dict[str, list[dict[str, Any]]], folder: Path) -> None:
    """Bars of each table in a picture of its own."""
    from matplotlib.figure import Figure

    for name, rows in tables.items():
        first, *methods = (key for key in rows[0] if key != "seconds")
        if name == "near-duplicates":
            methods = [key for key in methods if "largest" in key]
        figure = Figure(figsize=(7, 2.8), layout="constrained")
        axis = figure.subplots()
        for k, method in enumerate(methods):
            at = np.arange(len(rows)) + (k - (len(methods) - 1) / 2) * 0.8 / len(methods)
            bars = axis.bar(at, [row[method] for row in rows], 0.75 / len(methods), label=method)
            axis.bar_label(bars, fmt="%.3g", fontsize=7)
        axis.set_xticks(
            range(len(rows)), [f"{first} {row[first]}" if first != "points" else row[first] for row in rows]
        )
        label = {"records": "F1 of pairs", "near-duplicates": "elements"}.get(name, "adjusted Rand index")
        axis.set_ylabel(label)
        axis.margins(y=0.15)
        axis.legend(fontsize=7, loc="lower right")
        figure.savefig(folder / f"clusterings_{name.replace('-', '_')}.png", dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--figures", type=Path, help="write pictures into this folder")
    for rows in study(figures=parser.parse_args().figures).values():
        print("| " + " | ".join(rows[0]) + " |\n" + "|---" * len(rows[0]) + "|")
        for row in rows:
            print("| " + " | ".join(f"{x:.3f}" if isinstance(x, float) else str(x) for x in row.values()) + " |")
        print(flush=True)


if __name__ == "__main__":
    main()
