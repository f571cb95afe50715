"""Unary costs from models of scikit-learn: an array (n, labels) from a fitted model and n observations.

==============================================  ====================================================
fitted model                                    cost of label k for an observation x
==============================================  ====================================================
naive Bayes (`predict_joint_log_proba`)         ``-log P(y = k) - sum_i log P(x_i | y = k)``
other classifiers with probabilities            ``-log P(y = k | x)``
Gaussian mixtures                               ``-log pi_k f_k(x)``
k-means                                         ``||x - mu_k||^2``
one-class SVM and other outlier detectors       0 or the distance from the boundary, see `outlier_costs`
==============================================  ====================================================

Logarithms are natural. No cost is infinite: a probability that underflows costs as much as the smallest normal number,
because an infinite cost would forbid the label.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import InvalidOption, InvalidProblem, MissingDependency

__all__ = ["fit_in_batches", "outlier_costs", "tuned_naive_bayes", "unary_costs"]


def __dir__() -> list[str]:
    return sorted(__all__)


Array = NDArray[np.float64]


def unary_costs(model: Any, X: ArrayLike) -> Array:
    """Costs of labels by a fitted model.

    Parameters
    ----------
    model : fitted estimator of scikit-learn
        See the table above; in a pipeline, its last step counts.
    X : array_like, shape (n, V)
        Observations.

    Returns
    -------
    ndarray of float64, shape (n, labels)
        Columns in the order of the model's classes, components or centers; for outlier detectors (inlier, outlier).

    Raises
    ------
    InvalidOption
        If the model is of another kind.

    Examples
    --------
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> model = BernoulliNB(alpha=1.0).fit([[0], [0], [1]], ["a", "a", "b"])
    >>> unary_costs(model, [[1]]).round(3)  # -log(2/3 * 1/4), -log(1/3 * 2/3)
    array([[1.792, 1.504]])
    """
    if hasattr(model, "precisions_cholesky_") or _last(model, "precisions_cholesky_"):
        return _capped(_mixture(model, X))
    if hasattr(model, "predict_joint_log_proba"):
        return _capped(-np.asarray(model.predict_joint_log_proba(X), np.float64))
    if hasattr(model, "predict_proba"):
        with np.errstate(divide="ignore"):
            return _capped(-np.log(np.asarray(model.predict_proba(X), np.float64)))
    if hasattr(model, "cluster_centers_") or _last(model, "cluster_centers_"):
        return np.square(np.asarray(model.transform(X), np.float64))
    if getattr(model, "_estimator_type", None) == "outlier_detector" or hasattr(model, "offset_"):
        return outlier_costs(model, X)
    raise InvalidOption(f"no unary costs are known for {type(model).__name__}: expected a model of those documented")


def outlier_costs(model: Any, X: ArrayLike, threshold: float | None = None, scale: float = 1.0) -> Array:
    """Costs of the labels 0 (inlier) and 1 (outlier).

    With s the model's score of an observation, large for inliers, an inlier costs ``max(0, threshold - s) / scale`` and
    an outlier ``max(0, s - threshold) / scale``.

    Parameters
    ----------
    model : fitted estimator of scikit-learn
        A density (`score_samples`: Gaussian mixtures, kernel density), whose threshold must be given, or an outlier
        detector (`decision_function`: one-class SVM, isolation forest), whose threshold is 0.
    X : array_like, shape (n, V)
    threshold, scale : float

    Examples
    --------
    >>> from sklearn.svm import OneClassSVM
    >>> model = OneClassSVM(gamma=0.5, nu=0.2).fit([[0.0], [0.1], [0.2], [0.3]])
    >>> costs = outlier_costs(model, [[0.15], [9.0]])
    >>> (costs[:, 0] < costs[:, 1]).tolist()
    [True, False]
    """
    if not scale > 0:
        raise InvalidOption(f"scale is {scale}: expected a number > 0")
    if threshold is None:
        if not hasattr(model, "decision_function"):
            raise InvalidOption(f"{type(model).__name__} is a density: expected a threshold for its logarithm")
        s = np.asarray(model.decision_function(X), np.float64).ravel()
    else:
        score = model.score_samples if hasattr(model, "score_samples") else model.decision_function
        s = np.asarray(score(X), np.float64).ravel() - threshold
    return _capped(np.stack([np.maximum(0.0, -s), np.maximum(0.0, s)], axis=1) / scale)


def tuned_naive_bayes(
    X: ArrayLike,
    y: ArrayLike,
    strengths: Sequence[float] = (0.001, 0.01, 0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0),
    *,
    held_out: float = 0.25,
    seed: int | None = 0,
) -> tuple[Any, dict[float, float]]:
    """Naive Bayes of binary attributes with Laplace smoothing, its strength tuned on held-out data.

    Parameters
    ----------
    X : array_like, shape (n, V)
        Attributes; positive ones count as 1.
    y : array_like, shape (n,)
        Classes.
    strengths : sequence of float
        The numbers of additional pretended observations of each outcome (Laplace smoothing) to try.
    held_out : float
        The share of observations, drawn with equal shares of classes, on which the accuracy is measured.
    seed : int, optional

    Returns
    -------
    model : sklearn.naive_bayes.BernoulliNB
        Fitted to all observations with the best strength; of equally good ones, the smallest.
    accuracies : dict
        The accuracy on held-out data for each strength.
    """
    try:
        from sklearn.model_selection import train_test_split
        from sklearn.naive_bayes import BernoulliNB
    except ImportError:
        raise MissingDependency("scikit-learn", "learn", "naive Bayes") from None
    if not strengths:
        raise InvalidOption("no strengths are given: expected at least one")
    train, test, y_train, y_test = train_test_split(
        np.asarray(X), np.asarray(y), test_size=held_out, random_state=seed, stratify=y
    )
    accuracies = {
        float(k): float(BernoulliNB(alpha=k).fit(train, y_train).score(test, y_test)) for k in sorted(strengths)
    }
    best = max(accuracies, key=lambda k: accuracies[k])
    return BernoulliNB(alpha=best).fit(X, y), accuracies


def fit_in_batches(model: Any, X: ArrayLike, y: ArrayLike, *, size: int = 64, epochs: int = 20, seed: int = 0) -> Any:
    """Fit a model with `partial_fit`, such as ``SGDClassifier(loss="log_loss")``, to mini-batches in random order.

    Parameters
    ----------
    model : estimator of scikit-learn
    X, y : array_like, shapes (n, V) and (n,)
    size : int
        Observations in a batch.
    epochs : int
        Passes over the observations, each in another order.
    seed : int

    Returns
    -------
    The model.
    """
    X, y = np.asarray(X), np.asarray(y)
    if size < 1 or epochs < 1:
        raise InvalidOption(f"size is {size}, epochs is {epochs}: expected at least 1")
    rng, classes = np.random.default_rng(seed), np.unique(y)
    for _ in range(epochs):
        order = rng.permutation(len(X))
        for first in range(0, len(X), size):
            batch = order[first : first + size]
            model.partial_fit(X[batch], y[batch], classes=classes)
    return model


def _mixture(model: Any, X: ArrayLike) -> Array:
    """-log pi_k f_k(x), from the means and the Cholesky factors of the precisions."""
    if not hasattr(model, "precisions_cholesky_"):  # a pipeline
        X, model = model[:-1].transform(X), model[-1]
    x = np.asarray(X, np.float64)
    means, factors, kind = model.means_, model.precisions_cholesky_, model.covariance_type
    if x.ndim != 2 or x.shape[1] != means.shape[1]:
        raise InvalidProblem(f"X has shape {x.shape}: expected (observations, {means.shape[1]})")
    V = means.shape[1]
    costs = np.empty((len(x), len(means)))
    for k, mean in enumerate(means):
        if kind in ("full", "tied"):
            factor = factors if kind == "tied" else factors[k]
            z, log_root = (x - mean) @ factor, float(np.log(np.diagonal(factor)).sum())
        elif kind == "diag":
            z, log_root = (x - mean) * factors[k], float(np.log(factors[k]).sum())
        else:
            z, log_root = (x - mean) * factors[k], V * float(np.log(factors[k]))
        costs[:, k] = 0.5 * (np.einsum("nv,nv->n", z, z) + V * np.log(2 * np.pi)) - log_root
    with np.errstate(divide="ignore"):
        costs -= np.log(model.weights_)
    return costs


def _last(model: Any, attribute: str) -> bool:
    """Whether the last step of a pipeline has an attribute."""
    steps: Any = getattr(model, "steps", None)
    return bool(steps) and hasattr(steps[-1][1], attribute)


def _capped(costs: Array) -> Array:
    return np.minimum(costs, -float(np.log(np.finfo(np.float64).tiny)), out=costs)
