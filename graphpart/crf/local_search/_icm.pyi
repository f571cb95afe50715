from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def best_first(
    domains: I32,
    width: int,
    first: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    labels: I32,
    has_forbidden: bool,
    cost: float,
    stopping: Stopping,
) -> None: ...
def sweep(
    domains: I32,
    width: int,
    first: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    labels: I32,
    has_forbidden: bool,
    cost: float,
    stopping: Stopping,
) -> None: ...
