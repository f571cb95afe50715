from numpy import float64, int32, int64
from numpy.typing import NDArray

from graphpart.stopping import Stopping

I32 = NDArray[int32]
I64 = NDArray[int64]
F64 = NDArray[float64]

def greedy(
    domains: I32,
    start: I64,
    neighbour: I32,
    logs: I64,
    noise: I64,
    rank: I32,
    criterion: int,
    budget: int,
    abort: float,
    stopping: Stopping,
) -> tuple[I32, int, int, float, float, int]: ...
