from numpy import int32, int64
from numpy.typing import NDArray

I32 = NDArray[int32]
I64 = NDArray[int64]

def measure(domains: I32, variable: I32, axes_start: I64, axes: I32, uses_start: I64) -> tuple[int, int, int, int]: ...
