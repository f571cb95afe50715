from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def enumerate_labelings(
    domains: I32,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    due_start: I64,
    due: I32,
    rest: F64,
    slack: float,
    constant: float,
    stopping: Stopping,
) -> tuple[I32 | None, float, bool]: ...
