"""Clusters of vectors and texts by `SetPartition.from_embeddings`: F1 of pairs as the number of elements grows.

Up to `ALL_PAIRS` elements, all pairs are listed; of more, as many as are needed. So a figure should not depend on which
of both it is. Kinds of data, all generated:

* 8 clusters of points in 64 dimensions, with noise 0.6 of the spread of their centres;
* clusters of 3 points each;
* clusters whose sizes fall as a power of their rank, from n / 20 on;
* titles of 1 to 6 copies with typing errors, omitted, swapped and abbreviated words, a third of them of the same series
  as others, beside DBSCAN (scikit-learn) and
  components of a threshold of rapidfuzz's ratio, both with the threshold that is best in hindsight.

    python benchmarks/vectors.py [--sizes 1000,3000] [--kinds titles] [--peers] [--csv docs/benchmarks/vectors.csv]
"""

from __future__ import annotations

import argparse
import csv
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

import graphpart as gp

SIZES = (1000, 2000, 3000, 4000, 10_000, 20_000)
Labels = NDArray[np.int64]
SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


def eight(n: int, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """8 noisy clusters."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) % 8
    return rng.normal(size=(8, 64))[truth] + 0.6 * rng.normal(size=(n, 64)), truth


def threes(n: int, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """Clusters of 3."""
    rng = np.random.default_rng(seed)
    truth = np.arange(n) // 3
    return rng.normal(size=(truth.max() + 1, 64))[truth] + 0.6 * rng.normal(size=(n, 64)), truth


def power_law(n: int, seed: int) -> tuple[NDArray[np.float64], Labels]:
    """Clusters of n / 20, ... elements, down to 1."""
    rng = np.random.default_rng(seed)
    sizes = np.maximum(1, (n / 20 / np.arange(1, n + 1) ** 0.8).astype(np.int64))
    truth = np.repeat(np.arange(n), sizes)[:n]
    return rng.normal(size=(truth.max() + 1, 64))[truth] + 0.6 * rng.normal(size=(n, 64)), truth


def titles(n: int, seed: int) -> tuple[list[str], Labels]:
    """Titles, most of which have copies with errors."""
    rng = np.random.default_rng(seed)
    words = np.array(["".join(rng.choice(SYLLABLES, rng.integers(1, 5))) for _ in range(3000)])
    chance = 1.0 / (np.arange(3000) + 10)
    truth = np.repeat(np.arange(n), rng.choice([1, 2, 3, 4, 6], n, p=[0.4, 0.25, 0.15, 0.12, 0.08]))[:n]
    texts: list[str] = []
    known: list[list[str]] = []
    for k, copies in enumerate(np.bincount(truth).tolist()):
        title = list(rng.choice(words, rng.integers(3, 9), p=chance / chance.sum()))
        if k and rng.random() < 0.3:  # of the same series as another one
            title = list(known[int(rng.integers(k))])
            for at in rng.permutation(len(title))[: int(rng.integers(1, 3))]:
                title[at] = rng.choice(words)
        known.append(title)
        texts += [" ".join(title if c == 0 else _mistyped(title, rng)) for c in range(copies)]
    return texts, truth


def _mistyped(title: list[str], rng: Any) -> list[str]:
    """A copy of a title."""
    words = list(title)
    if len(words) > 3 and rng.random() < 0.3:
        del words[int(rng.integers(len(words)))]
    if rng.random() < 0.2:
        k = int(rng.integers(len(words) - 1))
        words[k : k + 2] = words[k + 1], words[k]
    if rng.random() < 0.2:
        k = int(rng.integers(len(words)))
        words[k] = words[k][:3]
    text = " ".join(words)
    for _ in range(rng.poisson(0.08 * len(text))):
        at, letter = int(rng.integers(len(text))), LETTERS[int(rng.integers(26))]
        text = text[:at] + ("", letter, letter + text[at], text[at + 1 : at + 2] + text[at])[int(rng.integers(4))] + \
            text[at + 1 + (0 if rng.random() < 0.9 else 1) :]  # fmt: skip
    return text.split()


KINDS = {"8 clusters": eight, "clusters of 3": threes, "power law": power_law, "titles": titles}


def components(n: int, u: Any, v: Any) -> Labels:
    """Labels of connected components."""
    graph = coo_array((np.ones(len(u)), (u, v)), shape=(n, n))
    return np.asarray(connected_components(graph, directed=False)[1])


def f1(truth: Labels, labels: Any) -> float:
    """F1 of pairs."""
    return float(gp.metrics.compare(truth, labels).joins_f1)


def peers(texts: list[str], truth: Labels) -> dict[str, float]:
    """DBSCAN and thresholds of rapidfuzz, each at its best threshold."""
    from rapidfuzz import fuzz, process
    from sklearn.cluster import DBSCAN

    from graphpart.partition.inputs.texts import vectors_of_texts

    X = vectors_of_texts(texts)
    scans = (DBSCAN(eps=eps, min_samples=2, metric="cosine").fit(X).labels_ for eps in np.arange(0.2, 0.65, 0.05))
    alone = np.arange(len(texts)) + len(texts)
    ratio = process.cdist(texts, texts, scorer=fuzz.ratio, score_cutoff=50, dtype=np.uint8)
    u, v = np.nonzero(np.triu(ratio, 1))
    value = ratio[u, v]
    found = {"DBSCAN": max(f1(truth, np.where(labels < 0, alone, labels)) for labels in scans)}
    found["rapidfuzz"] = max(f1(truth, components(len(texts), u[value >= x], v[value >= x])) for x in range(60, 100, 2))
    return found


def measure(kind: str, n: int, seed: int = 0, others: bool = False) -> dict[str, Any]:
    """One row of the table."""
    X, truth = KINDS[kind](n, seed)
    begin = time.process_time()
    p = gp.SetPartition.from_embeddings(X)
    built = time.process_time() - begin
    r = gp.solve(p, "kernighan-lin")
    row: dict[str, Any] = {"data": kind, "elements": n, "F1": round(f1(truth, r.labels), 3)}
    row |= {
        "clusters": r.n_clusters,
        "true clusters": len(np.unique(truth)),
        "threshold": p._told["threshold"].split()[0],
    }
    row |= {"form": "matrix" if p.is_dense else "listed", "pairs": len(p._listed()[0]) if not p.is_dense else ""}
    row |= {"building, s": round(built, 1), "processor, s": round(time.process_time() - begin, 1)}
    if others and kind == "titles":
        row |= {name: round(value, 3) for name, value in peers(X, truth).items()}
    return row


def main(argv: list[str] | None = None) -> None:
    """Print the table, and write it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--kinds", default=",".join(KINDS))
    parser.add_argument("--peers", action="store_true", help="also DBSCAN and rapidfuzz, on titles")
    parser.add_argument("--csv", metavar="PATH")
    args = parser.parse_args(argv)
    rows = []
    for kind in args.kinds.split(","):
        for n in map(int, args.sizes.split(",")):
            rows.append(measure(kind, n, others=args.peers))
            print(rows[-1], flush=True)
    if args.csv:
        with open(args.csv, "w", newline="", encoding="utf-8") as stream:
            writer = csv.DictWriter(
                stream, list(dict.fromkeys(name for row in rows for name in row)), lineterminator="\n"
            )
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
