from numpy import int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]

def part(
    domains: I32,
    first: I64,
    unary: I64,
    scope_start: I64,
    scope: I32,
    table_start: I64,
    tables: I64,
    rows: I64,
    factors: I32,
    labels: I32,
    inside: I32,
    place: I32,
    most: int,
) -> tuple[I64, I32, I64, I64, I64, int, int] | None: ...
