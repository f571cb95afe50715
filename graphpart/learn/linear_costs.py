"""The base of all models with linear costs of pairs: costs and decisions from parameters, and their files."""

from __future__ import annotations

import json
import math
import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from graphpart.errors import FormatError, InvalidOption, InvalidProblem
from graphpart.files.source import opened, replacing
from graphpart.learn.objective import Array, float_rows

__all__ = ["LinearCosts", "content_of", "is_number", "rows_of_matrix"]

ROWS = 8192  # rows that are scored at a time
NUMBERS = 1 << 22  # entries of a sparse matrix that are made dense at a time


class LinearCosts:
    """The cost of joining a pair with attributes x is -<theta, x>."""

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
        step = ROWS if dense else min(ROWS, max(1, NUMBERS // max(1, columns)))
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

    def _write(self, path: str | os.PathLike[str], name: str, more: dict[str, Any]) -> None:
        """Write parameters and names to a JSON file."""
        if not hasattr(self, "theta_"):
            raise InvalidOption("the model is not fitted: call fit first")
        content = {
            "format": name,
            "version": 1,
            "sigma": self.sigma,
            "intercept": self.intercept,
            "attributes": self.attributes_,
            "theta": self.theta_.tolist(),
            "objective": self.objective_ if math.isfinite(self.objective_) else None,
            "samples": self.n_samples_,
        } | more
        with replacing(path) as stream:
            stream.write((json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())

    def _take(self, path: Any, content: dict[str, Any]) -> None:
        """Take parameters and names from the content of a file that `_write` wrote."""
        if content.get("version") != 1:
            raise FormatError(path, None, f"version is {content.get('version')!r}: expected 1")
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
        raise FormatError(path, error.lineno, f"{error.msg} in column {error.colno}: expected JSON") from None
    except RecursionError:
        raise FormatError(path, None, "nested too deeply: expected a model in JSON") from None
    if not isinstance(content, dict) or content.get("format") not in names:
        raise FormatError(path, None, f'no "format": "{names[0]}" at the top: expected a model that graphpart wrote')
    return content


def rows_of_matrix(X: Any) -> Any:
    """Attributes as an array, or as a sparse matrix by rows."""
    return X.tocsr() if hasattr(X, "tocsr") else np.asanyarray(X)


def is_number(value: Any) -> bool:
    """Whether a value of a JSON file is a finite number."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= 1e308
