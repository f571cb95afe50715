"""The base of all models with linear costs of pairs: costs and decisions from parameters, and their files."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import FormatError, InvalidOption, InvalidProblem
from graphpart.files.source import opened, replacing
from graphpart.learn.objective import BLOCK, Array, float_rows
from graphpart.machine import CHUNK

__all__ = ["LinearCosts", "check_scales", "content_of", "is_number", "names_of", "rows_of_matrix", "write_json"]


class LinearCosts:
    """The cost of joining a pair with attributes x is -<theta, x>."""

    FORMAT: ClassVar[str]  # the name of its files
    theta_: Array
    attributes_: tuple[str, ...] | None
    objective_: float
    n_samples_: int
    sigma: float
    intercept: bool

    # --------------------------------------------------------------------------------------------------- inference

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """f = <theta, x> for each row of X, shape (n,). O(n V)"""
        if not hasattr(self, "theta_"):
            raise InvalidOption("the model is not fitted: call fit first")
        X, dense = rows_of_matrix(X), not hasattr(X, "tocsr")
        columns = len(self.theta_) - self.intercept
        if X.ndim != 2 or X.shape[1] != columns:
            raise InvalidProblem(f"X has shape {X.shape}: expected (pairs, {columns})")
        scores = np.empty(X.shape[0])
        step = max(1, (BLOCK if dense else CHUNK) // max(1, columns))
        for first in range(0, len(scores), step):
            part = slice(first, first + step)
            block = X[part] if dense else X[part].toarray()
            np.matmul(float_rows(block, first), self.theta_[:columns], out=scores[part])
        if self.intercept:
            scores += self.theta_[-1]
        return scores

    def costs(self, X: Any) -> NDArray[np.float64]:
        """-<theta, x>, the cost of joining each pair, shape (n,)."""
        scores = self.decision_function(X)
        return np.negative(scores, out=scores)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Independent decisions: 1 where f > 0, shape (n,)."""
        return (self.decision_function(X) > 0).astype(np.int64)

    def score(self, X: Any, y: ArrayLike) -> float:
        """The share of decisions of :meth:`predict` that agree with `y`."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    # ------------------------------------------------------------------------------------------------------- files

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a JSON file, with all digits; ``"-"`` is standard output."""
        if not hasattr(self, "theta_"):
            raise InvalidOption("the model is not fitted: call fit first")
        content = {
            "format": self.FORMAT,
            "version": 1,
            "sigma": self.sigma,
            "intercept": self.intercept,
            "attributes": self.attributes_,
            "theta": self.theta_.tolist(),
            "objective": self.objective_ if math.isfinite(self.objective_) else None,
            "samples": self.n_samples_,
            "status": str(getattr(self, "status_", "")),
        }
        write_json(path, content | self._more())

    def _more(self) -> dict[str, Any]:
        """The further fields of a file of this kind of model."""
        return {}

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Read a model that :meth:`save` wrote; ``"-"`` is standard input.

        Raises
        ------
        FormatError
            If the file is not such a model.
        """
        return cls._of(path, content_of(path, cls.FORMAT))

    @classmethod
    def _of(cls, path: Any, content: dict[str, Any]) -> Self:
        model = cls()
        model._take(path, content)
        return model

    def _take(self, path: Any, content: dict[str, Any]) -> None:
        """Take parameters and names from the content of a file that `save` wrote."""
        names = ("theta", "sigma", "intercept", "attributes", "objective", "samples")
        values: list[Any] = [content.get(name) for name in names]
        theta, sigma, intercept, attributes, objective, samples = values
        if not isinstance(theta, list) or not theta or not all(is_number(x) for x in theta):
            raise FormatError(path, None, "theta is not a list of finite numbers")
        if not is_number(sigma) or not sigma > 0:
            raise FormatError(path, None, f"sigma is {sigma!r}: expected a finite number > 0")
        if not isinstance(intercept, bool):
            raise FormatError(path, None, f"intercept is {intercept!r}: expected true or false")
        if attributes is not None:
            if not isinstance(attributes, list) or not all(isinstance(name, str) for name in attributes):
                raise FormatError(path, None, "attributes is neither null nor a list of names")
            if len(attributes) != len(theta) - intercept:
                raise FormatError(path, None, f"{len(attributes)} attributes for {len(theta) - intercept} parameters")
        self.sigma, self.intercept = sigma, intercept
        self.theta_ = np.array(theta, np.float64)
        self.attributes_ = None if attributes is None else tuple(attributes)
        self.objective_ = float(objective) if is_number(objective) else math.nan
        self.n_samples_ = samples if isinstance(samples, int) else 0


def content_of(path: str | os.PathLike[str], *names: str) -> dict[str, Any]:
    """The content of a JSON file whose format has one of the names; ``"-"`` is standard input."""
    try:
        with opened(path) as source:
            content = json.loads(source.read().decode("utf-8"))
    except UnicodeDecodeError:
        raise FormatError(path, None, "not UTF-8 text: expected a model in JSON") from None
    except json.JSONDecodeError as error:
        wrong = error.msg.replace("Expecting", "no")
        raise FormatError(path, error.lineno, f"expected a model in JSON; at column {error.colno}: {wrong}") from None
    except RecursionError:
        raise FormatError(path, None, "nested too deeply: expected a model in JSON") from None
    if not isinstance(content, dict) or content.get("format") not in names:
        raise FormatError(path, None, f'no "format": "{names[0]}" at the top: expected a model that graphpart wrote')
    if content.get("version") != 1:
        raise FormatError(path, None, f"version is {content.get('version')!r}: expected 1")
    return content


def write_json(path: str | os.PathLike[str], content: dict[str, Any]) -> None:
    """Write a model to a JSON file; ``"-"`` is standard output."""
    with replacing(path) as stream:
        stream.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())


def check_scales(model: Any) -> None:
    """Raise InvalidOption unless `sigma` is positive and finite, and `tol` finite and not negative, or None."""
    for name, text in (("sigma", "> 0"), ("tol", ">= 0")):
        value = getattr(model, name)
        if name == "tol" and value is None:
            continue
        number = isinstance(value, int | float | np.number) and not isinstance(value, bool)
        if not (number and math.isfinite(value) and (value > 0 if name == "sigma" else value >= 0)):
            raise InvalidOption(f"{name} is {value!r}: expected a finite number {text}")


def names_of(attributes: Sequence[Any] | None, X: Any, width: int | None = None) -> tuple[str, ...] | None:
    """Names of attributes: those given, or the columns of a frame; raises InvalidProblem if there are not `width`."""
    given = getattr(X, "columns", None) if attributes is None else attributes
    if given is None:
        return None
    names = tuple(str(name) for name in given)
    if width is not None and len(names) != width:
        raise InvalidProblem(f"{len(names)} names for {width} attributes: expected one for each")
    return names


def rows_of_matrix(X: Any) -> Any:
    """Attributes as an array, or as a sparse matrix by rows."""
    return X.tocsr() if hasattr(X, "tocsr") else np.asanyarray(X)


def is_number(value: Any) -> bool:
    """Whether a value of a JSON file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e308
