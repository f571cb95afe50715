"""`GridCRF`: labels of the pixels of pictures, each depending on its four neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.errors import InvalidOption, InvalidProblem
from graphpart.estimators.random_field import Array, RandomFieldEstimator
from graphpart.learn.random_fields import ConditionalRandomField, Structure, grid


class GridCRF(RandomFieldEstimator):
    """A conditional random field on the grid of pixels of each picture.

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussian prior of each parameter.
    pairwise : {"potts", "symmetric", "table"} or array_like of int
        The parameters of the labels of neighbours, see :class:`graphpart.learn.ConditionalRandomField`.
    pair_features : {"constant", "directions", "differences"} or callable
        Attributes of pairs of neighbours; each attribute has its own parameters. "constant": only the constant 1.
        "directions": whether the pair is horizontal or vertical. "differences": the constant 1 and the absolute
        differences of all attributes of the two pixels. A callable ``pair_features(picture)`` returns a row for each
        pair of neighbours: first horizontal pairs, row by row, then vertical ones.
    training : {"pseudolikelihood", "max-margin", "likelihood"}
        Pseudolikelihood is fast, but gives neighbours too much weight if the labels are smooth and the attributes
        contain little information. Max margin is slower. The exact likelihood is for pictures of a few rows or columns.
    solver : str
        The solver that finds labels, see :class:`graphpart.learn.ConditionalRandomField`.
    intercept : bool
        Whether each label has a score of its own.
    tol, max_iterations : optional
        See :class:`graphpart.learn.ConditionalRandomField`.
    time_limit : float, optional
        Seconds for learning, after which the parameters of the last complete iteration are kept. The same limit holds
        for each prediction.
    random_state : int, RandomState or None
        For max margin.
    progress : bool
        Show progress on a terminal or in a notebook.

    Attributes
    ----------
    classes_ : ndarray
        Labels, sorted.
    model_ : graphpart.learn.ConditionalRandomField
        With the parameters `unary_` and `pairwise_`, `objective_`, `history_`, `status_`, `save`, and more.
    n_features_in_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat([[0] * 6 + [1] * 6], 12, axis=0), np.repeat([[1]] * 6 + [[0]] * 6, 12, axis=1)]
    >>> X = [labels + rng.normal(scale=0.3, size=labels.shape) for labels in y]
    >>> crf = GridCRF(pair_features="directions").fit(X[:1], y[:1])
    >>> crf.predict(X[1:])[0].shape, crf.score(X[1:], y[1:]) > 0.9
    ((12, 12), True)
    """

    _noun, _each = "picture", "an array"

    def __init__(
        self,
        sigma: float = 1.0,
        *,
        pairwise: Any = "potts",
        pair_features: Any = "constant",
        training: str = "pseudolikelihood",
        solver: str = "auto",
        intercept: bool = True,
        tol: float | None = None,
        max_iterations: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.sigma = sigma
        self.pairwise = pairwise
        self.pair_features = pair_features
        self.training = training
        self.solver = solver
        self.intercept = intercept
        self.tol = tol
        self.max_iterations = max_iterations
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def _structure(self, sample: Any) -> Structure:
        if np.ndim(sample) == 1:
            raise InvalidProblem(
                f"it has shape {np.shape(sample)}: expected (height, width); one picture is given as [X]"
            )
        kind = self.pair_features
        if callable(kind):
            return grid(sample, kind(sample))
        if not isinstance(kind, str) or kind not in ("constant", "directions", "differences"):
            raise InvalidOption(
                f"pair_features is {kind!r}: expected constant, directions, differences or a function of a picture"
            )
        if kind != "differences":
            return grid(sample, "directions" if kind == "directions" else None)
        plain = grid(sample)
        apart = np.abs(plain.features[plain.pairs[:, 0]] - plain.features[plain.pairs[:, 1]])
        return Structure(plain.features, plain.pairs, np.concatenate([np.ones((len(apart), 1)), apart], axis=1))

    def _model(self, seed: int | None, **options: Any) -> ConditionalRandomField:
        return super()._model(seed, solver=self.solver, **options)

    def _labels(self, y: Any, X: Sequence[Any]) -> list[Any]:
        given = super()._labels(y, X)
        if len(given) != len(X):
            raise InvalidProblem(f"{len(given)} arrays of labels for {len(X)} pictures: expected one for each")
        for k, (labels, sample) in enumerate(zip(given, X, strict=True)):
            if np.shape(labels) != np.shape(sample)[:2]:
                raise InvalidProblem(
                    f"picture {k}: labels have shape {np.shape(labels)}: expected {np.shape(sample)[:2]}, one for each "
                    "pixel"
                )
        return [np.asarray(labels).ravel() for labels in given]

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The most probable labels of each picture, as `solver` finds them.

        Parameters
        ----------
        X : list of array_like, shape (height, width, features) or (height, width)

        Returns
        -------
        list of ndarray, shape (height, width)
        """
        samples = list(X)
        predicted = self._predict(samples)
        return [labels.reshape(np.shape(x)[:2]) for labels, x in zip(predicted, samples, strict=True)]

    def predict_marginals(self, X: Any) -> list[Array]:
        """The probability of each label of each pixel: exact if memory allows, else by loopy sum-product.

        Parameters
        ----------
        X : list of array_like, shape (height, width, features) or (height, width)

        Returns
        -------
        list of ndarray, shape (height, width, labels)
            To know how the probabilities were computed and whether they are exact, call
            ``model_.marginals(graphpart.learn.grid(picture))``. A warning is issued if loopy messages have not
            converged.
        """
        samples = list(X)
        found = self._predict_marginals(samples)
        return [p.reshape(*np.shape(x)[:2], -1) for p, x in zip(found, samples, strict=True)]
