from numpy import float64, int32, int64, uint8
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]
U8 = NDArray[uint8]

def differences(
    domains: I32,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    first: I64,
    labels: I32,
    mapped: U8,
    stays: U8,
    slack: float,
) -> tuple[I32, I64, I32, F64, I64, bool]: ...
def negative(
    domains: I32,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: F64,
    first: I64,
    messages: F64,
    tolerance: float,
) -> U8: ...
