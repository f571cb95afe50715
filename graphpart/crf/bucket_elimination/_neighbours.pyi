from numpy import int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]

def interactions(domains: I32, scope_start: I64, scope: I32, rows: I64, factors: I32) -> tuple[I64, I32]: ...
def sweep(start: I64, neighbour: I32) -> I32: ...
