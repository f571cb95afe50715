"""Digits: learn on some classes what "the same digit" means, then partition images of digits never seen.

Images are the 8x8 digits bundled with scikit-learn. A pair of images has three attributes: the cosine of their smoothed
gradients, their best cosine over shifts by a pixel, and the share of nearest neighbours they have in common. Logistic
regression on pairs of known classes gives the costs; nobody says how many unknown classes there are. A threshold to
subtract from the costs can be tuned on the known classes, with costs of each pair learned without its classes.

    python examples/digits.py [--quick] [--figure digits.png]
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from scipy.ndimage import gaussian_filter, shift, sobel
from scipy.sparse.csgraph import connected_components
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.model_selection import train_test_split

import graphpart as gp
from graphpart.learn.unary import fit_in_batches, tuned_naive_bayes, unary_costs

SPLITS = [(0, 1, 2, 3, 4), (0, 2, 4, 6, 8), (1, 3, 5, 7, 9), (5, 6, 7, 8, 9), (0, 1, 4, 5, 8)]
THRESHOLDS = (-24.0, -20.0, -16.0, -12.0, -8.0, -4.0, -2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0)


def similarities(images):
    """Three n x n matrices of attributes of pairs."""

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

    near = gradient + shifted
    np.fill_diagonal(near, np.inf)
    member = np.zeros_like(near)
    np.put_along_axis(member, np.argpartition(-near, 10, axis=1)[:, :11], 1.0, axis=1)
    return np.stack([gradient, shifted, member @ member.T / 11])


def learn(X, same):
    """Logistic regression on pairs."""
    return gp.learn.LogisticRegression(sigma=10.0, intercept=True).fit(X, same)


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


METHODS = {"partition": partition, "components": components, "average linkage": average_linkage}


def costs_out_of_sample(X, pairs, same, y):
    """The matrix of the costs of all pairs, each by a model learned without the classes of the pair."""
    C = np.zeros((len(y), len(y)))
    u, v = y[pairs].T
    for i, j in itertools.combinations_with_replacement(np.unique(y).tolist(), 2):
        at = ((u == i) & (v == j)) | ((u == j) & (v == i))
        others = ~np.isin(u, (i, j)) & ~np.isin(v, (i, j))
        C[tuple(pairs[at].T)] = learn(X[others], same[others]).costs(X[at])
    return C + C.T


def tuned(method, known, y, C):
    """The labels by a method with the threshold that suits known classes best, and this threshold."""
    scores = {t: gp.metrics.adjusted_rand_index(y, method(known - t)) for t in THRESHOLDS}
    best = max(THRESHOLDS, key=lambda t: (scores[t], -abs(t)))
    return method(C - best), best


def learn_and_partition(images, y, known, seed=0):
    """Adjusted Rand indices by method on the classes that are not known, and what else the table shows."""
    learned_on = np.isin(y, known)
    start = time.perf_counter()
    S = similarities(images[learned_on])
    pairs, same = gp.learn.pairs.training_pairs(y[learned_on])
    X = S[:, pairs[:, 0], pairs[:, 1]].T
    model = learn(X, same)
    new, truth = images[~learned_on], y[~learned_on]
    C = -np.tensordot(model.theta_[:-1], similarities(new), 1) - model.theta_[-1]
    result = gp.partition.kernighan_lin(gp.SetPartition.from_matrix(C))
    seconds = time.perf_counter() - start

    tuning = costs_out_of_sample(X, pairs, same, y[learned_on])
    pixels, k = new.reshape(len(new), -1), len(np.unique(truth))
    labels = {"partition": result.labels}
    thresholds = {}
    for name, method in METHODS.items():
        labels.setdefault(name, method(C))
        labels[f"{name}, tuned"], thresholds[name] = tuned(method, tuning, y[learned_on], C)
    labels["pixels: average linkage"] = AgglomerativeClustering(k, linkage="average").fit_predict(pixels)
    labels["pixels: k-means"] = KMeans(k, n_init=10, random_state=seed).fit_predict(pixels)
    row = {name: gp.metrics.adjusted_rand_index(truth, found) for name, found in labels.items()}
    row |= {"n": len(new), "subsets": result.subsets, "seconds": seconds, "thresholds": thresholds}
    return row | {"result": result, "images": new}


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


def main(argv=None):
    """Print the tables in Markdown."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="400 images and one split")
    parser.add_argument("--figure", metavar="PNG")
    args = parser.parse_args(argv)
    rows, accuracies = study(args.quick, args.figure)
    columns = [*METHODS, "pixels: average linkage", "pixels: k-means"]
    print("| learned on | images | subsets |", " | ".join(columns), "| seconds |")
    print("|---" * (len(columns) + 4) + "|")
    for known, row in zip(SPLITS, rows, strict=False):
        values = " | ".join(f"{row[name]:.3f}" for name in columns)
        print(f"| {' '.join(map(str, known))} | {row['n']} | {row['subsets']} | {values} | {row['seconds']:.1f} |")
    print("\n| learned on |", " | ".join(f"{name}, tuned (threshold)" for name in METHODS), "|")
    print("|---" * (len(METHODS) + 1) + "|")
    for known, row in zip(SPLITS, rows, strict=False):
        values = " | ".join(f"{row[f'{name}, tuned']:.3f} ({row['thresholds'][name]:g})" for name in METHODS)
        print(f"| {' '.join(map(str, known))} | {values} |")
    print("\n| model of binarised pixels | accuracy |\n|---|---|")
    for name, accuracy in accuracies.items():
        print(f"| {name} | {accuracy:.3f} |")


if __name__ == "__main__":
    main()
