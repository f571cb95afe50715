from numpy import float64, int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def condition(
    domains: I32, scope_start: I64, scope: I32, table_start: I64, tables: F64, given: I32
) -> tuple[I64, I32, F64, float, int]: ...
def absorb_unary(domains: I32, scope_start: I64, scope: I32, table_start: I64, tables: F64) -> tuple[I64, I32, F64]: ...
