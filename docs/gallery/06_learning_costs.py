"""
Learning costs: digits of kinds never seen
==========================================

From images of five digits, we learn when two images show the same digit. Then
we partition images of the *other* five digits. Neither their number nor their
looks are given.
"""

# %%
# Images of 8 x 8 pixels, bundled with scikit-learn.

import numpy as np
from scipy.ndimage import gaussian_filter, shift, sobel
from sklearn.datasets import load_digits

images, digit = load_digits(return_X_y=True)
images, digit = images[:900].reshape(-1, 8, 8) / 16, digit[:900]
known = np.isin(digit, (1, 3, 5, 7, 9))

# %%
# Attributes of pairs
# -------------------
# For each pair of images: the cosine of their smoothed gradients, their best
# cosine over shifts by a pixel, and the share of nearest neighbours that they
# have in common.


def unit(features):
    rows = features.reshape(len(features), -1)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def smooth(stack, sigma):
    return np.array([gaussian_filter(image, sigma) for image in stack])


def similarities(images):
    down, right = (
        np.array([sobel(image, axis) for image in images]) for axis in (0, 1)
    )
    angles = np.arange(8) * np.pi / 4
    edges = unit(
        np.stack(
            [
                smooth(
                    np.maximum(0, np.cos(a) * down + np.sin(a) * right), 0.8
                )
                for a in angles
            ],
            axis=1,
        )
    )
    gradient = edges @ edges.T
    soft = smooth(images, 0.5)
    steps = [(a, b) for a in (-1, 0, 1) for b in (-1, 0, 1)]
    shifted = np.max(
        [
            unit(soft) @ unit(shift(soft, (0, *step), order=1)).T
            for step in steps
        ],
        axis=0,
    )
    shifted = np.maximum(shifted, shifted.T)
    near = gradient + shifted
    np.fill_diagonal(near, np.inf)
    member = np.zeros_like(near)
    np.put_along_axis(
        member, np.argpartition(-near, 10, axis=1)[:, :11], 1.0, axis=1
    )
    return np.stack([gradient, shifted, member @ member.T / 11])


S = similarities(images[known])

# %%
# Learning
# --------
# Every pair of images of known digits is a sample. Logistic regression
# estimates the probability that a pair shows the same digit. The cost of a
# pair is the logarithm of the odds against it, in bits.

import graphpart as gp

pairs, same = gp.learn.pairs.training_pairs(digit[known])
model = gp.learn.LogisticRegression(sigma=10.0, intercept=True).fit(
    S[:, pairs[:, 0], pairs[:, 1]].T, same
)
print(f"{len(pairs)} pairs; weights {np.round(model.theta_, 2)}")

# %%
# The other digits
# ----------------

new = images[~known]
costs = (
    -np.tensordot(model.theta_[:-1], similarities(new), 1) - model.theta_[-1]
)
result = gp.partition.kernighan_lin(gp.SetPartition.from_matrix(costs))
score = gp.metrics.compare(digit[~known], result)
print(result.message)
print(
    f"{result.n_clusters} clusters, "
    f"adjusted Rand index {score.adjusted_rand_index:.3f}"
)

# %%
# Each row of the picture shows images of one of the largest clusters. Unusual
# images stay in small clusters of their own.

import matplotlib.pyplot as plt

largest = np.argsort(-np.bincount(result.labels), kind="stable")[:6]
figure, axes = plt.subplots(
    len(largest), 16, figsize=(9, 3.8), layout="constrained"
)
for row, label in zip(axes, largest, strict=True):
    for axis, image in zip(row, new[result.labels == label], strict=False):
        axis.imshow(image, cmap="gray_r")
    for axis in row:
        axis.set_axis_off()
plt.show()
