"""graphpart: set partition and MAP inference on graphs, with a proof of how good the answer is.

data -> model -> costs on a graph -> solver -> labels with a certificate.

Its packages and modules (`gp.crf`, `gp.estimators`, `gp.learn`, ...) load when they are first used.
"""

from importlib import import_module as _import_module
from importlib.util import find_spec as _find_spec
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from graphpart.errors import (
    CyclicGraph,
    DownloadFailed,
    FormatError,
    GraphPartError,
    GraphPartWarning,
    InfeasibleProblem,
    InvalidCertificate,
    InvalidOption,
    InvalidPartition,
    InvalidProblem,
    MissingDependency,
    MissingFile,
    SolverError,
    TimeLimitReached,
)
from graphpart.errors import NoAttribute as _NoAttribute
from graphpart.errors import deprecated as _deprecated

try:
    from graphpart.partition.problem import SetPartition, costs_from_probabilities
except ImportError as _error:  # NumPy, Python and Cython say in many lines, or vaguely, what they cannot do
    if not any(words in str(_error) for words in ("interpreter", "more than once per process")):
        raise
    raise ImportError(
        "graphpart cannot be imported in a sub-interpreter, nor NumPy twice in a process: use threads or processes"
    ) from None
from graphpart.result import LabelingResult, PartitionResult, Result, Status
from graphpart.solve import solve
from graphpart.stopping import Stopping

if _TYPE_CHECKING:
    from graphpart import answers, crf, datasets, generate, images, io, labeled, learn, metrics, partition, plotting
    from graphpart import distributed as distributed
    from graphpart import estimators as estimators
    from graphpart import testing as testing
    from graphpart.answers import questions
    from graphpart.crf.problem import FactorGraph
    from graphpart.folders import solve_files
    from graphpart.io import read, read_labels, write, write_labels
    from graphpart.labeled import LabeledPartition, LabeledResult
    from graphpart.reporting import report
    from graphpart.reviewing import review
    from graphpart.signed_network import frustration

__version__ = "0.3.0.dev0"

__all__ = [
    "CyclicGraph",
    "DownloadFailed",
    "FactorGraph",
    "FormatError",
    "GraphPartError",
    "GraphPartWarning",
    "InfeasibleProblem",
    "InvalidCertificate",
    "InvalidOption",
    "InvalidPartition",
    "InvalidProblem",
    "LabeledPartition",
    "LabeledResult",
    "LabelingResult",
    "MissingDependency",
    "MissingFile",
    "PartitionResult",
    "Result",
    "SetPartition",
    "SolverError",
    "Status",
    "Stopping",
    "TimeLimitReached",
    "answers",
    "consensus",
    "costs_from_probabilities",
    "crf",
    "datasets",
    "frustration",
    "generate",
    "images",
    "io",
    "labeled",
    "learn",
    "match",
    "metrics",
    "near_duplicates",
    "partition",
    "plotting",
    "questions",
    "read",
    "read_labels",
    "records",
    "report",
    "review",
    "solve",
    "solve_files",
    "testing",
    "write",
    "write_labels",
]
_NEEDS = {"distributed": "pyarrow", "estimators": "sklearn"}
__all__ += [name for name, package in _NEEDS.items() if _find_spec(package)]  # `import *` has to work without
_PARTS = {
    "answers",
    "cli",
    "crf",
    "datasets",
    "distributed",
    "estimators",
    "generate",
    "images",
    "io",
    "labeled",
    "learn",
    "metrics",
    "partition",
    "plotting",
    "records",
    "reporting",
    "reviewing",
    "testing",
}
_WHERE = {
    "FactorGraph": "crf.problem",
    "LabeledPartition": "labeled",
    "LabeledResult": "labeled",
    "consensus": "records",
    "frustration": "signed_network",
    "match": "records",
    "near_duplicates": "records",
    "questions": "answers",
    "read": "io",
    "read_labels": "io",
    "report": "reporting",
    "review": "reviewing",
    "solve_files": "folders",
    "write": "io",
    "write_labels": "io",
}
_FORMER = {"from_cpm", "from_editing", "from_modularity"}  # constructors of SetPartition, which stood here


def __getattr__(name: str) -> _Any:
    """Import a part of the package, or a name of one, when it is first used."""
    if name in _PARTS:
        return _import_module(f"graphpart.{name}")
    if name in _FORMER:
        _deprecated(f"graphpart.{name}", f"graphpart.SetPartition.{name}")
        return getattr(SetPartition, name)
    if name in _WHERE:
        value = getattr(_import_module(f"graphpart.{_WHERE[name]}"), name)
        globals()[name] = value
        return value
    raise _NoAttribute(f"module {__name__!r}", name, __all__, _elsewhere)


def _elsewhere(name: str) -> str:
    """The name in the part of the package that has it, as in partition.doubts; empty if none has it."""
    parts = ("partition", "crf", "records", "metrics", "io", "images")
    return next((f"{part}.{name}" for part in parts if name in _import_module(f"graphpart.{part}").__all__), "")


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
