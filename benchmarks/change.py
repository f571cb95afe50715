"""Doubts of a million pairs, and ten thousand new elements on top of a million: seconds of processor time.

    python benchmarks/change.py [--scale 0.1] [--rounds 3]

Elements fall into hidden groups of about ten; half of the pairs are within groups, the others anywhere, about ten to an
element for `extend`. Costs are noisy. Each figure is the best of some rounds, beside greedy joining of the same problem
in the same run, so that machines and days compare.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import graphpart as gp


def grouped(n: int, m: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs and their costs."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, max(1, n // 10), n)
    order = np.argsort(hidden, kind="stable")
    at = rng.integers(0, n - 10, m // 2)
    near = np.stack([order[at], order[at + rng.integers(1, 8, m // 2)]], 1)
    pairs = np.concatenate([rng.integers(0, n, (m - m // 2, 2)), near])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    together = hidden[pairs[:, 0]] == hidden[pairs[:, 1]]
    return pairs, np.where(together, -1, 1) * rng.random(len(pairs)) + rng.normal(0, 0.3, len(pairs))


def best(function: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least seconds of processor time, and what the function returned."""
    seconds = []
    for _ in range(rounds):
        begin = time.process_time()
        result = function()
        seconds.append(time.process_time() - begin)
    return min(seconds), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1.0, help="share of the sizes; default: 1")
    parser.add_argument("--rounds", type=int, default=3, help="default: 3")
    args = parser.parse_args()
    n = int(200_000 * args.scale)
    pairs, costs = grouped(n, 5 * n, 0)
    p = gp.SetPartition.from_pairs(n, pairs, costs)
    unit, joined = best(lambda: gp.partition.greedy_joining(p), args.rounds)
    r = gp.partition.greedy_moving(p, joined)
    print(f"doubts: {n} elements, {p.m} pairs; greedy joining takes {unit:.2f} s")
    for method in ("local-search", "auto"):
        seconds, d = best(lambda method=method: gp.partition.doubts(p, r, method=method), args.rounds)  # type: ignore[misc]
        exact = int((d.pairs["bound"] == "exact").sum())
        print(f"  {method}: {seconds:.2f} s, {seconds / unit:.1f} times that; {exact} pairs exact")

    old_n, new_n = int(1_000_000 * args.scale), int(10_000 * args.scale)
    pairs, costs = grouped(old_n + new_n, 5 * (old_n + new_n), 1)
    old_pairs = (pairs < old_n).all(axis=1)
    old = gp.partition.greedy_joining(gp.SetPartition.from_pairs(old_n, pairs[old_pairs], costs[old_pairs]))
    q = gp.SetPartition.from_pairs(old_n + new_n, pairs, costs)
    unit, whole = best(lambda: gp.partition.greedy_joining(q), 1)
    print(f"extend: {new_n} new elements on {old_n}, {q.m} pairs; greedy joining of all takes {unit:.2f} s")
    for freeze in (True, False):
        seconds, r = best(lambda freeze=freeze: gp.partition.extend(q, old, freeze=freeze), args.rounds)  # type: ignore[misc]
        print(f"  freeze={freeze}: {seconds:.2f} s, {seconds / unit:.2f} times that; cost {r.cost:.1f}")
    print(f"  joining of all costs {whole.cost:.1f}")


if __name__ == "__main__":
    main()
