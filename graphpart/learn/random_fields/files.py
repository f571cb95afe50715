"""Conditional random fields in JSON files, with all digits."""

from __future__ import annotations

import math
import os
from typing import Any

import numpy as np

from graphpart.errors import FormatError, InvalidOption
from graphpart.learn.linear_costs import content_of, write_json
from graphpart.learn.random_fields.forbidden import rules_of
from graphpart.learn.random_fields.labels import class_of
from graphpart.learn.random_fields.templates import Template, tie_of
from graphpart.result import Status

__all__ = ["load", "save"]

FORMAT = "graphpart conditional random field"


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model."""
    template = model._template
    classes = model.classes_.tolist()
    if not all(isinstance(c, str | int | float) for c in classes):
        raise InvalidOption("the labels are neither numbers nor texts: pickle the model instead")
    content = {
        "format": FORMAT,
        "version": 1,
        "sigma": model.sigma,
        "training": model.training_,
        "solver": model.solver,
        "intercept": template.intercept,
        "labels": classes,
        "attributes": template.columns,
        "pair_attributes": template.pair_columns,
        "pairwise": model.pairwise if isinstance(model.pairwise, str) else np.asarray(model.pairwise).tolist(),
        "forbidden": None if template.rules is None else [list(pair) for pair in template.rules.named(classes)],
        "theta": model.theta_.tolist(),
        "objective": model.objective_ if math.isfinite(model.objective_) else None,
        "status": str(model.status_),
    }
    write_json(path, content)


def load(cls: Any, path: str | os.PathLike[str]) -> Any:
    """Read a model of class `cls`."""
    content = content_of(path, FORMAT)
    try:
        if not isinstance(content["intercept"], bool):
            raise ValueError(f"intercept is {content['intercept']!r}: expected true or false")
        given = content["pairwise"]
        model = cls(
            given if isinstance(given, str) else np.array(given, np.int64),
            training=content["training"],
            sigma=content["sigma"],
            intercept=content["intercept"],
            solver=content["solver"],
        )
        model._check_options()
        model.classes_ = class_of(content["labels"])
        tie, count = tie_of(model.pairwise, len(model.classes_))
        model._forbidden = None if content.get("forbidden") is None else [tuple(p) for p in content["forbidden"]]
        rules = rules_of(model._forbidden, model.classes_)
        tie = tie if rules is None else np.where(rules.pairs, count + 1, tie).astype(np.int32)
        columns, pair_columns = int(content["attributes"]), int(content["pair_attributes"])
        if columns < 0 or pair_columns < 0:
            raise ValueError(f"{min(columns, pair_columns)} attributes: expected at least 0")
        model._template = Template(len(model.classes_), columns, pair_columns, tie, count, bool(model.intercept), rules)
        model.theta_ = np.array(content["theta"], np.float64)
        model.status_ = Status(content["status"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(path, None, f"not a complete model: {error}") from None
    if model.theta_.shape != (model._template.size,) or not np.isfinite(model.theta_).all():
        raise FormatError(path, None, f"theta is not a list of {model._template.size} finite numbers")
    objective = content.get("objective")
    model.objective_ = float(objective) if isinstance(objective, int | float) else math.nan
    model.training_, model.gap_, model.history_, model.n_iter_ = content["training"], math.nan, [], 0
    return model
