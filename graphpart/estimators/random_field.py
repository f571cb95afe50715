"""The base of `ChainCRF` and `GridCRF`: a conditional random field with the interface of scikit-learn."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from graphpart.errors import ATTRIBUTES, InvalidProblem, NoAttribute
from graphpart.estimators.solving import seed
from graphpart.learn.random_fields import ConditionalRandomField, Packed, RankedLabels, Structure

Array = NDArray[np.float64]


class RandomFieldEstimator(BaseEstimator):  # type: ignore[misc]
    """An estimator that makes structures of samples, learns a model, and returns labels in the shape of the samples."""

    _noun, _each = "sample", "an array"
    model_: ConditionalRandomField

    @abstractmethod
    def __init__(self) -> None: ...

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in ATTRIBUTES:
                raise NoAttribute(type(self).__name__, name, type(self))
            return object.__getattribute__(self, name)  # which raises the error once more, with its own message

    @abstractmethod
    def _structure(self, sample: Any) -> Structure:
        """The structure of one sample."""

    def _model(self, seed: int | None, **options: Any) -> ConditionalRandomField:
        """A model with the parameters of this estimator."""
        return ConditionalRandomField(
            self.pairwise,
            training=self.training,
            sigma=self.sigma,
            intercept=self.intercept,
            tol=self.tol,
            max_iterations=self.max_iterations,
            seed=seed,
            **options,
        )

    def _samples(self, X: Any) -> list[Any]:
        if isinstance(X, str | bytes | dict) or hasattr(X, "tocsr") or not isinstance(X, Iterable):
            raise InvalidProblem(f"X is {type(X).__name__}: expected a list of {self._noun}s, each {self._each}")
        return list(X)

    def _structures(self, samples: list[Any], learn: bool = False) -> list[Structure] | Packed:
        """The structures of samples; with `learn`, also the attributes are taken from them."""
        out = []
        for k, sample in enumerate(samples):
            try:
                out.append(self._structure(sample))
            except InvalidProblem as error:
                flat = getattr(sample, "ndim", 0) == 1 or (isinstance(sample, list) and np.isscalar(sample[0]))
                single = f"; a single {self._noun} is given as [{self._noun}]" if flat else ""
                raise InvalidProblem(f"{self._noun} {k}: {error}{single}") from None
        return out

    def _labels(self, y: Any, X: Sequence[Any]) -> list[Any]:
        """Labels of each sample as vectors; those of pictures have two axes."""
        if y is None or isinstance(y, str | bytes | dict) or not isinstance(y, Iterable):
            raise InvalidProblem(f"y is {type(y).__name__}: expected a list of labels, an array for each {self._noun}")
        return list(y)

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from samples whose labels are known.

        Parameters
        ----------
        X : list of array_like
        y : list of array_like
            A label for each element of each sample: integers, texts, anything that can be sorted.
        """
        samples = self._samples(X)
        if not samples:
            raise InvalidProblem(f"X is empty: expected at least one {self._noun}")
        structures = self._structures(samples, learn=True)
        model = self._model(seed(self.random_state))
        model._noun = self._noun
        model.fit(structures, self._labels(y, samples), time_limit=self.time_limit, progress=self.progress)
        self.model_, self.classes_, self.n_iter_ = model, model.classes_, model.n_iter_
        self.n_features_in_ = model._template.columns
        return self

    def _predict(self, X: Any) -> list[NDArray[Any]]:
        check_is_fitted(self)
        return self.model_.predict(self._structures(self._samples(X)), time_limit=self.time_limit)

    def _predict_k_best(self, X: Any, k: int) -> list[RankedLabels]:
        check_is_fitted(self)
        return self.model_.predict_k_best(self._structures(self._samples(X)), k)

    def _predict_marginals(self, X: Any) -> list[Array]:
        check_is_fitted(self)
        return self.model_.predict_marginals(self._structures(self._samples(X)))

    def score(self, X: Any, y: Any) -> float:
        """The share of labels, of all samples together, that :meth:`predict` finds correctly."""
        check_is_fitted(self)
        samples = self._samples(X)
        share: float = self.model_.score(self._structures(samples), self._labels(y, samples))
        return share

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.two_d_array = False
        return tags
