"""`ChainCRF`: labels of the elements of sequences, each depending on its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphpart.estimators.random_field import Array, RandomFieldEstimator
from graphpart.learn.random_fields import Structure, chain


class ChainCRF(RandomFieldEstimator):
    """A linear-chain conditional random field (Lafferty, McCallum & Pereira 2001).

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussian prior of each parameter. The term of the objective is
        ``||theta||^2 / (2 sigma^2)``: `c2` of sklearn-crfsuite is ``1 / (2 sigma^2)``.
    pairwise : {"table", "symmetric", "potts"} or array_like of int
        The parameters of neighbouring labels, see :class:`graphpart.learn.ConditionalRandomField`.
    training : {"likelihood", "pseudolikelihood", "max-margin"}
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
    coef_ : ndarray, shape (labels, features)
    intercept_ : ndarray, shape (labels,)
    transitions_ : ndarray, shape (labels, labels)
        The score of each label (row) followed by each label (column).
    model_ : graphpart.learn.ConditionalRandomField
        With `objective_`, `history_`, `status_`, `save`, and more.
    n_features_in_, n_iter_ : int

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat(rng.permutation(["sun", "rain"]), 5) for _ in range(40)]
    >>> X = [(labels == "sun")[:, None] + rng.normal(scale=0.4, size=(10, 1)) for labels in y]
    >>> crf = ChainCRF().fit(X[:20], y[:20])
    >>> crf.score(X[20:], y[20:]) > 0.9, crf.predict_marginals(X[:1])[0].shape
    (True, (10, 2))
    """

    _noun = "sequence"

    def __init__(
        self,
        sigma: float = 1.0,
        *,
        pairwise: Any = "table",
        training: str = "likelihood",
        intercept: bool = True,
        tol: float | None = None,
        max_iterations: int | None = None,
        time_limit: float | None = None,
        random_state: Any = None,
        progress: bool = False,
    ) -> None:
        self.sigma = sigma
        self.pairwise = pairwise
        self.training = training
        self.intercept = intercept
        self.tol = tol
        self.max_iterations = max_iterations
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def _structure(self, sample: Any) -> Structure:
        return chain(sample)

    @property
    def coef_(self) -> Array:
        """Scores of labels by attribute, shape (labels, features)."""
        return self.model_.unary_[: self.n_features_in_].T

    @property
    def intercept_(self) -> Array:
        """Scores of labels, shape (labels,)."""
        return self.model_.unary_[-1] if self.model_.intercept else np.zeros(len(self.classes_))

    @property
    def transitions_(self) -> Array:
        """Scores of labels (rows) followed by labels (columns)."""
        table: Array = self.model_.pairwise_[0]
        return table

    def predict(self, X: Any) -> list[NDArray[Any]]:
        """The most probable labels of each sequence.

        Parameters
        ----------
        X : list of array_like, shape (length, features)

        Returns
        -------
        list of ndarray, shape (length,)
        """
        return self._predict(X)

    def predict_marginals(self, X: Any) -> list[Array]:
        """The exact probability of each label of each element.

        Parameters
        ----------
        X : list of array_like, shape (length, features)

        Returns
        -------
        list of ndarray, shape (length, labels)
            Columns in the order of `classes_`; rows sum to 1.
        """
        return self._predict_marginals(X)
