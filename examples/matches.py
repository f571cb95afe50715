"""From a data frame of scored record pairs to clusters: 50,000 pairs, the clusters, and the pairs in most doubt.

The table is the usual result of record linkage: two identifiers and the probability that both are the same person,
rounded to two decimals. It is generated from a seed, with known persons, so that the clusters can be scored.

    python examples/matches.py            # 50,000 pairs
    python examples/matches.py --quick    # 2,000 pairs
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import graphpart as gp

PAIRS, QUICK = 50_000, 2_000
DOUBTFUL = 10
ROUNDED = 0.005  # half of the last decimal of a probability
MATCHES, OTHERS = (6.0, 1.5), (1.0, 9.0)  # of the beta distributions that probabilities of pairs are drawn from


def scored_pairs(size: int, seed: int = 0) -> tuple[dict[str, Any], dict[str, int]]:
    """Columns `left`, `right`, `probability` of so many pairs of records, and the person of each record."""
    rng = np.random.default_rng(seed)
    person = np.repeat(np.arange(size // 8), rng.integers(1, 6, size // 8))
    n = len(person)
    record = np.array([f"record-{k:06d}" for k in rng.permutation(n)], object)
    start = np.searchsorted(person, person)  # of the records of the same person
    u = np.concatenate([np.repeat(k, k - start[k]) for k in range(n)])
    v = np.concatenate([np.arange(start[k], k) for k in range(n)])
    kept = rng.random(len(u)) < 0.9  # blocking misses some
    u, v = u[kept][:size], v[kept][:size]
    others = size - len(u)
    a = rng.integers(n, size=3 * others)
    b = (a + rng.integers(1, 200, size=3 * others)) % n  # records that are similar by chance
    different = np.flatnonzero(person[a] != person[b])[:others]
    u, v = np.concatenate([u, a[different]]), np.concatenate([v, b[different]])
    probability = np.where(person[u] == person[v], rng.beta(*MATCHES, len(u)), rng.beta(*OTHERS, len(u)))
    order = rng.permutation(len(u))
    columns = {"left": record[u], "right": record[v], "probability": np.round(probability, 2)}
    truth = dict(zip(record.tolist(), person.tolist(), strict=True))
    return {name: column[order] for name, column in columns.items()}, truth


def study(size: int = PAIRS, seed: int = 0) -> dict[str, Any]:
    """Clusters of a table, the pairs in most doubt, how long it took, and how near the clusters are to the persons."""
    columns, person = scored_pairs(size, seed)
    try:
        import pandas
    except ImportError:
        table: Any = columns  # a mapping from names to arrays does as well
    else:
        table = pandas.DataFrame(columns)
    started = time.perf_counter()
    problem = gp.SetPartition.from_frame(
        table, "left", "right", probability="probability", clip=ROUNDED, duplicates="sum"
    )
    result = gp.solve(problem)
    clustered = time.perf_counter() - started
    doubts = gp.partition.doubts(problem, result)
    columns = {name: column[:DOUBTFUL].tolist() for name, column in doubts.pairs.items()}  # the least sure come first
    seconds = time.perf_counter() - started
    truth = [person[record] for record in result.nodes]
    found = {"problem": problem, "result": result, "doubtful": columns, "clustered": clustered, "seconds": seconds}
    return found | {"agreement": gp.metrics.compare(truth, result)}


def main(arguments: list[str] | None = None) -> None:
    """Print the clusters of the table, and the pairs in most doubt."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} pairs instead of {PAIRS}")
    found = study(QUICK if parser.parse_args(arguments).quick else PAIRS)
    print(found["problem"])
    print(found["result"].summary())
    agreement = found["agreement"]
    print(f"F1 of joined pairs {agreement.joins_f1:.4f}\n\nthe {DOUBTFUL} pairs in most doubt:")
    rows = found["doubtful"]
    for left, right, joined, doubt in zip(rows["left"], rows["right"], rows["joined"], rows["doubt"], strict=True):
        print(f"{left}  {right}  {'joined' if joined else 'cut':6}  {doubt:.4f}")
    print(f"\n{found['clustered']:.2f} s from the table to clusters, {found['seconds']:.2f} s to the pairs in doubt")


if __name__ == "__main__":
    main()
