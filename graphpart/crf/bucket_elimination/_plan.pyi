from numpy import int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]

def make_plan(
    domains: I32, scope_start: I64, scope: I32, order: I32, limit: int, divisible: bool
) -> tuple[tuple[I64, I32], tuple[I64, I32], I32, I64, I32, int] | int: ...
def schedule(parent: I32, size: I64) -> tuple[I32, I64, int]: ...
