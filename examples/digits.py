"""Digits: learn on some classes what "the same digit" means, then partition images of digits never seen.

Images are the 8x8 digits bundled with scikit-learn. A pair of images has seven attributes: the cosine of their smoothed
gradients, their best cosine over shifts by a pixel, the share of nearest neighbours they have in common, and the
similarity of random walks of 2, 4, 8 and 16 steps, from neighbour to neighbour, that start from both images. Costs are
learned such that the true partitions of many samples are best, with a margin. The number of unknown classes is not
given. A threshold that is subtracted from the costs is chosen by cross-validation on the known classes: some are left
out, and costs are learned from the others. For comparison, there are costs by logistic regression on the same pairs,
and `LearnedPartition()` without options on pixels.

    python examples/digits.py [--quick] [--figure digits.png]
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from scipy.ndimage import gaussian_filter, shift, sobel
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import train_test_split

import graphpart as gp
from graphpart.estimators import LearnedPartition
from graphpart.learn.unary import fit_in_batches, tuned_naive_bayes, unary_costs

SPLITS = [(0, 1, 2, 3, 4), (0, 2, 4, 6, 8), (1, 3, 5, 7, 9), (5, 6, 7, 8, 9), (0, 1, 4, 5, 8)]
NEIGHBORS = 10


def similarities(images):
    """The cosines of gradients, and the best ones over shifts: two n x n matrices."""

    def unit(features):
        rows = features.reshape(len(features), -1)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def smooth(stack, sigma):
        return np.array([gaussian_filter(image, sigma) for image in stack])

    down, right = (np.array([sobel(image, axis) for image in images]) for axis in (0, 1))
    angles = np.arange(8) * np.pi / 4
    edges = [smooth(np.maximum(0, np.cos(a) * down + np.sin(a) * right), 0.8) for a in angles]
    edges = unit(np.stack(edges, axis=1))
    gradient = edges @ edges.T

    soft = smooth(images, 0.5)
    center = unit(soft)
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    shifted = np.max([center @ unit(shift(soft, (0, *step), order=1)).T for step in steps], axis=0)
    shifted = np.maximum(shifted, shifted.T)

    return np.stack([gradient, shifted])


def attributes(S):
    """Seven n x n matrices of attributes of pairs, from the two similarities of these elements."""
    near = S.sum(axis=0)
    np.fill_diagonal(near, np.inf)
    member = np.zeros_like(near)
    np.put_along_axis(member, np.argpartition(-near, NEIGHBORS, axis=1)[:, : NEIGHBORS + 1], 1.0, axis=1)
    shared = member @ member.T / (NEIGHBORS + 1)
    return np.stack([*S, shared, *gp.learn.pairs.walk_similarities(near, NEIGHBORS)])


def learn_from_pairs(A, y):
    """Logistic regression on all pairs, as if they were independent."""
    pairs, same = gp.learn.pairs.training_pairs(y)
    return gp.learn.LogisticRegression(sigma=10.0, intercept=True).fit(A[:, pairs[:, 0], pairs[:, 1]].T, same)


def learn_from_partitions(A, y):
    """Costs by which the true partitions of samples of elements are best, with a margin."""
    X, same, pairs = [], [], []
    for sample in gp.learn.pairs.cut_into_problems(y, number=50, size=60, seed=0):
        place, decisions = gp.learn.pairs.training_pairs(y[sample])
        u, v = sample[place].T
        X.append(A[:, u, v].T)
        same.append(decisions)
        pairs.append(place)
    return gp.learn.MaxMarginPartition(start=None, intercept=True, seed=0).fit(X, same, pairs)


LEARNERS = {"max margin": learn_from_partitions, "logistic": learn_from_pairs}


def cost_matrix(model, A):
    """The learned costs of all pairs."""
    C = -np.tensordot(model.theta_[:-1], A, 1) - model.theta_[-1]
    np.fill_diagonal(C, 0.0)
    return (C + C.T) / 2


def partition(C):
    """Labels of a partition of small cost."""
    return gp.partition.kernighan_lin(gp.SetPartition.from_matrix(C)).labels


def components(C):
    """Pairs with a negative cost are joined, and what they connect."""
    return connected_components((C < 0) & ~np.eye(len(C), dtype=bool), directed=False)[1]


def average_linkage(C):
    """Average linkage on costs, cut where they change sign."""
    lowest = min(C.min(), 0.0)
    distance = C - lowest
    np.fill_diagonal(distance, 0)
    cut = AgglomerativeClustering(None, metric="precomputed", linkage="average", distance_threshold=-lowest)
    return cut.fit_predict(distance)


def chosen_threshold(learner, S, y):
    """The threshold that suits known classes that were left out."""

    def costs(learn, held):
        parts = [attributes(S[:, at[:, None], at]) for at in (learn, held)]
        return cost_matrix(learner(parts[0], y[learn]), parts[1])

    return gp.learn.cross_validate_threshold(costs, y, splits=6).threshold


def learn_and_partition(images, y, known, seed=0):
    """Adjusted Rand indices by method on the classes that are not known, and what else the table shows."""
    learned_on = np.isin(y, known)
    new, truth = images[~learned_on], y[~learned_on]
    row = {"n": len(new), "images": new, "thresholds": {}, "seconds": {}}
    labels = {}
    start = time.perf_counter()
    S, S_new = similarities(images[learned_on]), similarities(new)
    A, A_new = attributes(S), attributes(S_new)
    preparing = time.perf_counter() - start
    for name, learner in LEARNERS.items():
        start = time.perf_counter()
        C = cost_matrix(learner(A, y[learned_on]), A_new)
        t = chosen_threshold(learner, S, y[learned_on])
        shifted = C - t
        np.fill_diagonal(shifted, 0.0)
        result = gp.partition.kernighan_lin(gp.SetPartition.from_matrix(shifted))
        row["seconds"][name] = preparing + time.perf_counter() - start
        row["thresholds"][name] = t
        row.setdefault("result", result)
        labels[f"{name}: partition at 0"] = partition(C)
        labels[f"{name}: partition"] = result.labels
        labels[f"{name}: average linkage at 0"] = average_linkage(C)
        labels[f"{name}: average linkage"] = average_linkage(shifted)
        labels[f"{name}: components"] = components(C)

    pixels, k = new.reshape(len(new), -1), len(np.unique(truth))
    start = time.perf_counter()
    model = LearnedPartition().fit(images[learned_on].reshape(-1, pixels.shape[1]), y[learned_on])
    labels["pixels: LearnedPartition()"] = model.predict(pixels)
    row["seconds"]["pixels"] = time.perf_counter() - start
    labels["pixels: average linkage"] = AgglomerativeClustering(k, linkage="average").fit_predict(pixels)
    labels["pixels: k-means"] = KMeans(k, n_init=10, random_state=seed).fit_predict(pixels)
    row |= {name: gp.metrics.adjusted_rand_index(truth, found) for name, found in labels.items()}
    return row | {"subsets": row["result"].n_clusters}


def classifiers(images, y):
    """Accuracies on held-out digits of models of binarised pixels, by their unary costs."""
    X = (images.reshape(len(images), -1) > 0.5).astype(float)
    X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=0, stratify=y)
    bayes, tried = tuned_naive_bayes(X, y)
    models = {
        "naive Bayes, hardly smoothed (k = 1e-9)": tuned_naive_bayes(X, y, [1e-9])[0],
        f"naive Bayes, k = {bayes.alpha:g} tuned among {len(tried)}": bayes,
        "logistic regression": LogisticRegression(C=0.1, max_iter=1000).fit(X, y),
        "logistic regression, mini-batches of 64": fit_in_batches(
            SGDClassifier(loss="log_loss", alpha=1e-3, random_state=0), X, y
        ),
    }
    return {
        name: float((model.classes_[unary_costs(model, X_test).argmin(axis=1)] == y_test).mean())
        for name, model in models.items()
    }


def draw(row, path):
    """Some images of each of the largest subsets, one line for each."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    subsets = sorted((sorted(subset) for subset in row["result"].partition), key=len, reverse=True)[:10]
    figure, axes = pyplot.subplots(len(subsets), 1, figsize=(8, 0.55 * len(subsets)), squeeze=False)
    for axis, subset in zip(axes[:, 0], subsets, strict=True):
        line = np.zeros((8, 8 * 18))
        for k, element in enumerate(subset[:18]):
            line[:, 8 * k : 8 * k + 8] = row["images"][element]
        axis.imshow(line, cmap="gray_r", aspect="equal")
        axis.set_ylabel(len(subset), rotation=0, ha="right", va="center")
        axis.set_xticks([])
        axis.set_yticks([])
    figure.savefig(path, dpi=110, bbox_inches="tight")
    pyplot.close(figure)


def study(quick=False, figure=None):
    """The rows of the table of partitions, and the accuracies of the classifiers."""
    digits = load_digits()
    images, y = digits.images / 16.0, digits.target
    part = slice(0, 400) if quick else slice(None)
    rows = [learn_and_partition(images[part], y[part], known) for known in (SPLITS[:1] if quick else SPLITS)]
    if figure is not None:
        draw(rows[0], figure)
    step = 2 if quick else 1
    return rows, classifiers(images[::step], y[::step])


def _table(rows, columns, timed):
    """One line for each split, and their mean."""
    heads = [*(f"{name}: threshold" for name in timed if name != "pixels"), *(f"{name}: seconds" for name in timed)]
    print("| learned on | images | subsets |", " | ".join([*columns, *heads]), "|")
    print("|---" * (len(columns) + len(heads) + 3) + "|")
    for known, row in zip(SPLITS, rows, strict=False):
        values = [f"{row[name]:.3f}" for name in columns]
        values += [f"{row['thresholds'][name]:.2f}" for name in timed if name != "pixels"]
        values += [f"{row['seconds'][name]:.1f}" for name in timed]
        print(f"| {' '.join(map(str, known))} | {row['n']} | {row['subsets']} |", " | ".join(values), "|")
    means = [f"{np.mean([row[name] for row in rows]):.3f}" for name in columns] + [""] * len(heads)
    print("| mean | | |", " | ".join(means), "|\n")


def main(argv=None):
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="400 images and one split")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(argv)
    rows, accuracies = study(args.quick, args.figure)
    _table(rows, ["max margin: partition", "max margin: average linkage", "logistic: partition",
                  "logistic: average linkage", "max margin: components"], ["max margin", "logistic"])  # fmt: skip
    _table(rows, ["max margin: partition at 0", "max margin: average linkage at 0", "logistic: partition at 0",
                  "logistic: average linkage at 0"], [])  # fmt: skip
    _table(rows, ["pixels: LearnedPartition()", "pixels: average linkage", "pixels: k-means"], ["pixels"])
    print("\n| model of binarised pixels | accuracy |\n|---|---|")
    for name, accuracy in accuracies.items():
        print(f"| {name} | {accuracy:.3f} |")


if __name__ == "__main__":
    main()
