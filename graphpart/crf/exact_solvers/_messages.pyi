from numpy import float64, int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def both_ways(
    domains: I32,
    first: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    order: I32,
    parent: I32,
    up_start: I64,
    edge_first: I64,
    largest_table: int,
    largest_arity: int,
    soft: bool,
    normalise: bool,
) -> tuple[F64, float, F64, F64, int]: ...
