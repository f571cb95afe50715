"""`ChainCRF`: labels of the elements of sequences, each depending on its neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from graphpart.errors import InvalidProblem
from graphpart.estimators.random_field import Array, RandomFieldEstimator
from graphpart.estimators.vocabulary import Vocabulary, by_name
from graphpart.learn.random_fields import ConditionalRandomField, Packed, RankedLabels, Structure, chain, chains


class ChainCRF(RandomFieldEstimator):
    """A linear-chain conditional random field (Lafferty, McCallum & Pereira 2001).

    A sequence is a list of elements, and an element is a dictionary of attributes, a text such as a word, several
    texts, or a row of numbers; or else it is an array or a sparse matrix with a row for each element. In a
    dictionary, ``"suffix": "ing"`` is the attribute ``suffix=ing`` of value 1, and ``"length": 7`` an attribute of
    value 7. Labels are texts, numbers, or anything that can be sorted.

    Parameters
    ----------
    sigma : float
        Standard deviation of the Gaussian prior of each parameter. The term of the objective is
        ``||theta||^2 / (2 sigma^2)``: `c2` of sklearn-crfsuite is ``1 / (2 sigma^2)``.
    pairwise : {"table", "symmetric", "potts"} or array_like of int
        The parameters of neighbouring labels, see :class:`graphpart.learn.ConditionalRandomField`.
    forbidden : "BIO" or list of pairs of labels, optional
        Which labels (first of a pair) may not be followed by which labels (second of the pair). None stands for the
        begin and the end of a sequence: ``(None, "I-PER")`` means that no sequence begins with ``I-PER``. "BIO" forbids
        ``I-X`` at the begin, and after all labels but ``B-X`` and ``I-X``. Training, predictions, marginals and the k
        best labelings have none of these. Training by the likelihood takes several times as long.
    training : {"likelihood", "pseudolikelihood", "max-margin"}
    intercept : bool
        Whether each label has a score of its own. sklearn-crfsuite has none.
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
    feature_names_ : list
        The attribute of each column of `coef_`, if sequences are given by attributes with names.
    intercept_ : ndarray, shape (labels,)
    transitions_ : ndarray, shape (labels, labels)
        The score of each label (row) followed by each label (column), -inf where that is forbidden.
    model_ : graphpart.learn.ConditionalRandomField
        With `objective_`, `history_`, `status_`, `save`, and more.
    n_features_in_, n_iter_ : int

    Notes
    -----
    The probability of labels is the exponential of a score, divided by Z. The score is the sum over elements of
    `intercept_` and of `coef_` times the attributes, and over neighbours of `transitions_`. Every label has a
    coefficient for every attribute, as with ``all_possible_states=True, all_possible_transitions=True`` in
    sklearn-crfsuite.

    Examples
    --------
    >>> X = [["the", "dog", "barks"], ["a", "cat", "sleeps"], ["the", "cat", "barks"]]
    >>> y = [["article", "noun", "verb"]] * 3
    >>> crf = ChainCRF(sigma=3.0).fit(X, y)
    >>> crf.predict([["a", "dog", "sleeps"]])[0].tolist()
    ['article', 'noun', 'verb']
    >>> labels, scores, probabilities = crf.predict_k_best([["a", "dog"]], 2)[0]
    >>> labels.tolist()
    [['article', 'noun'], ['noun', 'verb']]

    >>> crf = ChainCRF(forbidden="BIO").fit([["Ann", "Lee", "sings"]], [["B-PER", "I-PER", "O"]])
    >>> crf.predict([["Lee", "Lee"]])[0].tolist()  # never begins with I-PER
    ['B-PER', 'I-PER']

    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> y = [np.repeat(rng.permutation(["sun", "rain"]), 5) for _ in range(40)]
    >>> X = [(labels == "sun")[:, None] + rng.normal(scale=0.4, size=(10, 1)) for labels in y]
    >>> crf = ChainCRF().fit(X[:20], y[:20])
    >>> crf.score(X[20:], y[20:]) > 0.9, crf.predict_marginals(X[:1])[0].shape
    (True, (10, 2))
    """

    _noun, _each = "sequence", "a list of words or of dictionaries, or an array"
    _vocabulary: Vocabulary | None

    def __init__(
        self,
        sigma: float = 1.0,
        *,
        pairwise: Any = "table",
        forbidden: Any = None,
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
        self.forbidden = forbidden
        self.training = training
        self.intercept = intercept
        self.tol = tol
        self.max_iterations = max_iterations
        self.time_limit = time_limit
        self.random_state = random_state
        self.progress = progress

    def _model(self, seed: int | None, **options: Any) -> ConditionalRandomField:
        model = super()._model(seed, **options)
        model._forbidden = self.forbidden
        return model

    def _structure(self, sample: Any) -> Structure:
        return chain(sample)

    def _structures(self, samples: list[Any], learn: bool = False) -> list[Structure] | Packed:
        named = any(map(by_name, samples))
        vocabulary = (Vocabulary() if named else None) if learn else self._vocabulary
        if vocabulary is not None:
            found = chains(*vocabulary.rows(samples, self._noun, learn))
            self._vocabulary = vocabulary
            return found
        if named:
            raise InvalidProblem(
                f"X has attributes with names, but fit was given arrays: expected {self.n_features_in_} numbers for "
                "each element"
            )
        structures = super()._structures(samples)
        self._vocabulary = None
        return structures

    @property
    def feature_names_(self) -> list[Any]:
        """The attribute of each column of `coef_`, if sequences are given by attributes with names."""
        check_is_fitted(self)
        if self._vocabulary is None:
            raise AttributeError("fit was given arrays, whose columns have no names")
        return list(self._vocabulary.column)

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
        X : list of sequences
            In the form that `fit` was given. Attributes that did not occur there are ignored.

        Returns
        -------
        list of ndarray, shape (length,)
        """
        return self._predict(X)

    def predict_k_best(self, X: Any, k: int = 10) -> list[RankedLabels]:
        """The k most probable labelings of each sequence, the best one first.

        Parameters
        ----------
        X : list of sequences
        k : int
            A sequence has fewer labelings if it is short.

        Returns
        -------
        list of RankedLabels
            For each sequence a tuple of three arrays: `labels`, shape (k, length); `scores`, shape (k,); and their
            `probabilities` given the sequence, shape (k,), which are ``exp(score) / Z``.

        See Also
        --------
        graphpart.crf.m_best : the same for any factor graph of small width

        Notes
        -----
        Exact. O(length labels^2 + k length labels) for each sequence.
        """
        return self._predict_k_best(X, k)

    def predict_marginals(self, X: Any) -> list[Array]:
        """The exact probability of each label of each element.

        Parameters
        ----------
        X : list of sequences

        Returns
        -------
        list of ndarray, shape (length, labels)
            Columns in the order of `classes_`; rows sum to 1.
        """
        return self._predict_marginals(X)
