from numpy import int32, int64
from numpy.typing import NDArray

from graphpart.crf.problem._view import View

I32 = NDArray[int32]
I64 = NDArray[int64]

def make_plan(
    view: View, order: I32, limit: int, divisible: bool
) -> tuple[tuple[I64, I32], tuple[I64, I32], I32, I64, I32, int] | int: ...
def schedule(parent: I32, size: I64) -> tuple[I32, I64, int]: ...
def measure(domains: I32, variable: I32, axes_start: I64, axes: I32, uses_start: I64) -> tuple[int, int, int, int]: ...
