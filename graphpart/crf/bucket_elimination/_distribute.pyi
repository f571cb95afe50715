from typing import Any

from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def distribute(
    problem: tuple[I32, I64, I32, I64, F64],
    plan: Any,
    messages: F64,
    taken: F64,
    scratch: F64,
    first: I64,
    soft: bool,
    stopping: Stopping,
) -> F64 | None: ...
