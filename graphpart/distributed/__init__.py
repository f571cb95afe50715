"""Problems larger than one machine, or than its memory, solved in parts by workers of Dask.

`solve` takes Parquet files or tables of pairs, or a `DaskPartition` of these, and writes labels as Parquet. The
docstring of its module describes the algorithm. `inputs`, `identifiers` and `pairs` write the rows to disk as sorted
pairs; `blocks`, `given`, `parts`, `levels` and `refinement` are the algorithm; `engine` performs tasks, and `folder`
keeps their results.
"""

from graphpart.errors import MissingDependency

try:
    import pyarrow  # noqa: F401
except ImportError:
    raise MissingDependency("pyarrow", "distributed", "graphpart.distributed") from None

from graphpart.distributed.dask_partition import DaskPartition
from graphpart.distributed.result import DistributedResult
from graphpart.distributed.solve import solve

__all__ = ["DaskPartition", "DistributedResult", "solve"]


def __dir__() -> list[str]:
    return sorted(__all__)
