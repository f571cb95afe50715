"""Estimators with the interface of scikit-learn: partitions, and labels of sequences and pictures.

`CorrelationClustering` turns distances or similarities into costs by a threshold. `LearnedPartition` learns costs of
pairs from elements of known classes, and partitions elements of any classes. Both find the number of clusters
themselves. `ChainCRF` labels sequences of words or of vectors (`vocabulary` gives attributes with names a column each),
`GridCRF` labels pictures. `Segmenter` learns to join regions of pictures and volumes.
"""

from graphpart.errors import MissingDependency

try:
    import sklearn  # noqa: F401
except ImportError:
    raise MissingDependency("scikit-learn", "learn", "graphpart.estimators") from None

from graphpart.estimators.chain_crf import ChainCRF
from graphpart.estimators.correlation_clustering import CorrelationClustering
from graphpart.estimators.grid_crf import GridCRF
from graphpart.estimators.learned_partition import LearnedPartition
from graphpart.estimators.segmenter import Segmenter
from graphpart.partition.inputs.thresholds import otsu_threshold, path_threshold

__all__ = [
    "ChainCRF",
    "CorrelationClustering",
    "GridCRF",
    "LearnedPartition",
    "Segmenter",
    "otsu_threshold",
    "path_threshold",
]


def __dir__() -> list[str]:
    return sorted(__all__)
