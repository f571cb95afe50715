from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def collect(
    domains: I32,
    width: int,
    first: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    run: I64,
    order: I32,
    parent: I32,
    scattered: bool,
    largest: int,
    compact: bool,
    stopping: Stopping,
) -> tuple[F64, U8, float, int, int]: ...
def assign(
    domains: I32,
    width: int,
    first: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    run: I64,
    order: I32,
    parent: I32,
    roots: I32,
    scattered: bool,
    largest_arity: int,
    compact: bool,
    belief: F64,
    choice: U8,
    labels: I32,
) -> tuple[float, int]: ...
