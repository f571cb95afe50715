"""graphpart: set partition and MAP inference on graphs, with a proof of how good the answer is.

data -> model -> costs on a graph -> solver -> labels with a certificate.

Its packages and modules (`gp.crf`, `gp.estimators`, `gp.learn`, ...) load when they are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphpart.errors import (
    CyclicGraph,
    FormatError,
    GraphPartError,
    GraphPartWarning,
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
from graphpart.partition.problem import (
    SetPartition,
    costs_from_probabilities,
    from_cpm,
    from_editing,
    from_modularity,
)
from graphpart.result import LabelingResult, PartitionResult, Result, Status
from graphpart.solve import solve
from graphpart.stopping import Stopping

if TYPE_CHECKING:
    from graphpart import crf, generate, io, learn, metrics, partition, plotting, testing
    from graphpart.crf.problem import FactorGraph
    from graphpart.reporting import report

__version__ = "0.2.0"

__all__ = [
    "CyclicGraph",
    "FactorGraph",
    "FormatError",
    "GraphPartError",
    "GraphPartWarning",
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
    "costs_from_probabilities",
    "crf",
    "from_cpm",
    "from_editing",
    "from_modularity",
    "generate",
    "io",
    "learn",
    "metrics",
    "partition",
    "plotting",
    "read",
    "read_labels",
    "report",
    "solve",
    "testing",
    "write",
    "write_labels",
]
# estimators needs scikit-learn, distributed pyarrow, so `from graphpart import *` has to do without
LAZY = (
    "cli",
    "crf",
    "distributed",
    "estimators",
    "generate",
    "io",
    "learn",
    "metrics",
    "partition",
    "plotting",
    "reporting",
    "testing",
)


def __getattr__(name: str) -> Any:
    """Import a part of the package when it is first used."""
    if name == "FactorGraph":
        return import_module("graphpart.crf.problem").FactorGraph
    if name == "report":
        return import_module("graphpart.reporting").report
    if name in LAZY:
        return import_module(f"graphpart.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *LAZY})
