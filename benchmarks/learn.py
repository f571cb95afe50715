"""Learning and pair costs beside their peers, as ratios in one run: logistic regression, and a matrix of costs.

    python benchmarks/learn.py [--pairs 1000000] [--elements 5000] [--rounds 5]

Times are wall-clock; the processor seconds beside them tell how busy the machine was with something else.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import tracemalloc

import numpy as np

from graphpart.learn import LogisticRegression, pairs


def timed(function, rounds):
    """Medians of wall-clock and of processor seconds, and the last result."""
    wall, processor, result = [], [], None
    for _ in range(rounds):
        start = time.perf_counter(), time.process_time()
        result = function()
        wall.append(time.perf_counter() - start[0])
        processor.append(time.process_time() - start[1])
    return statistics.median(wall), statistics.median(processor), result


def logistic(n, rounds):
    """Fit n pairs with 20 attributes by Newton's method, and by L-BFGS of scikit-learn to a similar gradient norm."""
    from sklearn.linear_model import LogisticRegression as Peer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 20))
    y = (rng.random(n) < 1 / (1 + 2 ** -(X @ rng.normal(size=20)))).astype(int)
    floor, _, _ = timed(X.sum, rounds)
    wall, processor, model = timed(lambda: LogisticRegression().fit(X, y), rounds)
    tracemalloc.start()
    LogisticRegression().fit(X, y)
    peak = tracemalloc.get_traced_memory()[1] / X.nbytes
    tracemalloc.stop()

    def norm(coefficients):
        theta = coefficients / math.log(2)
        return np.linalg.norm(X.T @ (1 / (1 + 2 ** -(X @ theta)) - y) + theta / math.log(2))

    print(f"one pass over the data (sum)              {floor:8.3f} s")
    print(f"graphpart, Newton                         {wall:8.3f} s ({processor:.3f} s processor), "
          f"gradient norm {model.gradient_norm_:.1e}, peak memory {1 + peak:.3f} x the data")  # fmt: skip
    for tol in (1e-4, 1e-6, 1e-10):
        peer = Peer(C=math.log(2) ** 2, fit_intercept=False, tol=tol, max_iter=1000)
        other, busy, fitted = timed(lambda: peer.fit(X, y), rounds)  # noqa: B023
        print(f"scikit-learn, L-BFGS, tol {tol:<8g}        {other:8.3f} s ({busy:.3f} s processor), "
              f"gradient norm {norm(fitted.coef_[0]):.1e}, "
              f"{other / wall:.2f} x graphpart ({busy / processor:.2f} x its processor time)")  # fmt: skip


def matrix(n, rounds):
    """Costs of all pairs of n elements with 64 attributes, beside X @ X.T."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 64))
    blas, blas_busy, _ = timed(lambda: X @ X.T, rounds)
    print(f"X @ X.T                                   {blas:8.3f} s ({blas_busy:.3f} s processor)")
    for kind in ("absolute-difference", "squared-difference", "product", "concatenated", "cosine"):
        theta = rng.normal(size=pairs.pair_attributes(X[:2], [], kind).shape[1])
        wall, busy, _ = timed(lambda: pairs.cost_matrix(X, theta, kind), rounds)  # noqa: B023
        print(f"cost matrix, {kind:<20}         {wall:8.3f} s ({busy:.3f} s processor), "
              f"{wall / blas:.2f} x X @ X.T ({busy / blas_busy:.2f} x its processor time)")  # fmt: skip


def main():
    """Run both."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--elements", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    logistic(args.pairs, args.rounds)
    matrix(args.elements, args.rounds)


if __name__ == "__main__":
    main()
