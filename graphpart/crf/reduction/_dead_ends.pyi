from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def dead_ends(
    domains: I32,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    rows: I64,
    factors: I32,
    slots: I32,
    first: I64,
    alive: U8,
    weak: bool,
    stopping: Stopping,
) -> int: ...
def restrict(
    domains: I32, scope_start: I64, scope: I32, table_start: I64, tables: F64, first: I64, alive: U8
) -> tuple[I64, I32, F64, F64, int]: ...
