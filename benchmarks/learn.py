"""Learning beside its peers, as ratios in one run: logistic regression, a matrix of costs, conditional random fields.

    python benchmarks/learn.py [--only logistic matrix chains words grid] [--pairs 1000000] [--elements 5000]
                               [--sequences 2000] [--side 500] [--rounds 5]

Times are wall-clock; the processor seconds beside them tell how busy the machine was with something else.
"""

from __future__ import annotations

import argparse
import math
import statistics
import time
import tracemalloc
import warnings

import numpy as np

import graphpart as gp
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


def chains(count, rounds):
    """Fit sequences of 20 with 64 attributes and 10 labels, by ChainCRF and sklearn-crfsuite, with the same prior."""
    import scipy.optimize  # noqa: F401  # imports take seconds and are nobody's time to learn

    rng = np.random.default_rng(0)
    weights, follow = 0.3 * rng.normal(size=(64, 10)), rng.normal(size=(10, 10))
    X = [rng.normal(size=(20, 64)) for _ in range(count)]
    y = []
    for x in X:  # drawn from a hidden chain
        labels = [0]
        for scores in x @ weights:
            labels.append(int(np.argmax(scores + follow[labels[-1]] + rng.gumbel(size=10))))
        y.append(labels[1:])
    structures = [gp.learn.chain(x) for x in X]

    def objective(unary, pair):
        """The negative log-likelihood and the prior at any parameters, by the library."""
        model = gp.learn.ConditionalRandomField(max_iterations=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(structures, y)
        model.theta_ = np.concatenate([unary.ravel(), pair.ravel()])
        return 0.5 * float(model.theta_ @ model.theta_) - model.log_likelihood(structures, y)

    wall, busy, crf = timed(lambda: gp.estimators.ChainCRF(intercept=False).fit(X, y), rounds)
    value = objective(crf.model_.unary_, crf.transitions_)
    print(f"ChainCRF                                  {wall:8.3f} s ({busy:.3f} s processor), "
          f"{crf.n_iter_} iterations, objective {value:.6f}")  # fmt: skip
    try:
        from sklearn_crfsuite import CRF
    except ImportError:
        print("sklearn-crfsuite: not installed")
        return
    items = [[{str(v): a for v, a in enumerate(row)} for row in x.tolist()] for x in X]
    texts = [[str(label) for label in labels] for labels in y]
    for name, options in (("defaults", {}), ("tight", {"epsilon": 1e-6, "delta": 1e-10, "max_iterations": 1000})):
        # Its own count of an attribute is the sum of values, and what has less than `min_freq` is dropped.
        peer = CRF(c1=0.0, c2=0.5, min_freq=-1e12, all_possible_states=True, all_possible_transitions=True, **options)
        other, other_busy, _ = timed(lambda: peer.fit(items, texts), rounds)  # noqa: B023
        states, moves = peer.state_features_, peer.transition_features_
        unary = np.array([[states.get((str(v), str(k)), 0.0) for k in range(10)] for v in range(64)])
        pair = np.array([[moves.get((str(a), str(b)), 0.0) for b in range(10)] for a in range(10)])
        theirs = objective(unary, pair)
        print(f"sklearn-crfsuite, {name:<23} {other:8.3f} s ({other_busy:.3f} s processor), "
              f"{len(peer.training_log_.iterations)} iterations, objective {theirs:.6f}, relative difference "
              f"{(theirs - value) / value:.1e}; ChainCRF takes {wall / other:.3f} x its time "
              f"({busy / other_busy:.3f} x processor; target: at most 1)")  # fmt: skip


def tagged(count):
    """Sentences of invented words with tags: attributes of each word and its neighbours, and the tags."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(12, size=4000)
    words = ["".join(rng.choice(list("abcdefghijklmnoprstuvw"), rng.integers(2, 9))) + "sdgye"[k % 5] for k in kinds]
    follow = rng.dirichlet(np.full(12, 0.5), size=12)
    members = [np.flatnonzero(kinds == k) for k in range(12)]
    chances = [1.0 / (1 + own) / (1.0 / (1 + own)).sum() for own in members]
    X, y = [], []
    for _ in range(count):
        tag, sentence, tags = int(rng.integers(12)), [], []
        for _ in range(rng.integers(8, 30)):
            tag = int(rng.choice(12, p=follow[tag]))
            sentence.append(words[rng.choice(members[tag], p=chances[tag])])
            tags.append(f"T{tag if rng.random() < 0.95 else rng.integers(12)}")
        items = [
            {"bias": 1.0, "word": w, "last3": w[-3:], "last2": w[-2:], "first2": w[:2], "first3": w[:3],
             "long": len(w) > 6}
            for w in sentence
        ]  # fmt: skip
        for a, b, u, v in zip(items[1:], items[:-1], sentence[1:], sentence[:-1], strict=True):
            a["before"], a["ending before"], b["after"], b["ending after"] = v, v[-2:], u, u[-2:]
        X.append(items)
        y.append(tags)
    return X, y


def words(count, rounds):
    """Fit a tagger of words by ChainCRF and sklearn-crfsuite: the same attributes, the same prior, all from texts."""
    import scipy.sparse  # noqa: F401  # imports are nobody's time to learn
    from sklearn_crfsuite import CRF

    X, y = tagged(count)
    plan = [("ChainCRF", gp.estimators.ChainCRF(intercept=False), {})]
    plan += [("sklearn-crfsuite, defaults", None, {})]
    plan += [("sklearn-crfsuite, tight", None, {"epsilon": 1e-6, "delta": 1e-9, "max_iterations": 1000})]
    times = {name: [] for name, _, _ in plan}
    values = {}
    for _ in range(rounds):  # in turn, so that other work on the machine slows all of them
        for name, model, options in plan:
            peer = model or CRF(c1=0.0, c2=0.5, all_possible_states=True, all_possible_transitions=True, **options)
            start = time.perf_counter(), time.process_time()
            peer.fit(X, y)
            times[name].append((time.perf_counter() - start[0], time.process_time() - start[1]))
            values[name] = model.model_.objective_ if model else peer.training_log_.iterations[-1]["loss"]
    best, own = (np.min(times["ChainCRF"], axis=0), values["ChainCRF"])
    print(f"{sum(map(len, X))} words, {len(plan[0][1].feature_names_)} attributes, 12 labels")
    for name, _, _ in plan:
        wall, busy = np.min(times[name], axis=0)
        print(f"{name:<40} {wall:8.3f} s ({busy:.3f} s processor), objective {values[name]:.6f}, relative difference "
              f"{(values[name] - own) / own:.1e}; ChainCRF takes {best[0] / wall:.3f} x its time "
              f"({best[1] / busy:.3f} x processor; target: at most 1)")  # fmt: skip


def pixels(side, rounds):
    """Pseudolikelihood on a grid of pixels with 10 attributes: one shared parameter of pairs, and 10 of them."""
    rng = np.random.default_rng(0)
    truth = gp.generate.noisy_image(side, side, seed=1).truth.reshape(side, side)
    X = np.concatenate([truth[:, :, None] + rng.normal(size=(side, side, 1)), rng.normal(size=(side, side, 9))], axis=2)
    for name, kind in (("no attributes of pairs", "constant"), ("11 attributes of pairs", "differences")):
        estimator = gp.estimators.GridCRF(pair_features=kind)
        wall, busy, model = timed(lambda: estimator.fit([X], [truth]), rounds)  # noqa: B023
        print(f"GridCRF {side} x {side}, {name:<22} {wall:8.3f} s ({busy:.3f} s processor; target: 10), "
              f"{model.n_iter_} iterations, {model.model_.status_}")  # fmt: skip


def main():
    """Run all, or some."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    names = ("logistic", "matrix", "chains", "words", "grid")
    parser.add_argument("--only", nargs="+", choices=names, default=names)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--elements", type=int, default=5000)
    parser.add_argument("--sequences", type=int, default=2000)
    parser.add_argument("--side", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    if "logistic" in args.only:
        logistic(args.pairs, args.rounds)
    if "matrix" in args.only:
        matrix(args.elements, args.rounds)
    if "chains" in args.only:
        chains(args.sequences, args.rounds)
    if "words" in args.only:
        words(args.sequences, args.rounds)
    if "grid" in args.only:
        pixels(args.side, args.rounds)


if __name__ == "__main__":
    main()
