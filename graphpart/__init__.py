"""graphpart: set partition and MAP inference on graphs, with a proof of how good the answer is.

data -> model -> costs on a graph -> solver -> labels with a certificate.
"""

from graphpart import crf, generate, learn, metrics, partition, testing
from graphpart.crf.problem import FactorGraph
from graphpart.errors import (
    CyclicGraph,
    FormatError,
    GraphPartError,
    InfeasibleProblem,
    InvalidCertificate,
    InvalidOption,
    InvalidPartition,
    InvalidProblem,
    MissingDependency,
    SolverError,
    TimeLimitReached,
)
from graphpart.io import read, read_labels, write, write_labels
from graphpart.partition.problem import SetPartition
from graphpart.result import LabelingResult, PartitionResult, Result, Status
from graphpart.solve import solve
from graphpart.stopping import Stopping

__version__ = "0.2.0"

__all__ = [
    "CyclicGraph",
    "FactorGraph",
    "FormatError",
    "GraphPartError",
    "InfeasibleProblem",
    "InvalidCertificate",
    "InvalidOption",
    "InvalidPartition",
    "InvalidProblem",
    "LabelingResult",
    "MissingDependency",
    "PartitionResult",
    "Result",
    "SetPartition",
    "SolverError",
    "Status",
    "Stopping",
    "TimeLimitReached",
    "crf",
    "generate",
    "learn",
    "metrics",
    "partition",
    "read",
    "read_labels",
    "solve",
    "testing",
    "write",
    "write_labels",
]
