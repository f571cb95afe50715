"""Models that turn data into costs."""

from importlib.util import find_spec
from typing import Any

from graphpart.learn import pairs, unary
from graphpart.learn.kernel_kmeans import kernel_kmeans
from graphpart.learn.logistic import LogisticRegression
from graphpart.learn.max_margin import MaxMarginPartition
from graphpart.learn.model_files import load_model
from graphpart.learn.random_fields import ConditionalRandomField, RankedLabels, Structure, chain, grid
from graphpart.learn.settings import cross_validate_settings
from graphpart.learn.thresholds import cross_validate_threshold, threshold_path
from graphpart.learn.unary import unary_costs

__all__ = [
    "ConditionalRandomField",
    "LogisticRegression",
    "MaxMarginPartition",
    "RankedLabels",
    "Structure",
    "chain",
    "cross_validate_settings",
    "cross_validate_threshold",
    "grid",
    "kernel_kmeans",
    "load_model",
    "pairs",
    "threshold_path",
    "unary",
    "unary_costs",
]
if find_spec("sklearn"):  # otherwise, `from graphpart.learn import *` has to work without
    __all__ += ["LinearMetric"]


def __getattr__(name: str) -> Any:
    if name == "LinearMetric":  # the only one that needs scikit-learn to exist
        from graphpart.learn.linear_metric import LinearMetric

        return LinearMetric
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
