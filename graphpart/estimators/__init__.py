"""Partitions behind the interface of scikit-learn.

`CorrelationClustering` turns distances or similarities into costs by a threshold; `LearnedPartition` learns costs of
pairs from elements of known classes, and partitions other elements, whose classes it may never have seen. Neither is
told the number of subsets.
"""

from graphpart.errors import MissingDependency

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingDependency("scikit-learn", "learn", "graphpart.estimators") from None

from graphpart.estimators.correlation_clustering import CorrelationClustering
from graphpart.estimators.learned_partition import LearnedPartition
from graphpart.estimators.thresholds import otsu_threshold, path_threshold

__all__ = ["CorrelationClustering", "LearnedPartition", "otsu_threshold", "path_threshold"]
